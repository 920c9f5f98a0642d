"""Clocks, hardware registers, messages with an answer, and VSKIP."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase import asm
from antiphase.checks import check_waits
from antiphase.errors import Unsupported

BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
REALTIME = "s_sendmsg_rtn_b64 s[{}], sendmsg(MSG_RTN_GET_REALTIME)"
CLOCKS = {
    "gfx1100": ("s_getreg_b32 s{}, hwreg(HW_REG_SHADER_CYCLES, 0, 20)",),
    "gfx1150": ("s_getreg_b32 s{}, hwreg(HW_REG_SHADER_CYCLES, 0, 20)",),
    "gfx1201": tuple(f"s_getreg_b32 s{{}}, hwreg(HW_REG_SHADER_CYCLES_{half})" for half in ("LO", "HI")),
    "gfx1250": ("s_get_shader_cycles_u64 s[{}]",),
}


def shown(k: Kernel, *registers: str, **options: bool) -> list[int]:
    """Scalar registers as a launch of one wave leaves them."""
    for i, register in enumerate(registers):
        k(f"v_mov_b32 v{60 + i}, {register}").keep(f"v{60 + i}")
    return [int(row[0]) for row in k.run(**options).rows]


@BOTH_MODES
@pytest.mark.parametrize("target", CLOCKS)
def test_both_clocks_count_what_was_executed(target: str, record: bool) -> None:
    k = Kernel(target)
    for first in (20, 30):
        for i, read in enumerate(CLOCKS[target]):
            k(read.format(f"{first}:{first + 1}" if "[" in read else first + i))
        k(REALTIME.format(f"{first + 2}:{first + 3}"))
        if first == 20:
            add = "s_add_co_i32" if k.is_gfx12 else "s_add_i32"
            k(f"s_mov_b32 s60, 50\n.Lloop:\n{add} s60, s60, -1\ns_cmp_lg_u32 s60, 0\ns_cbranch_scc1 .Lloop")
    k(k.wait)
    cycles, real, upper, later, later_real = shown(k, "s20", "s22", "s23", "s30", "s32", record=record)
    assert 0 < cycles <= real < cycles + 20 and upper == 0
    assert 150 <= later - cycles < 200 and later_real - real == later - cycles


@pytest.mark.parametrize(("target", "wait"), [("gfx1100", "s_waitcnt lgkmcnt(0)"), ("gfx1250", "s_wait_kmcnt 0")])
def test_an_answer_arrives_with_the_wait(target: str, wait: str) -> None:
    k = Kernel(target)(REALTIME.format("20:21"))(f"s_mov_b32 s30, s20\n{wait}")
    early, late = shown(k, "s30", "s20", record=True)
    assert late < 1000 < early
    program = asm.parse(k.text(), "k.s")
    (finding,) = [f for f in check_waits(program, program.kernel()) if f.facts["counter"] != "xcnt"]
    assert finding.fix is not None and finding.fix.text == (wait,)


@BOTH_MODES
@pytest.mark.parametrize("target", ["gfx1100", "gfx1201", "gfx1250"])
def test_there_is_one_queue_and_no_trap_handler(target: str, record: bool) -> None:
    messages = ["MSG_RTN_GET_DOORBELL", "MSG_RTN_GET_TMA", "MSG_RTN_GET_TBA"]
    messages += ["MSG_RTN_GET_SE_AID_ID"] if target != "gfx1100" else ["MSG_RTN_GET_DDID"]
    k = Kernel(target)
    for i, message in enumerate(messages):
        k(f"s_mov_b64 s[{20 + 2 * i}:{21 + 2 * i}], -1")
        k(f"s_sendmsg_rtn_b64 s[{20 + 2 * i}:{21 + 2 * i}], sendmsg({message})")
    k("s_mov_b64 s[40:41], -1\ns_sendmsg_rtn_b32 s40, sendmsg(MSG_RTN_GET_DOORBELL)")
    k(k.wait)
    *answers, low, high = shown(k, *(f"s{20 + i}" for i in range(8)), "s40", "s41", record=record)
    assert not any(answers) and (low, high) == (0, 0xFFFFFFFF)


@pytest.mark.parametrize("message", ["0", "sendmsg(MSG_RTN_SAVE_WAVE)"])
def test_a_message_without_a_stated_answer_is_refused(message: str) -> None:
    k = Kernel("gfx1100")(f"s_sendmsg_rtn_b32 s20, {message}").keep("v0")
    with pytest.raises(Unsupported, match="has no answer that a manual states"):
        k.run()


def test_waves_are_dealt_out_to_simds() -> None:
    k = Snippet(threads=384, lds=1000)
    k("s_getreg_b32 s20, hwreg(HW_REG_HW_ID)\ns_getreg_b32 s21, hwreg(HW_REG_HW_ID, 4, 2)")
    k("s_getreg_b32 s22, hwreg(HW_REG_XCC_ID)\ns_getreg_b32 s23, hwreg(HW_REG_LDS_ALLOC, 12, 9)")
    k("s_getreg_b32 s24, hwreg(HW_REG_SH_MEM_BASES, 16, 16)")
    k("s_mov_b64 s[26:27], src_shared_base\ns_lshr_b32 s27, s27, 16")
    k.keep("s20", "s21", "s22", "s23", "s24", "s27")
    kept = k.run()
    wave = np.arange(6).repeat(64)
    assert kept[0].tolist() == (wave // 4 | wave % 4 << 4).tolist() and kept[1].tolist() == (wave % 4).tolist()
    assert not kept[2].any() and (kept[3] == 4).all() and (kept[4] == kept[5]).all()


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201", "gfx1250"])
def test_hw_id1_has_the_simd_further_up(target: str) -> None:
    k = Kernel(target, threads=192)
    k("s_getreg_b32 s20, hwreg(HW_REG_HW_ID1)\ns_getreg_b32 s21, hwreg(HW_REG_HW_ID2, 8, 2)\nv_mov_b32 v60, s20")
    k("v_mov_b32 v61, s21").keep("v60", "v61")
    rows = k.run().rows
    wave = np.arange(6).repeat(32)
    assert rows[0].tolist() == (wave // 4 | wave % 4 << 8).tolist() and (rows[1] == 1).all()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s_getreg_b32 s20, hwreg(HW_REG_STATUS)", "reading HW_REG_STATUS"),
        ("s_getreg_b32 s20, hwreg(9)", "reading hardware register 9"),
        ("s_setreg_b32 hwreg(HW_REG_STATUS), s20", "writing HW_REG_STATUS"),
        ("s_getreg_b32 s20, hwreg(HW_REG_TRAPSTS)", "bits of HW_REG_TRAPSTS"),
        ("s_setvskip s20, 0", "VSKIP set from a register"),
    ],
)
def test_what_the_machine_does_not_keep_is_refused(line: str, message: str) -> None:
    k = Snippet()
    k(line)
    k.keep("v0")
    with pytest.raises(Unsupported, match=message):
        k.run()


def test_exception_flags_are_saved_and_put_back() -> None:
    """As llvm.get.fpenv and llvm.set.fpenv do around code; what float instructions raise in between stays unknown."""
    k = Snippet()
    k(
        "s_getreg_b32 s20, hwreg(HW_REG_TRAPSTS, 0, 5)\ns_mov_b32 s21, 0x12\n"
        "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 5), s21"
    )
    k("s_getreg_b32 s22, hwreg(HW_REG_TRAPSTS, 1, 4)\ns_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 5), s20")
    k("s_getreg_b32 s23, hwreg(HW_REG_TRAPSTS, 0, 9)")
    k.keep("s20", "s22", "s23")
    kept = k.run()
    assert [int(kept[i][0]) for i in range(3)] == [0, 9, 0]


@BOTH_MODES
def test_vskip_leaves_out_vector_instructions_alone(record: bool) -> None:
    k = Snippet(inputs=1)
    k("v_mov_b32 v2, 1\ns_mov_b32 s20, 1\ns_setvskip 4, 2")
    k(
        "v_mov_b32 v2, 2\nglobal_store_dword v1, v2, s[10:11]\ns_mov_b32 s20, 2\n"
        "s_getreg_b32 s21, hwreg(HW_REG_MODE, 28, 1)"
    )
    k("s_setvskip 4, 1\ns_getreg_b32 s22, hwreg(HW_REG_MODE, 28, 1)\nv_mov_b32 v3, 3")
    k.keep("v2", "v3", "s20", "s21", "s22")
    out = np.zeros(64, np.uint32)
    kept = k.run(out, record=record)
    assert [int(kept[i][0]) for i in range(5)] == [1, 3, 2, 1, 0] and not out.any()


def test_vskip_in_mode_as_setreg_writes_it() -> None:
    k = Snippet()
    k("v_mov_b32 v2, 1\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1\nv_mov_b32 v2, 2")
    k("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0")
    k.keep("v2")
    assert (k.run()[0] == 1).all()
