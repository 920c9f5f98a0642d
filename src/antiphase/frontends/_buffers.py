"""Which host memory belongs to an array argument: the allocation a kernel may touch through it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from antiphase.errors import UserError
from antiphase.frontends._tensor import Tensor


@dataclass(frozen=True)
class Buffer:
    """One allocation: host address, size in bytes, name for messages, and the object that keeps it alive."""

    address: int
    size: int
    name: str
    writable: bool
    owner: object


def is_array(value: Any) -> bool:
    """Whether `value` is passed to a kernel as a pointer: a NumPy array or anything with `data_ptr()`."""
    return isinstance(value, np.ndarray) or hasattr(value, "data_ptr")


def address_of(value: Any) -> int:
    """The host address of an array argument's first element."""
    return value.ctypes.data if isinstance(value, np.ndarray) else value.data_ptr()


def buffer_of(value: Any, name: str) -> Buffer:
    """The whole allocation behind an array argument, views included.

    A NumPy array (or `Tensor`) gives its outermost base array, a torch tensor its storage; anything else with
    `data_ptr()` gives what `numel()` and `element_size()` say. UserError for an object that tells no size.
    """
    if isinstance(value, Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        root = root_array(value)
        low, high = np.lib.array_utils.byte_bounds(root)
        return Buffer(low, high - low, name, value.flags.writeable, root)
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        return Buffer(storage.data_ptr(), storage.nbytes(), name, True, storage)
    if hasattr(value, "numel") and hasattr(value, "element_size"):
        return Buffer(value.data_ptr(), value.numel() * value.element_size(), name, True, value)
    raise UserError(
        f"argument {name}: {type(value).__name__} has an address and no size",
        remedy="pass a NumPy array, an antiphase.tensor or a torch CPU tensor",
    )


def root_array(array: np.ndarray) -> np.ndarray:
    """The outermost NumPy array whose memory `array` is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def merged(buffers: Iterable[Buffer]) -> list[Buffer]:
    """Buffers sorted by address, empty ones dropped, overlapping ones joined into one."""
    result: list[Buffer] = []
    for buffer in sorted(buffers, key=lambda one: one.address):
        last = result[-1] if result else None
        if buffer.size == 0:
            continue
        if last is None or buffer.address >= last.address + last.size:
            result.append(buffer)
            continue
        names = last.name if buffer.name in last.name.split("/") else f"{last.name}/{buffer.name}"
        end = max(last.address + last.size, buffer.address + buffer.size)
        result[-1] = replace(
            last,
            size=end - last.address,
            name=names,
            writable=last.writable or buffer.writable,
            owner=(last.owner, buffer.owner),
        )
    return result


class Exposed:
    """Tensors whose address a script has asked for: a kernel may reach them through a table of pointers."""

    def __init__(self) -> None:
        self._tensors: dict[int, weakref.ref[Any]] = {}

    def add(self, value: Any) -> None:
        """Remember `value` for as long as the script keeps it."""
        key = id(value)
        self._tensors[key] = weakref.ref(value, lambda _: self._tensors.pop(key, None))

    def buffers(self) -> list[Buffer]:
        alive = [reference() for reference in list(self._tensors.values())]
        return [buffer_of(value, "tensor reached by its data_ptr()") for value in alive if value is not None]
