"""Global memory as the kernel may see it: the allocations it was given, and accesses that hit none of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from antiphase.errors import UserError


@dataclass(frozen=True, slots=True)
class Allocation:
    """Bytes [address, address + size) of this process. owner is kept alive as long as the allocation, and no part of
    what makes two equal.

    host: the host reads and writes them while waves do.
    """

    address: int
    size: int
    name: str
    writable: bool = True
    owner: object = field(default=None, compare=False, repr=False)
    host: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Memory:
    """The registered allocations of a launch. Device addresses are host addresses inside them.

    unwritten: rows (first byte, one past the last) of what held nothing when the launch began, by address.
    """

    allocations: list[Allocation] = field(default_factory=list)
    unwritten: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64))

    def add(
        self, address: int, size: int, name: str, writable: bool = True, owner: object = None, host: bool = False
    ) -> None:
        """Register bytes of this process; they may be read, and written if writable. host: as for `Allocation`."""
        if address < 0 or size < 0:
            raise UserError(f"allocation '{name}' has address {address} and size {size}", remedy="both must be >= 0")
        self.allocations.append(Allocation(address, size, name, writable, owner, host))

    def add_array(self, array: NDArray, name: str, writable: bool = True, host: bool = False) -> None:
        """Register a contiguous NumPy array. host: as for `Allocation`."""
        self.add(array.ctypes.data, array.nbytes, name, writable, array, host)

    def __repr__(self) -> str:
        return f"<Memory allocations={len(self.allocations)} bytes={sum(a.size for a in self.allocations)}>"

    def nearest(self, address: int) -> Allocation | None:
        """The allocation whose end or start lies closest to an address: what a stray access probably meant."""

        def distance(a: Allocation) -> int:
            return max(a.address - address, address - (a.address + a.size) + 1, 0)

        return min((a for a in self.allocations if a.size), key=distance, default=None)

    def table(self) -> NDArray[np.uint64]:
        """Rows (first byte, one past the last, writable) for the native code."""
        rows = [(a.address, a.address + a.size, int(a.writable)) for a in self.allocations if a.size]
        return np.array(rows, np.uint64).reshape(len(rows), 3)


@dataclass(frozen=True, slots=True)
class Fault:
    """One access that had no effect: outside every allocation, LDS or private memory, or a misaligned atomic.

    instruction: index in the kernel. kind: 'read', 'write' (of global memory), 'lds' or 'scratch'. address: byte
    address, or byte offset in LDS or private memory. size: bytes per lane. Kind 'exec' is a transposing load with some
    lanes inactive: its result is undefined, address is EXEC and size 0.
    """

    instruction: int
    kind: str
    workgroup: tuple[int, int, int]
    wave: int
    lane: int
    address: int
    size: int


FAULT_TYPE = np.dtype(
    {
        "names": ["instruction", "lane", "wave", "kind", "address", "size", "x", "y", "z"],
        "formats": ["u4", "u4", "u4", "u4", "u8", "u8", "u4", "u4", "u4"],
        "offsets": [0, 4, 8, 12, 16, 24, 32, 36, 40],
        "itemsize": 64,
    }
)
_KINDS = ("read", "write", "lds", "scratch", "exec")


def read_faults(records: NDArray, count: int) -> list[Fault]:
    """Faults from the native list."""
    return [
        Fault(
            int(r["instruction"]), _KINDS[int(r["kind"])], (int(r["x"]), int(r["y"]), int(r["z"])), int(r["wave"]),
            int(r["lane"]), int(r["address"]), int(r["size"]),
        )
        for r in records[:count]
    ]  # fmt: skip
