"""MODE set from a register, as llvm.set.rounding and llvm.set.fpenv are compiled: what follows from the text is used,
what does not is held against what the kernel began with."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel

from antiphase.errors import Unsupported
from antiphase.machine.control._known_modes import KnownModes, with_known_modes

BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])
TINY = 2.0**-40
NEAREST, UP, DOWN, ZERO = range(4)
TO_AMD = {0: ZERO, 1: NEAREST, 2: UP, 3: DOWN}
"""llvm.set.rounding's numbers."""


def sums(mode: int) -> tuple[float, float]:
    """1 + tiny and -1 - tiny in a rounding mode."""
    above, below = np.nextafter(np.float32(1), np.float32(2)), np.nextafter(np.float32(-1), np.float32(-2))
    return float(above if mode == UP else 1), float(below if mode == DOWN else -1)


def add(k: Snippet | Kernel) -> None:
    k(f"v_mov_b32 v10, 1.0\nv_mov_b32 v11, {np.float32(TINY).view(np.uint32):#x}")
    k("v_add_f32 v12, v10, v11\nv_sub_f32 v13, -v10, v11")
    k.keep("v12", "v13")


def kept_sums(kept: np.ndarray) -> list[tuple[float, float]]:
    values = np.asarray(kept)[:, 0].view(np.float32)
    return [(float(a), float(b)) for a, b in zip(values[::2], values[1::2], strict=True)]


def put_back(k: Snippet, wanted: int) -> None:
    """llvm.get.rounding, llvm.set.rounding with a constant, then with what was read: LLVM 22 for gfx942."""
    k("""s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 4)
         s_lshl_b32 s22, s20, 2
         s_mov_b32 s20, 0xeb24da71
         s_mov_b32 s21, 0xc96f385
         s_lshr_b64 s[20:21], s[20:21], s22
         s_and_b32 s20, s20, 15
         s_add_i32 s21, s20, 4
         s_cmp_lt_u32 s20, 4
         s_cselect_b32 s20, s20, s21""")
    k(f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), {wanted | wanted << 2:#x}")
    add(k)
    from_table(k, "s20")
    add(k)


def from_table(k: Snippet, source: str) -> None:
    """llvm.set.rounding of a register."""
    k(f"""s_add_i32 s24, {source}, -4
          s_min_u32 s24, {source}, s24
          s_lshl_b32 s24, s24, 2
          s_mov_b32 s26, 0x1c84a50f
          s_mov_b32 s27, 0xb73e62d9
          s_lshr_b64 s[26:27], s[26:27], s24
          s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s26""")


@BOTH_MODES
@pytest.mark.parametrize("begins", [NEAREST, UP, DOWN, ZERO])
@pytest.mark.parametrize("wanted", [NEAREST, UP, DOWN, ZERO])
def test_a_rounding_mode_is_put_back(begins: int, wanted: int, record: bool) -> None:
    k = Snippet(descriptor={"float_round_mode_32": begins, "float_round_mode_16_64": begins})
    put_back(k, wanted)
    known = with_known_modes(k.program().kernel(), "gfx942")
    assert not known.assumed
    kept = k.run(record=record)
    assert kept_sums(kept.rows[0]) == [sums(wanted), sums(begins)]


@pytest.mark.parametrize("number", TO_AMD)
def test_a_mode_out_of_a_table_with_a_constant_index(number: int) -> None:
    k = Snippet()
    k(f"s_movk_i32 s20, {number}")
    from_table(k, "s20")
    add(k)
    assert kept_sums(k.run().rows[0]) == [sums(TO_AMD[number])]


@pytest.mark.parametrize("number", TO_AMD)
def test_a_mode_that_no_one_knows_before_is_the_first_one_or_an_error(number: int) -> None:
    k = Snippet(inputs=1)
    k("s_load_dword s20, s[10:11], 0x0\ns_waitcnt lgkmcnt(0)")
    from_table(k, "s20")
    add(k)
    array = np.array([number], np.uint32)
    if TO_AMD[number] == NEAREST:
        assert kept_sums(k.run(array).rows[0]) == [sums(NEAREST)]
    else:
        with pytest.raises(Unsupported, match="MODE set to a value that is known only here"):
            k.run(array)


@BOTH_MODES
def test_a_mode_spilled_to_a_vector_register_is_checked_as_it_comes_back(record: bool) -> None:
    k = Snippet()
    k("s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 23)\nv_writelane_b32 v20, s20, 3\ns_mov_b32 s20, 0")
    k("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5")
    add(k)
    k("v_readlane_b32 s21, v20, 3\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 23), s21")
    add(k)
    known = with_known_modes(k.program().kernel(), "gfx942")
    assert len(known.assumed) == 1
    assert kept_sums(k.run(record=record).rows[0]) == [sums(UP), sums(NEAREST)]


@BOTH_MODES
@pytest.mark.parametrize("target", ["gfx1100", "gfx1201", "gfx1250"])
def test_mode_saved_and_put_back_whole(target: str, record: bool) -> None:
    name = "HW_REG_MODE" if target == "gfx1100" else "HW_REG_WAVE_MODE"
    k = Kernel(target, descriptor={"float_round_mode_32": 2})
    k(f"s_getreg_b32 s20, hwreg({name}, 0, 23)\ns_round_mode 0x5")
    add(k)
    k(f"s_setreg_b32 hwreg({name}, 0, 23), s20")
    add(k)
    assert kept_sums(k.run(record=record).rows) == [sums(UP), sums(DOWN)]


def test_what_two_paths_leave_alike_is_known_and_what_they_do_not_is_not() -> None:
    k = Snippet()
    k("""s_mov_b32 s20, 1
         s_mov_b32 s21, 1
         s_cmp_eq_u32 s2, 0
         s_cbranch_scc1 .Lskip
         s_mov_b32 s21, 0
         .Lskip:
         s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s20""")
    add(k)
    k("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s21")
    k.keep("s21")
    program = k.program()
    known = with_known_modes(program.kernel(), "gfx942")
    settings = [i for i, one in enumerate(program.kernel().instructions) if one.mnemonic == "s_setreg_b32"]
    assert list(known.assumed) == settings[1:]
    with pytest.raises(Unsupported, match="known only here"):
        k.run()


def test_a_loop_that_changes_a_register_does_not_make_it_known() -> None:
    k = Snippet()
    k("""s_mov_b32 s20, 0
         s_mov_b32 s22, 0
         .Lagain:
         s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s20
         s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s22
         s_add_u32 s20, s20, 4
         s_cmp_lt_u32 s20, 12
         s_cbranch_scc1 .Lagain""")
    k.keep("s20")
    kernel = k.program().kernel()
    settings = [i for i, one in enumerate(kernel.instructions) if one.mnemonic == "s_setreg_b32"]
    assert list(with_known_modes(kernel, "gfx942").assumed) == settings[:1]
    # its low bits are the first mode's each time round
    assert (k.run()[0] == 12).all()


@pytest.mark.parametrize(
    "line",
    ["s_load_dword s20, s[10:11], 0x0\ns_waitcnt lgkmcnt(0)", "v_readfirstlane_b32 s20, v2", "s_getpc_b64 s[20:21]",
     "v_cmp_eq_u32 s[20:21], v0, v0", "s_getreg_b32 s20, hwreg(HW_REG_HW_ID)", "s_movreld_b32 s19, s21"],
)  # fmt: skip
def test_what_writes_a_register_makes_it_unknown(line: str) -> None:
    k = Snippet(inputs=1)
    k(f"s_mov_b32 s20, 0\ns_mov_b32 m0, 1\n{line}\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s20")
    assert len(with_known_modes(k.program().kernel(), "gfx942").assumed) == 1


def test_a_kernel_without_such_a_setting_is_left_alone() -> None:
    k = Snippet()
    k("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 1")
    kernel = k.program().kernel()
    assert with_known_modes(kernel, "gfx942") == KnownModes(kernel, {})
