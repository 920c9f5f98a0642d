"""One wave without a kernel: ALU lines of any target on given registers, and the registers they leave."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from antiphase.asm import Reg, Special, parse_instruction
from antiphase.isa import Alu, find
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine._layout import Layout
from antiphase.machine.alu._alu import translate_alu
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.llvm._lower import FloatMode
from antiphase.machine.llvm._native import Library

VGPRS = 64


class Wave:
    """Registers by name: wave["v3"] is a u32 a lane; wave["s2"], wave["vcc_lo"], wave["scc"] one u32."""

    def __init__(self, target: str, lanes: int, mode: FloatMode | None = None, **registers: object) -> None:
        self.target, self.layout, self.mode = target, Layout(lanes, VGPRS, 0), mode or FloatMode()
        raw = np.zeros(self.layout.bytes + 64, np.uint8)
        start = -raw.ctypes.data % 64
        self.state = raw[start : start + self.layout.bytes]
        self["exec_lo"], self["exec_hi"] = -1, -1 if lanes == 64 else 0
        self.set(registers)

    def set(self, registers: Mapping[str, object]) -> None:
        for name, value in registers.items():
            self[name] = value

    def _view(self, name: str) -> np.ndarray:
        number = int(name[1:]) if name[1:].isdigit() else None
        if name == "scc":
            start = at.SCC
        elif name[0] == "v" and number is not None:
            start = self.layout.vector(Reg("v", number))
            return self.state[start : start + self.layout.plane].view(np.uint32)
        else:
            found = self.layout.scalar(Special(name) if number is None else Reg("s", number))
            assert found is not None, name
            start = found
        return self.state[start : start + 4].view(np.uint32)

    def __setitem__(self, name: str, value: object) -> None:
        self._view(name)[:] = np.asarray(value).astype(np.int64) & 0xFFFFFFFF

    def __getitem__(self, name: str) -> np.ndarray:
        return self._view(name).copy()

    def run(self, text: str) -> Wave:
        """Execute lines in order."""
        f = Function("wave", "void", [("ptr", "w")])
        c = Context(f, self.layout, self.target, self.mode, False, parse_instruction("s_nop 0"))
        for line in text.strip().splitlines():
            c.instruction = parse_instruction(line.strip())
            pair = c.instruction.pair
            translate_alu(c, self._record(c.instruction.mnemonic), pair and self._record(pair.mnemonic))
        f.ret()
        library = Library(module([f]), 0)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.address("wave"))(self.state.ctypes.data)
        return self

    def _record(self, mnemonic: str) -> Alu:
        record = find(mnemonic, self.target)
        assert isinstance(record, Alu), mnemonic
        return record
