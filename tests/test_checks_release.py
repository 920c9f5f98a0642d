"""`race` where workgroups hand over: what a release and an acquisition need of caches, each part there and missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_checks_handover import (
    ACQUIRE,
    ALL_LANES,
    COMPLETE,
    GLOBAL_FLAG,
    INVALIDATE,
    ONE_LANE,
    RELEASE,
    STORE,
    WRITE_BACK,
)
from test_checks_race import MEMORY, mended, races

from antiphase.checks import Checked

LOAD = "global_load_dword v13, v12, s[10:11]\n"


def hand_over(before: str, behind: str, acquire: str = ACQUIRE) -> Checked:
    """The first workgroup does something and counts up; the second waits for the count and goes on."""
    first = before + ONE_LANE + RELEASE + ALL_LANES + "s_branch .Lend\n"
    second = ".Lsecond:\n" + ONE_LANE + acquire + ALL_LANES + behind + ".Lend:\ns_nop 0\n"
    return races(MEMORY + GLOBAL_FLAG + first + second, np.zeros(512, np.uint32), threads=64, grid=(2,))


@pytest.mark.parametrize(
    ("before", "behind", "wanted"),
    [
        (STORE + WRITE_BACK + COMPLETE, INVALIDATE + LOAD, []),
        (STORE + COMPLETE + WRITE_BACK + COMPLETE, INVALIDATE + LOAD, []),
        (STORE + WRITE_BACK + LOAD + "s_waitcnt vmcnt(1)\n", INVALIDATE + LOAD, []),
        (STORE + COMPLETE, INVALIDATE + LOAD, ["release_without_write_back"]),
        (WRITE_BACK + STORE + COMPLETE, INVALIDATE + LOAD, ["release_without_write_back"]),
        (STORE + COMPLETE + "buffer_wbl2 sc0\n" + COMPLETE, INVALIDATE + LOAD, ["release_without_write_back"]),
        (STORE + COMPLETE + WRITE_BACK, INVALIDATE + LOAD, ["release_before_completion"]),
        (STORE + COMPLETE + WRITE_BACK + "s_waitcnt vmcnt(1)\n", INVALIDATE + LOAD, ["release_before_completion"]),
        (STORE + WRITE_BACK + COMPLETE, LOAD, ["acquire_without_invalidate"]),
        (STORE + WRITE_BACK + COMPLETE, "buffer_inv sc0\n" + LOAD, ["acquire_without_invalidate"]),
        (STORE + WRITE_BACK + COMPLETE, LOAD.replace("v13", "v14") + INVALIDATE + LOAD, ["acquire_without_invalidate"]),
    ],
)
def test_each_part_on_cdna(before: str, behind: str, wanted: list[str]) -> None:
    checked = hand_over(before, behind)
    assert [f.rule for f in checked.findings] == wanted and not checked.incomplete
    assert all(f.severity == "error" and f.facts["workgroups"] == (0, 1) for f in checked.findings)


def test_what_is_coherent_needs_no_cache_instruction() -> None:
    store, load = STORE.replace("s[10:11]", "s[10:11] sc1"), LOAD.replace("s[10:11]", "s[10:11] sc1")
    assert not hand_over(store + COMPLETE, load).findings
    assert [f.rule for f in hand_over(store + COMPLETE, LOAD).findings] == ["acquire_without_invalidate"]
    assert [f.rule for f in hand_over(STORE + COMPLETE, load).findings] == ["release_without_write_back"]


def test_stores_need_no_invalidation_and_loads_no_write_back() -> None:
    store = STORE.replace("v11", "v12")
    assert not hand_over(STORE + WRITE_BACK + COMPLETE, store).findings
    assert not hand_over(LOAD.replace("v12", "v11") + COMPLETE, store).findings


def test_an_invalidation_before_the_flag_is_seen_is_early() -> None:
    early = ACQUIRE.replace("s_waitcnt", INVALIDATE + "s_waitcnt")
    (finding,) = hand_over(STORE + WRITE_BACK + COMPLETE, LOAD, early).findings
    assert finding.rule == "acquire_before_completion"
    assert finding.fix is not None and finding.fix.text == ("s_waitcnt vmcnt(0)",)


pytest.importorskip("triton")

from test_checks_handover import compiled, in_a_lock, judged, last_one_reduces  # noqa: E402

from antiphase.asm import parse_instruction  # noqa: E402
from antiphase.frontends import Compiled, LaunchSpec  # noqa: E402
from antiphase.mutate import mutate  # noqa: E402

TAKE, GIVE = "cmpswap", "atomic_swap"
CDNA3 = [
    (GIVE, -1, "buffer_wbl2", "release_without_write_back"),
    (GIVE, -1, "s_waitcnt", "release_before_completion"),
    (TAKE, 1, "buffer_inv", "acquire_without_invalidate"),
]
RDNA3 = [
    (TAKE, 1, "buffer_gl1_inv", "acquire_without_invalidate"),
    # the waves of a workgroup run on two compute units: each drops what its own holds, with no load outstanding
    ("ds_load", -1, "buffer_gl0_inv", "acquire_without_invalidate"),
    (TAKE, -1, "s_waitcnt", "acquire_before_completion"),
]
PARTS = {
    "gfx942": CDNA3,
    "gfx950": CDNA3,
    "gfx1100": RDNA3,
    "gfx1151": RDNA3,
    "gfx1201": [
        (TAKE, 1, "s_wait_loadcnt", "acquire_before_completion"),
        (TAKE, 1, "global_inv", "acquire_without_invalidate"),
    ],
    "gfx1250": [
        (GIVE, -1, "global_wb", "release_without_write_back"),
        (GIVE, -1, "s_wait_storecnt", "release_before_completion"),
        (TAKE, 1, "s_wait_loadcnt", "acquire_before_completion"),
        (TAKE, 1, "global_inv", "acquire_without_invalidate"),
        ("global_inv", 1, "s_wait_loadcnt", "invalidation_outstanding"),
    ],
}


def near(one: Compiled, anchor: str, step: int, mnemonic: str) -> int:
    """The next instruction of that name before or behind the first with the other in its name."""
    names = [instruction.mnemonic for instruction in one.program.kernel().instructions]
    at = next(i for i, name in enumerate(names) if anchor in name and (anchor == TAKE or TAKE not in name))
    while names[at := at + step] != mnemonic:
        pass
    return at


@pytest.mark.parametrize(("target", "part"), [(target, part) for target, parts in PARTS.items() for part in parts])
def test_a_lock_without_one_part(target: str, part: tuple[str, int, str, str]) -> None:
    anchor, step, mnemonic, rule = part
    one = compiled(in_a_lock, target)
    broken = one.program.without([near(one, anchor, step, mnemonic)])
    (finding,) = judged(one, broken)[0].findings
    assert (finding.rule, finding.severity) == (rule, "warning" if rule == "invalidation_outstanding" else "error")
    assert judged(one, mended(broken, finding))[0] == Checked(())


def every(one: Compiled, mnemonic: str) -> list[int]:
    return [i for i, other in enumerate(one.program.kernel().instructions) if other.mnemonic == mnemonic]


def test_both_caches_of_rdna3_count() -> None:
    one = compiled(in_a_lock, "gfx1100")
    for mnemonic in ("buffer_gl0_inv", "buffer_gl1_inv"):
        (finding,) = judged(one, one.program.without(every(one, mnemonic)))[0].findings
        assert finding.rule == "acquire_without_invalidate"


def test_waves_of_one_compute_unit_have_its_cache_in_common() -> None:
    """In CU mode the invalidation of one wave does for all of its workgroup."""
    one = compiled(in_a_lock, "gfx1100")
    program = one.program.without([near(one, "ds_load", -1, "buffer_gl0_inv")])
    kernel = program.kernel()
    descriptor = {**kernel.descriptor, "workgroup_processor_mode": 0}
    assert judged(one, replace(program, kernels=(replace(kernel, descriptor=descriptor),)))[0] == Checked(())


def test_other_waves_of_rdna4_rely_on_a_complete_invalidation() -> None:
    """One wave invalidates what is beyond the compute unit, and all read: it has to be complete at the barrier."""
    one = compiled(in_a_lock, "gfx1201")
    at = near(one, "ds_store", -1, "s_wait_loadcnt_dscnt")
    broken = one.program.edit({at: [parse_instruction("s_wait_dscnt 0x0")]})
    (finding,) = judged(one, broken)[0].findings
    assert (finding.rule, finding.severity) == ("invalidation_outstanding", "warning")
    assert judged(one, mended(broken, finding))[0] == Checked(())


@pytest.mark.parametrize("kernel", [last_one_reduces, in_a_lock], ids=["last one reduces", "lock"])
def test_mutants_of_a_hand_over_are_judged(kernel: Any) -> None:
    """All but those in a loop that turns once, if nobody else holds the lock."""
    one = compiled(kernel, "gfx942")
    values = [np.ones(4096, np.float32), np.zeros(4096, np.float32), np.zeros(16, np.int32), np.zeros(1024, np.float32)]
    judged_ = mutate(
        one.program, LaunchSpec(("",) * 4, tuple(values), (4,), one.threads_per_workgroup, one.shared)
    ).judged
    assert {o.reason for o in judged_ if o.status not in ("caught", "redundant")} <= {"few_passes"}
    assert "release_before_completion" in [o.by.rule for o in judged_ if o.by and o.status == "caught"]
    assert kernel is last_one_reduces or "ordered" in [o.reason for o in judged_]
