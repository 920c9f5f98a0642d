"""Where antiphase keeps files of its own."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Where compiled objects are kept: ANTIPHASE_CACHE, else `antiphase` in the user's cache directory."""
    chosen = os.environ.get("ANTIPHASE_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "antiphase"
