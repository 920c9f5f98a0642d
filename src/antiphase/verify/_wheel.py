"""The LLVM of the Triton wheel, asked in a process of its own: some lines make it abort.

Run as a module it answers requests, one JSON object a line each way.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import Any

from antiphase.errors import UserError
from antiphase.verify._llvm import Crash, Object, Refused


class WheelLlvm:
    """The child, started when first asked and again after it dies."""

    source = "llvm_triton"

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def object(self, target: str, features: str, text: str) -> Object:
        """As `InstalledLlvm.object`."""
        reply = self._ask("assemble", target, features, text)
        code = base64.b64decode(reply["code"]) if reply["code"] is not None else None
        return Object(code, {int(line): what for line, what in reply["problems"].items()})

    def compiled(self, target: str, features: str, ir: str) -> str:
        """As `InstalledLlvm.compiled`."""
        reply = self._ask("compile", target, features, ir)
        if reply["text"] is None:
            raise Refused(reply["problem"])
        return reply["text"]

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            child, self._child = self._child, None
            child.communicate()

    def _ask(self, *request: str) -> dict[str, Any]:
        if self._child is None:
            command = [sys.executable, "-P", "-m", "antiphase.verify._wheel"]
            pipe = subprocess.PIPE
            self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self._child.stdin is not None and self._child.stdout is not None
        try:
            self._child.stdin.write(json.dumps(request) + "\n")
            self._child.stdin.flush()
            reply = self._child.stdout.readline()
        except BrokenPipeError:
            reply = ""
        if not reply:
            self._child.kill()
            self._child.communicate()
            self._child = None
            raise Crash
        return json.loads(reply)


def _serve() -> None:
    from antiphase.frontends._llvm import assembler

    llvm = assembler()
    for line in sys.stdin:
        verb, target, features, text = json.loads(line)
        if verb == "assemble":
            code, problems = llvm.assembled(text, target, features)
            reply = {"code": base64.b64encode(code).decode() if code is not None else None, "problems": problems}
        else:
            try:
                reply = {"text": llvm.compile(text, target, features), "problem": ""}
            except UserError as error:
                reply = {"text": None, "problem": error.what}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    _serve()
