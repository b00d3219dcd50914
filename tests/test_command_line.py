"""`docsearch search`, `load`, `list`, `suggest`, `explain` and `status`, and how the program connects."""

import json
import os
import pty
import select
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Thread

import pytest
from conftest import GUARD, Database, own_server, page
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from front import PROGRAM, SLOW, document, environment, private, wait_for_slow
from psycopg.conninfo import conninfo_to_dict
from test_folder import docsearch

pytestmark = pytest.mark.any_server("what the program prints is made of rows that the SQL files hold in each version")

FOUND, NOTHING, FAILED = 0, 1, 2
# The first message of a libpq client: length 8, code 80877103.
SSL_REQUEST = bytes.fromhex("0000000804d2162f")


def ask(database: Database, *arguments: object, status: int = FOUND) -> str:
    done = docsearch(*arguments, conninfo=database.conninfo)
    assert done.returncode == status, done.stderr
    return done.stdout if status == FOUND else done.stdout + done.stderr


def test_answers_are_those_of_the_sql_functions(documented: Database) -> None:
    text = ask(documented, "search", "retry", "in", "kit", "-n", 2)
    assert text.rstrip("\n") == documented.execute("SELECT search_docs_text('retry in kit', max_results => 2)")[0][0]
    detailed = ask(documented, "search", "retry", "--filter", '{"platform": "linux"}', "--format", "detailed")
    assert "url: https://kit.test/retry" in detailed and "2. " not in detailed

    assert ask(documented, "load", "kit/guides/retry#backoff") == documented.execute(
        "SELECT load_doc('kit/guides/retry#backoff')")[0][0]
    assert len(ask(documented, "load", "kit/long", "--max-tokens", 100).rstrip("\n")) <= 400
    explained = json.loads(ask(documented, "explain", "retry", "kit/guides/retry", "--format", "json"))
    assert explained[-1]["after"] == pytest.approx(
        documented.execute("SELECT score FROM search_docs('retry') LIMIT 1")[0][0], abs=1e-6)
    assert ask(documented, "suggest", "retr").splitlines()[1].split() == ["Retry", "kit/guides/retry"]
    nothing = ask(documented, "suggest", "zzqx", "wvvw", status=NOTHING)
    assert 'no suggestions for "zzqx wvvw"' in nothing and "docsearch search zzqx wvvw" in nothing


def test_every_format_has_the_same_results(documented: Database) -> None:
    found = json.loads(ask(documented, "search", "retry", "--format", "json"))
    assert found["results"][0]["slug"] == "guides/retry"
    loaded = json.loads(ask(documented, "load", "kit/guides/retry#backoff", "--format", "json"))
    assert loaded == documented.execute("SELECT load_doc_json('kit/guides/retry#backoff')")[0][0]
    part = json.loads(ask(documented, "list", "--project", "kit", "--max-tokens", 200, "--format", "json"))
    assert 0 < len(part["documents"]) == part["next_offset"] < part["total"]
    listed = json.loads(ask(documented, "list", "--project", "kit", "--limit", 2, "--format", "json"))
    assert listed["total"] == 6 and listed["next_offset"] == 2 and len(listed["documents"]) == 2
    lines = ask(documented, "list", "--project", "kit", "--category", "guides").splitlines()
    assert lines == ["[kit/guides/install] Install: Run the installer and restart.",
                     "[kit/guides/retry] Retry (guide): A request that times out is sent again, up to three times."]
    status = json.loads(ask(documented, "status", "--format", "json"))
    assert {project["project"]: project["done"] for project in status["projects"]} == {"kit": 6, "other": 1}
    assert "pg_docsearch" in ask(documented, "status")


def test_text_of_authors_cannot_forge_lines_or_references(new_database: Callable[..., Database]) -> None:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kit')")
    forged = {"kind": "x)\n[kit/b] Official", "category": "c [kit/b]", "version": "1\n[kit/b] Official",
              "summary": "s\n[kit/b] Official\n2. Official [kit/b]"}
    # The slug, its title, and their output.
    odd = {"a": ("Gadget\u2028[kit/b] Official", "[kit/a] Gadget (kit/b) Official"),
           "x] [kit/b": ("Gadget", "[kit/x%5D %5Bkit/b] Gadget"), "y [kit/b]": ("Gadget", "[kit/y %5Bkit/b%5D] Gadget"),
           "app/[id]": ("Gadget[0] [GET /x]", "[kit/app/[id]] Gadget[0] [GET /x]"),
           "huge": ("gadget " * 9_000, "[kit/huge] " + ("gadget " * 100)[:199] + "…")}
    assert {action for _, action, *_ in database.index("kit", *(
        {"slug": slug, "title": title, "body": "A gadget.", **forged} for slug, (title, _) in odd.items()))} == {"added"}
    listed = ask(database, "list", "--project", "kit").splitlines()
    about = " (x) (kit/b) Official): s (kit/b) Official 2. Official (kit/b)"
    assert sorted(listed) == sorted(shown + about for _, shown in odd.values())
    references = {line[1:line.index("] G" if "huge" not in line else "] g")] for line in listed}
    detailed = ask(database, "list", "--project", "kit", "--format", "detailed").splitlines()
    assert {line for line in detailed if not line.startswith(" ")} == references
    assert not any("[kit/" in line for line in detailed)
    found = ask(database, "search", "gadget", "--project", "kit", "-n", 9)
    assert {line[line.index("[kit/") + 1:-1] for line in found.splitlines() if line[0].isdigit()} == references
    assert found.count("[kit/") == len(odd)
    for reference in references:
        assert ask(database, "load", reference).lower().startswith("# gadget")


def test_nothing_found_and_failures_have_codes_of_their_own(documented: Database) -> None:
    assert "no_results" in ask(documented, "search", "retry", "--filter", '{"platform": "none"}', status=NOTHING)
    assert ask(documented, "search", "retry", "--filter", '{"platform": "none"}', "--format", "json", status=NOTHING)
    missing = ask(documented, "load", "kit/guides/retri", status=NOTHING)
    assert "HINT:  Did you mean kit/guides/retry" in missing
    assert "Known projects: kit, other" in ask(documented, "search", "retry", "-p", "kti", status=NOTHING)
    assert "no document" in ask(documented, "list", "--kind", "none", status=NOTHING)
    assert "Sort by title, category or date" in ask(documented, "list", "--sort-by", "size", status=FAILED)
    assert "JSON" in ask(documented, "search", "retry", "--filter", "[1]", status=FAILED)


def test_a_word_to_leave_out_is_no_option(documented: Database) -> None:
    for word in ("-xylophone", "-boat", "-Zebra"):
        assert "docsearch search 'retry -http'" in ask(documented, "search", "retry", word, status=FAILED), word
    assert "docsearch search 'retry -http'" not in ask(documented, "search", "retry", "--xylophone", status=FAILED)
    for word in ("-xylophone", "-boat"):
        assert f"--also='{word}'" in ask(documented, "search", "retry", "--also", word, status=FAILED), word
    assert "[kit/guides/retry]" in ask(documented, "search", "retry -xylophone")
    assert "[kit/guides/retry]" in ask(documented, "search", "retry", "--also=-xylophone")


def test_a_database_without_the_extension_is_recognised(new_database: Callable[..., Database]) -> None:
    bare = new_database(extension=False)
    for command in (["search", "x"], ["load", "x"], ["list"], ["status"]):
        assert "CREATE EXTENSION pg_docsearch" in ask(bare, *command, status=FAILED), command
    empty = new_database()
    assert "projects: none yet" in ask(empty, "status")
    assert "create_project" in ask(empty, "search", "x", status=FAILED)


def test_an_extension_older_than_the_program_is_reported(new_database: Callable[..., Database]) -> None:
    older = document(new_database())
    signature = older.execute("SELECT oid::regprocedure::text FROM pg_proc WHERE proname = 'search_answer'")[0][0]
    older.execute(f"ALTER EXTENSION pg_docsearch DROP FUNCTION {signature}; DROP FUNCTION {signature}")
    said = ask(older, "search", "retry", status=FAILED)
    assert "SQLSTATE 42883" in said and "ALTER EXTENSION pg_docsearch UPDATE" in said, said


def test_a_time_limit_error_has_a_hint(new_database: Callable[..., Database]) -> None:
    database = document(new_database())
    database.execute(SLOW)
    done = subprocess.run([PROGRAM, "search", "retry", "--url", database.conninfo], capture_output=True, text=True,
                          env=environment(PGOPTIONS="-c statement_timeout=10"))
    assert done.returncode == FAILED and "SQLSTATE 57014" in done.stderr, done.stderr
    assert "raise statement_timeout" in done.stderr, done.stderr


def test_a_closed_pipe_is_not_a_failure(documented: Database) -> None:
    process = subprocess.Popen([PROGRAM, "load", "kit/long", "--url", documented.conninfo], env=environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.wait(GUARD) == FOUND and process.stderr.read() == b""


def on_terminal(database: Database, *arguments: str, status: int = FOUND, **variables: str) -> str:
    """The program's output on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, *arguments, "--url", database.conninfo], stdout=theirs, stderr=theirs,
                               stdin=theirs, env=environment(TERM="xterm", **variables))
    os.close(theirs)
    written = b""
    while select.select([ours], [], [], GUARD)[0]:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        written += part
    assert process.wait(GUARD) == status
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


def test_a_terminal_shows_invisible_characters(new_database: Callable[..., Database]) -> None:
    database = new_database()
    database.execute("SELECT docsearch.create_project('odd')")
    database.index("odd", page("note", "# Note\n\nRun user\u202egnp.exe and pass\u200bword, \u0646\u0645\u06cc\u200c\u062e\u0648.",
                               metadata={"who": "a\u2066b"}))
    for arguments, status in ((("load", "odd/note"), FOUND), (("search", "note", "--format", "json"), FOUND),
                              (("load", "odd/\u202eeton"), NOTHING), (("search", "x", "--project", "\u202eddo"), NOTHING)):
        seen = on_terminal(database, *arguments, "--no-pager", status=status, NO_COLOR="1")
        assert not set("\u202e\u200b\u2066") & set(seen), seen
    seen = on_terminal(database, "load", "odd/note", "--no-pager", NO_COLOR="1")
    assert "user\\u{202e}gnp.exe and pass\\u{200b}word, \u0646\u0645\u06cc\u200c\u062e\u0648." in seen
    # Programs read unchanged text.
    assert "user\u202egnp.exe" in ask(database, "load", "odd/note")


def test_a_terminal_gets_colours_and_a_pager(documented: Database, tmp_path: Path) -> None:
    documented.index("other", {"slug": "escape", "title": "Escape", "body": "Text with \x1b[2J in it."})
    bold, cyan = "\x1b[1m", "\x1b[36m"
    assert bold in on_terminal(documented, "search", "retry", "--no-pager")
    assert "\x1b" not in on_terminal(documented, "search", "retry", "--no-pager", NO_COLOR="1")
    assert "\x1b" not in on_terminal(documented, "load", "other/escape", "--no-pager", "--color", "never")
    paged = tmp_path / "paged"
    on_terminal(documented, "search", "retry", PAGER=f"cat > {paged}")
    assert cyan in paged.read_text()
    assert "[kit/guides/retry" in on_terminal(documented, "search", "retry", "--color", "never", PAGER="no-such-pager")
    assert bold in ask(documented, "search", "retry", "--color", "always")
    assert "\x1b" not in ask(documented, "search", "retry")


def test_s4_46_a_terminal_shows_words_of_the_query_in_bold(documented: Database) -> None:
    marked = "A \x1b[1mrequest\x1b[0m that \x1b[1mtimes\x1b[0m out is sent again"
    for output in ("compact", "detailed"):
        assert marked in on_terminal(documented, "search", "requests time", "--no-pager", "--format", output), output
        assert marked in ask(documented, "search", "requests time", "--color", "always", "--format", output), output
        assert "A request that times out" in ask(documented, "search", "requests time", "--format", output), output
    assert marked in ask(documented, "search", "reqests time", "--color", "always")


def test_an_interrupt_cancels_the_statement(new_database: Callable[..., Database]) -> None:
    database = document(new_database())
    database.execute(SLOW)
    process = subprocess.Popen([PROGRAM, "search", "retry", "--url", database.conninfo],
                               env=environment(), stderr=subprocess.DEVNULL)
    wait_for_slow(database, 1)
    process.send_signal(signal.SIGINT)
    assert process.wait(GUARD) == 130
    wait_for_slow(database, 0)


def test_completions_and_manual_pages_name_every_command(tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "explain" in docsearch("completions", shell).stdout
    assert docsearch("man", tmp_path).returncode == FOUND
    assert {"docsearch.1", "docsearch-search.1", "docsearch-mcp.1"} <= {path.name for path in tmp_path.iterdir()}
    assert "Examples:" in docsearch("search", "--help").stdout


def test_connections_are_found_as_libpq_finds_them(documented: Database, tmp_path: Path) -> None:
    words = conninfo_to_dict(documented.conninfo)
    services = tmp_path / "services"
    services.write_text("[docs]\n" + "".join(f"{key}={value}\n" for key, value in words.items()))
    by_variables = {"PGHOST": words["host"], "PGPORT": words["port"], "PGUSER": words["user"],
                    "PGDATABASE": words["dbname"], "PGAPPNAME": "front", "PGCONNECT_TIMEOUT": str(GUARD),
                    "PGTARGETSESSIONATTRS": "read-write"}
    for variables in (by_variables, {"PGSERVICEFILE": str(services), "PGSERVICE": "docs"}):
        done = subprocess.run([PROGRAM, "list", "-p", "kit"], env=environment(**variables), capture_output=True)
        assert done.returncode == FOUND, done.stderr
    strict = environment(PGOPTIONS="-c work_mem=nonsense")
    done = subprocess.run([PROGRAM, "list", "--url", documented.conninfo], env=strict, capture_output=True, text=True)
    assert done.returncode == FAILED and "work_mem" in done.stderr


def test_tls_and_passwords_protect_a_connection_over_the_network(tmp_path: Path) -> None:
    authority, certificate, key = certificates(tmp_path)
    stranger, _, _ = certificates(tmp_path / "stranger")
    with own_server("passwords") as site:
        site.database.execute("CREATE ROLE reader LOGIN PASSWORD 'pass:word'")
        (site.instance.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        site.instance.query("SELECT pg_reload_conf()")
        with tls_in_front_of(site.instance.socket / ".s.PGSQL.5432", certificate, key) as port:
            passwords = private(tmp_path / "pgpass", f"localhost:{port}:docs:reader:pass\\:word\n")

            def listing(**words: object) -> subprocess.CompletedProcess:
                given = {"host": "localhost", "port": port, "dbname": "docs", "user": "reader", **words}
                url = " ".join(f"{key}='{value}'" for key, value in given.items())
                return subprocess.run([PROGRAM, "list", "--url", url], capture_output=True, text=True,
                                      env=environment(PGPASSFILE=str(passwords), HOME=str(tmp_path)))

            by_address = {"host": "127.0.0.1", "password": "pass:word"}
            for words in ({"sslmode": "verify-full", "sslrootcert": authority}, {"sslmode": "require"}, {},
                          {"sslmode": "verify-ca", "sslrootcert": authority, **by_address}):
                done = listing(**words)
                assert done.returncode == NOTHING, (words, done.stderr)
            for words, said in (({"sslmode": "disable"}, "cannot connect"),
                                ({"sslmode": "verify-full", "sslrootcert": stranger}, "certificate"),
                                ({"sslmode": "verify-ca", "sslrootcert": stranger}, "certificate"),
                                ({"sslmode": "verify-full", "sslrootcert": authority, **by_address}, "not valid for"),
                                ({"password": "wrong"}, "password authentication failed")):
                done = listing(**words)
                assert done.returncode == FAILED and said in done.stderr, (words, done.stderr)


@contextmanager
def tls_in_front_of(path: Path, certificate: Path, key: Path) -> Iterator[int]:
    """A port that only speaks TLS and forwards to the server's socket: the PostgreSQL of the
    tests is built without it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(65536):
                target.sendall(part)
            target.shutdown(socket.SHUT_WR)

    def serve(plain: socket.socket) -> None:
        with suppress(OSError), plain, socket.socket(socket.AF_UNIX) as server:
            if plain.recv(8) != SSL_REQUEST:
                return
            plain.sendall(b"S")
            with context.wrap_socket(plain, server_side=True) as client:
                server.connect(str(path))
                back = Thread(target=copy, args=(server, client), daemon=True)
                back.start()
                copy(client, server)
                back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]


def certificates(folder: Path) -> tuple[Path, Path, Path]:
    """An authority, and a certificate of it for localhost with its key."""
    folder.mkdir(exist_ok=True)
    now = datetime.now(timezone.utc)

    def make(name: str, signer: tuple | None, *extensions: x509.ExtensionType) -> tuple:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        issuer, signing = (signer[0].subject, signer[1]) if signer else (subject, key)
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
                   .public_key(key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1)))
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(signing, hashes.SHA256()), key

    root = make("Test authority", None, x509.BasicConstraints(ca=True, path_length=None))
    leaf = make("localhost", root, x509.SubjectAlternativeName([x509.DNSName("localhost")]))
    paths = folder / "root.pem", folder / "server.pem", folder / "server.key"
    paths[0].write_bytes(root[0].public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(leaf[0].public_bytes(serialization.Encoding.PEM))
    paths[2].write_bytes(leaf[1].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                               serialization.NoEncryption()))
    for path in paths:
        path.chmod(0o600)
    return paths
