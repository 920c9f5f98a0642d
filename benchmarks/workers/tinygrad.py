"""Runs a job's code object on tinygrad's emulator, which PYTHONPATH must lead to.

`python -m benchmarks.workers.tinygrad JOB.json`
The emulator takes the address of loaded code; it replaces what a driver and the hardware would do: load the
segments, read the kernel descriptor, reserve LDS.
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import struct
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from benchmarks._job import Job, product
from benchmarks.workers._serve import Answer, Send, pin, serve, timed

_ARCHITECTURES = {"gfx1100": "rdna3", "gfx942": "cdna"}
# buffer_gl0_inv, which the emulator cannot decode and has no cache for, and two s_nop in its place.
_GL0_INV = bytes.fromhex("0000ace000000000")
_NOPS = bytes.fromhex("000080bf") * 2
# AMDGPUUsage, "Code Object V3 Kernel Descriptor"; LDS_SIZE is bits 23:15 of COMPUTE_PGM_RSRC2.
_PRIVATE_SEGMENT, _ENTRY, _RSRC2, _DESCRIPTOR_BYTES = 4, 16, 52, 64
_LDS_SHIFT, _LDS_MASK, _LDS_GRANULE = 15, 0x1FF, 512


@dataclass(frozen=True)
class _Loaded:
    """A code object in memory. entry: address of the first instruction. image: keeps the memory."""

    image: mmap.mmap
    entry: int
    size: int
    rsrc2: int
    private_bytes: int


def _load(job: Job) -> _Loaded:
    with open(job.code_object, "rb") as file:
        elf = ELFFile(file)
        segments = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
        image = mmap.mmap(-1, max(s["p_vaddr"] + s["p_memsz"] for s in segments))
        for segment in segments:
            image[segment["p_vaddr"] : segment["p_vaddr"] + segment["p_filesz"]] = segment.data()
        symbols = elf.get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        found = {symbol.name: symbol for symbol in symbols.iter_symbols()}
        at, size = found[f"{job.kernel}.kd"]["st_value"], found[job.kernel]["st_size"]
    descriptor = image[at : at + _DESCRIPTOR_BYTES]
    offset = at + struct.unpack_from("<q", descriptor, _ENTRY)[0]
    code = image[offset : offset + size]
    image[offset : offset + size] = code.replace(_GL0_INV, _NOPS) if job.target == "gfx1100" else code
    (rsrc2,) = struct.unpack_from("<I", descriptor, _RSRC2)
    lds = -(-job.lds_bytes // _LDS_GRANULE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(image))
    return _Loaded(
        image,
        base + offset,
        size,
        rsrc2 & ~(_LDS_MASK << _LDS_SHIFT) | lds << _LDS_SHIFT,
        struct.unpack_from("<I", descriptor, _PRIVATE_SEGMENT)[0],
    )


def main(job: Job) -> None:
    """Requests: core, seconds (see _serve), check. Answers: seconds, right."""
    run_asm = importlib.import_module("test.mockgpu.amd.emu").run_asm
    a, b, c = job.operands()
    code = _load(job)
    pointers = (array.ctypes.data for array in (a, b, c))
    # Triton's two scratch pointers follow, null.
    arguments = np.frombuffer(struct.pack("<QQQiiiiQQ", *pointers, job.m, job.n, job.k, 0, 0, 0), np.uint8)
    threads, architecture = (job.threads, 1, 1), _ARCHITECTURES[job.target]

    def launch() -> None:
        run_asm(
            code.entry,
            code.size,
            *job.grid,
            *threads,
            arguments.ctypes.data,
            code.rsrc2,
            code.private_bytes,
            architecture,
        )

    def answer(request: dict[str, Any], send: Send) -> Answer:
        pin(request)
        answer = {"seconds": timed(launch, request)}
        if request.get("check"):
            answer["right"] = job.share_right(a, b, c)
        return answer

    serve(answer)


if __name__ == "__main__":
    main(product(sys.argv[1]))
