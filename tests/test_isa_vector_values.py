"""Vector arithmetic against Python's integers and exact fractions: packed, three-operand, dot and comparing forms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from isa_harness import DTYPES, LANES, Machine, record, run
from test_isa_compare import CLASSES, FLOAT, INTEGER
from test_isa_rdna_minmax import Float, codes_of, compare
from value_cases import FRACTION, cases, draws, same_bits

from antiphase.machine.llvm._lower import FloatMode

np.seterr(all="ignore")
EXAMPLES = settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate])


def types_of(name: str, target: str = "gfx950") -> tuple[str, ...]:
    return tuple(slot.type.name for slot in record(name, target).signature.sources for _ in range(slot.count))


# -- integers ---------------------------------------------------------------------------------------------------


def med3(a: int, b: int, c: int) -> int:
    return sorted((a, b, c))[1]


def fields(word: int, bits: int) -> list[int]:
    """Signed bit fields of a 32-bit word."""
    parts = [word >> at & (1 << bits) - 1 for at in range(0, 32, bits)]
    return [part - (1 << bits) if part >> (bits - 1) else part for part in parts]


def dot(bits: int) -> Callable[[int, int, int], int]:
    return lambda a, b, c: sum(map(operator.mul, fields(a, bits), fields(b, bits))) + c


def bytes_of(word: int) -> list[int]:
    return [word >> at & 255 for at in (0, 8, 16, 24)]


def lerp(a: int, b: int, c: int) -> int:
    rows = zip(bytes_of(a), bytes_of(b), bytes_of(c), strict=True)
    return sum((x + y + (z & 1) >> 1) << 8 * i for i, (x, y, z) in enumerate(rows))


def shift_pack(low: int, high: int) -> Callable[[int, int, int], int]:
    def f(a: int, b: int, n: int) -> int:
        parts = [min(max(x >> (n & 31), low), high) & 255 for x in (a, b)]
        return parts[0] | parts[1] << 8

    return f


def multiply_add(a: int, b: int, c: int) -> int:
    return a * b + c


INTEGERS: dict[str, Callable[..., int]] = {
    "v_pk_lshlrev_b16": lambda n, a: a << (n & 15), "v_pk_lshrrev_b16": lambda n, a: a >> (n & 15),
    "v_pk_ashrrev_i16": lambda n, a: a >> (n & 15), "v_pk_mul_lo_u16": operator.mul, "v_lerp_u8": lerp,
    "v_dot2c_i32_i16": dot(16), "v_dot4c_i32_i8": dot(8), "v_dot8c_i32_i4": dot(4), "v_mov_b64": lambda a: a,
    "v_ashr_pk_i8_i32": shift_pack(-128, 127), "v_ashr_pk_u8_i32": shift_pack(0, 255),
    "v_pack_b32_f16": lambda a, b: a | b << 16,
}  # fmt: skip
for t in ("i16", "u16"):
    INTEGERS |= {
        f"v_pk_add_{t}": operator.add, f"v_pk_sub_{t}": operator.sub, f"v_pk_min_{t}": min, f"v_pk_max_{t}": max,
        f"v_pk_mad_{t}": multiply_add, f"v_mad_{t}": multiply_add, f"v_mad_legacy_{t}": multiply_add,
    }  # fmt: skip
for t in ("i16", "u16", "i32", "u32"):
    INTEGERS |= {
        f"v_min_{t}": min, f"v_max_{t}": max, f"v_min3_{t}": min, f"v_max3_{t}": max, f"v_med3_{t}": med3,
    }  # fmt: skip
BITWISE = {"v_and_b16": operator.and_, "v_or_b16": operator.or_, "v_xor_b16": operator.xor, "v_not_b16": operator.inv}


@pytest.fixture(scope="module")
def machine() -> Machine:
    machine = Machine()
    for name in (*INTEGERS, *FUSED, *STEPWISE, *CUBE):
        machine.add_record(record(name))
    for name in BITWISE:
        machine.add_record(record(name, "gfx1201"))
    for name in LATER:
        machine.add_record(record(name, "gfx1100"))
    return machine


@EXAMPLES
@given(drawn=draws)
def test_integer_operations_are_those_of_integers(machine: Machine, drawn: list[int]) -> None:
    for name, reference in {**INTEGERS, **BITWISE}.items():
        instruction = record(name, "gfx1201" if name in BITWISE else "gfx950")
        sources = cases(tuple(slot.type.name for slot in instruction.signature.sources), drawn)
        words = [s.view(f"u{s.itemsize}") if s.dtype.kind == "f" else s for s in sources]
        (result,) = machine(machine.add_record(instruction), *sources)
        bits = 8 * result.itemsize
        wanted = [reference(*map(int, values)) & (1 << bits) - 1 for values in zip(*words, strict=True)]
        np.testing.assert_array_equal(result.view(f"u{bits // 8}"), np.array(wanted, f"u{bits // 8}"), err_msg=name)


# -- floats -----------------------------------------------------------------------------------------------------


def nearest(x: Fraction, t: str) -> float:
    """The number of a float format nearest to x, ties to even, beyond the largest infinity. x is not 0."""
    fraction = FRACTION[t]
    bias = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}[t]
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, 1 - bias) - fraction)
    rounded = round(size / unit) * unit  # Python rounds halves to even
    value = float("inf") if rounded >= Fraction(2) ** (bias + 1) else float(rounded)
    return -value if x < 0 else value


def exact(a: float, b: float, c: float, t: str) -> float:
    """a * b + c rounded once."""
    if not all(map(np.isfinite, (a, b, c))):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    total = Fraction(a) * Fraction(b) + Fraction(c)
    # a sum of zero has the sign that f64 gives it, whose product of narrower numbers is exact
    return nearest(total, t) if total else float(np.float64(a) * np.float64(b) + np.float64(c))


def fused(t: str) -> Callable[..., float]:
    return lambda a, b, c: exact(a, b, c, t)


def two_steps(t: str) -> Callable[..., float]:
    return lambda a, b, c: exact(1.0, exact(a, b, -0.0, t), c, t)


def dot_of_two(total: str = "f32") -> Callable[..., float]:
    def f(a_low: float, a_high: float, b_low: float, b_high: float, c: float) -> float:
        return exact(a_high, b_high, exact(a_low, b_low, c, total), total)

    return f


def mixed(a: float, b: float, c: float) -> float:
    """A sum of f32, narrowed to f16 in a step of its own."""
    return exact(1.0, exact(a, b, c, "f32"), -0.0, "f16")


FUSED = {
    "v_pk_fma_f16": fused("f16"), "v_pk_fmac_f16": fused("f16"), "v_fma_legacy_f16": fused("f16"),
    "v_fma_f16": fused("f16"), "v_pk_add_f32": lambda a, b: exact(1.0, a, b, "f32"),
    "v_pk_mul_f32": lambda a, b: exact(a, b, -0.0, "f32"), "v_pk_fma_f32": fused("f32"),
}  # fmt: skip
STEPWISE = {
    "v_mad_f16": two_steps("f16"), "v_mad_legacy_f16": two_steps("f16"), "v_mac_f16": two_steps("f16"),
    "v_madak_f16": two_steps("f16"), "v_madmk_f16": two_steps("f16"),
    "v_dot2c_f32_f16": dot_of_two(), "v_dot2c_f32_bf16": dot_of_two(),
    "v_dot2_f32_f16": dot_of_two(), "v_dot2_f32_bf16": dot_of_two(),
    "v_fma_mixlo_f16": mixed, "v_fma_mixhi_f16": mixed, "v_fmac_f64": fused("f64"), "v_fma_f64": fused("f64"),
}  # fmt: skip
LATER = {
    "v_dot2_bf16_bf16": dot_of_two("bf16"),
    "v_dot2_f16_f16": dot_of_two("f16"),
    "v_fmac_dx9_zero_f32": lambda a, b, c: c if 0 in (a, b) else exact(a, b, c, "f32"),
}
"""Of RDNA 3."""


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(drawn=draws)
def test_float_operations_round_as_often_as_they_say(machine: Machine, drawn: list[int]) -> None:
    for name, reference in {**FUSED, **STEPWISE, **LATER}.items():
        target = "gfx1100" if name in LATER else "gfx950"
        sources = cases(types_of(name, target), drawn)
        (result,) = machine(machine.add_record(record(name, target)), *sources)
        wanted = [reference(*map(_number, values)) for values in zip(*sources, strict=True)]
        same_bits(result, np.array(wanted).astype(result.dtype), name)


def _number(value: np.generic) -> float:
    return int(value) if value.dtype.kind in "iu" else float(value)


def face(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """0 to 5 for +x, -x, +y, -y, +z, -z: the axis that is longest, z before y before x where they are equal."""
    on_z = (abs(z) >= abs(x)) & (abs(z) >= abs(y))
    on_y = ~on_z & (abs(y) >= abs(x))
    return np.select([on_z, on_y], [4 + (z < 0), 2 + (y < 0)], 0 + (x < 0))


CUBE: dict[str, Callable[..., np.ndarray]] = {
    "v_cubeid_f32": lambda x, y, z: face(x, y, z).astype(np.float32),
    "v_cubesc_f32": lambda x, y, z: np.choose(face(x, y, z), [-z, z, x, x, x, -x]),
    "v_cubetc_f32": lambda x, y, z: np.choose(face(x, y, z), [-y, -y, z, -z, -y, -y]),
    "v_cubema_f32": lambda x, y, z: 2 * np.choose(face(x, y, z) // 2, [x, y, z]),
}


@EXAMPLES
@given(drawn=draws)
def test_cube_faces(machine: Machine, drawn: list[int]) -> None:
    x, y, z = cases(("f32",) * 3, drawn)
    for name, reference in CUBE.items():
        (result,) = machine(machine.add_record(record(name)), x, y, z)
        same_bits(result, reference(x, y, z), name)


@pytest.mark.parametrize("target", ["gfx950", "gfx1201", "gfx1250"])
def test_packed_minimum_and_maximum_of_halves(target: str) -> None:
    form = Float("f16")
    a, b = form.arrays(2)
    pairs = list(zip(*codes_of(form, [a, b]), strict=True))
    for name, least in (("min", True), ("max", False)):
        if target == "gfx950":
            (result,) = run(f"v_pk_{name}_f16", a, b, target=target, mode=FloatMode(ieee=True))
            compare(form, result, [form.ieee_mode(x, y, least, True) for x, y in pairs])
            continue
        for spelling in (f"v_pk_{name}_f16", f"v_pk_{name}_num_f16"):
            compare(form, run(spelling, a, b, target=target)[0], [form.number(x, y, least) for x, y in pairs])
        (result,) = run(f"v_pk_{name}imum_f16", a, b, target=target)
        compare(form, result, [form.propagating(x, y, least) for x, y in pairs])


@pytest.mark.parametrize(
    ("name", "reference"), [("rcp", lambda x: 1 / x), ("rsq", lambda x: 1 / np.sqrt(x)), ("sqrt", np.sqrt)]
)
def test_roots_and_reciprocals_of_f64(name: str, reference: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.concatenate([np.exp2(np.random.default_rng(5).uniform(-900, 900, 200)), [1.0, 4.0, 0.25]])
    (result,) = run(f"v_{name}_f64", x)
    np.testing.assert_allclose(result, reference(x), rtol=2**-50)
    specials = np.array([0.0, np.inf, np.nan])
    same_bits(run(f"v_{name}_f64", specials)[0], reference(specials))


def test_16_bit_integers_widen() -> None:
    words = np.arange(0, 1 << 16, 97, dtype=np.uint16)
    np.testing.assert_array_equal(run("v_cvt_u32_u16", words, target="gfx1100")[0], words)
    np.testing.assert_array_equal(run("v_cvt_i32_i16", words.view(np.int16), target="gfx1100")[0], words.view(np.int16))


# -- comparisons that write EXEC --------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["gfx950", "gfx1100", "gfx1201", "gfx1250"])
@pytest.mark.parametrize("t", ["f16", "f32", "f64", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_every_predicate_writes_the_active_lanes_it_holds_for_to_exec(t: str, target: str) -> None:
    machine, exec_ = Machine(), 0xF0F0FFFF12345678
    always = "t" if target == "gfx1100" else "tru"
    predicates = {always if n == "tru" else n: f for n, f in (FLOAT if t[0] == "f" else INTEGER).items()}
    fixed = ("f", "t", "tru")
    gone = () if target == "gfx950" else fixed if target != "gfx1100" or t in ("i16", "u16") else ()
    keys = {n: machine.add_record(record(f"v_cmpx_{n}_{t}", target)) for n in predicates if n not in gone}
    a, b = (x[:LANES] for x in cases((t, t), [0x123456789ABCDEF0]))
    for name, key in keys.items():
        *_, result = machine(key, a, b, exec_=exec_)
        holds = predicates[name](a, b)
        wanted = sum(1 << i for i in range(LANES) if holds[i] and exec_ >> i & 1)
        assert int(result[0]) == wanted, name


@pytest.mark.parametrize("target", ["gfx950", "gfx1201"])
@pytest.mark.parametrize("t", ["f16", "f32", "f64"])
def test_every_class_goes_to_exec(t: str, target: str) -> None:
    x = np.array(CLASSES[t], f"u{DTYPES[t].itemsize}").view(DTYPES[t])
    for bit in range(10):
        *_, result = run(f"v_cmpx_class_{t}", x, np.array([1 << bit]), target=target)
        assert int(result[0]) & 0x3FF == 1 << bit


# -- conversions ------------------------------------------------------------------------------------------------

EIGHT = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}


@pytest.mark.parametrize("t", ["f32", "f16"])
@pytest.mark.parametrize("kind", EIGHT)
def test_a_single_code_is_widened_and_scaled(kind: str, t: str) -> None:
    codes = np.arange(256, dtype=np.uint8)
    for scale in (1.0, 0.25, 16.0):
        (result,) = run(f"v_cvt_scalef32_{t}_{kind}", codes, np.array([scale], np.float32))
        same_bits(result, (codes.view(EIGHT[kind]).astype(np.float32) * np.float32(scale)).astype(DTYPES[t]))


@pytest.mark.parametrize("t", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kind", EIGHT)
def test_stochastic_rounding_of_scaled_values_lands_beside_them(kind: str, t: str) -> None:
    """Random bits of zero round toward zero, all ones away from it; what the format holds stays as it is."""
    form = EIGHT[kind]
    held = np.arange(256, dtype=np.uint8).view(form).astype(np.float32)
    held = held[np.isfinite(held) & (abs(held) < 400)]
    for random in (0, 0xFFFFFFFF):
        (codes,) = run(f"v_cvt_scalef32_sr_{kind}_{t}", held.astype(DTYPES[t]), np.array([random]), np.ones(1))
        same_bits(codes.view(form).astype(np.float32), held)
    x = np.random.default_rng(3).uniform(-200, 200, 512).astype(DTYPES[t])
    ends = [
        run(f"v_cvt_scalef32_sr_{kind}_{t}", x, np.array([r]), np.ones(1))[0].view(form).astype(np.float32)
        for r in (0, 0xFFFFFFFF)
    ]
    size = abs(x.astype(np.float32))
    assert (abs(ends[0]) <= size).all() and (abs(ends[1]) >= size).all()
    assert (abs(ends[1]) - abs(ends[0]) <= np.where(size < 1, 1, size) / (8 if kind == "fp8" else 4)).all()


def test_stochastic_bf16_brackets_the_value() -> None:
    x = np.array([1.0, 1.0 + 2**-9, -3.3, 1e-30, np.inf, -np.inf, np.nan, 0.0, -0.0], np.float32)
    down, up = (run("v_cvt_sr_bf16_f32", x, np.array([r]))[0] for r in (0, 0xFFFF))
    same_bits(down, (x.view(np.uint32) & 0xFFFF0000).view(np.float32).astype(ml_dtypes.bfloat16))
    finite = np.isfinite(x)
    assert (abs(up[finite].astype(np.float32)) >= abs(x[finite])).all()


@pytest.mark.parametrize(("t", "low", "top"), [("i16", -1, 32767), ("u16", 0, 65535)])
def test_normalised_halves(t: str, low: int, top: int) -> None:
    x = np.array([0, 1, -1, 0.5, -0.5, 2, -2, np.inf, -np.inf, np.nan, 2**-14, 6e-8, 0.25], np.float16)
    (single,) = run(f"v_cvt_norm_{t}_f16", x)
    limited = np.nan_to_num(np.clip(x.astype(np.float64), low, 1))
    np.testing.assert_array_equal(single.astype(int), np.floor(limited * top + 0.5).astype(int))
    (pair,) = run(f"v_cvt_pknorm_{t}_f16", x, x[::-1])
    words = single.view(np.uint16).astype(np.uint32)
    np.testing.assert_array_equal(pair, words | words[::-1] << 16)


def test_a_byte_is_replaced_by_a_float() -> None:
    x = np.array([0, 1.9, 255, 256, -1, np.nan, 1e9, 128], np.float32)
    for byte in range(4):
        old = np.full(len(x), 0xA1B2C3D4, np.uint32)
        (result,) = run("v_cvt_pkaccum_u8_f32", x, np.array([byte]), old)
        wanted = [0, 1, 255, 255, 0, 0, 255, 128]
        np.testing.assert_array_equal(result >> 8 * byte & 255, wanted)
        others = np.uint32(0xFFFFFFFF ^ 255 << 8 * byte)
        np.testing.assert_array_equal(result & others, old & others)
