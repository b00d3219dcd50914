#!/usr/bin/env python3
"""Measures the cost of the front ends: a search through them against the same statement through psycopg.

Each has one connection and they take turns, so that other load affects all equally. Queries
repeat, so their embeddings come from the cache. Prints medians, 95th percentiles and the
median of the differences in milliseconds, and writes them to target/bench/front.json.
"""

import argparse
import http.client
import json
import re
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

import toolchain

STATEMENT = "SELECT search_docs_text(%s, max_tokens => 2000)"
VERSION = "2025-11-25"
INITIALIZE = {"method": "initialize", "params": {
    "protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}


def call(query: str) -> dict:
    """A request of `tools/call` that searches."""
    return {"method": "tools/call", "params": {"name": "search_docs", "arguments": {"query": query}}}


class Pipe:
    """`docsearch mcp` through standard input and output."""

    def __init__(self, program: Path, url: str):
        self.process = subprocess.Popen([program, "mcp", "--url", url], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.ask(INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, message: dict) -> dict:
        self.send({"jsonrpc": "2.0", "id": 1, **message})
        return json.loads(self.process.stdout.readline())

    def search(self, query: str) -> str:
        return self.ask(call(query))["result"]["content"][0]["text"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=10)


class Http:
    """`docsearch serve` over one kept connection."""

    def __init__(self, program: Path, url: str):
        self.process = subprocess.Popen([program, "serve", "0", "--rate", "0", "--url", url],
                                        stderr=subprocess.PIPE, text=True)
        address = re.search(r"http://(\S+)", self.process.stderr.readline())[1]
        self.connection = http.client.HTTPConnection(address)

    def search(self, query: str) -> str:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "MCP-Protocol-Version": VERSION}
        self.connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, **call(query)}), headers)
        return json.load(self.connection.getresponse())["result"]["content"][0]["text"]

    def close(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait(timeout=10)


def measure(ways: dict[str, Callable[[str], str]], queries: list[str], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every search through each front end; they take turns with the same queries."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for query in queries:
        if len({search(query) for search in ways.values()}) != 1:
            raise SystemExit(f"the answers to {query!r} differ")
    for _ in range(rounds):
        for query in queries:
            for name, search in ways.items():
                started = time.perf_counter()
                search(query)
                taken[name].append((time.perf_counter() - started) * 1e3)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="database with documents")
    parser.add_argument("--program", type=Path, default=toolchain.target_directory() / "release" / "docsearch")
    parser.add_argument("--rounds", type=int, default=20, help="passes over the queries (default: 20)")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True, prepare_threshold=0) as connection:
        titles = connection.execute("SELECT title FROM docsearch.document ORDER BY md5(slug) LIMIT 20").fetchall()
        if not titles:
            raise SystemExit("the database has no documents: make demo")
        pipe, served = Pipe(options.program, options.url), Http(options.program, options.url)
        ways = {"psycopg": lambda query: connection.execute(STATEMENT, (query,)).fetchone()[0],
                "mcp, stdio": pipe.search, "mcp, http": served.search}
        try:
            taken = measure(ways, [title for title, in titles], options.rounds)
        finally:
            pipe.close()
            served.close()
    report = {name: {"p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}
              for name, times in taken.items()}
    for name, times in taken.items():
        pairs = zip(times, taken["psycopg"])
        report[name]["above"] = statistics.median(theirs - ours for theirs, ours in pairs)
    print(f"{'':12}{'p50':>8}{'p95':>8}{'above psycopg':>15}")
    for name, figures in report.items():
        print(f"{name:12}{figures['p50']:8.2f}{figures['p95']:8.2f}{figures['above']:15.2f}")
    target = toolchain.target_directory() / "bench" / "front.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
