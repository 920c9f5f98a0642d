"""Instructions that differ only in registers share a function, and mean what they mean when written out."""

import numpy as np
import pytest
from _asm import Snippet

from antiphase.asm import Imm, Reg, parse_instruction
from antiphase.errors import Unsupported
from antiphase.machine._translate import translate
from antiphase.machine.alu import _forms
from antiphase.machine.waves._entry import layout_of

# every line four times on other registers; some read what they write, some overlap
BODY = """
    s_mov_b32 s20, 3
    s_mov_b32 s21, 5
    s_mov_b32 s22, 7
    s_mov_b32 s23, 11
    s_mov_b32 exec_lo, 0x0f0f0f0f
    s_mov_b32 exec_hi, 0xff
    v_add_u32 v2, v0, v1
    v_add_u32 v3, v2, v0
    v_add_u32 v4, v4, v3
    v_add_u32 v5, v5, v5
    v_mul_lo_u32 v6, v3, s20
    v_mul_lo_u32 v7, v4, s21
    v_mul_lo_u32 v7, v7, s22
    v_mul_lo_u32 v9, v2, s23
    v_cmp_gt_u32 s[30:31], v6, v7
    v_cmp_gt_u32 s[32:33], v7, v6
    v_cmp_gt_u32 s[34:35], v2, v9
    v_cmp_gt_u32 s[36:37], v9, v3
    v_cndmask_b32 v10, v6, v7, s[30:31]
    v_cndmask_b32 v11, v7, v6, s[32:33]
    v_cndmask_b32 v10, v10, v11, s[34:35]
    v_cndmask_b32 v11, v11, v10, s[36:37]
    v_lshl_add_u64 v[12:13], v[10:11], 1, v[2:3]
    v_lshl_add_u64 v[14:15], v[12:13], 1, v[12:13]
    v_lshl_add_u64 v[14:15], v[14:15], 1, v[14:15]
    v_lshl_add_u64 v[16:17], v[6:7], 1, v[14:15]
    v_accvgpr_write_b32 a0, v12
    v_accvgpr_write_b32 a5, v14
    v_accvgpr_write_b32 a9, v16
    v_accvgpr_read_b32 v18, a9
    v_accvgpr_read_b32 v19, a5
    v_accvgpr_read_b32 v20, a0
    v_mov_b32_dpp v21, v18 row_shl:1 row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v22, v19 row_shl:1 row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v18, v20 row_shl:1 row_mask:0xf bank_mask:0xf
    v_fma_f32 v23, v18, |v19|, -v20
    v_fma_f32 v24, v20, |v18|, -v19
    v_fma_f32 v23, v23, |v24|, -v23
    v_readlane_b32 s40, v9, 2
    v_readlane_b32 s41, v7, 2
    v_readlane_b32 s42, v9, 2
    s_mov_b64 exec, -1
"""
KEPT = ("v10", "v11", "v13", "v14", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "s31", "s37", "s40", "s41")


def kernel() -> Snippet:
    k = Snippet()
    k(BODY)
    k.keep(*KEPT)
    return k


def functions(k: Snippet) -> int:
    program = k.program()
    chosen = program.kernel(None)
    return translate(program, chosen, layout_of(chosen, program.target, False)).text.count("define void @form.")


def test_a_form_on_other_registers_means_what_it_means_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = kernel()
    assert functions(shared) >= 9
    results = shared.run()
    monkeypatch.setattr(_forms, "SHARED_FROM", 10**9)
    in_place = kernel()
    assert functions(in_place) == 0
    for name, left, right in zip(KEPT, results.rows[0], in_place.run().rows[0], strict=True):
        assert np.array_equal(left, right), name


def test_a_form_is_the_instruction_without_its_registers() -> None:
    first = parse_instruction("v_fma_f32 v7, v3, -|s5|, 1.0")
    found = _forms.form(first)
    assert found is not None
    assert found[1] == [Reg("v", 7), Reg("v", 3), Reg("s", 5)]
    assert _forms.form(parse_instruction("v_fma_f32 v9, v9, -|s30|, 1.0", line=8)) == (
        found[0],
        [Reg("v", 9), Reg("v", 9), Reg("s", 30)],
    )
    others = ("v_fma_f32 v7, v3, -s5, 1.0", "v_fma_f32 v7, v3, -|s5|, 2.0", "v_fma_f32 v7, v3, -|v5|, 1.0")
    others += ("v_fma_f32 v7, v3, -|s5|, 1.0 clamp", "v_fma_f32 v7, v3, -|vcc_lo|, 1.0")
    assert all(_forms.form(parse_instruction(text)) != found for text in others)


def test_halves_and_runs_of_registers_are_part_of_the_form() -> None:
    texts = ("v_mov_b16 v1.l, v2.h", "v_mov_b16 v1.h, v2.h", "v_mov_b16 v1.l, v2.l", "v_mov_b64 v[2:3], v[4:5]")
    shapes = {found[0] for text in texts if (found := _forms.form(parse_instruction(text)))}
    assert len(shapes) == len(texts)


def test_both_halves_of_a_pair_are_part_of_the_form() -> None:
    one = _forms.form(parse_instruction("v_dual_mov_b32 v1, v2 :: v_dual_add_f32 v3, s4, v5"))
    other = _forms.form(parse_instruction("v_dual_mov_b32 v9, v8 :: v_dual_add_f32 v7, s6, v5"))
    third = _forms.form(parse_instruction("v_dual_mov_b32 v9, v8 :: v_dual_mul_f32 v7, s6, v5"))
    assert one and other and third
    assert one[0] == other[0] != third[0]
    assert one[1] == [Reg("v", 1), Reg("v", 2), Reg("v", 3), Reg("s", 4), Reg("v", 5)]


def test_an_address_is_not_shared() -> None:
    assert _forms.form(parse_instruction("v_mov_b32 v1, lds@abs32@lo")) is None
    found = _forms.form(parse_instruction("v_mov_b32 v1, 5"))
    assert found is not None and isinstance(found[0].operands[1], Imm)


def test_a_register_beyond_the_allocated_ones_is_refused_in_a_shared_form_too() -> None:
    k = Snippet(descriptor={"next_free_vgpr": 128, "accum_offset": 64})
    k("\n".join(f"v_mov_b32 v{index}, v0" for index in (2, 3, 4, 200)))
    with pytest.raises(Unsupported, match=r"v200 is beyond the \d+ registers"):
        k.run()
