"""The page of `docsearch serve` in Chromium: typing, keys, addresses, sizes, and accessibility as axe-core checks it."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Database, page
from front import document, private, serving

# Milliseconds: what is waited for comes late on a busy machine.
PATIENCE = 60_000
CHROMIUM = os.environ.get("DOCSEARCH_TEST_CHROMIUM")
pytestmark = [pytest.mark.any_server("the server that answers is the program, which speaks SQL alone"),
              pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")]
if CHROMIUM:
    from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, expect, sync_playwright

    expect.set_options(timeout=PATIENCE)

TOKEN = "web-0123456789abcdef"
AXE = Path(os.environ.get("DOCSEARCH_TEST_NODE", ".")) / "node_modules" / "axe-core" / "axe.min.js"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
WIDEST_WORD = "a_name_that_is_far_too_long_for_the_width_of_a_phone_and_has_no_place_to_break_it"


@pytest.fixture(scope="module")
def documented(new_database: Callable[..., Database]) -> Database:
    database = document(new_database())
    text = (f"# Wide\n\n`{WIDEST_WORD}`\n\n## Table\n\n| {WIDEST_WORD} | b |\n|---|---|\n| c | d |\n\n```\n{WIDEST_WORD * 3}\n```\n\n"
            f"## Right to left\n\nטקסט מימין לשמאל\n\n![a picture](https://elsewhere.test/picture.png)\n\n<script>document.title = 'run'</script>\n\n"
            "<img src=x onerror=\"document.title = 'run'\">\n\n[a link](javascript:document.title='run')")
    database.index("kit", page("wide", text, category=WIDEST_WORD, source_urls=["https://kit.test/wide"]))
    return database


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with sync_playwright() as playwright:
        def launch() -> Browser:
            # Root, as whom tests run, has no sandbox.
            return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)

        try:
            browser = launch()
        except Error:
            # One crash while it starts, on a busy machine, would be an error of every test here.
            browser = launch()
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def context(browser: "Browser", address: str) -> Iterator["BrowserContext"]:
    context = browser.new_context(viewport=WIDE, base_url=address)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def tab(context: "BrowserContext", address: str) -> Iterator["Page"]:
    """A tab, which may ask only this server, and in which nothing fails."""
    tab = context.new_page()
    failures, elsewhere = [], []
    tab.on("pageerror", lambda failure: failures.append(str(failure)))
    tab.on("console", lambda message: failures.append(message.text) if "Content Security Policy" in message.text else None)
    tab.on("request", lambda request: None if request.url.startswith(address) else elsewhere.append(request.url))
    yield tab
    tab.close()
    assert not failures and not elsewhere


def box(tab: "Page"):
    return tab.get_by_role("combobox", name="Search")


def options(tab: "Page"):
    return tab.get_by_role("option")


def violations(tab: "Page", *rules: str) -> list[str]:
    """What axe-core finds, with all rules or some, as the name of the rule and the element."""
    # The policy of the page lets no script of others run, but the tool that drives the browser may.
    found = tab.evaluate(f"async rules => {{ if (!self.axe) {{ {AXE.read_text()} }} "
                         "return (await axe.run(rules.length ? { runOnly: rules } : {})).violations }", list(rules))
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]


def overflow(tab: "Page") -> int:
    """By how much the page is wider than its window."""
    return tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_results_come_while_one_types(tab: "Page") -> None:
    tab.goto("/")
    expect(box(tab)).to_be_focused()
    tab.keyboard.type("pause of every attempt", delay=20)
    expect(options(tab).first).to_contain_text("Retry")
    expect(tab).to_have_url(re.compile(r"/\?q=pause\+of\+every\+attempt$"))
    expect(tab.get_by_role("status")).to_contain_text(re.compile(r"result"))
    expect(box(tab)).to_have_attribute("aria-expanded", "true")


def test_a_late_answer_is_not_shown(tab: "Page") -> None:
    held: list[Route] = []
    tab.goto("/")
    tab.route(re.compile(r"q=session&"), lambda route: held.append(route))
    box(tab).fill("session")
    expect(tab.locator(".content")).to_have_attribute("aria-busy", "true")
    while not held:
        tab.wait_for_timeout(10)
    box(tab).fill("paint dry")
    expect(options(tab).first).to_contain_text("Paint")
    held[0].continue_()
    box(tab).fill("paint dries")
    expect(tab).to_have_url(re.compile("dries"))
    expect(options(tab).first).to_contain_text("Paint")


def test_keys_choose_and_open(tab: "Page") -> None:
    tab.goto("/?q=connection")
    tab.keyboard.press("/")
    expect(box(tab)).to_be_focused()
    first, second = options(tab).nth(0), options(tab).nth(1)
    tab.keyboard.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "true")
    assert box(tab).get_attribute("aria-activedescendant") == first.get_attribute("id")
    tab.keyboard.press("ArrowDown")
    expect(second).to_have_attribute("aria-selected", "true")
    expect(first).to_have_attribute("aria-selected", "false")
    tab.keyboard.press("Escape")
    expect(second).to_have_attribute("aria-selected", "false")
    tab.keyboard.press("ArrowUp")
    expect(options(tab).last).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    target = first.get_attribute("href")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**{target}")
    expect(tab.get_by_role("heading", level=1)).to_contain_text("Session")


def test_escape_clears_the_box(tab: "Page") -> None:
    tab.goto("/?q=retry")
    box(tab).focus()
    tab.keyboard.press("Escape")
    expect(box(tab)).to_have_value("")
    expect(tab.get_by_role("heading", name="kit")).to_be_visible()


def test_the_back_button_returns_to_the_results(tab: "Page") -> None:
    tab.goto("/?q=retry")
    box(tab).fill("paint dry")
    tab.keyboard.press("Enter")
    expect(options(tab).first).to_contain_text("Paint")
    options(tab).first.click()
    expect(tab.get_by_role("heading", level=1)).to_contain_text("Paint")
    tab.go_back()
    expect(options(tab).first).to_contain_text("Paint")
    expect(box(tab)).to_have_value("paint dry")
    tab.go_back()
    expect(box(tab)).to_have_value("retry")
    expect(options(tab).first).to_contain_text("Retry")


def test_projects_are_chosen(tab: "Page") -> None:
    tab.goto("/?q=paint")
    tab.get_by_label("kit").check()
    expect(tab).to_have_url(re.compile(r"\?q=paint&project=kit$"))
    expect(tab.locator(".hit", has_text="Paint")).to_have_count(0)
    tab.get_by_label("other").check()
    expect(tab).to_have_url(re.compile("project=kit&project=other$"))
    expect(options(tab).first).to_contain_text("Paint")


def test_s3_60_a_choice_narrows_what_is_found_while_one_types(tab: "Page") -> None:
    tab.goto("/?q=close")
    # The choices follow the results while one types.
    box(tab).fill("pause")
    category = tab.locator("details", has=tab.locator("summary", has_text="Category"))
    category.locator("summary").press("Enter")
    choice = category.get_by_role("link", name=re.compile("api"))
    expect(choice).to_contain_text("1")
    tab.keyboard.press("Tab")
    expect(choice).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile(r"\?q=pause&category=api$"))
    box(tab).fill("pause of every attempt")
    expect(tab).to_have_url(re.compile(r"\?q=pause\+of\+every\+attempt&category=api$"))
    expect(options(tab).first).to_contain_text("Long")
    expect(tab.locator(".hit", has_text="Retry")).to_have_count(0)
    assert not violations(tab)
    tab.get_by_role("link", name="Remove the filter Category: api").click()
    expect(options(tab).first).to_contain_text("Retry")
    expect(tab).to_have_url(re.compile(r"\?q=pause\+of\+every\+attempt$"))


def test_the_section_of_a_result_is_shown_beside_it(tab: "Page") -> None:
    tab.goto("/?q=pause+of+every+attempt")
    preview = tab.get_by_label("Preview")
    expect(preview).to_contain_text("The pause doubles with every attempt.")
    expect(preview.get_by_role("link", name="At the source")).to_have_attribute("href", "https://kit.test/retry#backoff")
    preview.get_by_role("link", name="Why is it here?").click()
    expect(tab.get_by_role("heading", level=1)).to_contain_text("Why")
    expect(tab.get_by_role("table").first).to_contain_text("lexical")
    assert not violations(tab)


def test_a_deep_link_leads_to_its_section(tab: "Page") -> None:
    tab.goto("/doc/kit/long#part-15")
    expect(tab.get_by_role("heading", name="Part 15")).to_be_in_viewport()
    expect(tab.get_by_role("navigation", name="On this page").locator("[aria-current]")).to_have_text("Part 15")


def test_nothing_of_a_document_runs(tab: "Page") -> None:
    tab.goto("/doc/kit/wide")
    tab.get_by_text("a link").click()
    expect(tab).to_have_title("Wide – docsearch")
    expect(tab.get_by_role("link", name="a picture")).to_have_attribute("href", "https://elsewhere.test/picture.png")


@pytest.mark.parametrize("path", ["/", "/?q=connection", "/?q=zygomorphic+quantum", "/doc/kit/wide", "/doc/kit/long", "/doc/kit/nosuch",
                                  "/why/kit/wide?q=wide", "/status"])
def test_pages_are_accessible_and_fit_small_windows(tab: "Page", path: str) -> None:
    tab.goto(path)
    if "connection" in path:
        expect(tab.get_by_label("Preview")).to_be_visible()
    assert not violations(tab)
    tab.emulate_media(color_scheme="dark")
    assert not violations(tab, "color-contrast")
    # 200 % zoom halves the pixels of a window.
    for size in ({"width": 640, "height": 450}, NARROW):
        tab.set_viewport_size(size)
        assert overflow(tab) <= 0, size
    assert not violations(tab)


def test_without_script_it_works(browser: "Browser", address: str) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=address)
    tab = context.new_page()
    tab.goto("/")
    tab.get_by_role("textbox", name="Search").fill("pause of every attempt")
    tab.get_by_role("button", name="Search").click()
    tab.get_by_role("link", name=re.compile("Retry")).first.click()
    assert tab.url.endswith("#backoff")
    assert tab.get_by_role("heading", level=1).inner_text() == "Retry"
    context.close()


def test_a_token_is_kept_for_the_tab(documented: Database, browser: "Browser", tmp_path: Path) -> None:
    with serving(documented, "--token-file", private(tmp_path / "tokens", f"{TOKEN}\n")) as address:
        context = browser.new_context(base_url=address, viewport=WIDE)
        context.set_default_timeout(PATIENCE)
        tab = context.new_page()
        tab.goto("/?q=retry")
        tab.get_by_label("Token").fill("not-the-right-token")
        tab.get_by_role("button", name="Open").click()
        expect(tab.get_by_role("alert")).to_have_text("This token is not known.")
        tab.get_by_label("Token").fill(TOKEN)
        tab.get_by_role("button", name="Open").click()
        expect(options(tab).first).to_contain_text("Retry")
        options(tab).first.click()
        expect(tab.get_by_role("heading", level=1)).to_contain_text("Retry")
        tab.reload()
        expect(tab.get_by_role("heading", level=1)).to_contain_text("Retry")
        assert not context.cookies()
        context.close()
