"""Where calls, returns and far branches of a kernel go, as far as its text tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from antiphase.asm._instruction import Instruction
from antiphase.asm._operands import Label, Operand, Reg, Symbol
from antiphase.asm._symbols import defined, reference

CALLS = ("s_swappc_", "s_swap_pc_", "s_call_")
LEAVES = ("s_branch", "s_endpgm", "s_setpc_", "s_set_pc_", "s_add_pc_", "s_rfe_")
_THROUGH_REGISTER = ("s_swappc_", "s_swap_pc_", "s_setpc_", "s_set_pc_", "s_add_pc_")
_COPIES = ("s_mov_b64", "s_mov_b32", "s_load_dwordx2", "s_load_b64")
_DEBUG_TRAP = 3
_NAMES = re.compile(r"[A-Za-z_.$][\w.$]*")


@dataclass(frozen=True, slots=True)
class Function:
    """Instructions [start, end) of a kernel: its own, or those of a function that it may call."""

    name: str
    start: int
    end: int


def leaves(instruction: Instruction) -> bool:
    """Whether control never goes on behind an instruction. A trap ends the wave, but for 3, a debugger's (LLVM
    AMDGPUUsage, "Trap Handler ABI")."""
    if instruction.mnemonic == "s_trap":
        return instruction.operands != () and getattr(instruction.operands[0], "value", 3) != _DEBUG_TRAP
    return instruction.mnemonic.startswith(LEAVES)


def goes_elsewhere(mnemonic: str) -> bool:
    """Whether an instruction never goes on at the next one by itself: jumps, calls and the end."""
    return mnemonic.startswith((*LEAVES, *CALLS))


@dataclass(frozen=True, slots=True)
class Jump:
    """Where a call, return or far branch may go, as indices; nothing where the text does not tell.

    inside: where control goes on in the same function: behind a call, nowhere at a return.
    """

    targets: list[int]
    inside: list[int]


def jumps(
    instructions: Sequence[Instruction], labels: Mapping[str, int], functions: Sequence[Function]
) -> dict[int, Jump]:
    """Every call, return and far branch, by index.

    A call goes to the functions whose addresses reach its register, or to all whose addresses are taken where that
    cannot be seen. A return goes behind every call of its function, whichever call it was.
    """
    flow = _Flow(instructions, labels, functions)
    return {index: flow.jump(index) for index in flow.jumps}


class _Flow:
    def __init__(
        self, instructions: Sequence[Instruction], labels: Mapping[str, int], functions: Sequence[Function]
    ) -> None:
        self.instructions, self.labels, self.functions = instructions, labels, functions
        self.inside = [one for one in functions for _ in range(one.start, one.end)]
        through = (*_THROUGH_REGISTER, *CALLS)
        self.jumps = [i for i, one in enumerate(instructions) if one.mnemonic.startswith(through)]
        calls = [i for i in self.jumps if self._is_call(i)]
        self.links = {result.index for i in calls if (result := defined(instructions[i]))}
        self.known = {i: self._known(i) for i in self.jumps}
        self.returns = self._return_points()

    def jump(self, index: int) -> Jump:
        known, function = self.known[index], self.inside[index]
        if self._is_call(index):
            return Jump(sorted(known), [index + 1])
        if known:
            return Jump(sorted(known), sorted(i for i in known if function.start < i < function.end))
        return Jump(sorted(self.returns[function.name]), [])

    def _is_call(self, index: int) -> bool:
        return self.instructions[index].mnemonic.startswith(CALLS)

    def _known(self, index: int) -> set[int]:
        """Where a jump goes: its label, or the address that its register was computed to be. If the text does not
        tell, any function but the kernel, which is first; nothing for a return, through what a call links with."""
        found = self._told(index)
        return found or (set() if self._is_return(index) else {one.start for one in self.functions[1:]})

    def _is_return(self, index: int) -> bool:
        last = self.instructions[index].operands[-1]
        return not self._is_call(index) and isinstance(last, Reg) and last.index in self.links

    def _told(self, index: int) -> set[int]:
        match self.instructions[index].operands:
            case (*_, Label(name)):
                return {self.labels[name]} if name in self.labels else set()
            case (*_, Symbol() as distance):
                return self._named(index, distance)
            case (*_, Reg() as register):
                return self._in_register(register.index, index)
        return set()

    def _in_register(self, register: int, index: int) -> set[int]:
        """What a scalar register holds: by the definition nearest in text, through copies."""
        function = self.inside[index]
        for i in range(index - 1, function.start - 1, -1):
            one = self.instructions[i]
            result = defined(one)
            if result is None or not result.index <= register < result.index + result.count:
                continue
            for operand in one.operands:
                if isinstance(operand, Symbol):
                    return self._named(i, operand)
            source = one.operands[1] if len(one.operands) > 1 else None
            if one.mnemonic.startswith(_COPIES) and isinstance(source, Reg) and source.bank == "s":
                return self._in_register(source.index + register - result.index, i)
            return self._in_lane(one.operands[1:], i) if one.mnemonic.startswith("v_readlane_") else set()
        return set()

    def _in_lane(self, place: tuple[Operand, ...], index: int) -> set[int]:
        """What was written to a lane of a VGPR, where compilers spill scalar registers to."""
        for i in range(index - 1, self.inside[index].start - 1, -1):
            match self.instructions[i].operands:
                case (vector, Reg(bank="s") as source, lane) if (vector, lane) == place:
                    if self.instructions[i].mnemonic.startswith("v_writelane_"):
                        return self._in_register(source.index, i)
        return set()

    def _named(self, index: int, symbol: Symbol) -> set[int]:
        """The label whose address, or whose distance as `(label-here)&mask` and `label-here`, an operand stands for."""
        found = reference(self.instructions, index, symbol)
        name = found.name if found is not None else _NAMES.findall(symbol.text)[0]
        return {self.labels[name]} if name in self.labels else set()

    def _return_points(self) -> dict[str, set[int]]:
        """Function -> the instructions behind its calls, those of functions that end by jumping to it included."""
        points: dict[str, set[int]] = {one.name: set() for one in self.functions}
        tails: list[tuple[str, str]] = []
        for index, known in self.known.items():
            for callee in known:
                if callee >= len(self.inside):
                    continue
                name = self.inside[callee].name
                if self._is_call(index):
                    points[name].add(index + 1)
                elif callee == self.inside[callee].start:
                    tails.append((self.inside[index].name, name))
        for _ in tails:
            for caller, callee in tails:
                points[callee] |= points[caller]
        return points
