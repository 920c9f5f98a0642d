"""The words of the rules about a recorded launch: `race`, `sync`, `init`, `mem`."""

from __future__ import annotations

from collections.abc import Iterable

from antiphase.report._words import CONFLICTS, Facts, Wording, times

_ORDER = "AMDGPUUsage, memory model; LLVM AMDGPUExecutionSynchronization (barriers order execution, not memory)"
_BARRIERS = "AMD CDNA 4 ISA 4.3; LLVM AMDGPUExecutionSynchronization"
_BOUNDS = "an access outside every allocation reads or changes what belongs to something else, or faults"
_SAFETY = (
    "Accesses of two waves are in order only if the first was complete, by its own counter, "
    "when its wave came to a rendezvous that both took part in."
)


def _place(f: Facts) -> str:
    low, end = f["bytes"]
    return f"bytes {low:,}-{end - 1:,} of LDS" if f["space"] == "lds" else f"{end - low:,} bytes at {low:#x}"


def _conflict(f: Facts) -> str:
    return f"(2) {CONFLICTS[f['conflict']]}: {_place(f)}, workgroup {f['workgroup']}"


def _completion(f: Facts) -> Iterable[str]:
    if "counter" in f:
        counter = f["counter"]
        yield f"at the barrier between them (1) may be outstanding on {counter}: {counter}({f['count']}) completes it"


def _no_rendezvous(f: Facts) -> Iterable[str]:
    yield "no barrier lies between them that both waves take part in"
    if "counter" in f:
        yield f"(1) must also be complete when its wave gets there: {f['counter']}({f['count']})"


def _no_wait(f: Facts) -> Iterable[str]:
    if "counter" in f:
        yield f"other engines of one wave keep no order: {f['counter']}({f['count']}) before (2) completes (1)"


def _workgroups(f: Facts) -> str:
    first, second = f["workgroups"]
    clash = CONFLICTS.get(f["conflict"], "touches what (1) touches")
    return f"(2) {clash}: {_place(f)}, by workgroups {first} and {second}"


def _uneven(f: Facts) -> str:
    few, many = (times(len(f[waves]), "wave") for waves in ("waves_with_fewest", "waves_with_most"))
    return f"unequal numbers of barriers in workgroup {f['workgroup']}: {f['most']} for {many}, {f['fewest']} for {few}"


def _where(f: Facts) -> Iterable[str]:
    x, y, z = f["workgroup"]
    yield f"first by workgroup {x},{y},{z}, wave {f['wave']}, lane {f['lane']}"
    if "nearest" in f:
        start, size = f["nearest_at"], f["nearest_size"]
        past, before = f["address"] - (start + size), start - f["address"]
        name = f"'{f['nearest']}' ({size:,} bytes)"
        if past >= 0:
            yield f"{past:,} bytes past the end of {name}" if past else f"just past the end of {name}"
        else:
            yield f"{before:,} bytes before the start of {name}" if before > 0 else f"in {name}"


def _outside(what: str) -> Wording:
    """An address of memory, or a byte of LDS or private memory."""
    place = "at {:#x}" if "global" in what else "at byte {:,}"
    return Wording(
        lambda f: f"bad {what}, {f['bytes']} bytes {place.format(f['address'])}, without effect here",
        f"On hardware {_BOUNDS}.",
        "the allocations of the launch",
        _where,
    )


RULES: dict[str, Wording] = {
    "race/missing_completion": Wording(_conflict, _SAFETY, _ORDER, _completion),
    "race/missing_rendezvous": Wording(_conflict, _SAFETY, _ORDER, _no_rendezvous),
    "race/missing_wait": Wording(
        _conflict, "An operation is complete only once its own counter says so.", _ORDER, _no_wait
    ),
    "race/same_store": Wording(
        lambda f: f"waves write {_place(f)} with one instruction, workgroup {f['workgroup']}",
        "Harmless if all write the same value, which a recording does not say.",
        _ORDER,
    ),
    "race/between_workgroups": Wording(
        _workgroups,
        "Nothing but atomics gives order between workgroups of a launch; harmless only if all write the same value.",
        "AMDGPUUsage, memory model",
    ),
    "sync/deadlock": Wording(
        lambda f: str(f["text"]),
        "Every wave that has not ended must reach the same barriers.",
        _BARRIERS,
    ),
    "sync/uneven_arrivals": Wording(
        _uneven,
        "A wave that has ended counts as arrived: the last barriers of the others wait for nobody.",
        _BARRIERS,
    ),
    "sync/signal_without_wait": Wording(
        lambda f: f"a second signal before a wait, workgroup {f['workgroup']}",
        "Two signals of one wave to a barrier, with no wait between, are undefined.",
        _BARRIERS,
    ),
    "sync/wait_without_signal": Wording(
        lambda f: f"a wait for a barrier that the wave has not signalled, workgroup {f['workgroup']}",
        "It may never end, or end with an earlier barrier.",
        _BARRIERS,
    ),
    "init/lds_never_written": Wording(
        lambda f: (
            f"{times(f['unwritten_bytes'], 'byte')} of LDS read from {f['first_byte']:,} on that no wave has written, "
            f"workgroup {f['workgroup']}, wave {f['wave']}"
        ),
        "LDS holds what the last workgroup left there.",
        "AMDGPUUsage, Local address space",
    ),
    "mem/read_outside_memory": _outside("read of global memory"),
    "mem/write_outside_memory": _outside("write to global memory"),
    "mem/outside_lds": _outside("access to LDS"),
    "mem/outside_scratch": _outside("access to private memory"),
    "mem/lanes_inactive": Wording(
        lambda f: f"a transposing load with some lanes inactive: EXEC is {f['address']:#x}",
        "Its result is undefined: lanes exchange what they have read.",
        "AMD CDNA 4 ISA, 'Transpose loads'",
        lambda f: list(_where(f))[:1],
    ),
}
"""By 'check/rule'."""
