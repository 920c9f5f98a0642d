"""A target: the numbers the rest of antiphase computes with, each backed by a fact."""

from __future__ import annotations

from typing import Literal

import msgspec

from antiphase.arch._facts import Fact


class Counter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wait counter. bits: width of the field that a wait instruction tests."""

    name: str
    bits: int

    @property
    def largest(self) -> int:
        """The all-ones value, which asks for no wait."""
        return 2**self.bits - 1


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One GPU target.

    "Compute unit" (CU) is the block whose SIMDs and LDS the waves of one workgroup share: a CU on CDNA, a
    workgroup processor on RDNA in WGP mode. Registers are counted a lane, 32 bits each, at the default wave
    size.

    name, generation, products: "gfx942", "CDNA 3", examples of products.
    wave_sizes, default_wave_size: lanes a wave.
    simds_per_cu, max_waves_per_simd: SIMDs a compute unit, wave slots a SIMD.
    max_workgroups_per_cu: resident workgroups of two waves or more, bounded by barriers.
    barrier: "combined" (s_barrier arrives and waits) or "split" (s_barrier_signal, then s_barrier_wait).
    vgprs_per_simd: the register file that resident waves share; on targets with AGPRs it holds both kinds.
    vgpr_granule: registers a wave's allocation is rounded up to.
    max_vgprs, max_agprs, max_sgprs: registers one wave can address (max_agprs is 0 where there are none).
    lds_bytes_per_cu, max_lds_bytes: LDS of a compute unit, and what one workgroup can address of it.
    lds_granule, lds_banks: bytes a workgroup's LDS is rounded up to; banks, 4 bytes wide.
    counters: the wait counters.
    fp8: interpretation of 8-bit floats by its instructions: "FNUZ", "OCP" or "none".
    facts: the facts behind the fields above, by field name.
    """

    name: str
    generation: str
    products: tuple[str, ...]
    wave_sizes: tuple[int, ...]
    default_wave_size: int
    simds_per_cu: int
    max_waves_per_simd: int
    max_workgroups_per_cu: int
    barrier: Literal["combined", "split"]
    vgprs_per_simd: int
    vgpr_granule: int
    max_vgprs: int
    max_agprs: int
    max_sgprs: int
    lds_bytes_per_cu: int
    max_lds_bytes: int
    lds_granule: int
    lds_banks: int
    counters: tuple[Counter, ...]
    fp8: Literal["FNUZ", "OCP", "none"]
    facts: dict[str, Fact]

    def __repr__(self) -> str:
        return f"<Target {self.name} generation={self.generation!r}>"

    @property
    def has_agprs(self) -> bool:
        """Whether the target has accumulation registers beside its VGPRs."""
        return self.max_agprs > 0

    def fact(self, about: str) -> Fact:
        """The fact behind a field. Raises KeyError for a name that no fact is about."""
        return self.facts[about]

    def waves_per_simd(self, vgprs: int, agprs: int, lds_bytes: int, waves_per_workgroup: int) -> int:
        """Waves resident on the fullest SIMD when a compute unit holds as many such workgroups as fit.

        vgprs, agprs: registers a lane of one wave. lds_bytes: of one workgroup.
        Returns 0 if not even one workgroup fits.

        With AGPRs both kinds share one file: total = vgprs rounded up to 4, plus agprs. The total, rounded up
        to the granule, bounds the waves that a SIMD's file can hold; LDS, wave slots and barriers bound the
        workgroups of a compute unit; workgroups come whole. SGPRs are not counted: they matter only at the
        last of the eight wave slots of CDNA 3 and CDNA 4.
        Source: LLVM AMDGPUBaseInfo.cpp, getNumWavesPerEUWithNumVGPRs and getMaxWorkGroupsPerCU (revision in
        the facts about `vgpr_granule` and `max_workgroups_per_cu`). The Occupancy comment that LLVM prints
        does not round to whole workgroups and can be larger.
        """
        total = _round_up(vgprs, 4) + agprs if agprs else vgprs
        allocated = _round_up(max(total, 1), self.vgpr_granule)
        slots_per_simd = min(self.max_waves_per_simd, self.vgprs_per_simd // allocated)
        workgroups = slots_per_simd * self.simds_per_cu // waves_per_workgroup
        if waves_per_workgroup > 1:
            workgroups = min(workgroups, self.max_workgroups_per_cu)
        if lds_bytes:
            workgroups = min(workgroups, self.lds_bytes_per_cu // _round_up(lds_bytes, self.lds_granule))
        return -(-workgroups * waves_per_workgroup // self.simds_per_cu)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
