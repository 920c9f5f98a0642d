"""Host services that a kernel calls: the buffer behind `hidden_hostcall_buffer`, and the answers.

A wave takes a packet from the free stack of the buffer, fills it, puts it on the ready stack, adds to the doorbell
signal, sends an interrupt and waits until the host has cleared the packet's ready flag.
Sources: ROCm/clr f9f995c, rocclr/device/devhostcall.cpp and devhostcall.hpp (packets), devhcmessages.cpp and .hpp
(messages); ROCm device-libs, ockl/src/hostcall_impl.cl and services.cl (the device side); ROCR's amd_hsa_signal.h.
"""

from __future__ import annotations

import itertools
import sys
import threading

import numpy as np
from numpy.typing import NDArray

from antiphase.errors import Unsupported
from antiphase.frontends._printf import formatted
from antiphase.machine.host_words import exchange

_HEADER = np.dtype([("next", "u8"), ("active", "u8"), ("service", "u4"), ("control", "u4")])
_CONTROL = 20  # bytes into a header
_SLOTS, _WORDS = 64, 8  # of a packet: a slot for each lane, and the words of one
# the buffer: pointers to the headers, the payloads and the signal, both stacks, and the mask of a packet's number
_HEADERS, _PAYLOADS, _DOORBELL, _FREE, _READY, _MASK = range(6)
# amd_signal_t: an event's number is written to the mailbox and sent as an interrupt where there is a mailbox
_SIGNAL, _KIND, _MAILBOX_POINTER, _USER_SIGNAL, _MAILBOX = 8, 8, 10, 1, 16
_PREFIX = 192  # bytes: the buffer, the signal and the mailbox, a cache line each

_FUNCTION_CALL, _PRINTF, _DEVICE_MEMORY, _SANITIZER = range(1, 5)
_REFUSED = {
    _FUNCTION_CALL: "calling a function of the host",
    _DEVICE_MEMORY: "memory for malloc in a kernel",
    _SANITIZER: "reports of AddressSanitizer",
}
# a message's descriptor: bits 0 and 1, words that follow in bits 7:5, its number from bit 8
_BEGIN, _END, _NUMBER = 1, 2, 8
_FAILED = (1 << 64) - 1


class Hostcalls:
    """The buffer of one launch, of at least as many packets as waves can be under way at a time.

    memory: all of it, for waves to read and write; `address` is what the hidden argument holds.
    """

    def __init__(self, waves: int) -> None:
        count = 1 << max(1, (waves - 1).bit_length())
        headers, payloads = count * _HEADER.itemsize, count * _SLOTS * _WORDS * 8
        self.memory = np.zeros(_PREFIX + headers + payloads, np.uint8)
        self.address = self.memory.ctypes.data
        self._words = self.memory[:_PREFIX].view(np.uint64)
        self._headers = self.memory[_PREFIX : _PREFIX + headers].view(_HEADER)
        self._slots = self.memory[_PREFIX + headers :].view(np.uint64).reshape(count, _SLOTS, _WORDS)
        self._mask = count - 1
        # each packet points at the one before; what points at packet 0 has a tag above the number, as 0 is the end
        self._headers["next"] = np.maximum(np.arange(count) - 1, 0)
        self._headers["next"][1] = count
        self._words[_HEADERS], self._words[_PAYLOADS] = self._headers.ctypes.data, self._slots.ctypes.data
        self._words[_DOORBELL], self._words[_KIND] = self.address + 8 * _SIGNAL, _USER_SIGNAL
        self._words[_MAILBOX_POINTER] = self.address + 8 * _MAILBOX
        self._words[_FREE], self._words[_MASK] = self._mask, self._mask
        self._messages: dict[int, list[int]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def answer(self) -> None:
        """Serve every packet that is ready. Unsupported for a service other than printf."""
        with self._lock:
            packet = exchange(self.address + 8 * _READY, 0)
            while packet:
                number = packet & self._mask
                header = self._headers[number]
                packet = int(header["next"])
                self._serve(int(header["service"]), int(header["active"]), self._slots[number])
                exchange(self._headers.ctypes.data + number * _HEADER.itemsize + _CONTROL, 0, 32)

    def _serve(self, service: int, active: int, slots: NDArray[np.uint64]) -> None:
        if service != _PRINTF:
            what = _REFUSED.get(service, "it is not one of ROCm's")
            raise Unsupported(f"host service {service} that the kernel calls: {what}")
        for lane in range(_SLOTS):
            if active >> lane & 1:
                slots[lane, 0] = self._message([int(word) for word in slots[lane]])
        sys.stdout.flush()

    def _message(self, slot: list[int]) -> int:
        """Take in a part of a lane's message, and print the message that is complete.

        Returns what the lane goes on with: the descriptor of the message, or how many bytes were printed.
        """
        descriptor = slot[0]
        if descriptor & _BEGIN:
            number = next(self._numbers)
            self._messages[number] = []
            descriptor = descriptor & 0xFE | number << _NUMBER
        words = self._messages.get(descriptor >> _NUMBER)
        if words is None:
            raise Unsupported("a part of a printf message that the kernel never began, or had ended")
        words += slot[1 : 1 + (descriptor >> 5 & 7)]
        if not descriptor & _END:
            return descriptor
        del self._messages[descriptor >> _NUMBER]
        return _printed(words)


def _printed(words: list[int]) -> int:
    """Print a message, whose first word chooses the stream: 0 for standard output, 1 for standard error."""
    if not words or words[0] > 1:
        return _FAILED
    text = formatted(words[1:])
    stream = sys.stderr if words[0] else sys.stdout
    stream.write(text.decode(errors="replace"))
    return len(text)
