"""What the launches of one script or test do together: counts, faults, and who is told of each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from antiphase.errors import AntiphaseError
from antiphase.frontends import _launch
from antiphase.frontends._buffers import Exposed
from antiphase.frontends._launch import Launch, RunOptions
from antiphase.machine.fault_tally import FaultTally

if TYPE_CHECKING:
    from antiphase.machine import Execution


@dataclass
class Session:
    """What the launches through one driver, and by `antiphase.launch` beside it, have done so far.

    launches, instructions: launches made, wave-instructions executed.
    faults: accesses without effect, by instruction.
    on_launch: called with the kernel's name and the Execution after every launch.
    on_failure: called with the launch and the error where the machine could not finish it; the error goes on.
    """

    options: RunOptions = field(default_factory=RunOptions)
    on_launch: Callable[[str, Execution], None] | None = None
    on_failure: Callable[[Launch, AntiphaseError], None] | None = None
    launches: int = 0
    instructions: int = 0
    faults: FaultTally = field(default_factory=FaultTally)
    exposed: Exposed = field(default_factory=Exposed)

    def run(self, launch: Launch, asked: RunOptions | None = None) -> Execution:
        """Run a launch and count it. asked: what it wants by itself, which goes before the session's options."""
        options = self.options if asked is None else asked.within(self.options)
        try:
            execution = _launch.execute(launch, options)
        except AntiphaseError as error:
            if self.on_failure is not None:
                self.on_failure(launch, error)
            raise
        self.launches += 1
        self.instructions += execution.instructions
        self.faults.add(execution)
        if self.on_launch is not None:
            self.on_launch(launch.kernel, execution)
        return execution


def current_session() -> Session | None:
    """The session of Triton's active driver; None where that is not ours, or Triton is not loaded."""
    runtime = sys.modules.get("triton.runtime")
    session = getattr(runtime.driver._active, "session", None) if runtime else None
    return session if isinstance(session, Session) else None
