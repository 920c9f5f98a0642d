"""`sync`, `init`, `mem` and `stage` on small kernels."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel
from test_checks_race import BARRIER, DONE, READ_OTHER, WRITE_, snippet

from antiphase.checks import Finding
from antiphase.checks._memory_use import check_memory
from antiphase.checks.init import check_init
from antiphase.checks.stage import check_stages
from antiphase.checks.sync import check_sync
from antiphase.machine import Recording


def recorded(body: str, threads: int = 128) -> Recording:
    recording = snippet(body, threads=threads).run(record=True).execution.recording
    assert recording is not None
    return recording


SKIP = "s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lskip{0}\n" + BARRIER + ".Lskip{0}:\n"


def test_waves_that_take_more_barriers_than_others() -> None:
    (finding,) = check_sync(recorded(BARRIER + SKIP.format("")))
    assert (finding.rule, finding.severity) == ("uneven_arrivals", "warning")
    assert finding.facts["waves_with_fewest"] == (0,) and finding.facts["waves_with_most"] == (1,)
    assert (finding.facts["fewest"], finding.facts["most"]) == (1, 2)
    assert [site.waves for site in finding.sites] == [(1,), (0,)]


def test_the_same_number_at_different_places_is_fine() -> None:
    other = "s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lnot\n" + BARRIER + ".Lnot:\n"
    assert not check_sync(recorded(BARRIER + SKIP.format("") + other))


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ("s_barrier_signal -1\ns_barrier_wait -1\n" * 2, []),
        ("s_barrier_signal -1\ns_barrier_signal -1\ns_barrier_wait -1\n", ["signal_without_wait"]),
    ],
)
def test_split_barriers_take_turns(body: str, rules: list[str]) -> None:
    recording = Kernel("gfx1201", threads=32)(body).run(record=True).execution.recording
    assert recording is not None
    assert [f.rule for f in check_sync(recording)] == rules


def unwritten(body: str) -> list[Finding]:
    return check_init(snippet(body).run(record=True).execution)


def test_lds_that_nothing_has_written() -> None:
    assert not unwritten(WRITE_ + DONE + BARRIER + READ_OTHER)
    (finding,) = unwritten("ds_read_b32 v4, v2 offset:512\n")
    assert finding.rule == "lds_never_written" and finding.count == 2
    assert (finding.facts["first_byte"], finding.facts["unwritten_bytes"], finding.facts["wave"]) == (512, 256, 0)
    (finding,) = unwritten("ds_write_b8 v2, v0\nds_read_b32 v4, v2\n")
    assert finding.facts["first_byte"] == 1
    (finding,) = unwritten(READ_OTHER + DONE + BARRIER + WRITE_)
    assert finding.sites[0].role == "read", "written, but only later"


def test_accesses_that_went_astray() -> None:
    k = Snippet(inputs=1, lds=256)
    k("v_mov_b32 v5, 0x10000\nglobal_load_dword v6, v5, s[10:11]\nds_read_b32 v7, v5\n")
    data = np.zeros(16, np.uint32)
    checked = check_memory(k.run(data).execution)
    assert [(f.rule, f.count) for f in checked.findings] == [("read_outside_memory", 64), ("outside_lds", 64)]
    assert checked.findings[0].facts["address"] == data.ctypes.data + 0x10000
    k = Snippet(inputs=1)
    k("global_load_dword v6, v1, s[10:11]\n")
    assert check_memory(k.run(np.zeros(64, np.uint32)).execution).verdict == "clean"


def stages(stage: list[str], gap: int = 1, close: bool = True) -> list[Finding]:
    """Rules for two groups of one wave in a loop of these parts, the second `gap` rendezvous behind."""
    lines = {"write": WRITE_, "read": READ_OTHER, "LOCAL": DONE + BARRIER, "bare": BARRIER}
    body = f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lin\n{BARRIER * gap}.Lin:\ns_mov_b32 s17, 4\n.Lagain:\n"
    body += "".join(lines[part] for part in stage)
    body += "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n" + DONE
    if close:
        body += f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lout\n{BARRIER * gap}.Lout:\n"
    return check_stages(recorded(body))


SAFE = ["write", "LOCAL", "bare", "read", "LOCAL", "bare"]


def test_safe_stages_have_no_finding() -> None:
    assert not stages(SAFE)


def test_adjacent_stages_have_too_few_rendezvous() -> None:
    found = stages(["write", "LOCAL", "read", "LOCAL"])
    assert {(f.rule, f.facts["conflict"]) for f in found} == {
        ("too_few_rendezvous", "write_read"), ("too_few_rendezvous", "read_write"),
    }  # fmt: skip
    assert all((f.facts["crossed"], f.facts["gap"]) == (1, 1) for f in found)
    assert all([site.waves for site in f.sites] == [(1,), (0,)] for f in found), "the trailing wave is the late one"


def test_a_wait_one_rendezvous_late() -> None:
    (finding,) = stages(["write", "bare", "LOCAL", "read", "LOCAL", "bare"])
    assert finding.rule == "completed_too_late"
    assert (finding.facts["completed_at"], finding.facts["needed_at"]) == (2, 1)
    assert finding.fix is not None and finding.fix.text == ("s_waitcnt lgkmcnt(0)",)


def test_a_completion_at_a_border_that_orders_nothing() -> None:
    """A slot that both groups use needs its completions; one that each wave has to itself does not."""
    shared = WRITE_ + DONE + BARRIER + BARRIER + READ_OTHER + DONE + BARRIER + BARRIER
    needless = "ds_write_b32 v2, v0 offset:1024\n" + DONE + BARRIER

    def found(body: str) -> list[tuple[str, str]]:
        lines = f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lin\n{BARRIER}.Lin:\ns_mov_b32 s17, 4\n.Lagain:\n{body}"
        lines += "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n" + DONE
        lines += f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lout\n{BARRIER}.Lout:\n"
        return [(f.rule, f.severity) for f in check_stages(recorded(lines))]

    assert found(shared) == []
    assert found(shared + needless) == [("needless_completion", "info")]
    assert found(shared + needless.replace(DONE, DONE + "v_mov_b32 v9, v4\n")) == [], "the wait is for a register"


def test_an_order_that_the_offset_turns_round() -> None:
    assert {f.rule for f in stages(["write", "LOCAL", "read", "LOCAL"], gap=2)} == {"order_reversed"}


def test_an_offset_that_stays_open() -> None:
    (finding,) = stages(SAFE, close=False)
    assert finding.rule == "offset_not_closed" and finding.facts["gap"] == 1


def test_a_split_that_gives_no_offset() -> None:
    loop = (
        "s_mov_b32 s17, 3\n.Lagain:\n"
        + BARRIER
        + "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n"
    )
    body = "s_cmp_lt_u32 s16, 0x100\ns_cbranch_scc1 .Lin\n" + BARRIER + ".Lin:\n" + loop
    (finding,) = check_stages(recorded(body))
    assert (finding.rule, finding.facts["taking"], finding.facts["waves"]) == ("no_offset", 0, 2)
