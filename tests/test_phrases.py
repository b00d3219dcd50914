"""Text that only one page has leads to that page, and answers keep their limits: on real pages."""

import json
import random
import re
import subprocess

import pytest
import toolchain

PAGES = toolchain.ROOT / "examples" / "swiftui"
SEED = 20251122
SPANS = 400
GREATEST_COMPACT = 2000


@pytest.fixture(scope="module")
def database(new_module_database):
    database = new_module_database()
    program = toolchain.target_directory() / "debug" / "docsearch"
    subprocess.run([program, "index", PAGES, "--project", "swiftui", "--url", database.conninfo],
                   check=True, capture_output=True)
    return database
