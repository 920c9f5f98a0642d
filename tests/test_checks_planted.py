"""Twelve small kernels, eleven with one bug each and one clean twin: each bug is found by the check it is for.

The cases are those that the peers of this project were compared on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase import asm
from antiphase.checks import CheckedKernel, check_execution, check_program, together

# v1: four times the work-item, v2: the other wave's, s16: 0 in the first wave, s[10:11]: an array of 256 dwords
CDNA_START = "v_xor_b32 v2, 0x100, v1\nv_readfirstlane_b32 s16, v0\ns_lshl_b32 s17, s16, 2\ns_nop 4\n"
RDNA_START = "v_xor_b32 v2, 0x80, v1\nv_readfirstlane_b32 s16, v0\n"


def defined(target: str, body: str) -> str:
    """The body, behind moves that give the vector registers a value which it takes as given."""
    start, k = RDNA_START, Kernel(target, inputs=1)
    if target.startswith("gfx9"):
        start, k = CDNA_START, Snippet(inputs=1, target=target)
    k(start + body)
    found = check_program(asm.parse(k.text(), "k.s"), ["init"]).checked.findings
    names = [str(name) for f in found for name in f.facts["registers"]]  # type: ignore[attr-defined]
    moves = [f"v_mov_b32 {name}, 0\n" for name in names if name[0] == "v"]
    return "".join(moves) + ("s_nop 7\n" if moves else "") + body


def checked(target: str, body: str, threads: int | None = None, lds: int = 4096) -> CheckedKernel:
    """Every check of a kernel of two waves with this body, of its text and of a launch."""
    data = np.zeros(256, np.uint32)
    body = defined(target, body)
    if target.startswith("gfx9"):
        k = Snippet(inputs=1, target=target, threads=threads or 128, lds=lds)
        k(CDNA_START + body + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_nop 7")
        k.lines = [line for line in k.lines if line]
        execution = k.run(data, record=True).execution
    else:
        rdna = Kernel(target, inputs=1, threads=threads or 64, lds=lds)
        execution = rdna(RDNA_START + body).run(data, record=True).execution
    (both,) = together([check_program(execution.program), check_execution(execution)])
    return both


def found(target: str, body: str, threads: int | None = None, lds: int = 4096) -> set[tuple[str, str]]:
    """Check and rule of what decides the verdict, but for `resources`: these kernels claim all registers."""
    findings = checked(target, body, threads, lds).checked.findings
    return {(f.check, f.rule) for f in findings if f.severity != "info" and f.check != "resources"}


@dataclass(frozen=True)
class Planted:
    """finding: check and rule, None for the clean twin. mended: the body without the bug."""

    target: str
    body: str
    mended: str
    finding: tuple[str, str] | None


WROTE = "ds_write_b32 v1, v0\n"
READ = "ds_read_b32 v4, v1\n"
USE = "v_add_u32 v5, v4, v4"
DONE = "s_waitcnt lgkmcnt(0)\n"
SCALAR = "s_load_dword s20, s[10:11], 0x0\n"
SKIPPED = "v_mov_b32 v4, 0\n{load}s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lskip\ns_waitcnt vmcnt(0)\n.Lskip:\n{wait}" + USE
LOAD = "global_load_dword v4, v1, s[10:11]\n"
EXCHANGE = WROTE + DONE + "{}ds_read_b32 v4, v2\n" + DONE + USE
TO_LDS = (
    "s_mov_b32 s12, -1\ns_mov_b32 s13, 0x27000\ns_mov_b32 m0, s17\n"
    "s_mov_b32 s20, s10\ns_mov_b32 s21, s11\ns_mov_b32 s22, s12\ns_mov_b32 s23, s13\n"
    "buffer_load_dword v1, s[20:23], 0 offen lds\n{}s_barrier\nds_read_b32 v4, v2\n" + DONE + USE
)
WMMA = "v_wmma_f32_16x16x16_f16 v[10:17], v[40:47], v[48:55], v[10:17]\n{}"
WMMA += "v_wmma_f32_16x16x16_f16 v[60:67], v[10:17], v[48:55], v[60:67]"
MFMA = "v_mfma_f32_32x32x8_f16 v[10:25], v[40:41], v[42:43], 0\n{}v_add_f32 v5, v10, v11"
LDS12 = "ds_store_b32 v1, v0\nds_load_b32 v4, v1\n{}v_add_nc_u32 v5, v4, v4"
UNEVEN = "s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lskip\n{}.Lskip:\n{}s_nop 0"

CASES = {
    1: Planted("gfx942", WROTE + READ + USE, WROTE + READ + DONE + USE, ("wait", "read_before_wait")),
    2: Planted("gfx942", WROTE + READ + DONE + USE, WROTE + READ + DONE + USE, None),
    3: Planted(
        "gfx942", WROTE + READ + SCALAR + "s_waitcnt lgkmcnt(1)\n" + USE, WROTE + READ + SCALAR + DONE + USE,
        ("wait", "read_before_wait"),
    ),
    4: Planted(
        "gfx942", SCALAR + "s_add_u32 s21, s20, 1", SCALAR + DONE + "s_add_u32 s21, s20, 1",
        ("wait", "read_before_wait"),
    ),
    5: Planted(
        "gfx942", SKIPPED.format(load=LOAD, wait=""), SKIPPED.format(load=LOAD, wait="s_waitcnt vmcnt(0)\n"),
        ("wait", "read_before_wait"),
    ),
    6: Planted("gfx942", EXCHANGE.format(""), EXCHANGE.format("s_barrier\n"), ("race", "missing_rendezvous")),
    7: Planted(
        "gfx950", TO_LDS.format(""), TO_LDS.format("s_waitcnt vmcnt(0)\n"), ("race", "missing_completion"),
    ),
    8: Planted("gfx1100", WMMA.format(""), WMMA.format("v_nop\n"), ("spacing", "wmma_to_wmma_ab")),
    9: Planted("gfx942", MFMA.format(""), MFMA.format("s_nop 15\ns_nop 1\n"), ("spacing", "xdl_to_valu")),
    10: Planted(
        "gfx942", LOAD + "v_mov_b32 v4, 0", LOAD + "s_waitcnt vmcnt(0)\nv_mov_b32 v4, 0",
        ("wait", "overwritten_before_wait"),
    ),
    11: Planted("gfx1201", LDS12.format(""), LDS12.format("s_wait_dscnt 0x0\n"), ("wait", "read_before_wait")),
    12: Planted(
        "gfx942", UNEVEN.format("s_barrier\n", ""), UNEVEN.format("", "s_barrier\n"), ("sync", "uneven_arrivals"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("number", CASES)
def test_the_planted_bug_is_found_and_nothing_else(number: int) -> None:
    case = CASES[number]
    assert found(case.target, case.body) == ({case.finding} if case.finding else set())


@pytest.mark.parametrize("number", [n for n, case in CASES.items() if case.finding])
def test_without_the_bug_it_is_clean(number: int) -> None:
    case = CASES[number]
    assert case.mended != case.body
    assert found(case.target, case.mended) == set()


def test_nothing_of_the_clean_twin_is_left_unjudged() -> None:
    assert not checked(CASES[2].target, CASES[2].body).checked.incomplete
