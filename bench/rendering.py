"""What independent programs show of documentation files, as text: one renderer for each format.

A renderer takes a folder and paths of files in it, and gives the text of each file that it can read.
"""

import gzip
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from zipfile import ZipFile

import toolchain
from packages import Missing

HERE = Path(__file__).resolve().parent
AT_ONCE = 40
# Lines at the top and the bottom of a page that may be running heads.
EDGE_LINES = 3
# Colours in the output of notebooks.
TERMINAL = re.compile(r"\x1b\[[0-9;]*m")
# Classes of the navigation in books.
NAVIGATION = frozenset(("toc", "related", "footer", "footnote-ref", "footnote-back"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# The text of a page in each order in which it can be read.
Orders = list[str]
Texts = Iterator[tuple[str, str | list[Orders]]]


def list_number(number: int, form: str) -> str:
    """A number as lists of HTML show it that have the type `form`."""
    if form in ("a", "A") and 0 < number <= 26:
        return chr(ord(form) + number - 1)
    if form in ("i", "I") and 0 < number < 40:
        roman = "x" * (number // 10) + ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"][number % 10]
        return roman.upper() if form == "I" else roman
    return str(number)


class HtmlText(HTMLParser):
    """The text of HTML. Elements whose class is in `hidden` are left out with all that they contain."""

    INLINE = frozenset("a abbr b bdi bdo cite code del dfn em font i ins kbd mark q s samp small span strong sub sup tt u "
                       "var".split())
    EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())

    def __init__(self, hidden: frozenset[str] = frozenset()):
        super().__init__()
        self.hidden, self.inside = hidden, 0
        self.parts: list[str] = []
        self.open: list[tuple[str, bool]] = []
        # The next numbers of the lists that are open, with their form; `None` of those with bullets.
        self.numbers: list[tuple[int, str] | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in self.INLINE:
            self.parts.append("\n")
        if tag == "ol":
            self.numbers.append((int(values.get("start") or 1), values.get("type") or "1"))
        if tag == "ul":
            self.numbers.append(None)
        if tag == "li" and self.numbers and self.numbers[-1] and not self.inside:
            number, form = self.numbers[-1]
            self.parts.append(f"{list_number(number, form)}. ")
            self.numbers[-1] = (number + 1, form)
        if tag == "img" and not self.inside:
            self.parts.append(f" {values.get('alt') or ''} ")
        if tag not in self.EMPTY:
            classes = {*(values.get("class") or "").split(), values.get("id") or ""}
            is_hidden = tag in ("script", "style") or bool(classes & self.hidden)
            self.open.append((tag, is_hidden))
            self.inside += is_hidden

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.INLINE:
            self.parts.append("\n")
        if tag in ("ol", "ul") and self.numbers:
            self.numbers.pop()
        if any(tag == own for own, _ in self.open):
            while self.open:
                own, is_hidden = self.open.pop()
                self.inside -= is_hidden
                if own == tag:
                    return

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.parts.append(data)


def html_text(text: str, hidden: frozenset[str] = frozenset()) -> str:
    parser = HtmlText(hidden)
    parser.feed(text)
    return "".join(parser.parts)


def markdown_text(text: str) -> str:
    """The text of Markdown as GitHub renders it. Anchors such as `{#name}` are no text."""
    from markdown_it import MarkdownIt

    text = re.sub(r"(?m)[ \t]*\{#[^}\n]*\}[ \t]*$", "", text)
    return html_text(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text))


def output(command: list[str | Path], given: bytes | None = None) -> str | None:
    """What a program prints, or `None` if it fails."""
    if not shutil.which(command[0]):
        raise Missing(f"{command[0]} is not installed")
    done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def each(render: Callable[[Path], str | list[Orders] | None]) -> Callable[[Path, list[str]], Texts]:
    """A renderer that reads one file at a time."""
    def texts(folder: Path, paths: list[str]) -> Texts:
        for path in paths:
            text = render(folder / path)
            if text is not None:
                yield path, text
    return texts


def manual_page(file: Path) -> str | None:
    """Without the lines at its head and foot, which name the manual."""
    source = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    text = output(["groff", "-K", "utf8", "-t", "-mandoc", "-Tutf8", "-rHY=0", "-rLL=900n", "-rcR=1", "-P-cbou"], source)
    return text and "\n".join(text.strip().split("\n")[1:-1])


def markdown_file(file: Path) -> str:
    return markdown_text(re.sub(r"\A---\n.*?\n---\n", "", file.read_text(), flags=re.DOTALL))


def notebook(file: Path) -> str:
    """The cells of a notebook, with outputs that are text."""
    def joined(text: str | list[str]) -> str:
        return text if isinstance(text, str) else "".join(text)

    parts = []
    for cell in json.loads(file.read_text())["cells"]:
        source = joined(cell["source"])
        parts.append(markdown_text(source) if cell["cell_type"] == "markdown" else source)
        for shown in cell.get("outputs", []):
            data = shown.get("data", {})
            # What a picture or a page shows is not repeated as text.
            is_text = not any(kind.startswith(("image/", "text/html", "text/latex", "text/markdown")) for kind in data)
            parts.append(TERMINAL.sub("", joined(shown.get("text") or (data.get("text/plain", "") if is_text else ""))))
    return "\n\n".join(parts)


@contextmanager
def unwrapped(file: Path) -> Iterator[Path]:
    """The book, without a folder that was packed around it, which pandoc does not read."""
    with ZipFile(file) as packed, tempfile.TemporaryDirectory() as folder:
        roots = {name.split("/")[0] for name in packed.namelist()}
        if f"{min(roots)}/META-INF/container.xml" not in packed.namelist():
            yield file
            return
        book = Path(folder) / "book.epub"
        with ZipFile(book, "w") as unpacked:
            for name in packed.namelist():
                unpacked.writestr(name.partition("/")[2] or "folder/", packed.read(name))
        yield book


def book(file: Path) -> str | None:
    """Without tables of contents and the navigation of pages, and without the numbers of notes."""
    with unwrapped(file) as book:
        text = output(["pandoc", str(book), "--to", "html", "--wrap", "none"])
    return text and html_text(text.replace('<li id="fn', '<p id="fn'), NAVIGATION)


def word_file(file: Path) -> str | None:
    """Without the numbers of notes. As HTML, in which the lines of a cell follow each other."""
    text = output(["pandoc", str(file), "--to", "html", "--track-changes", "accept"])
    return text and html_text(text.replace('<li id="fn', '<p id="fn'), frozenset(("footnote-ref", "footnote-back")))


def edge_words(line: str) -> str:
    """The words of a line without its page number."""
    return re.sub(r"\b[ivxlc]+\b|[\W\d_]+", "", line)


def without_running_lines(text: str) -> list[str]:
    """The pages without the lines at their edge that only number them, or that come again at the edge of another."""
    pages = [[line for line in page.splitlines() if line.strip()] for page in text.split("\f")]
    edges = (slice(EDGE_LINES), slice(-EDGE_LINES, None))
    counts = [Counter(words for page in pages for words in {edge_words(line) for line in page[edge]}) for edge in edges]
    without = []
    for page in pages:
        running = {line for edge, count in zip(edges, counts, strict=True) for line in page[edge]
                   if not edge_words(line) or count[edge_words(line)] > 1}
        without.append("\n".join(line for line in page if line not in running))
    return without


def with_poppler(file: Path) -> list[Orders] | None:
    """Without running heads, and with the parts of words that a hyphen separates at the end of a line joined. A PDF
    file does not tell the order of columns, cells and notes: by columns, by lines, and as they are drawn."""
    orders = [output(["pdftotext", *order, str(file), "-"]) for order in ([], ["-layout"], ["-raw"])]
    if None in orders:
        return None
    pages = zip(*map(without_running_lines, orders), strict=True)
    return [[re.sub(r"(?<=\w)[-\u2010\u00ad]\n\s*(?=[^\W\d_])", "", order) for order in page] for page in pages]


def with_sphinx(folder: Path, paths: list[str]) -> Texts:
    """Without the configuration of the project, whose extensions need its code."""
    pages = [Path(path).with_suffix("").as_posix() for path in paths]
    suffixes = {Path(path).suffix for path in paths}
    with tempfile.TemporaryDirectory() as built:
        command = [sys.executable, "-m", "sphinx", "-b", "words", "-C", "-Q", "-d", f"{built}/trees",
                   "-D", "extensions=sphinx_words,sphinx.ext.extlinks,sphinx.ext.ifconfig,sphinx.ext.todo",
                   "-D", f"root_doc={pages[0]}", "-D", f"source_suffix={','.join(suffixes)}",
                   str(folder), f"{built}/words"]
        packages = os.pathsep.join([str(toolchain.rendering_packages()), str(HERE / "renderers")])
        subprocess.run(command, env={**os.environ, "PYTHONPATH": packages}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path, page in zip(paths, pages, strict=True):
            file = Path(built, "words", f"{page}.words")
            if file.is_file():
                yield path, file.read_text()


def with_node(script: str, *arguments: str) -> Callable[[Path, list[str]], Iterator[dict]]:
    """What a script for Node.js prints of each file."""
    def rows(folder: Path, paths: list[str]) -> Iterator[dict]:
        if not shutil.which("node"):
            raise Missing("node is not installed")
        environment = {**os.environ, "NODE_PATH": str(toolchain.node_renderers() / "node_modules")}
        for first in range(0, len(paths), AT_ONCE):
            command = ["node", HERE / "renderers" / script, *arguments, folder, *paths[first:first + AT_ONCE]]
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            yield from map(json.loads, done.stdout.splitlines())
    return rows


def with_asciidoctor(folder: Path, paths: list[str]) -> Texts:
    """Footnotes stand where they are referred to in what is stored, and numbers of figures are the renderer's."""
    hidden = frozenset(("footnotes", "footnote", "toc", "conum"))
    for row in with_node("asciidoc.cjs")(folder, paths):
        # Asciidoctor knows no macros of the project, such as those of Git's links.
        text = html_text(re.sub(r"Unresolved directive in [^\n]*|\blinkgit:", " ", row["html"]), hidden)
        yield row["path"], re.sub(r"\b(Figure|Table|Example|Listing) \d+\. ", "", text)


def with_browser(folder: Path, paths: list[str]) -> Texts:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise Missing("chromium is not installed")
    for row in with_node("inner_text.cjs", browser)(folder, paths):
        yield row["path"], row["text"]


RENDERERS: dict[str, Callable[[Path, list[str]], Texts]] = {
    "man": each(manual_page),
    "rst": with_sphinx,
    "markdown": each(markdown_file),
    "asciidoc": with_asciidoctor,
    "html": with_browser,
    "docx": each(word_file),
    "epub": each(book),
    "pdf": each(with_poppler),
    "notebook": each(notebook),
}
