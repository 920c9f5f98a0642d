"""State a wave starts with: registers as the kernel descriptor asks for them.

Source: LLVM AMDGPUUsage, "Initial Kernel Execution State" (SGPR and VGPR set-up), "Preloaded Kernel Arguments".
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.errors import Unsupported
from antiphase.isa import COUNTERS, generation
from antiphase.machine import _layout as at
from antiphase.machine._layout import Layout

# user SGPRs in the order of the descriptor's enable bits, with their sizes in dwords
_USER_SGPRS = (
    ("user_sgpr_private_segment_buffer", 4), ("user_sgpr_dispatch_ptr", 2), ("user_sgpr_queue_ptr", 2),
    ("user_sgpr_kernarg_segment_ptr", 2), ("user_sgpr_dispatch_id", 2), ("user_sgpr_flat_scratch_init", 2),
    ("user_sgpr_private_segment_size", 1),
)  # fmt: skip


Sides = tuple[int, int, int]
_STACK = 16384


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What waves of a workgroup start with.

    template: waves x bytes, each wave's state up to the end of its registers. id_registers: byte offsets in the state
    of the scalar registers that get workgroup id x, y, z, and y with z in the upper half; -1 for none.
    """

    template: NDArray[np.uint8]
    id_registers: tuple[int, int, int, int]


def layout_of(kernel: Kernel, target: str, recording: bool) -> Layout:
    """Registers the kernel may use. With an accumulation offset, VGPRs lie below it and AGPRs above."""
    total = (kernel.descriptor.get("next_free_vgpr", kernel.metadata.vgpr_count) + 7) & ~7
    split = kernel.descriptor.get("accum_offset", total)
    counters = len(COUNTERS[generation(target)]) if recording else 0
    return Layout(kernel.metadata.wavefront_size, max(split, 1), max(0, total - split), counters)


def private_bytes(kernel: Kernel) -> int:
    """Private memory of a work-item. A stack whose depth no compiler knows (recursion, calls through pointers) gets
    what LLVM assumes of one (AMDGPUResourceUsageAnalysis.cpp, amdgpu-assume-external-call-stack-size) on top."""
    fixed = kernel.metadata.private_segment_fixed_size
    return fixed + _STACK if kernel.descriptor.get("uses_dynamic_stack") else fixed


def dispatch_packet(threads: Sides, grid: Sides, kernarg: int, private: int, lds: int) -> bytes:
    """The AQL packet that a kernel may read through its dispatch pointer (HSA runtime specification 2.9.6)."""
    sizes = [groups * items for groups, items in zip(grid, threads, strict=True)]
    dimensions = max(i + 1 for i in range(3) if i == 0 or sizes[i] > 1)
    return struct.pack("<HHHHHHIIIIIQQQQ", 0, dimensions, *threads, 0, *sizes, private, lds, 0, kernarg, 0, 0)


def _work_items(kernel: Kernel, threads: Sides, places: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """v0 of the work-items at flat places: x, with y and z from bits 10 and 20 on where the kernel asks for them."""
    dimensions = kernel.descriptor.get("system_vgpr_workitem_id", 0)
    x, y, z = places % threads[0], places // threads[0] % threads[1], places // (threads[0] * threads[1])
    return (x | (y << 10 if dimensions > 0 else 0) | (z << 20 if dimensions > 1 else 0)).astype(np.uint32)


def entry_state(
    kernel: Kernel, target: str, layout: Layout, threads: Sides, kernarg: NDArray[np.uint8], packet: NDArray[np.uint8]
) -> Entry:
    """Registers of the waves of a workgroup of `threads` work-items in x, y and z, x fastest."""
    words, used = _user_sgprs(kernel, kernarg, packet)
    architected = generation(target) in ("gfx12", "gfx1250")
    ids = _TRAP_IDS if architected else _sgpr_ids(kernel, used)
    count = math.prod(threads)
    lanes, waves = layout.lanes, -(-count // layout.lanes)
    template = np.zeros((waves, layout.queues), np.uint8)
    scalars = template[:, :512].view(np.uint32)
    scalars[:, : len(words)] = words
    if architected:
        scalars[:, at.TTMP + 8] = np.arange(waves) << 25
    item = np.arange(waves * lanes, dtype=np.uint32).reshape(waves, lanes)
    active = item < count
    bits = np.left_shift(np.uint64(1), np.arange(lanes, dtype=np.uint64))
    scalars[:, at.EXEC : at.EXEC + 2].view(np.uint64)[:, 0] = (active * bits).sum(axis=1, dtype=np.uint64)
    first = at.VGPRS
    items = np.where(active, _work_items(kernel, threads, item), np.uint32(0))
    template[:, first : first + layout.plane] = items.view(np.uint8)
    if layout.recording:
        registers = template[:, first + layout.plane :]
        registers.view(np.uint32)[:] = at.POISON
    return Entry(template, ids)


# GFX12: x in ttmp9, y and z in the halves of ttmp7; the wave's number in ttmp8[29:25]
_TRAP_IDS = (4 * (at.TTMP + 9), -1, -1, 4 * (at.TTMP + 7))


def _sgpr_ids(kernel: Kernel, first: int) -> tuple[int, int, int, int]:
    """Workgroup ids follow the user SGPRs, those that are enabled."""
    ids = []
    for axis in "xyz":
        enabled = kernel.descriptor.get(f"system_sgpr_workgroup_id_{axis}", int(axis == "x"))
        ids.append(4 * first if enabled else -1)
        first += bool(enabled)
    return ids[0], ids[1], ids[2], -1


def _user_sgprs(kernel: Kernel, kernarg: NDArray[np.uint8], packet: NDArray[np.uint8]) -> tuple[list[int], int]:
    descriptor = kernel.descriptor
    words: list[int] = []
    for name, dwords in _USER_SGPRS:
        if not descriptor.get(name):
            continue
        if name in ("user_sgpr_private_segment_buffer", "user_sgpr_flat_scratch_init"):
            raise Unsupported(f"{name} (private memory through a buffer resource)")
        address = {
            "user_sgpr_kernarg_segment_ptr": kernarg.ctypes.data, "user_sgpr_dispatch_ptr": packet.ctypes.data,
        }.get(name, 0)  # fmt: skip
        words += [address & 0xFFFFFFFF, address >> 32][:dwords]
    length = descriptor.get("user_sgpr_kernarg_preload_length", 0)
    offset = 4 * descriptor.get("user_sgpr_kernarg_preload_offset", 0)
    preloaded = bytes(kernarg[offset : offset + 4 * length]).ljust(4 * length, b"\0")
    words += struct.unpack(f"<{length}I", preloaded)
    count = max(descriptor.get("user_sgpr_count", len(words)), len(words))
    return words, count
