"""antiphase: run, check and time warp-pipelined AMD GPU kernels with no GPU.

The public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antiphase import arch as arch
    from antiphase import kernels as kernels
    from antiphase import layouts as layouts
    from antiphase import mutate as mutate
    from antiphase.asm import Program as Program
    from antiphase.asm import parse as parse
    from antiphase.checking import check as check
    from antiphase.frontends import compile_kernel as compile_kernel
    from antiphase.frontends import empty as empty
    from antiphase.frontends import load as load
    from antiphase.frontends import tensor as tensor
    from antiphase.frontends import zeros as zeros
    from antiphase.launching import launch as launch
    from antiphase.layouts import layout as layout
    from antiphase.machine import Execution as Execution
    from antiphase.machine import Recording as Recording

__version__ = "0.1.0"

# Public name: the module that has it, and its name there.
_PUBLIC = {
    "Execution": ("antiphase.machine", "Execution"),
    "Program": ("antiphase.asm", "Program"),
    "Recording": ("antiphase.machine", "Recording"),
    "check": ("antiphase.checking", "check"),
    "compile_kernel": ("antiphase.frontends", "compile_kernel"),
    "empty": ("antiphase.frontends", "empty"),
    "launch": ("antiphase.launching", "launch"),
    "layout": ("antiphase.layouts", "layout"),
    "load": ("antiphase.frontends", "load"),
    "parse": ("antiphase.asm", "parse"),
    "tensor": ("antiphase.frontends", "tensor"),
    "zeros": ("antiphase.frontends", "zeros"),
}

_MODULES = ("arch", "kernels", "layouts", "mutate")
"""Packages to look into: `antiphase.mutate.mutants` without another import."""

__all__ = [
    "Execution", "Program", "Recording", "__version__", "arch", "check", "compile_kernel", "empty", "kernels", "launch",
    "layout", "layouts", "load", "mutate", "parse", "tensor", "zeros",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"antiphase.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'antiphase' has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
