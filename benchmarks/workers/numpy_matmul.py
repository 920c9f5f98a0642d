"""Takes a job's product with NumPy in float32.

`python -m benchmarks.workers.numpy_matmul JOB.json`
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks._job import Job, product
from benchmarks.workers._serve import Answer, Send, serve, timed


def main(job: Job) -> None:
    """Request: seconds (see _serve). Answer: seconds of the product alone, conversions not counted."""
    a, b, _ = job.operands()
    left, right = a.astype(np.float32), (b.T if job.b_by_columns else b).astype(np.float32)
    del a, b
    out = np.empty((job.m, job.n), np.float32)

    def answer(request: dict[str, Any], send: Send) -> Answer:
        return {"seconds": timed(lambda: np.matmul(left, right, out=out), request)}

    serve(answer)


if __name__ == "__main__":
    main(product(sys.argv[1]))
