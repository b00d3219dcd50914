"""Where the time of a test run goes: spans of wall and processor time, and the slowest tests."""

import re
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import server

SLOWEST = 10


@dataclass
class Span:
    """Something that took time: seconds of the wall's clock, and of processors."""

    stage: str
    what: str
    wall: float
    processors: float


@dataclass
class Clock:
    """What took how long in one run."""

    spans: list[Span] = field(default_factory=list)
    # The stage, the file and the name of a test, with its seconds.
    tests: list[tuple[str, str, str, float]] = field(default_factory=list)
    # Servers that run, which are no children of who starts them, and the time of those that did.
    watched: list[server.Server] = field(default_factory=list)
    forgotten: float = 0.0

    @contextmanager
    def span(self, stage: str, what: str) -> Iterator[None]:
        """Measures what is done in it, with the programs that end in it."""
        wall, before = time.monotonic(), self._processors()
        try:
            yield
        finally:
            self.spans.append(Span(stage, what, time.monotonic() - wall, self._processors() - before))

    def _processors(self) -> float:
        own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return own + self.forgotten + sum(each.processor_seconds() for each in self.watched)

    def watch(self, instance: server.Server) -> None:
        """Counts what the processes of a server take from now on."""
        if instance not in self.watched:
            self.watched.append(instance)

    def forget(self, instance: server.Server) -> None:
        """Keeps the count of a server that is about to stop."""
        if instance in self.watched:
            self.forgotten += instance.processor_seconds()
            self.watched.remove(instance)

    def test(self, stage: str, file: str, name: str, seconds: float) -> None:
        """Notes one test."""
        self.tests.append((stage, file, name, seconds))

    def junit(self, stage: str, path: Path) -> None:
        """Notes the tests of a report of pytest."""
        for case in ElementTree.parse(path).iter("testcase") if path.is_file() else ():
            # The module, and the class if there is one.
            names = case.get("classname", "").split(".")
            file = next((name for name in names if name.startswith("test_")), names[-1])
            self.test(stage, file, case.get("name", ""), float(case.get("time", 0)))

    def regress(self, stage: str, output: str) -> None:
        """Notes the files that pg_regress says it ran."""
        for name, milliseconds in re.findall(r"^(?:not )?ok \d+ +[-+] (\S+) +(\d+) ms", output, re.MULTILINE):
            self.test(stage, name, "", int(milliseconds) / 1000)

    def table(self) -> str:
        """The report: each stage, building apart from running, and the slowest files and tests."""
        lines = ["", "where the time went (seconds; processors without servers of a test's own):",
                 f"  {'':24}{'':8}{'wall':>8}{'processors':>12}"]
        for span in self.spans:
            lines.append(f"  {span.stage:24}{span.what:8}{span.wall:8.1f}{span.processors:12.1f}")
        lines.append(f"  {'all':24}{'':8}{sum(span.wall for span in self.spans):8.1f}"
                     f"{sum(span.processors for span in self.spans):12.1f}")
        files: dict[str, float] = defaultdict(float)
        single = {}
        for stage, file, name, seconds in self.tests:
            files[f"{stage}: {file}"] += seconds
            if name:
                single[f"{stage}: {file}::{name}"] = seconds
        for title, found in (("files", files), ("tests", single)):
            if slowest := sorted(found.items(), key=lambda item: -item[1])[:SLOWEST]:
                lines.append(f"the slowest {title}:")
                lines += [f"  {seconds:8.1f}  {name}" for name, seconds in slowest]
        return "\n".join(lines)
