#!/usr/bin/env python3
"""Checks that a site has the same pages, anchors and addresses from its sources as from the HTML of its generator.

Each generator is installed into a cache folder by npm, pip or cargo, makes its own starter site there, and builds that
and the small site in tests/fixtures/sites/GENERATOR/source. `docsearch index --check-links` reads both, before and after.
No database is needed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import toolchain
from reading import Unreadable, add_code, read, unlike

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures" / "sites"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pg_docsearch" / "sites"
# Scripts, styles and pictures, which are not read.
UNREAD = re.compile(r"<(script|style|svg|noscript)\b.*?</\1\s*>|<link\b(?![^>]*\bcanonical\b)[^>]*>|<!--.*?-->", re.S | re.I)
# Attributes that differ in each build of a site.
CHANGING = re.compile(r' (?:name|id|for)="(?:group|tab)-[\w-]{4,8}"|\s*<lastmod>[^<]*</lastmod>')
BLANK = re.compile(r"^[ \t]*\n", re.M)


@dataclass(frozen=True)
class Generator:
    """How to build the sites of a generator. Commands run in the folder above the sites, builds in the site.

    `{python}` is the interpreter of the folder, `{mdbook}` is mdBook.
    """

    version: str
    install: tuple[tuple[str, ...], ...]
    starter: tuple[tuple[str, ...], ...]
    build: tuple[str, ...]
    # Folder of the built pages in the site.
    html: str
    # Folder of the source pages in the site.
    pages: str = "."


def npm(*packages: str) -> tuple[tuple[str, ...], ...]:
    return (("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", *packages),)


def pip(*packages: str) -> tuple[tuple[str, ...], ...]:
    return ((sys.executable, "-m", "venv", "venv"),
            ("{python}", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages))


SCAFFOLD = ("import('vitepress').then(v => v.scaffold({root: 'starter/docs', title: 'Kit', description: 'A kit.', "
            "theme: 'default theme', useTs: false, injectNpmScripts: false}))")
GENERATORS = {
    "docusaurus": Generator(
        version="3.10.2",
        install=npm("@docusaurus/core@3.10.2", "@docusaurus/faster@3.10.2", "@docusaurus/preset-classic@3.10.2",
                    "@mdx-js/react@3", "clsx@2",
                    "prism-react-renderer@2", "react@19", "react-dom@19"),
        starter=(("npx", "--yes", "create-docusaurus@3.10.2", "starter", "classic", "--javascript", "--skip-install"),),
        build=("../node_modules/.bin/docusaurus", "build"),
        html="build"),
    "vitepress": Generator(
        version="1.6.4",
        install=npm("vitepress@1.6.4"),
        starter=(("node", "--eval", SCAFFOLD),),
        build=("../node_modules/.bin/vitepress", "build", "docs"),
        html="docs/.vitepress/dist", pages="docs"),
    "mkdocs": Generator(
        version="1.6.1",
        install=pip("mkdocs==1.6.1", "markdown==3.11.3"),
        starter=(("{python}", "-m", "mkdocs", "new", "--quiet", "starter"),),
        build=("{python}", "-m", "mkdocs", "build", "--quiet", "--site-dir", "site"),
        html="site", pages="docs"),
    "sphinx": Generator(
        version="9.0.4",
        install=pip("sphinx==9.0.4"),
        starter=(("{python}", "-m", "sphinx.cmd.quickstart", "--quiet", "--project", "Kit", "--author", "Authors",
                  "-v", "1.0", "starter"),),
        build=("{python}", "-m", "sphinx", "-q", "-b", "html", ".", "_build/html"),
        html="_build/html"),
    "mdbook": Generator(
        version="0.5.4",
        install=(),
        starter=(("{mdbook}", "init", "--force", "--title", "Kit", "--ignore", "none", "starter"),),
        build=("{mdbook}", "build"),
        html="book", pages="src"),
}


class Workshop:
    """The folder of a generator and its sites."""

    def __init__(self, name: str, cache: Path):
        self.name, self.generator = name, GENERATORS[name]
        self.folder = cache / f"{name}-{self.generator.version}"

    def run(self, command: tuple[str, ...], folder: Path) -> None:
        """Runs a command, with the programs of this folder."""
        here = {"{python}": lambda: str(self.folder / "venv" / "bin" / "python"),
                "{mdbook}": lambda: str(toolchain.mdbook())}
        words = [here[word]() if word in here else word for word in command]
        environment = {**os.environ, "CI": "true", "NO_UPDATE_NOTIFIER": "1", "DO_NOT_TRACK": "1"}
        done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)} ended with status {done.returncode}:\n{done.stdout[-4000:]}")

    def once(self, mark: str, make: Callable[[], None]) -> None:
        """Runs `make` once in this folder."""
        if not (done := self.folder / f".{mark}").exists():
            print(f"{self.name} {self.generator.version}: {mark}", file=sys.stderr, flush=True)
            self.folder.mkdir(parents=True, exist_ok=True)
            make()
            done.touch()

    def starter(self) -> Path:
        """The starter site, built."""
        def make() -> None:
            shutil.rmtree(self.folder / "starter", ignore_errors=True)
            for command in self.generator.starter:
                self.run(command, self.folder)
            self.run(self.generator.build, self.folder / "starter")

        self.prepare()
        self.once("starter", make)
        return self.folder / "starter"

    def fixture(self) -> Path:
        """The small site of the tests, built again."""
        self.prepare()
        site = self.folder / "fixture"
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(FIXTURES / self.name / "source", site)
        self.run(self.generator.build, site)
        return site

    def prepare(self) -> None:
        def make() -> None:
            for command in self.generator.install:
                self.run(command, self.folder)

        self.once("install", make)

    def apart(self, site: Path) -> tuple[Path, Path]:
        """Copies of the source pages and the built pages, neither inside the other."""
        parts = self.folder / f"{site.name}-sources", self.folder / f"{site.name}-html"
        for part in parts:
            shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(site, parts[0], ignore=lambda folder, names: [
            name for name in names if Path(folder, name) == site / self.generator.html
            or name in ("node_modules", "cache", ".docusaurus", "_build")])
        shutil.copytree(site / self.generator.html, parts[1])
        return parts[0] / self.generator.pages, parts[1]


@contextmanager
def published(pages: Path, base: str = "/") -> Iterator[str]:
    """Serves built pages below a base, as hosts of sites do: /guide is also /guide.html. Gives the address."""
    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            return super().translate_path(path.removeprefix(base.rstrip("/")))

        def send_head(self):  # noqa: ANN201
            file = self.translate_path(self.path)
            if not Path(file).exists() and Path(f"{file}.html").exists():
                self.path += ".html"
            return super().send_head()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(pages))) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://localhost:{listener.server_port}{base}"
        listener.shutdown()


def trimmed(page: str) -> str:
    """A page without scripts, styles, pictures and parts that differ in each build."""
    return BLANK.sub("", CHANGING.sub("", UNREAD.sub("", page)))


def keep(html: Path, target: Path) -> None:
    """Writes the trimmed pages of a built site into the repository, and the list of their addresses."""
    shutil.rmtree(target, ignore_errors=True)
    for page in (*sorted(html.rglob("*.html")), *html.glob("sitemap.xml")):
        place = target / page.relative_to(html)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(trimmed(page.read_text()))


def compare(program: Path, title: str, parts: tuple[Path, Path], options: list[str], known: dict) -> bool:
    """Prints the differences of two readings of a site. Returns whether they are equal."""
    try:
        source, site = (read(program, part, *options) for part in parts)
        for reading, part in zip((source, site), parts, strict=True):
            add_code(reading, program, part)
    except Unreadable as unreadable:
        print(f"{title}: {unreadable}")
        return False
    found = unlike(source, site, **known)
    broken = [f"{link['source_path']}: {link['link']}: {link['reason']}" for link in source.broken]
    print(f"{title}: {len(source.pages)} pages from the sources, {len(site.pages)} from the site: "
          f"{f'{len(found)} differences' if found else 'the same'}; {len(broken)} broken links", flush=True)
    print("".join(f"    {line}\n" for line in (*found, *broken)), end="")
    return not found and not broken


def main() -> None:
    only = json.loads((FIXTURES / "only.json").read_text())
    published = json.loads((FIXTURES / "published.json").read_text())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "release" / "docsearch",
                        help="the program docsearch (default: %(default)s)")
    parser.add_argument("--generators", nargs="*", choices=GENERATORS, default=list(GENERATORS),
                        help="generators (default: all)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the sites (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="write the pages built of tests/fixtures/sites there, too")
    options = parser.parse_args()
    unequal = []
    for name in options.generators:
        workshop = Workshop(name, options.cache)
        starter, fixture = workshop.starter(), workshop.fixture()
        if options.update:
            keep(fixture / workshop.generator.html, FIXTURES / name / "html")
        same = [compare(options.program, f"{name}, {site.name}", workshop.apart(site), published.get(name, []), only.get(name, {}))
                for site in (starter, fixture)]
        if not all(same):
            unequal.append(name)
    sys.exit(f"not the same: {', '.join(unequal)}" if unequal else 0)


if __name__ == "__main__":
    main()
