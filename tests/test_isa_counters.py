"""Which counter a memory instruction counts on, a generation at a time (facts: counters, section 1)."""

import pytest

from antiphase.isa import COUNTERS, Memory, counters, find, generation

TARGETS = {"gfx9": "gfx942", "gfx11": "gfx1151", "gfx12": "gfx1201", "gfx1250": "gfx1250"}


def on(name: str, kind: str, returns: bool = True) -> tuple[str, ...]:
    record = find(name, TARGETS[kind])
    assert isinstance(record, Memory), name
    return counters(record, TARGETS[kind], returns)


@pytest.mark.parametrize(("kind", "target"), TARGETS.items())
def test_generations(kind: str, target: str) -> None:
    assert generation(target) == kind


@pytest.mark.parametrize(
    ("name", "gfx9", "gfx11", "gfx12", "gfx1250"),
    [
        ("global_load_b32", "vmcnt", "vmcnt", "loadcnt", "loadcnt"),
        ("buffer_store_b64", "vmcnt", "vscnt", "storecnt", "storecnt"),
        ("scratch_load_b32", "vmcnt", "vmcnt", "loadcnt", "loadcnt"),
        ("ds_load_b128", "lgkmcnt", "lgkmcnt", "dscnt", "dscnt"),
        ("ds_bpermute_b32", "lgkmcnt", "lgkmcnt", "dscnt", "dscnt"),
        ("s_load_b64", "lgkmcnt", "lgkmcnt", "kmcnt", "kmcnt"),
        ("flat_load_b32", "vmcnt lgkmcnt", "vmcnt lgkmcnt", "loadcnt dscnt", "loadcnt dscnt"),
        ("flat_store_b32", "vmcnt lgkmcnt", "vscnt lgkmcnt", "storecnt dscnt", "storecnt dscnt"),
    ],
)
def test_counter_of_each_class(name: str, gfx9: str, gfx11: str, gfx12: str, gfx1250: str) -> None:
    expected = {"gfx9": gfx9, "gfx11": gfx11, "gfx12": gfx12, "gfx1250": gfx1250}
    assert {kind: " ".join(on(name, kind)) for kind in TARGETS} == expected


def test_an_atomic_is_a_load_if_it_returns_and_a_store_if_not() -> None:
    assert on("global_atomic_add_u32", "gfx11", True) == ("vmcnt",)
    assert on("global_atomic_add_u32", "gfx11", False) == ("vscnt",)
    assert on("buffer_atomic_swap_b32", "gfx12", False) == ("storecnt",)


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("global_inv", "gfx12", ("loadcnt",)), ("global_wb", "gfx12", ("storecnt",)), ("buffer_gl0_inv", "gfx11", ()),
        ("global_load_async_to_lds_b32", "gfx1250", ("asynccnt",)),
        ("global_store_async_from_lds_b32", "gfx1250", ("asynccnt",)),
        ("ds_atomic_async_barrier_arrive_b64", "gfx1250", ("asynccnt",)),
        ("ds_atomic_barrier_arrive_rtn_b64", "gfx1250", ("dscnt",)),
        ("tensor_load_to_lds", "gfx1250", ("tensorcnt",)), ("tensor_store_from_lds", "gfx1250", ("tensorcnt",)),
        ("global_load_lds_dword", "gfx9", ("vmcnt",)), ("lds_direct_load", "gfx11", ("expcnt",)),
    ],
)  # fmt: skip
def test_counters_of_single_instructions(name: str, kind: str, expected: tuple[str, ...]) -> None:
    assert on(name, kind) == expected


def test_every_memory_instruction_has_counters_that_its_target_knows() -> None:
    from antiphase.isa import REGISTRY

    for record in REGISTRY.all():
        if isinstance(record, Memory):
            for kind, target in TARGETS.items():
                if record.targets is None or target in record.targets:
                    assert set(counters(record, target)) <= {*COUNTERS[kind], "expcnt"}, record.name
