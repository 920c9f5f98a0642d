"""Operands, modifiers and instruction lines: text to data and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphase.asm import (
    Call,
    FloatImm,
    Imm,
    Instruction,
    Label,
    Modified,
    ModifierValue,
    Operand,
    Reg,
    RegList,
    Special,
    Symbol,
    Waits,
    parse_instruction,
    parse_operand,
)

INDEX = st.integers(0, 255)
REGS = st.builds(Reg, st.sampled_from(["v", "s", "a", "ttmp"]), INDEX, st.integers(1, 32))
HALVES = st.builds(Reg, st.just("v"), INDEX, st.just(1), st.sampled_from(["l", "h"]))
SPECIALS = st.builds(Special, st.sampled_from(["vcc", "exec_lo", "m0", "null", "off", "src_shared_base"]))
IMMS = st.integers(-(2**31), 2**64 - 1).flatmap(lambda n: st.sampled_from([Imm(n, str(n)), Imm(n, hex(n))]))
FLOATS = st.floats(-1e6, 1e6).map(lambda x: FloatImm(float(f"{x:.4f}"), f"{x:.4f}"))
PLAIN = st.one_of(REGS, HALVES, SPECIALS, IMMS, FLOATS)
MODIFIED = st.builds(Modified, PLAIN, st.booleans(), st.booleans(), st.booleans()).filter(
    lambda one: one.neg or one.abs or one.sext
)
CALLS = st.sampled_from(
    [
        Call("hwreg", ("HW_REG_MODE", "4", "2")),
        Call("sendmsg", ("MSG_DEALLOC_VGPRS",)),
        Call("depctr_va_vdst", ("0",)),
        Symbol("lds@abs32@lo"),
        Symbol("helper@rel32@hi+12"),
        Label(".LBB0_1"),
    ]
)
LISTS = st.lists(REGS, min_size=1, max_size=4).map(lambda regs: RegList(tuple(regs)))
OPERANDS = st.one_of(PLAIN, MODIFIED, CALLS, LISTS)
MODIFIERS = st.sampled_from(
    [
        ("sc0", True),
        ("offset", -4096),
        ("offset", 65535),
        ("row_mask", 0xF),
        ("bitop3", 0x6C),
        ("quad_perm", (1, 0, 3, 2)),
        ("op_sel", (0, 1)),
        ("dst_sel", "WORD_1"),
        ("th", "TH_LOAD_LU"),
        ("offset", 'swizzle(BITMASK_PERM,"00p11")'),
    ]
)


@given(OPERANDS)
def test_operand_reads_back(operand: Operand) -> None:
    assert parse_operand(str(operand)) == operand


@given(st.lists(OPERANDS, max_size=5), st.lists(MODIFIERS, max_size=4))
def test_instruction_reads_back(operands: list[Operand], modifiers: list[tuple[str, ModifierValue]]) -> None:
    one = Instruction("v_add_u32_dpp", tuple(operands), tuple(modifiers) if operands else ())
    assert parse_instruction(one.text()) == one


@given(st.lists(st.tuples(st.sampled_from(["vmcnt", "expcnt", "lgkmcnt"]), INDEX), min_size=1, max_size=3))
def test_waits_read_back(counts: list[tuple[str, int]]) -> None:
    one = Instruction("s_waitcnt", (Waits(tuple(counts)),))
    assert parse_instruction(one.text()) == one


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("v3", Reg("v", 3)),
        ("s[0:3]", Reg("s", 0, 4)),
        ("acc[4:5]", Reg("a", 4, 2)),
        ("v[7]", Reg("v", 7)),
        ("v3.h", Reg("v", 3, 1, "h")),
        ("src_scc", Special("scc")),
        ("0x10", Imm(16, "0x10")),
        ("010", Imm(8, "010")),
        ("-0x10", Imm(-16, "-0x10")),
        ("lit(0x80000000)", Imm(0x80000000, "lit(0x80000000)")),
        ("-4.0", FloatImm(-4.0, "-4.0")),
        ("0.15915494", FloatImm(0.15915494, "0.15915494")),
        ("-v1", Modified(Reg("v", 1), neg=True)),
        ("-|v[2:3]|", Modified(Reg("v", 2, 2), neg=True, abs=True)),
        ("neg(abs(v1))", Modified(Reg("v", 1), neg=True, abs=True)),
        ("neg(1)", Modified(Imm(1, "1"), neg=True)),
        ("sext(v1)", Modified(Reg("v", 1), sext=True)),
        ("-vcc_lo", Modified(Special("vcc_lo"), neg=True)),
        (".LBB0_1", Label(".LBB0_1")),
        ("[v1, v5]", RegList((Reg("v", 1), Reg("v", 5)))),
    ],
)
def test_operand_spellings(text: str, operand: Operand) -> None:
    assert parse_operand(text) == operand


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("s_waitcnt vmcnt(0) & lgkmcnt(3)", "s_waitcnt vmcnt(0) lgkmcnt(3)"),
        ("s_waitcnt  0x70", "s_waitcnt 0x70"),
        ("s_wait_alu depctr_va_vdst(0) depctr_sa_sdst(0)", "s_wait_alu depctr_va_vdst(0), depctr_sa_sdst(0)"),
        (
            "s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(TRANS32_DEP_2)",
            "s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(TRANS32_DEP_2)",
        ),
        (
            "v_dual_mov_b32 v7, 0 :: v_dual_bitop2_b32 v0, 31, v0 bitop3:0x40",
            "v_dual_mov_b32 v7, 0 :: v_dual_bitop2_b32 v0, 31, v0 bitop3:0x40",
        ),
        ("buffer_wbl2\tsc1", "buffer_wbl2 sc1"),
        ("global_inv scope:SCOPE_SE", "global_inv scope:SCOPE_SE"),
        ("v_accvgpr_write_b32 a16, v8", "v_accvgpr_write_b32 a16, v8"),
        ("v_accvgpr_read_b32 v8, a16", "v_accvgpr_read_b32 v8, a16"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE,4,2),1", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1"),
        (
            "global_load_dword v1, v[2:3], off offset:0x10 sc0",
            "global_load_dword v1, v[2:3], off offset:16 sc0",
        ),
        ("ds_load_b64 v[2:3], v1 offset: 8", "ds_load_b64 v[2:3], v1 offset:8"),
        ("v_mov_b32_dpp v1, v2 row_mirror row_mask:15", "v_mov_b32_dpp v1, v2 row_mirror row_mask:0xf"),
        (
            "ds_swizzle_b32 v1, v2 offset:swizzle(SWAP, 16)",
            "ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,16)",
        ),
        ("image_load v0, [v1, v5], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D",) * 2,
    ],
)
def test_instruction_text_is_canonical(text: str, canonical: str) -> None:
    assert parse_instruction(text).text() == canonical


def test_modifier_lookup() -> None:
    one = parse_instruction("v_add_u32_dpp v8, v22, v22 quad_perm:[1,0,3,2] bank_mask:0xc bound_ctrl:1 clamp")
    assert one.modifier("quad_perm") == (1, 0, 3, 2)
    assert one.modifier("bank_mask") == 12
    assert one.modifier("clamp") is True
    assert one.modifier("row_mask", 15) == 15
    assert parse_instruction("ds_gws_sema_p gds").modifier("gds") is True


def test_pair_holds_the_second_half() -> None:
    one = parse_instruction("v_dual_mov_b32 v5, 0 :: v_dual_and_b32 v0, 31, v0", line=4)
    assert (one.mnemonic, one.line) == ("v_dual_mov_b32", 4)
    assert one.pair == Instruction("v_dual_and_b32", (Reg("v", 0), Imm(31, "31"), Reg("v", 0)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v_mov_b32 v1, v[8:", "brackets do not match"),
        ("v_mov_b32 v[3:2], v1", "cannot read the operand 'v[3:2]'"),
        ("v_mov_b32 v1, 08", "cannot read the operand '08'"),
        ("v_mov_b32 v1, -.LBB0_1", "cannot read the operand '-.LBB0_1'"),
        ("v_mov_b32 v1, --v2", "cannot read the operand '--v2'"),
        ("v_mov_b32 v1,", "an operand is missing at the end"),
        ("v_mov_b32 , v1", "an operand is missing at a comma"),
        ("buffer_load_dword v1, v2, s[0:3], 0 ofen", "unknown modifier 'ofen'"),
        ("buffer_load_dword v1, v2, s[0:3], 0 ofset:4", "unknown modifier 'ofset:4'"),
        ("buffer_load_dword v1, v2, s[0:3], offset:4, 0", "an operand, '0', follows a modifier"),
        ("hello v1", "cannot read the instruction name 'hello'"),
        ("v_mov_b32 v1 v2", "unknown modifier 'v2'"),
        ("v_dual_mov_b32 v1, 0 :: v_dual_mov_b32 v2, 0 :: v_nop", "more than one '::'"),
    ],
)
def test_unreadable_lines_say_what(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_instruction(text)
    assert str(caught.value) == message
