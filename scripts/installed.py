"""Records installed files, so that exactly these can be removed.

A line is a file or, with a slash at its end, a directory that was created for one. Directories are removed only when
they are empty: models that users have added stay.
"""

import os
from collections.abc import Iterable
from pathlib import Path


def note(record: Path, files: Iterable[Path]) -> None:
    """Adds files to a record, before they are written. Files of an earlier version stay in it."""
    files = [*files, record]
    made = {f"{parent}/" for file in files for parent in file.parents if not parent.exists()}
    lines = {str(file) for file in files} | made
    if record.is_file():
        lines |= set(record.read_text().splitlines())
    for directory in reversed([parent for parent in record.parents if not parent.exists()]):
        directory.mkdir()
        directory.chmod(0o755)
    record.write_text("".join(f"{line}\n" for line in sorted(lines)))
    record.chmod(0o644)


def remove(record: Path) -> int:
    """Removes the files of a record, and the record. Returns their number."""
    if not record.is_file():
        raise SystemExit(f"{record} does not exist: nothing was installed by make install or install.sh here.")
    lines = record.read_text().splitlines()
    files = [Path(line) for line in lines if not line.endswith("/")]
    found = [file for file in files if os.path.lexists(file)]
    for file in found:
        file.unlink()
    for directory in sorted((line for line in lines if line.endswith("/")), reverse=True):
        try:
            os.rmdir(directory)
        except OSError:
            continue
    return len(found)
