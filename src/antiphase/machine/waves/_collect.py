"""Host side of recording: gives waves room for events, and takes what they wrote."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from antiphase.machine import _layout as at
from antiphase.machine.recording import EVENT_TYPE, WaveTrace
from antiphase.machine.waves import _pool
from antiphase.machine.waves._events import LAST_ROW_BYTES
from antiphase.machine.waves._room import Room

_EVENTS, _ROWS = 4096, 1024


class Collector:
    """Event buffers of the waves one worker runs.

    states: waves x bytes, the waves' native state. need: events one block may write. sites: places in the code that
    record addresses. room: counts what was taken.
    """

    def __init__(self, states: NDArray[np.uint8], lanes: int, need: int, sites: int, room: Room) -> None:
        waves = len(states)
        self._states, self._room = states, room
        n_events, n_rows = max(_EVENTS, need), max(_ROWS, 4 * need)
        self.buffers = (_pool.take(waves * n_events * EVENT_TYPE.itemsize), _pool.take(waves * n_rows * lanes * 4))
        self._events = self.buffers[0].view(EVENT_TYPE).reshape(waves, n_events)
        self._rows = self.buffers[1].view(np.uint32).reshape(waves, n_rows, lanes)
        self._last = np.zeros((waves, max(1, sites), LAST_ROW_BYTES), np.uint8)
        self._taken: list[list[tuple[NDArray, NDArray]]] = [[] for _ in range(waves)]

    def template_words(self, wave: int) -> dict[int, int]:
        """State a wave starts with: pointers to its empty buffers."""
        events, rows = self._events[wave], self._rows[wave]
        return {
            at.EVENTS: events.ctypes.data, at.EVENTS_END: events.ctypes.data + events.nbytes,
            at.ROWS: rows.ctypes.data, at.ROWS_END: rows.ctypes.data + rows.nbytes,
            at.LAST_ROWS: self._last[wave].ctypes.data,
        }  # fmt: skip

    def take(self, wave: int) -> NDArray:
        """Copy what a wave has written and give it its buffers back, empty. The events that were in them."""
        words = self._states[wave, : at.VGPRS].view(np.uint64)
        events, rows = self._events[wave], self._rows[wave]
        n_events = (int(words[at.EVENTS // 8]) - events.ctypes.data) // EVENT_TYPE.itemsize
        n_rows = (int(words[at.ROWS // 8]) - rows.ctypes.data) // (4 * rows.shape[1])
        taken = events[:n_events].copy(), rows[:n_rows].copy()
        self._taken[wave].append(taken)
        words[at.EVENTS // 8], words[at.ROWS // 8] = events.ctypes.data, rows.ctypes.data
        self._last[wave] = 0
        self._room.take(taken[0].nbytes + taken[1].nbytes)
        return taken[0]

    def finish(self, places: Sequence[tuple[int, int]]) -> list[WaveTrace]:
        """The traces of waves that have ended, given the workgroup and number of each; the buffers are free again."""
        traces = []
        for wave, parts in enumerate(self._taken):
            self.take(wave)
            events, rows = parts[0] if len(parts) == 1 else (np.concatenate([p[i] for p in parts]) for i in (0, 1))
            traces.append(WaveTrace(*places[wave], events, rows))
            parts.clear()
        return traces
