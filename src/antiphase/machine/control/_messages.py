"""What a wave tells the world outside: the interrupt message, and traps.

s_sendmsg MSG_INTERRUPT wakes whoever waits for the wave on the host: the launch's `interrupt` is called, and the wave
goes on when that has returned. Other messages (registers given back early, and those of graphics) have no effect here.
s_trap: 2 is llvm.trap, which ends the dispatch; 3 is llvm.debugtrap, on which execution continues where no debugger is
(LLVM AMDGPUUsage, "Trap Handler ABI"); other numbers are reserved, and ROCm's handler puts the queue in error for them
as well (ROCR, runtime/hsa-runtime/core/runtime/trap_handler/trap_handler.s).
"""

from __future__ import annotations

from antiphase.asm import Call, Imm
from antiphase.errors import Unsupported
from antiphase.isa import Control
from antiphase.machine import _layout as at
from antiphase.machine.control._flow import State

_INTERRUPT = ("MSG_INTERRUPT", "1")
_DEBUG_TRAP = 3


def _message(state: State, record: Control) -> bool:
    (operand,) = state.context.instruction.operands
    number = operand.args[0] if isinstance(operand, Call) else str(operand)
    if number in _INTERRUPT:
        _leave_and_go_on(state, at.STATUS_INTERRUPT)
    return False


def _leave_and_go_on(state: State, status: int) -> None:
    """Return to the host with a status, to continue behind this instruction."""
    c, f = state.context, state.context.f
    after = f.block("answered")
    f.store("i32", str(len(state.kernel.blocks) + len(state.resume_points)), c.pointer(at.RESUME))
    f.ret(str(status))
    state.resume_points.append((after, c.index))
    f.label(after)


def _trap(state: State, record: Control) -> bool:
    c, f = state.context, state.context.f
    (operand,) = c.instruction.operands
    if not isinstance(operand, Imm):
        raise Unsupported(f"trap {operand}")
    if operand.value & 0xFF == _DEBUG_TRAP:
        return False
    f.store("i32", str(c.index), c.pointer(at.RESUME))
    f.ret(str(at.STATUS_STOPPED))
    return True


MESSAGES = {"message": _message, "trap": _trap}
