"""Chromium and the page of `docsearch serve`, for pictures and measurements. The tests have their own fixtures."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Chromium, as Debian and others name it.
NAMES = ("chromium", "chromium-browser", "google-chrome")
NEEDED = "Chromium (apt-get install chromium), or DOCSEARCH_CHROMIUM"


def find() -> str | None:
    """The browser, or the one that DOCSEARCH_CHROMIUM names."""
    return os.environ.get("DOCSEARCH_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def serving(program: Path, url: str) -> Iterator[str]:
    """Serves a database at a free port without a limit on requests; gives the address."""
    process = subprocess.Popen([program, "serve", "0", "--rate", "0", "--url", url], stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        if not (found := re.search(r"at (http://\S+)", line)):
            raise SystemExit(f"docsearch serve did not start:\n{line}{process.stderr.read()}")
        yield found[1]
    finally:
        process.terminate()
        process.wait(timeout=10)


@contextmanager
def opened() -> Iterator["Browser"]:  # noqa: F821, the library is only in PYTHONPATH of those who call this
    """A started browser."""
    from playwright.sync_api import sync_playwright

    if (program := find()) is None:
        raise SystemExit(f"needs {NEEDED}")
    with sync_playwright() as playwright:
        # Root has no sandbox.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        try:
            yield browser
        finally:
            browser.close()
