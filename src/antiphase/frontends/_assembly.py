"""Launch assembly text, a code object or a compiled kernel on arrays and scalars."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from antiphase import arch, asm
from antiphase.errors import UserError
from antiphase.frontends import _launch
from antiphase.frontends._buffers import Buffer, address_of, buffer_of, is_array
from antiphase.frontends._compile import Compiled
from antiphase.frontends._launch import Grid, Launch, RunOptions
from antiphase.frontends._tensor import Tensor
from antiphase.frontends._types import pack_integer, pack_scalar
from antiphase.frontends.code_object import load

if TYPE_CHECKING:
    from antiphase.asm import Kernel, KernelArg
    from antiphase.machine import Execution

MAX_WORKGROUP = 1024  # work-items; AMDGPUUsage, amdgpu-flat-workgroup-size


def launch_asm(
    source: str | Path | asm.Program | Compiled,
    *,
    grid: int | Sequence[int],
    args: Sequence[Any],
    target: str | None = None,
    threads: int | Sequence[int] | None = None,
    lds_bytes: int | None = None,
    kernel: str | None = None,
    record: bool = False,
    cluster: Sequence[int] = (1, 1, 1),
    workers: int | None = None,
    max_instructions: int | None = None,
    recording_limit: int | None = None,
    progress: Any = None,
) -> Execution:
    """Run one kernel on arrays in place and return what the machine reports.

    source: path of a .s file or a code object, a `Program`, or what `compile_kernel` returned.
    grid: workgroups, one to three positive numbers.
    args: one value for each kernel argument in order. Arrays (NumPy, `Tensor`, torch CPU) for pointers, used
        in place; None for a null pointer; ints, floats, bools and NumPy scalars by value. A plain float takes
        the width the kernel declares (4 or 8 bytes). The two scratch pointers that Triton appends may be left
        out.
    target: checked against the target the text names.
    threads: work-items of a workgroup, or as many in x, y and z; by default those of the compiled kernel, or
        .max_flat_workgroup_size.
    lds_bytes: dynamic LDS of a workgroup, on top of what the text declares; Triton's text declares none.
    kernel: which kernel of the text, where it has several.
    record, cluster, workers, max_instructions, recording_limit, progress: as for `antiphase.machine.run`.
    Raises UserError when the arguments do not fit the kernel.
    """
    program, signature = _program(source)
    where = program.name
    _check_target(program, target)
    chosen = program.kernel(kernel)
    work_groups = _grid(grid)
    sides = _threads(chosen, threads, source, where)
    dynamic = lds_bytes if lds_bytes is not None else source.shared if isinstance(source, Compiled) else 0
    if dynamic < 0:
        raise UserError(f"lds_bytes is {dynamic}", remedy="give the bytes of dynamic LDS, 0 for none")
    values, buffers = _pack(chosen, args, signature, where)
    launch = Launch(
        program=program,
        kernel=chosen.name,
        grid=work_groups,
        kernarg=_launch.build_kernarg(chosen, values, work_groups, sides, dynamic),
        threads=sides,
        lds_bytes=chosen.metadata.group_segment_fixed_size + dynamic,
        buffers=buffers,
        cluster=tuple(cluster),  # type: ignore[arg-type]
    )
    options = RunOptions(
        record, workers=workers, max_instructions=max_instructions, recording_limit=recording_limit, progress=progress
    )
    return _launch.execute(launch, options)


def _program(
    source: str | Path | asm.Program | Compiled,
) -> tuple[asm.Program, Mapping[str, str] | None]:
    if isinstance(source, Compiled):
        return source.program, source.signature
    if isinstance(source, asm.Program):
        return source, None
    return load(source), None


def _check_target(program: asm.Program, target: str | None) -> None:
    if target is not None and arch.target(target).name != program.target:
        raise UserError(
            f"the text is for {program.target}, not for {target}",
            file=program.name,
            remedy=f"pass target='{program.target}' or compile for {target}",
        )
    arch.target(program.target)


def _grid(grid: int | Sequence[int]) -> Grid:
    return _sides(grid, "grid", "workgroups")


def _sides(given: int | Sequence[int], what: str, of: str) -> Grid:
    """One to three positive numbers as three."""
    counts = (given,) if isinstance(given, int | np.integer) else tuple(given)
    if not 1 <= len(counts) <= 3:
        raise UserError(f"{what} has {len(counts)} dimensions", remedy=f"give one to three numbers of {of}")
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int | np.integer):
            raise UserError(f"{what} {counts} is not made of integers", remedy=f"give numbers of {of}")
        if count < 1:
            raise UserError(f"{what} {counts} has no {of}", remedy="every dimension must be at least 1")
    x, y, z = (*(int(count) for count in counts), 1, 1)[:3]
    return x, y, z


def _threads(kernel: Kernel, threads: int | Sequence[int] | None, source: object, where: str) -> Grid:
    if threads is None and not kernel.metadata.stated:
        raise UserError(
            f"kernel {kernel.name} has no .amdgpu_metadata, which says how large a workgroup is",
            file=where,
            remedy="name the work-items (--threads N)",
        )
    if threads is None:
        if isinstance(source, Compiled):
            return source.threads_per_workgroup, 1, 1
        return kernel.metadata.reqd_workgroup_size or (kernel.metadata.max_flat_workgroup_size, 1, 1)
    sides = _sides(threads, "threads", "work-items")
    count = math.prod(sides)
    limit = min(kernel.metadata.max_flat_workgroup_size or MAX_WORKGROUP, MAX_WORKGROUP)
    if count > limit:
        raise UserError(
            f"{count} threads in a workgroup; kernel {kernel.name} takes 1 to {limit}",
            file=where,
            remedy="the limit is .max_flat_workgroup_size of its metadata",
        )
    required = kernel.metadata.reqd_workgroup_size
    if required is not None and sides != required:
        raise UserError(
            f"a workgroup of {sides} work-items; kernel {kernel.name} is compiled for {required}",
            file=where,
            remedy="leave threads out, or compile without reqd_work_group_size",
        )
    return sides


def _pack(
    kernel: Kernel, args: Sequence[Any], signature: Mapping[str, str] | None, where: str
) -> tuple[list[bytes], list[Buffer]]:
    wanted = _launch.explicit_args(kernel)
    if args and not kernel.metadata.stated:
        raise UserError(
            f"kernel {kernel.name} has no .amdgpu_metadata, which says what arguments it takes",
            file=where,
            remedy="add the block, with .offset, .size and .value_kind of each under .args",
        )
    optional = _trailing_scratch(kernel, wanted)
    if len(args) not in (len(wanted), len(wanted) - optional):
        raise _wrong_count(kernel, wanted, optional, len(args), where)
    types = [t for t in (signature or {}).values() if isinstance(t, str) and t != "constexpr"]
    values: list[bytes] = []
    buffers: list[Buffer] = []
    for index, (value, arg) in enumerate(zip(args, wanted, strict=False)):
        what = _describe(index, arg)
        if arg.value_kind == "by_value":
            values.append(_scalar(value, arg, types[index] if index < len(types) else None, what, where))
        elif value is None:
            values.append(_launch.pointer(0))
        else:
            _check_array(value, what, where)
            buffers.append(buffer_of(value, arg.name or f"argument {index}"))
            values.append(_launch.pointer(address_of(value)))
    return values, buffers


def _wrong_count(kernel: Kernel, wanted: Sequence[KernelArg], optional: int, given: int, where: str) -> UserError:
    needed = wanted[: len(wanted) - optional]
    arguments = f"{len(needed)} argument{'' if len(needed) == 1 else 's'}"
    scratch = f" (or {len(wanted)} with Triton's scratch pointers)" if optional else ""
    return UserError(
        f"kernel {kernel.name} takes {arguments}{scratch}, {given} given",
        file=where,
        remedy="; ".join(_describe(*each) for each in enumerate(needed)) or None,
    )


def _trailing_scratch(kernel: Kernel, wanted: Sequence[KernelArg]) -> int:
    """How many pointers Triton has appended: two unnamed ones that the source does not mention, or none.

    Triton says that its workgroups are uniform, and text by hand does not.
    """
    unnamed = all(arg.name is None and arg.value_kind == "global_buffer" for arg in wanted[-2:])
    return 2 if kernel.metadata.uniform_work_group_size and len(wanted) >= 2 and unnamed else 0


def _describe(index: int, arg: KernelArg) -> str:
    kind = f"{arg.size}-byte value" if arg.value_kind == "by_value" else "array"
    name = f" '{arg.name}'" if arg.name else ""
    return f"argument {index}{name} (offset {arg.offset}): {kind}"


def _check_array(value: Any, what: str, where: str) -> None:
    if not is_array(value):
        raise UserError(f"{what} expected, {_kind(value)} given", file=where, remedy="pass an array, or None for null")
    array = value.numpy() if isinstance(value, Tensor) else value
    if isinstance(array, np.ndarray):
        if array.dtype.hasobject:
            raise UserError(f"{what}: dtype {array.dtype} has no bytes", file=where, remedy="pass a numeric array")
        if not array.flags.c_contiguous:
            raise UserError(f"{what}: the array is not contiguous", file=where, remedy="pass np.ascontiguousarray(...)")
        if not array.flags.writeable:
            raise UserError(f"{what}: the array is read-only", file=where, remedy="pass a copy")
        return
    if getattr(getattr(array, "device", None), "type", "cpu") != "cpu":
        raise UserError(f"{what}: the tensor is on {array.device}", file=where, remedy="pass tensor.cpu()")
    if hasattr(array, "is_contiguous") and not array.is_contiguous():
        raise UserError(f"{what}: the tensor is not contiguous", file=where, remedy="pass tensor.contiguous()")


def _scalar(value: Any, arg: KernelArg, triton_name: str | None, what: str, where: str) -> bytes:
    if is_array(value):
        raise UserError(f"{what} expected, {_kind(value)} given", file=where, remedy="pass a number")
    try:
        packed = _pack_by_type(value, triton_name) if triton_name else _pack_by_size(value, arg.size)
    except UserError as error:
        raise UserError(f"{what}: {error.what}", file=where, remedy=error.remedy or "pass a smaller value") from None
    if len(packed) != arg.size:
        raise UserError(
            f"{what}: {_kind(value)} has {len(packed)} bytes",
            file=where,
            remedy=f"pass a value of {arg.size} bytes",
        )
    return packed


def _pack_by_type(value: Any, triton_name: str) -> bytes:
    if not isinstance(value, bool | int | float | np.generic):
        raise UserError(f"{_kind(value)} given for a value of type {triton_name}", remedy="pass a number")
    if isinstance(value, float | np.floating) and triton_name[0] in "iu":
        raise UserError(f"{value!r} given for a value of type {triton_name}", remedy="pass an integer")
    return pack_scalar(value, triton_name)


def _pack_by_size(value: Any, size: int) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | int | np.integer | np.bool_):
        return pack_integer(int(value), size)
    if isinstance(value, float) and size in (4, 8):
        return struct.pack("<f" if size == 4 else "<d", value)
    if isinstance(value, float):
        raise UserError(
            f"a float given, {size} bytes wide", remedy="pass a NumPy scalar of that width, e.g. np.float16"
        )
    if isinstance(value, np.generic):
        return value.tobytes()
    raise UserError(f"{_kind(value)} given", remedy="pass an int, a float, a NumPy scalar or bytes")


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    name = "array" if is_array(value) else type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
