"""Transposing loads: which lane's data, and which element of it, each element of a result comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transpose:
    """A fixed exchange of elements between lanes after each lane has loaded its own contiguous run.

    element: bits of an element; elements lie packed in a lane's data. lane, index: bits of the source lane
    and of the source element, lowest first, each named after a bit of the result: L0-L5 of its lane, j0-j3 of
    its element.
    """

    element: int
    lane: str
    index: str

    def source(self, lane: int, element: int) -> tuple[int, int]:
        """(lane, element) that element `element` of lane `lane` comes from."""

        def value(names: str) -> int:
            bits = [(lane if name[0] == "L" else element) >> int(name[1]) & 1 for name in names.split()]
            return sum(bit << i for i, bit in enumerate(bits))

        return value(self.lane), value(self.index)


# AMD CDNA4 ISA 11.4: 16 lanes hold a matrix of 16 columns, its rows laid over them one after another
CDNA4_TRANSPOSES = {
    4: Transpose(4, "j0 j1 j2 j3 L4 L5", "L0 L1 L2 L3"),
    6: Transpose(6, "j0 j1 j2 j3 L4 L5", "L0 L1 L2 L3"),
    8: Transpose(8, "L3 j0 j1 j2 L4 L5", "L0 L1 L2"),
    16: Transpose(16, "L2 L3 j0 j1 L4 L5", "L0 L1"),
}

# AMD CDNA5 ISA 10.9.2: its figure has the column (K) and the half of the rows (M) that each lane loads, 7.12.2 and
# 7.12.6.1 where they are wanted. 16 bits were also measured on gfx1201 and gfx1250 by their users, Triton and Tensile
# address 8 and 4 bits this way too. rocjitsu agrees on 16 and 4 bits; it has groups of 8 neighbours for 8, and
# "j0 j1 L4 j2 j3" for 6.
WMMA_TRANSPOSES = {
    4: Transpose(4, "j0 j1 j2 L4 j3", "L0 L1 L2 L3"),
    6: Transpose(6, "j0 j1 j3 j2 L4", "L0 L1 L2 L3"),
    8: Transpose(8, "j0 j1 L3 j2 L4", "L0 L1 L2"),
    16: Transpose(16, "j0 j1 j2 L3 L4", "L0 L1 L2"),
}
