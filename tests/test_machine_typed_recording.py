"""Buffer accesses in formats: no format, formats without meaning, and what a recording and the checks see."""

from __future__ import annotations

import numpy as np
import pytest
from _asm import Snippet
from _typed_buffers import formats, lanes, mnemonic, resource, run, soffset, stored_rows, wait, word3

from antiphase import asm
from antiphase.checks.race import check_races
from antiphase.errors import Unsupported, UserError
from antiphase.isa import Memory, counters, find
from antiphase.machine.recording import SIZE

TARGETS = ("gfx942", "gfx1100", "gfx1201")
POISON = 0x7FC17FC1


@pytest.mark.parametrize("select", ["xyzw", "1111"])
@pytest.mark.parametrize("prefix", ["buffer", "tbuffer"])
@pytest.mark.parametrize("target", TARGETS)
def test_without_a_format_loads_are_zero_and_stores_do_nothing(target: str, prefix: str, select: str) -> None:
    """RDNA3 ISA 9.6, unbound resources."""
    data, out = np.full(256, 7, np.uint32), np.full((2, lanes(target), 4), 9, np.uint32)
    stated = " format:0" if prefix == "tbuffer" else ""
    body = resource(target, 12, out.nbytes, word3(target, 0, select)) + "\nv_mov_b32 v4, 5\nv_mov_b32 v5, 5\n"
    body += f"v_mov_b32 v6, 5\nv_mov_b32 v7, 5\n{prefix}_store_format_xyzw v[4:7], v2, s[20:23], "
    body += f"{soffset(target)}{stated} offen\n{prefix}_load_format_xyzw v[4:7], v2, s[20:23], {soffset(target)}"
    execution = run(target, body + f"{stated} offen\n" + stored_rows(target, 1), data, out)
    assert not execution.faults
    assert (out[0] == 9).all() and not out[1].any()


@pytest.mark.parametrize("target", TARGETS)
def test_a_resource_of_zeros_is_no_buffer(target: str) -> None:
    data, out = np.zeros(4, np.uint32), np.full((1, lanes(target), 4), 9, np.uint32)
    body = "".join(f"s_mov_b32 s{i}, 0\nv_mov_b32 v{i - 16}, 5\n" for i in range(20, 24))
    for access in ("store", "load"):
        body += f"buffer_{access}_format_xyzw v[4:7], off, s[20:23], {soffset(target)}\n"
    assert not run(target, body + stored_rows(target, 0), data, out).faults
    assert not out.any()


@pytest.mark.parametrize(
    ("target", "code", "prefix"),
    [
        *(("gfx942", code, prefix) for code in (0x71, 0x65, 0x0F, 0x79) for prefix in ("buffer", "tbuffer")),
        ("gfx1100", 64, "tbuffer"), ("gfx1201", 127, "tbuffer"),
    ],
)  # fmt: skip
def test_a_format_that_means_nothing_is_reported(target: str, code: int, prefix: str) -> None:
    stated = f" format:{code}" if prefix == "tbuffer" else ""
    body = resource(target, 10, 1024, word3(target, code, "xyzw")) + f"\n{prefix}_load_format_x v4, v2, s[20:23], "
    body += soffset(target)
    with pytest.raises(Unsupported, match=rf"'{prefix}_load_format_x .*manuals do not say what this format is"):
        run(target, f"{body}{stated} offen", np.zeros(256, np.uint32))


def test_an_unknown_name_of_a_format_is_an_error() -> None:
    line = "tbuffer_load_format_x v4, v2, s[20:23], 0 format:[BUF_FMT_32_UNORM] offen"
    with pytest.raises(UserError, match="format BUF_FMT_32_UNORM"):
        run("gfx1100", line, np.zeros(4, np.uint32))


@pytest.mark.parametrize("kind", range(4))
def test_cdna_does_not_convert_32_bits(kind: int) -> None:
    """CDNA3 ISA 9.1.3; what a D16 load would make of them it does not say."""
    data, out = np.arange(64, dtype=np.uint32) * 0x01234567, np.zeros((1, 64, 4), np.uint32)
    body = resource("gfx942", 10, data.nbytes, word3("gfx942", 4 + 16 * kind, "xxxx"))
    run("gfx942", body + "\nbuffer_load_format_x v4, v1, s[20:23], 0 offen\n" + stored_rows("gfx942", 0), data, out)
    assert (out[0, :, 0] == data).all()
    with pytest.raises(Unsupported, match="16-bit register"):
        run("gfx942", body + "\nbuffer_load_format_d16_x v4, v1, s[20:23], 0 offen", data)


def test_a_load_in_a_format_may_go_to_lds() -> None:
    """CDNA3 ISA 9.1.9: buffer_load_format_x is among those that can."""
    for record in (False, True):
        data, kernel = np.arange(64, dtype=np.uint8) * 3, Snippet(inputs=1, lds=1024)
        kernel(resource("gfx942", 10, data.nbytes, word3("gfx942", formats("gfx942")["8_UINT"], "x000")))
        kernel("s_mov_b32 m0, 64\nbuffer_load_format_x v0, s[20:23], 0 offen lds\ns_waitcnt vmcnt(0)")
        kernel("ds_read_b32 v4, v1 offset:64\ns_waitcnt lgkmcnt(0)")
        kernel.keep("v4")
        assert (kernel.run(data, record=record)[0] == data).all()


@pytest.mark.parametrize("half", [False, True], ids=["32", "d16"])
@pytest.mark.parametrize("target", TARGETS)
def test_registers_hold_poison_until_a_wait(target: str, half: bool) -> None:
    data, out = np.full((64, 4), 0x01020304, np.uint32), np.zeros((2, lanes(target), 4), np.uint32)
    code = formats(target)["8_8_8_8_UINT"]
    body = resource(target, 10, data.nbytes, word3(target, code, "xyzw"))
    body += "".join(f"\nv_mov_b32 v{i}, 0x55555555" for i in range(4, 12))
    text = f"\n{mnemonic(target, 'load', 3, half, 'buffer')} {'v[4:5]' if half else 'v[4:6]'}, v2, s[20:23], "
    body += f"{text}{soffset(target)} offen" + "".join(f"\nv_mov_b32 v{8 + i}, v{4 + i}" for i in range(4))
    body += f"\n{stored_rows(target, 0)}\n" + stored_rows(target, 1).replace("v[4:7]", "v[8:11]")
    run(target, body, data, out, record=True)
    arrived, early = out[0, 5].tolist(), out[1, 5].tolist()
    if half:
        assert arrived[:2] == [0x00030004, 0x55550002] and early[:2] == [POISON, 0x55557FC1]
    else:
        assert arrived == [4, 3, 2, 0x55555555] and early == [POISON] * 3 + [0x55555555]


def test_a_recording_says_how_many_bytes_a_format_has() -> None:
    data = np.zeros((64, 4), np.uint32)
    body = "".join(
        resource("gfx942", 10, data.nbytes, word3("gfx942", formats("gfx942")[name], "xyzw"))
        + "\nbuffer_load_format_xyzw v[4:7], v2, s[20:23], 0 offen"
        for name in ("8_UINT", "16_16_FLOAT", "32_32_32_UINT")
    )
    recording = run("gfx942", body + f"\n{wait('gfx942')}", data, record=True).recording
    assert recording is not None
    events = recording.waves[0].events
    assert events["base"][events["kind"] == SIZE].tolist() == [1, 4, 12]


@pytest.mark.parametrize(("name", "clean"), [("8_UINT", True), ("8_8_UINT", False)])
@pytest.mark.parametrize("prefix", ["buffer", "tbuffer"])
def test_races_are_about_the_bytes_of_the_format(prefix: str, name: str, clean: bool) -> None:
    """Work-item i stores at byte i: elements of one byte do not meet, those of two bytes do where waves do."""
    code, kernel = formats("gfx942")[name], Snippet(inputs=1, threads=128)
    kernel(resource("gfx942", 10, 256, word3("gfx942", code, "xyzw")))
    stated = f" format:{code}" if prefix == "tbuffer" else ""
    kernel("v_mov_b32 v4, v0\nv_mov_b32 v5, v0\nv_mov_b32 v6, v0\nv_mov_b32 v7, v0")
    kernel(f"{prefix}_store_format_xyzw v[4:7], v0, s[20:23], 0{stated} offen")
    recording = kernel.run(np.zeros(256, np.uint8), record=True).execution.recording
    assert recording is not None
    findings = check_races(recording).findings
    assert (not findings) == clean
    if findings:
        assert findings[0].check == "race"


@pytest.mark.parametrize(
    ("target", "load", "store"),
    [("gfx942", "vmcnt", "vmcnt"), ("gfx1100", "vmcnt", "vscnt"), ("gfx1201", "loadcnt", "storecnt")],
)
def test_counters(target: str, load: str, store: str) -> None:
    for prefix in ("buffer", "tbuffer"):
        for access, counter in (("load", load), ("store", store)):
            record = find(f"{prefix}_{access}_format_d16_x", target)
            assert isinstance(record, Memory)
            assert counters(record, target) == (counter,)


def test_gfx1250_has_none_of_them() -> None:
    assert find("buffer_load_format_x", "gfx1250") is None and find("tbuffer_store_d16_format_xyzw", "gfx1250") is None


def test_the_older_text_of_formats_runs() -> None:
    instruction = asm.parse_instruction("tbuffer_load_format_x v4, v1, s[20:23], dfmt:4, nfmt:7, 0 offen")
    assert instruction.modifier("format") == 0x74 and len(instruction.operands) == 4
