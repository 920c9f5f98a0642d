"""Wait counters: which a target has, in a fixed order that the machine's queues and the checks share."""

from __future__ import annotations

from antiphase.isa._record import Memory

COUNTERS: dict[str, tuple[str, ...]] = {
    "gfx9": ("vmcnt", "lgkmcnt"),
    "gfx11": ("vmcnt", "lgkmcnt", "vscnt"),
    "gfx12": ("loadcnt", "dscnt", "storecnt", "kmcnt"),
    "gfx1250": ("loadcnt", "dscnt", "storecnt", "kmcnt", "asynccnt", "tensorcnt"),
}
"""Counters of compute operations by encoding generation, as the ISA spells them."""

_GFX12 = {"load": "loadcnt", "store": "storecnt", "lds": "dscnt", "scalar": "kmcnt"}
_CLASSES = {
    "gfx9": {"load": "vmcnt", "store": "vmcnt", "lds": "lgkmcnt", "scalar": "lgkmcnt"},
    "gfx11": {"load": "vmcnt", "store": "vscnt", "lds": "lgkmcnt", "scalar": "lgkmcnt"},
    "gfx12": _GFX12,
    "gfx1250": _GFX12,
}


def generation(target: str) -> str:
    """The encoding generation of a processor name: 'gfx9', 'gfx11', 'gfx12' or 'gfx1250'."""
    if target.startswith("gfx125"):
        return "gfx1250"
    return target[:5] if target.startswith("gfx1") else "gfx9"


def counters(record: Memory, target: str, returns: bool = True) -> tuple[str, ...]:
    """The counters a memory instruction counts on, the one its result waits for first; () for one that has none.

    returns: whether an atomic gives back the old value. A FLAT instruction counts on two: lanes that turn out to
    access LDS complete by the second.
    Sources: LLVM SIInsertWaitcnts, AMDGPUUsage memory models, AMD ISA manuals (facts: counters, section 1). expcnt is
    not among COUNTERS: only LDS direct loads use it in compute kernels.
    """
    classes = _CLASSES[generation(target)]
    if record.access == "cache":
        return _cache_counters(record.name, classes)
    if record.space == "tensor":
        return ("tensorcnt",)
    if record.space == "direct":
        return ("expcnt",)
    if record.asynchronous:
        return ("asynccnt",)
    if record.space in ("ds", "smem"):
        return (classes["lds" if record.space == "ds" else "scalar"],)
    stores = record.access == "store" or (record.access == "atomic" and not returns)
    vector = classes["store" if stores else "load"]
    return (vector, classes["lds"]) if record.space == "flat" else (vector,)


def _cache_counters(name: str, classes: dict[str, str]) -> tuple[str, ...]:
    """LLVM counts the invalidation and write-back of GFX12 and no other; the manual counts s_dcache_discard."""
    if name.startswith("s_dcache_discard"):
        return (classes["scalar"],)
    if name == "global_inv":
        return (classes["load"],)
    return (classes["store"],) if name in ("global_wb", "global_wbinv") else ()
