"""Lines that an assembler refuses are errors when text is read, and LLVM's answer is the one that counts."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from _asm import FILE

from antiphase import arch, asm
from antiphase.asm._accepted import complaint
from antiphase.asm._operand_kinds import kinds
from antiphase.errors import UserError

REFUSED = [
    # operands
    ("gfx942", "s_mov_b32 v0, 1", "operand 1 of 's_mov_b32 v0, 1' cannot be v0"),
    ("gfx942", "s_mov_b32 s0, v0", "operand 2 of 's_mov_b32 s0, v0' cannot be v0"),
    ("gfx942", "v_readfirstlane_b32 v0, v1", "cannot be v0"),
    ("gfx942", "v_add_f32_e32 v0, v1, s0", "v_add_f32_e64 takes this"),
    ("gfx942", "v_add_f32_e64 v0, 0x12345678, v1", "cannot be 0x12345678"),
    ("gfx942", "v_mov_b32_e32 v0, 0x100000000", "0x100000000 does not fit its field"),
    ("gfx942", "v_exp_f32_e32 v0, -v1", "takes no input modifier"),
    ("gfx942", "s_mov_b64 s[0:1], s[2:4]", "s[2:4] in 's_mov_b64 s[0:1], s[2:4]' begins at no multiple of 4"),
    ("gfx942", "s_mov_b64 s[0:1], s[4:7]", "cannot be s[4:7]"),
    ("gfx942", "ds_read_b128 v[0:2], v3", "gfx942 takes 4 VGPRs from an even one on"),
    ("gfx942", "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], v[4:7]", "cannot be"),
    ("gfx1201", "v_add_f16_e32 v200.l, v1.l, v2.l", "half a VGPR below v128"),
    ("gfx1250", "v_add_f64 v[0:1], v[1:2], v[4:5]", "from an even one on"),
    ("gfx1201", "v_dual_max_f32 v0, v1, v2 :: v_dual_mov_b32 v1, v3", "gfx1201 has no 'v_dual_max_f32'"),
    ("gfx942", "s_load_b32 s9, s[0:1], 0x0", "gfx942 has no 's_load_b32'; it is an instruction of gfx1250"),
    ("gfx1100", "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", "gfx1100 has no 'v_pk_fma_f32'"),
    ("gfx942", "s_mov_b32 s0", "'s_mov_b32 s0' has 1 operand; s_mov_b32 takes 2"),
    # their number
    ("gfx942", "s_waitcnt", "'s_waitcnt' has no operands; s_waitcnt takes 1"),
    ("gfx942", "s_nop", "has no operands"),
    ("gfx942", "s_barrier s0", "has 1 operand; s_barrier takes 0"),
    ("gfx942", "s_endpgm v0", "cannot be v0"),
    ("gfx942", "v_add_f32 v0, v1", "has 2 operands; v_add_f32 takes 3"),
    ("gfx942", "v_fma_f32 v0, v1, v2", "has 3 operands"),
    ("gfx942", "ds_read_b32 v0", "has 1 operand"),
    # registers
    ("gfx942", "s_load_dwordx2 s[1:2], s[4:5], 0x0", "begins at no multiple of 2"),
    ("gfx942", "s_mov_b32 s103, 0", "the last one of gfx942 is s101"),
    ("gfx1100", "s_mov_b32 s106, 0", "the last one of gfx1100 is s105"),
    ("gfx942", "v_add_f32_e32 v999, v0, v1", "the last one of gfx942 is v255"),
    ("gfx1100", "v_mov_b32 v0, a1", "cannot be a1"),
    # names within operands
    ("gfx942", "s_waitcnt foo(1)", "cannot be foo(1); gfx942 takes a constant, expcnt(n), lgkmcnt(n), vmcnt(n) there"),
    ("gfx942", "s_waitcnt vmcmt(0)", "cannot be vmcmt(0)"),
    ("gfx942", "s_waitcnt vmcnt(0) vscnt(0)", "cannot be vmcnt(0) vscnt(0)"),
    ("gfx942", "s_getreg_b32 s0, hwreg(HW_REG_FOO)", "cannot be hwreg(HW_REG_FOO)"),
    ("gfx1100", "s_sendmsg sendmsg(MSG_FOO)", "cannot be sendmsg(MSG_FOO)"),
    # modifiers
    ("gfx942", "v_mov_b32_dpp v0, v1 row_shr:99 row_mask:0xf bank_mask:0xf", "'row_shr:99' has no such value"),
    ("gfx942", "v_mov_b32_dpp v0, v1 quad_perm:[0,1,2,9]", "has no such value"),
    ("gfx942", "v_mov_b32_dpp v0, v1 row_mask:0xf bank_mask:0xf", "lacks a modifier that says which lanes it reads"),
    ("gfx942", "v_mov_b32_dpp v0, v1 row_share:1", "'row_share:1' does not belong"),
    ("gfx942", "v_mov_b32_sdwa v0, v1 dst_sel:FOO", "'dst_sel:FOO' has no such value"),
    ("gfx942", "global_load_dword v0, v[2:3], off glc", "'glc' does not belong to"),
    ("gfx942", "global_atomic_add v0, v[2:3], v4, off", "sc0"),
    ("gfx1201", "global_load_b32 v0, v[2:3], off th:TH_STORE_NT", "'th:TH_STORE_NT' does not belong"),
    ("gfx942", "buffer_load_dword v0, v1, s[0:3], 0", "lacks"),
    ("gfx1100", "v_dual_add_f32 v0, s1, s2 :: v_dual_mov_b32 v1, v3", "cannot be s2"),
]  # fmt: skip


def read(line: str, target: str) -> asm.Program:
    text = FILE.format(
        target=target, body=f"{line}\ns_endpgm", descriptor="", args="    []", lds=0, scratch=0, size=0
    ).replace(".args:\n    []", ".args: []")
    return asm.parse(text, "k.s")


@pytest.mark.parametrize(("target", "line", "what"), REFUSED, ids=[line for _, line, _ in REFUSED])
def test_a_line_an_assembler_refuses_is_an_error(target: str, line: str, what: str) -> None:
    with pytest.raises(UserError) as error:
        read(line, target)
    assert what in str(error.value), str(error.value)
    assert error.value.line


@pytest.mark.parametrize(("target", "line", "what"), REFUSED, ids=[line for _, line, _ in REFUSED])
def test_the_assembler_refuses_it(target: str, line: str, what: str) -> None:
    pytest.importorskip("triton")
    from antiphase.frontends._llvm import assembler

    assert assembler().refusals([line], target)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("gfx942", "s_endpgm"),
        ("gfx942", "s_nop 0x10000"),
        ("gfx942", "v_add_f32 v0, v1, s0"),
        ("gfx942", "v_add_f32_e64 v0, 0x3f800000, v1"),
        ("gfx942", "v_mov_b32_e32 v0, 0xfffffff0"),
        ("gfx942", "s_waitcnt vmcnt(63) lgkmcnt(15) expcnt(7)"),
        ("gfx942", "ds_write2_b32 v0, a1, a2 offset1:1"),
        ("gfx1100", "v_add_f64 v[1:2], v[3:4], v[5:6]"),
        ("gfx1100", "v_add_f16_e32 v0, v1, v2"),
        ("gfx1100", "v_add_f16_e32 v0.l, v1.h, v2.l"),
        ("gfx1100", "v_cmp_lt_f32 s[0:1], v0, v1"),
        ("gfx1100", "v_cmp_lt_f32 s0, v0, v1"),
        ("gfx1100", "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)"),
        ("gfx1250", "v_mov_b32 v0, lit(0x1)"),
        ("gfx942", "s_mov_b64 s[0:1], lit64(1)"),
        ("gfx1201", "global_load_b32 v0, v[2:3], off scope:2"),
        ("gfx1201", "global_load_b32 v0, v[2:3], off th:TH_LOAD_BYPASS scope:SCOPE_SYS"),
        ("gfx1100", "v_add_f32_e64_dpp v0, -v1, |v2| clamp mul:2 row_shr:1 row_mask:0xf bank_mask:0xf"),
        ("gfx942", "ds_cmpst_rtn_b32 a188, v239, a121, a66"),
        ("gfx942", "v_mfma_f64_16x16x4_f64 a[0:7], v[8:9], v[10:11], a[0:7] neg:[1,0,0]"),
        ("gfx90a", "v_whatever v0"),
    ],
)
def test_a_line_it_takes_is_read(target: str, line: str) -> None:
    assert complaint(asm.parse_instruction(line), target) is None


_SAMPLES = (
    "v1 v200 v[2:3] v[4:7] v[8:15] v[16:31] v[3:4] a1 a[2:3] a[4:7] s1 s[2:3] s[4:7] s[8:15] ttmp1 vcc vcc_lo exec "
    "exec_lo m0 scc null off flat_scratch src_shared_base 1 100 0x1234 0x12345678 -100 0.5 0.3 v1.l v1.h v200.l -v1 "
    "|v1| sext(v1) -s1"
)
SAMPLES = _SAMPLES.split()
MEMORY_TAILS = ("", "", "", " glc", " sc0", " nt", " offset:8", " offen", " scope:SCOPE_SYS")
VECTOR_TAILS = ("", "", "", " op_sel:[0,1]", " quad_perm:[0,1,2,3]", " mul:2", " neg_lo:[0,1,0]", " cbsz:1")


def random_lines(target: str, count: int) -> list[str]:
    """Lines of all instructions, most operands such as the instruction takes in some form."""
    chance = random.Random(f"lines for {target}")
    wave, known = arch.target(target), sorted(arch.assembler_inventory().accepted(target))
    by_kind: dict[str, list[str]] = {}
    for text in SAMPLES:
        for kind in kinds(asm.parse_instruction(f"s_nop {text}").operands[0]):
            by_kind.setdefault(kind, []).append(text)
    lines = []
    while len(lines) < count:
        name = chance.choice(known)
        name += (
            chance.choice(("", "", "_e32", "_e64", "_dpp")) if name.startswith("v_") and "_dual_" not in name else ""
        )
        forms = arch.operand_forms(name, target)
        if not forms:
            continue
        form = chance.choice(forms)
        operands = []
        for taken in form.operands:
            fitting = [text for kind in taken for text in by_kind.get(kind, ())]
            operands.append(chance.choice(sorted(fitting) if fitting and chance.random() < 0.85 else SAMPLES))
        # LLVM reads `s_or_b32 s0, s1 clamp` as three operands, the last a symbol
        tails = ("",) if name.startswith("s_") else VECTOR_TAILS if name.startswith("v_") else MEMORY_TAILS
        second = " :: v_dual_mov_b32 v7, v2" if name.startswith("v_dual_") else ""
        lines.append(f"{name} {', '.join(operands)}{chance.choice(tails)}{second}")
    assert wave.name == target
    return lines


@pytest.mark.parametrize("target", ["gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250"])
def test_what_is_refused_the_assembler_refuses(target: str) -> None:
    """And most of what it refuses is: operands that go together are judged elsewhere."""
    pytest.importorskip("triton")
    from antiphase.frontends._llvm import Isolated, assembler

    lines = random_lines(target, 3000)
    choices = ("", "-real-true16", "+wavefrontsize64") if arch.target(target).default_wave_size == 32 else ("",)
    refused = set.intersection(*(set(Isolated(assembler(), features).refusals(lines, target)) for features in choices))
    ours = set()
    for index, line in enumerate(lines):
        try:
            if complaint(asm.parse_instruction(line), target) is not None:
                ours.add(index)
        except ValueError:
            ours.add(index)
    wrong = [lines[index] for index in sorted(ours - refused)]
    assert not wrong, wrong[:10]
    missed = Counter(lines[index].split()[0] for index in refused - ours)
    assert missed.total() < len(refused) / 20, missed.most_common(10)
