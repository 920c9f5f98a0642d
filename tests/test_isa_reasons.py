"""Every instruction that the assembler accepts is executed or says why not, with a source."""

from __future__ import annotations

import json

import pytest
from _asm import Snippet

from antiphase import arch
from antiphase.cli import main
from antiphase.coverage import GRAPHICS, instruction_class
from antiphase.coverage import _survey as survey
from antiphase.errors import Unsupported, UserError
from antiphase.isa import Control, find, reason, reasons


@pytest.mark.parametrize("target", [each.name for each in arch.targets()])
def test_an_instruction_without_a_record_has_a_reason(target: str) -> None:
    for name in arch.assembler_inventory().accepted(target):
        if instruction_class(name) != GRAPHICS and find(name, target) is None:
            assert reason(name, target) is not None, name


def test_every_reason_is_needed_and_cited() -> None:
    mnemonics = arch.assembler_inventory().mnemonics
    for row in reasons():
        assert row.cite and row.says and row.says[-1] != "."
        held = [(n, t) for n, m in mnemonics.items() for t in m.forms if reason(n, t) is row]
        assert held, row.names
        assert set(row.targets) <= {target for _, target in held}, row.names
        assert all(any(row.holds(name, target) for name, target in held) for _ in row.names)
        for name, target in held:
            record = find(name, target)
            assert record is None or isinstance(record, Control), name
            assert survey.entry(name, mnemonics[name].forms[target], target).status == "unsupported", (name, target)


def test_reasons_keep_to_their_targets_and_know_encodings() -> None:
    assert reason("v_swmmac_f32_16x16x32_f16", "gfx1250") and not reason("v_swmmac_f32_16x16x32_f16", "gfx1201")
    assert str(reason("ds_gws_init", "gfx950")) != str(reason("ds_gws_init", "gfx942"))
    assert reason("v_exp_legacy_f32_e64", "gfx942") is reason("v_exp_legacy_f32", "gfx942") is not None
    assert reason("v_add_f32", "gfx942") is None


def test_coverage_the_sheet_and_the_machine_give_the_same_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """One instruction without a record, refused before anything runs, and one that stops the wave that meets it."""
    for name, line in (("v_exp_legacy_f32", "v_exp_legacy_f32 v2, v3"), ("s_rfe_b64", "s_rfe_b64 s[20:21]")):
        known = str(reason(name, "gfx942"))
        assert survey.entry(name, line, "gfx942").reason == known
        assert main(["isa", "show", name, "--target", "gfx942", "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out)["availability"]["gfx942"]["reason"] == known
        k = Snippet()
        k(line)
        with pytest.raises(UserError if name.startswith("v_") else Unsupported) as refused:
            k.run()
        assert f"is not supported: {known}" in str(refused.value)


def test_a_kernel_goes_around_what_only_stops_a_wave() -> None:
    k = Snippet()
    k("s_branch .Lend\ns_rfe_b64 s[20:21]\n.Lend:\nv_mov_b32 v2, 3")
    k.keep("v2")
    assert (k.run()[0] == 3).all()
