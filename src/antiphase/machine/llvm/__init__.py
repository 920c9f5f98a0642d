"""LLVM IR: its builder, semantics expressions lowered to it, and its way to callable code."""
