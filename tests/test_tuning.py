"""Tunings that find something, run in the background, and go on after the server has stopped.

The pages have a planted law: a blog explains things like documentation. By default blogs lose a share of their score, so that other
pages that have the same words come first.
"""

import random
from collections.abc import Iterator

import pytest
from conftest import MAJOR, Database, Site, own_server, wait_until
from psycopg.conninfo import make_conninfo

PAGES = 160
SYLLABLES = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te"]
# Enough that a word is in few pages.
WORDS = [first + second + third for first in SYLLABLES for second in SYLLABLES for third in ("lomi", "ruda", "sepo", "tagu")]
ENDED = "SELECT status FROM docsearch.tuning WHERE id = %s AND finished_at IS NOT NULL"


def planted(seed: int) -> list[dict]:
    """Pages of a blog, which `penalty_news` puts behind others, and pages that only mention the same things."""
    draw = random.Random(seed)
    pages = []
    for number in range(PAGES // 2):
        headings = [" ".join(draw.sample(WORDS, 3)) for _ in range(2)]
        parts, mentions = "", ""
        for heading in headings:
            first, second, third = heading.split()
            parts += f"\n\n## {heading.capitalize()}\n\nWhat is {third} of {first} and {second}."
            mentions += f"\n\nWhat is {third} of {first} and {second}, {' and '.join(draw.sample(WORDS, 4))}."
        pages.append({"slug": f"blog/{number:03}", "title": f"Post {number}", "body": f"The post with number {number}.{parts}"})
        pages.append({"slug": f"plant/{number:03}", "title": f"Plant {number}", "body": f"The plant with number {number}.{mentions}"})
    return pages


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with own_server("tuning") as own:
        own.database.execute("SELECT docsearch.create_project('kit')")
        own.database.index("kit", *planted(1))
        yield own


@pytest.fixture
def kit(site: Site) -> Iterator[Database]:
    yield site.database
    assert site.database.problems() == []
    assert site.database.execute("SELECT name FROM docsearch.project") == [("kit",)]


def tuner(database: Database) -> list[tuple]:
    return database.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'docsearch tuner'")


def taken_back(database: Database) -> None:
    """Takes back what the last tuning has changed, if it has changed anything."""
    database.execute("SELECT docsearch.rollback_tuning('kit') WHERE EXISTS (SELECT FROM docsearch.tuning WHERE before <> after "
                     "AND status IN ('accepted', 'refused'))")


def test_a_planted_weight_is_found_accepted_and_taken_back(kit):
    before = kit.execute("SELECT settings FROM docsearch.project")
    tuning, = kit.execute("SELECT docsearch.tune('kit', '3 minutes', in_background => false)")[0]
    status, after, evidence = kit.execute("SELECT status, after, evidence FROM docsearch.tuning WHERE id = %s", tuning)[0]
    assert status == "accepted", evidence
    assert after["penalty_news"] < 0.2 and evidence["overall"]["interval"][0] > 0
    assert kit.execute("SELECT (settings ->> 'penalty_news')::float8 FROM docsearch.project") == [(after["penalty_news"],)]
    assert kit.execute("SELECT count(*) FROM docsearch.ranking_history('kit')") == [(1,)]
    assert kit.execute("SELECT docsearch.rollback_tuning('kit')") == [(tuning,)]
    assert kit.execute("SELECT settings FROM docsearch.project") == before
    assert kit.execute("SELECT status FROM docsearch.tuning WHERE id = %s", tuning) == [("rolled_back",)]


def test_what_the_owner_has_set_stays(kit):
    kit.execute("""SELECT docsearch.configure_project('kit', '{"penalty_news": 0.2}')""")
    tuning, = kit.execute("SELECT docsearch.tune('kit', '10 seconds', in_background => false)")[0]
    after, = kit.execute("SELECT after FROM docsearch.tuning WHERE id = %s", tuning)[0]
    assert "penalty_news" not in after
    taken_back(kit)
    kit.execute("""SELECT docsearch.configure_project('kit', '{"penalty_news": null}')""")


def test_the_worker_goes_on_after_a_restart(site, kit):
    tuning, = kit.execute("SELECT docsearch.tune('kit', '20 seconds')")[0]
    wait_until(lambda: kit.execute("SELECT FROM docsearch.tuning WHERE id = %s AND status = 'running'", tuning))
    wait_until(lambda: tuner(kit))
    site.instance.stop()
    site.instance.start("docs")
    assert kit.execute("SELECT status FROM docsearch.tuning WHERE id = %s", tuning) == [("running",)]
    # A search starts the worker again.
    kit.execute("SELECT FROM search_docs('plant', 'kit')")
    assert wait_until(lambda: kit.execute(ENDED, tuning))[0][0] in {"accepted", "refused"}
    assert kit.execute("SELECT attempts FROM docsearch.tuning WHERE id = %s", tuning) == [(2,)]
    taken_back(kit)


def test_a_tuning_that_is_deleted_changes_nothing(kit):
    before = kit.execute("SELECT settings FROM docsearch.project")
    tuning, = kit.execute("SELECT docsearch.tune('kit', '10 seconds')")[0]
    wait_until(lambda: kit.execute("SELECT FROM docsearch.tuning WHERE id = %s AND status = 'running'", tuning))
    kit.execute("DELETE FROM docsearch.tuning WHERE id = %s", tuning)
    wait_until(lambda: not tuner(kit))
    assert kit.execute("SELECT settings FROM docsearch.project") == before


def test_a_project_that_tunes_itself_does_so_after_its_documents_changed(kit):
    kit.execute("SELECT docsearch.tune('kit', '1 second', in_background => false)")
    last, = kit.execute("SELECT max(id) FROM docsearch.tuning")[0]
    kit.execute("""SELECT docsearch.configure_project('kit', '{"auto_tune": true}')""")
    kit.execute("SELECT FROM search_docs('plant', 'kit')")
    assert tuner(kit) == []
    kit.index("kit", *planted(2)[: PAGES // 4])
    kit.execute("SELECT FROM search_docs('plant', 'kit')")
    wait_until(lambda: kit.execute("SELECT FROM docsearch.tuning WHERE id > %s AND status = 'running'", last))
    # One is enough: it is not asked for again while it runs.
    assert kit.execute("SELECT count(*) FROM docsearch.tuning WHERE id > %s", last) == [(1,)]
    kit.execute("""SELECT docsearch.configure_project('kit', '{"auto_tune": null}')""")
    kit.execute("DELETE FROM docsearch.tuning WHERE id > %s", last)
    kit.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'docsearch tuner'")
    wait_until(lambda: not tuner(kit))
    taken_back(kit)


@pytest.mark.any_server("the worker looks at a lock that all versions take")
def test_a_database_can_be_dropped_while_it_is_tuned(site):
    assert MAJOR >= 16
    other = site.instance
    other.query("CREATE DATABASE other")
    database = Database(make_conninfo(other.url("other")))
    database.execute("CREATE EXTENSION pg_docsearch CASCADE")
    database.execute("SELECT docsearch.create_project('kit')")
    database.index("kit", *planted(3))
    database.execute("SELECT docsearch.tune('kit')")
    wait_until(lambda: database.execute("SELECT FROM docsearch.tuning WHERE status = 'running'"))
    other.query("DROP DATABASE other")
