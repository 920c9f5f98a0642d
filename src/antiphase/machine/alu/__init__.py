"""Vector and scalar ALU instructions: operands, lanes, shared forms, registers chosen at run time."""
