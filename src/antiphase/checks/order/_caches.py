"""What a release and an acquisition between workgroups of one device need of the caches, by generation.

Stores that no write-back follows may stay in a cache that others do not look into; loads may find a line in a cache
that was filled before. What is itself coherent over the device, as atomics are, needs neither.
Sources: LLVM AMDGPUUsage 22.1.8, memory model sections, scope `agent`; what they leave open is SIMemoryLegalizer's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from antiphase.asm import Instruction, Kernel
from antiphase.isa import Memory, find, generation
from antiphase.machine import is_scoped

When = Literal["issue", "completion"]


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache instruction. writes_back: what the caches of its workgroup hold goes to where all of the device looks.
    beyond: it drops what is in caches that several workgroups share; nearest: in the one next to its wave."""

    writes_back: bool = False
    beyond: bool = False
    nearest: bool = False


@dataclass(frozen=True, slots=True)
class CacheModel:
    """The caches of a generation.

    write_back, invalidate: what a release and an acquisition need, as text. written: the counter that tells when the
    write-back is complete, '' where none is needed. dropped: the one of the invalidation, '' if no wait is needed.
    own, others: from when on an invalidation counts, for loads of its wave and for those of its workgroup's others.
    shared: whether all waves of a workgroup have the nearest cache in common.
    refills: loads that are outstanding at an invalidation may bring back what it drops.
    """

    write_back: tuple[str, ...]
    written: str
    invalidate: tuple[str, ...]
    dropped: str
    own: When
    others: When
    shared: bool = True
    refills: bool = False


_DEVICE = Cache(beyond=True, nearest=True)
_MODELS = {
    # buffer_inv keeps its place among the memory operations of its wave; the CU's waves share a queue to the cache
    "gfx9": CacheModel(("buffer_wbl2 sc1",), "vmcnt", ("buffer_inv sc1",), "", "issue", "issue"),
    # stores report completion from L2, which all of the device shares; the outer cache goes first, and
    # SIInsertWaitcnts waits for all loads before either
    "gfx11": CacheModel((), "", ("buffer_gl1_inv", "buffer_gl0_inv"), "", "issue", "issue", refills=True),
    "gfx12": CacheModel((), "", ("global_inv scope:SCOPE_DEV",), "loadcnt", "issue", "completion"),
    # a device may have several L2; the wait behind global_inv is llvm#175865, and AMDGPUUsage does not have it
    "gfx1250": CacheModel(
        ("global_wb scope:SCOPE_DEV",), "storecnt", ("global_inv scope:SCOPE_DEV",), "loadcnt", "completion",
        "completion",
    ),
}  # fmt: skip
_SPLIT = {"gfx9": "tg_split", "gfx11": "workgroup_processor_mode", "gfx12": "workgroup_processor_mode"}
"""What the descriptor says where waves of a workgroup may run on compute units with caches of their own."""


def cache_model(kernel: Kernel, target: str) -> CacheModel:
    """The caches that a kernel runs with. WGP mode is what LLVM assumes on RDNA, and threadgroup split is not."""
    which = generation(target)
    split = kernel.descriptor.get(_SPLIT.get(which, ""), int(which in ("gfx11", "gfx12")))
    return replace(_MODELS[which], shared=not split)


def caches(kernel: Kernel, target: str) -> Mapping[int, Cache]:
    """The cache instructions of a kernel that bear on what workgroups share, by instruction."""
    each = ((i, _cache(instruction, target)) for i, instruction in enumerate(kernel.instructions))
    return {i: cache for i, cache in each if cache is not None}


def _cache(instruction: Instruction, target: str) -> Cache | None:
    record = find(instruction.mnemonic, target)
    if not isinstance(record, Memory) or record.access != "cache":
        return None
    wide = is_scoped(instruction, target)
    match record.name:
        case "buffer_gl1_inv":
            return Cache(beyond=True)
        case "buffer_gl0_inv":
            return Cache(nearest=True)
        case "buffer_inv" | "global_inv":
            return _DEVICE if wide else Cache(nearest=True)
        case "buffer_wbl2" | "global_wb":
            return Cache(writes_back=True) if wide else None
        case "global_wbinv":
            return Cache(True, True, True) if wide else None
    return None
