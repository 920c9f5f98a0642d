"""`init` of a program: registers that no path from the entry writes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from _asm import DESCRIPTOR
from _checked import text

from antiphase import asm
from antiphase.checks import check_program


def found(
    body: str, target: str = "gfx942", lanes: int = 64, descriptor: Mapping[str, int] = {}
) -> list[tuple[int, tuple[str, ...]]]:
    """(instruction, registers) of the findings; s[0:1] hold the arguments, s2 to s4 the workgroup ids."""
    values = {**DESCRIPTOR, **descriptor}
    if target != "gfx942":
        values.pop("accum_offset")
    lines = "\n".join(f".amdhsa_{name} {value}" for name, value in values.items())
    made = text(body, target, wavefront_size=lanes).replace("\n\n.end_amdhsa_kernel", f"\n{lines}\n.end_amdhsa_kernel")
    part = check_program(asm.parse(made, "k.s"), ["init"])
    assert part.ran == ("init",)
    return [(f.sites[0].instruction, f.facts["registers"]) for f in part.checked.findings]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("body", "registers"),
    [
        ("v_mov_b32 v1, v2", ("v2",)),
        ("s_mov_b32 s9, s8", ("s8",)),
        ("v_accvgpr_read_b32 v1, a3", ("a3",)),
        ("s_cselect_b32 s9, s0, s1", ("scc",)),
        ("s_cbranch_vccz .Lend\n.Lend:", ("vcc",)),
        ("v_fmac_f32 v1, v0, v0", ("v1",)),
        ("v_mfma_f32_16x16x4_f32 v[4:7], v0, v0, v[4:7]", ("v4", "v5", "v6", "v7")),
        ("global_load_dword v1, v[8:9], off", ("v8", "v9")),
        # of an address all parts matter
        ("v_mov_b32 v8, 0\nglobal_load_dword v1, v[8:9], off", ("v9",)),
        ("s_mov_b32 s8, 0\ns_load_dword s4, s[8:9], 0x0", ("s9",)),
        # and so they do of a matrix: A, B and C
        ("v_mov_b32 v4, 0\nv_mfma_f32_16x16x4_f32 v[4:7], v0, v0, v[4:7]", ("v5", "v6", "v7")),
        ("v_mov_b64 v[2:3], 0\nv_mov_b32 v9, 0\nv_mfma_f32_16x16x16_f16 v[4:7], v[8:9], v[2:3], 0", ("v8",)),
        ("v_mov_b64 v[2:3], 0\nv_mov_b32 v9, 0\nv_mfma_f32_16x16x16_f16 a[4:7], v[2:3], v[8:9], 0", ("v8",)),
        ("global_store_dword v0, v5, s[0:1]", ("v5",)),
        ("buffer_load_dword v0, s[0:3], 0 offen lds", ("m0",)),
        ("s_mov_b32 s8, s2\ns_mov_b32 s8, s5", ("s5",)),
    ],
)
def test_what_nothing_has_written(body: str, registers: tuple[str, ...]) -> None:
    assert found(body) == [(body.count("\n") - body.count(".Lend:"), registers)]


@pytest.mark.parametrize(
    "body",
    [
        # what a wave starts with
        "v_mov_b32 v1, v0\ns_mov_b32 s8, s0\ns_mov_b32 s9, s4\ns_mov_b64 s[6:7], exec",
        # under some EXEC, or in one lane
        "s_mov_b64 exec, 1\nv_mov_b32 v1, 0\ns_mov_b64 exec, -1\nv_mov_b32 v2, v1",
        "v_writelane_b32 v9, s0, 0\nv_readlane_b32 s8, v9, 0",
        # on one path
        "s_cmp_eq_u32 s0, 0\ns_cbranch_scc1 .Lskip\nv_mov_b32 v1, 0\n.Lskip:\nv_mov_b32 v2, v1",
        # later, and then round the loop
        "s_cmp_eq_u32 s0, 0\n.Lloop:\nv_mov_b32 v2, v1\nv_mov_b32 v1, 0\ns_cbranch_scc1 .Lloop",
        # zero whatever was there
        "v_xor_b32 v1, v1, v1\nv_mov_b32 v2, v1",
        # half of a register, and part of an operand that is no address
        "global_load_short_d16 v2, v0, s[0:1]\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
        "v_mov_b32 v4, 0\nv_pk_mul_f32 v[6:7], v[4:5], v[4:5]",
        # a result that shares a register with a source that may be left open
        "v_mov_b32 v4, 0\nv_mad_u64_u32 v[6:7], s[8:9], v4, v4, v[4:5]",
        # one read is enough
        "s_mov_b32 s9, 0\ns_mov_b32 s8, s9\ns_mov_b32 s7, s9",
        # what the callee writes
        "s_getpc_b64 s[8:9]\ns_swappc_b64 s[30:31], s[8:9]\nv_mov_b32 v1, v77",
        # code that nothing reaches
        "s_endpgm\nv_mov_b32 v1, v2",
    ],
)
def test_what_may_have_been_written(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize(
    ("target", "body", "read"),
    [
        ("gfx942", "ds_append v1", True),
        ("gfx942", "ds_read_addtid_b32 v1", True),
        ("gfx942", "global_load_lds_dword v0, s[0:1]", True),
        ("gfx942", "global_load_dword v1, v0, s[0:1]", False),
        ("gfx942", "ds_read_b32 v1, v0", False),
        ("gfx1250", "cluster_load_b32 v1, v0, s[0:1]", True),
        ("gfx1250", "cluster_load_async_to_lds_b32 v0, v0, s[0:1]", True),
        # these name their LDS address
        ("gfx1250", "global_load_async_to_lds_b32 v0, v0, s[0:1]", False),
        ("gfx1250", "global_store_async_from_lds_b32 v0, v0, s[0:1]", False),
        ("gfx1250", "tensor_store_from_lds s[0:3], s[4:11]", False),
    ],
)
def test_what_reads_m0(target: str, body: str, read: bool) -> None:
    lanes = 32 if target == "gfx1250" else 64
    assert found(body, target, lanes, {"user_sgpr_count": 12}) == ([(0, ("m0",))] if read else [])


def test_a_register_is_told_once() -> None:
    assert found("v_mov_b32 v1, v9\nv_mov_b32 v2, v9") == [(0, ("v9",))]


def test_the_upper_half_of_a_mask_is_not_there_in_waves_of_32() -> None:
    body = "v_cmp_eq_u32 vcc_lo, 0, v0\nv_cndmask_b32 v1, 0, v0, vcc_lo"
    assert found(body, "gfx1201", 32) == []
    assert found(body, "gfx1100", 32) == []


def test_workgroup_ids_that_the_descriptor_asks_for() -> None:
    ids = {f"system_sgpr_workgroup_id_{axis}": 0 for axis in "yz"}
    assert found("s_mov_b32 s8, s3", descriptor=ids) == [(0, ("s3",))]
    assert found("s_mov_b32 s8, s6", descriptor=ids | {"user_sgpr_count": 6}) == []
    assert found("s_mov_b32 s8, ttmp9", "gfx1201", 32) == []
