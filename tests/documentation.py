"""Runs the blocks of a page of the documentation in order, as a reader would type them.

sql       in one session of psql for the page
sh        by bash, in a folder of the page's own
console   the same: lines that begin with `$ ` are typed, the others are the output
python    a program, in that folder, with the drivers of the tests
js        the same for Node.js; left out if it is missing
output    (or text) directly after one of these: what it prints; `...` matches anything

A comment before a block has the reason for not running it: `<!-- not run: needs an endpoint -->`. A comment `<!-- setup`
or `<!-- setup sh`, lines, `-->` sets up what the reader of a page already has. A block after `<!-- background -->` runs
until the end of the page."""

import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN = {"sql", "sh", "console", "python", "js"}
# Commands for the programs of a page.
PROGRAMS = {"python": ["python3", "-"], "js": ["node", "--input-type=commonjs", "-"]}
SHOWN = {"output", "text"}
FENCE = re.compile(r"( *)```+([^`]*)$")
NOT_RUN = re.compile(r"<!--\s*not run:?(.*?)-->")
# The only reasons for leaving out a block; each must begin with one of these.
REASONS = ("needs the network", "needs sudo", "needs another server", "needs a build", "needs an endpoint")
SETUP = re.compile(r"<!-- setup ?(sh)?$")
BACKGROUND = "<!-- background -->"
# Time limit of one block, in seconds; it measures nothing.
PATIENCE = 300
MARKER = "--- end of block ---"
# The line below a table.
ROWS = re.compile(r"\((\d+) rows?\)$")
# The port of `docsearch serve` in the documentation; another process of this machine may use it.
PORT = "8765"
LISTENS = re.compile(r"\bdocsearch serve(?= *(?:#|$|--))", re.M)


class Wrong(Exception):
    """An error in a page."""


@dataclass
class Block:
    """A block that runs, or is left out for a reason."""

    line: int
    kind: str
    text: str
    shown: str | None = None
    reason: str | None = None
    background: bool = False


@dataclass
class Page:
    """The contents of a page: blocks, and signatures of functions."""

    path: Path
    blocks: list[Block] = field(default_factory=list)
    signatures: list[tuple[int, str]] = field(default_factory=list)


def read(path: Path) -> Page:
    """Reads a page. Refuses comments that mark nothing or have no reason."""
    page, lines, place = Page(path), path.read_text().splitlines(), 0
    reason: str | None = None
    background, fresh = False, False
    while place < len(lines):
        line, number = lines[place], place + 1
        place += 1
        if mark := NOT_RUN.search(line):
            reason = mark[1].strip()
            if not reason.startswith(REASONS):
                raise Wrong(f"{path}:{number}: a block is left out for a reason that begins with one of {REASONS}")
            if not (place < len(lines) and (fence := FENCE.match(lines[place])) and fence[2].split(" ")[0] in RUN):
                raise Wrong(f"{path}:{number}: nothing that would be run follows")
        elif line.strip() == BACKGROUND:
            background = True
        elif setup := SETUP.fullmatch(line):
            end = lines.index("-->", place)
            page.blocks.append(Block(number, setup[1] or "sql", "\n".join(lines[place:end])))
            place, fresh = end + 1, False
        elif fence := FENCE.match(line):
            close = next(at for at in range(place, len(lines)) if lines[at].strip().startswith("```"))
            text = "\n".join(text.removeprefix(fence[1]) for text in lines[place:close])
            place = close + 1
            info = fence[2].strip()
            if info == "sql signature":
                page.signatures.append((number, text))
            elif info in RUN:
                page.blocks.append(Block(number, info, text, reason=reason, background=background))
            elif info in SHOWN and fresh:
                page.blocks[-1].shown = text
            fresh = info in RUN
            reason, background = None, False
        elif line.strip():
            fresh = False
    return page


def comparable(text: str) -> list[str]:
    """Lines without differences between runs or in layout."""
    text = re.sub(r"\b\d+(\.\d+)? ?(ms|s|seconds)\b", r"N \2", text)
    lines = [re.sub(r" +", " ", re.sub(r"-{3,}", "---", line)).strip() for line in text.splitlines()]
    return [line for line in lines if line]


def matches(shown: str, printed: str) -> bool:
    """Whether the output matches the shown text; `...` matches anything, and alone on a line any lines."""
    expected = [".*" if line == "..." else re.escape(line).replace(r"\.\.\.", "[^\n]*") for line in comparable(shown)]
    return re.fullmatch("\n".join(expected), "\n".join(comparable(printed)), re.DOTALL) is not None


def without(faults: Sequence[str], printed: str) -> str:
    """Tables of problems without the known faults of this server. A fault that a table lacks is added as an error."""
    lines, kept, place = printed.splitlines(), [], 0
    while place < len(lines):
        table = [lines[place]]
        place += 1
        if first_cell(table[0]) == "problem":
            while place < len(lines) and not ROWS.match(table[-1]):
                table.append(lines[place])
                place += 1
            names = [first_cell(line) for line in table]
            number = int(ROWS.match(table[-1])[1]) - len(faults)
            table = [line for line, name in zip(table, names, strict=True) if name not in faults]
            table[-1] = f"({number} row{'' if number == 1 else 's'})"
            table += [f"lacks {fault}" for fault in faults if names.count(fault) != 1]
        kept += table
    return "".join(f"{line}\n" for line in kept)


def first_cell(line: str) -> str:
    """The first column of a line of a table."""
    return line.partition("|")[0].strip()


class Reader:
    """A reader who types the blocks of a page, with a database of their own."""

    def __init__(self, folder: Path, environment: dict[str, str], faults: Sequence[str] = ()):
        self.folder, self.environment, self.faults = folder, environment, faults
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        self.started: list[subprocess.Popen] = []
        self.psql = subprocess.Popen(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"], cwd=folder, env=environment, text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def close(self) -> None:
        """Ends the processes of the page."""
        for process in self.started:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
        self.psql.stdin.close()
        self.psql.kill()
        self.psql.wait()

    def run(self, page: Page) -> Iterator[str]:
        """Runs the blocks of a page, and yields the errors."""
        for block in page.blocks:
            if block.reason is not None:
                continue
            place = f"{page.path.relative_to(ROOT)}:{block.line}"
            text = LISTENS.sub(rf"\g<0> 127.0.0.1:{PORT}", block.text).replace(PORT, self.port)
            try:
                if block.kind == "console":
                    yield from (f"{place}: {problem}" for problem in self.console(text))
                    continue
                if block.kind == "js" and "NODE_PATH" not in self.environment:
                    continue
                if block.kind in PROGRAMS:
                    printed = self.program(PROGRAMS[block.kind], text)
                else:
                    printed = self.sql(text, block.shown) if block.kind == "sql" else self.shell(text, block.background)
            except Wrong as wrong:
                yield f"{place}: {wrong}"
                return
            printed = without(self.faults, printed.replace(self.port, PORT))
            if block.shown is not None and not matches(block.shown, printed):
                yield f"{place}: is shown\n{block.shown}\nand printed\n{printed}"

    def sql(self, text: str, shown: str | None) -> str:
        """Runs statements in the session of the page."""
        fails = any(line.startswith("ERROR:") for line in (shown or "").splitlines())
        self.psql.stdin.write(f"\\set ON_ERROR_STOP {0 if fails else 1}\n{text}\n\\echo '{MARKER}'\n")
        self.psql.stdin.flush()
        guard, lines = threading.Timer(PATIENCE, self.psql.kill), []
        guard.start()
        try:
            for line in self.psql.stdout:
                if line.rstrip("\n") == MARKER:
                    return "".join(lines)
                lines.append(line)
        finally:
            guard.cancel()
        raise Wrong(f"ends psql:\n{''.join(lines)}")

    def shell(self, text: str, background: bool) -> str:
        """Runs commands, or starts them in the background and waits until they listen."""
        command = ["bash", "-eu", "-o", "pipefail", "-c", text]
        if background:
            self.started.append(subprocess.Popen(command, cwd=self.folder, env=self.environment, start_new_session=True,
                                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
            self.await_port()
            return ""
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
        if done.returncode != 0:
            raise Wrong(f"ends with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def program(self, command: Sequence[str], text: str) -> str:
        """Runs a program that prints something."""
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True, input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE)
        if done.returncode != 0 or not done.stdout.strip():
            raise Wrong(f"ends with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def console(self, text: str) -> Iterator[str]:
        """Runs each command with the output shown after it."""
        for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            printed = self.shell(command, False)
            if shown.strip() and not matches(shown, printed):
                yield f"{command} is shown with\n{shown}\nand prints\n{printed}"

    def await_port(self) -> None:
        """Waits until the started program accepts connections."""
        end = time.monotonic() + PATIENCE / 5
        while time.monotonic() < end:
            if self.started[-1].poll() is not None:
                raise Wrong(f"ends with {self.started[-1].returncode}")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(self.port))) == 0:
                    return
            time.sleep(0.05)
        raise Wrong("does not listen")


# Types and defaults of Postgres as the reference writes them.
DEFAULTS = {"00:05:00": "5 minutes", "00:01:00": "1 minute"}
TYPES = {"int": "integer", "bool": "boolean", "float8": "double precision", "timestamptz": "timestamp with time zone"}
SIGNATURE = re.compile(r"(?:docsearch\.)?(\w+)\(")


def parts(text: str) -> list[str]:
    """The parts between commas, except commas in quotes or parentheses."""
    found, depth, quoted, part = [], 0, False, ""
    for letter in text:
        quoted ^= letter == "'"
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0 and not quoted:
            found.append(part)
            part = ""
        else:
            part += letter
    return [part.strip() for part in [*found, part] if part.strip()]


def argument(text: str) -> str:
    """An argument or a column in one form: name, type and default."""
    text, _, default = re.sub(r"\s+", " ", text.replace(" DEFAULT ", " = ")).partition(" = ")
    name, _, kind = text.partition(" ")
    array = "[]" if kind.endswith("[]") else ""
    kind = TYPES.get(kind.removesuffix("[]"), kind.removesuffix("[]")) + array
    default = re.sub(r"::[a-z_. ]+(\[\])?", "", default)
    default = default.strip("'") if default.startswith("'") else re.sub(r"\.0$", "", default)
    return f"{name} {kind}" + (f" = {DEFAULTS.get(default, default)}" if default else "")


def signatures(text: str, known: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Holds what a block says of functions against their arguments and results in the catalog; of several functions of a name, it
    has to be that of one."""
    before = ""
    for entry in re.split(r"\n(?=\S)", text):
        name = SIGNATURE.match(entry)
        if name is None or name[1] not in known:
            yield f"there is no function as in {entry}"
            continue
        opened, depth = name.end(), 1
        closed = opened
        while depth:
            depth += {"(": 1, ")": -1}.get(entry[closed], 0)
            closed += 1
        given, result = [], re.sub(r"\s+", " ", entry[closed:]).strip()
        for part in parts(entry[opened:closed - 1]):
            if same := re.fullmatch(r"\.\.\. (?:as (\w+)|the same) \.\.\.", part):
                given += map(argument, parts(known[same[1] or before][0][0]))
            else:
                given.append(argument(part))
        found = [(list(map(argument, parts(arguments))), results) for arguments, results in known[name[1]]]
        expected, results = next((each for each in found if each[0] == given), found[0])
        if given != expected:
            yield f"{name[1]} takes {expected}, and not {given}"
        if result and columns(result.removeprefix("RETURNS ")) != columns(results):
            yield f"{name[1]} returns {columns(results)}, and not {columns(result)}"
        before = name[1]


def columns(result: str) -> list[str]:
    """The columns that a function returns, in one form."""
    table = re.fullmatch(r"TABLE ?\((.*)\)", result)
    return list(map(argument, parts(table[1]))) if table else [TYPES.get(result, result)]
