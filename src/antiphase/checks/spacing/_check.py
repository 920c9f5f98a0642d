"""`spacing`: two instructions closer together than the hardware allows, on some path.

Every recent producer is followed with the separation that has passed since, on the path with the least; where paths
meet the smaller one counts. What separates, how much is needed and who says so is the table's (data/spacing_*.toml).
What follows a finding is judged as if that were fixed, so that one nop missing is one finding.
"""

from __future__ import annotations

from antiphase.asm import Block, Kernel, Program
from antiphase.checks._finding import Finding, Fix
from antiphase.checks._flow import forward
from antiphase.checks.spacing._forwarding import partial_forwarding
from antiphase.checks.spacing._found import found
from antiphase.checks.spacing._kinds import Kind, kinds_of
from antiphase.checks.spacing._masks import overwritten_masks
from antiphase.checks.spacing._roles import Units
from antiphase.checks.spacing._rules import Rule, rules
from antiphase.checks.spacing._separation import SEPARATIONS, STUCK, text
from antiphase.checks.spacing._sgprs import read_sgprs
from antiphase.machine import with_full_numbers

Pending = dict[tuple[int | str, str], tuple[int, int]]
"""(producer, separation) -> separation passed since, and the producer's instruction. A rule that asks for no registers
needs its latest producer only, so that the rule's name stands for it."""

_GREATEST_FIELD = 15
_RANK = {"error": 0, "warning": 1, "info": 2}


def check_spacing(program: Program, kernel: Kernel) -> list[Finding]:
    """Findings of one kernel, in the order of the instructions that come too early.

    Raises Unsupported where paths disagree about the upper bits of VGPR numbers (gfx1250).
    """
    kinds = kinds_of(with_full_numbers(program, kernel), program.target)
    distances = _Distances(program.target, kernel, kinds, _has_xnack(program))
    found = distances.findings()
    for pattern in (partial_forwarding, overwritten_masks, read_sgprs):
        found += pattern(program.target, kernel, kinds)
    return sorted(found, key=lambda finding: finding.sites[-1].instruction)


def _has_xnack(program: Program) -> bool:
    """Whether the file asks for XNACK replay: `gfx942:xnack+` as its target."""
    return any(text is not None and ".amdgcn_target" in text and "xnack+" in text for _, text in program.lines)


def _join(a: Pending, b: Pending) -> Pending:
    both = dict(a)
    for key, passed in b.items():
        both[key] = min(passed, both.get(key, passed))
    return both


class _Distances:
    """The rules about two instructions."""

    def __init__(self, target: str, kernel: Kernel, kinds: list[Kind], xnack: bool) -> None:
        self.target, self.kernel, self.kinds = target, kernel, kinds
        known = [rule for rule in rules(target) if rule.producer and (xnack or not rule.id.startswith("xnack_"))]
        roles = {kind.tags: (_fitting(known, kind, True), _fitting(known, kind, False)) for kind in kinds}
        produced = {rule for first, _ in roles.values() for rule in first}
        used = produced & {rule for _, second in roles.values() for rule in second}
        self.produces = [[(r, n) for r in roles[k.tags][0] if r in used and (n := _requires(r, k))] for k in kinds]
        self.limits = [_limits(asked) for asked in self.produces]
        self.consumes = [used.intersection(roles[k.tags][1]) for k in kinds]
        names = {r.counts for r in used}.union(*(r.alternatives for r in used))
        linear = [n for n in names if SEPARATIONS[n].linear]
        self.added = [{n: SEPARATIONS[n].counted(0, k) for n in linear} for k in kinds]

    def findings(self) -> list[Finding]:
        entry = forward(self.kernel, {}, lambda state, block: self._through(state, block, []), _join)
        findings: list[Finding] = []
        for block in self.kernel.blocks:
            if block.index in entry:
                self._through(entry[block.index], block, findings)
        return findings

    def _through(self, state: Pending, block: Block, findings: list[Finding]) -> Pending:
        pending = dict(state)
        for index in range(block.start, block.end):
            if pending and self.consumes[index]:
                worst = self._judge(pending, index)
                findings += worst
                _as_if_fixed(pending, worst)
            self._pass(pending, index)
            self._produce(pending, index)
        return pending

    def _pass(self, pending: Pending, index: int) -> None:
        added, kind = self.added[index], self.kinds[index]
        for key, (count, producer) in list(pending.items()):
            separation = key[1]
            now = count + added[separation] if separation in added else SEPARATIONS[separation].counted(count, kind)
            if now >= self.limits[producer][separation]:
                del pending[key]
            elif now != count:
                pending[key] = now, producer

    def _produce(self, pending: Pending, index: int) -> None:
        for rule, _ in self.produces[index]:
            start = STUCK if not SEPARATIONS[rule.counts].linear and "trans" in self.kinds[index].tags else 0
            owner = index if rule.overlap else rule.id
            for separation in (rule.counts, *rule.alternatives):
                pending[owner, separation] = start, index

    def _judge(self, pending: Pending, index: int) -> list[Finding]:
        """Of the rules violated here, the one of each group of separations that asks for most."""
        worst: dict[str, list[Finding]] = {}
        for (owner, separation), (count, producer) in pending.items():
            for rule, required in self.produces[producer]:
                if count >= required or rule.counts != separation or rule not in self.consumes[index]:
                    continue
                if owner != (producer if rule.overlap else rule.id):
                    continue
                finding = self._violation(rule, required, producer, index, count, pending)
                if finding is not None:
                    worst.setdefault(SEPARATIONS[separation].group, []).append(finding)
        return [one for found in worst.values() for one in _most_severe(found)]

    def _violation(
        self, rule: Rule, required: int, producer: int, index: int, count: int, pending: Pending
    ) -> Finding | None:
        shared = _shared(rule, self.kinds[producer], self.kinds[index])
        if shared is None:
            return None
        by_field = isinstance(rule.required, str) and rule.required != "length"
        if by_field:
            value = self.kernel.instructions[index].modifier(str(rule.required), 0)
            required = value if isinstance(value, int) else 0
        have = max(count, 0)
        owner = producer if rule.overlap else rule.id
        enough = any(pending.get((owner, n), (need, 0))[0] >= need for n, need in rule.alternatives.items())
        if have >= required or enough:
            return None
        missing = required - have
        if by_field:
            fix = Fix("replace", index, (self._with_field(index, str(rule.required), have),))
        elif rule.counts == "clause":
            fix = Fix("delete", producer)
        else:
            source = next((str(o) for o in self.kernel.instructions[index].operands[1:2]), "v0")
            fix = Fix("insert", index, text(rule.fix or rule.counts, missing, self.target, source))
        return found(rule, producer, index, required, have, shared, fix)

    def _with_field(self, index: int, field: str, value: int) -> str:
        instruction = self.kernel.instructions[index]
        return instruction.text().replace(f"{field}:{instruction.modifier(field)}", f"{field}:{value}")


def _fitting(known: list[Rule], kind: Kind, as_producer: bool) -> list[Rule]:
    return [rule for rule in known if kind.has(rule.producer if as_producer else rule.consumer)]


def _requires(rule: Rule, producer: Kind) -> int:
    """What a producer asks for, at most."""
    if rule.required == "length":
        return producer.length
    if isinstance(rule.required, str):
        return _GREATEST_FIELD
    return rule.required.get(producer.cost, 0) if isinstance(rule.required, dict) else rule.required


def _limits(asked: list[tuple[Rule, int]]) -> dict[str, int]:
    """By separation, the one after which a producer's rules ask for no more."""
    limits: dict[str, int] = {}
    for rule, required in asked:
        for separation, needed in ((rule.counts, required), *rule.alternatives.items()):
            limits[separation] = max(needed, limits.get(separation, 0))
    return limits


def _shared(rule: Rule, first: Kind, second: Kind) -> Units | None:
    """The registers a rule is about in these two; None if it does not apply to them."""
    if rule.same_opcode is not None and rule.same_opcode != (first.opcode == second.opcode):
        return None
    shared: Units = frozenset()
    for a, b in rule.pairs:
        if a in first.registers and b in second.registers:
            shared |= first.registers[a] & second.registers[b]
    if rule.overlap and not shared:
        return None
    if rule.match:
        same, passes = first.registers["d"] == second.registers["c"], first.cost == second.cost
        fits = {"same": same, "exact": same and passes, "other_passes": same and not passes, "partial": not same}
        if not fits[rule.match]:
            return None
    return shared


def _most_severe(found: list[Finding]) -> list[Finding]:
    """The most demanding error, and what is less sure only if it demands more."""
    chosen: list[Finding] = []
    for finding in sorted(found, key=lambda f: (_RANK[f.severity], -_missing(f), f.sites[0].instruction)):
        if all(_missing(finding) > _missing(other) for other in chosen):
            chosen.append(finding)
    return chosen


def _missing(finding: Finding) -> int:
    missing = finding.facts["missing"]
    assert isinstance(missing, int)
    return missing


def _as_if_fixed(pending: Pending, worst: list[Finding]) -> None:
    for finding in worst:
        if finding.severity != "error" or finding.fix is None or finding.fix.action != "insert":
            continue
        for key, (count, producer) in pending.items():
            if SEPARATIONS[key[1]].group == finding.facts["group"] and count != STUCK:
                pending[key] = count + _missing(finding), producer
