"""Remakes src/antiphase/arch/data/operands.tsv: what operands and modifiers LLVM's assembler takes.

Takes about an hour and the `triton` extra.

    python tools/operand_forms.py > src/antiphase/arch/data/operands.tsv

A form of an instruction is a set of kinds for each operand (`asm/_operand_kinds.py`), any combination of which
assembles. It is found by putting a sample of every kind in each place of a line that does; lines with two places
changed that assemble and are in no form yet start another. Targets that differ in the last digit are asked once.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence

from assembler_forms import families
from operand_samples import (
    DPP,
    DPP_KINDS,
    EVEN,
    FEW,
    FEW_OF_VALU,
    HINTS,
    MEMORY,
    MODIFIERS,
    NAMED,
    SCALAR_TAILS,
    SECOND_HALVES,
    SIGNABLE,
    SIGNED,
    SUFFIXES,
    TAILS,
    Seed,
    accumulators,
    formatted,
    is_valu,
    line,
    matrix_operands,
    modifier_of,
    operand_of,
    samples,
    seed_of,
    sign_of,
    variants,
    with_accumulators,
    with_base,
    with_scope,
)

from antiphase import arch
from antiphase.arch import OperandForm as Form
from antiphase.asm import Instruction, parse_instruction
from antiphase.asm._accepted import fits
from antiphase.asm._operand_kinds import kinds
from antiphase.frontends._llvm import Isolated, assembler

_ASKED = ("gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1200", "gfx1250")
_MOST_FORMS = 24
_FEATURES = ("", "-real-true16", "+wavefrontsize64")  # the latter two of targets that have a choice


class Prober:
    """Asks the assembler for one target with one set of features."""

    def __init__(self, target: str, features: str) -> None:
        self.target = target
        self._tool = Isolated(assembler(), features)
        self._samples = {valu: samples(target, valu) for valu in (True, False)}

    def accepted(self, lines: Sequence[str]) -> list[bool]:
        found: list[bool] = []
        for start in range(0, len(lines), 50_000):
            part = lines[start : start + 50_000]
            refused = self._tool.refusals(part, self.target)
            found += [index not in refused for index in range(len(part))]
        return found

    def seeds(self) -> list[Seed]:
        """One line of each mnemonic that assembles, and of each encoding of vector instructions."""
        tried: list[Seed] = []
        for form in arch.assembler_inventory().accepted(self.target).values():
            if form:
                name, operands, tail = seed_of(form)
                suffixes = SUFFIXES if name.startswith("v_") and not name.startswith("v_dual_") else {"": ("",)}
                # scalar sources of a packed f32 are read as one word for both halves
                halves = ("", " op_sel_hi:[0,0]", " op_sel_hi:[0,0,0]") if name.startswith("v_pk_") else ("",)
                tried += [
                    (name + suffix, given, tail + more + half)
                    for suffix, all_ in suffixes.items()
                    for more in all_
                    for half in halves
                    for given in dict.fromkeys(variants(operands))
                ]
                if "f8f6f4" in name:
                    tried += [(f"{name}_e64", *each) for each in formatted(operands)]
                if name.startswith(("v_wmma", "v_swmmac")):
                    tried += [(f"{name}_e64", given, "") for given in matrix_operands(name)]
        tried += [(name, ("v0", "v0", "v0"), "") for name in SECOND_HALVES]
        found = self.good(tried)
        known = arch.assembler_inventory().mnemonics
        encoded = {name.removesuffix(end) for name, *_ in found for end in SUFFIXES if end and name.endswith(end)}
        return [seed for seed in found if seed[0] not in encoded or seed[0] not in known]

    def good(self, seeds: Sequence[Seed]) -> list[Seed]:
        return [seed for seed, good in zip(seeds, self.accepted([line(*each) for each in seeds]), strict=True) if good]

    def forms(self, seeds: Sequence[Seed]) -> list[Form]:
        operands: list[list[set[str]]] = [[set() for _ in seed[1]] for seed in seeds]
        tried, places = [], []
        for index, (name, given, tail) in enumerate(seeds):
            for place in range(len(given)):
                texts = [*self._samples[is_valu(name)], *(("", each) for each in self._signed(given[place]))]
                tried += [line(name, (*given[:place], text, *given[place + 1 :]), tail) for _, text in texts]
                places += [(index, place, kind or sign_of(text)) for kind, text in texts]
        for (index, place, kind), good in zip(places, self.accepted(tried), strict=True):
            if good:
                operands[index][place].add(kind)
                if kind[0] == "v" and kind[1:].isdigit() and kind != "v1" and self.target not in EVEN:
                    operands[index][place].add(f"{kind}o")
        modifiers, needed = self._modifiers(seeds)
        return [
            Form(tuple(map(frozenset, sets)), frozenset(modifiers[index]), frozenset(needed[index]))
            for index, sets in enumerate(operands)
        ]

    def _signed(self, base: str) -> list[str]:
        """Input modifiers are tried on registers that may stand there; most places take a register."""
        texts = (base, *SIGNABLE) if base[0] in "vsa" and base not in NAMED else SIGNABLE
        return [sign.format(text) for sign in SIGNED for text in dict.fromkeys(texts)]

    def _modifiers(self, seeds: Sequence[Seed]) -> tuple[list[set[str]], list[set[str]]]:
        found: list[set[str]] = []
        needed: list[set[str]] = [set() for _ in seeds]
        tried, places = [], []
        for index, (name, given, tail) in enumerate(seeds):
            words = tail.split()
            found.append({modifier_of(word) for word in words})
            for word in words:
                rest = "".join(f" {other}" for other in words if other != word)
                tried.append(line(name, given, rest))
                places.append((index, word, True))
                instead = DPP.split() if modifier_of(word) in DPP_KINDS else HINTS if word.startswith("th:") else ()
                tried += [line(name, given, f" {other}{rest}") for other in instead]
                places += [(index, other, False) for other in instead]
            # some orders of modifiers are refused
            for at in range(len(words) + 1):
                before, behind = ("".join(f" {other}" for other in part) for part in (words[:at], words[at:]))
                tried += [line(name, given, f"{before} {with_scope(word)}{behind}") for word in MODIFIERS]
                places += [(index, word, False) for word in MODIFIERS]
        for (index, word, without), good in zip(places, self.accepted(tried), strict=True):
            kind = modifier_of(word)
            if without and not good:
                needed[index].add("dpp" if kind in DPP_KINDS else "th" if kind.startswith("th:") else kind)
            elif good and not without:
                found[index].add(kind)
        return found, needed

    def neighbours(self, seed: Seed, form: Form) -> Iterator[Seed]:
        """Lines two steps away that the form does not have."""
        name, given, tail = seed
        few = (FEW_OF_VALU if is_valu(name) else FEW).split()
        for i, j in itertools.combinations(range(len(given)), 2):
            for a, b in itertools.product([*few, *accumulators(given[i])], [*few, *accumulators(given[j])]):
                if not (kinds(operand_of(a)) <= form.operands[i] and kinds(operand_of(b)) <= form.operands[j]):
                    operands = list(given)
                    operands[i], operands[j] = a, b
                    yield name, tuple(operands), tail
        tails = SCALAR_TAILS if name.startswith("s_") else TAILS if name.startswith(MEMORY) else (tail,)
        for more in tails:
            if not given:
                yield from ((name, (text,), "") for text in few)
                return
            yield name, given, more
            for i in range(len(given) + 1):
                yield name, (*given[:i], *given[i + 1 :]), more
                for text in few:
                    yield name, (*given[:i], text, *given[i:]), more
                    if i < len(given):
                        yield name, (*given[:i], text, *given[i + 1 :]), more
        if name.startswith(MEMORY) and not name.startswith("s_"):
            yield from with_accumulators(seed)
            yield from with_base(seed)
        for i, j in itertools.permutations(range(len(given)), 2) if name.startswith(MEMORY) else ():
            yield name, given[:i], tail
            for text in few:
                replaced = (*given[:j], text, *given[j + 1 :])
                yield name, (*replaced[:i], *replaced[i + 1 :]), tail


def _parsed(seed: Seed) -> Instruction:
    one = parse_instruction(line(*seed))
    return one.pair if one.pair is not None and one.pair.mnemonic == seed[0] else one


def explore(prober: Prober, seeds: Sequence[Seed]) -> dict[str, list[Form]]:
    """All forms of each mnemonic, from one or more lines of it."""
    found: dict[str, list[Form]] = {}
    others: dict[str, list[tuple[Seed, Instruction]]] = {}
    work = list(seeds)
    while work:
        fresh = prober.forms(work)
        for (name, *_), form in zip(work, fresh, strict=True):
            found.setdefault(name, []).append(form)
        tried = [each for seed, form in zip(work, fresh, strict=True) for each in prober.neighbours(seed, form)]
        for seed in prober.good(list(dict.fromkeys(tried))):
            others.setdefault(seed[0], []).append((seed, _parsed(seed)))
        for name, lines in others.items():
            lines[:] = [each for each in lines if not any(fits(form, each[1], prober.target) for form in found[name])]
        # one of each mnemonic a round: its form may have the others
        work = [lines.pop(0)[0] for name, lines in others.items() if lines and len(found[name]) < _MOST_FORMS]
        print(f"{prober.target}: {len(found)} mnemonics, {len(work)} more forms", file=sys.stderr, flush=True)
    return {name: _largest(forms) for name, forms in found.items()}


def _largest(forms: Sequence[Form]) -> list[Form]:
    """Without those that another form contains."""
    forms = list(dict.fromkeys(forms))
    return [form for form in forms if not any(_within(form, other) for other in forms if other is not form)]


def _within(form: Form, other: Form) -> bool:
    return (
        len(form.operands) == len(other.operands)
        and form.modifiers <= other.modifiers
        and other.needed <= form.needed
        and all(map(frozenset.issubset, form.operands, other.operands))
    )


def of_target(target: str) -> dict[str, list[Form]]:
    """The forms for a target, whatever its wave size and however 16-bit registers are named."""
    plain = Prober(target, "")
    seeds = plain.seeds()
    found = explore(plain, seeds)
    for features in _FEATURES[1:] if target not in ("gfx942", "gfx950") else ():
        other = Prober(target, features)
        theirs = other.seeds()
        close = {seed: _close(seed) for seed in {*seeds, *theirs}}
        lines = [line(*each) for each in itertools.chain.from_iterable(close.values())]
        differ = dict(zip(lines, map(bool.__ne__, plain.accepted(lines), other.accepted(lines)), strict=True))
        names = {seed[0] for seed, near in close.items() if any(differ[line(*each)] for each in near)}
        lacking = names.difference(name for name, *_ in theirs)
        near = other.good([each for seed, all_ in close.items() if seed[0] in lacking for each in all_])
        starts = [*(seed for seed in theirs if seed[0] in names), *{seed[0]: seed for seed in near}.values()]
        for name, forms in explore(other, starts).items():
            found[name] = _largest([*found.get(name, ()), *forms])
    return found


def _close(seed: Seed) -> list[Seed]:
    name, given, tail = seed
    places = range(len(given))
    words = (*FEW.split(), "vcc", "vcc_lo")
    return [seed, *((name, (*given[:i], text, *given[i + 1 :]), tail) for i in places for text in words)]


def main() -> None:
    with multiprocessing.Pool(2) as pool:
        forms = pool.map(of_target, _ASKED, chunksize=1)
    write(dict(zip(map(str, _ASKED), forms, strict=True)))


def write(found: Mapping[str, Mapping[str, Sequence[Form]]]) -> None:
    """Print the table of what was found, by target asked and mnemonic."""
    by_form: dict[tuple[str, Form], list[str]] = {}
    for asked, forms in found.items():
        for name, all_ in forms.items():
            for form in all_:
                by_form.setdefault((name, form), []).extend(_alike(asked))
    numbers: dict[frozenset[str], int] = {}
    rows: dict[tuple[str, ...], list[str]] = {}
    for (name, form), targets in sorted(by_form.items(), key=lambda item: (item[0][0], len(item[0][1].operands))):
        sets = [numbers.setdefault(each, len(numbers)) for each in (*form.operands, form.modifiers)]
        row = " ".join(map(str, sets)), " ".join(sorted(form.needed)), " ".join(families(targets))
        rows.setdefault(row, []).append(name)
    print(f"# LLVM {assembler().revision.partition('-')[0]}, the assembler inside the Triton 3.9.0 wheel.")
    print("# Remade by tools/operand_forms.py. gfx110x is gfx1100 to gfx1103, and so on.")
    print("# First the sets, by number, then the forms: the sets of the operands in order and last that of the")
    print("# modifiers, the modifiers it must have, the targets, the mnemonics")
    for words, number in numbers.items():
        print(number, " ".join(sorted(words)), sep="\t")
    for (sets, needed, targets), names in rows.items():
        print(sets, needed, targets, " ".join(names), sep="\t")


def _alike(asked: str) -> list[str]:
    """The targets that the answer of one holds for."""
    if asked in EVEN:
        return [asked]
    return [each.name for each in arch.targets() if each.name[:-1] == asked[:-1]]


if __name__ == "__main__":
    main()
