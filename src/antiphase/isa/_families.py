"""Processors that share instructions: AMD's architecture names and LLVM's generations."""

from __future__ import annotations

RDNA3 = frozenset({"gfx1100", "gfx1101", "gfx1102", "gfx1103"})
RDNA35 = frozenset({"gfx1150", "gfx1151", "gfx1152", "gfx1153"})
RDNA4 = frozenset({"gfx1200", "gfx1201"})
GFX950 = frozenset({"gfx950"})
GFX1250 = frozenset({"gfx1250"})

GFX9 = frozenset({"gfx942", "gfx950"})
GFX11 = RDNA3 | RDNA35
GFX12 = RDNA4 | GFX1250
FLOAT_SALU = RDNA35 | GFX12
"""Those with scalar float arithmetic."""
WAVE32 = GFX11 | GFX12
"""Those whose waves can have 32 lanes; GFX10 and later encodings."""
