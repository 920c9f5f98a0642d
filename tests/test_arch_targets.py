"""The target records: complete, sourced, and agreeing with the compiler that the facts cite."""

from __future__ import annotations

import re

import pytest
from triton.backends.amd.compiler import compile_amdgpu, get_amd_codegen_target_triple

from antiphase import arch
from antiphase.errors import UserError

STAGED = ("gfx942", "gfx950")
LISTED = (
    "gfx1250",
    *("gfx1100", "gfx1101", "gfx1102", "gfx1103"),
    *("gfx1150", "gfx1151", "gfx1152", "gfx1153"),
    *("gfx1200", "gfx1201"),
)
ALL = STAGED + LISTED
NOT_FACTS = {"name", "generation", "facts"}


def _assembly(name: str, *, threads: int, vgprs: int = 0, agprs: int = 0, lds_bytes: int = 0) -> str:
    """What the Triton wheel's LLVM prints for a kernel that uses just these registers and this much LDS."""
    clobbers = [f"~{{v{vgprs - 1}}}"] * bool(vgprs) + [f"~{{a{agprs - 1}}}"] * bool(agprs)
    body = "".join(f'call void asm sideeffect "", "{clobber}"()\n' for clobber in clobbers)
    if lds_bytes:
        body += "store volatile i8 1, ptr addrspace(3) @lds\n"
    triple = get_amd_codegen_target_triple(name)
    text = f"""target triple = "{triple}"
@lds = internal addrspace(3) global [{lds_bytes or 1} x i8] undef
define amdgpu_kernel void @k() #0 {{
{body}ret void
}}
attributes #0 = {{ "amdgpu-flat-work-group-size"="{threads},{threads}" }}
"""
    return compile_amdgpu(
        text,
        triple,
        name,
        "",
        flags=[],
        enable_fp_fusion=True,
        disable_optimization=False,
        canonicalize_gep=False,
        disabled_passes="",
        dump_ir=False,
        enable_timing=False,
    )


def _compiler_occupancy(name: str, **resources: int) -> int:
    found = re.search(r"; Occupancy: (\d+)", _assembly(name, **resources))
    assert found is not None
    return int(found[1])


def test_the_thirteen_targets() -> None:
    assert tuple(each.name for each in arch.targets()) == ALL


@pytest.mark.parametrize("name", ALL)
def test_every_field_has_a_cited_fact(name: str) -> None:
    target = arch.target(name)
    for field in set(arch.Target.__struct_fields__) - NOT_FACTS:
        fact = target.fact(field)
        assert fact.target == name
        assert all(citation.place and citation.source.revision for citation in fact.citations)


def test_mi300x_and_mi355x_numbers() -> None:
    mi300x, mi355x = arch.target("gfx942"), arch.target("gfx950")
    assert (mi300x.lds_bytes_per_cu, mi355x.lds_bytes_per_cu) == (64 * 1024, 160 * 1024)
    assert (mi300x.fp8, mi355x.fp8) == ("FNUZ", "OCP")
    assert {counter.name: counter.largest for counter in mi300x.counters} == {
        "vmcnt": 63,
        "lgkmcnt": 15,
        "expcnt": 7,
    }


def test_the_counters_of_asynchronous_transfers_hold_63_operations() -> None:
    counters = {counter.name: counter.largest for counter in arch.target("gfx1250").counters}
    assert (counters["asynccnt"], counters["tensorcnt"], counters["xcnt"]) == (63, 63, 63)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("vgprs", [24, 68, 96, 97, 120, 128, 129, 168, 169, 200, 256])
def test_waves_per_simd_by_registers_agree_with_llvm(name: str, vgprs: int) -> None:
    target = arch.target(name)
    one_wave = target.default_wave_size
    assert target.waves_per_simd(vgprs, 0, 0, 1) == _compiler_occupancy(name, threads=one_wave, vgprs=vgprs)


@pytest.mark.parametrize("name", STAGED)
@pytest.mark.parametrize(("vgprs", "agprs"), [(4, 4), (61, 3), (100, 8), (125, 3), (128, 128), (254, 256)])
def test_agprs_share_the_register_file_as_llvm_counts_them(name: str, vgprs: int, agprs: int) -> None:
    expected = _compiler_occupancy(name, threads=64, vgprs=vgprs, agprs=agprs)
    assert arch.target(name).waves_per_simd(vgprs, agprs, 0, 1) == expected


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("lds_bytes", [10240, 20480, 40960, 64000])
def test_waves_per_simd_by_lds_agree_with_llvm(name: str, lds_bytes: int) -> None:
    target = arch.target(name)
    waves = 256 // target.default_wave_size
    expected = _compiler_occupancy(name, threads=256, lds_bytes=lds_bytes)
    assert target.waves_per_simd(8, 0, lds_bytes, waves) == expected


@pytest.mark.parametrize("name", ALL)
def test_barriers_bound_small_workgroups_as_in_llvm(name: str) -> None:
    target = arch.target(name)
    expected = _compiler_occupancy(name, threads=2 * target.default_wave_size)
    assert target.waves_per_simd(8, 0, 0, 2) == expected


def test_workgroups_come_whole_and_may_not_fit() -> None:
    mi300x = arch.target("gfx942")
    assert mi300x.waves_per_simd(240, 0, 65536, 8) == 2
    # Registers allow three waves a SIMD, twelve a compute unit; two workgroups of eight would need sixteen.
    assert mi300x.waves_per_simd(168, 0, 0, 8) == 2
    assert mi300x.waves_per_simd(8, 0, 65537, 8) == 0
    assert mi300x.waves_per_simd(256, 256, 0, 8) == 0


def test_lds_is_allocated_in_granules() -> None:
    mi355x = arch.target("gfx950")
    assert mi355x.waves_per_simd(8, 0, mi355x.lds_granule * 32, 4) == 4
    assert mi355x.waves_per_simd(8, 0, mi355x.lds_granule * 32 + 1, 4) == 3


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gfx943", "unknown target 'gfx943'; did you mean gfx942"),
        ("MI300", "unknown target 'MI300'; did you mean gfx942?"),
        ("gfx115", "unknown target 'gfx115'; did you mean gfx1150 or gfx1151 or gfx1152 or gfx1153?"),
        ("sm_90", "unknown target 'sm_90'; known targets: gfx942, gfx950"),
    ],
)
def test_an_unknown_target_names_the_nearest(name: str, expected: str) -> None:
    with pytest.raises(UserError) as caught:
        arch.target(name)
    assert str(caught.value).startswith(expected)
    assert all(each in str(caught.value) for each in ALL)
