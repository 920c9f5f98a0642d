"""Coverage: the inventory is what the installed assembler says, and the counts are what antiphase does."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from antiphase import arch, asm
from antiphase.cli import main
from antiphase.coverage import CLASSES, GRAPHICS, instruction_class, instructions, sheet
from antiphase.coverage import _survey as survey_module
from antiphase.errors import UserError
from antiphase.frontends import _llvm

TARGETS = [each.name for each in arch.targets()]
TOOL = Path(__file__).parents[1] / "tools" / "assembler_forms.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("assembler_forms", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_inventory_names_what_the_assembler_knows(tool: ModuleType) -> None:
    library = _llvm.assembler()
    names = tool.mnemonics(library.path.read_bytes())
    for target in TARGETS:
        assert set(arch.assembler_inventory().accepted(target)) == set(tool.known(names, library, target))


def test_the_inventory_names_the_assembler() -> None:
    revision = _llvm.assembler().revision.partition("-")[0]
    assert revision in arch.assembler_inventory().source


@pytest.mark.parametrize("target", TARGETS)
def test_every_line_of_the_inventory_assembles_and_parses(target: str) -> None:
    lines = [line for line in arch.assembler_inventory().accepted(target).values() if line]
    assert len(lines) > 1300
    assert not _llvm.assembler().refusals([*lines, "end:"], target)
    for line in lines:
        assert asm.parse_instruction(line).text() == line


@pytest.mark.parametrize("target", TARGETS)
def test_only_graphics_have_no_line(target: str) -> None:
    accepted = arch.assembler_inventory().accepted(target)
    assert not [n for n, line in accepted.items() if not line and instruction_class(n) != GRAPHICS]


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("SALU", "s_add_u32 s_mov_b64 s_bitcmp0_b32"),
        ("VALU", "v_add_f32 v_nop v_readlane_b32"),
        ("VOPD", "v_dual_add_f32"),
        ("packed", "v_pk_fma_f32 v_dot4_i32_i8"),
        ("matrix", "v_mfma_f32_4x4x1f32 v_accvgpr_read_b32 v_swmmac_f32_16x16x32_f16"),
        ("SMEM", "s_load_dword s_buffer_prefetch_data s_dcache_inv s_memtime"),
        ("FLAT", "global_load_b32 cluster_load_b32 scratch_store_b8 flat_atomic_add"),
        ("buffer", "tbuffer_load_format_x buffer_load_dword"),
        ("LDS", "ds_read_b32 lds_direct_load"),
        ("tensor", "tensor_load_to_lds"),
        ("control", "s_set_gpr_idx_on s_waitcnt s_getpc_b64 s_wait_expcnt s_setreg_b32 s_branch"),
        ("graphics", "v_interp_p10_f32 image_load exp lds_param_load s_wait_bvhcnt ds_bvh_stack_rtn_b32"),
    ],
)
def test_classes(group: str, names: str) -> None:
    assert {instruction_class(name) for name in names.split()} == {group}
    assert group in CLASSES


def test_outcomes():
    def outcome(name: str, line: str, target: str = "gfx942") -> tuple[bool, str, str]:
        entry = survey_module.entry(name, line, target)
        return entry.parsed, entry.status, entry.reason

    assert outcome("v_add_f32", "v_add_f32 v0, v0, v0") == (True, "exact", "")
    name = "v_mfma_f32_32x32x8_f16"
    assert outcome(name, f"{name} v[0:15], v[0:1], v[0:1], v[0:15]") == (True, "modelled", "")
    assert outcome("image_load", "") == (True, "unsupported", "a graphics instruction")
    assert outcome("v_made_up", "v_made_up v0") == (True, "unsupported", "no record of its meaning")
    assert outcome("s_rfe_b64", "s_rfe_b64 s[0:1]")[1] == "unsupported"
    assert outcome("v_add_f32", "v_add_f32 v0, [") == (
        False,
        "unsupported",
        "not parsed: brackets do not match",
    )
    assert outcome("v_add_f32", "v_add_f32 v0, v0")[2] == "2 operands where v_add_f32 takes 3"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An inventory of five, so that a survey takes no time."""
    forms = {
        "s_nop": "s_nop 0",
        "v_add_f32": "v_add_f32 v0, v0, v0",
        "v_exp_f32": "v_exp_f32 v0, v0",
        "s_rfe_b64": "s_rfe_b64 s[0:1]",
        "image_load": "",
    }
    mnemonics = {name: arch.Mnemonic(name, {"gfx942": line}) for name, line in forms.items()}
    monkeypatch.setattr(arch, "assembler_inventory", lambda: arch.Inventory("an assembler", mnemonics))


def test_coverage_as_json(small: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "coverage", "--json", "-"]) == 0
    targets = json.loads(capsys.readouterr().out)["targets"]
    assert list(targets) == TARGETS
    found = targets["gfx942"]
    assert (found["accepted"], found["parsed"], found["executed"]) == (4, 4, 3)
    assert found["executed_names"] == {"s_nop": "exact", "v_add_f32": "exact", "v_exp_f32": "modelled"}
    assert list(found["unsupported"]) == ["s_rfe_b64"] and found["unsupported"]["s_rfe_b64"]
    assert found["graphics"] == ["image_load"]
    assert found["classes"]["VALU"] == {
        "accepted": 2,
        "parsed": 2,
        "exact": 1,
        "modelled": 1,
        "unsupported": 0,
    }
    assert targets["gfx1250"]["accepted"] == 0


def test_coverage_in_words(small: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "coverage", "--target", "gfx942", "--reasons"]) == 0
    shown = capsys.readouterr().out
    rows = [row.split() for row in shown.splitlines()]
    assert ["all", "but", "graphics", "4", "4", "2", "1", "1"] in rows
    assert ["s_rfe_b64"] in rows
    assert "gfx950" not in shown


def test_a_sheet_gives_evidence_and_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "show", "V_FMA_F32_e64", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["name"] == "v_fma_f32" and set(found["availability"]) == set(TARGETS)
    (meaning,) = found["meanings"]
    assert meaning["status"] == "exact" and meaning["cite"]
    assert meaning["description"]["words"][0] == "D = S0 * S1 + S2 (f32, rounded once)"


def test_a_sheet_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "show", "global_load_lds_dwordx4"]) == 0
    shown = capsys.readouterr().out
    assert "On gfx950: exact" in shown and "Counts on vmcnt." in shown
    assert "LLVM 22.1.8" in shown and arch.assembler_inventory().source in shown


def test_a_sheet_differs_where_the_meaning_does() -> None:
    meanings = sheet("v_mfma_f32_16x16x32_fp8_fp8").meanings
    assert [(each.targets, each.description.parts[1].type) for each in meanings] == [
        (("gfx942",), "16x32 fp8_fnuz"),
        (("gfx950",), "16x32 fp8"),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "v_fmaf"], "unknown instruction 'v_fmaf'; did you mean v_fma_f"),
        (["show", "v_fma_"], "unknown instruction 'v_fma_'; did you mean v_fma_"),
        (["show", ""], "unknown instruction ''; see antiphase isa list"),
        (
            ["show", "s_alloc_vgpr", "--target", "gfx942"],
            "gfx942 has no instruction s_alloc_vgpr; it is one of gfx1",
        ),
        (["list", "--class", "s"], "unknown class 's'; classes: SALU; VALU"),
        (["list", "--target", "gfx9"], "unknown target 'gfx9'"),
        (["coverage", "--target", "gfx9"], "unknown target 'gfx9'"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"antiphase: error: {message}")


def test_the_list_keeps_to_target_and_class(capsys: pytest.CaptureFixture[str]) -> None:
    rows = instructions("gfx942", "matrix")
    assert {row.group for row in rows} == {"matrix"} and all(row.targets == ("gfx942",) for row in rows)
    assert len({row.name for row in rows}) == len(rows) > 70
    assert main(["isa", "list", "--target", "gfx942", "--class", "vopd"]) == 0
    assert capsys.readouterr().out.split() == ["instruction", "class", "record", "accepted", "for"]
    everything = {row.name: row for row in instructions()}
    assert everything["s_alloc_vgpr"].targets[-1] == "gfx1201"


def test_the_assembler_says_why_it_refuses() -> None:
    library = _llvm.assembler()
    assert library.assemble("s_nop 0\n", "gfx942")[:4] == b"\x7fELF"
    with pytest.raises(UserError, match=r"does not assemble this for gfx942: .*s_alloc_vgpr"):
        library.assemble("s_nop 0\ns_alloc_vgpr s0\n", "gfx942")
    assert library.refusals(["s_nop 0", "v_nonsense"], "gfx942") == {1: "invalid instruction"}
