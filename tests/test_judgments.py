"""The quality of answers by examples/judgments/intent, measured with `docsearch eval`."""

import json
from pathlib import Path

from conftest import Database
from test_folder import docsearch

JUDGMENTS = Path(__file__).resolve().parent.parent / "examples" / "judgments" / "intent"
LEAST_RIGHT, LEAST_GAIN = 0.92, 0.15


def evaluated(database: Database, report: Path) -> dict:
    """The report."""
    done = docsearch("eval", JUDGMENTS, "--report", report, conninfo=database.conninfo)
    assert done.returncode == 0, done.stderr
    return json.loads(report.read_text())


def test_s2_13_the_page_that_does_the_task_is_first_for_any_verb(database, tmp_path):
    with_rules = evaluated(database, tmp_path / "with.json")
    assert with_rules["overall"]["p1"] >= LEAST_RIGHT
    for table in ("action", "action_synonym"):
        database.execute(f"UPDATE docsearch.{table} SET enabled = false")
    without = evaluated(database, tmp_path / "without.json")
    gain = with_rules["groups"]["indirect"]["p1"] - without["groups"]["indirect"]["p1"]
    assert gain >= LEAST_GAIN
