"""The browser that tests of pages use, where there is one."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import ViewportSize

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH: make browser installs Debian's")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE: ViewportSize = {"width": 360, "height": 740}
