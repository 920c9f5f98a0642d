"""`wait`, every class of producer on every counter of every target: without the wait one finding, with it none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from _checked import program

from antiphase import arch
from antiphase.checks import Finding, check_waits
from antiphase.isa import COUNTERS, generation

CDNA, RDNA3, RDNA4, CDNA5 = ("gfx942", "gfx950"), ("gfx1100", "gfx1151"), ("gfx1201",), ("gfx1250",)
GFX12 = RDNA4 + CDNA5
VECTOR, SCALAR, FLAG = "v2", "s4", "scc"
READ = {
    "v2": "v_mov_b32 v9, v2",
    "a2": "v_accvgpr_read_b32 v9, a2",
    "s4": "s_mov_b32 s9, s4",
    "scc": "s_cselect_b32 s9, 1, 2",
}
WRITE = {
    "v2": "v_mov_b32 v2, 0",
    "a2": "v_accvgpr_write_b32 a2, 0",
    "s4": "s_mov_b32 s4, 0",
    "scc": "s_cmp_eq_u32 s8, 0",
}


@dataclass(frozen=True)
class Producer:
    """An instruction with a result, the waits that its result needs (all of them), and where that is so."""

    text: str
    waits: tuple[str, ...]
    targets: tuple[str, ...]
    result: str = VECTOR

    def __str__(self) -> str:
        return f"{self.text.split()[0]}-{self.targets[0]}"


def load(mnemonic: str, rest: str, **counter: str) -> list[Producer]:
    """One load on all generations: its old name and its new one, the waits by generation."""
    old, new = mnemonic.split()
    names = {"gfx9": (old, CDNA), "gfx11": (new, RDNA3), "gfx12": (new, GFX12)}
    return [Producer(f"{names[g][0]} {rest}", tuple(w.split(" + ")), names[g][1]) for g, w in counter.items()]


VM = {"gfx9": "s_waitcnt vmcnt(0)", "gfx11": "s_waitcnt vmcnt(0)", "gfx12": "s_wait_loadcnt 0"}
DS = {"gfx9": "s_waitcnt lgkmcnt(0)", "gfx11": "s_waitcnt lgkmcnt(0)", "gfx12": "s_wait_dscnt 0"}
KM = DS | {"gfx12": "s_wait_kmcnt 0"}
FLAT = {g: f"{VM[g]} + {DS[g]}" for g in VM}
LGKM = (DS["gfx9"],)

PRODUCERS = [
    *load("global_load_dword global_load_b32", "v2, v[0:1], off", **VM),
    *load("scratch_load_dword scratch_load_b32", "v2, off, s8", **VM),
    *load("global_load_short_d16 global_load_d16_b16", "v2, v[0:1], off", **VM),
    *load("flat_load_dword flat_load_b32", "v2, v[0:1]", **FLAT),
    *load("ds_read_b32 ds_load_b32", "v2, v0", **DS),
    *load("ds_add_rtn_u32 ds_add_rtn_u32", "v2, v0, v1", **DS),
    *load("ds_bpermute_b32 ds_bpermute_b32", "v2, v0, v1", **DS),
    *load("ds_swizzle_b32 ds_swizzle_b32", "v2, v0 offset:0x1f", **DS),
    *load("ds_append ds_append", "v2", **DS),
    *(replace(p, result=SCALAR) for p in load("s_load_dword s_load_b32", "s4, s[0:1], 0x0", **KM)),
    *(replace(p, result=SCALAR) for p in load("s_buffer_load_dword s_buffer_load_b32", "s4, s[0:3], 0x0", **KM)),
    *load("buffer_load_dword buffer_load_b32", "v2, off, s[0:3], 0", gfx9=VM["gfx9"], gfx11=VM["gfx11"]),
    Producer("buffer_load_b32 v2, off, s[0:3], null", ("s_wait_loadcnt 0",), GFX12),
    Producer("global_atomic_add v2, v[0:1], v3, off sc0", (VM["gfx9"],), CDNA),
    Producer("flat_atomic_add v2, v[0:1], v3 sc0", (VM["gfx9"], DS["gfx9"]), CDNA),
    Producer("buffer_atomic_add v2, off, s[0:3], 0 sc0", (VM["gfx9"],), CDNA),
    Producer("global_atomic_add_u32 v2, v[0:1], v3, off glc", (VM["gfx11"],), RDNA3),
    Producer("global_atomic_add_u32 v2, v[0:1], v3, off th:TH_ATOMIC_RETURN", (VM["gfx12"],), GFX12),
    Producer("global_load_dword a2, v[0:1], off", (VM["gfx9"],), CDNA, "a2"),
    Producer("ds_read_b32 a2, v0", LGKM, CDNA, "a2"),
    Producer("s_memtime s[4:5]", LGKM, CDNA, SCALAR),
    Producer("s_memrealtime s[4:5]", LGKM, CDNA, SCALAR),
    Producer("ds_read_b64_tr_b16 v[2:3], v0", LGKM, ("gfx950",)),
    Producer("s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_REALTIME)", LGKM, RDNA3, SCALAR),
    Producer("s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_REALTIME)", (KM["gfx12"],), GFX12, SCALAR),
    Producer("s_get_barrier_state s4, -1", (KM["gfx12"],), GFX12, SCALAR),
    Producer("s_barrier_signal_isfirst -1", (KM["gfx12"],), GFX12, FLAG),
    Producer("lds_direct_load v2", ("s_waitcnt expcnt(0)",), RDNA3),
    Producer("ds_direct_load v2", ("s_wait_expcnt 0",), RDNA4),
    Producer("global_load_tr_b128 v[2:5], v[0:1], off", (VM["gfx12"],), RDNA4),
    Producer("global_load_tr16_b128 v[2:5], v[0:1], off", (VM["gfx12"],), CDNA5),
    Producer("ds_load_tr16_b128 v[2:5], v0", (DS["gfx12"],), CDNA5),
    Producer("cluster_load_b32 v2, v[0:1], off", (VM["gfx12"],), CDNA5),
    Producer("global_load_monitor_b32 v2, v[0:1], off", (VM["gfx12"],), CDNA5),
]  # fmt: skip
CASES = [pytest.param(p, target, id=f"{p}-{target}") for p in PRODUCERS for target in p.targets]


def found(lines: list[str], target: str) -> list[Finding]:
    p = program("\n".join(lines), target)
    return check_waits(p, p.kernel())


@pytest.mark.parametrize(("producer", "target"), CASES)
@pytest.mark.parametrize(("uses", "rule"), [(READ, "read_before_wait"), (WRITE, "overwritten_before_wait")])
def test_a_result_needs_its_wait(producer: Producer, target: str, uses: dict[str, str], rule: str) -> None:
    use = uses[producer.result]
    (finding,) = found([producer.text, use], target)
    assert finding.rule == rule
    assert finding.fix is not None and finding.fix.text == producer.waits
    assert found([producer.text, *producer.waits, use], target) == []


@pytest.mark.parametrize(("producer", "target"), [case for case in CASES if "flat" in str(case.id)])
def test_a_flat_result_needs_both_waits(producer: Producer, target: str) -> None:
    for one in producer.waits:
        (finding,) = found([producer.text, one, READ[VECTOR]], target)
        assert finding.fix is not None and finding.fix.text == tuple(w for w in producer.waits if w != one)


def test_every_counter_that_delivers_registers_has_a_producer() -> None:
    # vscnt and storecnt count stores, asynccnt and tensorcnt copies to and from LDS: none has a register as its result
    none = {"vscnt", "storecnt", "asynccnt", "tensorcnt"}
    for target in (t.name for t in arch.targets() if t.name in CDNA + RDNA3 + GFX12):
        texts = " ".join(wait for p in PRODUCERS if target in p.targets for wait in p.waits)
        assert {c for c in COUNTERS[generation(target)] if c not in none and c not in texts} == set()


COPIES = {
    "LDS-DMA": (CDNA, "buffer_load_dword v0, s[0:3], 0 offen lds", ("v0", "s0")),
    "LDS-DMA, global": (CDNA, "global_load_lds_dword v[0:1], off", ("v0",)),
    "async load": (CDNA5, "global_load_async_to_lds_b32 v0, v[2:3], off", ("v0", "v2")),
    "async store": (CDNA5, "global_store_async_from_lds_b32 v[2:3], v0, off", ("v0", "v2")),
    "tensor load": (CDNA5, "tensor_load_to_lds s[0:3], s[8:15]", ("s0", "s8")),
    "tensor store": (CDNA5, "tensor_store_from_lds s[0:3], s[8:15]", ("s0", "s8")),
}


@pytest.mark.parametrize("name", COPIES)
def test_what_a_copy_to_lds_reads_may_be_overwritten_at_once(name: str) -> None:
    targets, text, sources = COPIES[name]
    writes = [f"{'v' if s[0] == 'v' else 's'}_mov_b32 {s}, 0" for s in sources]
    for target in targets:
        assert found([text, *writes], target) == []


@pytest.mark.parametrize("memory", ["global_load_b32 v2, v[0:1], off", "global_store_b32 v[0:1], v2, off"])
def test_a_replay_needs_the_addresses(memory: str) -> None:
    (finding,) = found([memory, "v_mov_b32 v0, 0"], "gfx1250")
    assert finding.rule == "source_not_translated"
    assert found([memory, "s_wait_xcnt 0x0", "v_mov_b32 v0, 0"], "gfx1250") == []
    (finding,) = found(["s_load_b32 s4, s[0:1], 0x0", "s_mov_b32 s0, 0"], "gfx1250")
    assert finding.rule == "source_not_translated"


RELEASE = "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)"
LOAD, STORE = "global_load_b32 v40, v[0:1], off", "global_store_b32 v[0:1], v40, off"
SCRATCH = "scratch_store_b32 off, v40, s8"


@pytest.mark.parametrize("target", RDNA3 + GFX12)
def test_vgprs_are_released_when_nothing_writes_them_any_more(target: str) -> None:
    wait = VM["gfx11" if target in RDNA3 else "gfx12"]
    lines = [LOAD, "s_nop 0", RELEASE]
    (finding,) = found(lines, target)
    assert finding.rule == "freed_before_wait" and finding.facts["registers"] == ("v40",)
    # the s_nop that the release needs stays where it is
    assert finding.fix is not None and (finding.fix.instruction, finding.fix.text) == (1, (wait,))
    assert found([LOAD, wait, *lines[1:]], target) == []
    assert found([STORE, *lines[1:]], target) == []
    assert found(["s_load_b32 s4, s[0:1], 0x0", *lines[1:]], target) == []


@pytest.mark.parametrize("target", RDNA3 + GFX12)
def test_private_memory_goes_with_the_vgprs(target: str) -> None:
    wait = "s_waitcnt_vscnt null, 0" if target in RDNA3 else "s_wait_storecnt 0"
    (finding,) = found([SCRATCH, "s_nop 0", RELEASE], target)
    assert finding.sites[0].role == "store"
    assert finding.fix is not None and finding.fix.text == (wait,)
    assert found([SCRATCH, wait, "s_nop 0", RELEASE], target) == []


def test_a_flat_store_may_be_one_to_private_memory() -> None:
    body = f"flat_store_b32 v[0:1], v40\ns_nop 0\n{RELEASE}"
    plain, private = program(body, "gfx1201"), program(body, "gfx1201", private_segment_fixed_size=64)
    assert check_waits(plain, plain.kernel()) == []
    assert [f.rule for f in check_waits(private, private.kernel())] == ["freed_before_wait"]


@pytest.mark.parametrize("target", GFX12)
@pytest.mark.parametrize(
    ("count", "findings"), [("0", 1), ("0x20", 1), ("0x21", 0), ("0x40", 0), ("s8", 0)], ids=lambda v: str(v)
)  # fmt: skip
def test_giving_back_the_highest_vgprs(target: str, count: str, findings: int) -> None:
    assert [f.rule for f in found([LOAD, f"s_alloc_vgpr {count}"], target)] == ["freed_before_wait"] * findings
    assert found([LOAD, VM["gfx12"], f"s_alloc_vgpr {count}"], target) == []
    assert found([STORE, SCRATCH, f"s_alloc_vgpr {count}"], target) == []


@pytest.mark.parametrize("target", CDNA + RDNA3 + GFX12)
def test_the_end_of_a_wave_waits_by_itself(target: str) -> None:
    lines = [LOAD, "global_store_b32 v[0:1], v41, off", "scratch_store_b32 off, v41, s8", "ds_store_b32 v0, v41"]
    if target in CDNA:
        lines = ["global_load_dword v40, v[0:1], off", "ds_write_b32 v0, v41", COPIES["LDS-DMA"][1]]
    if target in CDNA5:
        lines += [text for targets, text, _ in COPIES.values() if targets == CDNA5]
    assert found(lines, target) == []
