"""Traps and messages: what ends a launch, what goes on, and how the command says it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from _asm import Snippet
from _checked import program, text

from antiphase import checking
from antiphase.cli import main
from antiphase.errors import Trapped
from antiphase.frontends import launch_asm
from antiphase.machine import Memory, run

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1201", "gfx1250")
SOURCE = '.file 1 "/src" "kernel.py"\n.loc 1 12 0\n'


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_llvm_trap_ends_the_launch(target: str, record: bool) -> None:
    with pytest.raises(Trapped) as caught:
        launch_asm(program("s_nop 0\ns_trap 2", target), grid=3, args=[], threads=64, record=record)
    error = caught.value
    assert (error.kernel, error.text, error.instruction, error.workgroup, error.wave) == (
        "k",
        "s_trap 2",
        1,
        (0, 0, 0),
        0,
    )
    assert str(error).startswith("k.s:8: kernel k stopped at 's_trap 2' (workgroup 0,0,0, wave 0): an assertion failed")


def test_the_wave_and_the_source_line_are_named() -> None:
    body = SOURCE + "v_readfirstlane_b32 s4, v0\ns_cmp_lg_u32 s4, 64\ns_cbranch_scc1 .Lend\ns_trap 2\n.Lend:"
    with pytest.raises(Trapped) as caught:
        launch_asm(program(body), grid=1, args=[], threads=128)
    assert (caught.value.wave, caught.value.file, caught.value.line) == (1, "/src/kernel.py", 12)


def test_debug_trap_goes_on() -> None:
    kernel = Snippet()
    kernel("s_trap 3\ns_sendmsg sendmsg(MSG_INTERRUPT)\ns_trap 0x3\nv_mov_b32 v2, 7")
    kernel.keep("v2")
    assert (kernel.run()[0] == 7).all()


@pytest.mark.parametrize("number", ["0", "1", "7", "0xff"])
def test_reserved_traps_are_errors_too(number: str) -> None:
    with pytest.raises(Trapped, match=f"stopped at 's_trap {number}'"):
        launch_asm(program(f"s_trap {number}"), grid=1, args=[], threads=64)


def test_a_trap_that_is_not_reached_is_nothing() -> None:
    kernel = Snippet()
    kernel("s_branch .Lend\ns_trap 2\n.Lend:\nv_mov_b32 v2, 7")
    kernel.keep("v2")
    assert (kernel.run()[0] == 7).all()


@pytest.mark.parametrize("workers", [1, 3])
def test_one_workgroup_ends_all_of_them(workers: int) -> None:
    kernel = Snippet()
    kernel("s_cmp_lg_u32 s2, 500\ns_cbranch_scc1 .Lend\ns_trap 2\n.Lend:\nv_mov_b32 v2, 7")
    kernel.keep("v2")
    with pytest.raises(Trapped) as caught:
        kernel.run(grid=(1000,), workers=workers)
    assert caught.value.workgroup == (500, 0, 0)


def test_an_interrupt_reaches_the_host_and_the_wave_sees_what_it_did() -> None:
    kernel = Snippet()
    kernel("""
        v_mov_b32 v2, 5
        global_store_dword v1, v2, s[8:9]
        s_waitcnt vmcnt(0)
        s_sendmsg sendmsg(MSG_INTERRUPT)
        global_load_dword v3, v1, s[8:9]
        s_waitcnt vmcnt(0)
    """)
    kernel.keep("v3")
    seen: list[list[int]] = []
    out = np.zeros(64, np.uint32)

    def interrupt() -> None:
        seen.append(out.tolist())
        out[:] = 9

    memory = Memory()
    memory.add_array(out, "out")
    argument = np.array([out.ctypes.data], np.uint64).tobytes()
    sizes = {"grid": (1, 1, 1), "threads_per_workgroup": (64, 1, 1), "lds_bytes": 0}
    run(kernel.program(), kernarg=argument, memory=memory, interrupt=interrupt, **sizes)
    assert seen == [[5] * 64]
    assert (out == 9).all()


def test_check_reports_a_trap_as_a_finding() -> None:
    found = checking.check(program(SOURCE + "s_trap 2"), args=[], grid=2, threads=64)
    (finding,) = [one for part in found.kept for one in part.checked.findings if one.severity == "error"]
    assert (finding.check, finding.rule, finding.sites[0].instruction, finding.sites[0].waves) == (
        "mem",
        "trap",
        0,
        (0,),
    )


def test_check_of_a_file_says_it_and_has_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.s"
    path.write_text(text("s_trap 2"))
    assert main(["check", str(path), "--args", "", "--threads", "64"]) == 1
    assert "the kernel ends its own launch, in workgroup 0,0,0  [mem/trap]" in capsys.readouterr().out


SCRIPT = """
import numpy as np
import antiphase

antiphase.launch({path!r}, grid=1, args=[], threads=64)
"""


def test_run_says_it_in_one_line_and_has_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, script = tmp_path / "k.s", tmp_path / "script.py"
    kernel.write_text(text(SOURCE + "s_trap 2"))
    script.write_text(SCRIPT.format(path=str(kernel)))
    assert main(["run", str(script)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("antiphase: trap: /src/kernel.py:12: kernel k stopped at 's_trap 2'")
    assert said.count("\n") == 1
