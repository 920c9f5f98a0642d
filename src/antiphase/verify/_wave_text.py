"""Instructions that put values into registers from memory, and registers into memory, on any target."""

from __future__ import annotations

from collections.abc import Iterator

from antiphase.isa import generation

# Registers that the lines under test leave alone.
_POINTERS, _SAVED_SCC, _SAVED_EXEC, _SAVED_VCC = "s[96:99]", "s92", ("s90", "s91"), ("s94", "s95")
_GIVEN_BASE, _KEPT_BASE = "s[98:99]", "s[96:97]"
_LANE, _ADDRESS, _DATA = "v255", "v254", "v253"
_HALVES = {"exec": ("exec_lo", "exec_hi"), "vcc": ("vcc_lo", "vcc_hi")}


class WaveText:
    """What differs between targets and wave sizes. Rows of memory are one dword a lane."""

    def __init__(self, target: str, wave: int) -> None:
        self.generation, self.wave = generation(target), wave
        gfx9 = self.generation == "gfx9"
        self._load, self._store = ("dword", "dword") if gfx9 else ("b32", "b32")
        self._add = "v_add_u32" if gfx9 else "v_add_nc_u32"
        self._pointers = f"s_load_{'dwordx4' if gfx9 else 'b128'}"

    @property
    def waits(self) -> list[str]:
        """Everything outstanding completes."""
        if self.generation == "gfx9":
            return ["s_waitcnt vmcnt(0) lgkmcnt(0)"]
        if self.generation == "gfx11":
            return ["s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt_vscnt null, 0"]
        more = ["asynccnt", "tensorcnt"] if self.generation == "gfx1250" else []
        return [f"s_wait_{name} 0" for name in ("loadcnt", "storecnt", "dscnt", "kmcnt", *more)]

    def start(self) -> list[str]:
        """Pointers to the kept and the given rows, and four times the lane."""
        return [f"v_lshlrev_b32 {_LANE}, 2, v0", f"{self._pointers} {_POINTERS}, s[0:1], 0x0", *self.waits]

    def give(self, register: str, row: int) -> Iterator[str]:
        """Load a vector register from a row; `waits` completes it."""
        yield from self._at(row)
        data = _DATA if register[0] == "a" else register
        yield f"global_load_{self._load} {data}, {_ADDRESS}, {_GIVEN_BASE}"
        if register[0] == "a":
            yield from (*self.waits, f"v_accvgpr_write_b32 {register}, {_DATA}")

    def set(self, register: str, value: int) -> Iterator[str]:
        """Give a scalar register a value. EXEC comes last: loads need all lanes."""
        if register in _HALVES:
            for half, bits in zip(_HALVES[register][: self.wave // 32], (value, value >> 32), strict=False):
                yield f"s_mov_b32 {half}, {bits & 0xFFFFFFFF:#x}"
        elif register == "scc":
            yield f"s_cmp_eq_u32 0, {int(not value)}"
        elif register == "mode":
            yield f"s_setreg_imm32_b32 hwreg({self._mode}), {value:#x}"
        else:
            yield f"s_mov_b32 {register}, {value & 0xFFFFFFFF:#x}"

    def save(self) -> Iterator[str]:
        """Keep SCC, VCC and EXEC aside and take all lanes."""
        yield from (f"s_cselect_b32 {_SAVED_SCC}, 1, 0", *self.waits)
        halves = self.wave // 32
        for saved, name in ((_SAVED_VCC, "vcc"), (_SAVED_EXEC, "exec")):
            yield from (f"s_mov_b32 {saved[half]}, {_HALVES[name][half]}" for half in range(halves))
        yield from (f"s_mov_b32 {_HALVES['exec'][half]}, -1" for half in range(halves))

    def keep(self, register: str, row: int) -> Iterator[str]:
        """Store a register into a row, after `save`; VCC and EXEC of wave64 into two."""
        if register in ("vcc", "exec"):
            saved = _SAVED_VCC if register == "vcc" else _SAVED_EXEC
            for half in range(self.wave // 32):
                yield from self._kept(f"v_mov_b32 {_DATA}, {saved[half]}", row + half)
        elif register == "mode":
            yield f"s_getreg_b32 {_SAVED_SCC}, hwreg({self._mode})"
            yield from self._kept(f"v_mov_b32 {_DATA}, {_SAVED_SCC}", row)
        elif register[0] == "a":
            yield from self._kept(f"v_accvgpr_read_b32 {_DATA}, {register}", row)
        else:
            source = _SAVED_SCC if register == "scc" else register
            yield from self._kept(f"v_mov_b32 {_DATA}, {source}", row)

    @property
    def _mode(self) -> str:
        return "HW_REG_WAVE_MODE" if self.generation == "gfx1250" else "HW_REG_MODE"

    def _kept(self, move: str, row: int) -> Iterator[str]:
        yield from (move, *self._at(row), f"global_store_{self._store} {_ADDRESS}, {_DATA}, {_KEPT_BASE}")

    def _at(self, row: int) -> Iterator[str]:
        yield f"{self._add} {_ADDRESS}, {4 * self.wave * row:#x}, {_LANE}"
