"""torch for scripts that say device='cuda': all stays on the CPU, inside one `with` block and nowhere else.

While `cuda_on_cpu` is active
- a torch function mode turns the device 'cuda' or 'hip' into 'cpu' in every call of torch (factories, `.to`,
  `.cuda()`), and answers True to `tensor.is_cuda`; a tensor's `.device` stays the truth, cpu;
- the functions of torch.cuda that host code of kernels calls (is_available, synchronize, Event, ...) are
  those of `DeviceInterface`; torch.version.hip is set, as it is on a machine with an AMD GPU;
- torch.cpu has those functions too, where it lacks them: the driver names 'cpu' as its torch device, and
  scripts look up `getattr(torch, device.type)`;
- layer_norm of half-precision tensors is computed in float32 and rounded once, as torch does on a GPU
  (at::acc_type): on the CPU its backward pass (measured: torch 2.13.0) sums rows in the half type, which is
  coarser than the tolerances that kernels are compared with.
- what torch.empty and its kin make is filled with a pattern, by which `init` finds reads of memory never written.
Not covered: classes that take a device in their constructor without passing through a torch function, such as
torch.Generator(device='cuda').
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from antiphase.frontends._device import DeviceInterface

_GPU = ("cuda", "hip")
_NAMES = [name for name in dir(DeviceInterface) if not name.startswith("_")]


@contextlib.contextmanager
def cuda_on_cpu(interface: DeviceInterface, on_data_ptr: Callable[[Any], None]) -> Iterator[None]:
    """Map torch's GPU devices to the CPU for the block; does nothing where torch is not installed.

    on_data_ptr: called with every tensor whose address the script itself asks for.
    """
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch  # pyright: ignore[reportMissingImports]

    with contextlib.ExitStack() as stack:
        for name in _NAMES:
            stack.enter_context(_replaced(torch.cuda, name, getattr(interface, name)))
            if not hasattr(torch.cpu, name):
                stack.enter_context(_replaced(torch.cpu, name, getattr(interface, name)))
        stack.enter_context(_replaced(torch.version, "hip", "0.0.0"))
        stack.enter_context(_mode(torch, on_data_ptr))
        yield


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    missing = object()
    before = getattr(owner, name, missing)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def _mode(torch: Any, on_data_ptr: Callable[[Any], None]) -> Any:
    from torch.overrides import TorchFunctionMode  # pyright: ignore[reportMissingImports]

    from antiphase.machine.uninitialised import leave_bytes_unwritten

    cpu = torch.device("cpu")
    is_cuda = torch.Tensor.is_cuda.__get__  # made anew at each look-up, so compared with ==

    def mapped(value: Any) -> Any:
        if isinstance(value, torch.device) and value.type in _GPU:
            return cpu
        return cpu if isinstance(value, str) and value.split(":")[0] in _GPU else value

    halves = (torch.float16, torch.bfloat16)
    kin = (torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_empty_strided)

    def widened(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) else value

    class CudaOnCpu(TorchFunctionMode):  # pyright: ignore[reportUntypedBaseClass]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            if func == is_cuda:
                return True
            if func is torch.device:
                return mapped(func(*args, **(kwargs or {})))
            if func is torch.Tensor.data_ptr and _asked_by_script(sys._getframe(1)):
                on_data_ptr(args[0])
            args, kwargs = list(map(mapped, args)), {key: mapped(value) for key, value in (kwargs or {}).items()}
            if func is torch.nn.functional.layer_norm and args[0].dtype in halves:
                wide = {key: widened(value) for key, value in kwargs.items()}
                return func(*map(widened, args), **wide).to(args[0].dtype)
            made = func(*args, **kwargs)
            if func in kin and made.device.type == "cpu" and made.dtype != torch.bool:
                storage = made.untyped_storage()
                leave_bytes_unwritten(storage.data_ptr(), storage.nbytes())
            return made

    return CudaOnCpu()


def _asked_by_script(caller: FrameType) -> bool:
    """Whether a call comes from the script.

    Triton asks for every argument's address, too, from generated code without a module name.
    """
    module = caller.f_globals.get("__name__", "")
    return bool(module) and not module.startswith(("triton.", "antiphase."))
