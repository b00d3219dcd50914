"""The time of a test run: wall and processor time of its stages, and the slowest tests."""

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
    """Wall and processor seconds of one part of a run."""

    stage: str
    what: str
    wall: float
    processors: float


@dataclass
class Clock:
    """The times of one run."""

    spans: list[Span] = field(default_factory=list)
    # The stage, the file and the name of a test, with its seconds.
    tests: list[tuple[str, str, str, float]] = field(default_factory=list)
    # Running servers, which are not our children, and the processor time of stopped ones.
    watched: list[server.Server] = field(default_factory=list)
    forgotten: float = 0.0

    @contextmanager
    def span(self, stage: str, what: str) -> Iterator[None]:
        """Measures the block, including programs that end in it."""
        wall, before = time.monotonic(), self._processors()
        try:
            yield
        finally:
            self.spans.append(Span(stage, what, time.monotonic() - wall, self._processors() - before))

    def _processors(self) -> float:
        own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return own + self.forgotten + sum(each.processor_seconds() for each in self.watched)

    def watch(self, instance: server.Server) -> None:
        """Counts the processor time of a server from now on."""
        if instance not in self.watched:
            self.watched.append(instance)

    def forget(self, instance: server.Server) -> None:
        """Adds the processor time of a server that is about to stop."""
        if instance in self.watched:
            self.forgotten += instance.processor_seconds()
            self.watched.remove(instance)

    def test(self, stage: str, file: str, name: str, seconds: float) -> None:
        """Records one test."""
        self.tests.append((stage, file, name, seconds))

    def junit(self, stage: str, path: Path) -> None:
        """Records the tests of a pytest report."""
        for case in ElementTree.parse(path).iter("testcase") if path.is_file() else ():
            # The module, and the class if there is one.
            names = case.get("classname", "").split(".")
            file = next((name for name in names if name.startswith("test_")), names[-1])
            self.test(stage, file, case.get("name", ""), float(case.get("time", 0)))

    def regress(self, stage: str, output: str) -> None:
        """Records the files in the output of pg_regress."""
        for name, milliseconds in re.findall(r"^(?:not )?ok \d+ +[-+] (\S+) +(\d+) ms", output, re.MULTILINE):
            self.test(stage, name, "", int(milliseconds) / 1000)

    def table(self) -> str:
        """The report: each stage, building and running separately, and the slowest files and tests."""
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
