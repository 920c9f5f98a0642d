"""The words of the rules about two wave groups that run one loop some rendezvous apart: `stage`."""

from __future__ import annotations

from collections.abc import Iterable

from antiphase.report._words import CONFLICTS, Facts, Wording, times

_SAFETY = (
    "The leading group is ahead by the gap: what a trailing wave did is before what a leading wave does only if their "
    "code has more rendezvous than that between them, and it was complete at the last but that many."
)
_SOURCE = "Triton 3.9 ConvertWarpPipeline.cpp; triton-lang/triton#9929"


def _clash(f: Facts) -> str:
    return f"the leading group at (2) {CONFLICTS[f['conflict']]} in the trailing one: LDS byte {f['byte']:,}"


def _rendezvous(count: int) -> str:
    return f"{count} rendezvous"


def _gap(f: Facts) -> Iterable[str]:
    yield f"the code has {_rendezvous(f['crossed'])} between them, a gap of {f['gap']} needs {f['gap'] + 1}"


def _late(f: Facts) -> Iterable[str]:
    needed, until = f["needed_at"], f["completed_at"]
    yield f"(1) is complete at rendezvous {until} after it; with a gap of {f['gap']} it must be at rendezvous {needed}"
    if "counter" in f:
        yield f"before the barrier of that rendezvous {f['counter']}({f['count']}) completes it"


def _stages(f: Facts) -> str:
    labels = f["labels"]
    return f"stage{'' if len(labels) == 1 else 's'} {', '.join(repr(label) for label in labels)}"


def _needless(f: Facts) -> Iterable[str]:
    yield f"{times(f['operations'], 'LDS operation')} waited for in {times(f['executed'], 'execution')}"
    yield "Triton takes slots of one allocation for a conflict: an allocation for each slot leaves the barrier bare"


def _groups(f: Facts) -> Iterable[str]:
    leading, trailing = times(f["leading"], "wave"), times(f["trailing"], "wave")
    yield f"leading: {leading}; trailing: {trailing}, by {_rendezvous(f['gap'])}"


RULES: dict[str, Wording] = {
    "stage/unused_borders": Wording(
        lambda f: f"{_stages(f)} marked, and the compiler has made nothing of it: no barrier, no priority",
        "Triton forms stages of what stands directly in a `for` loop or outside loops; within `if` and `while` the "
        "marks stay in its IR unused. All waves run in step, and nothing overlaps.",
        "Triton 3.9 WarpPipeliner.cpp: only scf.for bodies and top-level blocks are visited",
    ),
    "stage/stages_not_separate": Wording(
        lambda f: f"{_stages(f)} marked in a loop without a barrier",
        "Groups of waves change stages at a rendezvous: without one each wave goes its own pace.",
        _SOURCE,
    ),
    "stage/needless_completion": Wording(
        lambda f: f"{f['counter']}({f['count']}) before the barrier (2) orders nothing",
        "What it completes, no other wave touches before a later wait completes it anyway.",
        "Triton 3.9 ConvertWarpPipeline.cpp; triton-lang/triton#10087",
        _needless,
    ),
    "stage/too_few_rendezvous": Wording(_clash, _SAFETY, _SOURCE, _gap),
    "stage/completed_too_late": Wording(_clash, _SAFETY, _SOURCE, _late),
    "stage/order_reversed": Wording(
        lambda f: f"the leading group does (2) before the trailing group does (1): LDS byte {f['byte']:,}",
        "The program has them the other way round; the gap between the groups turns them about in every interleaving.",
        _SOURCE,
        lambda f: (f"the gap is {_rendezvous(f['gap'])}",),
    ),
    "stage/no_offset": Wording(
        lambda f: f"{f['taking']} of {times(f['waves'], 'wave')} take the barrier that would set one group back",
        "The groups stay in the same stage; every rendezvous is paid, and nothing overlaps.",
        _SOURCE,
    ),
    "stage/uneven_groups": Wording(
        lambda f: f"groups of unequal size: {f['leading']} and {f['trailing']} waves",
        "A SIMD holds one wave of each group only if the groups are as large.",
        _SOURCE,
        _groups,
    ),
    "stage/offset_not_closed": Wording(
        lambda f: f"no later barrier of the leading group alone closes the offset, workgroup {f['workgroup']}",
        "The last rendezvous of the trailing group pair with none of the leading one.",
        _SOURCE,
        _groups,
    ),
    "stage/not_two_waves_a_simd": Wording(
        lambda f: f"groups of waves in different stages on {f['target']}: not known to share its SIMDs evenly",
        "The pattern counts on four SIMDs with one wave of each group, as CDNA and gfx1250 have them.",
        _SOURCE,
        _groups,
    ),
}
"""By 'check/rule'."""
