"""A Triton driver whose device is antiphase's machine: what Triton compiles for a target runs on the CPU.

The protocol is that of Triton 3.9 (backends/driver.py, runtime/jit.py and compiler/compiler.py there): the
active driver names the target, `launcher_cls(src, metadata)` makes a launcher, `utils.load_binary` loads a
code object.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import msgspec
from elftools.elf.elffile import ELFFile
from triton.backends.driver import DriverBase

from antiphase import arch
from antiphase.errors import UserError
from antiphase.frontends._assembly import MAX_WORKGROUP
from antiphase.frontends._compile import gpu_target
from antiphase.frontends._device import DeviceInterface, device_properties
from antiphase.frontends._launcher import Launcher
from antiphase.frontends._session import Session


class Utils:
    """Triton's `driver.utils`: device properties and code-object loading."""

    def __init__(self, target: arch.Target) -> None:
        self._properties = device_properties(target)

    def get_device_properties(self, device: int) -> dict[str, Any]:
        return dict(self._properties)

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[None, str, int, int, int]:
        """Module, function, VGPRs, VGPR spills, work-items a workgroup may have.

        There is no module, so that Triton does not unload one through whichever driver is active by then.
        """
        for kernel in _code_object_kernels(binary):
            if kernel[".name"] == name:
                return None, name, kernel[".vgpr_count"], kernel[".vgpr_spill_count"], MAX_WORKGROUP
        raise UserError(f"the code object that Triton made has no kernel {name}")

    def unload_module(self, module: object) -> None:
        """Nothing is loaded anywhere."""


class AntiphaseDriver(DriverBase):
    """Set with `triton.runtime.driver.set_active(AntiphaseDriver("gfx942"))`.

    session: what its launches did: counts, faults, options of the machine.
    """

    launcher_cls = Launcher

    def __init__(self, target: str, session: Session | None = None) -> None:
        super().__init__()
        self._target = arch.target(target)
        self._gpu_target = gpu_target(target)
        self.utils = Utils(self._target)
        self.session = session or Session()
        self.device_interface = DeviceInterface(self._target)

    @classmethod
    def is_active(cls) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton.backends.amd.driver import ty_to_cpp

        return ty_to_cpp(ty)

    def get_current_target(self) -> Any:
        return self._gpu_target

    def get_current_device(self) -> int:
        """A number of its own for each target: Triton keeps compiled kernels by device."""
        return [known.name for known in arch.targets()].index(self._target.name)

    def set_current_device(self, device: int) -> None:
        """There is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return self.device_interface.get_device_capability()

    def get_active_torch_device(self) -> Any:
        """The CPU, where all memory is; UserError without torch."""
        try:
            import torch  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise UserError(
                "the script asks for a torch device and torch is not installed",
                remedy="pip install torch, or use antiphase.tensor(...)",
            ) from None
        return torch.device("cpu")

    def get_device_interface(self) -> DeviceInterface:
        return self.device_interface

    def get_benchmarker(self) -> Callable[..., Any]:
        return self.count_instructions

    def count_instructions(self, kernel_call: Callable[[], Any], *, quantiles: Any = None, **_: Any) -> Any:
        """The autotuner's measure: wave-instructions that one run executes, not a time."""
        before = self.session.instructions
        kernel_call()
        count = float(self.session.instructions - before)
        return count if quantiles is None else [count] * len(quantiles)

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: Any) -> None:
        """No cache is modelled."""

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


def time_one_run(fn: Callable[[], Any], *_: Any, quantiles: Any = None, return_mode: str = "mean", **__: Any) -> Any:
    """Stands in for `triton.testing.do_bench`: host milliseconds of one run after one to compile."""
    fn()
    start = time.perf_counter()
    fn()
    took = (time.perf_counter() - start) * 1e3
    if quantiles is not None:
        return took if len(quantiles) == 1 else [took] * len(quantiles)
    return [took] if return_mode == "all" else took


def _code_object_kernels(binary: bytes) -> list[dict[str, Any]]:
    """The kernel records in a code object's AMDGPU note: AMDGPUUsage, "Code Object V5 Metadata"."""
    for segment in ELFFile(io.BytesIO(binary)).iter_segments():
        if segment.header.p_type == "PT_NOTE":
            for note in segment.iter_notes():  # pyright: ignore[reportAttributeAccessIssue]
                if note["n_name"] == "AMDGPU":
                    return msgspec.msgpack.decode(note["n_descdata"])["amdhsa.kernels"]
    return []
