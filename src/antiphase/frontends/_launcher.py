"""What Triton calls once a kernel is compiled: bind the arguments and run it on the machine."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from triton.backends.driver import decompose_descriptor, expand_signature
from triton.runtime import _allocation
from triton.runtime.cache import get_cache_manager

from antiphase import asm
from antiphase.errors import UserError
from antiphase.frontends import _launch
from antiphase.frontends._buffers import Buffer, address_of, buffer_of, is_array
from antiphase.frontends._launch import Launch
from antiphase.frontends._session import Session, current_session
from antiphase.frontends._sizes import check_grid
from antiphase.frontends._source_files import at_home, source_file
from antiphase.frontends._stage_borders import with_unused_stages
from antiphase.frontends._tensor import empty
from antiphase.frontends._types import pack_scalar

_STAGES = (".amdgcn", ".ttgir")


class Launcher:
    """What Triton calls to launch one compiled kernel."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self._signature = dict(src.signature)
        self._metadata = metadata
        self._program = _program(metadata.hash, src.name, metadata.target.arch, source_file(src))

    def __call__(
        self,
        grid_x: Any,
        grid_y: Any,
        grid_z: Any,
        stream: Any,
        function: Any,
        kernel_metadata: tuple[int, int, int],
        launch_metadata: Any,
        enter_hook: Callable[[Any], None] | None,
        exit_hook: Callable[[Any], None] | None,
        *args: Any,
    ) -> None:
        grid = _grid((grid_x, grid_y, grid_z), self._metadata.name)
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if min(grid) > 0:  # HIP's launcher, too, does nothing for an empty grid
            active_session().run(self._launch(grid, stream, args))
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _launch(self, grid: _launch.Grid, stream: Any, args: Sequence[Any]) -> Launch:
        metadata = self._metadata
        kernel = self._program.kernel(metadata.name)
        values: list[bytes] = []
        buffers: list[Buffer] = []
        for name, triton_type, value in _flatten(self._signature.items(), args):
            if triton_type.startswith("*"):
                values.append(_launch.pointer(0 if value is None else _address(value)))
                if value is not None and is_array(value):
                    buffers.append(buffer_of(value, name))
            else:
                values.append(pack_scalar(value, triton_type, to_infinity=True))
        for scratch in self._scratch(grid, stream):
            values.append(_launch.pointer(0 if scratch is None else address_of(scratch)))
            if scratch is not None:
                buffers.append(buffer_of(scratch, f"scratch of {metadata.name}"))
        threads = (metadata.num_warps * metadata.warp_size, 1, 1)
        check_grid(grid, threads, (1, 1, 1), metadata.target.arch, self._program.name)
        return Launch(
            program=self._program,
            kernel=kernel.name,
            grid=grid,
            kernarg=_launch.build_kernarg(kernel, values, grid, threads, metadata.shared),
            threads=threads,
            lds_bytes=kernel.metadata.group_segment_fixed_size + metadata.shared,
            buffers=[*buffers, *active_session().exposed.buffers()],
        )

    def _scratch(self, grid: _launch.Grid, stream: Any) -> Iterator[Any]:
        """The global and the profile scratch memory that a kernel asks for, None where it asks for none."""
        x, y, z = grid
        for size, alignment, allocator in (
            (self._metadata.global_scratch_size, self._metadata.global_scratch_align, _allocation._allocator),
            (
                self._metadata.profile_scratch_size,
                self._metadata.profile_scratch_align,
                _allocation._profile_allocator,
            ),
        ):
            allocate = allocator.get()
            if size == 0:
                yield None
            elif isinstance(allocate, _allocation.NullAllocator):
                yield empty(size * x * y * z, "uint8").zero_()
            else:
                yield allocate(size * x * y * z, alignment, stream)


def active_session() -> Session:
    """The session of Triton's active driver."""
    session = current_session()
    if session is None:
        raise UserError("a kernel compiled for antiphase is launched while another Triton driver is active")
    return session


def _grid(given: tuple[Any, Any, Any], kernel: str) -> _launch.Grid:
    """The sizes that Triton's C launcher takes and HIP does not refuse: integers, 0 among them."""
    try:
        x, y, z = map(operator.index, given)
    except TypeError:
        raise UserError(
            f"grid {given} of kernel {kernel} is not made of integers", remedy="give whole numbers, as triton.cdiv does"
        ) from None
    if min(x, y, z) < 0 and 0 not in (x, y, z):
        raise UserError(f"grid {(x, y, z)} of kernel {kernel} is negative", remedy="give numbers of programs")
    return x, y, z


def _flatten(signature: Iterable[tuple[str, Any]], values: Sequence[Any]) -> Iterator[tuple[str, str, Any]]:
    """Name, type and value of every argument the compiled kernel has.

    Tuples are opened, constexprs dropped, tensor descriptors taken apart into base, shape, strides and flags.
    """
    for (name, triton_type), value in zip(signature, values, strict=True):
        if isinstance(triton_type, tuple):
            parts = [(f"{name}[{index}]", part) for index, part in enumerate(triton_type)]
            yield from _flatten(parts, value)
        elif triton_type.startswith("tensordesc"):
            types = expand_signature([triton_type], None, None)
            yield from ((name, *part) for part in zip(types, decompose_descriptor(value), strict=True))
        elif triton_type != "constexpr":
            yield name, triton_type, value


def _address(value: Any) -> int:
    return value if isinstance(value, int) else address_of(value)


@lru_cache(maxsize=256)
def _program(compilation: str, name: str, target: str, source: Path | None) -> asm.Program:
    """The program of one compilation, by its hash in Triton's cache: a launcher is not given the text."""
    group = get_cache_manager(compilation).get_group(f"{name[:150]}.json") or {}
    texts = {Path(file).suffix: path for file, path in group.items() if Path(file).suffix in _STAGES}
    if ".amdgcn" in texts:
        text, ttgir = (Path(texts[one]).read_text(encoding="utf-8") if one in texts else "" for one in _STAGES)
        return asm.parse(at_home(with_unused_stages(text, ttgir), source), name=name, target=target)
    raise UserError(f"Triton's cache holds no text of kernel {name}", remedy="unset TRITON_STORE_BINARY_ONLY")
