"""Asking an LLVM about lines: each answered for itself, crashes included; and finding the tools."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphase.verify import _tools, find_tools
from antiphase.verify._llvm import Code, Crash, Llvm, Object, codes
from antiphase.verify._wheel import WheelLlvm


@pytest.fixture(scope="module", params=range(2))
def llvm(request: pytest.FixtureRequest) -> Iterator[Llvm]:
    found = find_tools()
    if request.param >= len(found.assemblers):
        pytest.skip("asks each LLVM there is, and there is no second: the Triton wheel and llvm-mc 22 make two")
    yield found.assemblers[request.param]
    found.close()


def test_each_line_has_its_code_or_its_refusal(llvm: Llvm) -> None:
    lines = ["s_nop 1", "no_such_thing", "v_mov_b32 v0, v1", "s_branch end", "v_mov_b32 v0,", "s_nop 2"]
    found = codes(llvm, "gfx1100", 0, lines)
    assert [code.accepted for code in found] == [True, False, True, True, False, True]
    assert [found[place].code[:4].hex() for place in (0, 2, 5)] == ["010080bf", "0103007e", "020080bf"]
    assert "invalid instruction" in found[1].refusal


def test_the_wave_size_decides_what_fits(llvm: Llvm) -> None:
    lines = [f"v_wmma_f32_16x16x16_f16 v[0:{last}], v[8:15], v[16:23], v[24:{24 + last}]" for last in (3, 7)]
    assert [code.accepted for code in codes(llvm, "gfx1100", 64, lines)] == [True, False]
    assert [code.accepted for code in codes(llvm, "gfx1100", 32, lines)] == [False, True]


def test_a_line_that_kills_the_assembler_costs_no_other_its_answer(llvm: Llvm) -> None:
    class Sometimes:
        source = llvm.source

        def object(self, target: str, features: str, text: str) -> Object:
            if "deadly" in text:
                raise Crash
            return llvm.object(target, features, text)

        def compiled(self, target: str, features: str, ir: str) -> str:
            raise Crash

        def close(self) -> None: ...

    lines = ["s_nop 0", "wrong", "deadly", "s_nop 1", "s_nop 2"]
    found = codes(Sometimes(), "gfx942", 0, lines)
    assert [code.accepted for code in found] == [True, False, False, True, True]
    assert found[2] == Code(refusal="the assembler aborted")


@pytest.mark.skipif(
    not any(isinstance(each, WheelLlvm) for each in find_tools().assemblers),
    reason="about the process of the Triton wheel, which is not installed",
)
def test_the_wheel_is_asked_again_after_its_process_died() -> None:
    wheel = WheelLlvm()
    assert codes(wheel, "gfx942", 0, ["s_nop 0"])[0].accepted
    assert wheel._child is not None
    wheel._child.kill()
    with pytest.raises(Crash):
        wheel.object("gfx942", "", "s_nop 0\n")
    assert codes(wheel, "gfx942", 0, ["s_nop 0"])[0].accepted
    wheel.close()


def _program(folder: Path, name: str, version: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho 'LLVM version {version}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_tools_are_found_or_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_tools, "_WHEEL_LIBRARY", Path("nowhere"))
    found = find_tools()
    assert (found.assemblers, found.compilers) == ((), ())
    assert [(state.tool, state.problem) for state in found.states] == [
        ("llvm-mc", "missing"), ("llc", "missing"), ("triton", "missing"), ("antiphase", ""),
    ]  # fmt: skip
    _program(tmp_path, "llvm-mc", "14.0.6")
    assert find_tools().states[0].problem == "older than LLVM 22"
    _program(tmp_path, "llvm-mc-22", "22.1.8")
    found = find_tools()
    assert [llvm.source for llvm in found.assemblers] == ["llvm_22"]
    assert found.compilers == ()


def test_a_newer_llvm_is_a_source_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _program(tmp_path, "llvm-mc-24", "24.1.0")
    assert find_tools().assemblers[0].source == "llvm_24"


def test_another_triton_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tools, "_wheel_version", lambda: "3.8.0")
    assert next(state for state in find_tools().states if state.tool == "triton").problem in ("not 3.9.0", "missing")
