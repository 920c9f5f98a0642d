"""One launch written down: grid, work-items, and a value for each argument; for the command line and for files.

Short: `a=random:f16:1024x1024 c=empty:f32:1024x1024 n=1024`, arguments in the kernel's order.
`init` finds reads of what is `empty` and has not been written.
A JSON file or text: {"grid": [4], "threads": 256, "lds_bytes": 0, "args": {"a": "random:f16:1024x1024", "n": 1024}}.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from antiphase.errors import UserError
from antiphase.frontends._sizes import sides, whole

_TYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "fp8e4m3": ml_dtypes.float8_e4m3fn, "fp8e5m2": ml_dtypes.float8_e5m2,
    "fp8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "fp8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8,
}  # fmt: skip
_FILLS = ("random", "zeros", "ones", "arange", "empty")
_KEYS = ("grid", "threads", "lds_bytes", "args")
_SHAPE = "write fill:type:shape, such as random:f16:64x64, a number, null, or a .npy file"


@dataclass(frozen=True)
class LaunchSpec:
    """names: of the arguments, '' where not given. values: arrays and numbers, in the order of the kernel's arguments.

    grid, threads (both may have up to three sides), lds_bytes: as for `launch_asm`; None where the text is to say.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    grid: tuple[int, ...] | None = None
    threads: int | tuple[int, ...] | None = None
    lds_bytes: int | None = None

    def fresh(self) -> list[Any]:
        """Copies of the values: a launch works in place."""
        return [value.copy() if isinstance(value, np.ndarray) else value for value in self.values]


def read_launch_spec(text: str) -> LaunchSpec:
    """A launch from its short form, from JSON text, or from the path of a JSON file.

    Random values are the same in every run: floats are normal, integers 0 to 15. UserError says what cannot be read.
    """
    where = None
    if text.endswith(".json"):
        where = text
        try:
            text = Path(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"cannot read: {getattr(error, 'strerror', error)}", file=where) from None
    try:
        return _from_json(text) if where or text.lstrip().startswith("{") else _from_words(text)
    except UserError as error:
        raise UserError(error.what, file=error.file or where, remedy=error.remedy) from None


def _from_words(text: str) -> LaunchSpec:
    pairs = [word.rpartition("=") for word in text.split()]
    return _spec([(name, _number(value)) for name, _, value in pairs], {})


def _number(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _from_json(text: str) -> LaunchSpec:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"the launch is not JSON: {error}") from None
    if not isinstance(document, dict) or set(document) - set(_KEYS):
        raise UserError("the launch is not an object of known keys", remedy=f"keys are {', '.join(_KEYS)}")
    args = document.get("args", [])
    if not isinstance(args, dict | list):
        raise UserError("'args' is neither an object nor a list", remedy='write {"a": "random:f16:64x64", "n": 64}')
    return _spec(list(args.items()) if isinstance(args, dict) else [("", value) for value in args], document)


def _spec(pairs: list[tuple[str, object]], rest: Mapping[str, Any]) -> LaunchSpec:
    rng = np.random.default_rng(0)
    grid, lds_bytes = rest.get("grid"), rest.get("lds_bytes")
    if grid is not None:
        sides(grid, "grid", "workgroups")
        grid = tuple(grid) if isinstance(grid, list) else (grid,)
    if lds_bytes is not None:
        whole(lds_bytes, "lds_bytes", 0, "the bytes of dynamic LDS")
    names, values = [name for name, _ in pairs], [_value(name, value, rng) for name, value in pairs]
    threads = rest.get("threads")
    if threads is not None:
        sides(threads, "threads", "work-items")
        threads = tuple(threads) if isinstance(threads, list) else threads
    return LaunchSpec(tuple(names), tuple(values), grid, threads, lds_bytes)


def _value(name: str, value: object, rng: np.random.Generator) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str):
        raise UserError(f"argument '{name}' is {value!r}", remedy=_SHAPE)
    if value.endswith(".npy"):
        return _from_file(name, value)
    fill, type_, shape = value.split(":") if value.count(":") == 2 else ("", "", "")
    try:
        sizes = tuple(int(size) for size in shape.split("x"))
    except ValueError:
        sizes = ()
    if fill not in _FILLS or type_ not in _TYPES or not sizes or min(sizes) < 0:
        raise UserError(
            f"argument '{name}' is '{value}'",
            remedy=f"{_SHAPE}; fills are {', '.join(_FILLS)}, types {', '.join(_TYPES)}",
        )
    try:
        return _filled(fill, np.dtype(_TYPES[type_]), sizes, rng)
    except (MemoryError, ValueError) as error:
        raise UserError(f"argument '{name}' is '{value}': {error}", remedy="give a smaller shape") from None


def _from_file(name: str, path: str) -> np.ndarray:
    try:
        loaded = np.load(path)
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"argument '{name}': {error}", file=path) from None
    if not isinstance(loaded, np.ndarray):
        raise UserError(f"argument '{name}' has several arrays", file=path, remedy="write one with np.save")
    return loaded


def _filled(fill: str, dtype: np.dtype, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    if fill == "empty":
        from antiphase.machine.uninitialised import leave_unwritten

        return leave_unwritten(np.empty(shape, dtype))
    if fill == "random":
        values = rng.integers(0, 16, shape) if dtype.kind in "iu" else rng.standard_normal(shape)
    elif fill == "arange":
        values = np.arange(int(np.prod(shape))).reshape(shape)
    else:
        values = np.full(shape, int(fill == "ones"))
    return values.astype(dtype)
