"""Running a launch: translation, host threads, limits, interruption."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from antiphase import arch
from antiphase.asm import Kernel, Program
from antiphase.errors import Incomplete, UserError
from antiphase.isa import Memory as MemoryRecord
from antiphase.isa import find, generation
from antiphase.machine import _runtime
from antiphase.machine._layout import Layout
from antiphase.machine._translate import Translation, translate
from antiphase.machine.llvm import _native
from antiphase.machine.memory import FAULT_TYPE, Fault, Memory, read_faults
from antiphase.machine.recording import Recording, WaveTrace
from antiphase.machine.waves import _faults
from antiphase.machine.waves._entry import Sides, dispatch_packet, layout_of, private_bytes
from antiphase.machine.waves._room import Room, default_limit
from antiphase.machine.waves._worker import SLICE, Worker, aligned

OPENING = 50_000
"""Instructions that run in the calling thread before others start: a small launch is over sooner than they would be."""
FAULTS_KEPT = 4096
MAX_THREADS = 1024
MAX_CLUSTER = 16

Progress = Callable[[int, int], None]
Interrupt = Callable[[], None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Execution:
    """A finished launch; equal to no other.

    grid: workgroups in x, y, z. instructions: wave-instructions executed. counts: executions of each instruction of the
    kernel, by index. faults: accesses that had no effect, the first FAULTS_KEPT of fault_count. seconds: wall time
    without translation. lds_bytes: LDS that each workgroup had.
    """

    program: Program
    kernel: Kernel
    grid: tuple[int, int, int]
    memory: Memory
    instructions: int
    counts: NDArray[np.int64]
    faults: list[Fault]
    fault_count: int
    recording: Recording | None
    seconds: float
    lds_bytes: int

    def executed(self, prefix: str) -> int:
        """Wave-instructions whose mnemonic starts with `prefix`."""
        chosen = [i.mnemonic.startswith(prefix) for i in self.kernel.instructions]
        return int(self.counts[chosen].sum())

    def __repr__(self) -> str:
        return (
            f"<Execution kernel={self.kernel.name!r} target={self.program.target!r} grid={self.grid} "
            f"instructions={self.instructions} faults={self.fault_count} recorded={self.recording is not None}>"
        )

    def _repr_html_(self) -> str:
        from antiphase.report.notebook import execution_html

        return execution_html(self)


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
    load_reach: int


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
    entry = library.address(translation.symbol)
    return _Code(replace(translation, text=""), library, entry, run, _load_reach(kernel, program.target))


def _load_reach(kernel: Kernel, target: str) -> int:
    """How far loads of a dword reach: an atomic on 8 or 16 bits is a loop that begins with one of the whole dword."""
    records = (find(i.mnemonic, target) for i in kernel.instructions if "atomic" in i.mnemonic)
    parts = any(isinstance(record, MemoryRecord) and record.part == "bits" for record in records)
    return _faults.DWORD if parts else _faults.EXACT


def run(
    program: Program,
    *,
    grid: tuple[int, int, int],
    kernarg: bytes,
    memory: Memory,
    threads_per_workgroup: int | Sides,
    lds_bytes: int,
    kernel: str | None = None,
    record: bool = False,
    workgroups: tuple[int, int] | None = None,
    cluster: tuple[int, int, int] = (1, 1, 1),
    workers: int | None = None,
    max_instructions: int | None = None,
    recording_limit: int | None = None,
    progress: Progress | None = None,
    interrupt: Interrupt | None = None,
) -> Execution:
    """Run a kernel over a grid of workgroups and return when all have ended.

    grid: workgroups in x, y, z. kernarg: the argument block. threads_per_workgroup: work-items, at most 1024,
    or as many in x, y and z.
    lds_bytes: LDS of a workgroup. record: keep a Recording; loads then deliver when a wait covers them.
    workgroups: run only those from the first number to before the second, x fastest; None for all of the grid.
    cluster: workgroups in x, y, z that run together and share a barrier (gfx1250); `workgroups` then counts clusters.
    workers: host threads (None: one per core). max_instructions: wave-instructions in all, roughly.
    recording_limit: bytes that may be recorded; by default a quarter of the memory that is free, and at most 2 GiB.
    progress: called with (workgroups done, workgroups in all). interrupt: called, on whichever host thread runs the
    wave, when a wave sends the interrupt message; the wave goes on when it returns.
    Raises UserError for arguments that do not fit, Unsupported if execution meets something not modelled, Incomplete
    if a limit is reached, Deadlock if all waves of a workgroup wait for each other, Trapped if a wave ends the launch.
    Accesses outside memory's allocations have no effect and are listed in faults.
    """
    target = arch.target(program.target)
    chosen = program.kernel(kernel)
    one = isinstance(threads_per_workgroup, int)
    sides: Sides = (threads_per_workgroup, 1, 1) if one else threads_per_workgroup
    _check(grid, sides, lds_bytes, target, program)
    _check_cluster(cluster, grid, program)
    layout = layout_of(chosen, program.target, record)
    code = _code(program, chosen, layout)
    first, end = workgroups or (0, math.prod(grid) // math.prod(cluster))
    job = Job(
        program, chosen, layout, code, grid, sides, lds_bytes, kernarg, memory, max_instructions,
        progress, first, end, Room(default_limit() if recording_limit is None else recording_limit), cluster,
        interrupt,
    )  # fmt: skip
    count = min(workers or len(os.sched_getaffinity(0)), job.total)
    started = time.perf_counter()
    job.run(max(1, count))
    seconds = time.perf_counter() - started
    return job.execution(seconds)


def _check(grid: tuple[int, int, int], sides: Sides, lds: int, target: arch.Target, program: Program) -> None:
    if len(grid) != 3 or any(n < 1 for n in grid):
        raise UserError(f"grid {grid}", file=program.name, remedy="give three sizes of at least 1")
    threads = math.prod(sides)
    if len(sides) != 3 or min(sides) < 1 or threads > MAX_THREADS:
        raise UserError(
            f"{threads} work-items in a workgroup", file=program.name, remedy=f"1 to {MAX_THREADS} are possible"
        )
    if not 0 <= lds <= target.max_lds_bytes:
        raise UserError(
            f"{lds} bytes of LDS",
            file=program.name,
            remedy=f"a {target.name} workgroup has at most {target.max_lds_bytes}",
        )


def _check_cluster(cluster: tuple[int, int, int], grid: tuple[int, int, int], program: Program) -> None:
    size = math.prod(cluster)
    if size == 1:
        return
    if generation(program.target) != "gfx1250":
        raise UserError(f"a cluster on {program.target}", file=program.name, remedy="only gfx1250 has clusters")
    if len(cluster) != 3 or any(n < 1 for n in cluster) or size > MAX_CLUSTER:
        remedy = f"give three sizes whose product is at most {MAX_CLUSTER}"
        raise UserError(f"cluster {cluster}", file=program.name, remedy=remedy)
    if any(n % side for n, side in zip(grid, cluster, strict=True)):
        remedy = "make it a multiple in x, y and z"
        raise UserError(f"grid {grid} in clusters of {cluster}", file=program.name, remedy=remedy)


@dataclass(slots=True, eq=False)
class Job:
    """One launch while it runs: what its host threads share."""

    program: Program
    kernel: Kernel
    layout: Layout
    code: _Code
    grid: tuple[int, int, int]
    sides: Sides
    lds_bytes: int
    kernarg_bytes: bytes
    memory: Memory
    limit: int | None
    progress: Progress | None
    next_group: int
    end: int
    room: Room
    cluster: tuple[int, int, int] = (1, 1, 1)
    interrupt: Interrupt | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None
    finished: int = 0
    total: int = field(init=False)
    traces: list[WaveTrace] = field(default_factory=list)
    counts: list[NDArray[np.int64]] = field(default_factory=list)
    context: NDArray[np.uint64] = field(init=False)
    faults: NDArray = field(init=False)
    kernarg: NDArray[np.uint8] = field(init=False)
    packet: NDArray[np.uint8] = field(init=False)
    image: NDArray[np.uint8] = field(init=False)
    _table: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        self.total = self.end - self.next_group
        self.kernarg = aligned(max(64, len(self.kernarg_bytes)))
        self.kernarg[: len(self.kernarg_bytes)] = np.frombuffer(self.kernarg_bytes, np.uint8)
        self.packet = aligned(64)
        private = private_bytes(self.kernel)
        packet = dispatch_packet(self.sides, self.grid, self.kernarg.ctypes.data, private, self.lds_bytes)
        self.packet[:] = np.frombuffer(packet, np.uint8)
        table = Memory(list(self.memory.allocations))
        table.add_array(self.kernarg, "kernel arguments", writable=False)
        table.add_array(self.packet, "dispatch packet", writable=False)
        image = self.code.translation.image
        self.image = aligned(max(64, image.size))
        self.image[: image.size] = image.content(self.image.ctypes.data, self.kernel)
        if image.size:
            table.add_array(self.image[: image.size], "data of the program")
        self._table = table.table()
        self.faults = np.zeros(FAULTS_KEPT, FAULT_TYPE)
        self.context = np.zeros(_faults.CONTEXT_BYTES // 8, np.uint64)
        self.context[_faults.ALLOCATIONS // 8] = self._table.ctypes.data
        self.context[_faults.ALLOCATION_COUNT // 8] = len(self._table)
        self.context[_faults.FAULTS // 8] = self.faults.ctypes.data
        self.context[_faults.FAULT_CAPACITY // 8] = FAULTS_KEPT
        self.context[_faults.LOAD_REACH // 8] = self.code.load_reach

    def run(self, workers: int) -> None:
        """Run all workgroups: the first in the calling thread, what is left then on host threads of their own."""
        chunk = max(1, min(64, self.total // (8 * workers)))
        first = Worker(self, chunk, OPENING)
        if not self._work(lambda: first, pause=True):
            self._spread([lambda: first, *(lambda: Worker(self, chunk, SLICE) for _ in range(workers - 1))])
        if isinstance(self.error, MemoryError):
            recorded = f", {self.room.taken:,} bytes of it recorded" if self.layout.recording else ""
            raise Incomplete(
                f"{self.program.name}: the launch takes more memory than there is{recorded}"
            ) from self.error
        if self.error is not None:
            raise self.error
        if self.progress:
            self.progress(self.finished, self.total)

    def _spread(self, makers: Sequence[Callable[[], Worker]]) -> None:
        """Run workers on a thread each. The calling thread only waits, so that Ctrl-C reaches it."""
        threads = [threading.Thread(target=self._work, args=(make,), daemon=True) for make in makers]
        started: list[threading.Thread] = []
        try:
            for thread in threads:
                try:
                    thread.start()
                except RuntimeError as error:  # the system has no thread to give: fewer do the same work
                    if not started:
                        raise Incomplete(f"{self.program.name}: the system gives no thread to run on") from error
                    break
                started.append(thread)
            shown = -1
            for thread in started:
                while thread.is_alive():
                    thread.join(0.05)
                    if self.progress and self.finished != shown:
                        shown = self.finished
                        self.progress(shown, self.total)
        finally:
            # the threads leave at their next return to the host; memory they use must outlive them
            self.stop.set()
            for thread in started:
                thread.join()

    def _work(self, make: Callable[[], Worker], pause: bool = False) -> bool:
        """Let a worker work; True unless it pauses with work left. What goes wrong is kept, and stops the others."""
        try:
            return make().work(pause)
        except BaseException as error:
            with self.lock:
                self.error = self.error or error
            self.stop.set()
            return True

    def take(self, chunk: int) -> tuple[int, int]:
        """The next workgroups for a worker: first and end, the same where none is left."""
        with self.lock:
            first, self.next_group = self.next_group, min(self.next_group + chunk, self.end)
            return first, self.next_group

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
            per_group = -(-math.prod(self.sides) // self.layout.lanes)
            host = tuple((a.address, a.address + a.size) for a in self.memory.allocations if a.host)
            recording = Recording(
                self.program, self.kernel.name, self.grid, per_group, self.layout.lanes, waves, self.cluster, host
            )  # fmt: skip
        return Execution(
            self.program, self.kernel, self.grid, self.memory, int(counts.sum()), counts,
            read_faults(self.faults, min(fault_count, FAULTS_KEPT)), fault_count, recording, seconds,
            self.lds_bytes,
        )  # fmt: skip
