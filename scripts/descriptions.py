#!/usr/bin/env python3
"""Compares the descriptions of each function and each setting, which are in several places.

The first sentence about a function is the same in the documentation comment above #[pg_extern], in sql/comments.sql and
in the reference, below the function's signature. The first sentence about a setting or a weight is the same in its help
and in docs/reference/settings.md. Functions that only Postgres calls are not in the reference. Prints a line for each
problem, and exits with status 1 if there is one.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENTS = ROOT / "sql" / "comments.sql"
REFERENCE = ROOT / "docs" / "reference"
SETTINGS = REFERENCE / "settings.md"
WEIGHTS = ROOT / "crates" / "docsearch-core" / "src" / "ranking" / "weight.rs"
MOST_WORDS = 20

# Up to the name of the function, and its arguments and result in Rust.
EXTERN = re.compile(r"((?:^ *///.*\n)*)^ *(#\[pg_extern(?:.*\n)*?) *(?:pub\S* )?fn (\w+)([^{]*)", re.M)
COMMENT = re.compile(r"^COMMENT ON FUNCTION [^.]+\.(\w+)\([^)]*\) IS\s+'((?:[^']|'')*)';", re.M)
CREATED = re.compile(r"CREATE FUNCTION docsearch\.(\w+)\(")
BY_POSTGRES = re.compile(r"\b(?:TriggerRow|Internal)\b")
# A block of signatures and the paragraph behind it.
SIGNATURES = re.compile(r"^```sql signature\n((?:.*\n)*?)```\n\n((?:.+\n?)*)", re.M)
SIGNATURE = re.compile(r"^(?:docsearch\.)?(\w+)\(", re.M)
SETTING = re.compile(r'c"docsearch\.(\w+)",\s*c"([^"]*)"|\bc"(\w+)" = [^:]*:\s*c"([^"]*)";')
WEIGHT = re.compile(r'^    (\w+): \w+ = .*\n +"([^"]*)",$', re.M)
ROW = re.compile(r"^\| `(?:docsearch\.)?(\w+)` \|.*\| (.+) \|$", re.M)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def first(text: str) -> str:
    """The first sentence, without marks of Markdown, the case of its first letter and the full stop."""
    plain = " ".join(LINK.sub(r"\1", text).replace("`", "").split())
    sentence = re.split(r"\.(?: |$)", plain)[0]
    return sentence[:1].lower() + sentence[1:]


def functions() -> Iterator[tuple[str, str, bool]]:
    """Name, documentation comment and whether a user calls it, of each function in Rust."""
    for file in sorted((ROOT / "src").rglob("*.rs")):
        for documented, attribute, name, signature in EXTERN.findall(file.read_text()):
            named = re.search(r'\bname = "(\w+)"', attribute)
            text = re.sub(r"^ */// ?", "", documented, flags=re.M)
            yield named[1] if named else name, text, not BY_POSTGRES.search(signature)


def compared(kind: str, name: str, here: list[str], place: str, there: list[str]) -> Iterator[str]:
    """How the sentences about one thing differ from those in another place."""
    if not there:
        yield f"{place} has no description of {kind} {name}"
    elif sorted(map(first, here)) != sorted(map(first, there)):
        yield f"{kind} {name}: {here} in the code, {there} in {place}"


def of_functions() -> Iterator[str]:
    """What is wrong with descriptions of functions."""
    documented, called = defaultdict(list), set()
    for name, text, by_users in functions():
        documented[name].append(text.strip())
        called |= {name} if by_users else set()
        if not text.strip().endswith(".") or first(text) + "." != text.strip()[:1].lower() + " ".join(text.split())[1:]:
            yield f"function {name}: one sentence is needed above #[pg_extern], and not “{text.strip()}”"
        if len(first(text).split()) > MOST_WORDS:
            yield f"function {name}: its sentence has more than {MOST_WORDS} words"
    commented = defaultdict(list)
    for name, text in COMMENT.findall(COMMENTS.read_text()):
        commented[name].append(text.replace("''", "'"))
        if not text[0].islower() or text.endswith(".") or text.count(". ") > 1:
            yield f"function {name}: a comment is up to two sentences, in lower case and without a full stop"
    explained = defaultdict(list)
    for page in sorted(REFERENCE.glob("*.md")):
        for signatures, paragraph in SIGNATURES.findall(page.read_text()):
            names = SIGNATURE.findall(signatures)
            if len(names) != 1:
                yield f"{page.relative_to(ROOT)}: a block of signatures has one function, and not {names}"
            explained[names[0]].append(first(paragraph))
    for name, texts in documented.items():
        yield from compared("function", name, texts, "sql/comments.sql", commented[name])
        if name in called:
            yield from compared("function", name, texts, "docs/reference", explained[name])
    in_sql = {name for file in (ROOT / "sql").glob("*.sql") for name in CREATED.findall(file.read_text())}
    yield from (f"there is no function {name}" for name in {*commented, *explained} - {*documented, *in_sql})


def of_settings() -> Iterator[str]:
    """What is wrong with descriptions of settings."""
    files = [ROOT / "src" / "settings.rs", *sorted((ROOT / "src" / "settings").rglob("*.rs"))]
    found = [match for file in files for match in SETTING.findall(file.read_text())]
    helps = {long or short: help or other for long, help, short, other in found}
    helps |= dict(WEIGHT.findall(WEIGHTS.read_text()))
    rows = defaultdict(list)
    for name, meaning in ROW.findall(SETTINGS.read_text()):
        rows[name].append(meaning)
    for name, text in helps.items():
        yield from compared("setting", name, [text], str(SETTINGS.relative_to(ROOT)), rows[name])
    yield from (f"{SETTINGS.relative_to(ROOT)}: there is no setting {name}" for name in rows.keys() - helps.keys())


def main() -> None:
    found = [*of_functions(), *of_settings()]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
