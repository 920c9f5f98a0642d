"""s_set_vgpr_msb of gfx1250: which 256 VGPRs each operand of the following instructions means."""

import numpy as np
import pytest
from _memory_kernels import Kernel

from antiphase.errors import Unsupported

LANES = np.arange(32)
BOTH_MODES = pytest.mark.parametrize("record", [False, True], ids=["fast", "recording"])


def kernel(inputs: int = 0) -> Kernel:
    return Kernel("gfx1250", inputs=inputs, descriptor={"next_free_vgpr": 1024})


def msb(dst: int = 0, src0: int = 0, src1: int = 0, src2: int = 0, before: int = 0) -> str:
    return f"s_set_vgpr_msb {before << 8 | dst << 6 | src2 << 4 | src1 << 2 | src0:#x}"


def test_results_and_sources_have_banks_of_their_own() -> None:
    """Bits 1:0 src0, 3:2 src1, 5:4 src2, 7:6 dst; the high byte is the last setting (LLVM AMDGPULowerVGPREncoding)."""
    k = kernel()
    for bank in range(4):
        k(f"{msb(dst=bank)}\nv_mov_b32 v2, {bank + 1}")
    k(f"{msb(dst=3, src0=1, src1=2, src2=3, before=0xC0)}\nv_mad_u32 v9, v2, v2, v2\n{msb(src0=3)}\nv_mov_b32 v5, v9")
    k(msb()).keep("v2", "v5")
    assert k.run().rows[:, 0].tolist() == [1, 2 * 3 + 4]


def test_a_negated_source_and_an_accumulator_are_raised_too() -> None:
    k = kernel()(f"{msb(dst=1)}\nv_mov_b32 v2, 1.0\nv_mov_b32 v3, 2.0\n{msb(dst=1, src0=1, src1=1)}")
    k(f"v_fmac_f32 v3, -v2, v2\n{msb(src0=1)}\nv_mov_b32 v4, v3\n{msb()}").keep("v4")
    assert k.run().rows[0].view(np.float32).tolist() == [1.0] * 32


def test_both_halves_of_a_dual_issue_instruction_have_the_banks_of_their_positions() -> None:
    k = kernel()(f"{msb(dst=2)}\nv_mov_b32 v2, 5\nv_mov_b32 v3, 6\n{msb(dst=1, src0=2)}")
    k(f"v_dual_mov_b32 v4, v2 :: v_dual_mov_b32 v5, v3\n{msb(src0=1)}\nv_dual_mov_b32 v6, v4 :: v_dual_mov_b32 v7, v5")
    k(msb()).keep("v6", "v7")
    assert k.run().rows[:, 0].tolist() == [5, 6]


def test_an_exchange_reads_its_second_register_as_src0() -> None:
    k = kernel()(f"{msb(dst=1)}\nv_mov_b32 v2, 5\n{msb(dst=2)}\nv_mov_b32 v2, 6")
    k(f"{msb(dst=1, src0=2)}\nv_swap_b32 v2, v2")
    k(f"{msb(src0=1)}\nv_mov_b32 v3, v2\n{msb(src0=2)}\nv_mov_b32 v4, v2\n{msb()}").keep("v3", "v4")
    assert k.run().rows[:, 0].tolist() == [6, 5]


@BOTH_MODES
def test_memory_addresses_go_with_src0_stored_data_with_src1_and_results_with_dst(record: bool) -> None:
    k = kernel(1)(f"{msb(dst=1)}\nv_mov_b32 v2, v1\n{msb(dst=2)}\nv_add_nc_u32 v3, 50, v0\n{msb(src0=1, src1=2)}")
    k(f"ds_store_b32 v2, v3\nglobal_store_b32 v2, v3, s[10:11]\n{k.wait}\n{msb(dst=3, src0=1)}")
    k(f"ds_load_b32 v4, v2\nglobal_load_b32 v5, v2, s[10:11]\n{k.wait}\n{msb(src0=3)}")
    k(f"v_mov_b32 v6, v4\nv_mov_b32 v7, v5\n{msb()}").keep("v6", "v7")
    data = np.zeros(32, np.uint32)
    rows = k.run(data, record=record).rows
    assert (rows == 50 + LANES).all() and (data == 50 + LANES).all()


def test_a_pair_of_lds_places_has_its_second_data_with_src2() -> None:
    k = kernel()(f"{msb(dst=1)}\nv_mov_b32 v2, 5\n{msb(dst=2)}\nv_mov_b32 v2, 6\n{msb(src1=1, src2=2)}")
    k(f"ds_store_2addr_b32 v1, v2, v2 offset1:32\n{msb()}\nds_load_2addr_b32 v[4:5], v1 offset1:32\n{k.wait}")
    assert k.keep("v4", "v5").run().rows[:, 0].tolist() == [5, 6]


def test_atomics_and_buffers() -> None:
    k = kernel(1)(f"{msb(dst=1)}\nv_mov_b32 v2, v1\n{msb(dst=2)}\nv_mov_b32 v3, 10\n{msb(dst=3, src0=1, src1=2)}")
    k("s_mov_b64 s[20:21], s[10:11]\ns_mov_b32 s22, 0x80\ns_mov_b32 s23, 0x30000000")
    k(f"global_atomic_add_u32 v4, v2, v3, s[10:11] th:TH_ATOMIC_RETURN\n{k.wait}\n{msb(src0=3)}\nv_mov_b32 v6, v4")
    k(msb()).keep("v6")
    data = LANES.astype(np.uint32)
    assert (k.run(data).rows[0] == LANES).all() and (data == LANES + 10).all()


def test_matrix_operands_have_the_banks_of_their_positions() -> None:
    k = kernel()
    for bank, first, count, word in ((1, 8, 8, 0x3C003C00), (2, 16, 8, 0x3C003C00), (3, 24, 8, 0x3F800000)):
        k(msb(dst=bank))
        k("\n".join(f"v_mov_b32 v{first + i}, {word:#x}" for i in range(count)))
    k(f"{msb(dst=3, src0=1, src1=2, src2=3)}\nv_wmma_f32_16x16x32_f16 v[40:47], v[8:15], v[16:23], v[24:31]")
    k(f"{msb(src0=3)}\nv_mov_b32 v2, v47\n{msb()}").keep("v2")
    assert k.run().rows[0].view(np.float32).tolist() == [33.0] * 32


def test_block_scales_are_among_the_first_256_registers() -> None:
    """AMD CDNA5 ISA 3.3.2.3 and 7.12.6.2; LLVM takes no higher register there either."""
    k = kernel()(msb(dst=1))
    k("\n".join(f"v_mov_b32 v{i}, {0 if i >= 40 else 0x38383838:#x}" for i in range(8, 48)))
    # scales of 1 above, of 2 below
    k(f"v_mov_b32 v60, 0x7f7f7f7f\nv_mov_b32 v61, 0x7f7f7f7f\n{msb()}")
    k(f"v_mov_b32 v60, 0x80808080\nv_mov_b32 v61, 0x80808080\n{msb(dst=1, src0=1, src1=1, src2=1)}")
    k("v_wmma_scale_f32_16x16x128_f8f6f4 v[48:55], v[8:23], v[24:39], v[40:47], v60, v61")
    k(f"{msb(src0=1)}\nv_mov_b32 v2, v48\n{msb()}").keep("v2")
    assert k.run().rows[0].view(np.float32).tolist() == [128.0 * 4] * 32


@pytest.mark.parametrize("field", ["", ", 0, 1", ", 4, 4", ", 12, 8"])
def test_setting_mode_sets_the_upper_bits_too(field: str) -> None:
    """MODE has dst in bits 13:12 and src0 to src2 above it (AMD CDNA5 ISA 3.4.3); the hardware takes them from there
    whatever the field (LLVM AMDGPULowerVGPREncoding)."""
    k = kernel()(f"{msb(dst=2)}\nv_mov_b32 v2, 5\n{msb(dst=3)}\nv_mov_b32 v2, 6\n{msb(dst=1)}\nv_mov_b32 v2, 7")
    mode = 0xF0 | 1 << 12 | 2 << 14 | 3 << 16
    k(f"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE{field}), {mode:#x}\nv_sub_nc_u32 v3, v2, v2")
    k(f"{msb(src0=1)}\nv_mov_b32 v4, v3\n{msb()}").keep("v4")
    assert k.run().rows[0].view(np.int32).tolist() == [-1] * 32


def test_a_setting_holds_until_the_next_one_also_around_a_loop() -> None:
    k = kernel()(f"{msb(dst=1)}\nv_mov_b32 v2, 0\ns_mov_b32 s20, 5\n{msb(dst=1, src1=1)}\n.Lagain:")
    k("v_add_nc_u32 v2, 3, v2\ns_sub_co_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .Lagain")
    k(f"{msb(src0=1)}\nv_mov_b32 v3, v2\n{msb()}").keep("v3")
    assert (k.run().rows[0] == 15).all()


def test_a_block_reached_with_two_settings_is_refused_by_its_line() -> None:
    k = kernel()(f"s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 .Lhere\n{msb(dst=1)}\n.Lhere:\nv_mov_b32 v2, 7")
    line = 1 + k.text().splitlines().index("v_mov_b32 v2, 7")
    with pytest.raises(Unsupported, match=rf"k\.s:{line}: a block is reached with two different settings"):
        k.run()


def test_a_register_beyond_those_allocated_is_refused() -> None:
    k = Kernel("gfx1250", descriptor={"next_free_vgpr": 300})(f"{msb(dst=1)}\nv_mov_b32 v60, 1\n{msb()}").keep("v2")
    with pytest.raises(Unsupported, match=r"v316 is beyond the 304 registers"):
        k.run()
