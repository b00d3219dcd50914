#!/usr/bin/env python3
"""Measures the page of `docsearch serve`: its weight, and how long results take in headless Chromium.

A first visit has an empty cache. Typing is one letter each 150 ms; a letter counts from its key to the results of the
text so far, as the browser shows them. The same fragments are then fetched one by one, which is the server's time.
"""

import argparse
import gzip
import http.client
import json
import statistics
import time
from pathlib import Path
from urllib.parse import quote_plus

import browser
import toolchain

QUERIES = ("Button in SwiftUI", "select_related", "how do I prevent cross site request forgery", "async image placeholder")
LETTER_MS = 150
WINDOW = {"width": 1280, "height": 800}
# Notes when the results of an address are shown: the script of the page writes the address to the content.
WATCH = """() => {
    window.shown = {};
    const content = document.querySelector('.content');
    new MutationObserver(() => { window.shown[content.dataset.shown] ??= performance.now(); })
        .observe(content, { attributes: true, attributeFilter: ['data-shown'] });
    window.typed = {};
    document.querySelector('#ds-query').addEventListener('input', event => { window.typed[event.target.value] = performance.now(); }, true);
}"""


def weight(window: "Browser", address: str, path: str) -> dict[str, int]:  # noqa: F821
    """Requests of a first visit, and their bytes as sent, which is compressed."""
    context = window.new_context(base_url=address, viewport=WINDOW)
    tab = context.new_page()
    sent = []
    tab.on("requestfinished", lambda request: sent.append(request.sizes()["responseBodySize"]))
    tab.goto(path, wait_until="networkidle")
    context.close()
    return {"requests": len(sent), "bytes": sum(sent)}


def first_results(window: "Browser", address: str, query: str) -> float:  # noqa: F821
    """Milliseconds from the navigation to the first result on the screen, with an empty cache."""
    context = window.new_context(base_url=address, viewport=WINDOW)
    tab = context.new_page()
    tab.goto(f"/?q={quote_plus(query)}", wait_until="commit")
    tab.locator(".hit").first.wait_for()
    shown = tab.evaluate("new Promise(done => requestAnimationFrame(() => done(performance.now())))")
    context.close()
    return shown


def typing(window: "Browser", address: str, query: str) -> list[float]:  # noqa: F821
    """Milliseconds from each letter to its results. Letters whose search the next one replaced have none."""
    context = window.new_context(base_url=address, viewport=WINDOW)
    tab = context.new_page()
    tab.goto("/")
    tab.evaluate(WATCH)
    tab.locator("#ds-query").press_sequentially(query, delay=LETTER_MS)
    tab.locator(f".content[data-shown='/?q={quote_plus(query)}']").wait_for()
    typed, shown = tab.evaluate("[window.typed, window.shown]")
    context.close()
    times = {text: shown.get(f"/?q={quote_plus(text)}") for text in typed}
    return [end - typed[text] for text, end in times.items() if end is not None and end > typed[text]]


def fragments(address: str, query: str) -> list[float]:
    """Milliseconds of the server for each letter, over one connection."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    taken = []
    for end in range(1, len(query) + 1):
        started = time.perf_counter()
        connection.request("GET", f"/?q={quote_plus(query[:end])}&fragment=true", headers={"Accept-Encoding": "gzip"})
        gzip.decompress(connection.getresponse().read())
        taken.append((time.perf_counter() - started) * 1e3)
    connection.close()
    return taken


def is_loaded(address: str) -> bool:
    """Whether the first query finds anything, which also warms the server."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    connection.request("GET", f"/v1/search?query={quote_plus(QUERIES[0])}")
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return bool(answer.get("results"))


def summary(times: list[float]) -> dict[str, float]:
    return {"p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1], "number": len(times)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="database of make demo")
    parser.add_argument("--program", type=Path, default=toolchain.target_directory() / "release" / "docsearch")
    parser.add_argument("--rounds", type=int, default=10, help="passes over the queries (default: 10)")
    options = parser.parse_args()
    with browser.serving(options.program, options.url) as address, browser.opened() as window:
        if not is_loaded(address):
            raise SystemExit(f'"{QUERIES[0]}" finds nothing: make demo indexes the pages.')
        report = {f"weight of {path}": weight(window, address, path)
                  for path in ("/", f"/?q={quote_plus(QUERIES[0])}", "/doc/swiftui/button")}
        rounds = [query for _ in range(options.rounds) for query in QUERIES]
        report["first result"] = summary([first_results(window, address, query) for query in rounds])
        report["a letter, server"] = summary([time for query in rounds for time in fragments(address, query)])
        report["a letter, browser"] = summary([time for query in rounds for time in typing(window, address, query)])
        report["a letter, browser"]["letters"] = sum(map(len, rounds))
    for name, figures in report.items():
        print(f"{name:32}", "  ".join(f"{key} {value:.0f}" if isinstance(value, int) else f"{key} {value:.1f}" for key, value in figures.items()))
    target = toolchain.target_directory() / "bench" / "page.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
