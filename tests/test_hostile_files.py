"""Folders with hostile files: `docsearch index` ends, stays inside, and reports what it has left out."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
import server
from conftest import GUARD, Database
from test_folder import COMPLETE, DOCUMENTS, FAILED, PARTIAL, index, slugs, summary, write

pytestmark = pytest.mark.any_server("files are read by the program, and index_docs gets the same documents")


def bodies(database: Database, project: str) -> str:
    return " ".join(row[0] for row in database.execute(
        "SELECT d.body FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s", project))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, {"secret.md": "The password is swordfish.\n", "away/more.md": "# More\n"})
    return write(tmp_path / "docs", {"good.md": "# Good\n", "part/other.md": "# Other\n"})


def test_links_do_not_loop_and_stay_inside(database, folder):
    (folder / "part/loop").symlink_to("..")
    (folder / "self").symlink_to("self")
    (folder / "self.md").symlink_to("self.md")
    (folder / "away").symlink_to("../away")
    (folder / "alias.md").symlink_to("good.md")
    (folder / "out.md").symlink_to("../secret.md")
    (folder / "system.md").symlink_to("/etc/passwd")
    done = index(database, folder, "links", status=PARTIAL)
    assert slugs(database, "links") == ["alias", "good", "part/other"]
    assert "skipped: out.md: a link to a file outside the folder" in done.stderr
    assert "HINT:  Read it with --follow-links." in done.stderr
    assert summary(done) == {"added": 3, "skipped": 3}

    # Each folder is read once, whatever the number of links to it.
    for name in ("self", "self.md", "system.md"):
        (folder / name).unlink()
    index(database, folder, "links", "--follow-links", status=COMPLETE)
    assert slugs(database, "links") == ["alias", "away/more", "good", "out", "part/other"]
    assert "swordfish" in bodies(database, "links")


def test_pipes_devices_and_sockets_are_no_files(database, folder, tmp_path):
    os.mkfifo(folder / "pipe.md")
    (folder / "piped.md").symlink_to("pipe.md")
    (folder / "zero.md").symlink_to("/dev/zero")
    (folder / "random.html").symlink_to("/dev/urandom")
    os.mkfifo(tmp_path / "rules")
    (folder / "part/.gitignore").symlink_to(tmp_path / "rules")
    with socket.socket(socket.AF_UNIX) as listener:
        # A socket's path has to be short.
        place = os.open(folder, os.O_DIRECTORY)
        listener.bind(f"/proc/self/fd/{place}/socket.md")
        os.close(place)
        done = index(database, folder, "special", status=PARTIAL)
    assert slugs(database, "special") == ["good"]
    assert "part/.gitignore: not a file" in done.stderr
    for named in ("pipe.md", "zero.md"):
        done = index(database, folder / named, "special", status=PARTIAL)
        assert "neither a file nor a folder" in done.stderr


def test_names_are_names_and_no_paths(database, folder):
    write(folder, {"a\\..\\up.md": "# Up\n", "%2e%2e%2fencoded.md": "# Encoded\n", "-rf.md": "# Option\n",
                   "new\nline.md": "# Lines\n", "screen\x1b[2J.md": b"\xff", "slug.md": "---\nslug: ../../x\n---\n# X\n"})
    (Path(os.fsdecode(os.fsencode(folder) + b"/latin\xe9.md"))).write_text("# Latin\n")
    done = index(database, folder, "names", status=PARTIAL)
    assert "\x1b" not in done.stderr
    titles = {row[1]: row[0] for row in database.execute(DOCUMENTS, "names")}
    assert titles.keys() == {"Good", "Other", "Up", "Encoded", "Option", "Lines", "Latin", "X"}
    for title, slug in titles.items():
        assert database.execute("SELECT load_doc(%s, project => 'names') LIKE %s", slug, f"%# {title}%") == [(True,)]
    assert all(".." not in slug.split("/") for title, slug in titles.items() if title != "X")


def test_unreadable_files_and_folders_keep_their_pages(database, folder):
    index(database, folder, "locked")
    (folder / "good.md").chmod(0)
    command = [*server.launcher(), os.environ["DOCSEARCH_TEST_CLI"], "index", str(folder), "--project", "locked"]
    environment = {**os.environ, "DOCSEARCH_URL": database.conninfo}
    for reason in ("good.md: cannot be read", "Permission denied"):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=GUARD)
        assert reason in done.stderr
        assert done.returncode == PARTIAL
        assert slugs(database, "locked") == ["good", "part/other"]
        # Then a whole folder.
        (folder / "good.md").chmod(0o644)
        (folder / "part").chmod(0)
    (folder / "part").chmod(0o755)


def test_a_folder_without_readable_files_is_an_error_with_the_reason(database, folder):
    (folder / ".ignore").symlink_to("/dev/zero")
    done = index(database, folder, "unruly", status=FAILED)
    assert ".ignore: not a file" in done.stderr


def test_a_category_too_deep_is_the_error_of_its_page(database, folder):
    write(folder, {"deep.md": f"---\ncategory: {'a/' * 15_000}\n---\n# Deep\n",
                   "hidden.md": "---\ncategory: \"anim\\u202Eals\"\n---\n# Hidden\n",
                   "far.md": "---\npublished_at: infinity\nmetadata:\n  size: .inf\n---\n# Far\n"})
    done = index(database, folder, "levels", status=PARTIAL)
    assert done.stderr.count("category cannot be used") == 2
    assert slugs(database, "levels") == ["far", "good", "part/other"]
    assert len(database.execute("SELECT list_docs_json('levels')")[0][0]["categories"]) > 0
