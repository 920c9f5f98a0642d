"""Records in words: every record has some, and the formulas say what the semantics compute."""

import pytest

from antiphase.isa import F32, REGISTRY, U32, Expr, describe, find, source
from antiphase.isa._expr import const, fma, select, shuffle
from antiphase.isa._formula import formulas

A, B, C = (source(i, U32) for i in range(3))


def words(name: str, target: str = "gfx950") -> list[str]:
    record = find(name, target)
    assert record is not None
    return list(describe(record).words)


def formula(expr: Expr) -> list[str]:
    return list(formulas({"D": expr}, ["a", "b", "c"]))


def test_every_record_has_words():
    for record in REGISTRY.all():
        said = describe(record).words
        assert said, record.name
        assert all(line.strip() and "None" not in line for line in said), record.name


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("v_fma_f32", "D = S0 * S1 + S2 (f32, rounded once)"),
        ("v_cndmask_b32", "D = S2[lane] ? S1 : S0 (u32)"),
        ("v_bfe_u32", "D = (S0 >> (S1 & 31)) & ((1 << (S2 & 31)) - 1) (u32)"),
        ("v_mbcnt_lo_u32_b32", "Active lanes only."),
        ("v_readlane_b32", "Every lane, active or not."),
        ("v_pk_add_u16", "With clamp the integer result saturates."),
        ("s_cbranch_vccnz", "Continues at the label if VCC is not zero."),
        ("global_atomic_cmpswap", "MEM = MEM == DATA1 ? DATA0 : MEM (u32)"),
        ("global_load_lds_dwordx4", "The data goes to LDS, not to registers."),
        ("ds_read2st64_b64", "Each place has an offset of its own, in units of 512 bytes."),
        ("ds_read_u8_d16_hi", "Goes to the upper half of the register; the lower half keeps its value."),
        ("v_mfma_f32_32x32x8_f16", "D = A x B + C: 32 x 32 x 8."),
        ("v_smfmac_f32_16x16x32_f16", "D = A x B + old D: 16 x 16 x 32."),
    ],
)
def test_known_sentences(name: str, line: str) -> None:
    assert line in words(name)


def test_operands_are_named_as_the_formulas_name_them():
    record = find("v_addc_co_u32", "gfx942")
    assert record is not None
    parts = [(part.name, part.role, part.type, part.written) for part in describe(record).parts]
    assert parts == [
        ("D0", "result", "u32", True),
        ("D1", "result", "lane mask", True),
        ("S0", "source", "u32", True),
        ("S1", "source", "u32", True),
        ("S2", "source", "lane mask", True),
    ]


def test_implied_registers_are_marked():
    record = find("s_addc_u32", "gfx942")
    assert record is not None
    assert [part.name for part in describe(record).parts if not part.written] == ["SCC", "SCC"]


def test_parentheses_leave_no_doubt():
    assert formula(A - (B - C)) == ["D = a - (b - c) (u32)"]
    assert formula((A - B) - C) == ["D = a - b - c (u32)"]
    assert formula((A + B) * C) == ["D = (a + b) * c (u32)"]
    assert formula((A & B) << 3) == ["D = (a & b) << 3 (u32)"]
    assert formula((A & B) == C) == ["D = (a & b) == c (b1)"]
    assert formula(~(A | B)) == ["D = ~(a | b) (u32)"]
    assert formula(select(A < B, select(B < C, A, B), C)) == ["D = a < b ? (b < c ? a : b) : c (u32)"]


def test_a_part_used_twice_is_named_once_even_if_it_was_built_twice():
    product = (A * B + C) & 255
    again = (A * B + C) & 255
    assert formula(product << 8 | again) == ["t0 = (a * b + c) & 255", "D = (t0 << 8) | t0 (u32)"]


def test_idioms_and_no_ops():
    x = source(0, F32)
    assert formula(x != x) == ["D = is_nan(a) (b1)"]
    assert formula(const(U32, 0x7F800000).bits(F32)) == ["D = inf (f32)"]
    assert formula((A << 0) + 0) == ["D = a (u32)"]
    assert formula(fma(x, x, x) * 2.0) == ["D = fma(a, a, a) * 2.0 (f32, rounded)"]
    assert formula(shuffle(A, [i ^ 16 for i in range(64)])) == ["D = shuffle(a, lanes lane ^ 16) (u32)"]
    assert formula(x + 0.0) == ["D = a + 0.0 (f32, rounded)"]  # turns -0.0 into 0.0
