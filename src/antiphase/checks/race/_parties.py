"""Who handed over: the atomic by which a workgroup let another go on, and the one by which that one saw it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from antiphase.checks.order import Cache, Exchange, Group


@dataclass(frozen=True, slots=True)
class Handover:
    """Instructions: the atomic that releases, the one that acquires, and the invalidation that matters: the last one
    before the second access with loads outstanding, if that counts, else the first behind the acquisition."""

    release: int
    acquire: int
    invalidation: int


@dataclass(frozen=True, slots=True)
class _Party:
    """An atomic that a wave executed."""

    wave: int
    operation: int
    exchange: Exchange


def handover(group: Group, x: int, y: int, released: int, caches: Mapping[int, Cache], refills: bool) -> Handover:
    """How accesses of two workgroups, x before y, are in order. released: arrivals before x counts as complete.
    refills: loads that are outstanding at an invalidation count."""
    # an acquisition for a whole cluster may be another workgroup's
    near, far = (
        sorted((o for o in some if o.exchange.acquires), key=_number) for some in (_of_workgroup(group, y), _all(group))
    )
    acquiring = near or far
    second = next((one for one in acquiring if _after(group, one, x, caches) > released), acquiring[-1])
    earlier = [
        one for one in _of_workgroup(group, x)
        if one.exchange.changes and one.exchange.number < second.exchange.number and _follows(group, one, x)
    ]  # fmt: skip
    direct = [one for one in earlier if set(one.exchange.places) & set(second.exchange.places)]
    # with others in between it is the first that could have let them go on
    first = max(direct, key=_number) if direct else min(earlier, key=_number, default=second)
    early = _early(group, y, caches) if refills else []
    return Handover(_at(group, first), _at(group, second), early[-1] if early else _invalidation(group, second, caches))


def _number(one: _Party) -> int:
    return one.exchange.number


def _all(group: Group) -> Iterator[_Party]:
    for wave, own in group.exchanges.items():
        for operation, exchange in own.items():
            yield _Party(wave, operation, exchange)


def _of_workgroup(group: Group, access: int) -> Iterator[_Party]:
    which = int(group.wave[access]) // group.per_member
    return (one for one in _all(group) if one.wave // group.per_member == which)


def _at(group: Group, one: _Party) -> int:
    return int(group.paths[one.wave].instruction[one.operation])


def _after(group: Group, one: _Party, x: int, caches: Mapping[int, Cache]) -> int:
    """Arrivals of the wave of x that came before a wave went on from its atomic."""
    path, passes = group.paths[one.wave], 0
    for is_arrival, operation in path.sync:
        passes += not is_arrival or (operation >= 0 and int(path.instruction[operation]) in caches)
        if not is_arrival and operation == one.operation:
            break
    return _seen(group, one.wave, passes, x)


def _seen(group: Group, wave: int, passes: int, x: int) -> int:
    clock = group.clock
    assert clock is not None
    return int(clock.rows[clock.states[clock.base[wave] + passes], int(group.wave[x])])


def _follows(group: Group, one: _Party, x: int) -> bool:
    """Whether an atomic of the same workgroup comes after x."""
    wave = int(group.wave[x])
    if one.wave == wave:
        return one.operation > int(group.operation[x])
    return _seen(group, one.wave, int(group.paths[one.wave].issued[one.operation]), x) > int(group.arrived[x])


def _early(group: Group, y: int, caches: Mapping[int, Cache]) -> list[int]:
    """Invalidations of the wave of y before it that were issued while loads were outstanding."""
    path, end = group.paths[int(group.wave[y])], int(group.operation[y])
    found = (int(path.instruction[operation]) for operation in sorted(path.early) if operation < end)
    return [i for i in found if caches[i].nearest or caches[i].beyond]


def _invalidation(group: Group, one: _Party, caches: Mapping[int, Cache]) -> int:
    after = group.paths[one.wave].instruction[one.operation + 1 :].tolist()
    return next((i for i in after if i in caches and (caches[i].beyond or caches[i].nearest)), _at(group, one))
