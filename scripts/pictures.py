#!/usr/bin/env python3
"""Takes the pictures of docs/pictures, from the pages that `make demo` has indexed."""

import argparse
import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import browser
import toolchain

FOLDER = toolchain.ROOT / "docs" / "pictures"
MAX_BYTES = 120_000
# Best quality of WebP that fits.
QUALITIES = (90, 80, 70, 55, 40)
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}
# A site with the search box of a server.
SITE = """<!doctype html><html lang="en"><title>Handbook</title><script defer src="{}/docsearch.js"></script>
<style>body {{ font: 1rem/1.6 sans-serif; max-width: 60rem; margin: 2rem auto; }}</style>
<doc-search></doc-search><h1>Handbook</h1><p>How the services of the team are built and run.</p></html>"""
QUESTION = "how+do+I+prevent+cross+site+request+forgery"


def with_preview(tab: "Page") -> None:  # noqa: F821
    """Waits for the section beside the results."""
    tab.locator(".preview").wait_for()


def with_choices(tab: "Page") -> None:  # noqa: F821
    """Opens the values of a key."""
    with_preview(tab)
    tab.locator(".narrow summary").first.click()


def with_box(tab: "Page") -> None:  # noqa: F821
    """Opens the search box of a site, and searches."""
    tab.get_by_role("button").click()
    tab.get_by_role("combobox").fill("prevent cross site request forgery")
    tab.locator("a[role=option]").first.wait_for()


def as_it_is(tab: "Page") -> None:  # noqa: F821
    """Needs nothing further."""


@dataclass(frozen=True)
class Picture:
    """A page to take: its address, how it looks, and what to do first. Without an address it is the site."""

    name: str
    path: str | None
    size: dict[str, int]
    scheme: str = "light"
    prepare: Callable = as_it_is


PICTURES = [
    Picture("page", f"/?q={QUESTION}", WIDE, prepare=with_preview),
    Picture("page-dark", "/?q=Button+in+SwiftUI", WIDE, "dark", with_preview),
    Picture("choices", "/?q=button&project=swiftui", WIDE, prepare=with_choices),
    Picture("page-phone", f"/?q={QUESTION}", PHONE),
    Picture("document", "/doc/django/ref/csrf", WIDE),
    Picture("why", "/why/swiftui/button?q=Button+in+SwiftUI", WIDE),
    Picture("status", "/status", WIDE),
    Picture("box", None, WIDE, prepare=with_box),
]


@contextmanager
def site(address: str) -> Iterator[str]:
    """Serves the site at a free port; gives its address. The server answers pages of this machine."""
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(SITE.format(address).encode())

        def log_message(self, *arguments: object) -> None:
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()


def take(window: "Browser", address: str, picture: Picture) -> bytes:  # noqa: F821
    """A picture as WebP."""
    context = window.new_context(base_url=address, viewport=picture.size, color_scheme=picture.scheme, reduced_motion="reduce")
    tab = context.new_page()
    answer = tab.goto(picture.path or "/")
    if answer.status != 200:
        raise SystemExit(f"{picture.path}: status {answer.status}; run make demo first")
    picture.prepare(tab)
    tab.evaluate("document.activeElement.blur()")
    session = context.new_cdp_session(tab)
    for quality in QUALITIES:
        image = base64.b64decode(session.send("Page.captureScreenshot", {"format": "webp", "quality": quality})["data"])
        if len(image) <= MAX_BYTES:
            break
    else:
        raise SystemExit(f"{picture.name} has {len(image)} bytes, more than {MAX_BYTES}")
    context.close()
    return image


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True, help="database of make demo")
    parser.add_argument("--program", type=Path, default=toolchain.target_directory() / "release" / "docsearch")
    parser.add_argument("names", nargs="*", metavar="name", help="only these pictures")
    options = parser.parse_args()
    if unknown := set(options.names) - {picture.name for picture in PICTURES}:
        parser.error(f"unknown picture {', '.join(sorted(unknown))}")
    FOLDER.mkdir(exist_ok=True)
    with browser.serving(options.program, options.url) as address, site(address) as handbook, browser.opened() as window:
        for picture in PICTURES:
            if not options.names or picture.name in options.names:
                image = take(window, address if picture.path else handbook, picture)
                (FOLDER / f"{picture.name}.webp").write_bytes(image)
                print(f"{picture.name}.webp  {len(image) / 1000:.0f} KB")


if __name__ == "__main__":
    main()
