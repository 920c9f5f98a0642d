"""Where a wave keeps its state: byte offsets from the wave's base pointer, shared by all code that touches it.

Registers are planes: VGPR r is `lanes` consecutive 32-bit words, so one instruction is one run of vector operations.
The scalar file has a fixed layout for every target; the encoding numbers of the targets do not matter here.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphase.asm import Reg, Special
from antiphase.errors import Unsupported

# scalar registers, in words from the base
VCC, TTMP, M0, EXEC = 106, 108, 124, 126
SPECIAL_WORDS = {
    "vcc": VCC, "vcc_lo": VCC, "vcc_hi": VCC + 1, "exec": EXEC, "exec_lo": EXEC, "exec_hi": EXEC + 1, "m0": M0,
    "flat_scratch": 102, "flat_scratch_lo": 102, "flat_scratch_hi": 103,
    "xnack_mask": 104, "xnack_mask_lo": 104, "xnack_mask_hi": 105,
}  # fmt: skip

# scalar state, in bytes
SCC = 512
RESUME = 516  # index of the entry point to continue at
STATUS = 520  # one of the STATUS_ values
WAVE = 524  # index of the wave in its workgroup
BUDGET = 528  # instructions until the wave must return to the host
CONTEXT = 536  # pointer to the launch's context
COUNTS = 544  # pointer to i64 executions per block
LDS = 552  # pointer to the workgroup's LDS
LDS_SIZE = 560  # i64
GROUP = 568  # workgroup id x, y, z as i32
SCRATCH = 584  # pointer to private memory, one run of SCRATCH_SIZE bytes per lane
SCRATCH_SIZE = 592  # i64, bytes per lane
EPOCH = 600  # i64: the clock is EPOCH - BUDGET
COMPANY = 616  # i32: waves of the workgroup; then i32: workgroups of the cluster
EXCEPTIONS = 624  # i32: exception flags, in kernels that read them
LOCAL = 628  # i32 x, y, z: the workgroup's place in its cluster
PARKED = 608  # i32: LDS operations are in flight across a barrier
ADDRESSES = 640  # 64 x i64: the addresses of the memory instruction in flight
DMA_BASE = 1152  # i64: LDS address of lane 0 of a load to LDS

# recording mode
EVENTS = 1160  # pointer to the next event
EVENTS_END = 1168
ROWS = 1176  # pointer to the next row of addresses
ROWS_END = 1184
ROW_INDEX = 1192  # i64, rows written by this wave so far
LAST_ROWS = 1200  # pointer to what each place in the code recorded last: a row and its index
QUEUES = 1216  # heads and sizes of the pending queues: per queue i32 head, i32 size; up to 8 queues
TEMPORARY = 1280  # 4 registers for data that goes straight from memory to memory
BARRIERS = 2304  # pointer to the workgroup's barriers
WAIT_ON = 2312  # pointer to the barrier that a wave with STATUS_BARRIER waits for
WAIT_PHASE = 2320  # i32: it may go on when the barrier's phase differs
JOINED = 2324  # i32: index of the named barrier joined last, 0 for none
SEEN = 2328  # i32 per barrier: the phase this wave has consumed
CLUSTER_BARRIERS = 2416  # pointer to the barriers of the cluster's first workgroup, which hold the cluster's own
CLUSTER_STATUS = 2424  # i32: IB_STS2 as far as it speaks of clusters
IMAGE = 2432  # pointer to the program's data
JUMP_TO, JUMP_FROM = 2440, 2448  # i64: address a computed jump goes to; i32: its instruction
VGPRS = 2560

(STATUS_RUN, STATUS_BARRIER, STATUS_END, STATUS_BUDGET, STATUS_RECORD, STATUS_TRAP, STATUS_DEADLOCK, STATUS_INTERRUPT,
 STATUS_STOPPED) = range(9)  # fmt: skip

# a barrier: i32 members, arrived, phase; one per index below
BARRIER_BYTES, BARRIER_MEMBERS, BARRIER_ARRIVED, BARRIER_PHASE = 16, 0, 4, 8
# the named ones follow the null barrier, which is number 0
WORKGROUP_BARRIER, CLUSTER_BARRIER, NULL_BARRIER, BARRIER_COUNT = 0, 1, 2, 19

# a pending operation: header and the data to deliver
SLOT_KIND, SLOT_DESTINATION, SLOT_DWORDS, SLOT_KEEP, SLOT_MASK, SLOT_DATA = 0, 4, 8, 12, 16, 64
# of an LDS operation also: places it accesses (0: not followed), bytes a lane and place, lanes of each, if parked
SLOT_PLACES, SLOT_SIZE, SLOT_MASKS, SLOT_PARKED = 24, 28, 32, 56
SLOT_BYTES = 64 + 16 * 256
QUEUE_SLOTS = 64
KIND_NONE, KIND_VGPR, KIND_SGPR, KIND_LDS, KIND_LDS_LANES, KIND_TENSOR = range(6)

POISON = 0x7FC17FC1
"""What a register holds while a load into it is pending: NaN read as f32, and as f16 and bf16 in both halves."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of a wave's state for one kernel.

    lanes: wave size. vgprs, agprs: registers allocated. counters: counters with a queue of pending operations, 0 in
    fast mode, which delivers at once.
    """

    lanes: int
    vgprs: int
    agprs: int
    counters: int = 0

    @property
    def recording(self) -> bool:
        return self.counters > 0

    @property
    def plane(self) -> int:
        """Bytes of one vector register."""
        return 4 * self.lanes

    @property
    def queues(self) -> int:
        return _align(VGPRS + (self.vgprs + self.agprs) * self.plane)

    @property
    def bytes(self) -> int:
        return self.queues + self.counters * QUEUE_SLOTS * SLOT_BYTES

    def vector(self, reg: Reg) -> int:
        """Byte offset of a VGPR or AGPR."""
        limit = self.vgprs if reg.bank == "v" else self.agprs
        if reg.index + reg.count > limit:
            raise Unsupported(f"{reg} is beyond the {limit} registers the kernel descriptor allocates")
        first = reg.index if reg.bank == "v" else self.vgprs + reg.index
        return VGPRS + first * self.plane

    def scalar(self, operand: Reg | Special) -> int | None:
        """Byte offset of a scalar register, None for a name that is not one."""
        if isinstance(operand, Special):
            word = SPECIAL_WORDS.get(operand.name)
            return None if word is None else 4 * word
        first, count = (TTMP, 16) if operand.bank == "ttmp" else (0, 106)
        if operand.index + operand.count > count:
            raise ValueError(f"{operand} does not exist, the last of these registers is {operand.bank}{count - 1}")
        return 4 * (first + operand.index)


def _align(n: int) -> int:
    return (n + 63) & ~63
