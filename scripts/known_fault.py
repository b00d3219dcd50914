"""Known faults of PostgreSQL and pgvector, as crates/docsearch-core/src/postgres/known_fault/table.json has them.

Installation and packaging read them here, the extension in `docsearch_core::postgres::known_fault`, by the same rules.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import toolchain

TABLE = toolchain.ROOT / "crates" / "docsearch-core" / "src" / "postgres" / "known_fault" / "table.json"
POSTGRESQL, PGVECTOR = "PostgreSQL", "pgvector"
BEFORE_RELEASE = ("alpha", "beta", "rc", "dev", "pre")
# The numbers of a version without trailing zeros, and whether it is a release.
Version = tuple[tuple[int, ...], bool]


@dataclass(frozen=True)
class Fault:
    """A fault of some versions of a product."""

    fault: str
    product: str
    good_from: tuple[str, ...]
    effect: str
    afterwards: str = ""
    refused: bool = False

    def good_for(self, version: str) -> str:
        """The first version without the fault for users of this one."""
        of_major = [good for good in self.good_from if major(good) <= major(version)]
        return (of_major or self.good_from[:1])[-1]

    def affects(self, version: str) -> bool:
        """Whether a version has the fault; false if it cannot be read."""
        found = read(version)
        return found is not None and found < read(self.good_for(version))


def read(version: str) -> Version | None:
    """The leading numbers of a version: `0.8.4-1.pgdg` is 0.8.4, and `18beta1` is less than 18."""
    found = re.match(r"\s*([0-9]+(?:\.[0-9]+)*)[-.~_]*(.*)", version, re.DOTALL)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), not found[2].lower().startswith(BEFORE_RELEASE)


def major(version: str) -> int:
    """The first number of a version."""
    numbers = (read(version) or ((), True))[0]
    return numbers[0] if numbers else 0


@cache
def table() -> tuple[Fault, ...]:
    """All known faults."""
    rows = json.loads(TABLE.read_text())
    return tuple(Fault(**{**row, "good_from": tuple(row["good_from"])}) for row in rows)


def faults(product: str, version: str) -> list[Fault]:
    """The known faults of a version."""
    return [fault for fault in table() if fault.product == product and fault.affects(version)]


def least(product: str, version: str) -> str:
    """The first supported version, for users of this one."""
    return newest(product, version, (fault for fault in table() if fault.refused))


def safe(product: str, version: str) -> str:
    """The first version without a known fault, for users of this one."""
    return newest(product, version, iter(table()))


def newest(product: str, version: str, of: Iterator[Fault]) -> str:
    """The newest of the first fixed versions of some faults."""
    return max((fault.good_for(version) for fault in of if fault.product == product), key=read)
