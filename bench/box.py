#!/usr/bin/env python3
"""Checks that the search box works on sites of generators with the lines that docs/site-search.md says.

Builds the starter site of each generator with these lines, indexes the built pages, serves both, and searches in a headless
Chromium: Ctrl+K, the title of a page, Enter. The development server has the documents, in a database of their own.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path

import browser
import psycopg
from playwright.sync_api import Browser, expect
from psycopg.conninfo import make_conninfo
from sites import CACHE, GENERATORS, ROOT, Workshop, pip, published

PAGE = ROOT / "docs" / "site-search.md"
RECIPE = re.compile(r"<!-- recipe: (\w+) (\S+)(?: (new|end|before|after)(?:: (.*?))?)? -->\n(?:<!-- not run: .*? -->\n)?```\w+\n(.*?)```", re.S)
LONGEST = 5
SERVER, PROJECT, DATABASE = "https://docs.example.com", "kit", "docsearch_box"
MATERIAL = "9.8.2"
# The theme that a recipe is for, and pages of sites that have only one.
ADDITIONS = {
    "mkdocs": {"mkdocs.yml": "theme: {name: material}\n", "docs/retry.md": "# Retrying requests\n\nA request is sent again.\n"},
    "sphinx": {"retry.rst": ":orphan:\n\nRetrying requests\n=================\n\nA request is sent again.\n"},
}
# Where a starter site has its address, which the pages say of themselves.
ADDRESSES = {"docusaurus": ("docusaurus.config.js", "https://your-docusaurus-site.example.com")}


@dataclass(frozen=True)
class Recipe:
    """Lines that a site gets: in a new file, at the end of one, or before or after the line that begins with `anchor`."""

    file: str
    place: str
    anchor: str
    lines: str

    def apply(self, site: Path, server: str) -> None:
        lines = self.lines.replace(SERVER, server)
        target = site / self.file
        if self.place == "new":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(lines)
            return
        text = target.read_text()
        at = len(text)
        if self.anchor:
            at = text.index(self.anchor)
            at = text.index("\n", at) + 1 if self.place == "after" else at
        target.write_text(f"{text[:at]}{lines}{text[at:]}")


def recipes() -> dict[str, list[Recipe]]:
    """The lines of the documentation for each generator."""
    found: dict[str, list[Recipe]] = {}
    for name, file, place, anchor, lines in RECIPE.findall(PAGE.read_text()):
        found.setdefault(name, []).append(Recipe(file, place or "new", anchor, lines))
    for name, parts in found.items():
        count = sum(part.lines.count("\n") for part in parts)
        if count > LONGEST:
            raise SystemExit(f"{name} needs {count} lines, more than {LONGEST}")
    return found


def workshop(name: str, cache: Path) -> Workshop:
    """The workshop of a generator. MkDocs has the theme Material."""
    made = Workshop(name, cache)
    if name == "mkdocs":
        made.generator = replace(made.generator, version=f"1.6.1-material-{MATERIAL}", install=pip("mkdocs==1.6.1", f"mkdocs-material=={MATERIAL}"))
        made.folder = cache / f"{name}-{made.generator.version}"
    return made


def html(made: Workshop | None, cache: Path) -> Path:
    """The folder of the built pages."""
    return made.folder / "box" / made.generator.html if made else cache / "html"


def build(made: Workshop | None, parts: list[Recipe], server: str, address: str, folder: Path) -> None:
    """Builds a site with these lines."""
    if made is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        box = "".join(part.lines for part in parts).replace(SERVER, server)
        for name, title in (("index", "Welcome"), ("retry", "Retrying requests")):
            text = f"<title>{title}</title>{box}<h1>{title}</h1><p>A request is sent again.</p>"
            (folder / f"{name}.html").write_text(f"<!doctype html><html lang=en>{text}</html>")
        return
    made.starter()
    site = made.folder / "box"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(made.folder / "starter", site, ignore=shutil.ignore_patterns("node_modules", ".docusaurus", "cache"))
    for file, text in ADDITIONS.get(made.name, {}).items():
        with (site / file).open("a") as opened:
            opened.write(text)
    if made.name in ADDRESSES:
        file, starter = ADDRESSES[made.name]
        (site / file).write_text((site / file).read_text().replace(starter, address))
    for part in parts:
        part.apply(site, server)
    shutil.rmtree(folder, ignore_errors=True)
    made.run(made.generator.build, site)


def target(server: str) -> dict:
    """A page that is not the first one of the site."""
    with urllib.request.urlopen(f"{server}/v1/docs?project={PROJECT}&limit=1000") as answer:
        found = json.load(answer)["documents"]
    inner = [document for document in found if not re.search(r"(^|/)(index|README)$|^$|blog|404|search|genindex|print|toc", document["slug"])]
    return min(inner, key=lambda document: (document["slug"].count("/"), document["slug"]))


def drive(window: Browser, site: str, page: dict) -> None:
    """Searches the title of a page from the first page of a site, and follows the first result."""
    context = window.new_context()
    context.set_default_timeout(20_000)
    tab = context.new_page()
    failures: list[str] = []
    tab.on("pageerror", lambda failure: failures.append(str(failure)))
    tab.goto(f"{site}/", wait_until="load")
    expect(tab.locator("doc-search").get_by_role("button").first).to_be_visible()
    # Frameworks take over the page after it is loaded.
    tab.wait_for_load_state("networkidle")
    expect(tab.locator("doc-search")).to_have_count(1)
    tab.keyboard.press("Control+k")
    expect(tab.get_by_role("combobox", name=re.compile("Search the documentation"))).to_be_focused()
    tab.keyboard.type(page["title"], delay=10)
    expect(tab.locator("doc-search a[role=option]").first).to_contain_text(page["title"])
    before = tab.url
    tab.keyboard.press("Enter")
    tab.wait_for_url(lambda url: url.split("#")[0] != before and url.startswith(site))
    expect(tab.get_by_role("heading", level=1, name=page["title"])).to_be_visible()
    tab.keyboard.press("Control+k")
    expect(tab.locator("doc-search dialog")).to_be_visible()
    context.close()
    if failures:
        raise SystemExit("\n".join(failures))


def main() -> None:
    known = recipes()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "release" / "docsearch",
                        help="the program docsearch (default: %(default)s)")
    parser.add_argument("--url", required=True, help="URL of a server with the extension, as a superuser")
    parser.add_argument("--generators", nargs="*", choices=known, default=list(known), help="generators (default: all)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the sites (default: %(default)s)")
    options = parser.parse_args()
    url = make_conninfo(options.url, dbname=DATABASE)
    with psycopg.connect(options.url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE} ENCODING 'UTF8' TEMPLATE template0")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_docsearch CASCADE")
    failed = []
    with browser.serving(options.program, url) as server, browser.opened() as window:
        for name in options.generators:
            made = workshop(name, options.cache) if name in GENERATORS else None
            try:
                folder = html(made, options.cache)
                with published(folder) as address:
                    site = address.rstrip("/")
                    build(made, known[name], server, site, folder)
                    subprocess.run([options.program, "index", folder, "--url", url, "--project", PROJECT, "--root-url", f"{site}/",
                                    "--source-root", "box"], check=True, capture_output=True)
                    page = target(server)
                    drive(window, site, page)
                print(f"{name}: {sum(part.lines.count(chr(10)) for part in known[name])} lines, found {page['title']!r}", flush=True)
            except (Exception, SystemExit) as failure:  # noqa: BLE001
                print(f"{name}: {failure}", flush=True)
                failed.append(name)
    sys.exit(f"the search box does not work: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
