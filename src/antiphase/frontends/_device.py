"""What a script sees of the device: properties, and the part of torch.cuda that benchmarks use."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from antiphase.arch import Target

# Clock in kHz, memory clock in kHz and bus width in bits of the product a target stands for: AMD's data sheets of the
# Instinct MI300X (2100 MHz, 8192 bits, 5.3 TB/s) and MI355X (2400 MHz, 8192 bits, 8 TB/s); the memory clock is the one
# that gives that bandwidth at two transfers a clock.
_CLOCKS = {
    "gfx942": (2_100_000, 2_600_000, 8192),
    "gfx950": (2_400_000, 4_000_000, 8192),
}


def device_properties(target: Target) -> dict[str, Any]:
    """The dictionary Triton's HIP driver returns for a device.

    max_num_regs counts architected VGPRs of a compute unit in 32-bit registers, AGPRs left out, as HIP does.
    """
    clock, memory_clock, bus = _CLOCKS.get(target.name, (0, 0, 0))
    units = target.facts["compute_units"].value if "compute_units" in target.facts else 1
    threads = target.max_waves_per_simd * target.simds_per_cu * target.default_wave_size
    return {
        "max_shared_mem": target.max_lds_bytes,
        "max_num_regs": target.max_vgprs * target.default_wave_size * target.simds_per_cu,
        "multiprocessor_count": units,
        "sm_clock_rate": clock,
        "mem_clock_rate": memory_clock,
        "mem_bus_width": bus,
        "arch": target.name,
        "warpSize": target.default_wave_size,
        "max_threads_per_sm": threads,
        "cooperativeLaunch": 1,
    }


class Event:
    """A point in host time: launches here are synchronous, so a recorded event has already happened."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._at = 0.0

    def record(self, stream: Any = None) -> None:
        self._at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds of host time to `end`."""
        return (end._at - self._at) * 1e3

    def synchronize(self) -> None:
        """Nothing is ever outstanding."""

    def wait(self, stream: Any = None) -> None:
        """Nothing is ever outstanding."""

    def query(self) -> bool:
        return True


class Stream:
    """The one stream there is; work on it runs at once."""

    cuda_stream = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        self.device = "cpu"

    def synchronize(self) -> None:
        """Nothing is ever outstanding."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing is ever outstanding."""

    def wait_event(self, event: Any) -> None:
        """Nothing is ever outstanding."""

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record()
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Properties:
    """The attributes of torch.cuda.get_device_properties that kernels' host code reads."""

    def __init__(self, target: Target) -> None:
        found = device_properties(target)
        self.name = target.products[0] if target.products else target.name
        self.gcnArchName = target.name
        self.multi_processor_count = found["multiprocessor_count"]
        self.warp_size = found["warpSize"]
        self.shared_memory_per_block = found["max_shared_mem"]
        self.regs_per_multiprocessor = found["max_num_regs"]
        self.max_threads_per_multi_processor = found["max_threads_per_sm"]
        self.major, self.minor = capability(target)


def capability(target: Target) -> tuple[int, int]:
    """(9, 4) for gfx942, as torch reports it."""
    return int(target.name[3:-2]), int(target.name[-2])


class DeviceInterface:
    """torch.cuda as far as triton.testing and host code of kernels use it, for one emulated device."""

    Event = Event
    Stream = Stream
    ExternalStream = Stream

    def __init__(self, target: Target) -> None:
        self._target = target

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def set_device(self, device: Any) -> None:
        """There is one device."""

    def synchronize(self, device: Any = None) -> None:
        """Launches are synchronous."""

    def current_stream(self, device: Any = None) -> Stream:
        return Stream()

    def default_stream(self, device: Any = None) -> Stream:
        return Stream()

    def set_stream(self, stream: Any) -> None:
        """There is one stream."""

    @contextlib.contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def device(self, device: Any) -> Iterator[None]:
        yield

    def get_device_name(self, device: Any = None) -> str:
        return Properties(self._target).name

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return capability(self._target)

    def get_device_properties(self, device: Any = None) -> Properties:
        return Properties(self._target)

    def empty_cache(self) -> None:
        """There is no caching allocator."""

    def manual_seed(self, seed: int) -> None:
        """Random numbers come from the CPU generator."""

    def manual_seed_all(self, seed: int) -> None:
        """Random numbers come from the CPU generator."""
