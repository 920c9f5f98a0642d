"""`port`: what of a kernel does not survive a move to another target."""

from antiphase.checks.port._check import check_port

__all__ = [
    "check_port",
]
