"""Kernels for tests of `antiphase check`: a body in a whole file, with source lines where wanted."""

from __future__ import annotations

import re

from _asm import FILE, Snippet

from antiphase import asm

SOURCE = """\
@triton.jit
def scale(x, y):
    a = tl.load(x)
    b = a * 2
    tl.store(y, b)
"""
"""What the `.loc` lines of `SCALE` count in; written as scale.py by tests that want it shown."""

SCALE = """\
.file 1 "scale.py"
.loc 1 3 0
s_load_dwordx2 s[2:3], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
v_lshlrev_b32 v1, 2, v0
global_load_dword v2, v1, s[2:3]
.loc 1 4 0
{wait}
v_add_f32 v3, v2, v2
.loc 1 5 0
global_store_dword v1, v3, s[2:3]
"""


def text(body: str, target: str = "gfx942", **metadata: int) -> str:
    """An assembly file of one kernel 'k' without arguments; metadata replaces values, such as lds or vgpr_count."""
    made = FILE.format(
        target=target,
        body=body + "\ns_endpgm",
        descriptor="",
        args="    []",
        lds=metadata.pop("lds", 0),
        scratch=0,
        size=0,
    ).replace(".args:\n    []", ".args: []")
    return _with(made, **metadata)


def _with(text: str, **metadata: int) -> str:
    """Small counts of registers and work-items, so that a workgroup fits, or those given."""
    small = {"vgpr_count": 32, "agpr_count": 0, "max_flat_workgroup_size": 128}
    for name, value in {**small, **metadata}.items():
        text = re.sub(rf"\.{name}: \d+", f".{name}: {value}", text)
    return text


def program(body: str, target: str = "gfx942", **metadata: int) -> asm.Program:
    return asm.parse(text(body, target, **metadata), "k.s")


def scale(wait: str = "s_waitcnt vmcnt(0)") -> str:
    """A file whose one load needs the wait."""
    return text(SCALE.format(wait=wait))


def exchange(barrier: str = "s_barrier", wait: str = "s_waitcnt lgkmcnt(0)") -> str:
    """A file whose two waves write LDS and read what the other one wrote; its one argument takes 128 dwords."""
    kernel = Snippet(threads=128, lds=512)
    kernel(f"""
        ds_write_b32 v1, v0
        {wait}
        {barrier}
        v_xor_b32 v2, 0x100, v1
        ds_read_b32 v3, v2
        s_waitcnt lgkmcnt(0)
        s_nop 0
    """)
    kernel.lines = [line for line in kernel.lines if line]
    kernel.keep("v3")
    return _with(kernel.text())


LAUNCH = ("--args", "out=zeros:u32:128", "--threads", "128")
"""Options that launch `exchange`."""
