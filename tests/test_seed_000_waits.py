"""Seed 000, section 6 "Completion waits" and section 5 "Cache controls and addressing", as kernels and as text."""

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase.asm import parse_instruction
from antiphase.errors import UserError

RDNA3 = ("gfx1100", "gfx1101", "gfx1102", "gfx1103")
RDNA35 = ("gfx1150", "gfx1151", "gfx1152", "gfx1153")
RDNA4 = ("gfx1200", "gfx1201")
WORDS = np.arange(7000, 7128, dtype=np.uint32)
POISON = 0x7FC17FC1


def in_flight(target: str, wait: str) -> list[bool]:
    """Whether the first and the second load of global memory and one of LDS have arrived after a wait."""
    k = Kernel(target, inputs=1)(f"v_mov_b32 v6, 7\nds_store_b32 v1, v6\n{Kernel(target).wait}")
    k("global_load_b32 v3, v1, s[10:11]\nglobal_load_b32 v4, v1, s[10:11] offset:4\nds_load_b32 v5, v1")
    k(f"{wait}\nv_mov_b32 v7, v3\nv_mov_b32 v8, v4\nv_mov_b32 v9, v5\n{k.wait}").keep("v7", "v8", "v9")
    rows = k.run(WORDS, record=True).rows
    for row, value in zip(rows, (WORDS[:32], WORDS[1:33], 7), strict=True):
        assert (row == POISON).all() or (row == value).all()
    return [bool((row != POISON).all()) for row in rows]


GFX11_WAITS = [
    ("s_waitcnt vmcnt(0)", [True, True, False]), ("s_waitcnt vmcnt(1)", [True, False, False]),
    ("s_waitcnt lgkmcnt(0)", [False, False, True]), ("s_waitcnt vmcnt(1) lgkmcnt(0)", [True, False, True]),
    ("s_waitcnt expcnt(0)", [False, False, False]), ("s_waitcnt_vscnt null, 0", [False, False, False]),
    ("s_waitcnt 0x3f7", [True, True, False]), ("s_waitcnt 0xfc07", [False, False, True]),
    ("s_waitcnt 0xfff7", [False, False, False]), ("s_waitcnt 0", [True, True, True]),
    ("s_waitcnt_vmcnt null, 0x1", [True, False, False]), ("s_wait_idle", [True, True, True]),
    ("v_nop", [False, False, False]), ("s_nop 7", [False, False, False]), ("s_delay_alu 0", [False, False, False]),
]  # fmt: skip
GFX12_WAITS = [
    ("s_wait_loadcnt 0", [True, True, False]), ("s_wait_loadcnt 1", [True, False, False]),
    ("s_wait_dscnt 0", [False, False, True]), ("s_wait_loadcnt_dscnt 0", [True, True, True]),
    ("s_wait_loadcnt_dscnt 0x100", [True, False, True]), ("s_wait_loadcnt_dscnt 0x3f00", [False, False, True]),
    ("s_wait_loadcnt_dscnt 0x3f", [True, True, False]), ("s_wait_storecnt_dscnt 0", [False, False, True]),
    ("s_wait_storecnt 0", [False, False, False]), ("s_wait_kmcnt 0", [False, False, False]),
    ("s_waitcnt 0xffff", [True, True, True]), ("s_wait_idle", [True, True, True]),
    ("v_nop", [False, False, False]), ("s_nop 7", [False, False, False]),
]  # fmt: skip


@pytest.mark.parametrize(("wait", "arrived"), GFX11_WAITS)
def test_a_wait_of_rdna3_is_for_its_own_counter(wait: str, arrived: list[bool]) -> None:
    """Section 6, "Wait mechanism": fields and no-wait encodings, RDNA 3 ISA pp. 52-53, 214, 247; V_NOP waits for
    nothing (section 2, "WMMA spacing and operand readiness")."""
    assert in_flight("gfx1100", wait) == arrived


@pytest.mark.parametrize("target", [*RDNA3, *RDNA35])
def test_every_rdna3_and_rdna35_target_counts_as_gfx1100_does(target: str) -> None:
    """Section 6, "Global / buffer loads", "Indexed LDS operations": RDNA 3.5 ISA pp. 53-54."""
    assert in_flight(target, "s_waitcnt vmcnt(0)") == [True, True, False]
    assert in_flight(target, "s_waitcnt lgkmcnt(0)") == [False, False, True]


@pytest.mark.parametrize(("wait", "arrived"), GFX12_WAITS)
@pytest.mark.parametrize("target", RDNA4)
def test_a_wait_of_rdna4_is_for_its_own_counter(target: str, wait: str, arrived: list[bool]) -> None:
    """Section 6, "Wait mechanism": RDNA 4 ISA pp. 62-65, 287; S_WAITCNT is S_WAIT_IDLE whatever its operand, p. 281."""
    assert in_flight(target, wait) == arrived


@pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
@pytest.mark.parametrize("target", ["gfx1100", "gfx1150", "gfx1201", "gfx1250"])
def test_ds_nop_does_nothing(target: str, record: bool) -> None:
    k = Kernel(target)(f"v_mov_b32 v2, v0\nds_nop\n{Kernel(target).wait}").keep("v2")
    assert (k.run(record=record).rows[0] == np.arange(32)).all()


# -- immediate offsets ------------------------------------------------------------------------------------------

SPACES = {
    "global": "global_load_b32 v2, v1, s[10:11] offset:{}", "flat": "flat_load_b32 v2, v[4:5] offset:{}",
    "scratch": "scratch_load_b32 v2, off, off offset:{}", "ds": "ds_load_b32 v2, v1 offset:{}",
    "ds2": "ds_load_2addr_b32 v[2:3], v1 offset1:{}", "smem": "s_load_b32 s20, s[10:11], {}",
}  # fmt: skip
OLD = {"global": (-4096, 4095), "flat": (0, 4095), "scratch": (-4096, 4095), "smem": (-(1 << 20), (1 << 20) - 1)}
NEW = dict.fromkeys(("global", "flat", "scratch", "smem"), (-(1 << 23), (1 << 23) - 1))
BOTH = {"ds": (0, 65535), "ds2": (0, 255)}


@pytest.mark.parametrize("target", [*RDNA3, *RDNA35, *RDNA4, "gfx1250"])
@pytest.mark.parametrize("space", SPACES)
def test_an_offset_that_does_not_fit_its_field_is_an_error(space: str, target: str) -> None:
    """Section 5, "Immediate byte offset": 13 bits signed, FLAT unsigned, RDNA 3 ISA p. 121, RDNA 3.5 p. 123; 24 bits
    signed, RDNA 4 p. 146."""
    first, last = ((NEW if target.startswith("gfx12") else OLD) | BOTH)[space]
    for offset in (first - 1, last + 1):
        k = Kernel(target, inputs=1)(SPACES[space].format(offset))
        with pytest.raises(UserError, match="does not fit its field"):
            k.run(WORDS)
    for offset in (first, last):
        k = Kernel(target, inputs=1)("s_mov_b32 exec_lo, 0\n" + SPACES[space].format(offset))
        if space != "smem":
            assert not k.run(WORDS).execution.faults


@pytest.mark.parametrize("target", [*RDNA3, *RDNA35, *RDNA4, "gfx1250"])
def test_offsets_are_signed(target: str) -> None:
    """Section 5, "Immediate byte offset": RDNA 3 ISA p. 121, RDNA 3.5 p. 123, RDNA 4 p. 146."""
    far = 400000 if target.startswith("gfx12") else 4096
    k = Kernel(target, inputs=1)(f"v_add_nc_u32 v2, {far:#x}, v1\nglobal_load_b32 v3, v2, s[10:11] offset:{-far}")
    k(f"{k.wait}").keep("v3")
    assert (k.run(WORDS).rows[0] == WORDS[:32]).all()


# -- cache control and return control ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "global_load_b32 v0, v[2:3], off glc slc dlc",
        "global_store_b32 v[2:3], v0, off slc",
        "global_atomic_add_u32 v0, v[2:3], v4, off glc",
        "s_load_b32 s0, s[2:3], 0x0 glc dlc",
        "buffer_load_b32 v0, off, s[4:7], s8 offset:16 glc slc dlc",
        "global_load_b32 v0, v[2:3], off th:TH_LOAD_HT scope:SCOPE_SYS",
        "global_store_b32 v[2:3], v0, off th:TH_STORE_NT_RT scope:SCOPE_SE",
        "global_atomic_add_u32 v0, v[2:3], v4, off th:TH_ATOMIC_NT_RETURN scope:SCOPE_DEV",
        "global_atomic_add_u32 v[2:3], v4, off th:TH_ATOMIC_CASCADE_RT scope:SCOPE_DEV",
        "buffer_load_b32 v0, off, s[4:7], s8 offset:16 th:TH_LOAD_NT scope:SCOPE_DEV",
    ],
)
def test_cache_control_is_read_and_written_back(line: str) -> None:
    """Section 5, "Cache-control scope", "Temporal hints": RDNA 3 ISA pp. 45-46, 3.5 pp. 46-47, RDNA 4 pp. 50-51."""
    instruction = parse_instruction(line)
    assert instruction.text() == line
    words = [word for word in line.split() if word in ("glc", "slc", "dlc") or word.startswith(("th:", "scope:"))]
    assert {f"{name}:{value}" if value is not True else name for name, value in instruction.modifiers} >= set(words)


RETURNS = [
    *((t, "", False) for t in (*RDNA3, *RDNA35, *RDNA4)), *((t, "glc", True) for t in (*RDNA3, *RDNA35)),
    *((t, "slc dlc", False) for t in (*RDNA3, *RDNA35)),
    *((t, hint, "RETURN" in hint) for t in RDNA4 for hint in (
        "th:TH_ATOMIC_RETURN", "th:TH_ATOMIC_NT_RETURN", "th:TH_ATOMIC_NT", "th:TH_ATOMIC_CASCADE_RT",
    )),
]  # fmt: skip


@pytest.mark.parametrize(("target", "control", "returns"), RETURNS)
def test_an_atomic_returns_the_old_value_when_asked(target: str, control: str, returns: bool) -> None:
    """Section 5, "Atomic return control": GLC, RDNA 3 ISA p. 46, RDNA 3.5 p. 47; TH[0], RDNA 4 p. 51, TH[1] being the
    temporal hint and TH[2] the deferred scope of cascading atomics."""
    k = Kernel(target, inputs=1)("v_mov_b32 v3, 5\nv_mov_b32 v4, 99")
    k(f"global_atomic_add_u32 {'v4, ' if returns else ''}v1, v3, s[10:11] {control}\n{k.wait}").keep("v4")
    data = WORDS.copy()
    rows = k.run(data).rows
    assert (rows[0] == (WORDS[:32] if returns else 99)).all()
    assert (data[:32] == WORDS[:32] + 5).all() and (data[32:] == WORDS[32:]).all()


@pytest.mark.parametrize("target", RDNA4)
@pytest.mark.parametrize("control", ["", "th:TH_ATOMIC_RETURN"])
@pytest.mark.parametrize(
    ("kind", "one", "two", "three"), [("f16", 0x3C00, 0x4000, 0x4200), ("bf16", 0x3F80, 0x4000, 0x4040)]
)
def test_packed_atomics_of_both_formats_with_and_without_return(
    target: str, control: str, kind: str, one: int, two: int, three: int
) -> None:
    """Section 5, "Packed global atomics": RDNA 4 ISA p. 707, TH[0] p. 51."""
    k = Kernel(target, inputs=1)(f"v_mov_b32 v3, {two << 16 | one:#x}\nv_mov_b32 v4, 99")
    k(f"global_atomic_pk_add_{kind} {'v4, ' if control else ''}v1, v3, s[10:11] {control}\n{k.wait}").keep("v4")
    data = np.full(32, one << 16 | two, np.uint32)
    rows = k.run(data).rows
    assert (data == (three << 16 | three)).all() and (rows[0] == (one << 16 | two if control else 99)).all()


@pytest.mark.parametrize("target", [*RDNA3, *RDNA35])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_packed_atomics_are_not_native_before_rdna4(target: str, kind: str) -> None:
    """Section 5, "Packed global atomics": LLVM not enabled, AMD XML not listed on RDNA 3 and 3.5."""
    with pytest.raises(UserError, match="has no"):
        Kernel(target, inputs=1)(f"global_atomic_pk_add_{kind} v1, v3, s[10:11]").run(WORDS)
