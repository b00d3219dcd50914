"""Checks the layers of the code: imports run down, and files do not import each other in a circle.

A crate in LAYERS has all its files in folders, and a folder imports only those of the rows below its own. In every
crate, files do not import each other in a circle. A module and the files of its own folder count as one for others, and
may import each other. Scripts do not import each other in a circle. Every file named in DOCUMENTS exists. In the
extension, the text of each row of ONLY_IN occurs only in the files of that row.
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent
CRATES = [ROOT / "src", *sorted(ROOT.glob("crates/docsearch-*/src"))]
# Only these files run statements without a role, make the caller of a call from SQL, or make the owner the caller.
ONLY_IN = {
    "Spi::": ["postgres/statement.rs"],
    "Caller::of_call(": ["functions/", "indexing/attached/trigger.rs", "postgres/role.rs"],
    ".as_caller(": ["administration/check/questions.rs", "indexing/attached/step/deletion.rs", "indexing/indexer.rs", "tuning/worker.rs"],
}
# The folders of a crate, from top to bottom. Those in one row do not import each other.
LAYERS = {
    "src": ["functions", "evaluation reports tuning", "administration", "search indexing", "models", "tables", "settings", "postgres"],
    "crates/docsearch-core/src": ["evaluation usage", "answer", "ranking", "index", "query", "documents models", "text", "postgres values"],
    "crates/docsearch-cli/src": ["fuzz", "commands evaluation serving", "loading", "crawling sources", "library", "connection",
                                 "terminal", "process"],
    "crates/docsearch-readers/src": ["fuzz", "document", "page_questions detection", "formats", "folder", "bytes", "draft site",
                                     "text file error"],
}
MOST_LAYERS = 8
# Recursive descent: a block holds directives and tables, which hold blocks.
RECURSIVE = {"formats/rst/block", "formats/rst/directive", "formats/rst/table"}
# Files in documents are relative to one of PLACES, or full paths.
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/architecture.md"]
CORE = ROOT / "crates" / "docsearch-core" / "src"
FOLDERS = [ROOT / crate / folder for crate, rows in LAYERS.items() for row in rows for folder in row.split()]
PLACES = [ROOT, ROOT / "crates", *(ROOT / crate for crate in LAYERS), *FOLDERS]
PATH = re.compile(r"`([\w.-]+/[\w./-]*)`")
MODULE = re.compile(r"`core::([\w:]+)`")
FILE = re.compile(r"`(\w+)`")
# Files that exist only after a run, and placeholders.
MADE = re.compile(r"(target|pgsql_tmp_docsearch)/|.*\b(NAME|FORMAT|NNNN)\b")


def without_comments(text):
    return re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)


def paths(tree, prefix=()):
    """The paths of a use tree such as `a::{b, c::d}`."""
    head, brace, rest = tree.partition("{")
    names = tuple(name.strip() for name in head.split("::") if name.strip())
    if not brace:
        yield prefix + names
        return
    depth, part = 0, ""
    for letter in rest.rstrip()[:-1] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part.strip():
                yield from paths(part, prefix + names)
            part = ""
        else:
            part += letter


def modules(crate):
    """The files of a crate by the path of their module."""
    files = {}
    for file in sorted(crate.rglob("*.rs")):
        parts = file.relative_to(crate).with_suffix("").parts
        if parts not in [("lib",), ("main",)] and "tests" not in parts:
            files[parts] = file
    return files


def imports(module, text, files):
    """The modules that a file names with `crate::` or `super::`."""
    used = re.findall(r"\buse ((?:crate|super)::[^;]*);", text)
    found = [path for tree in used for path in paths(re.sub(r"\s+", " ", tree))]
    found += [tuple(path.split("::")) for path in re.findall(r"(?<!use )\b((?:crate|super)(?:::\w+)+)", text)]
    for path in found:
        here = () if path[0] == "crate" else module[: -1]
        path = path[1:]
        while path and path[0] == "super":
            here, path = here[:-1], path[1:]
        target = here + tuple(name.split(" ")[0] for name in path)
        while target and target not in files:
            target = target[:-1]
        if target and target != module:
            yield target


def circle(arrows):
    """A cycle of a graph, if it has one."""
    done, way = set(), []

    def visit(room):
        if room in way:
            return way[way.index(room) :] + [room]
        if room in done:
            return None
        way.append(room)
        for other in sorted(arrows.get(room, ())):
            found = visit(other)
            if found:
                return found
        way.pop()
        done.add(room)
        return None

    for room in sorted(arrows):
        found = visit(room)
        if found:
            return found
    return None


def problems(crate):
    rows = LAYERS.get(str(crate.relative_to(ROOT)), [])
    if len(rows) > MOST_LAYERS:
        yield f"{crate.relative_to(ROOT)} has {len(rows)} layers, more than {MOST_LAYERS}"
    layers = {folder: row for row, folders in enumerate(rows) for folder in folders.split()}
    files = modules(crate)
    between_files, between_units = {}, {}
    units = 2 if rows else 1
    for module, file in files.items():
        if rows and module[0] not in layers:
            yield f"{file.relative_to(ROOT)} is in no layer"
            continue
        text = without_comments(file.read_text().split("#[cfg(test)]\nmod tests {")[0])
        for target in imports(module, text, files):
            if rows and module[0] != target[0] and layers[module[0]] >= layers.get(target[0], len(rows)):
                yield f"{file.relative_to(ROOT)} imports {'::'.join(target)}, which is not below it"
            family = module[: len(target)] == target or target[: len(module)] == module
            if not family and not {"/".join(module), "/".join(target)} <= RECURSIVE:
                between_files.setdefault("/".join(module), set()).add("/".join(target))
            if module[:units] != target[:units]:
                between_units.setdefault("/".join(module[:units]), set()).add("/".join(target[:units]))
    for arrows in between_files, between_units:
        found = circle(arrows)
        if found:
            yield f"{crate.relative_to(ROOT)}: {' -> '.join(found)}"


def misplaced():
    """Uses of ONLY_IN in other files of the extension."""
    for module, file in modules(ROOT / "src").items():
        text, name = without_comments(file.read_text()), "/".join(module) + ".rs"
        for what, places in ONLY_IN.items():
            if what in text and not name.startswith(tuple(places)):
                yield f"{file.relative_to(ROOT)} has {what}, which is for {', '.join(places)}"


def script_imports(text):
    """The modules that a script imports, also within functions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def script_problems():
    files = {file.stem: file for file in (ROOT / "scripts").glob("*.py")}
    found = circle({name: files.keys() & script_imports(file.read_text()) for name, file in files.items()})
    if found:
        yield f"scripts: {' -> '.join(found)}"


def is_there(places, path):
    return any((place / end).exists() for place in places for end in (path, f"{path.rstrip('/')}.rs"))


def missing(document):
    """Missing paths, modules of the core, and files in tables of folders that a document names in backticks."""
    for line in (ROOT / document).read_text().splitlines():
        names = [(PLACES, path) for path in PATH.findall(line) if not MADE.match(path)]
        names += [([CORE], path.replace("::", "/")) for path in MODULE.findall(line)]
        if row := re.fullmatch(r"\| `(?:core::(\w+)|(\w+)/)` \|.*\|(.*)\|", line):
            places = [folder for folder in FOLDERS if folder.name == (row[1] or row[2]) and (folder.parent == CORE) == bool(row[1])]
            names += [(places, name) for name in FILE.findall(row[3]) if places]
        yield from (f"{document} names {path}, which is missing" for places, path in names if not is_there(places, path))


def main():
    found = [problem for crate in CRATES for problem in problems(crate)]
    found += misplaced()
    found += script_problems()
    found += [problem for document in DOCUMENTS for problem in missing(document)]
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
