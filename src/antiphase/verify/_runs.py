"""Instructions run on the CPU machine: registers before, registers after."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from antiphase import arch
from antiphase.arch._check_specs import Runs
from antiphase.errors import AntiphaseError
from antiphase.verify._answers import Found
from antiphase.verify._run_kernel import registers_after
from antiphase.verify._values import Row, each, like, malformed, same

# What would change the meaning of the lines of another check in the same kernel.
_ALONE = re.compile(r"s_(?:setreg|set_|round_mode|denorm_mode|endpgm|c?branch|setpc|swappc|trap|sethalt|barrier)|.*:")


def runs(specs: Sequence[Runs], target: str) -> list[Found]:
    """What the machine makes of each check; expected and got: registers that differ, at the first lane that does."""
    found: dict[int, list[Found]] = {}
    together: dict[int, list[int]] = {}
    for number, spec in enumerate(specs):
        for wave in _waves(spec, target):
            if problem := malformed(spec, wave):
                found.setdefault(number, []).append(_no_result(spec, problem))
            elif _is_alone(spec):
                found.setdefault(number, []).append(_one(spec, target, wave))
            else:
                together.setdefault(wave, []).append(number)
    for wave, numbers in together.items():
        group = [specs[number] for number in numbers]
        for number, result in zip(numbers, _group(group, target, wave), strict=True):
            found.setdefault(number, []).append(result)
    return [_worst(found[number]) if number in found else _no_wave(spec, target) for number, spec in enumerate(specs)]


def _waves(spec: Runs, target: str) -> list[int]:
    return [size for size in arch.target(target).wave_sizes if spec.wave in (0, size)]


def _is_alone(spec: Runs) -> bool:
    return "mode" in {*spec.given, *spec.expect} or any(_ALONE.match(line.strip()) for line in spec.lines)


def _group(specs: Sequence[Runs], target: str, wave: int) -> list[Found]:
    """All in one kernel, for compiling takes longest; each on its own if that fails."""
    try:
        results = registers_after(specs, target, wave)
    except (AntiphaseError, ValueError):
        results = None
    if results is None:
        return [_one(spec, target, wave) for spec in specs]
    return [_compare(spec, result, wave) for spec, result in zip(specs, results, strict=True)]


def _one(spec: Runs, target: str, wave: int) -> Found:
    try:
        results = registers_after([spec], target, wave)
    except (AntiphaseError, ValueError) as error:
        return _no_result(spec, str(error))
    if results is None:
        return _no_result(spec, "an access outside the kernel's memory")
    return _compare(spec, results[0], wave)


def _compare(spec: Runs, result: Mapping[str, Row], wave: int) -> Found:
    expected: dict[str, int | float] = {}
    got: dict[str, int | float] = {}
    for name, value in spec.expect.items():
        held = result[name]
        for lane, (written, bits) in enumerate(zip(each(value, len(held)), held, strict=True)):
            if not same(written, bits):
                where = f"{name} of lane {lane}" if len(held) > 1 else name
                expected[where], got[where] = written, like(written, bits)
                break
    return Found(not expected, _asked(spec), expected, got, f"wave{wave}")


def _worst(found: list[Found]) -> Found:
    """Of several wave sizes, the one that does not agree."""
    return min(found, key=lambda one: one.agrees is not False)


def _no_result(spec: Runs, problem: str) -> Found:
    return Found(False, _asked(spec), dict(spec.expect), None, problem)


def _no_wave(spec: Runs, target: str) -> Found:
    return Found(None, _asked(spec), dict(spec.expect), None, f"{target} has no wave{spec.wave}")


def _asked(spec: Runs) -> str:
    return "; ".join(spec.lines)
