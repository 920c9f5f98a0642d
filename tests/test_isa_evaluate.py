"""Expressions evaluated in Python agree with the code the machine makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from isa_harness import LANES, Machine

from antiphase.isa import F32, U32, Alu, evaluate, find, generation, source
from antiphase.isa import REGISTRY as RECORDS

EDGES = [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 1 << 63, (1 << 64) - 1]


def scalar_records() -> list[Alu]:
    """Scalar instructions of integers whose sources are values of their own."""
    found: dict[str, Alu] = {}
    for name in RECORDS.records:
        for target in ("gfx942", "gfx1250"):
            record = find(name, target)
            if not isinstance(record, Alu) or record.unit != "salu" or record.relative:
                continue
            slots = (*record.signature.sources, *record.signature.results)
            if all(slot.count == 1 and not slot.type.is_float for slot in slots):
                found[f"{name} {generation(target)}"] = record
    return list({id(record): record for record in found.values()}.values())


def test_scalar_integer_instructions_have_the_value_the_machine_computes() -> None:
    machine, records, done = Machine(), scalar_records(), 0
    keys = [machine.add_record(record) for record in records]
    rng = np.random.default_rng(5)
    for record, key in zip(records, keys, strict=True):
        types = [slot.type for slot in record.signature.sources]
        columns = []
        for type_ in types:
            mask = (1 << type_.bits) - 1
            drawn = [*EDGES, *rng.integers(0, 1 << 63, LANES - len(EDGES)).tolist()]
            columns.append([int(value) & mask for value in rng.permutation(np.array(drawn, np.uint64))])
        if not types or any(type_.bits > 64 for type_ in types):
            continue
        arrays = [np.array(column, np.uint64) for column in columns]
        got = machine(key, *arrays)
        for expr, values in zip(record.results, got, strict=True):
            expected = [evaluate(expr, row) for row in zip(*columns, strict=True)]
            if None in expected:
                continue
            mask = (1 << expr.type.bits) - 1
            assert [int(v) & mask for v in values[: len(expected)]] == expected, record.name
            done += 1
    assert done > 120


def test_what_is_not_known_gives_nothing_unless_it_is_not_needed() -> None:
    a, b = source(0, U32), source(1, U32)
    assert evaluate(a + b, [1, None]) is None and evaluate(a + b, [0xFFFFFFFF, 2]) == 1
    record = find("s_cselect_b32", "gfx942")
    assert isinstance(record, Alu)
    (chosen,) = record.results
    assert evaluate(chosen, [7, None, 1]) == 7 and evaluate(chosen, [7, None, 0]) is None
    assert evaluate(a.bits(F32) + 1.0, [0]) is None and evaluate((a.bits(F32) == 1.0).to(U32), [0]) is None


@pytest.mark.parametrize("name", ["s_wqm_b32", "s_mul_hi_u32", "s_bfe_i32", "s_flbit_i32"])
def test_some_that_compilers_build_modes_with(name: str) -> None:
    record = find(name, "gfx942")
    assert isinstance(record, Alu) and evaluate(record.results[0], [5] * len(record.signature.sources)) is not None
