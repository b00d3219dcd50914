#!/usr/bin/env python3
"""Checks that the search boxes of VitePress and Docusaurus show results of `docsearch serve`.

Each small site of tests/fixtures/sites is built with the configuration of docs/docsearch-widget.md, and opened in headless
Chromium. A search in its box has to lead to a page of the site. The generators are installed as for `make check-sites`.
"""

import argparse
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import browser
from playwright.sync_api import Browser, expect
from sites import CACHE, FIXTURES, ROOT, Workshop, published

GUIDE = ROOT / "docs" / "docsearch-widget.md"
THEME = ROOT / "packages" / "docusaurus-theme-pg-docsearch"
BASE = "/manual/"
QUERY, HEADING, PAGE = "list of ramps", "Schedules", "guides/schedules"
# The file of the configuration, and the section of the guide about it.
SITES = {"vitepress": ("docs/.vitepress/config.mjs", "VitePress"), "docusaurus": ("docusaurus.config.js", "Docusaurus")}


def documented(title: str) -> str:
    """The configuration in a section of the guide."""
    section = GUIDE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"```js\n(.*?)```", section, re.S)[-1]


def built(name: str, cache: Path, server: str, project: str) -> Path:
    """The pages of a site with the documented configuration."""
    workshop = Workshop(name, cache)
    workshop.prepare()
    site = workshop.folder / "widget"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(FIXTURES / name / "source", site)
    file, title = SITES[name]
    config = site / file
    own = config.with_name(f"own{config.suffix}")
    config.rename(own)
    text = documented(title).replace("docs.example.com", urlsplit(server).netloc).replace('"kit"', f'"{project}"')
    text = text.replace('protocol: "https"', 'protocol: "http"').replace('"https://', '"http://')
    config.with_name(f"search{config.suffix}").write_text(text)
    config.write_text(f"import own from './{own.name}';\nimport search from './search{config.suffix}';\n"
                      "export default {...own, ...search, themeConfig: {...own.themeConfig, ...search.themeConfig}};\n")
    if name == "docusaurus":
        shutil.copytree(THEME, site / "node_modules" / THEME.name)
        (site / "package.json").write_text('{"private": true}\n')
    workshop.run(workshop.generator.build, site)
    return site / workshop.generator.html


def check(window: Browser, address: str, server: str) -> None:
    """Searches in the box of a site, and opens the result."""
    tab = window.new_page()
    tab.set_default_timeout(30_000)
    asked: set[str] = set()
    tab.on("request", lambda sent: asked.add(urlsplit(sent.url).netloc))
    tab.goto(address)
    tab.locator(".DocSearch-Button").click()
    tab.locator(".DocSearch-Input").fill(QUERY)
    hit = tab.locator(".DocSearch-Hit a", has_text=HEADING).first
    expect(hit).to_have_attribute("href", re.compile(re.escape(f"{BASE}{PAGE}")))
    hit.click()
    expect(tab).to_have_url(re.compile(re.escape(f"{address}{PAGE}")))
    expect(tab.get_by_role("heading", level=1)).to_contain_text(HEADING)
    elsewhere = asked - {urlsplit(address).netloc, urlsplit(server).netloc, ""}
    assert not elsewhere, f"the page asked {elsewhere}"
    tab.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "release" / "docsearch", help="the program docsearch (default: %(default)s)")
    parser.add_argument("--url", required=True, help="a database with the extension")
    parser.add_argument("--generators", nargs="*", choices=SITES, default=list(SITES), help="generators (default: all)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the sites (default: %(default)s)")
    options = parser.parse_args()
    with browser.serving(options.program, options.url) as server, browser.opened() as window:
        for name in options.generators:
            project = f"widget-{name}"
            source = FIXTURES / name / "source"
            subprocess.run([options.program, "index", source, "--project", project, "--url", options.url], check=True, stdout=subprocess.DEVNULL)
            with published(built(name, options.cache, server, project), BASE) as address:
                check(window, address, server)
            print(f"{name}: the search box leads to {PAGE}", flush=True)


if __name__ == "__main__":
    main()
