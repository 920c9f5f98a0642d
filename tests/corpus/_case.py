"""One corpus entry: a Triton kernel, how to launch it, and what NumPy says it computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from antiphase.frontends import Compiled, compile_kernel, triton_type

BOTH = ("gfx942", "gfx950")


@dataclass(frozen=True)
class Expected:
    """What an array argument holds after the launch, and the absolute error allowed (0: bit-equal)."""

    value: np.ndarray
    bound: np.ndarray | float = 0.0


def exact(value: Any) -> Expected:
    return Expected(np.asarray(value))


def close(value: Any, relative: float, absolute: float = 0.0) -> Expected:
    value = np.asarray(value, dtype=np.float64)
    return Expected(value, np.abs(value) * relative + absolute)


@dataclass(frozen=True)
class Case:
    """A kernel with its launch.

    arguments: given a generator, the values in launch order (arrays, ints, floats), outputs included.
    reference: given copies of those values from before the launch, argument index to `Expected`.
    types: Triton types of scalars other than the defaults (int: i32, float: fp32).
    """

    name: str
    kernel: Any
    grid: tuple[int, int, int]
    arguments: Callable[[np.random.Generator], Sequence[Any]]
    reference: Callable[..., Mapping[int, Expected]]
    constexprs: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    targets: tuple[str, ...] = BOTH

    def __str__(self) -> str:
        return self.name

    def inputs(self, seed: int = 0) -> list[Any]:
        """Argument values in launch order; the same for the same seed."""
        return list(self.arguments(np.random.default_rng(seed)))

    def compile(self, target: str, **overrides: Any) -> Compiled:
        """The kernel for `target`, specialised as Triton's launch would for these arguments."""
        values = dict(zip(self._parameters(), self.inputs(), strict=True))
        signature = {name: self.types.get(name) or _type_of(value) for name, value in values.items()}
        divisible = [name for name, value in values.items() if isinstance(value, int) and value % 16 == 0]
        return compile_kernel(
            self.kernel,
            signature,
            self.constexprs,
            target,
            divisible_by_16=divisible,
            **{**self.options, **overrides},
        )

    def check(self, before: Sequence[Any], after: Sequence[Any]) -> None:
        """Raise AssertionError naming the worst element where `after` is not what NumPy makes of `before`."""
        for index, expected in self.reference(*before).items():
            _compare(self._parameters()[index], after[index], expected)

    def _parameters(self) -> list[str]:
        return [name for name in self.kernel.arg_names if name not in self.constexprs]


def _type_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "*" + triton_type(value.dtype)
    return "i32" if isinstance(value, int) else "fp32"


def _compare(name: str, got: np.ndarray, expected: Expected) -> None:
    assert got.shape == expected.value.shape, f"{name}: shape {got.shape}, expected {expected.value.shape}"
    if np.ndim(expected.bound) == 0 and expected.bound == 0:
        wrong = _bits(got) != _bits(expected.value.astype(got.dtype))
        error = wrong.astype(np.float64)
    else:
        value, wanted = got.astype(np.float64), expected.value.astype(np.float64)
        with np.errstate(invalid="ignore"):
            error = np.abs(value - wanted)
        same = (value == wanted) | (np.isnan(value) & np.isnan(wanted))
        wrong = ~same & ~(error <= expected.bound)
    if wrong.any():
        worst = int(np.argmax(np.where(wrong, np.nan_to_num(error, nan=np.inf), -1)))
        at = tuple(int(i) for i in np.unravel_index(worst, got.shape))
        raise AssertionError(
            f"{name}: {int(wrong.sum())} of {got.size} wrong; "
            f"worst at {at}: {got[at]!r}, expected {expected.value[at]!r}"
        )


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")
