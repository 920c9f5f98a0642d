"""Matrix instructions as native functions, and calls of them."""
