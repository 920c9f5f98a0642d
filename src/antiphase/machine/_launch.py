"""Running a launch: translation, host threads, limits, interruption."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from antiphase import arch
from antiphase.asm import Kernel, Program
from antiphase.errors import Deadlock, Incomplete, Unsupported, UserError
from antiphase.machine import _faults, _native, _runtime
from antiphase.machine import _layout as at
from antiphase.machine import _schedule as worker_at
from antiphase.machine._collect import Collector
from antiphase.machine._entry import Entry, dispatch_packet, entry_state, layout_of
from antiphase.machine._layout import Layout
from antiphase.machine._translate import Translation, translate
from antiphase.machine.memory import FAULT_TYPE, Fault, Memory, read_faults
from antiphase.machine.recording import Recording, WaveTrace

SLICE = 1_000_000
"""Instructions a host thread runs before it looks whether to stop."""
FAULTS_KEPT = 4096
MAX_THREADS = 1024

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Execution:
    """A finished launch.

    instructions: wave-instructions executed. counts: executions of each instruction of the kernel, by index.
    faults: accesses that had no effect, the first FAULTS_KEPT of fault_count. seconds: wall time without translation.
    """

    program: Program
    kernel: Kernel
    memory: Memory
    instructions: int
    counts: NDArray[np.int64]
    faults: list[Fault]
    fault_count: int
    recording: Recording | None
    seconds: float

    def executed(self, prefix: str) -> int:
        """Wave-instructions whose mnemonic starts with `prefix`."""
        chosen = [i.mnemonic.startswith(prefix) for i in self.kernel.instructions]
        return int(self.counts[chosen].sum())


@functools.cache
def _runtime_library(lanes: int) -> _native.Library:
    return _native.Library(_runtime.runtime_text(lanes), 2)


@dataclass(slots=True)
class _Code:
    """Native code of one kernel in one mode; translation is kept so that unsupported instructions can be explained."""

    translation: Translation
    library: _native.Library
    entry: int
    run: Callable[[int], int]


CODES_KEPT = 64
_codes: OrderedDict[tuple[int, str, Layout], tuple[Program, _Code]] = OrderedDict()
# translation publishes symbols for the whole process, so it is done by one thread at a time
_translating = threading.Lock()


def _code(program: Program, kernel: Kernel, layout: Layout) -> _Code:
    """Native code of a kernel, from those used last where it is one of them."""
    key = (id(program), kernel.name, layout)
    with _translating:
        if key not in _codes:
            # the program is kept with the code so that its id stays its own
            _codes[key] = program, _translated(program, kernel, layout)
        _codes.move_to_end(key)
        code = _codes[key][1]
        while len(_codes) > CODES_KEPT:
            _codes.popitem(last=False)
    return code


def _translated(program: Program, kernel: Kernel, layout: Layout) -> _Code:
    runtime = _runtime_library(layout.lanes)
    # kernels of both wave sizes may run in one process: names stand for the helpers of the one translated now
    for name in _runtime.names(layout.lanes):
        _native.publish(name, runtime.address(name))
    translation = translate(program, kernel, layout)
    library = _native.Library(translation.text, 0)
    run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(runtime.address("run"))
    return _Code(replace(translation, text=""), library, library.address(translation.symbol), run)


def run(
    program: Program,
    *,
    grid: tuple[int, int, int],
    kernarg: bytes,
    memory: Memory,
    threads_per_workgroup: int,
    lds_bytes: int,
    kernel: str | None = None,
    record: bool = False,
    workers: int | None = None,
    max_instructions: int | None = None,
    progress: Progress | None = None,
) -> Execution:
    """Run a kernel over a grid of workgroups and return when all have ended.

    grid: workgroups in x, y, z. kernarg: the argument block. threads_per_workgroup: work-items, at most 1024.
    lds_bytes: LDS of a workgroup. record: keep a Recording; loads then deliver when a wait covers them.
    workers: host threads (None: one per core). max_instructions: wave-instructions in all, roughly.
    progress: called with (workgroups done, workgroups in all).
    Raises UserError for arguments that do not fit, Unsupported if execution meets something not modelled, Incomplete
    if the limit is reached, Deadlock if all waves of a workgroup wait for each other. Accesses outside memory's
    allocations have no effect and are listed in faults.
    """
    target = arch.target(program.target)
    chosen = program.kernel(kernel)
    _check(grid, threads_per_workgroup, lds_bytes, target, program)
    layout = layout_of(chosen, program.target, record)
    code = _code(program, chosen, layout)
    job = _Job(
        program, chosen, layout, code, grid, threads_per_workgroup, lds_bytes, kernarg, memory, max_instructions,
        progress,
    )  # fmt: skip
    total = grid[0] * grid[1] * grid[2]
    count = min(workers or len(os.sched_getaffinity(0)), total)
    started = time.perf_counter()
    job.run(max(1, count))
    seconds = time.perf_counter() - started
    return job.execution(seconds)


def _check(grid: tuple[int, int, int], threads: int, lds: int, target: arch.Target, program: Program) -> None:
    if len(grid) != 3 or any(n < 1 for n in grid):
        raise UserError(f"grid {grid}", file=program.name, remedy="give three sizes of at least 1")
    if not 1 <= threads <= MAX_THREADS:
        raise UserError(
            f"{threads} work-items in a workgroup", file=program.name, remedy=f"1 to {MAX_THREADS} are possible"
        )
    if not 0 <= lds <= target.max_lds_bytes:
        raise UserError(
            f"{lds} bytes of LDS",
            file=program.name,
            remedy=f"a {target.name} workgroup has at most {target.max_lds_bytes}",
        )


@dataclass(slots=True)
class _Job:
    """One launch while it runs: what its host threads share."""

    program: Program
    kernel: Kernel
    layout: Layout
    code: _Code
    grid: tuple[int, int, int]
    threads: int
    lds_bytes: int
    kernarg_bytes: bytes
    memory: Memory
    limit: int | None
    progress: Progress | None
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None
    next_group: int = 0
    finished: int = 0
    traces: list[WaveTrace] = field(default_factory=list)
    counts: list[NDArray[np.int64]] = field(default_factory=list)
    context: NDArray[np.uint64] = field(init=False)
    faults: NDArray = field(init=False)
    kernarg: NDArray[np.uint8] = field(init=False)
    packet: NDArray[np.uint8] = field(init=False)
    _table: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        self.kernarg = _aligned(max(64, len(self.kernarg_bytes)))
        self.kernarg[: len(self.kernarg_bytes)] = np.frombuffer(self.kernarg_bytes, np.uint8)
        self.packet = _aligned(64)
        private = self.kernel.metadata.private_segment_fixed_size
        packet = dispatch_packet(self.threads, self.grid, self.kernarg.ctypes.data, private, self.lds_bytes)
        self.packet[:] = np.frombuffer(packet, np.uint8)
        table = Memory(list(self.memory.allocations))
        table.add_array(self.kernarg, "kernel arguments", writable=False)
        table.add_array(self.packet, "dispatch packet", writable=False)
        self._table = table.table()
        self.faults = np.zeros(FAULTS_KEPT, FAULT_TYPE)
        self.context = np.zeros(_faults.CONTEXT_BYTES // 8, np.uint64)
        self.context[_faults.ALLOCATIONS // 8] = self._table.ctypes.data
        self.context[_faults.ALLOCATION_COUNT // 8] = len(self._table)
        self.context[_faults.FAULTS // 8] = self.faults.ctypes.data
        self.context[_faults.FAULT_CAPACITY // 8] = FAULTS_KEPT

    @property
    def total(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    def run(self, workers: int) -> None:
        """Run all workgroups on host threads. The calling thread only waits, so that Ctrl-C reaches it."""
        threads = [threading.Thread(target=self._work, args=(workers,), daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            shown = -1
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.05)
                    if self.progress and self.finished != shown:
                        shown = self.finished
                        self.progress(shown, self.total)
        finally:
            # the threads leave at their next return to the host; memory they use must outlive them
            self.stop.set()
            for thread in threads:
                thread.join()
        if self.error is not None:
            raise self.error
        if self.progress:
            self.progress(self.finished, self.total)

    def _work(self, workers: int) -> None:
        try:
            worker = _Worker(self)
            chunk = max(1, min(64, self.total // (8 * workers)))
            while not self.stop.is_set():
                with self.lock:
                    first, self.next_group = self.next_group, min(self.next_group + chunk, self.total)
                if first >= self.total:
                    return
                worker.groups(first, min(first + chunk, self.total))
        except BaseException as error:
            with self.lock:
                self.error = self.error or error
            self.stop.set()

    def executed(self) -> int:
        """Wave-instructions so far, whole blocks."""
        lengths = np.array([b.end - b.start for b in self.kernel.blocks])
        return int(sum((c * lengths).sum() for c in self.counts))

    def execution(self, seconds: float) -> Execution:
        blocks = sum(self.counts, np.zeros(len(self.kernel.blocks), np.int64))
        counts = np.zeros(len(self.kernel.instructions), np.int64)
        for block, n in zip(self.kernel.blocks, blocks, strict=True):
            counts[block.start : block.end] = n
        fault_count = int(self.context[_faults.FAULT_COUNT // 8])
        recording = None
        if self.layout.recording:
            waves = tuple(sorted(self.traces, key=lambda t: (t.workgroup, t.wave)))
            per_group = -(-self.threads // self.layout.lanes)
            recording = Recording(self.program, self.kernel.name, self.grid, per_group, self.layout.lanes, waves)
        return Execution(
            self.program, self.kernel, self.memory, int(counts.sum()), counts,
            read_faults(self.faults, min(fault_count, FAULTS_KEPT)), fault_count, recording, seconds,
        )  # fmt: skip


class _Worker:
    """One host thread's workgroup: the states of its waves, its LDS and scratch."""

    def __init__(self, job: _Job) -> None:
        self.job = job
        layout, kernel = job.layout, job.kernel
        entry = entry_state(kernel, job.program.target, layout, job.threads, job.kernarg, job.packet)
        waves = len(entry.template)
        self.states = _aligned(waves * layout.bytes).reshape(waves, layout.bytes)
        self.lds = _aligned(max(64, job.lds_bytes))
        private = kernel.metadata.private_segment_fixed_size
        self.scratch = _aligned(max(64, private * layout.lanes * waves)).reshape(waves, -1)
        self.barriers = np.zeros(at.BARRIER_COUNT * at.BARRIER_BYTES // 4, np.int32)
        self.counts = np.zeros(len(kernel.blocks), np.int64)
        self.collector = self._collector()
        self.template = self._template(entry, private)
        self.worker = np.zeros(worker_at.WORKER_BYTES // 8, np.int64)
        self._fill_worker(entry)
        with job.lock:
            job.counts.append(self.counts)

    def _collector(self) -> Collector | None:
        job = self.job
        if not job.layout.recording:
            return None
        return Collector(self.states, job.layout.lanes, _most_events(job.kernel), job.code.translation.sites)

    def _template(self, entry: Entry, private: int) -> NDArray[np.uint8]:
        template = _aligned(entry.template.size).reshape(entry.template.shape)
        template[:] = entry.template
        for wave in range(len(template)):
            words = {
                at.CONTEXT: self.job.context.ctypes.data, at.COUNTS: self.counts.ctypes.data,
                at.LDS: self.lds.ctypes.data, at.LDS_SIZE: self.job.lds_bytes,
                at.BARRIERS: self.barriers.ctypes.data, at.SCRATCH: self.scratch[wave].ctypes.data,
                at.SCRATCH_SIZE: private,
            }  # fmt: skip
            if self.collector is not None:
                words.update(self.collector.template_words(wave))
            for offset, value in words.items():
                template[wave, offset : offset + 8].view(np.uint64)[0] = value
            template[wave, at.WAVE : at.WAVE + 4].view(np.uint32)[0] = wave
        return template

    @property
    def _slice(self) -> int:
        return SLICE if self.job.limit is None else max(1, min(SLICE, self.job.limit))

    def _fill_worker(self, entry: Entry) -> None:
        job = self.job
        values = {
            worker_at.WAVES: len(self.states), worker_at.STATES: self.states.ctypes.data,
            worker_at.STRIDE: job.layout.bytes, worker_at.KERNEL: job.code.entry,
            worker_at.TEMPLATE: self.template.ctypes.data, worker_at.TEMPLATE_BYTES: self.template.shape[1],
            worker_at.BUDGET: self._slice, worker_at.EPOCH: self._slice,
            worker_at.GRID_X: job.grid[0], worker_at.GRID_Y: job.grid[1],
            worker_at.LDS_FILL: at.POISON if job.layout.recording else 0,
            worker_at.ID_X: entry.id_registers[0], worker_at.ID_Y: entry.id_registers[1],
            worker_at.ID_Z: entry.id_registers[2], worker_at.ID_YZ: entry.id_registers[3],
            worker_at.BARRIER_TABLE: self.barriers.ctypes.data, worker_at.STOP_EACH: int(job.layout.recording),
        }  # fmt: skip
        for offset, value in values.items():
            self.worker[offset // 8] = value

    def groups(self, first: int, end: int) -> None:
        """Run workgroups first .. end - 1."""
        job = self.job
        self.worker[worker_at.NEXT // 8], self.worker[worker_at.END // 8] = first, end
        while True:
            status = job.code.run(self.worker.ctypes.data)
            if status == worker_at.DONE:
                break
            if status == worker_at.GROUP_DONE:
                self._take_group()
            elif not self._serve(status):
                return
        with job.lock:
            job.finished += end - first

    def _take_group(self) -> None:
        assert self.collector is not None
        traces = self.collector.finish(int(self.worker[worker_at.NEXT // 8]) - 1)
        with self.job.lock:
            self.job.traces += traces

    def _serve(self, status: int) -> bool:
        """Do what a wave needs from the host; False if the launch is being stopped."""
        job = self.job
        wave = int(self.worker[worker_at.WAVE_AT // 8])
        if status == at.STATUS_TRAP:
            index = int(self.states[wave, at.RESUME : at.RESUME + 4].view(np.int32)[0])
            raise Unsupported(_explain(job.program, job.kernel, index, job.code.translation.unsupported[index]))
        if status == at.STATUS_DEADLOCK:
            raise Deadlock(_stuck(job.program, job.kernel, job.code.translation, self.states))
        if status == at.STATUS_RECORD:
            assert self.collector is not None
            self.collector.take(wave)
            return not job.stop.is_set()
        spent = self._slice - self.worker[worker_at.BUDGET // 8]
        self.worker[worker_at.EPOCH // 8] += spent
        self.worker[worker_at.BUDGET // 8] = self._slice
        if job.limit is not None and job.executed() >= job.limit:
            raise Incomplete(f"{job.program.name}: stopped at the limit of {job.limit} instructions")
        return not job.stop.is_set()


def _most_events(kernel: Kernel) -> int:
    """Events that the largest block can write."""
    return 2 + 2 * max(b.end - b.start for b in kernel.blocks)


def _explain(program: Program, kernel: Kernel, index: int, reason: str) -> str:
    instruction = kernel.instructions[index]
    return f"{program.name}:{instruction.line}: '{instruction.text()}' is not supported: {reason}"


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


def _aligned(size: int) -> NDArray[np.uint8]:
    """Zeroed bytes that start at a cache line."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
