"""Words of memory that the host changes while waves may change them too."""

from __future__ import annotations

import ctypes
import functools

from antiphase.machine.llvm import _native
from antiphase.machine.llvm._ir import Function, module


@functools.cache
def _library() -> _native.Library:
    return _native.Library(module([_exchange(bits) for bits in (32, 64)]), 2)


def _exchange(bits: int) -> Function:
    f = Function(f"exchange{bits}", f"i{bits}", [("ptr", "p"), (f"i{bits}", "new")])
    f.ret(f.let(f"atomicrmw xchg ptr %p, i{bits} %new acq_rel"))
    return f


def exchange(address: int, new: int, bits: int = 64) -> int:
    """Put a word of 32 or 64 bits at an aligned address of this process in one step; returns what was there."""
    word = ctypes.c_uint64 if bits == 64 else ctypes.c_uint32
    function = ctypes.CFUNCTYPE(word, ctypes.c_void_p, word)(_library().address(f"exchange{bits}"))
    return function(address, new)
