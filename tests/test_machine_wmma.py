"""WMMA and SWMMAC as native code, against the layouts and a NumPy product that accumulates in their order.

Seed 000, section 2 (formats, sparse operands) and section 3 (replicated and partitioned inputs, output rows,
halves and packed pairs): every layout below is that of the pages the records cite.
"""

import itertools

import numpy as np
import pytest
from _memory_kernels import Kernel
from matrix_harness import (
    DTYPES,
    PLAIN,
    Array,
    narrowed,
    operands_of,
    pack,
    product,
    random_case,
    random_picks,
    record_of,
    registers_of,
    result_of,
    run,
    sparse_product,
    unique_records,
)

from antiphase.asm import parse_instruction
from antiphase.isa import Matrix
from antiphase.machine.matrix._matrix import Variant

WAVES = {"rdna3": (32, 64), "rdna4": (32, 64), "cdna5": (32,)}
CASES = [(r, lanes) for r in unique_records("rdna3", "rdna4", "cdna5") for lanes in WAVES[r.family]]
DENSE = [(r, lanes) for r, lanes in CASES if not (r.sparse or r.scaled or r.a == "f8f6f4")]
SPARSE = [(r, lanes) for r, lanes in CASES if r.sparse]
MIXED = [
    (r, *pair) for r, _ in CASES if r.a == "f8f6f4" and not r.scaled for pair in itertools.product(range(5), repeat=2)
]
SCALED = [(r, rows) for r, _ in CASES if r.scaled for rows in ((0, 0), (1, 0), (0, 1)) if r.m == 16 or not rows[0]]


def label(value: object) -> str | None:
    return f"{value.name}-{value.family}" if isinstance(value, Matrix) else None


def summed(record: Matrix, a: Array, b: Array, c: Array) -> Array:
    """The product in f32 (or exact), rounded to the result's type once or after every few products."""
    total = c if record.acc == "i32" else c.astype(np.float32)
    for k in range(0, record.k, record.narrowed or record.k):
        part = slice(k, k + (record.narrowed or record.k))
        total = product(a[:, :, part], b[:, :, part], total)
        if record.narrowed:
            total = narrowed(total, record.acc)
    return total.astype(DTYPES[record.acc])


@pytest.mark.parametrize(("record", "lanes"), DENSE, ids=label)
def test_random_products_are_those_of_sequential_fused_steps(record: Matrix, lanes: int) -> None:
    a, b, c = random_case(record, PLAIN)
    registers = registers_of(record, PLAIN, a, b, c, lanes)
    run(record, registers, PLAIN, lanes)
    np.testing.assert_array_equal(result_of(record, PLAIN, registers[0], lanes), summed(record, a, b, c))


@pytest.mark.parametrize(("record", "lanes"), DENSE, ids=label)
def test_one_element_of_each_side_lands_where_the_layouts_say(record: Matrix, lanes: int) -> None:
    operands = operands_of(record, PLAIN, lanes)
    rng = np.random.default_rng(7)
    for _ in range(6):
        i, j, k = (int(rng.integers(n)) for n in (record.m, record.n, record.k))
        registers = registers_of(record, PLAIN, *zeros(record), lanes)
        for operand, fragment, name, outer in zip(
            registers[1:3], (operands.a, operands.b), PLAIN.formats(record), (i, j), strict=True
        ):
            one = int(pack_one(name))
            for place in fragment.places(outer, k):
                operand[place.register, place.lane] |= np.uint32(one << place.bit)
        run(record, registers, PLAIN, lanes)
        (place,) = operands.d.places(i, j)
        words = np.argwhere(registers[0])
        assert words.tolist() == [[place.register, place.lane]]
        assert registers[0][place.register, place.lane] == np.uint32(int(pack_one(record.acc)) << place.bit)


def zeros(record: Matrix) -> tuple[Array, Array, Array]:
    left, right = PLAIN.formats(record)
    return (
        np.zeros((1, record.m, record.depth), DTYPES[left]),
        np.zeros((1, record.n, record.k), DTYPES[right]),
        np.zeros((1, record.m, record.n), DTYPES[record.start]),
    )


def pack_one(name: str) -> int:
    return int.from_bytes(np.ones((), DTYPES[name]).tobytes(), "little")


@pytest.mark.parametrize("index_set", [0, 1, 3])
@pytest.mark.parametrize(("record", "lanes"), SPARSE, ids=label)
def test_the_index_of_a_sparse_product_picks_rows_of_b(record: Matrix, lanes: int, index_set: int) -> None:
    variant = Variant(abid=index_set)
    a, b, c = random_case(record, variant)
    picks = random_picks(np.random.default_rng(5), record)
    fragment = operands_of(record, variant, lanes).index
    assert fragment is not None
    registers = registers_of(record, variant, a, b, c, lanes)
    d = registers[3].copy()
    run(record, [d, registers[1], registers[2], pack(picks.astype(np.uint8)[None], fragment)], variant, lanes)
    start = c if record.acc == "i32" else c.astype(np.float32)
    expected = sparse_product(a, b, start, picks).astype(DTYPES[record.acc])
    np.testing.assert_array_equal(result_of(record, variant, d, lanes), expected)


@pytest.mark.parametrize(("lanes", "half"), list(itertools.product((32, 64), (0, 1))))
@pytest.mark.parametrize("name", ["v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16"])
def test_opsel_picks_halves_of_c_and_d_and_keeps_the_other(name: str, lanes: int, half: int) -> None:
    record = record_of(name, "gfx1151")
    variant = Variant(half=half)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c, lanes)
    registers[0][:] = 0xABCD1234
    run(record, registers, variant, lanes)
    np.testing.assert_array_equal(result_of(record, variant, registers[0], lanes), summed(record, a, b, c))
    other = registers[0][: operands_of(record, variant, lanes).d.registers] >> (16 - 16 * half) & 0xFFFF
    assert (other == (0x1234 if half else 0xABCD)).all()


@pytest.mark.parametrize("target", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize(("low", "high"), [((1, 0, 1), (0, 0, 1)), ((0, 0, 0), (0, 1, 1)), ((0, 1, 1), (1, 1, 0))])
def test_neg_flips_low_and_high_elements_and_c_has_abs(
    target: str, low: tuple[int, ...], high: tuple[int, ...]
) -> None:
    record = record_of("v_wmma_f32_16x16x16_f16", target)
    variant = Variant(neg=low, neg_hi=high)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c, 32)
    run(record, registers, variant, 32)
    even = np.arange(record.k) % 2 == 0
    signs_a, signs_b = (np.where(even, 1 - 2 * low[side], 1 - 2 * high[side]) for side in (0, 1))
    start = (abs(c) if high[2] else c) * np.float32(1 - 2 * low[2])
    expected = product(a * signs_a, b * signs_b, start)
    np.testing.assert_array_equal(result_of(record, variant, registers[0], 32), expected)


@pytest.mark.parametrize("signs", list(itertools.product((0, 1), repeat=2)))
@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("v_wmma_i32_16x16x16_iu8", "gfx1100"),
        ("v_wmma_i32_16x16x32_iu4", "gfx1200"),
        ("v_wmma_i32_16x16x64_iu8", "gfx1250"),
    ],
)
def test_neg_of_integer_products_is_signedness_and_clamp_saturates(
    name: str, target: str, signs: tuple[int, int]
) -> None:
    record = record_of(name, target)
    for clamp in (False, True):
        variant = Variant(neg=(*signs, 0), clamp=clamp)
        a, b, c = random_case(record, variant)
        c[0, :8], c[0, 8:] = 2**31 - 5, -(2**31) + 5
        registers = registers_of(record, variant, a, b, c, 32)
        run(record, registers, variant, 32)
        exact = a[0].astype(np.int64) @ b[0].astype(np.int64).T + c[0]
        expected = np.clip(exact, -(2**31), 2**31 - 1) if clamp else exact.astype(np.int32)
        np.testing.assert_array_equal(result_of(record, variant, registers[0], 32)[0], expected)


@pytest.mark.parametrize(("record", "left", "right"), MIXED, ids=label)
def test_matrix_formats_are_those_of_the_modifiers(record: Matrix, left: int, right: int) -> None:
    variant = Variant(cbsz=left, blgp=right)
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c, 32)
    run(record, registers, variant, 32)
    np.testing.assert_array_equal(result_of(record, variant, registers[0], 32), product(a, b, c))


@pytest.mark.parametrize("scale_format", [0, 1, 2])
@pytest.mark.parametrize(("record", "rows"), SCALED, ids=label)
def test_block_scales_multiply_their_rows_and_blocks(record: Matrix, rows: tuple[int, int], scale_format: int) -> None:
    variant = Variant(cbsz=4, blgp=1, scale_rows=rows, scale_formats=(scale_format, 0))
    a, b, c = random_case(record, variant)
    registers = registers_of(record, variant, a, b, c, 32)
    rng = np.random.default_rng(3)
    blocks = record.k // record.scale_block
    values = []
    for outer, row, kind in ((record.m, rows[0], scale_format), (record.n, rows[1], 0)):
        codes = rng.integers(*((120, 134), (100, 130), (40, 70))[kind], (outer, blocks)).astype(np.uint8)
        operand = np.zeros((blocks // 4, 32), np.uint32)
        for block in range(blocks):
            word = codes[:, block].astype(np.uint32) << np.uint32(8 * (block % 4))
            operand[block // 4, 16 * row : 16 * row + outer] |= word
        registers.append(operand)
        values.append(np.repeat(scale_values(codes, kind), record.scale_block, axis=1))
    run(record, registers, variant, 32)
    expected = product(a.astype(np.float64) * values[0], b.astype(np.float64) * values[1], c)
    np.testing.assert_array_equal(result_of(record, variant, registers[0], 32), expected)


def scale_values(codes: Array, kind: int) -> Array:
    if kind == 0:
        return 2.0 ** (codes.astype(np.float64) - 127)
    if kind == 2:
        return codes.view(DTYPES["fp8"]).astype(np.float64)
    return (1 + (codes & 7) / 8) * 2.0 ** ((codes >> 3).astype(np.float64) - 15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "v_wmma_f16_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7] op_sel:[0,0,1] neg_lo:[0,0,1]",
            Variant(half=1, neg=(0, 0, 1)),
        ),
        (
            "v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], v[16:17], v[0:7] neg_lo:[1,0,0] clamp",
            Variant(neg=(1, 0, 0), clamp=True),
        ),
        ("v_swmmac_f32_16x16x32_f16 v[0:7], v[16:19], v[32:39], v48 index_key:1", Variant(abid=1)),
        (
            "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:35], v[0:7] matrix_a_fmt:MATRIX_FMT_BF8 "
            "matrix_b_fmt:MATRIX_FMT_BF6 matrix_a_reuse",
            Variant(cbsz=1, blgp=3),
        ),
        (
            "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], 1.0, v40, v41 "
            "matrix_a_scale:MATRIX_SCALE_ROW1 matrix_b_scale:MATRIX_SCALE_ROW0 "
            "matrix_a_scale_fmt:MATRIX_SCALE_FMT_E5M3 matrix_b_scale_fmt:MATRIX_SCALE_FMT_E4M3",
            Variant(scale_rows=(1, 0), scale_formats=(1, 2)),
        ),
    ],
)
def test_modifiers_are_read_as_llvm_prints_them(text: str, expected: Variant) -> None:
    assert Variant.of(dict(parse_instruction(text).modifiers)) == expected


@pytest.mark.parametrize(
    ("name", "target", "bits", "value"),
    [
        ("v_wmma_f32_16x16x16_f16", "gfx1100", 0x3F800000, 1.0),
        ("v_wmma_f16_16x16x16_f16", "gfx1201", 0x3C00, 1.0),
        ("v_wmma_bf16_16x16x16_bf16", "gfx1150", 0xC000, -2.0),
        ("v_wmma_i32_16x16x16_iu4", "gfx1100", 5, 5),
    ],
)
def test_an_inline_constant_stands_for_c(name: str, target: str, bits: int, value: float) -> None:
    record = record_of(name, target)
    variant = Variant(inline_c=bits)
    a, b, old = random_case(record, variant)
    registers = registers_of(record, variant, a, b, old, 32)
    run(record, registers, variant, 32)
    expected = summed(record, a, b, np.full_like(old, value))
    np.testing.assert_array_equal(result_of(record, variant, registers[0], 32), expected)


@pytest.mark.parametrize("target", ["gfx1100", "gfx1151", "gfx1200", "gfx1250"])
def test_each_target_has_its_own_record(target: str) -> None:
    dense = {"gfx1100": "rdna3", "gfx1151": "rdna3", "gfx1200": "rdna4"}
    for element in ("f16", "bf16"):
        k = 32 if target == "gfx1250" else 16
        record = record_of(f"v_wmma_f32_16x16x{k}_{element}", target)
        assert record.family == dense.get(target, "cdna5")


@pytest.mark.parametrize(("target", "step"), [("gfx1151", 2), ("gfx1200", 4)])
def test_a_bf16_sum_is_truncated_after_each_step(target: str, step: int) -> None:
    """Products too small for a bf16 beside 1 vanish, however many there are; within a step they add up."""
    record = record_of("v_wmma_bf16_16x16x16_bf16", target)
    a, b, c = zeros(record)
    a[:], b[:], c[:] = 1, 2.0**-8, 1
    registers = registers_of(record, PLAIN, a, b, c, 32)
    run(record, registers, PLAIN, 32)
    gained = 16 / step * (step // 2) * 2.0**-7
    assert (result_of(record, PLAIN, registers[0], 32) == 1 + gained).all()
    b[:] = 2.0**-11
    registers = registers_of(record, PLAIN, a, b, c, 32)
    run(record, registers, PLAIN, 32)
    assert (result_of(record, PLAIN, registers[0], 32) == 1).all()


@pytest.mark.parametrize(
    ("name", "scalar", "factor"),
    [
        ("scale", "s4", 4.0), ("scale", "0", 1.0), ("scale", "1", 2.0**-126),
        ("scale16", "s[4:5]", 4.0), ("scale16", "0", 1.0),
    ],
)  # fmt: skip
def test_a_scalar_scale_is_one_for_all(name: str, scalar: str, factor: float) -> None:
    """From bits 7:0, the constant 0 standing for 1.0: AMD CDNA5 ISA 7.12.6.2."""
    k = Kernel("gfx1250")("\n".join(f"v_mov_b32 v{i}, 0x38383838" for i in range(8, 40)))
    k("v_mov_b32 v40, 0x7f7f7f7f\nv_mov_b32 v41, 0x7f7f7f7f\ns_mov_b32 s4, 0x12345681\ns_mov_b32 s5, 0x9abcdef0")
    other = "v40" if name == "scale" else "v[40:41]"
    k(f"v_wmma_{name}_f32_16x16x128_f8f6f4 v[48:55], v[8:23], v[24:39], 0, {scalar}, {other}").keep("v48")
    assert (k.run().rows[0].view(np.float32) == np.float32(128 * factor)).all()
