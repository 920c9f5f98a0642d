"""antiphase: run, check and time warp-pipelined AMD GPU kernels with no GPU.

The public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antiphase.asm import Program as Program
    from antiphase.asm import parse as parse
    from antiphase.checking import check as check
    from antiphase.frontends import compile_kernel as compile_kernel
    from antiphase.frontends import empty as empty
    from antiphase.frontends import launch_asm as launch
    from antiphase.frontends import load as load
    from antiphase.frontends import tensor as tensor
    from antiphase.frontends import zeros as zeros
    from antiphase.layouts import layout as layout

__version__ = "0.1.0"

# Public name: the module that has it, and its name there.
_PUBLIC = {
    "Program": ("antiphase.asm", "Program"),
    "check": ("antiphase.checking", "check"),
    "compile_kernel": ("antiphase.frontends", "compile_kernel"),
    "empty": ("antiphase.frontends", "empty"),
    "launch": ("antiphase.frontends", "launch_asm"),
    "layout": ("antiphase.layouts", "layout"),
    "load": ("antiphase.frontends", "load"),
    "parse": ("antiphase.asm", "parse"),
    "tensor": ("antiphase.frontends", "tensor"),
    "zeros": ("antiphase.frontends", "zeros"),
}

__all__ = [
    "Program", "__version__", "check", "compile_kernel", "empty", "launch", "layout", "load", "parse", "tensor",
    "zeros",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'antiphase' has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
