"""Scalar integer arithmetic against Python's integers: every operation of SOP1, SOP2, SOPC and SOPK, by hypothesis."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from isa_harness import Machine, record, run
from test_isa_compare import FLOAT
from test_isa_rdna_minmax import Float, codes_of, compare
from value_cases import cases, draws, same_bits

from antiphase.isa import REGISTRY, Alu
from antiphase.machine.llvm._lower import FloatMode

Result = tuple[int, ...]


def wrap(x: int, bits: int) -> int:
    return x & ((1 << bits) - 1)


def signed(x: int, bits: int) -> int:
    x = wrap(x, bits)
    return x - (1 << bits) if x >> (bits - 1) else x


def with_flag(bits: int, f: Callable[..., int]) -> Callable[..., Result]:
    """The result, and whether any of its bits is set."""
    return lambda *sources: (wrap(f(*sources), bits), int(wrap(f(*sources), bits) != 0))


def overflowing(f: Callable[[int, int], int]) -> Callable[[int, int], Result]:
    return lambda a, b: (wrap(f(a, b), 32), int(signed(f(a, b), 32) != f(a, b)))


def leading(x: int, bits: int) -> int:
    return bits - x.bit_length()


def trailing(x: int) -> int:
    return (x & -x).bit_length() - 1


def reverse(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


def field(x: int, place: int, bits: int) -> int:
    """Bits of x from `place`'s low bits on, as many as its bits 22:16 say."""
    return x >> (place & (bits - 1)) & (1 << (place >> 16 & 127)) - 1


def signed_field(x: int, place: int, bits: int) -> int:
    width = place >> 16 & 127
    return signed(field(x, place, bits), width) if width else 0


TABLE: dict[str, Callable[..., Result]] = {
    "s_add_u32": lambda a, b: (wrap(a + b, 32), (a + b) >> 32), "s_sub_u32": lambda a, b: (wrap(a - b, 32), int(a < b)),
    "s_add_i32": overflowing(operator.add), "s_sub_i32": overflowing(operator.sub),
    "s_addc_u32": lambda a, b, c: (wrap(a + b + c, 32), (a + b + c) >> 32),
    "s_subb_u32": lambda a, b, c: (wrap(a - b - c, 32), int(a - b - c < 0)),
    "s_addk_i32": lambda k, d: overflowing(operator.add)(d, k), "s_mulk_i32": lambda k, d: (wrap(k * d, 32),),
    "s_movk_i32": lambda k: (wrap(k, 32),), "s_cmovk_i32": lambda k, d, scc: (wrap(k if scc else d, 32),),
    "s_mul_i32": lambda a, b: (wrap(a * b, 32),), "s_abs_i32": with_flag(32, lambda a: abs(a)),
    "s_absdiff_i32": with_flag(32, lambda a, b: abs(signed(a - b, 32))),
    "s_sext_i32_i8": lambda a: (wrap(signed(a, 8), 32),), "s_sext_i32_i16": lambda a: (wrap(signed(a, 16), 32),),
    "s_pack_ll_b32_b16": lambda a, b: (a & 0xFFFF | (b & 0xFFFF) << 16,),
    "s_pack_lh_b32_b16": lambda a, b: (a & 0xFFFF | b >> 16 << 16,),
    "s_pack_hh_b32_b16": lambda a, b: (a >> 16 | b >> 16 << 16,),
    "s_cmp_eq_u64": lambda a, b: (int(a == b),), "s_cmp_lg_u64": lambda a, b: (int(a != b),),
    "s_flbit_i32": lambda a: (wrap(32 - (a ^ a >> 31).bit_length() if a not in (0, -1) else -1, 32),),
    "s_flbit_i32_i64": lambda a: (wrap(64 - (a ^ a >> 63).bit_length() if a not in (0, -1) else -1, 32),),
}  # fmt: skip
for t in ("i32", "u32"):
    TABLE[f"s_min_{t}"] = lambda a, b: (wrap(min(a, b), 32), int(a < b))
    TABLE[f"s_max_{t}"] = lambda a, b: (wrap(max(a, b), 32), int(a >= b))
    TABLE[f"s_mul_hi_{t}"] = lambda a, b: (wrap(a * b >> 32, 32),)
    for predicate in (operator.eq, operator.gt, operator.ge, operator.lt, operator.le):
        TABLE[f"s_cmp_{predicate.__name__}_{t}"] = lambda a, b, f=predicate: (int(f(a, b)),)
    TABLE[f"s_cmp_lg_{t}"] = lambda a, b: (int(a != b),)
for name in ("eq", "lg", "gt", "ge", "lt", "le"):
    TABLE[f"s_cmpk_{name}_i32"] = TABLE[f"s_cmp_{name}_i32"]
    TABLE[f"s_cmpk_{name}_u32"] = lambda a, k, f=TABLE[f"s_cmp_{name}_u32"]: f(a, k & 0xFFFF)
for n in (1, 2, 3, 4):
    TABLE[f"s_lshl{n}_add_u32"] = lambda a, b, n=n: (wrap((a << n) + b, 32), int((a << n) + b >= 1 << 32))
for n in (32, 64):
    TABLE |= {
        f"s_and_b{n}": with_flag(n, lambda a, b: a & b), f"s_or_b{n}": with_flag(n, lambda a, b: a | b),
        f"s_xor_b{n}": with_flag(n, lambda a, b: a ^ b), f"s_nand_b{n}": with_flag(n, lambda a, b: ~(a & b)),
        f"s_nor_b{n}": with_flag(n, lambda a, b: ~(a | b)), f"s_xnor_b{n}": with_flag(n, lambda a, b: ~(a ^ b)),
        f"s_andn2_b{n}": with_flag(n, lambda a, b: a & ~b), f"s_orn2_b{n}": with_flag(n, lambda a, b: a | ~b),
        f"s_not_b{n}": with_flag(n, lambda a: ~a),
        f"s_lshl_b{n}": with_flag(n, lambda a, s, n=n: a << (s & n - 1)),
        f"s_lshr_b{n}": with_flag(n, lambda a, s, n=n: a >> (s & n - 1)),
        f"s_ashr_i{n}": with_flag(n, lambda a, s, n=n: a >> (s & n - 1)),
        f"s_bfe_u{n}": with_flag(n, lambda a, f, n=n: field(a, f, n)),
        f"s_bfe_i{n}": with_flag(n, lambda a, f, n=n: signed_field(a, f, n)),
        f"s_bfm_b{n}": lambda w, at, n=n: (wrap((1 << (w & n - 1)) - 1 << (at & n - 1), n),),
        f"s_mov_b{n}": lambda a: (a,), f"s_cmov_b{n}": lambda a, d, scc: (a if scc else d,),
        f"s_cselect_b{n}": lambda a, b, scc: (a if scc else b,), f"s_brev_b{n}": lambda a, n=n: (reverse(a, n),),
        f"s_ff1_i32_b{n}": lambda a: (wrap(trailing(a), 32) if a else 0xFFFFFFFF,),
        f"s_ff0_i32_b{n}": lambda a, n=n: (trailing(wrap(~a, n)) if wrap(~a, n) else 0xFFFFFFFF,),
        f"s_flbit_i32_b{n}": lambda a, n=n: (leading(a, n) if a else 0xFFFFFFFF,),
        f"s_bcnt1_i32_b{n}": with_flag(32, lambda a: a.bit_count()),
        f"s_bcnt0_i32_b{n}": with_flag(32, lambda a, n=n: n - a.bit_count()),
        f"s_bitset0_b{n}": lambda at, d, n=n: (d & ~(1 << (at & n - 1)),),
        f"s_bitset1_b{n}": lambda at, d, n=n: (d | 1 << (at & n - 1),),
        f"s_bitcmp0_b{n}": lambda a, at, n=n: (~a >> (at & n - 1) & 1,),
        f"s_bitcmp1_b{n}": lambda a, at, n=n: (a >> (at & n - 1) & 1,),
    }  # fmt: skip
EXEC = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e, "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e), "andn1": lambda s, e: ~s & e,
    "andn2": lambda s, e: s & ~e, "orn1": lambda s, e: ~s | e, "orn2": lambda s, e: s | ~e,
}  # fmt: skip
RENAMED = {"andn1": "and_not0", "andn2": "and_not1", "orn1": "or_not0", "orn2": "or_not1"}
SAVING: dict[str, Callable[..., Result]] = {}
for name, function in EXEC.items():
    for n in (32, 64):
        flagged = with_flag(n, function)
        own = name if n == 64 else RENAMED.get(name, name)
        SAVING[f"s_{own}_saveexec_b{n}"] = lambda s, e, f=flagged: (e, *f(s, e))
        if name in ("andn1", "andn2"):
            SAVING[f"s_{own}_wrexec_b{n}"] = lambda s, e, f=flagged: (f(s, e)[0], *f(s, e))


@pytest.fixture(scope="module")
def machine() -> Machine:
    machine = Machine()
    for name in TABLE:
        machine.add_record(record(name))
    for name in SAVING:
        machine.add_record(record(name, "gfx1201" if name.endswith("32") else "gfx950"))
    return machine


@settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate])
@given(drawn=draws)
def test_every_operation_is_that_of_integers(machine: Machine, drawn: list[int]) -> None:
    for name, reference in {**TABLE, **SAVING}.items():
        instruction = record(name, "gfx1201" if name in SAVING and name.endswith("32") else "gfx950")
        sources = cases(tuple(slot.type.name for slot in instruction.signature.sources), drawn)
        results = machine(machine.add_record(instruction), *sources)
        expected = [reference(*map(int, values)) for values in zip(*sources, strict=True)]
        for got, want in zip(results, zip(*expected, strict=True), strict=True):
            words = got.view(f"u{got.itemsize}")
            np.testing.assert_array_equal(words, np.array(want, words.dtype), err_msg=name)


@pytest.mark.parametrize("t", ["f32", "f16"])
def test_every_float_comparison(t: str) -> None:
    machine = Machine()
    predicates = {name: f for name, f in FLOAT.items() if name not in ("f", "tru")}
    keys = {name: machine.add_record(record(f"s_cmp_{name}_{t}", "gfx1150")) for name in predicates}
    a, b = cases((t, t), [0x123456789ABCDEF0, 0x3C003C013F80])
    for name, key in keys.items():
        np.testing.assert_array_equal(machine(key, a, b)[0].astype(bool), predicates[name](a, b), err_msg=name)


@pytest.mark.parametrize("target", ["gfx1150", "gfx1201"])
def test_minimum_and_maximum_of_halves(target: str) -> None:
    form = Float("f16")
    a, b = form.arrays(2)
    pairs = list(zip(*codes_of(form, [a, b]), strict=True))
    for name, least in (("min", True), ("max", False)):
        if target == "gfx1150":
            (result,) = run(f"s_{name}_f16", a, b, target=target, mode=FloatMode(ieee=True))
            compare(form, result, [form.ieee_mode(x, y, least, True) for x, y in pairs])
        else:
            (result,) = run(f"s_{name}_num_f16", a, b, target=target)
            compare(form, result, [form.number(x, y, least) for x, y in pairs])
            (result,) = run(f"s_{name}imum_f16", a, b, target=target)
            compare(form, result, [form.propagating(x, y, least) for x, y in pairs])


def test_conversions_and_fused_halves() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    same_bits(run("s_cvt_f32_f16", halves, target="gfx1150")[0], halves.astype(np.float32))
    words = cases(("u32",), [0x89ABCDEF01234567])[0]
    same_bits(run("s_cvt_f32_u32", words, target="gfx1150")[0], words.astype(np.float32))
    a, b, c = cases(("f16",) * 3, [0x3C013C02BEEF, 0x123456789ABC])
    same_bits(run("s_fmac_f16", a, b, c, target="gfx1150")[0], run("v_pk_fma_f16", a, b, c)[0])


def test_no_scalar_integer_operation_is_left_out() -> None:
    """Aliases have the meaning of the name they stand beside; floats and lane masks have tests of their own."""
    known = {id(record(name).semantics) for name in TABLE} | {
        id(record(name, t).semantics) for name in SAVING for t in ("gfx950", "gfx1201") if name in REGISTRY.records
        and any(r.targets is None or t in r.targets for r in REGISTRY.records[name])
    }  # fmt: skip
    elsewhere = ("f16", "f32", "s_wqm", "s_quadmask", "s_bitrep", "_u64", "s_pack_hl", "mov", "s_getpc", "s_set_gpr")
    left = [
        r.name
        for r in REGISTRY.all()
        if isinstance(r, Alu) and r.unit == "salu" and id(r.semantics) not in known
        and not any(part in r.name for part in elsewhere)
    ]  # fmt: skip
    assert not left
