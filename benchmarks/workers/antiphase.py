"""Runs a job with antiphase.

`python -m benchmarks.workers.antiphase JOB.json`
"""

from __future__ import annotations

import resource
import sys
from typing import Any

import antiphase
from antiphase.frontends import launch_asm
from antiphase.machine import Execution
from benchmarks._job import Job, Softmax, load
from benchmarks.workers._serve import Answer, Send, pin, serve, timed


def main(job: Job | Softmax) -> None:
    """Requests: core, seconds (see _serve), record, check, progress, groups (to run only so many)."""
    operands = job.operands()
    program = antiphase.load(job.text)

    def answer(request: dict[str, Any], send: Send) -> Answer:
        pin(request)
        executions: list[Execution] = []
        show = (lambda done, total: send({"done": done, "total": total})) if request.get("progress") else None

        def launch() -> None:
            executions[:] = [
                launch_asm(
                    program,
                    grid=request.get("groups", job.grid),
                    args=job.arguments(operands),
                    threads=job.threads,
                    lds_bytes=job.lds_bytes,
                    record=request.get("record", False),
                    progress=show,
                )
            ]

        seconds = timed(launch, request)
        (execution,) = executions
        answer = {
            "seconds": seconds,
            "instructions": execution.instructions,
            "matrix_instructions": execution.executed("v_mfma") + execution.executed("v_wmma"),
            "faults": execution.fault_count,
            "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        }
        if request.get("check"):
            answer["right"] = job.share_right(*operands)
        return answer

    serve(answer)


if __name__ == "__main__":
    main(load(sys.argv[1]))
