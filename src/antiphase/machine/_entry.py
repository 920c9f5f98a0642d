"""State a wave starts with: registers as the kernel descriptor asks for them.

Source: LLVM AMDGPUUsage, "Initial Kernel Execution State" (tables of SGPR and VGPR set-up), "Preloaded Kernel Arguments".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Kernel
from antiphase.errors import Unsupported
from antiphase.machine import _layout as at
from antiphase.machine._layout import Layout

# user SGPRs in the order of the descriptor's enable bits, with their sizes in dwords
_USER_SGPRS = (
    ("user_sgpr_private_segment_buffer", 4), ("user_sgpr_dispatch_ptr", 2), ("user_sgpr_queue_ptr", 2),
    ("user_sgpr_kernarg_segment_ptr", 2), ("user_sgpr_dispatch_id", 2), ("user_sgpr_flat_scratch_init", 2),
    ("user_sgpr_private_segment_size", 1),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """What waves of a workgroup start with.

    template: waves x bytes, each wave's state up to the end of its registers. id_registers: byte offset in the state
    of the SGPR that gets workgroup id x, y, z, or -1.
    """

    template: NDArray[np.uint8]
    id_registers: tuple[int, int, int]


def layout_of(kernel: Kernel, lanes: int, recording: bool) -> Layout:
    """Registers the kernel may use. With an accumulation offset, VGPRs lie below it and AGPRs above."""
    total = (kernel.descriptor.get("next_free_vgpr", kernel.metadata.vgpr_count) + 7) & ~7
    split = kernel.descriptor.get("accum_offset", total)
    return Layout(lanes, max(split, 1), max(0, total - split), recording)


def dispatch_packet(
    threads: int, grid: tuple[int, int, int], kernarg: int, private: int, lds: int
) -> bytes:
    """The AQL packet that a kernel may read through its dispatch pointer (HSA runtime specification 2.9.6)."""
    return struct.pack(
        "<HHHHHHIIIIIQQQQ", 0, 1, threads, 1, 1, 0, grid[0] * threads, grid[1], grid[2], private, lds, 0, kernarg, 0, 0
    )


def entry_state(
    kernel: Kernel, layout: Layout, threads: int, kernarg: NDArray[np.uint8], packet: NDArray[np.uint8]
) -> Entry:
    """Registers of the waves of a workgroup of `threads` work-items (one-dimensional)."""
    words, used = _user_sgprs(kernel, kernarg, packet)
    ids = []
    for axis in "xyz":
        enabled = kernel.descriptor.get(f"system_sgpr_workgroup_id_{axis}", int(axis == "x"))
        ids.append(4 * used if enabled else -1)
        used += bool(enabled)
    lanes, waves = layout.lanes, -(-threads // layout.lanes)
    template = np.zeros((waves, layout.queues), np.uint8)
    scalars = template[:, :512].view(np.uint32)
    scalars[:, : len(words)] = words
    item = np.arange(waves * lanes, dtype=np.uint32).reshape(waves, lanes)
    active = item < threads
    bits = np.left_shift(np.uint64(1), np.arange(lanes, dtype=np.uint64))
    scalars[:, at.EXEC : at.EXEC + 2].view(np.uint64)[:, 0] = (active * bits).sum(axis=1, dtype=np.uint64)
    first = at.VGPRS
    template[:, first : first + layout.plane] = np.where(active, item, 0).astype(np.uint32).view(np.uint8)
    if layout.recording:
        registers = template[:, first + layout.plane :]
        registers.view(np.uint32)[:] = at.POISON
    return Entry(template, (ids[0], ids[1], ids[2]))


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
