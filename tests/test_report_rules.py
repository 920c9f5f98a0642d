"""Every rule has words: golden reports of a kernel for each rule about a launch, and no rule without any."""

from __future__ import annotations

import ast
import fnmatch
import io
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _asm import Snippet
from _memory_kernels import Kernel
from rich.console import Console
from syrupy.assertion import SnapshotAssertion
from test_checks_barriers import JOIN, by_wave, initialized, launched
from test_checks_race import BARRIER, DMA, DONE, MEMORY, READ_OTHER, WRITE_, snippet
from test_checks_useless import APART

import antiphase.checks
from antiphase import asm
from antiphase.checking import failed
from antiphase.checks import CHECKS, Checked, CheckedKernel, check_execution, suppress
from antiphase.errors import AntiphaseError
from antiphase.frontends import launch_asm
from antiphase.isa import COUNTERS
from antiphase.machine import Execution
from antiphase.machine.uninitialised import leave_unwritten
from antiphase.report._wording import RULES, wording
from antiphase.report.findings import message, print_findings

LAUNCH_CHECKS = ("race", "stage", "sync", "init", "mem", "useless", "bank")


def run(body: str, *, inputs: int = 0, threads: int = 128, groups: int = 1) -> Execution:
    """Of two gfx942 waves, with 128 dwords an input; v2 is this wave's place in LDS, v3 the other's, s16 the wave."""
    # where memory begins decides in what pieces of it a race is told
    arrays = [aligned(np.zeros(256, np.uint32)) for _ in range(inputs)]
    return snippet(body, inputs, threads).run(*arrays, record=True, grid=(groups,)).execution


def aligned(array: np.ndarray) -> np.ndarray:
    """The 128 dwords of 256 that begin at a multiple of 512 bytes."""
    start = -array.ctypes.data % 512 // 4
    return array[start : start + 128]


def run_on(target: str, body: str, threads: int = 32) -> Execution:
    return Kernel(target, inputs=1, threads=threads)(body).run(np.zeros(128, np.uint32), record=True).execution


def astray(body: str, fill: Callable[[np.ndarray], np.ndarray] = lambda array: array) -> Execution:
    k = Snippet(inputs=1, lds=256, scratch=16, threads=64)
    k(body)
    return k.run(fill(np.zeros(64, np.uint32)), record=True).execution


def stages(stage: str, gap: int = 1, threads: int = 128, close: bool = True) -> str:
    """A loop of these parts, in which all waves but the first are `gap` rendezvous behind."""
    body = f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lin\n{BARRIER * gap}.Lin:\ns_mov_b32 s17, 4\n.Lagain:\n{stage}"
    body += "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n" + DONE
    return body + (f"s_cmp_eq_u32 s16, 0\ns_cbranch_scc0 .Lout\n{BARRIER * gap}.Lout:\n" if close else "")


FLAGS = """v_mov_b32 v1, 0
v_mov_b32 v5, 0x100
v_mov_b32 v9, 1
s_mov_b64 exec, 1
s_cmp_eq_u32 {group}, 0
s_cbranch_scc0 .Lspin
{store}{release}{count}s_branch .Lend
.Lspin:
{look}{seen}v_readfirstlane_b32 s22, v6
s_cmp_eq_u32 s22, 0
s_cbranch_scc1 .Lspin
{acquire}{load}.Lend:
s_nop 0
"""
CDNA3 = {
    "group": "s2",
    "store": "global_store_dword v1, v9, s[10:11]\n",
    "release": "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)\n",
    "count": "global_atomic_add v5, v9, s[10:11]\n",
    "look": "global_atomic_add v6, v5, v1, s[10:11] sc0\n",
    "seen": "s_waitcnt vmcnt(0)\n",
    "acquire": "buffer_inv sc1\n",
    "load": "global_load_dword v7, v1, s[10:11]\n",
}
CDNA5 = {
    "group": "ttmp9",
    "store": "global_store_b32 v1, v9, s[10:11]\n",
    "release": "global_wb scope:SCOPE_DEV\ns_wait_storecnt 0\n",
    "count": "global_atomic_add_u32 v5, v9, s[10:11] scope:SCOPE_DEV\n",
    "look": "global_atomic_add_u32 v6, v5, v1, s[10:11] th:TH_ATOMIC_RETURN scope:SCOPE_DEV\n",
    "seen": "s_wait_loadcnt 0\n",
    "acquire": "global_inv scope:SCOPE_DEV\ns_wait_loadcnt 0\n",
    "load": "global_load_b32 v7, v1, s[10:11]\n",
}


def flags(**parts: str) -> Execution:
    """One workgroup stores and counts up, another waits for the count and loads. parts: other than they should be."""
    return run(FLAGS.format(**(CDNA3 | parts)), inputs=1, threads=64, groups=2)


def flags_on_cdna5(**parts: str) -> Execution:
    k = Kernel("gfx1250", inputs=1)(FLAGS.replace("b64 exec", "b32 exec_lo").format(**(CDNA5 | parts)))
    arrays = [np.zeros((1, 32), np.uint32), aligned(np.zeros(256, np.uint32))]
    return launch_asm(asm.parse(k.text(), "k.s"), grid=2, args=arrays, threads=32, record=True)


LOCAL = DONE + BARRIER
SAFE = WRITE_ + LOCAL + BARRIER + READ_OTHER + LOCAL + BARRIER
IN_STEP = "s_cmp_lt_u32 s16, 0x100\ns_cbranch_scc1 .Lin\n" + BARRIER + ".Lin:\ns_mov_b32 s17, 3\n.Lagain:\n" + BARRIER
IN_STEP += "s_sub_u32 s17, s17, 1\ns_cmp_eq_u32 s17, 0\ns_cbranch_scc0 .Lagain\n"
SKIPPED = "s_cmp_eq_u32 s16, 0\ns_cbranch_scc1 .Lskip\n" + BARRIER + ".Lskip:\n"
RDNA_STAGES = """v_readfirstlane_b32 s20, v0
s_cmp_eq_u32 s20, 0
s_cbranch_scc1 .Lin
{0}.Lin:
s_mov_b32 s21, 4
.Lagain:
{0}s_sub_co_u32 s21, s21, 1
s_cmp_eq_u32 s21, 0
s_cbranch_scc0 .Lagain
s_cmp_eq_u32 s20, 0
s_cbranch_scc0 .Lout
{0}.Lout:
""".format("s_barrier_signal -1\ns_barrier_wait -1\n")
SIGNAL, WAIT = "s_barrier_signal -1\n", "s_barrier_wait -1\n"
LOADS = "global_load_dword v4, v2, s[10:11]\nglobal_load_dword v5, v2, s[10:11] offset:64\n"
USED = "s_add_u32 s22, s8, s10\n"

EXAMPLES = {
    "race/missing_completion": lambda: run(WRITE_ + BARRIER + READ_OTHER),
    "race/missing_rendezvous": lambda: run(WRITE_ + READ_OTHER),
    "race/missing_wait": lambda: run(DMA + "ds_read_b32 v4, v2\n", inputs=1),
    "race/landing_order": lambda: run_on("gfx1250", 2 * "global_load_async_to_lds_b32 v1, v1, s[10:11]\n"),
    "race/same_store": lambda: run("v_mov_b32 v5, 0\nds_write_b32 v5, v5\n"),
    "race/between_workgroups": lambda: run(MEMORY + "global_store_dword v5, v0, s[10:11]\n", inputs=1, groups=3),
    "race/release_without_write_back": lambda: flags(release="s_waitcnt vmcnt(0)\n"),
    "race/release_before_completion": lambda: flags(release="s_waitcnt vmcnt(0)\nbuffer_wbl2 sc1\n"),
    "race/acquire_without_invalidate": lambda: flags(acquire=""),
    "race/acquire_before_completion": lambda: flags(seen="buffer_inv sc1\ns_waitcnt vmcnt(0)\n", acquire=""),
    "race/invalidation_outstanding": lambda: flags_on_cdna5(acquire="global_inv scope:SCOPE_DEV\n"),
    "stage/too_few_rendezvous": lambda: run(stages(WRITE_ + LOCAL + READ_OTHER + LOCAL)),
    "stage/completed_too_late": lambda: run(stages(WRITE_ + BARRIER + LOCAL + READ_OTHER + LOCAL + BARRIER)),
    "stage/order_reversed": lambda: run(stages(WRITE_ + LOCAL + READ_OTHER + LOCAL, gap=2)),
    "stage/no_offset": lambda: run(IN_STEP),
    "stage/uneven_groups": lambda: run(stages(BARRIER), threads=256),
    "stage/offset_not_closed": lambda: run(stages(SAFE, close=False)),
    "stage/needless_completion": lambda: run(stages(SAFE + "ds_write_b32 v2, v0 offset:1024\n" + LOCAL)),
    "stage/not_two_waves_a_simd": lambda: run_on("gfx1201", RDNA_STAGES, threads=64),
    "sync/uneven_arrivals": lambda: run(BARRIER + SKIPPED),
    "sync/not_initialized": lambda: run_on("gfx1250", "s_barrier_signal 1\n"),
    "sync/initialized_in_no_order": lambda: launched(initialized(2, 1, meet="") + by_wave("", JOIN)),
    "sync/nothing_joined": lambda: launched(initialized(2, 1) + by_wave("", "s_barrier_wait 1\n")),
    "sync/joined_too_late": lambda: launched(
        initialized(2, 1) + by_wave("s_barrier_signal 1\n", JOIN + "s_barrier_wait 1\n", "s_barrier_signal 1\n")
    ),
    "sync/phase_not_separate": lambda: launched(
        initialized(2, 1) + "s_barrier_join 1\ns_barrier_signal 1\ns_barrier_wait 1\n"
    ),
    "sync/cluster_signalled_twice": lambda: launched("s_barrier_signal -3\ns_barrier_wait -3\n", 64, 2, 2),
    "sync/signal_without_wait": lambda: run_on("gfx1201", SIGNAL + SIGNAL + WAIT),
    "init/lds_never_written": lambda: run("ds_read_b32 v4, v2 offset:512\n"),
    "init/scratch_never_written": lambda: astray("scratch_load_dword v7, off, off offset:8\n"),
    "init/memory_never_written": lambda: astray("global_load_dword v6, v1, s[10:11]\n", leave_unwritten),
    "mem/read_outside_memory": lambda: astray("global_load_dword v6, v1, s[10:11] offset:4\n"),
    "mem/write_outside_memory": lambda: astray("global_store_dword v1, v0, s[10:11] offset:-4\n"),
    "mem/outside_lds": lambda: astray("ds_read_b32 v7, v1 offset:16\n"),
    "mem/outside_scratch": lambda: astray("scratch_load_dword v7, off, off offset:64\n"),
    "mem/lanes_inactive": lambda: run_on(
        "gfx1250", "s_mov_b32 exec_lo, 15\nglobal_load_tr16_b128 v[4:7], v1, s[8:9]\n"
    ),
    "useless/wait_completes_nothing_needed": lambda: run(USED + WRITE_ + DONE + DONE + BARRIER + READ_OTHER, inputs=1),
    "useless/wait_stricter_than_needed": lambda: run(
        USED + LOADS + "s_waitcnt vmcnt(0)\nv_mov_b32 v6, v4\n", inputs=1
    ),
    "useless/barrier_orders_nothing": lambda: run(WRITE_ + DONE + BARRIER + BARRIER + READ_OTHER),
    "useless/barrier_keeps_offset": lambda: run(APART),
    "bank/conflict": lambda: run("v_mul_u32_u24 v5, 8, v0\nds_read_b32 v4, v5\n", threads=64),
}  # fmt: skip


def example(rule: str) -> CheckedKernel:
    """The one finding of this rule alone: what else its kernel has belongs to the examples of other rules."""
    part = check_execution(EXAMPLES[rule](), [rule.split("/")[0]])
    found = [f for f in part.checked.findings if f"{f.check}/{f.rule}" == rule]
    return replace(part, checked=Checked(tuple(found[:1]), part.checked.incomplete))


def printed(part: CheckedKernel) -> str:
    """The report, without what differs from run to run: addresses."""
    out = io.StringIO()
    print_findings(suppress([part]), Console(file=out, width=100))
    return re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", out.getvalue())


@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_report_of_a_rule(rule: str, snapshot: SnapshotAssertion) -> None:
    part = example(rule)
    assert len(part.checked.findings) == 1
    assert printed(part) == snapshot
    assert not raw(part)


def raw(part: CheckedKernel) -> list[str]:
    """What looks like data in the words of a finding: brackets and quotes of Python, NumPy, None, names of facts."""
    (finding,) = part.checked.findings
    words = wording(finding)
    names = [key for key in finding.facts if "_" in key]
    pattern = "|".join([r"[{}]", r"\bnp\.", r"\barray\b", r"\bNone\b", r"\(\d+,", r"':", *names])
    return re.findall(pattern, "\n".join([message(finding), words.meaning, words.cite]))


def test_a_wait_without_a_signal_and_a_deadlock(snapshot: SnapshotAssertion) -> None:
    """The machine stops at both, so that no recording has them."""
    k = Kernel("gfx1201", threads=64)(WAIT)
    with pytest.raises(AntiphaseError) as caught:
        k.run(record=True)
    program = asm.parse(k.text(), "k.s")
    part = failed(program, program.kernel(), caught.value)
    assert printed(part) == snapshot and not raw(part)


def test_a_trap(snapshot: SnapshotAssertion) -> None:
    """The wave that executes it ends the launch, so that no recording has it either."""
    k = Kernel("gfx1201", threads=64)("s_bfe_u32 s20, ttmp8, 0x50019\ns_cmp_eq_u32 s20, 1")
    k("s_cbranch_scc0 .Lgoes_on\ns_trap 2\n.Lgoes_on:")
    with pytest.raises(AntiphaseError) as caught:
        k.run(record=True)
    program = asm.parse(k.text(), "k.s")
    part = failed(program, program.kernel(), caught.value)
    assert printed(part) == snapshot and not raw(part)


MAKERS = {"Finding", "Missing", "_finding", "_found", "_note", "add"}
"""Functions of `checks` that take a rule's name."""
NO_RULES = {*CHECKS, "error", "warning", "info", *itertools.chain(*COUNTERS.values()), "va_vdst", "vm_vsrc"}
"""What else those take."""


def named(module: ast.Module) -> Iterator[str]:
    """The rule names of a module of checks, as they get into a Finding; patterns where they are put together."""
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=arguments) if name in MAKERS:
                yield from (text for argument in arguments for text in texts(argument))
            case (
                ast.Call(func=ast.Name("Issue"), args=[rule, *_])
                | ast.Call(func=ast.Name("unsolved"), args=[_, rule, *_])
            ):
                yield from texts(rule)
            case ast.Assign(targets=[ast.Name("rule")], value=rule):
                yield from texts(rule)
            case ast.Assign(targets=[ast.Name("_RULES")], value=ast.Dict(values=rules)):
                yield from (text for rule in rules for text in texts(rule))
            case ast.Yield(ast.Tuple([rule, *_])) | ast.Return(ast.Tuple([rule, *_])):
                yield from texts(rule)


def texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(str(name)):
            yield name
        case ast.IfExp(body=one, orelse=other):
            yield from (*texts(one), *texts(other))
        case ast.JoinedStr(parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts)


def rules_of_checks() -> set[str]:
    folder = Path(antiphase.checks.__file__).parent
    modules = [file for file in folder.rglob("_*.py") if file.parent.name != "spacing"]  # its table has the words
    found = {name for file in modules for name in named(ast.parse(file.read_text()))}
    return {name for name in found - NO_RULES if "_" in name or name in ONE_WORD}


ONE_WORD = {"conflict", "spills", "registers", "operand"}
"""Rules whose names are single words, as much else is."""


def test_every_rule_of_the_checks_has_words_and_no_words_lack_a_rule() -> None:
    used, known = rules_of_checks(), {key.split("/")[1] for key in RULES}
    assert not [rule for rule in used if not fnmatch.filter(known, rule)]
    assert not [rule for rule in known - {"deadlock", "trap"} if not any(fnmatch.fnmatch(rule, name) for name in used)]


def test_every_rule_about_a_launch_has_an_example() -> None:
    stopped = {"sync/deadlock", "sync/wait_without_signal", "mem/trap"}
    in_the_text = {"init/register_never_written", "stage/unused_borders", "stage/stages_not_separate"}
    launched = {key for key in RULES if key.split("/")[0] in LAUNCH_CHECKS}
    assert set(EXAMPLES) | stopped == launched - in_the_text
