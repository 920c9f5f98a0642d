"""What a file is that Python could not compile."""

from __future__ import annotations

import re
from pathlib import Path

from antiphase.errors import UserError

_CODE_OBJECTS = (b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__")
_ASSEMBLY = re.compile(rb"^\s*\.(?:amdgcn_target|amdhsa_kernel|amdgpu_metadata|text|globl)\b", re.MULTILINE)


def check_is_python(script: str) -> None:
    """UserError for a code object, assembly text and other files of which no edit makes a Python script."""
    content = Path(script).read_bytes()
    if content.startswith(_CODE_OBJECTS) or _ASSEMBLY.search(content):
        raise UserError(
            "not a Python script",
            file=script,
            remedy=f"launch it with antiphase.launch({script!r}, ...) or antiphase check {script} --args ...",
        )
    if b"\0" in content:
        raise UserError("not a Python script", file=script, remedy="give the path of a Python file")
