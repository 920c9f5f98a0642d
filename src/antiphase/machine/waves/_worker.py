"""One host thread's share of a launch: a workgroup or cluster at a time, and what its waves need from the host."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from antiphase.asm import Block, Kernel, Program
from antiphase.errors import Deadlock, Incomplete, Trapped, Unsupported
from antiphase.machine import _layout as at
from antiphase.machine._translate import Translation
from antiphase.machine.recording import BLOCK
from antiphase.machine.waves import _pool
from antiphase.machine.waves import _schedule as worker_at
from antiphase.machine.waves._collect import Collector
from antiphase.machine.waves._entry import Entry, entry_state, private_bytes

if TYPE_CHECKING:
    from antiphase.machine._launch import Job

SLICE = 1_000_000
"""Instructions a host thread runs before it looks whether to stop."""
_GROUP = tuple(at.GROUP + 4 * axis for axis in range(3))


class Worker:
    """One host thread's workgroup: the states of its waves, its LDS and scratch.

    chunk: workgroups it takes at a time. opening: instructions until it first returns to the host.
    """

    def __init__(self, job: Job, chunk: int, opening: int) -> None:
        self.job, self.chunk, self.taken = job, chunk, 0
        layout, kernel = job.layout, job.kernel
        entry = entry_state(kernel, job.program.target, layout, job.sides, job.kernarg, job.packet)
        self.members = math.prod(job.cluster)
        waves = self.members * len(entry.template)
        # a start copies the template over all that is read before it is written
        self.memory = _pool.take(waves * layout.bytes)
        self.states = self.memory.reshape(waves, layout.bytes)
        self.lds = aligned(self.members * max(64, _whole_lines(job.lds_bytes))).reshape(self.members, -1)
        private = private_bytes(kernel)
        self.scratch = aligned(waves * max(64, private * layout.lanes)).reshape(waves, -1)
        self.barriers = np.zeros((self.members, at.BARRIER_COUNT * at.BARRIER_BYTES // 4), np.int32)
        self.counts = np.zeros(len(kernel.blocks), np.int64)
        self.collector = self._collector()
        self.template = self._template(entry, private)
        self.worker = np.zeros(worker_at.WORKER_BYTES // 8, np.int64)
        self._fill_worker(entry, min(opening, self._slice))
        with job.lock:
            job.counts.append(self.counts)

    def _collector(self) -> Collector | None:
        job = self.job
        if not job.layout.recording:
            return None
        return Collector(
            self.states, job.layout.lanes, job.code.translation.events, job.code.translation.sites, job.room
        )

    def _template(self, entry: Entry, private: int) -> NDArray[np.uint8]:
        each = len(entry.template)
        template = aligned(self.members * entry.template.size).reshape(self.members * each, -1)
        template[:] = np.tile(entry.template, (self.members, 1))
        words = template.view(np.uint64)
        for offset, value in {
            at.CONTEXT: self.job.context.ctypes.data, at.COUNTS: self.counts.ctypes.data,
            at.LDS_SIZE: self.job.lds_bytes, at.SCRATCH_SIZE: private,
            at.CLUSTER_BARRIERS: self.barriers.ctypes.data, at.IMAGE: self.job.image.ctypes.data,
        }.items():  # fmt: skip
            words[:, offset // 8] = value
        numbers = np.arange(len(template))
        words[:, at.SCRATCH // 8] = self.scratch.ctypes.data + numbers * self.scratch.shape[1]
        template.view(np.uint32)[:, at.WAVE // 4] = numbers % each
        template.view(np.uint32)[:, at.COMPANY // 4 : at.COMPANY // 4 + 2] = each, self.members
        for member in range(self.members):
            mine = words[member * each : (member + 1) * each]
            mine[:, at.LDS // 8] = self.lds[member].ctypes.data
            mine[:, at.BARRIERS // 8] = self.barriers[member].ctypes.data
            if self.members > 1:
                self._place(mine.view(np.uint32), member)
        if self.collector is not None:
            for wave in range(len(template)):
                for offset, value in self.collector.template_words(wave).items():
                    words[wave, offset // 8] = value
        return template

    def _local(self, member: int) -> tuple[int, int, int]:
        """Where a workgroup stands in its cluster: x fastest."""
        x, y, _ = self.job.cluster
        return member % x, member // x % y, member // (x * y)

    def _place(self, words: NDArray[np.uint32], member: int) -> None:
        """What the waves of a cluster's workgroup know of it.

        ttmp6: the place along x, y, z and the largest along each, 4 bits each, then the largest flat one; IB_STS2:
        bits 9:6 not 0 in a cluster, the flat place in 24:21 (LLVM SIISelLowering, lowering of cluster ids).
        """
        fields = (*self._local(member), *(side - 1 for side in self.job.cluster), self.members - 1)
        words[:, at.TTMP + 6] = sum(field << 4 * i for i, field in enumerate(fields))
        words[:, at.LOCAL // 4 : at.LOCAL // 4 + 3] = self._local(member)
        words[:, at.CLUSTER_STATUS // 4] = 1 << 6 | member << 21

    @property
    def _slice(self) -> int:
        return SLICE if self.job.limit is None else max(1, min(SLICE, self.job.limit))

    def _fill_worker(self, entry: Entry, budget: int) -> None:
        job = self.job
        values = {
            worker_at.WAVES: len(self.states), worker_at.STATES: self.states.ctypes.data,
            worker_at.STRIDE: job.layout.bytes, worker_at.KERNEL: job.code.entry,
            worker_at.TEMPLATE: self.template.ctypes.data, worker_at.TEMPLATE_BYTES: self.template.shape[1],
            worker_at.BUDGET: budget, worker_at.EPOCH: budget,
            worker_at.GRID_X: job.grid[0] // job.cluster[0], worker_at.GRID_Y: job.grid[1] // job.cluster[1],
            worker_at.MEMBERS: self.members, worker_at.CLUSTER_X: job.cluster[0],
            worker_at.CLUSTER_Y: job.cluster[1], worker_at.CLUSTER_Z: job.cluster[2],
            worker_at.LDS_TOTAL: self.lds.size if self.members > 1 else job.lds_bytes,
            worker_at.LDS_FILL: at.POISON if job.layout.recording else 0,
            worker_at.ID_X: entry.id_registers[0], worker_at.ID_Y: entry.id_registers[1],
            worker_at.ID_Z: entry.id_registers[2], worker_at.ID_YZ: entry.id_registers[3],
            worker_at.BARRIER_TABLE: self.barriers.ctypes.data, worker_at.STOP_EACH: int(job.layout.recording),
        }  # fmt: skip
        for offset, value in values.items():
            self.worker[offset // 8] = value

    def work(self, pause: bool) -> bool:
        """Run workgroups; True when none is left or the launch is being stopped, False to pause after one budget."""
        job, worker = self.job, self.worker
        while not job.stop.is_set():
            if not self.taken:
                first, end = job.take(self.chunk)
                if first == end:
                    self._release()
                    return True
                self.taken = end - first
                worker[worker_at.NEXT // 8], worker[worker_at.END // 8] = first, end
            status = job.code.run(worker.ctypes.data)
            if status == worker_at.DONE:
                with job.lock:
                    job.finished += self.taken
                self.taken = 0
            elif status == worker_at.GROUP_DONE:
                self._take_group()
            else:
                self._serve(status)
                if pause and status == at.STATUS_BUDGET:
                    return False
        return True

    def _release(self) -> None:
        """Leave the large buffers to the next launch; this worker has nothing left to do."""
        _pool.give_back(self.memory, *(self.collector.buffers if self.collector is not None else ()))

    def _take_group(self) -> None:
        assert self.collector is not None
        traces = self.collector.finish(self._places(int(self.worker[worker_at.NEXT // 8]) - 1))
        with self.job.lock:
            self.job.traces += traces
        if self.job.room.full:
            raise Incomplete(self._too_much())

    def _places(self, cluster: int) -> list[tuple[int, int]]:
        """Workgroup, x fastest in the grid, and number of each wave of a cluster."""
        grid, sides = self.job.grid, self.job.cluster
        across = [n // side for n, side in zip(grid, sides, strict=True)]
        first = (cluster % across[0], cluster // across[0] % across[1], cluster // (across[0] * across[1]))
        waves = len(self.states) // self.members
        places = []
        for member in range(self.members):
            x, y, z = (f * side + p for f, side, p in zip(first, sides, self._local(member), strict=True))
            places += [(x + grid[0] * (y + grid[1] * z), wave) for wave in range(waves)]
        return places

    def _serve(self, status: int) -> None:
        """Do what a wave needs from the host."""
        job = self.job
        wave = int(self.worker[worker_at.WAVE_AT // 8])
        if status == at.STATUS_TRAP:
            index = int(self.states[wave, at.RESUME : at.RESUME + 4].view(np.int32)[0])
            reasons = job.code.translation.unsupported | job.code.translation.traps
            raise Unsupported(_explain(job.program, job.kernel, index, reasons[index]))
        if status == at.STATUS_INTERRUPT:
            if job.interrupt is not None:
                job.interrupt()
            return
        if status == at.STATUS_STOPPED:
            raise _stopped(job.program, job.kernel, self.states[wave])
        if status == at.STATUS_DEADLOCK:
            raise Deadlock(_stuck(job.program, job.kernel, job.code.translation, self.states))
        if status == at.STATUS_RECORD:
            assert self.collector is not None
            events = self.collector.take(wave)
            if job.room.full:
                raise Incomplete(self._too_much(events))
            return
        # EPOCH - BUDGET is the clock, which goes on where it was
        self.worker[worker_at.EPOCH // 8] += self._slice - self.worker[worker_at.BUDGET // 8]
        self.worker[worker_at.BUDGET // 8] = self._slice
        if job.limit is not None and job.executed() >= job.limit:
            raise Incomplete(self._too_many())

    def _too_many(self) -> str:
        """Why the launch is cut short, and the loop that most of its instructions are in, if there is such a loop."""
        job, block = self.job, self._busiest(self.counts)
        where = ""
        if 2 * self._executed(_loop_around(job.kernel, block)) > self._executed(job.kernel.blocks):
            last = job.kernel.instructions[block.end - 1]
            where = f", most of them in the loop of '{last.text()}' (line {last.line})"
        more = "allow more with --max-instructions (max_instructions= in Python), or launch fewer workgroups"
        return f"{job.program.name}: stopped at the limit of {job.limit} instructions{where}; {more}"

    def _executed(self, blocks: Iterable[Block]) -> int:
        return sum(int(self.counts[one.index]) * (one.end - one.start) for one in blocks)

    def _too_much(self, events: NDArray | None = None) -> str:
        """Why recording ends here. events: the last ones of the wave that needed room, which show its loop."""
        job = self.job
        done = f"{len({t.workgroup for t in job.traces}):,} of {math.prod(job.grid):,} workgroups"
        what = f"the recording is at its limit of {_size(job.room.limit)} with {done} in full"
        more = "give more with --recording-limit (recording_limit= in Python)"
        turns = np.zeros(1) if events is None else np.bincount(events["number"][events["kind"] == BLOCK])
        if turns.max() < 2:
            return f"{job.program.name}: {what}; launch fewer, or {more}"
        block = self._busiest(turns)
        last = job.kernel.instructions[block.end - 1]
        went = f"the loop of '{last.text()}' went round {self.counts[block.index]:,} times"
        return f"{job.program.name}:{last.line}: {what}, and {went}; if it ends, launch fewer, or {more}"

    def _busiest(self, turns: NDArray) -> Block:
        """The block run most often, by how often each was run: of those of one loop the last, which has its branch."""
        return self.job.kernel.blocks[int(np.flatnonzero(turns >= turns.max() - 1)[-1])]


def _loop_around(kernel: Kernel, block: Block) -> list[Block]:
    """The blocks that lie on ways from a block back to it; none where there is no such way."""
    after = sorted(_reached(kernel, block.index))
    return [kernel.blocks[index] for index in after if block.index in _reached(kernel, index)]


def _reached(kernel: Kernel, start: int) -> set[int]:
    reached, work = set[int](), [start]
    while work:
        new = set(kernel.blocks[work.pop()].successors) - reached
        reached |= new
        work += new
    return reached


def _size(bytes_: int) -> str:
    return f"{bytes_ / (1 << 30):.3g} GiB" if bytes_ >= 1 << 30 else f"{bytes_ / (1 << 20):,.3g} MiB"


def _explain(program: Program, kernel: Kernel, index: int, reason: str) -> str:
    instruction = kernel.instructions[index]
    return f"{program.name}:{instruction.line}: '{instruction.text()}' is not supported: {reason}"


def _stopped(program: Program, kernel: Kernel, state: NDArray[np.uint8]) -> Trapped:
    """What is known of a wave that has executed a trap."""
    index, wave, x, y, z = (int(state[a : a + 4].view(np.int32)[0]) for a in (at.RESUME, at.WAVE, *_GROUP))
    one = kernel.instructions[index]
    file, line = (one.loc.file, one.loc.line) if one.loc is not None and one.loc.line else (program.name, one.line)
    return Trapped(kernel.name, index, one.text(), workgroup=(x, y, z), wave=wave, file=file, line=line)


def _stuck(program: Program, kernel: Kernel, translation: Translation, states: NDArray[np.uint8]) -> str:
    """Where every wave of a workgroup waits that cannot go on."""
    places = []
    for wave, state in enumerate(states):
        status, resume = (int(state[at_ : at_ + 4].view(np.int32)[0]) for at_ in (at.STATUS, at.RESUME))
        if status == at.STATUS_BARRIER:
            instruction = kernel.instructions[translation.barriers[resume - len(kernel.blocks)]]
            places.append(f"wave {wave} at line {instruction.line} ({instruction.text()})")
        else:
            places.append(f"wave {wave} ended")
    return f"{program.name}: no wave of the workgroup can go on: {', '.join(places)}"


def _whole_lines(size: int) -> int:
    return (size + 63) & ~63


def aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed bytes that start at a cache line."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
