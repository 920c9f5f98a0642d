"""What memory records compute: atomic updates, lane permutations, and the fields of loads and stores."""

import functools

import numpy as np
import pytest
from isa_harness import Machine

from antiphase.isa import U32, Memory, find, source

MACHINE = Machine()
LANES = np.arange(64)


def memory(name: str, target: str = "gfx942") -> Memory:
    record = find(name, target)
    assert isinstance(record, Memory), name
    return record


@functools.cache
def update_key(name: str) -> str:
    record = memory(name)
    assert record.update is not None
    sources = [source(i, record.type) for i in range(1 + record.operands)]
    return MACHINE.add(name, (record.update(*sources),), (record.type,) * len(sources))


def updated(name: str, *values: float) -> float:
    """The new memory value for (old, data...)."""
    (result,) = MACHINE(update_key(name), *values)
    return result[0]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("global_atomic_add", (0xFFFFFFFF, 2), 1),
        ("ds_rsub_u32", (3, 10), 7),
        ("global_atomic_smin", (1, -5), -5),
        ("global_atomic_umax", (1, 0xFFFFFFFB), 0xFFFFFFFB),
        ("global_atomic_inc", (6, 7), 7),
        ("global_atomic_inc", (7, 7), 0),
        ("global_atomic_inc", (9, 7), 0),
        ("ds_dec_u32", (0, 7), 7),
        ("ds_dec_u32", (9, 7), 7),
        ("ds_dec_u32", (7, 7), 6),
        ("flat_atomic_swap_x2", (1, 2**40), 2**40),
        # flat and buffer data is (new, compare), DS data (compare, new)
        ("global_atomic_cmpswap", (4, 9, 4), 9),
        ("global_atomic_cmpswap", (5, 9, 4), 5),
        ("ds_cmpst_b32", (4, 4, 9), 9),
        ("ds_cmpst_rtn_b64", (5, 4, 9), 5),
        ("ds_mskor_b32", (0xFF, 0x0F, 0x105), 0x1F5),
        ("ds_wrap_rtn_b32", (10, 4, 100), 6),
        ("ds_wrap_rtn_b32", (3, 4, 100), 103),
        ("ds_min_f32", (1.0, -2.0), -2.0),
        ("global_atomic_add_f64", (1.0, 2.0**-52), 1 + 2.0**-52),
    ],
)
def test_atomics_update_memory(name: str, values: tuple[float, ...], expected: float) -> None:
    assert updated(name, *values) == expected


def test_packed_atomics_add_halves_separately() -> None:
    old, data = (np.array(pair, np.float16).view(np.uint32)[0] for pair in ([1.5, -2], [0.25, 3]))
    result = np.array([updated("global_atomic_pk_add_f16", old, data)], np.uint32).view(np.float16)
    assert result.tolist() == [1.75, 1]


def lanes(name: str, offset: int, *sources: np.ndarray, exec_: int = (1 << 64) - 1) -> np.ndarray:
    record = memory(name)
    assert record.lanes is not None
    expression = record.lanes(*(source(i, U32) for i in range(len(sources))), offset)
    key = MACHINE.add(f"{name}_{offset}", (expression,), (U32,) * len(sources))
    return MACHINE(key, *sources, exec_=exec_)[0]


def test_bpermute_reads_and_permute_writes_other_lanes() -> None:
    data = 100 + LANES
    address = (LANES * 5 % 64) * 4
    assert lanes("ds_bpermute_b32", 4, address, data).tolist() == data[(LANES * 5 + 1) % 64].tolist()
    expected = np.zeros(64, int)
    expected[LANES * 5 % 64] = data
    assert lanes("ds_permute_b32", 0, address, data).tolist() == expected.tolist()


def test_bpermute_gets_zero_from_inactive_lanes() -> None:
    result = lanes("ds_bpermute_b32", 0, np.zeros(64), 7 + LANES, exec_=2)
    assert result[1] == 0


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0x8000 | 0b00_01_10_11, LANES // 4 * 4 + 3 - LANES % 4),  # quad_perm 3,2,1,0
        (0x041F, LANES ^ 1),  # and 31, or 0, xor 1
        (0x0010, LANES & ~0xF),  # and 16
        (0xC000 | 3 << 5, LANES // 32 * 32 + (LANES + 3) % 32),  # rotate by 3
        (0xC400 | 3 << 5 | 0x18, LANES // 8 * 8 + (LANES - 3) % 8),  # the other way within groups of 8
        (0xE01F, LANES),
    ],
)
def test_swizzle_patterns(offset: int, expected: np.ndarray) -> None:
    assert lanes("ds_swizzle_b32", offset, LANES).tolist() == expected.tolist()


def test_swizzle_fft_reverses_lane_bits() -> None:
    # the table of the manual, counted from 0
    assert lanes("ds_swizzle_b32", 0xE000, LANES)[:6].tolist() == [0, 16, 8, 24, 4, 20]
    assert lanes("ds_swizzle_b32", 0xE010, LANES)[14:19].tolist() == [7, 15, 16, 24, 20]


@pytest.mark.parametrize("name", ["global_load_dwordx3", "global_load_b96", "buffer_load_dwordx3", "ds_read_b96"])
def test_registers_of_a_load(name: str) -> None:
    assert memory(name).dwords == 3


def test_two_place_ds_instructions_state_their_unit() -> None:
    record = memory("ds_read2st64_b64")
    assert (record.count, record.bits, record.spacing, record.dwords) == (2, 64, 512, 4)


def test_instructions_of_one_target_only() -> None:
    assert find("global_load_lds_dwordx4", "gfx942") is None
    assert memory("global_load_lds_dwordx4", "gfx950").to_lds
    assert find("buffer_atomic_pk_add_bf16", "gfx942") is None
