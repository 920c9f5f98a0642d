"""The native helpers of translated code, as one module a wave size.

A memory instruction is address_*, then check_*, then load, store or an atomic. Between them the addresses lie in the
wave (ADDRESSES, one i64 a lane) and the lanes that may access are an i64 mask.
"""

from __future__ import annotations

from antiphase.isa import CDNA4_TRANSPOSES, WMMA_TRANSPOSES
from antiphase.machine.control import _barriers
from antiphase.machine.llvm._ir import Function, module
from antiphase.machine.transfer import (
    _addresses,
    _buffer_parts,
    _checks,
    _exchange,
    _lds,
    _lds_transfer,
    _moves,
    _scalar,
    _tensor_native,
)
from antiphase.machine.waves import _events, _faults, _in_flight, _pending, _schedule


def _functions(lanes: int) -> list[Function]:
    transposes = CDNA4_TRANSPOSES if lanes == 64 else WMMA_TRANSPOSES
    return [
        *_faults.functions(), *_addresses.functions(lanes), *_checks.functions(lanes), *_moves.functions(lanes),
        *_buffer_parts.functions(lanes),
        *(_exchange.native(t, lanes) for t in transposes.values()), *_scalar.functions(), *_lds.functions(lanes),
        *_lds_transfer.functions(lanes), *_tensor_native.functions(), *_pending.functions(lanes),
        *_in_flight.functions(lanes), *_events.functions(lanes), *_barriers.functions(), *_schedule.functions(lanes),
    ]  # fmt: skip


def runtime_text(lanes: int) -> str:
    """The module of all helpers for one wave size."""
    return module(_functions(lanes))


def names(lanes: int) -> list[str]:
    """Names of the helpers, for translated code to link with."""
    return [f.name for f in _functions(lanes)]
