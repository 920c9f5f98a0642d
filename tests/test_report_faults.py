"""Faults in words, and their gathering by instruction."""

from __future__ import annotations

import numpy as np
import pytest
import triton
import triton.language as tl

from antiphase.asm import Instruction, Loc
from antiphase.frontends import compile_kernel, launch_asm
from antiphase.machine import Allocation, Fault
from antiphase.machine.fault_tally import FaultGroup, FaultTally
from antiphase.report.faults import fault_lines

END = 0x1000 + 400


@triton.jit
def copy(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at))


def group(kind: str, address: int, loc: Loc | None = None, *, writable: bool = True, count: int = 1) -> FaultGroup:
    fault = Fault(0, kind, (1, 2, 0), 3, 36, address, 4)
    nearest = Allocation(0x1000, 400, "x", writable) if kind in ("read", "write") else None
    return FaultGroup("k.s", "add", Instruction("s_nop", line=7, loc=loc), fault, count, nearest)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (group("read", END), "just past the end of 'x' (400 bytes)"),
        (group("read", END + 1200), "1,200 bytes past the end of 'x'"),
        (group("read", 0xFF0), "16 bytes before the start of 'x'"),
        (group("read", END + 2**33), "(workgroup 1,2,0"),
        (group("read", END + 2**33), ", near no allocation"),
        (group("read", END - 1), "3 of them past the end of 'x'"),
        (group("write", 0x1004, writable=False), "in 'x' (400 bytes), which is read-only"),
        (group("lds", 65536), "bad access to LDS, once"),
        (group("write", 0x1002), "in 'x' (400 bytes), which is not aligned"),
        (group("lds", 6), "byte 6, which is not aligned"),
        (group("lds", 65536), "first 4 bytes at byte 65,536 (workgroup 1,2,0, wave 3, lane 36)"),
        (group("scratch", 8), "bad access to private memory"),
        (group("read", END, Loc("gemm.py", 42, 1)), "gemm.py:42: add: bad read of global memory"),
        (group("read", END, Loc("gemm.py", 0, 0)), "k.s:7: add: "),
        (group("write", END, count=1234), "bad write to global memory, 1,234 times"),
    ],
)
def test_words(one: FaultGroup, words: str) -> None:
    (line,) = fault_lines(FaultTally({("k.s", "add", 0, "read"): one}))
    assert words in line


def test_faults_of_launches_are_gathered_by_instruction() -> None:
    compiled = compile_kernel(copy, {"x": "*fp32", "out": "*fp32"}, {"BLOCK": 64}, num_warps=1)
    tally = FaultTally()
    for _ in range(2):
        x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
        tally.add(launch_asm(compiled, grid=4, args=[x, out]))
        assert out.all()
    assert [(group.first.kind, group.count) for group in tally.groups] == [("read", 312), ("write", 312)]
    nearest = [group.nearest for group in tally.groups if group.nearest]
    assert [one.owner for one in nearest] == [None, None]
    read, write = fault_lines(tally)
    assert "test_report_faults.py:" in read and "just past the end" in read
    assert "copy: bad write to global memory, 312 times" in write
    assert "(workgroup 1,0,0, wave 0, lane 36)" in write


def test_faults_that_were_not_kept_are_counted() -> None:
    assert not FaultTally()
    assert fault_lines(FaultTally(unkept=3)) == ["3 more accesses had no effect"]
