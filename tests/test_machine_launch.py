"""Launches: barriers, workgroup shapes, ids, arguments, limits, interruption, several at once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from _asm import Snippet

from antiphase.errors import Incomplete, Unsupported, UserError
from antiphase.machine import _launch


def test_half_of_the_waves_may_run_a_stage_ahead() -> None:
    """Two groups of waves one barrier apart, as in a warp-pipelined kernel: the upper half has one
    barrier more before the loop, the lower half one more after it."""
    k = Snippet(threads=512, lds=4096)
    k("""v_readfirstlane_b32 s16, v0
         s_mov_b32 s17, 0
         v_mov_b32 v4, 0
         v_xor_b32 v5, 0x400, v1
         ds_write_b32 v1, v0
         s_waitcnt lgkmcnt(0)
         s_barrier
         s_cmp_lt_u32 s16, 256
         s_cselect_b32 s20, 1, 0
         s_cbranch_scc1 .Lloop
         s_barrier
         .Lloop:
         s_add_u32 s17, s17, 1
         s_and_b32 s18, s17, 1
         s_xor_b32 s19, s18, s20
         s_lshl_b32 s18, s18, 11
         s_lshl_b32 s19, s19, 11
         v_add_u32 v3, s17, v0
         v_add_u32 v6, s18, v1
         v_add_u32 v7, s19, v5
         ds_write_b32 v6, v3
         s_waitcnt lgkmcnt(0)
         s_barrier
         ds_read_b32 v2, v7
         s_waitcnt lgkmcnt(0)
         v_add_u32 v4, v4, v2
         s_barrier
         s_cmp_lt_u32 s17, 5
         s_cbranch_scc1 .Lloop
         s_cmp_lt_u32 s16, 256
         s_cbranch_scc0 .Ldone
         s_barrier
         .Ldone:""")
    k.keep("v4", "s17")
    items = np.arange(512, dtype=np.uint32)
    # the upper half reads what its partner wrote in the same step, the lower half what it wrote a step before
    expected = 5 * (items ^ 256) + np.where(items < 256, 0 + 1 + 2 + 3 + 4, 1 + 2 + 3 + 4 + 5)
    for record in (False, True):
        kept = k.run(record=record)
        assert (kept[1] == 5).all() and (kept[0] == expected).all(), record


def test_waves_that_end_are_not_waited_for() -> None:
    k = Snippet(threads=256, lds=1024)
    k("""ds_write_b32 v1, v0
         s_waitcnt lgkmcnt(0)
         v_readfirstlane_b32 s16, v0
         s_cmp_ge_u32 s16, 64
         s_cbranch_scc1 .Lmore
         s_endpgm
         .Lmore:""")
    k("s_barrier\nv_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)")
    k.keep("v3")
    items = np.arange(256, dtype=np.uint32)
    kept = k.run(record=True)
    assert (kept[0][64:] == (items ^ 64)[64:]).all() and (kept[0][:64] == 0).all()


@pytest.mark.parametrize("threads", [1, 63, 65, 100, 1000, 1024, 192, 832])
def test_workgroups_of_any_size(threads: int) -> None:
    k = Snippet(threads=threads, lds=4096)
    k("""ds_write_b32 v1, v0
         s_waitcnt lgkmcnt(0)
         s_barrier
         v_mov_b32 v2, 0
         ds_read_b32 v3, v2
         v_mbcnt_lo_u32_b32 v4, exec_lo, 0""")
    k("v_mbcnt_hi_u32_b32 v4, exec_hi, v4\ns_bcnt1_i32_b64 s16, exec\ns_waitcnt lgkmcnt(0)")
    k.keep("v0", "v3", "v4", "s16")
    kept = k.run()
    items = np.arange(threads)
    assert (kept[0] == items).all() and (kept[1] == 0).all() and (kept[2] == items % 64).all()
    assert (kept[3] == np.minimum(64, threads - items // 64 * 64)).all()


def test_workgroup_ids_in_three_dimensions_and_lds_is_not_shared() -> None:
    k = Snippet(inputs=1, lds=256)
    # out is indexed by x alone, so the ids go to an array of their own
    k("""ds_read_b32 v3, v1
         s_mul_i32 s16, s4, 3
         s_add_u32 s16, s16, s3
         s_mul_i32 s16, s16, 5
         s_add_u32 s16, s16, s2
         s_lshl_b32 s17, s16, 3""")
    k("""s_lshl_b32 s18, s4, 16
         s_lshl_b32 s19, s3, 8
         s_or_b32 s18, s18, s19
         s_or_b32 s18, s18, s2
         s_waitcnt lgkmcnt(0)
         ds_write_b32 v1, v0""")
    k("""s_add_u32 s10, s10, s17
         s_addc_u32 s11, s11, 0
         v_mov_b32 v4, s18
         v_mov_b32 v5, 0
         v_readfirstlane_b32 s20, v3
         v_mov_b32 v6, s20""")
    k("s_mov_b64 exec, 1\nglobal_store_dword v5, v4, s[10:11]\nglobal_store_dword v5, v6, s[10:11] offset:4")
    ids = np.zeros((2, 3, 5, 2), np.uint32)
    k.run(ids, grid=(5, 3, 2), workers=3)
    z, y, x = np.meshgrid(range(2), range(3), range(5), indexing="ij")
    assert (ids[..., 0] == (z << 16 | y << 8 | x)).all() and not ids[..., 1].any()


def test_preloaded_arguments_are_those_in_memory() -> None:
    k = Snippet(inputs=1, preload=4)
    k("""s_load_dwordx4 s[20:23], s[0:1], 0x0
         s_waitcnt lgkmcnt(0)
         s_xor_b32 s20, s20, s16
         s_xor_b32 s21, s21, s17
         s_xor_b32 s22, s22, s18""")
    k("s_xor_b32 s23, s23, s19\ns_or_b32 s20, s20, s21\ns_or_b32 s22, s22, s23\ns_or_b32 s20, s20, s22")
    k.keep("s20", "s16", "s2", "s3")
    kept = k.run(np.zeros(4, np.uint32), grid=(3, 2))
    assert not kept.rows[:3, 0].any() and kept.rows[:3, 1].all()


FOREVER = "s_mov_b32 s16, 0\n.Lloop:\ns_add_u32 s16, s16, 1\ns_branch .Lloop"


def test_an_endless_loop_stops_at_the_limit() -> None:
    k = Snippet(threads=256)
    k(FOREVER)
    loop = (
        r"k\.s: stopped at the limit of 5000 instructions, most of them in the loop of 's_branch \.Lloop' \(line \d+\);"
    )
    with pytest.raises(Incomplete, match=loop + " allow more with --max-instructions"):
        k.run(max_instructions=5000, grid=(3,))


TWICE = "s_mov_b32 s16, 2\n.Lagain:\ns_sub_u32 s16, s16, 1\ns_cmp_lg_u32 s16, 0\ns_cbranch_scc1 .Lagain"


@pytest.mark.parametrize("loop", ["", TWICE])
def test_the_limit_names_no_loop_where_most_is_outside(loop: str) -> None:
    k = Snippet()
    k("s_mov_b32 s17, 0\n" * 40 + loop)
    with pytest.raises(Incomplete, match=r"stopped at the limit of 2000 instructions; allow more"):
        k.run(max_instructions=2000, grid=(1000,), workers=1)


def test_the_limit_counts_all_workgroups() -> None:
    k = Snippet()
    k("s_mov_b32 s16, 100\n.Lloop:\ns_sub_u32 s16, s16, 1\ns_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lloop")
    with pytest.raises(Incomplete):
        k.run(max_instructions=2000, grid=(1000,), workers=1)
    assert k.run(max_instructions=2000, grid=(4,), workers=1).execution.instructions < 2000


def test_counts_of_executed_instructions() -> None:
    k = Snippet(threads=128)
    k("""s_mov_b32 s16, 10
         .Lloop:
         v_add_f32 v2, v2, v2
         s_sub_u32 s16, s16, 1
         s_cmp_eq_u32 s16, 0
         s_cbranch_scc0 .Lloop""")
    execution = k.run(grid=(3,)).execution
    assert execution.executed("v_add_f32") == 10 * 2 * 3
    assert execution.instructions == execution.counts.sum() == 2 * 3 * (len(execution.kernel.instructions) + 9 * 4)


def test_the_clock_goes_on_across_host_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_launch, "SLICE", 50)
    k = Snippet()
    k("""s_memtime s[16:17]
         s_mov_b32 s20, 200
         .Lloop:
         s_sub_u32 s20, s20, 1
         s_cmp_eq_u32 s20, 0
         s_cbranch_scc0 .Lloop""")
    k("s_memtime s[18:19]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s21, s18, s16\ns_subb_u32 s22, s19, s17")
    k.keep("s21", "s22")
    for record in (False, True):
        kept = k.run(record=record)
        assert 500 <= kept[0][0] < 700 and kept[1][0] == 0


SCRIPT = """
import sys, numpy as np
sys.path.insert(0, {tests!r})
from _asm import Snippet
k = Snippet(threads={threads})
k({body!r})
print("ready", flush=True)
k.run(grid=({groups},), record={record})
"""
# about 0.9 million instructions a wave, so that no wave uses a whole slice
LONG = "s_mov_b32 s16, 0x40000\n.Lloop:\ns_sub_u32 s16, s16, 1\ns_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lloop"


@pytest.mark.parametrize(
    ("threads", "body", "groups", "record"),
    [(64, FOREVER, 1, False), (256, FOREVER, 8, True), (1024, LONG, 2000, False)],
)
def test_ctrl_c_leaves_soon(threads: int, body: str, groups: int, record: bool) -> None:
    tests = str(Path(__file__).parent)
    script = SCRIPT.format(tests=tests, threads=threads, body=body, groups=groups, record=record)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert b"KeyboardInterrupt" in errors and process.returncode in (-signal.SIGINT, 130)


AT_ONCE = """
import threading, numpy as np
from _asm import Snippet
results = {}

def work(n):
    k = Snippet(inputs=1)
    k(f"v_mul_lo_u32 v2, v0, {n + 3}\\nv_sin_f32 v4, v0\\nglobal_atomic_add v1, v2, s[10:11]\\ns_waitcnt vmcnt(0)")
    k.keep("v2")
    data = np.zeros(64, np.uint32)
    rows = k.run(data, grid=(20,)).rows[:, 0]
    results[n] = bool((rows == np.arange(64) * (n + 3)).all() and (data == 20 * rows[0]).all())

threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == dict.fromkeys(range(4), True), results
"""


def test_four_threads_launch_at_once_with_nothing_loaded_yet() -> None:
    """In a process of its own: what is loaded once is called by other code as long as a process lives."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", AT_ONCE], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_program_may_run_again_and_old_code_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_launch, "CODES_KEPT", 2)
    k = Snippet()
    k("v_mov_b32 v2, 1")
    k.keep("v2")
    program = k.program()
    for n in range(4):
        assert (k.run(program=program)[0] == 1).all()
        other = Snippet()
        other(f"v_mov_b32 v2, {n}")
        other.keep("v2")
        # a new Program may get the id of one that is gone
        assert (other.run()[0] == n).all()
        assert len(_launch._codes) <= 2


@pytest.mark.parametrize(
    "refused",
    [
        "s_swappc_b64 s[20:21], s[22:23]",
        "s_getreg_b32 s20, hwreg(HW_REG_STATUS)",
        "s_setreg_b32 hwreg(HW_REG_MODE), s20",
    ],
)
def test_what_the_machine_refuses_is_named_when_it_runs(refused: str) -> None:
    k = Snippet()
    k(f"s_cmp_eq_u32 s2, 1\ns_cbranch_scc0 .Lskip\n{refused}\n.Lskip:\nv_mov_b32 v2, 5")
    k.keep("v2")
    program = k.program("refused.s")
    assert (k.run(program=program)[0] == 5).all(), "workgroup 0 goes around it"
    line = next(i.line for i in program.kernel().instructions if i.text() == refused)
    with pytest.raises(Unsupported, match=rf"^refused\.s:{line}: '{re.escape(refused)}' is not supported: \w"):
        k.run(program=program, grid=(2,))


def test_an_unknown_instruction_is_an_error_before_anything_runs() -> None:
    k = Snippet()
    k("s_branch .Lend\nv_frobnicate_f32 v2, v3\n.Lend:\ns_nop 0")
    program = k.program("odd.s")
    line = next(i.line for i in program.kernel().instructions if i.mnemonic.startswith("v_frob"))
    with pytest.raises(
        UserError,
        match=rf"odd\.s:{line}: gfx942 instruction 'v_frobnicate_f32' is not known.*; check its spelling",
    ):
        k.run(program=program)


def test_workgroups_too_large_are_errors() -> None:
    k = Snippet(lds=65537)
    with pytest.raises(UserError, match=r"k\.s: 65537 bytes of LDS; a gfx942 workgroup has at most 65536"):
        k.run()


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ANTIPHASE_CACHE", str(tmp_path / "file" / "cache"))
    k = Snippet()
    k("v_mov_b32 v2, 31")
    k.keep("v2")
    assert (k.run()[0] == 31).all()
    assert os.listdir(tmp_path) == ["file"]


def counting(rounds: int) -> Snippet:
    """Takes so many rounds; the workgroup in v4, the clocks it took in s22."""
    k = Snippet()
    k(f"""s_mov_b32 s20, {rounds}
          s_memtime s[22:23]
          .Lagain:
          s_sub_u32 s20, s20, 1
          s_cmp_lg_u32 s20, 0
          s_cbranch_scc1 .Lagain
          s_memtime s[24:25]
          s_waitcnt lgkmcnt(0)
          s_sub_u32 s22, s24, s22
          v_mov_b32 v4, s2""")
    return k


@pytest.mark.parametrize(("rounds", "spread"), [(3, False), (30_000, True)])
def test_a_small_launch_ends_in_the_calling_thread_and_a_large_one_goes_on_in_others(
    monkeypatch: pytest.MonkeyPatch, rounds: int, spread: bool
) -> None:
    started: list[int] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: (started.append(1), start(self))[1])
    k = counting(rounds)
    k.keep("v4", "s22")
    shown: list[tuple[int, int]] = []
    kept = k.run(grid=(6,), workers=2, progress=lambda done, total: shown.append((done, total)))
    assert (kept.rows[:, 0] == np.arange(6)[:, None]).all()
    # the clock counts instructions, on whichever thread they ran
    assert (kept.rows[:, 1] >= 3 * rounds - 3).all() and (kept.rows[:, 1] < 9 * rounds + 100).all()
    assert len(started) == (2 if spread else 0)
    assert shown[-1] == (6, 6)


@pytest.mark.parametrize("given", [0, 1])
def test_a_system_without_threads_gets_the_work_done_by_those_there_are(
    monkeypatch: pytest.MonkeyPatch, given: int
) -> None:
    left, start = [given], threading.Thread.start

    def start_some(thread: threading.Thread) -> None:
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    k = counting(30_000)
    k.keep("v4")
    if given:
        kept = k.run(grid=(6,), workers=2)
        assert (kept.rows[:, 0] == np.arange(6)[:, None]).all()
    else:
        with pytest.raises(Incomplete, match="no thread to run on"):
            k.run(grid=(6,), workers=2)
