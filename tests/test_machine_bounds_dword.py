"""Atomics on the dword that holds an array's last or first bytes: only narrower atomics may, and what lies beside the
array stays as it is."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from corpus import CASES

import antiphase
from antiphase.machine import Execution

BESIDE = 0xA5
"""What the bytes beside an array hold."""
WHOLE = (
    "add", "sub", "smin", "umin", "smax", "umax", "inc", "dec", "swap", "add_f32",
)  # fmt: skip
"""Atomics of a dword of which nothing narrower is made."""


def page() -> np.ndarray:
    """Bytes for an array to lie among; the first at a multiple of 16."""
    raw = np.full(256 + 16, BESIDE, np.uint8)
    start = -raw.ctypes.data % 16
    return raw[start : start + 256]


def array(bytes_: np.ndarray, start: int, end: int) -> np.ndarray:
    """Those of the bytes as an array of their own: what a kernel is given of a view is all that it views."""
    return np.frombuffer(bytes_.data[start:end], np.uint8)


def only(k: Snippet, data: np.ndarray, record: bool = False) -> Execution:
    """Run a body in lane 0 with v6 = 0."""
    body = Snippet(inputs=1, lines=["s_mov_b64 exec, 1", "v_mov_b32 v6, 0", *k.lines], kept=0)
    return body.run(data, record=record).execution


def found(execution: Execution, data: np.ndarray) -> list[tuple[str, int, int]]:
    """(kind, offset in the array, size) of each fault."""
    return [(f.kind, f.address - data.ctypes.data, f.size) for f in execution.faults]


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("rest", [1, 2, 3])
def test_a_whole_dword_that_ends_beyond_the_array_is_a_fault_and_changes_nothing(rest: int, record: bool) -> None:
    k = Snippet()
    k("v_mov_b32 v7, -1\nv_mov_b32 v8, 0x3f800000")
    for name in WHOLE:
        k(f"global_atomic_{name} v6, {'v8' if 'f32' in name else 'v7'}, s[10:11] offset:8")
    bytes_ = page()
    data = array(bytes_, 16, 24 + rest)
    data[:] = 0
    execution = only(k, data, record)
    assert found(execution, data) == [("write", 8, 4)] * len(WHOLE)
    assert not data.any() and (np.delete(bytes_, np.s_[16 : 24 + rest]) == BESIDE).all()


def test_flat_and_buffer_atomics_have_the_same_end() -> None:
    k = Snippet()
    k("v_mov_b32 v7, -1\nv_mov_b32 v4, s10\nv_mov_b32 v5, s11\nflat_atomic_add v[4:5], v7 offset:8")
    k("s_mov_b64 s[16:17], s[10:11]\ns_movk_i32 s18, 0x80\ns_mov_b32 s19, 0x00020000")
    k("buffer_atomic_add v7, v6, s[16:19], 0 offen offset:8")
    bytes_ = page()
    data = array(bytes_, 16, 26)
    execution = only(k, data)
    assert found(execution, data) == [("write", 8, 4)] * 2 and (bytes_ == BESIDE).all()


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("cut", [0, 2], ids=["last half", "first half"])
def test_atomics_on_a_half_leave_the_other_half(cut: int, record: bool) -> None:
    """As LLVM makes them: bitwise ones with a mask, and a load with compare-and-swap for all others."""
    k = Snippet()
    shift, outside = 8 * cut, 0xA5A5 << (16 - 8 * cut)
    k(f"s_and_b32 s10, s10, -4\nv_mov_b32 v7, {0x0A << shift:#x}\nglobal_atomic_or v6, v7, s[10:11]")
    k(f"v_mov_b32 v7, {0xFFFFFFFF ^ (0x0F << shift) | (0x08 << shift):#x}\nglobal_atomic_and v6, v7, s[10:11]")
    k(f"v_mov_b32 v7, {0x101 << shift:#x}\nglobal_atomic_xor v6, v7, s[10:11]")
    k(f"global_load_dword v9, v6, s[10:11]\nv_mov_b32 v10, {0x1000 << shift:#x}\ns_waitcnt vmcnt(0)")
    k("v_xor_b32 v8, v9, v10\nglobal_atomic_cmpswap v6, v[8:9], s[10:11]")
    k(f"v_xor_b32 v11, {outside:#x}, v10\nglobal_atomic_pk_add_f16 v6, v12, s[10:11]")
    k.lines.insert(-1, f"v_mov_b32 v12, {0x3C00 << shift | 0x8000 << (16 - shift):#x}")
    bytes_ = page()
    data = array(bytes_, 16 + cut, 18 + cut)
    data.view(np.uint16)[0] = 0
    execution = only(k, data, record)
    bits = np.array([(0x0A & ~0x0F | 0x08) ^ 0x101 ^ 0x1000], np.uint16)
    assert found(execution, data) == []
    assert data.view(np.float16)[0] == (bits.view(np.float16) + np.float16(1))[0]
    assert (np.delete(bytes_, np.s_[16 + cut : 18 + cut]) == BESIDE).all()


def test_adding_zero_to_what_lies_beside_leaves_even_minus_zero() -> None:
    k = Snippet()
    k("v_mov_b32 v7, 0x3c00\nglobal_atomic_pk_add_f16 v6, v7, s[10:11]")
    bytes_ = page()
    halves = bytes_.view(np.float16)
    halves[:2] = 1, -0.0
    execution = only(k, array(bytes_, 0, 2))
    assert not execution.faults and halves[:2].tolist() == [2, 0] and np.signbit(halves[1])


@pytest.mark.parametrize(
    "lines",
    [
        "v_mov_b32 v7, 0x20000\nglobal_atomic_or v6, v7, s[10:11] offset:8",
        "v_mov_b32 v7, 0xffff\nglobal_atomic_and v6, v7, s[10:11] offset:8",
        "v_mov_b32 v7, 1.0\nglobal_atomic_pk_add_f16 v6, v7, s[10:11] offset:8",
        "v_mov_b32 v9, 0xa5a50000\nv_mov_b32 v8, 0xa5a60000\nglobal_atomic_cmpswap v6, v[8:9], s[10:11] offset:8",
    ],
)
def test_one_that_would_change_what_lies_beside_is_a_fault(lines: str) -> None:
    k = Snippet()
    k(lines)
    bytes_ = page()
    data = array(bytes_, 16, 26)
    data[:] = 0
    execution = only(k, data)
    assert found(execution, data) == [("write", 8, 4)]
    assert not data.any() and (np.delete(bytes_, np.s_[16:26]) == BESIDE).all()


def test_a_compare_that_fails_changes_nothing_beside() -> None:
    k = Snippet()
    k("v_mov_b32 v9, 7\nv_mov_b32 v8, -1\nglobal_atomic_cmpswap v10, v6, v[8:9], s[10:11] offset:8 sc0")
    bytes_ = page()
    assert not only(k, array(bytes_, 16, 26)).faults and (bytes_ == BESIDE).all()


def test_wider_atomics_and_what_two_arrays_share() -> None:
    """64 bits have no such end; two arrays side by side are one dword that may be written."""
    k = Snippet(inputs=2)
    k("s_mov_b64 exec, 1\nv_mov_b32 v6, 0\nv_mov_b32 v8, -1\nv_mov_b32 v9, -1")
    k("global_atomic_or_x2 v6, v[8:9], s[10:11] offset:8\nglobal_atomic_or v6, v8, s[10:11] offset:8")
    bytes_ = page()
    first, second = array(bytes_, 16, 26), array(bytes_, 26, 30)
    execution = k.run(first, second).execution
    assert found(execution, first) == [("write", 8, 8)]
    assert (bytes_[24:28] == 0xFF).all() and (np.delete(bytes_, np.s_[24:28]) == BESIDE).all()


def test_loads_reach_to_the_end_of_a_dword_only_beside_such_atomics() -> None:
    k = Snippet()
    k("global_load_dword v9, v6, s[10:11] offset:8\nglobal_load_dword v9, v6, s[10:11] offset:7")
    data = array(page(), 16, 26)
    assert found(only(k, data), data) == [("read", 8, 4), ("read", 7, 4)]
    k("v_mov_b32 v7, 0\nglobal_atomic_or v6, v7, s[10:11]")
    assert found(only(k, data), data) == [("read", 7, 4)], "an address that is no multiple of 4 is no such loop"


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1200"])
@pytest.mark.parametrize("name", ["atomic_add_fp16", "atomic_add_bf16"])
def test_halves_that_triton_adds_at_both_ends_of_an_array(name: str, target: str) -> None:
    """Both ends share their dword with bytes that are not the array's."""
    case = next(c for c in CASES if c.name == name)
    compiled = case.compile(target)
    x, index, out, n = case.inputs()
    before = out.copy()
    bytes_ = page()
    assert len(out) % 2, "an even number of halves would end with a dword"
    for first in (0, 2):
        end = first + out.nbytes
        among = array(bytes_, first, end).view(out.dtype)
        among[:] = before
        execution = antiphase.launch(compiled, grid=case.grid, args=[x, index, among, n])
        case.check([x, index, before, n], [x, index, among, n])
        assert execution.fault_count == 0 and (bytes_[end:] == BESIDE).all() and (bytes_[:first] == BESIDE).all()
        bytes_[:] = BESIDE
