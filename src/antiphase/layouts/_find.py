"""The matrix instruction that a name means on a target, or an error that says what was likely meant."""

from __future__ import annotations

import difflib
import functools
from dataclasses import replace

from antiphase import arch
from antiphase.arch import Builtin, matrix_builtins
from antiphase.errors import UserError
from antiphase.isa import REGISTRY, Matrix, find

NEAR = 3


def find_form(name: str, target: str) -> tuple[str, Matrix]:
    """(mnemonic, record) of a mnemonic, clang builtin or LLVM intrinsic, in any letter case, on a known target.

    UserError, with near names or the targets that have it, if there is none.
    """
    spelled = _mnemonic(name.strip().lower(), target)
    record = find(spelled, target)
    if isinstance(record, Matrix):
        return spelled, record
    if record is not None:
        raise UserError(f"{spelled} is no matrix instruction", remedy=_near(spelled, target))
    has = [each.name for each in arch.targets() if isinstance(find(spelled, each.name), Matrix)]
    if has:
        raise UserError(f"{target} has no {spelled}", remedy=f"{', '.join(has)} have it; {_near(spelled, target)}")
    raise UserError(f"unknown matrix instruction {name!r}", remedy=_near(spelled, target))


def wave_of(name: str, target: str) -> int | None:
    """Lanes of a wave that a clang builtin or LLVM intrinsic is for on a target; None where the name leaves it open.

    UserError for a builtin that the target does not have.
    """
    meant = _builtins(name.strip().lower())
    here = {b.wave for b in meant if target in b.targets}
    if meant and not here:
        has = sorted({each for b in meant for each in b.targets})
        raise UserError(f"{target} has no {name}", remedy=f"{', '.join(has)} have it")
    return here.pop() if len(here) == 1 else None


def forms(target: str) -> tuple[str, ...]:
    """Mnemonics of the target's matrix instructions, one spelling of each. UserError for an unknown target."""
    seen: dict[Matrix, str] = {}
    for name in _names(arch.target(target).name):
        record = find(name, target)
        assert isinstance(record, Matrix)
        seen.setdefault(replace(record, name=""), name)
    return tuple(seen.values())


def aliases(mnemonic: str, record: Matrix, target: str) -> tuple[str, ...]:
    """Other spellings of the same instruction."""
    same = replace(record, name="")
    found = ((name, find(name, target)) for name in _names(target))
    return tuple(
        name for name, r in found if name != mnemonic and isinstance(r, Matrix) and replace(r, name="") == same
    )


@functools.cache
def _names(target: str) -> tuple[str, ...]:
    """In the registry's order, which has the newer spelling of an instruction first."""
    return tuple(name for name in REGISTRY.records if isinstance(find(name, target), Matrix))


def _mnemonic(name: str, target: str) -> str:
    """The mnemonic of a builtin or intrinsic, any other name as it is."""
    meant = _builtins(name)
    return next((b.mnemonic for b in meant if target in b.targets), meant[0].mnemonic) if meant else name


def _builtins(name: str) -> list[Builtin]:
    """The builtins that a name in small letters means; none for a mnemonic, UserError for an unknown builtin."""
    if not name.startswith(("__builtin_amdgcn_", "llvm.amdgcn.")):
        return []
    _, known = matrix_builtins()
    meant = [b for b in known if b.name == name or b.intrinsic == name or b.intrinsic.startswith(f"{name}.")]
    if not meant:
        near = difflib.get_close_matches(name, sorted({b.name for b in known} | {b.intrinsic for b in known}), NEAR)
        raise UserError(f"unknown builtin {name!r}", remedy=f"did you mean {' or '.join(near)}?" if near else None)
    return meant


def _near(name: str, target: str) -> str:
    known = forms(target)
    kind = name.partition("_f")[0].partition("_i")[0].partition("_b")[0]  # v_wmma, v_wmma_scale, v_swmmac, ...
    alike = [each for each in known if each.startswith(f"{kind}_")]
    near = difflib.get_close_matches(name, alike or known, NEAR, cutoff=0.5)
    all_of_them = f"antiphase layout --target {target} lists all"
    return f"near on {target}: {', '.join(near)}" if near else all_of_them
