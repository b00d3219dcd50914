"""`docsearch questions write`: a language model writes questions, some sections at a time, until no section is left, the
tokens are used up, or the program is interrupted."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator

import psycopg
import pytest
from conftest import GUARD, Database
from endpoint import Endpoint, Reaction, fails
from psycopg.conninfo import make_conninfo
from test_folder import COMPLETE, FAILED, PARTIAL, docsearch
from test_write_questions import SECTIONS, section_of, index, project_with_endpoint, stored, writes

pytestmark = pytest.mark.any_server("the program calls write_questions, which has tests of its own")

INTERRUPTED = 130


@pytest.fixture
def both(database: Database) -> Iterator[tuple[psycopg.Connection, Endpoint]]:
    with project_with_endpoint(database) as both:
        yield both


@pytest.fixture
def manual(both: tuple[psycopg.Connection, Endpoint]) -> psycopg.Connection:
    return both[0]


@pytest.fixture
def endpoint(both: tuple[psycopg.Connection, Endpoint]) -> Endpoint:
    return both[1]


@pytest.fixture
def address(database: Database, endpoint: Endpoint) -> str:
    """The connection string for a session with the endpoint."""
    settings = {"llm_url": endpoint.url, "llm_model": "small", "llm_timeout": "1s"}
    return make_conninfo(database.conninfo, options=" ".join(f"-c docsearch.{name}={value}" for name, value in settings.items()))


def more_pages(manual: psycopg.Connection) -> int:
    """Indexes further pages, and returns the total number of sections."""
    for number in range(5):
        index(manual, f"more/{number}", f"# More {number}\n\nThere is something more to say in part {number}.")
    return len(SECTIONS) + 5


def each_requested_once(endpoint: Endpoint, sections: int) -> bool:
    return len(endpoint.requests) == len({section_of(body) for body in endpoint.requests}) == sections


def test_the_program_writes_until_no_section_is_left(manual: psycopg.Connection, endpoint: Endpoint, address: str):
    sections = more_pages(manual)
    estimated = docsearch("questions", "write", "manual", "--estimate", conninfo=address)
    assert estimated.returncode == COMPLETE and endpoint.requests == []
    assert re.fullmatch(rf"{sections} sections without questions, about \d{{3,4}} tokens\n", estimated.stdout)
    done = docsearch("questions", "write", "manual", "--requests-per-minute", 6000, conninfo=address)
    assert done.returncode == COMPLETE and each_requested_once(endpoint, sections), done.stderr
    estimate, progress = done.stderr.splitlines()
    assert estimate == estimated.stdout.strip() and re.fullmatch(rf"\d of {sections} sections, \d+ tokens", progress)
    assert done.stdout == f"{sections} sections done, 0 left; {2 * sections} questions written, 0 lines dropped; " \
                          f"{300 * sections} tokens spent\n"
    assert len(stored(manual)) == 2 * sections
    done = docsearch("questions", "write", "manual", conninfo=address)
    assert done.returncode == COMPLETE and done.stdout.startswith("0 sections done, 0 left;"), done.stderr
    missing = docsearch("questions", "write", "no such project", conninfo=address)
    assert missing.returncode == FAILED and "Known projects" in missing.stderr


def test_the_program_stays_within_its_tokens_and_continues_when_run_again(manual: psycopg.Connection, endpoint: Endpoint,
                                                                          address: str):
    """The law: several runs write together what one run would write."""
    sections = more_pages(manual)
    least = docsearch("questions", "write", "manual", "--max-tokens", 1, conninfo=address)
    assert least.returncode == FAILED and endpoint.requests == []
    most = int(re.search(r"may take (\d+)", least.stderr)[1]) + 350
    statuses = []
    while not statuses or statuses[-1] == PARTIAL:
        before = len(endpoint.requests)
        statuses.append(docsearch("questions", "write", "manual", "--max-tokens", most, conninfo=address).returncode)
        assert 1 <= len(endpoint.requests) - before <= most // 300
    assert statuses[-1] == COMPLETE and len(statuses) > 2 and each_requested_once(endpoint, sections)
    assert len(stored(manual)) == 2 * sections


def test_questions_written_before_an_interrupt_are_kept(manual: psycopg.Connection, endpoint: Endpoint, address: str):
    sections = more_pages(manual)
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    program = subprocess.Popen([os.environ["DOCSEARCH_TEST_CLI"], "questions", "write", "manual"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**variables, "DOCSEARCH_URL": address})

    def interrupts(path: str, body: dict) -> Reaction:
        if len(endpoint.requests) == 2:
            program.send_signal(signal.SIGINT)
        return writes(path, body)
    endpoint.react = interrupts
    output, _ = program.communicate(timeout=GUARD)
    assert program.returncode == INTERRUPTED
    kept = len(endpoint.requests)
    assert 2 <= kept < sections and len(stored(manual)) == 2 * kept
    assert output.startswith(f"{kept} sections done, {sections - kept} left;")
    assert docsearch("questions", "write", "manual", conninfo=address).returncode == COMPLETE
    assert each_requested_once(endpoint, sections)


def test_the_program_waits_for_an_endpoint_that_has_had_too_many_requests(manual: psycopg.Connection, endpoint: Endpoint,
                                                                          address: str):
    limited = [(429, {"Retry-After": "3"}, {"error": {"message": "slower"}})]
    endpoint.react = lambda path, body: limited.pop() if limited and len(endpoint.requests) == 3 else writes(path, body)
    done = docsearch("questions", "write", "manual", conninfo=address)
    assert done.returncode == COMPLETE, done.stderr
    assert re.search(r"^.*too many requests .*; trying again in \d+ s$", done.stderr, re.M), done.stderr
    # Only the refused request is sent again.
    assert len(endpoint.requests) == len(SECTIONS) + 1 and len(stored(manual)) == 2 * len(SECTIONS)


def test_a_failing_endpoint_ends_the_program_and_earlier_answers_are_kept(manual: psycopg.Connection, endpoint: Endpoint,
                                                                          address: str):
    sections = more_pages(manual)
    endpoint.react = lambda path, body: (writes if len(endpoint.requests) <= 5 else fails(401))(path, body)
    done = docsearch("questions", "write", "manual", conninfo=address)
    assert done.returncode == FAILED and "docsearch.llm_api_key_file" in done.stderr
    assert done.stdout.startswith(f"5 sections done, {sections - 5} left; 10 questions written"), done.stdout
    assert len(stored(manual)) == 10


def test_an_account_without_credit_ends_the_program_with_the_providers_text(manual: psycopg.Connection, endpoint: Endpoint,
                                                                            address: str):
    endpoint.react = lambda path, body: (429, {}, {"error": {"message": "Top up your account.", "code": "insufficient_quota"}})
    done = docsearch("questions", "write", "manual", conninfo=address)
    assert done.returncode == FAILED and len(endpoint.requests) == 1 and "trying again" not in done.stderr, done.stderr
    assert "has no credit left" in done.stderr and "Top up your account." in done.stderr, done.stderr


def test_pages_that_go_while_the_program_runs_are_left_out(manual: psycopg.Connection, database: Database, endpoint: Endpoint,
                                                           address: str):
    sections = more_pages(manual)

    def deletes(path: str, body: dict) -> Reaction:
        if len(endpoint.requests) == 1:
            database.execute("SELECT docsearch.delete_doc('manual', 'vacuum')")
        return writes(path, body)
    endpoint.react = deletes
    done = docsearch("questions", "write", "manual", conninfo=address)
    assert done.returncode == COMPLETE and ", 0 left;" in done.stdout, done.stderr
    assert len(stored(manual)) == 2 * (sections - 1)
