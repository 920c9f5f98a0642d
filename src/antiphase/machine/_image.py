"""What of a program lies in global memory: its data sections, and the slots that hold addresses of symbols.

Laid out in one run of bytes, the same for every launch, so that code knows offsets in it and a wave the start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Data, Kernel, Program, Reference, Symbol, reference
from antiphase.errors import Unsupported

PC_STEP = 8
"""Bytes between instructions as s_getpc_b64 sees them; real encodings have 4 to 16 and no code may rely on them."""
_CODE = 1 << 16  # where a kernel begins: a null function pointer is no address of code


def code_address(index: int) -> int:
    """The machine's own address of a kernel's instruction."""
    return _CODE + PC_STEP * index


@dataclass(frozen=True, slots=True)
class Image:
    """size: bytes. symbols: data symbol -> offset. slots: symbol -> offset of the 8 bytes that hold its address.

    references: what the symbol operands of instructions stand for, by instruction and text.
    """

    size: int = 0
    symbols: dict[str, int] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    references: dict[tuple[int, str], Reference] = field(default_factory=dict)
    places: tuple[tuple[int, Data], ...] = ()

    def content(self, base: int, kernel: Kernel) -> NDArray[np.uint8]:
        """The bytes with addresses filled in for an image that begins at `base`.

        The address of a symbol from elsewhere is 0. Unsupported for data whose directives were not understood.
        """
        image = np.zeros(self.size, np.uint8)
        for place, data in self.places:
            if data.not_read is not None:
                raise Unsupported(f"data in {data.name}: '{data.not_read[1]}' (line {data.not_read[0]})")
            image[place : place + len(data.content)] = np.frombuffer(data.content, np.uint8)
            for one in data.relocations:
                value = self._address(one.name, base, kernel) + one.addend & (1 << 8 * one.size) - 1
                image[place + one.offset :][: one.size] = np.frombuffer(value.to_bytes(one.size, "little"), np.uint8)
        for name, place in self.slots.items():
            image[place : place + 8] = np.array([self._address(name, base, kernel)], np.uint64).view(np.uint8)
        return image

    def _address(self, name: str, base: int, kernel: Kernel) -> int:
        if name in self.symbols:
            return base + self.symbols[name]
        if name in kernel.labels:
            return code_address(kernel.labels[name])
        return 0


def image_of(program: Program, kernel: Kernel) -> Image:
    """The image that a kernel needs; empty for one that computes with no address."""
    references = {
        (index, operand.text): found
        for index, instruction in enumerate(kernel.instructions)
        for operand in instruction.operands
        if isinstance(operand, Symbol) and (found := reference(kernel.instructions, index, operand))
    }
    if not references:
        return Image()
    symbols: dict[str, int] = {}
    places: list[tuple[int, Data]] = []
    end = 0
    for data in program.data:
        end += -end % max(data.alignment, 8)
        places.append((end, data))
        symbols |= {label: end + offset for label, offset in data.symbols.items()}
        end += len(data.content)
    end += -end % 8
    in_slots = dict.fromkeys(one.name for one in references.values() if one.kind == "slot")
    slots = {name: end + 8 * number for number, name in enumerate(in_slots)}
    return Image(end + 8 * len(slots), symbols, slots, references, tuple(places))
