"""Jumps to an address in a register: calls, returns, far branches. All go through one switch over the blocks.

Code addresses are the machine's own (`_image.code_address`).
"""

from __future__ import annotations

from antiphase.asm import Label, Reg, Special
from antiphase.errors import Unsupported
from antiphase.isa import U64, Control
from antiphase.machine import _layout as at
from antiphase.machine._context import Context
from antiphase.machine._image import code_address
from antiphase.machine.control._flow import State, block_name
from antiphase.machine.llvm._lower import Value

_JUMPS = ("setpc", "swappc", "addpc")


def computed_jumps(state: State) -> None:
    """The switch, if the kernel has such a jump; an address where no block starts is a trap on the jump."""
    records = enumerate(state.records)
    jumps = [i for i, record in records if isinstance(record, Control) and record.action in _JUMPS]
    if not jumps:
        return
    f = state.context.f
    f.label("computed")
    address = f.load("i64", f.at("%w", at.JUMP_TO))
    cases = " ".join(f"i64 {code_address(b.start)}, label %{block_name(b.index)}" for b in state.kernel.blocks)
    f.emit(f"switch i64 {address}, label %elsewhere [{cases}]")
    f.label("elsewhere")
    state.context.traps |= dict.fromkeys(jumps, "a jump to where the file has no code")
    f.store("i32", f.load("i32", f.at("%w", at.JUMP_FROM)), f.at("%w", at.RESUME))
    f.ret(str(at.STATUS_TRAP))


def _getpc(state: State, record: Control) -> bool:
    _write_return(state.context)
    return False


def _write_return(c: Context) -> None:
    """The address of the next instruction, to the first operand."""
    destination = c.instruction.operands[0]
    assert isinstance(destination, Reg | Special)
    c.write_scalar(destination, Value(str(code_address(c.index + 1)), U64, 1))


def _setpc(state: State, record: Control) -> bool:
    _jump(state, state.context.read(state.context.instruction.operands[0], U64).text)
    return True


def _swappc(state: State, record: Control) -> bool:
    """The target is read before the return address is written: both may be one register."""
    target = state.context.read(state.context.instruction.operands[1], U64).text
    _write_return(state.context)
    _jump(state, target)
    return True


def _call(state: State, record: Control) -> bool:
    label = state.context.instruction.operands[1]
    if not isinstance(label, Label) or label.name not in state.kernel.labels:
        raise Unsupported(f"a call of {label}, which the file does not define")
    start = state.kernel.labels[label.name]
    target = next((b.index for b in state.kernel.blocks if b.start == start), None)
    if target is None:
        raise Unsupported(f"a call of {label}, where no instruction stands")
    _write_return(state.context)
    state.context.f.jump(block_name(target))
    return True


def _addpc(state: State, record: Control) -> bool:
    """s_add_pc_i64: the next instruction's address plus a distance (AMD CDNA5 ISA 16.5; LLVM's far branch)."""
    c = state.context
    distance = c.read(c.instruction.operands[0], U64).text
    _jump(state, c.f.let(f"add i64 {distance}, {code_address(c.index + 1)}"))
    return True


def _jump(state: State, address: str) -> None:
    f = state.context.f
    f.store("i64", address, f.at("%w", at.JUMP_TO))
    f.store("i32", str(state.context.index), f.at("%w", at.JUMP_FROM))
    f.jump("computed")


CALLS = {"getpc": _getpc, "setpc": _setpc, "swappc": _swappc, "call": _call, "addpc": _addpc}
