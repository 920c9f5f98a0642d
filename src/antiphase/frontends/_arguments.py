"""The values of a launch, checked against what the kernel takes and turned into bytes and allocations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from antiphase.errors import UserError
from antiphase.frontends import _launch
from antiphase.frontends._buffers import Buffer, address_of, buffer_of, is_array
from antiphase.frontends._tensor import Tensor
from antiphase.frontends._types import (
    NUMPY_OF_TRITON,
    TORCH_NAME,
    element_type,
    may_hold,
    pack_integer,
    pack_scalar,
    plain_name,
    plain_number,
    pointed_to,
)

if TYPE_CHECKING:
    from antiphase.asm import Kernel, KernelArg


def pack(
    kernel: Kernel, args: Sequence[Any], signature: Mapping[str, str] | None, where: str
) -> tuple[list[bytes], list[Buffer]]:
    """The bytes of each argument, and the memory that arrays bring. signature: Triton's types, where they are known.

    UserError for values that do not fit the kernel.
    """
    if not isinstance(args, Sequence) or isinstance(args, str | bytes):
        raise UserError(
            f"args is {_kind(args)}",
            file=where,
            remedy="give a list with a value for each argument of the kernel, in its order",
        )
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
    types = dict(enumerate(_types(signature or {})))
    values: list[bytes] = []
    buffers: list[Buffer] = []
    for index, (value, arg) in enumerate(zip(args, wanted, strict=False)):
        what, triton_name = _describe(index, arg), types.get(index)
        if arg.value_kind == "by_value":
            values.append(_scalar(value, arg, triton_name, what, where))
        elif value is None:
            values.append(_launch.pointer(0))
        else:
            _check_array(value, triton_name, what, where)
            buffers.append(buffer_of(value, arg.name or f"argument {index}"))
            values.append(_launch.pointer(address_of(value)))
    return values, buffers


def _types(signature: Mapping[str, str]) -> list[str]:
    """The type of each argument that the compiled kernel has, those of tensor descriptors one by one."""
    types = [name for name in signature.values() if isinstance(name, str) and name != "constexpr"]
    if not any(name.startswith("tensordesc") for name in types):
        return types
    from triton.backends.driver import expand_signature

    return expand_signature(types, None, None)


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


def _check_array(value: Any, triton_name: str | None, what: str, where: str) -> None:
    if not is_array(value):
        raise UserError(f"{what} expected, {_kind(value)} given", file=where, remedy="pass an array, or None for null")
    array = value.numpy() if isinstance(value, Tensor) else value
    if isinstance(array, np.ndarray):
        _check_numpy(array, what, where)
    else:
        _check_tensor(array, what, where)
    given = element_type(value)
    if triton_name is None or given is None or not triton_name.startswith("*"):
        return
    wanted = pointed_to(triton_name)
    if not may_hold(given, wanted):
        spelling = TORCH_NAME.get(wanted, wanted)
        raise UserError(
            f"{what} of {TORCH_NAME.get(given, given)} given for {triton_name}",
            file=where,
            remedy=f"pass an array of {spelling}, or a view as {spelling} if its bytes are that",
        )


def _check_numpy(array: np.ndarray, what: str, where: str) -> None:
    if array.dtype.hasobject:
        raise UserError(f"{what}: dtype {array.dtype} has no bytes", file=where, remedy="pass a numeric array")
    if not array.dtype.isnative:
        raise UserError(
            f"{what}: dtype {array.dtype.str} is big-endian and GPUs are little-endian",
            file=where,
            remedy="pass array.astype(array.dtype.newbyteorder('='))",
        )
    if not array.flags.c_contiguous:
        raise UserError(f"{what}: the array is not contiguous", file=where, remedy="pass np.ascontiguousarray(...)")
    if not array.flags.writeable:
        raise UserError(f"{what}: the array is read-only", file=where, remedy="pass a copy")


def _check_tensor(tensor: Any, what: str, where: str) -> None:
    if getattr(getattr(tensor, "device", None), "type", "cpu") != "cpu":
        raise UserError(f"{what}: the tensor is on {tensor.device}", file=where, remedy="pass tensor.cpu()")
    if hasattr(tensor, "is_contiguous") and not tensor.is_contiguous():
        raise UserError(f"{what}: the tensor is not contiguous", file=where, remedy="pass tensor.contiguous()")


def _scalar(value: Any, arg: KernelArg, triton_name: str | None, what: str, where: str) -> bytes:
    if is_array(value):
        raise UserError(f"{what} expected, {_kind(value)} given", file=where, remedy="pass a number")
    known = triton_name is not None and plain_name(triton_name) in NUMPY_OF_TRITON
    try:
        packed = _pack_by_type(value, triton_name) if triton_name and known else _pack_by_size(value, arg.size)
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
    number = plain_number(value)
    if number is None:
        raise UserError(f"{_kind(value)} given for a value of type {triton_name}", remedy="pass a number")
    name = plain_name(triton_name)
    if isinstance(number, float) and name[0] in "iu":
        raise UserError(f"{number!r} given for a value of type {triton_name}", remedy="pass an integer")
    if name == "i1" and number not in (0, 1):
        raise UserError(f"{number!r} given for a value of type {triton_name}", remedy="pass True or False")
    return pack_scalar(number, name)


def _pack_by_size(value: Any, size: int) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | int | np.integer | np.bool_):
        return pack_integer(int(value), size)
    if isinstance(value, float) and size in (4, 8):
        return pack_scalar(value, "fp32" if size == 4 else "fp64")
    if isinstance(value, float):
        raise UserError(
            f"a float given, {size} bytes wide", remedy="pass a NumPy scalar of that width, e.g. np.float16"
        )
    if isinstance(value, np.generic) and not isinstance(value, str):
        return value.tobytes()
    raise UserError(f"{_kind(value)} given", remedy="pass an int, a float, a NumPy scalar or bytes")


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    name = "array" if is_array(value) else type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
