"""Ways in: compile Triton and Gluon kernels, run Triton scripts, launch assembly text on arrays."""

from antiphase.frontends._assembly import launch_asm
from antiphase.frontends._compile import Compiled, compile_kernel
from antiphase.frontends._launch import RunOptions
from antiphase.frontends._launch_spec import LaunchSpec, read_launch_spec
from antiphase.frontends._script import run_script, triton_on_cpu
from antiphase.frontends._tensor import Tensor, empty, tensor, zeros
from antiphase.frontends._types import triton_type
from antiphase.frontends.code_object import load

__all__ = [
    "Compiled",
    "LaunchSpec",
    "RunOptions",
    "Tensor",
    "compile_kernel",
    "empty",
    "launch_asm",
    "load",
    "read_launch_spec",
    "run_script",
    "tensor",
    "triton_on_cpu",
    "triton_type",
    "zeros",
]
