"""Memory instructions: addresses, bounds, and data on its way between registers, LDS and memory."""
