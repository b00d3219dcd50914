"""`docsearch serve` in the background, for the page of a private server. `make stop` ends it."""

import socket
import subprocess
import time
from pathlib import Path

import server

# The usual port of docsearch serve.
PORT = 8765
# How long it may take to listen, and how often that is looked up.
PATIENCE_SECONDS = 30
INTERVAL_SECONDS = 0.05


def start(program: Path, instance: server.Server) -> str:
    """Serves at the usual port or a free one, unless it does already; returns the address."""
    record, log = instance.home / "page", instance.home / "page.log"
    if (address := running(record)) and record.stat().st_mtime > program.stat().st_mtime:
        return address
    instance.stop_page()
    with log.open("w") as output:
        process = subprocess.Popen([program, "serve", str(free_port()), "--url", instance.url()], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, start_new_session=True, cwd="/", env=instance.environment())
    end = time.monotonic() + PATIENCE_SECONDS
    while (address := listening(log)) is None:
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            raise SystemExit(f"docsearch serve did not start:\n{log.read_text()}")
        time.sleep(INTERVAL_SECONDS)
    record.write_text(f"{process.pid} {address}\n")
    return address


def free_port() -> int:
    """The usual port, or 0 for any other if it is taken."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", PORT))
        except OSError:
            return 0
    return PORT


def running(record: Path) -> str | None:
    """The address of a page that is served already."""
    if not record.is_file():
        return None
    pid, address = record.read_text().split()
    return address if server.is_program(int(pid), "docsearch") else None


def listening(log: Path) -> str | None:
    """The address that the program printed."""
    _, found, address = log.read_text().partition(" at http://")
    return f"http://{address.split()[0]}" if found and address.endswith("\n") else None
