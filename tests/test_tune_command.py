"""`docsearch tune`: a project is tuned on its own documents, and the evidence is printed."""

from collections.abc import Callable

import pytest
from conftest import Database, page
from test_command_line import FAILED, NOTHING, ask

pytestmark = pytest.mark.any_server("what the program prints is made of rows that the SQL files hold in each version")

REFUSED = 1


@pytest.fixture
def kiln(new_database: Callable[..., Database]) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kiln')")
    database.index("kiln", page("reference/shelf", "A plate that holds pots."))
    return database


def test_a_tuning_is_waited_for_and_shown(kiln: Database) -> None:
    assert "was not tuned" in ask(kiln, "tune", "--project", "kiln", "--show", status=NOTHING)
    done = ask(kiln, "tune", "--project", "kiln", "--time-limit", "1min", status=REFUSED)
    assert done.startswith("tuning 1: refused\nreason: ")
    assert ask(kiln, "tune", "--project", "kiln", "--show") in done
    assert "tuning 2 runs in the background" in ask(kiln, "tune", "--project", "kiln", "--no-wait")


def test_mistakes(kiln: Database) -> None:
    assert "SQLSTATE 42704" in ask(kiln, "tune", "--project", "kiln", "--rollback", status=FAILED)
    assert "does not exist" in ask(kiln, "tune", "--project", "none", status=FAILED)
    assert "interval" in ask(kiln, "tune", "--project", "kiln", "--time-limit", "soon", status=FAILED)
