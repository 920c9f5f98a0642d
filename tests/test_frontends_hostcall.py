"""Host calls: printf of kernels that Triton compiles, and the protocol of the packets."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest
import triton
import triton.language as tl

from antiphase import checking
from antiphase.errors import Unsupported
from antiphase.frontends import compile_kernel, launch_asm
from antiphase.frontends._hostcall import Hostcalls

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
LONG = "a prefix that needs more than the seven words of one packet, and then some more: "


@triton.jit
def shows(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.device_print("a prefix that needs more than the seven words of one packet, and then some more: ", value)
    tl.store(x + at, value + 1, mask=at < n)


def compiled(target: str):
    return compile_kernel(shows, {"x": "*fp32", "n": "i32"}, {"BLOCK": 128}, target, num_warps=2)


def expected() -> list[str]:
    return [f"pid ({i // 128}, 0, 0) idx ({i % 128:3d}) {LONG}{float(i):f}" for i in range(256)]


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_device_print_prints_as_hip_does(target: str, record: bool, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(256, dtype=np.float32)
    done = launch_asm(compiled(target), grid=2, args=[x, 256], record=record)
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(expected())
    assert (x == np.arange(256) + 1).all()
    assert done.fault_count == 0


def test_every_wave_of_many_threads_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.zeros(128 * 64, np.float32)
    launch_asm(compiled("gfx942"), grid=64, args=[x, len(x)], workers=4)
    assert len(set(capsys.readouterr().out.splitlines())) == len(x)


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_the_services_are_no_race(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(256, dtype=np.float32)
    found = checking.check(compiled(target), args=[x, 256], grid=2, only=["race", "sync", "init", "mem"])
    assert [finding for part in found.kept for finding in part.checked.findings] == []
    assert len(capsys.readouterr().out.splitlines()) == 256


class Wave:
    """The device's side of a host call, one packet at a time."""

    def __init__(self, calls: Hostcalls) -> None:
        self.calls = calls
        self.words = calls.memory[:48].view(np.uint64)

    def submit(self, service: int, lanes: dict[int, list[int]]) -> np.ndarray:
        """Take a free packet, fill and push it; returns the payload, one row of 8 words a lane."""
        headers, payloads, _, free, _, mask = (int(word) for word in self.words)
        number = free & mask
        header = (ctypes.c_uint64 * 3).from_address(headers + 24 * number)
        self.words[3] = header[0]
        payload = np.ctypeslib.as_array((ctypes.c_uint64 * 512).from_address(payloads + 4096 * number)).reshape(64, 8)
        for lane, slot in lanes.items():
            payload[lane, : len(slot)] = slot
        header[0], header[1] = int(self.words[4]), sum(1 << lane for lane in lanes)
        header[2] = 1 << 32 | service
        self.words[4] = free
        self.header = header
        return payload


BEGIN, END, FORMAT = 1, 2, int.from_bytes(b"lane %d\n", "little")


def length(count: int) -> int:
    return count << 5


def test_messages_of_lanes_stay_apart(capsys: pytest.CaptureFixture[str]) -> None:
    wave = Wave(Hostcalls(2))
    first = wave.submit(2, {lane: [BEGIN | length(1), 0] for lane in (3, 40)})
    wave.calls.answer()
    numbers = {lane: int(first[lane, 0]) for lane in (3, 40)}
    assert numbers[3] >> 8 != numbers[40] >> 8
    assert wave.header[2] >> 32 == 0, "the packet's ready flag is cleared"
    second = wave.submit(2, {lane: [numbers[lane] & ~0xFE | END | length(3), FORMAT, 0, lane] for lane in (3, 40)})
    wave.calls.answer()
    assert capsys.readouterr().out == "lane 3\nlane 40\n"
    assert [int(second[lane, 0]) for lane in (3, 40)] == [7, 8], "printf returns what it has printed"


def test_the_control_word_chooses_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    wave = Wave(Hostcalls(2))
    payload = wave.submit(2, {0: [BEGIN | END | length(4), 1, FORMAT, 0, 5], 1: [BEGIN | END | length(1), 2]})
    wave.calls.answer()
    assert capsys.readouterr() == ("", "lane 5\n")
    assert int(payload[1, 0]) == (1 << 64) - 1, "an unknown control word is refused as printf reports an error"


@pytest.mark.parametrize(("service", "what"), [(1, "a function of the host"), (3, "malloc"), (9, "not one of ROCm's")])
def test_other_services_say_so(service: int, what: str) -> None:
    wave = Wave(Hostcalls(2))
    wave.submit(service, {0: [1]})
    with pytest.raises(Unsupported, match=what):
        wave.calls.answer()


def test_all_packets_are_on_the_free_stack_once() -> None:
    calls = Hostcalls(5)
    headers = calls.memory[192 : 192 + 24 * 8].view(np.uint64).reshape(8, 3)
    mask, packet = int(calls.memory[40:48].view(np.uint64)[0]), int(calls.memory[24:32].view(np.uint64)[0])
    seen = []
    while packet:
        seen.append(packet & mask)
        packet = int(headers[packet & mask, 0])
    assert sorted(seen) == list(range(8))


def test_packets_pushed_while_others_are_served_are_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    wave = Wave(Hostcalls(16))
    for lane in range(16):
        wave.submit(2, {lane: [BEGIN | END | length(4), 0, FORMAT, 0, lane]})
    threads = [threading.Thread(target=wave.calls.answer) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(capsys.readouterr().out.splitlines()) == 16
