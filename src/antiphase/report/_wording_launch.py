"""The words of the rules about a recorded launch: `race`, `sync`, `init`, `mem`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from antiphase.report._words import CONFLICTS, Facts, Wording, distance, times

_ORDER = "AMDGPUUsage, memory model; LLVM AMDGPUExecutionSynchronization (barriers order execution, not memory)"
_MODEL = "LLVM AMDGPUUsage, memory model"
_BARRIERS = (
    "AMD RDNA 3 ISA 5.5; AMD RDNA 3.5 ISA 5.5; AMD RDNA 4 ISA 5.6; AMD CDNA 3 ISA 4.3; AMD CDNA 4 ISA 4.3; "
    "AMD CDNA 5 ISA 5.6; LLVM AMDGPUExecutionSynchronization"
)
_BOUNDS = "an access outside every allocation reads or changes what belongs to something else, or faults"
_SAFETY = (
    "Accesses of two waves are in order only if the first was complete, by its own counter, "
    "when its wave came to a rendezvous that both took part in."
)


def _place(f: Facts) -> str:
    low, end = f["bytes"]
    return f"bytes {low:,}-{end - 1:,} of LDS" if f["space"] == "lds" else f"{end - low:,} bytes at {low:#x}"


def _conflict(f: Facts) -> str:
    first, second = f.get("workgroups", (f["workgroup"],) * 2)
    where = f"workgroup {first}" if first == second else f"workgroups {first} and {second}"
    return f"(2) {CONFLICTS[f['conflict']]}: {_place(f)}, {where}"


def _completion(f: Facts) -> Iterable[str]:
    if "counter" in f:
        counter, between = f["counter"], "atomic that hands over" if f.get("atomic") else "barrier between them"
        yield f"at the {between} (1) may be outstanding on {counter}: {counter}({f['count']}) completes it"


def _no_rendezvous(f: Facts) -> Iterable[str]:
    yield "no barrier lies between them that both waves take part in"
    if f.get("polled"):
        yield "turning around a plain load orders nothing: let the one set the flag, and the other look, by atomics"
    if "counter" in f:
        yield f"(1) must also be complete when its wave gets there: {f['counter']}({f['count']})"


def _no_wait(f: Facts) -> Iterable[str]:
    if "counter" in f:
        yield f"other engines of one wave keep no order: {f['counter']}({f['count']}) before (2) completes (1)"


def _workgroups(f: Facts) -> str:
    first, second = f["workgroups"]
    clash = CONFLICTS.get(f["conflict"], "touches what (1) touches")
    who = "clusters that begin with workgroups" if f.get("cluster", 1) > 1 else "workgroups"
    return f"(2) {clash}: {_place(f)}, by {who} {first} and {second}"


def _handed_over(what: str) -> Callable[[Facts], str]:
    """A hand-over between workgroups; `what` is wrong with it."""
    return lambda f: f"{what}: {_place(f)}, workgroups {f['workgroups'][0]} and {f['workgroups'][1]}"


def _complete(what: str) -> Callable[[Facts], Iterable[str]]:
    return lambda f: (f"{what} complete at {f['counter']}(0)",)


def _by_caches(f: Facts) -> Iterable[str]:
    yield f"missing: {', then '.join(f['caches'])}"


def _uneven(f: Facts) -> str:
    few, many = (times(len(f[waves]), "wave") for waves in ("waves_with_fewest", "waves_with_most"))
    return f"unequal numbers of barriers in workgroup {f['workgroup']}: {f['most']} for {many}, {f['fewest']} for {few}"


def _named(f: Facts) -> str:
    return "the cluster's barrier" if f["number"] < 0 else f"named barrier {f['number']}"


def _members(f: Facts) -> Iterable[str]:
    yield f"it has {times(f['members'], 'member')}"


def _of_named(what: str, why: str, details: Callable[[Facts], Iterable[str]] = lambda f: ()) -> Wording:
    """Misuse of a barrier other than the workgroup's; `what` takes its name."""
    return Wording(
        lambda f: f"{what.format(_named(f))}, workgroup {f['workgroup']}",
        why,
        "LLVM AMDGPUExecutionSynchronization",
        details,
    )


def _signalled_again(f: Facts) -> str:
    barrier = f" of {_named(f)}" if "number" in f else ""
    return f"a second signal{barrier} before a wait, workgroup {f['workgroup']}"


def _where(f: Facts) -> Iterable[str]:
    x, y, z = f["workgroup"]
    yield f"first by workgroup {x},{y},{z}, wave {f['wave']}, lane {f['lane']}"
    if "lds" in f:
        given = f"the workgroup was given {times(f['lds'], 'byte')} of LDS"
        yield given if f["lds"] else f"{given}: --lds-bytes (lds_bytes= in Python) adds to what the text declares"
    if "nearest" in f:
        place = distance(f["address"], f["nearest_at"], f["nearest_size"])
        yield f"{place} '{f['nearest']}' ({f['nearest_size']:,} bytes)" if place else "near no allocation"


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
    "race/landing_order": Wording(
        lambda f: f"asynchronous loads (1) and (2) of one wave may land in either order: {_place(f)}",
        "They complete in order, and land in LDS in any order, as far as public models of the hardware say.",
        "ROCm/rocm-systems, rocjitsu; AMDGPUUsage leaves asynchronous operations out of its memory model",
        lambda f: (f"{f['counter']}({f['count']}) before (2) keeps them in order",),
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
    "race/release_without_write_back": Wording(
        _handed_over("what (1) wrote may still be in a cache when (2) hands it over"),
        "Workgroups may have different L2 caches of a device, and a store that is not coherent over it stays in one.",
        f"{_MODEL}, release at agent scope",
        _by_caches,
    ),
    "race/release_before_completion": Wording(
        _handed_over("what (1) wrote may be on its way out of a cache when (2) hands it over"),
        "A write-back only begins when it is issued; what it writes is there when its counter says so.",
        f"{_MODEL}, release at agent scope",
        _complete("the write-back is"),
    ),
    "race/acquire_without_invalidate": Wording(
        _handed_over("(1) may find in a cache what was there before (2) saw the other workgroup go on"),
        "A load that is not coherent over the device may hit a line that was read before.",
        f"{_MODEL}, acquire at agent scope",
        _by_caches,
    ),
    "race/acquire_before_completion": Wording(
        _handed_over("(1) may find what was there before, as caches are invalidated while (2) or a load is out"),
        "What is outstanding at an invalidation may bring back what was there before.",
        f"{_MODEL}, acquire at agent scope",
        _complete("loads and atomics are"),
    ),
    "race/invalidation_outstanding": Wording(
        _handed_over("(1) may come before the invalidation behind (2) is complete"),
        "LLVM's compiler waits for the invalidation; its guide says that it keeps its place, and asks for no wait.",
        "LLVM SIInsertWaitcnts, llvm#135340 and llvm#175865; AMDGPUUsage 22.1.8, acquire at agent scope, differs",
        _complete("the invalidation is"),
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
        _signalled_again,
        "Two signals of one wave to a barrier, with no wait between, are undefined.",
        _BARRIERS,
    ),
    "sync/wait_without_signal": Wording(
        lambda f: f"a wait for a barrier that the wave has not signalled, workgroup {f['workgroup']}",
        "It may never end, or end with an earlier barrier.",
        _BARRIERS,
    ),
    "sync/not_initialized": _of_named(
        "{} is used and was never initialized", "Operations on a barrier without members are undefined."
    ),
    "sync/initialized_in_no_order": _of_named(
        "{} is used by a wave that need not have waited for its initialization",
        "Another wave initializes it: a barrier of the workgroup between the two puts them in order.",
    ),
    "sync/nothing_joined": Wording(
        lambda f: f"the barrier that the wave joined last is meant, and it has joined none, workgroup {f['workgroup']}",
        "A wait on any named barrier waits on the one that the wave joined last; without one it is undefined.",
        "LLVM AMDGPUExecutionSynchronization",
    ),
    "sync/joined_too_late": _of_named(
        "a wait on {} whose arrivals may all have come before the wave joined it",
        "The join must come, in every interleaving, before some arrival that the wait depends on.",
    ),
    "sync/phase_not_separate": _of_named(
        "{} is signalled by a wave that need not have waited for its last completion",
        "Signals of more waves than it has members fall in phases by chance: which waves meet is undefined.",
        _members,
    ),
    "sync/cluster_signalled_twice": _of_named(
        "{} is signalled by two waves of one workgroup",
        "One wave arrives for its whole workgroup; a second arrival stands for another workgroup.",
    ),
    "init/lds_never_written": Wording(
        lambda f: (
            f"{times(f['unwritten_bytes'], 'byte')} of LDS read from {f['first_byte']:,} on that no wave has written, "
            f"workgroup {f['workgroup']}, wave {f['wave']}"
        ),
        "LDS holds what the last workgroup left there.",
        "AMDGPUUsage, Local address space",
    ),
    "init/scratch_never_written": Wording(
        lambda f: (
            f"{times(f['unwritten_bytes'], 'byte')} of private memory read from {f['first_byte']:,} on that no lane "
            f"has written, workgroup {f['workgroup']}, wave {f['wave']}"
        ),
        "Private memory holds what the last wave there left in it.",
        "AMDGPUUsage, Private address space",
    ),
    "init/memory_never_written": Wording(
        lambda f: (
            f"{times(f['unwritten_bytes'], 'byte')} of memory read that nothing has written, "
            f"workgroup {f['workgroup']}, wave {f['wave']}"
        ),
        "The argument was made empty, and no write of this or an earlier launch reaches these bytes.",
        "the arguments of the launch",
        lambda f: (f"byte {f['offset']:,} of '{f['nearest']}'",) if "nearest" in f else (),
    ),
    "mem/read_outside_memory": _outside("read of global memory"),
    "mem/write_outside_memory": _outside("write to global memory"),
    "mem/outside_lds": _outside("access to LDS"),
    "mem/outside_scratch": _outside("access to private memory"),
    "mem/lanes_inactive": Wording(
        lambda f: f"a transposing load with some lanes inactive: EXEC is {f['address']:#x}",
        "Its result is undefined: lanes exchange what they have read.",
        "AMD CDNA 4 ISA 11.4; AMD RDNA 4 ISA 11.6; AMD CDNA 5 ISA 10.9",
        lambda f: list(_where(f))[:1],
    ),
    "mem/trap": Wording(
        lambda f: f"the kernel ends its own launch, in workgroup {','.join(map(str, f['workgroup']))}",
        "A failed assertion, abort() and llvm.trap do: results are incomplete, and on a GPU the queue is in error.",
        "AMDGPUUsage, Trap Handler ABI",
    ),
}
"""By 'check/rule'."""
