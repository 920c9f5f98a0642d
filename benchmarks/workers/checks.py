"""Times the checks of a program and of recorded launches.

`python -m benchmarks.workers.checks JOB.json`
"""

from __future__ import annotations

import sys
import time
from typing import Any

from benchmarks.workers._serve import Answer, Send, pin, serve


def main(job_path: str) -> None:
    """Request: core, and what: 'static', or the target of a staged GEMM. Answer: processor seconds, instructions."""

    def answer(request: dict[str, Any], send: Send) -> Answer:
        pin(request)
        return _static(job_path) if request["what"] == "static" else _demo(request["what"])

    serve(answer)


def _static(job_path: str) -> Answer:
    import antiphase
    from antiphase.checks import check_program
    from benchmarks._job import load

    program = antiphase.load(load(job_path).text)
    started = time.process_time()
    check_program(program)
    return {"seconds": time.process_time() - started, "instructions": len(program.kernel().instructions)}


def _demo(target: str) -> Answer:
    from antiphase.checks import check_execution
    from antiphase.demo import demonstrate

    demonstrate(target)  # compiled and translated once, so that recording is what is timed
    started = time.process_time()
    execution = demonstrate(target).execution
    check_execution(execution)
    return {"seconds": time.process_time() - started, "instructions": execution.instructions}


if __name__ == "__main__":
    main(sys.argv[1])
