"""A folder of pages over HTTP, on this machine alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from antiphase.errors import UserError


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """A line a request would bury the address."""


def serve(folder: Path, port: int, ready: Callable[[str], object]) -> None:
    """Serve until interrupted; `ready` is told the address. UserError where the port is taken."""
    handler = functools.partial(_Quiet, directory=str(folder))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise UserError(
            f"port {port}: {error.strerror}", remedy="choose another with --port, or 0 for a free one"
        ) from error
    with server:
        ready(f"http://127.0.0.1:{server.server_port}/")
        server.serve_forever()
