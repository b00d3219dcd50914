"""Small sites of each generator: their sources and the generator's HTML give the same pages.

`make check-sites UPDATE=1` builds the HTML again, and checks the generators' own starter sites, too.
"""

import json
import os
from pathlib import Path

import pytest
from reading import Reading, add_code, differences, read, unlike

pytestmark = pytest.mark.any_server("files are read by the program, without a server")

SITES = Path(__file__).parent / "fixtures" / "sites"
# Folder of the pages in the sources of a site, if not the root.
PAGES = {"mdbook": "src", "mkdocs": "docs", "vitepress": "docs"}
EXPECTED = json.loads((SITES / "expected.json").read_text())
ONLY = json.loads((SITES / "only.json").read_text())
# The URL of a site, if its built pages do not contain it.
PUBLISHED = json.loads((SITES / "published.json").read_text())


def reading(name: str, part: str) -> Reading:
    folder = SITES / name / part
    found = read(os.environ["DOCSEARCH_TEST_CLI"], folder, *PUBLISHED.get(name, []))
    add_code(found, os.environ["DOCSEARCH_TEST_CLI"], folder)
    return found


def sources(name: str) -> Reading:
    return reading(name, f"source/{PAGES.get(name, '')}")


def site(name: str) -> Reading:
    return reading(name, "html")


@pytest.mark.parametrize("name", sorted(path.parent.name for path in SITES.glob("*/html")))
def test_sources_and_the_built_site_have_the_same_pages_anchors_addresses_and_code(name):
    assert unlike(sources(name), site(name), **ONLY.get(name, {})) == []


@pytest.mark.parametrize("name", EXPECTED)
def test_as_much_is_read_as_is_there(name):
    assert differences(EXPECTED[name], sources(name).counts()) == []


@pytest.mark.parametrize("name", EXPECTED)
def test_the_links_of_a_site_lead_to_its_pages_and_sections(name):
    assert sources(name).broken == []
