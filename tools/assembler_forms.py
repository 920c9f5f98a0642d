"""Remakes src/antiphase/arch/data/assembler.tsv: the mnemonics that LLVM's AMDGPU assembler knows.

Of each: the targets that accept it, and one line that assembles there. Takes minutes and the `triton` extra.

    python tools/assembler_forms.py > src/antiphase/arch/data/assembler.tsv

Names come from the assembler's own mnemonic table, length-prefixed strings in the library. A line is found by
extending operand lists one operand at a time and keeping those that the assembler calls too short. Graphics
instructions get none: antiphase does not mean to run them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from antiphase import arch
from antiphase.frontends._llvm import LABEL, Isolated, assembler

_ANCHOR = b"\x09s_abs_i32\x0ds_absdiff_i32"
_NAME = re.compile(rb"[a-z][a-z0-9_.]*")
_SHORT = "too few operands"
_ABSENT = ("invalid instruction", "instruction not supported on this GPU")

# In the order of preference; the first form found is the one kept.
_OPERANDS = [
    *("v0", "v[0:1]", "v[0:2]", "v[0:3]", "v[0:5]", "v[0:7]", "v[0:15]", "v[0:31]"),
    *("s0", "s[0:1]", "s[0:2]", "s[0:3]", "s[0:7]", "s[0:15]", "vcc", "vcc_lo"),
    *("0", "1", "a0", "v0.l", "m0", "exec", "null"),
]
_MEMORY_OPERANDS = [*_OPERANDS, "off"]
_MEMORY = ("buffer_", "cluster_", "ds_", "flat_", "global_", "scratch_", "tbuffer_", "tensor_")
_BRANCH = ["s[0:1]", "s0", LABEL]
# gfx9 has a result that gfx10 and later do not, and its beginning alone is called wrong.
_COMPARISONS = [("vcc", "v0", "v0"), ("vcc", "v[0:1]", "v[0:1]"), ("vcc", "v[0:1]", "v0")]
_FIRST = {
    "v_cmp_": ["vcc", "vcc_lo", "v0", "v[0:1]", "v0.l", "s0"],
}
_SPECIAL = {
    "s_barrier_init": ["m0"],
    "s_barrier_join": ["m0"],
    "s_barrier": ["-1", "1", "m0", "s0"],
    "s_get_barrier_state": ["s0", "-1"],
    "s_sendmsg_rtn": ["s0", "s[0:1]", "sendmsg(MSG_RTN_GET_REALTIME)"],
    "s_setvskip": ["1", "0"],
    "s_setreg": ["hwreg(HW_REG_MODE)", "hwreg(HW_REG_WAVE_MODE)", "s0", "0"],
    "s_getreg": ["hwreg(HW_REG_MODE)", "hwreg(HW_REG_WAVE_MODE)", "s0", "0"],
    "v_s_": ["s0"],  # their source is scalar, though LLVM reads a vector register
    **dict.fromkeys(("s_branch", "s_cbranch", "s_call", "s_subvector_loop"), _BRANCH),
}
_GRAPHICS = ("image_", "exp", "v_interp", "lds_param")
_TAILS = (" gds", " lds", " glc", " sc0", " th:TH_ATOMIC_RETURN", " offset:1")
_WIDTH = 40  # operand lists kept for one mnemonic at each length
_FEW = 4  # of them, once one is found
# LLVM lets some operands be left out, such as the VCC of a comparison: so many more are tried.
_LONGER = 2
_LONGEST = 9  # operands

Operands = tuple[str, ...]


def mnemonics(library: bytes) -> list[str]:
    """The assembler's mnemonic table: the longest run of length-prefixed names around a known pair."""
    at = library.index(_ANCHOR)
    start = min(i for i in range(at - 40_000, at + 1) if _reaches(library, i, at))
    names: list[str] = []
    while (name := _name(library, start)) is not None:
        names.append(name)
        start += 1 + len(name)
    return names


def _name(library: bytes, at: int) -> str | None:
    text = library[at + 1 : at + 1 + library[at]]
    return text.decode() if len(text) > 2 and _NAME.fullmatch(text) else None


def _reaches(library: bytes, start: int, at: int) -> bool:
    while start < at:
        name = _name(library, start)
        if name is None:
            return False
        start += 1 + len(name)
    return start == at


def known(names: Sequence[str], tool: Isolated, target: str) -> list[str]:
    """The names that the assembler has for a target, whatever it says about missing operands."""
    refused = tool.refusals(names, target)
    return [name for i, name in enumerate(names) if not refused.get(i, "").startswith(_ABSENT)]


def line(name: str, operands: Sequence[str], tail: str = "") -> str:
    """A dual-issue name is a line only with its second half."""
    second = " :: v_dual_mov_b32 v7, v2" if name.startswith("v_dual_") else ""
    return f"{name} {', '.join(operands)}".rstrip() + tail + second


def forms(names: Sequence[str], tool: Isolated, target: str) -> dict[str, str]:
    """Name to a line that assembles for the target; names for which none was found are left out."""
    found: dict[str, str] = {}
    found_at: dict[str, int] = {}
    open_: dict[str, list[Operands]] = {
        name: [(), *_COMPARISONS] if name.startswith("v_cmpx") else [()] for name in names
    }
    for length in range(_LONGEST + 1):
        tries = [(name, operands) for name, lists in open_.items() for operands in lists]
        refused = tool.refusals([line(*each) for each in tries], target)
        good: dict[str, list[Operands]] = {}
        short: dict[str, list[Operands]] = {}
        wrong: dict[str, list[Operands]] = {}
        for i, (name, operands) in enumerate(tries):
            kind = good if i not in refused else short if refused[i].startswith(_SHORT) else wrong
            kind.setdefault(name, []).append(operands)
        unfinished = {n: [*wrong.get(n, ()), *short.get(n, ())] for n in open_ if n not in found | good}
        found |= {name: line(name, lists[0]) for name, lists in good.items()}
        found |= _with_tails(unfinished, tool, target)
        for name in found:
            found_at.setdefault(name, length)
        going_on: dict[str, list[Operands]] = {}
        for name in open_:
            if name not in found:
                going_on[name] = short.get(name, [])[:_WIDTH]
            elif 0 < length < found_at[name] + _LONGER:
                going_on[name] = [*good.get(name, ())[:_FEW], *short.get(name, ())[: 2 * _FEW]]
        open_ = {
            name: [(*operands, more) for operands in lists for more in _candidates(name, length)]
            for name, lists in going_on.items()
        }
    return found | _repeated([name for name in names if name not in found], tool, target)


def _repeated(names: Sequence[str], tool: Isolated, target: str) -> dict[str, str]:
    """For names whose unfinished operand lists the assembler calls wrong: lists with much repetition."""
    found: dict[str, str] = {}
    for name in names:
        kinds = _candidates(name, 1)
        lists = [(d, *[s] * n) for n in (1, 2, 3) for d in kinds for s in kinds]
        stages = (
            lists,
            [(*each, last) for each in lists for last in kinds],
            [(d, s, s, d, last, last) for d in kinds for s in kinds for last in kinds],
        )
        for stage in stages:
            if name not in found:
                found |= _accepted([(name, line(name, operands)) for operands in stage], tool, target)
    return found


def _candidates(name: str, position: int) -> Sequence[str]:
    special = _FIRST | _SPECIAL if position == 0 else _SPECIAL
    chosen = next((words for prefix, words in special.items() if name.startswith(prefix)), None)
    return chosen or (_MEMORY_OPERANDS if name.startswith(_MEMORY) else _OPERANDS)


def _with_tails(refused: dict[str, list[tuple[str, ...]]], tool: Isolated, target: str) -> dict[str, str]:
    """Some instructions need a modifier, and are called short or wrong without it."""
    tries = [
        (name, line(name, operands, tail))
        for name, lists in refused.items()
        if name.startswith(_MEMORY)
        for operands in lists[:_WIDTH]
        for tail in _TAILS
    ]
    return _accepted(tries, tool, target)


def _accepted(tries: Sequence[tuple[str, str]], tool: Isolated, target: str) -> dict[str, str]:
    """Name to the first of its lines that assembles."""
    refused = tool.refusals([text for _, text in tries], target)
    return {name: text for i, (name, text) in reversed(list(enumerate(tries))) if i not in refused}


def main() -> None:
    library = assembler()
    tool = Isolated(library)
    names = mnemonics(library.path.read_bytes())
    rows: dict[tuple[str, str], list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for target in (each.name for each in arch.targets()):
        present = known(names, tool, target)
        wanted = [name for name in present if not name.startswith(_GRAPHICS)]
        found = _accepted([(name, text) for name in wanted for text in by_name.get(name, ())], tool, target)
        found |= forms([name for name in wanted if name not in found], tool, target)
        for name in present:
            text = found.get(name, "")
            rows.setdefault((name, text), []).append(target)
            if text and text not in by_name.setdefault(name, []):
                by_name[name].append(text)
        print(f"{target}: {len(present)} known, {len(wanted) - len(found)} without a form", file=sys.stderr)
    print(f"# LLVM {library.revision.partition('-')[0]}, the assembler inside the Triton 3.9.0 wheel.")
    print("# Remade by tools/assembler_forms.py. gfx110x is gfx1100 to gfx1103, and so on.")
    print("# mnemonic", "targets that accept it", "a line that assembles there", sep="\t")
    for (name, text), targets in sorted(rows.items()):
        print(name, " ".join(families(targets)), text, sep="\t")


def families(targets: Sequence[str]) -> list[str]:
    """`gfx110x` for all known targets that differ in the last digit only, where all are there."""
    everyone = [each.name for each in arch.targets()]
    families = {name[:-1]: {each for each in everyone if each[:-1] == name[:-1]} for name in targets}
    whole = {stem for stem, members in families.items() if len(members) > 1 and members <= set(targets)}
    return list(dict.fromkeys(f"{name[:-1]}x" if name[:-1] in whole else name for name in targets))


if __name__ == "__main__":
    main()
