"""s_setreg of MODE from a register: what the value is, before translation.

Compilers write MODE from a register where a rounding mode is put back that was read before, or comes out of a table
(llvm.set.rounding, llvm.set.fpenv). MODE is known at every instruction, so what s_getreg reads of it is, and what
scalar integer instructions make of that. A value that does not follow from the text is assumed to be the one that the
kernel began with, and the machine stops where it turns out to be another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from antiphase.asm import Imm, Instruction, Kernel, Modified, Operand, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import Alu, Slot, evaluate, find
from antiphase.machine._layout import SPECIAL_WORDS
from antiphase.machine.alu._alu import bind
from antiphase.machine.control._modes import MODE, after, entry_mode, hardware_register, register_bits

_SCC = "scc"
_TTMP = 108
Values = Mapping[int | str, int]
"""Known scalar words by their number, and SCC."""


@dataclass(frozen=True, slots=True)
class KnownModes:
    """kernel: with a constant where it sets MODE. assumed: the register there, where the constant is an assumption."""

    kernel: Kernel
    assumed: Mapping[int, Operand]


def with_known_modes(kernel: Kernel, target: str) -> KnownModes:
    """The kernel with every MODE known. It is the same one if it never sets MODE from a register."""
    if not any(map(_sets_from_register, kernel.instructions)):
        return KnownModes(kernel, {})
    analysis = _Analysis(kernel, target)
    analysis.run()
    instructions = list(kernel.instructions)
    for index, value in analysis.settings.items():
        operands = instructions[index].operands
        instructions[index] = replace(instructions[index], operands=(*operands[:-1], Imm(value, str(value))))
    assumed = {index: kernel.instructions[index].operands[-1] for index in sorted(analysis.assumed)}
    return KnownModes(replace(kernel, instructions=tuple(instructions)), assumed)


def _sets_from_register(instruction: Instruction) -> bool:
    if instruction.mnemonic != "s_setreg_b32" or isinstance(instruction.operands[-1], Imm):
        return False
    try:
        return hardware_register(instruction)[0] in MODE
    except Unsupported:
        return False


@dataclass(frozen=True, slots=True)
class _State:
    mode: int | None
    values: Values


class _Analysis:
    """settings: what each s_setreg writes; assumed: those of them that are not known."""

    def __init__(self, kernel: Kernel, target: str) -> None:
        self.kernel, self.target = kernel, target
        self.begins = entry_mode(kernel)
        self.settings: dict[int, int] = {}
        self.assumed: set[int] = set()

    def run(self) -> None:
        entry = {0: _State(self.begins, {})}
        work = [0]
        while work:
            block = self.kernel.blocks[work.pop()]
            state = entry[block.index]
            for index in range(block.start, block.end):
                state = self._through(state, index)
            for successor in block.successors:
                known = entry.get(successor)
                met = state if known is None else _meet(known, state)
                if met != known:
                    entry[successor] = met
                    work.append(successor)
        # blocks that no path reaches are translated too
        for block in self.kernel.blocks:
            state = _State(self.begins, {})
            for index in range(block.start, block.end) if block.index not in entry else ():
                state = self._through(state, index)

    def _through(self, state: _State, index: int) -> _State:
        instruction = self.kernel.instructions[index]
        if _sets_from_register(instruction):
            return replace(state, mode=self._set(state, index))
        mode = None if state.mode is None else after(state.mode, instruction)
        record = find(instruction.mnemonic, self.target)
        if instruction.mnemonic == "s_getreg_b32":
            results = {_word(instruction.operands[0]): self._read(state.mode, instruction)}
        elif isinstance(record, Alu) and record.relative:
            return _State(mode, {})
        elif isinstance(record, Alu) and record.unit == "salu":
            results = _scalar(instruction, record, state.values)
        elif instruction.mnemonic.startswith(("s_swap", "s_call", "s_setpc", "s_set_pc")):
            return _State(mode, {})  # what a function leaves in its registers is not followed
        else:
            results = dict.fromkeys(_named(instruction))
        values = {**state.values, **{word: value for word, value in results.items() if word is not None}}
        return _State(mode, {word: value for word, value in values.items() if value is not None})

    def _set(self, state: _State, index: int) -> int | None:
        instruction = self.kernel.instructions[index]
        _, offset, size = hardware_register(instruction)
        value = state.values.get(_word(instruction.operands[-1]) or "", None)
        if value is None:
            value = self.begins >> offset
            self.assumed.add(index)
        else:
            self.assumed.discard(index)
        self.settings[index] = value & (1 << size) - 1
        if state.mode is None:
            return None
        constant = Imm(self.settings[index], str(value))
        return after(state.mode, replace(instruction, operands=(*instruction.operands[:-1], constant)))

    def _read(self, mode: int | None, instruction: Instruction) -> int | None:
        try:
            name, offset, size = hardware_register(instruction)
        except Unsupported:
            return None
        if mode is None or name not in MODE:
            return None
        return register_bits(mode, self.target) >> offset & (1 << size) - 1


def _meet(a: _State, b: _State) -> _State:
    values = {word: value for word, value in a.values.items() if b.values.get(word) == value}
    return _State(a.mode if a.mode == b.mode else None, values)


def _scalar(instruction: Instruction, record: Alu, known: Values) -> dict[int | str | None, int | None]:
    """The words that a scalar instruction writes, with their values as far as they follow."""
    bound = bind(instruction, record)
    signature = record.signature

    def source(slot: Slot, operand: Operand | None) -> int | None:
        if slot.role == "scc":
            return known.get(_SCC)
        if slot.role in ("tied", "tied2"):
            operand = bound.results[int(slot.role == "tied2")]
        return _bits(operand, slot.type.bits, known)

    results: dict[int | str | None, int | None] = {}
    sources = [source(*pair) for pair in zip(signature.sources, bound.sources, strict=True)]
    plain = all(slot.count == 1 for slot in (*signature.sources, *signature.results))
    for slot, operand, expr in zip(signature.results, bound.results, record.results, strict=True) if plain else ():
        value = evaluate(expr, sources)
        if slot.role == "scc":
            results[_SCC] = value
            continue
        first = _word(operand if operand is not None else Special(slot.role))
        if isinstance(first, int):
            words = range(slot.type.dwords)
            results |= {first + i: None if value is None else value >> 32 * i & 0xFFFFFFFF for i in words}
    return results if plain else dict.fromkeys(_named(instruction))


def _bits(operand: Operand | None, bits: int, known: Values) -> int | None:
    if isinstance(operand, Imm):
        return operand.value & (1 << bits) - 1
    word = _word(operand)
    if not isinstance(word, int):
        return known.get(word) if word is not None else None
    words = [known.get(word + i) for i in range(max(1, bits // 32))]
    whole = sum(value << 32 * i for i, value in enumerate(words) if value is not None)
    return None if None in words else whole & (1 << bits) - 1


def _word(operand: Operand | None) -> int | str | None:
    """The number of a scalar operand's first word."""
    if isinstance(operand, Modified):
        operand = operand.operand
    if isinstance(operand, Special):
        return _SCC if operand.name == "scc" else SPECIAL_WORDS.get(operand.name)
    if isinstance(operand, Reg) and operand.bank in ("s", "ttmp"):
        return operand.index + (_TTMP if operand.bank == "ttmp" else 0)
    return None


def _named(instruction: Instruction) -> set[int | str]:
    """Scalar words that an instruction may write: all that it names, and what is written without being named."""
    words: set[int | str] = {_SCC, *(SPECIAL_WORDS[name] + i for name in ("vcc", "exec") for i in (0, 1))}
    for operand in instruction.operands:
        first = _word(operand)
        count = operand.count if isinstance(operand, Reg) else 2
        words |= {first + i for i in range(count)} if isinstance(first, int) else set()
    return words
