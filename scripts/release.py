#!/usr/bin/env python3
"""Makes a release: `make release VERSION=0.3.0`.

Cargo.toml has the version to release. The argument repeats it, so that nothing is released by mistake. The steps:
everything is checked, and nothing is written while something is not ready; the changelog's section Unreleased gets the
version and the date; the install script is copied to sql/releases for tests and the loader; META.json and NOTICE are
written; linter and tests run; the release is committed and tagged. A second commit begins the next version with an
empty upgrade script and the new number.
"""

import argparse
import datetime
import json
import re
import subprocess
import sys

import install
import released
import toolchain

ROOT = toolchain.ROOT
CHANGELOG = ROOT / "CHANGELOG.md"
MANIFEST = ROOT / "Cargo.toml"
UPGRADES = ROOT / "sql" / "upgrade"
UNRELEASED = "## [Unreleased]"
NUMBER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
EMPTY_UPGRADE = "-- What a replaced function cannot be: another signature.\n"


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version. Ends the program if it is not a version."""
    if not NUMBER.fullmatch(version):
        raise SystemExit(f"{version} is no version: MAJOR.MINOR.PATCH is, without leading zeros.")
    return tuple(map(int, version.split(".")))


def run(*command: str, quiet: bool = False) -> str:
    """Runs a command in the checkout, and ends the program if it fails."""
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE if quiet else None)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with status {done.returncode}; nothing was committed.")
    return (done.stdout or "").strip()


def unreleased() -> str:
    """The section Unreleased of the changelog."""
    text = CHANGELOG.read_text()
    if UNRELEASED not in text:
        raise SystemExit(f"CHANGELOG.md has no section {UNRELEASED}.")
    return re.split(r"^## ", text.split(UNRELEASED, 1)[1], maxsplit=1, flags=re.MULTILINE)[0].strip()


def problems(version: str, following: str) -> list[str]:
    """What is not ready, one sentence each."""
    found = []
    if toolchain.version() != version:
        found.append(f"Cargo.toml is at {toolchain.version()}, not {version}.")
    last = max(install.releases(), key=numbers)
    if numbers(version) <= numbers(last):
        found.append(f"{last} is released, and {version} does not come after it.")
    if numbers(following) <= numbers(version):
        found.append(f"NEXT={following} does not come after {version}.")
    if "- " not in unreleased():
        found.append("CHANGELOG.md says nothing under Unreleased.")
    for earlier in install.releases():
        if not (UPGRADES / f"{earlier}.sql").is_file():
            found.append(f"sql/upgrade has no {earlier}.sql: how does one come from {earlier} to {version}?")
        if not released.script(earlier).is_file():
            found.append(f"sql/releases lacks the install script of {earlier}.")
    if run("git", "status", "--porcelain", quiet=True):
        found.append("The checkout has changes that are not committed.")
    if run("git", "tag", "--list", f"v{version}", quiet=True):
        found.append(f"There is a tag v{version}.")
    return found


def set_version(version: str) -> None:
    """Writes the version into Cargo.toml and the files that repeat it."""
    text, count = re.subn(r'(?m)^version = "[^"]+"$', f'version = "{version}"', MANIFEST.read_text(), count=1)
    if count != 1:
        raise SystemExit("Cargo.toml has no version.")
    MANIFEST.write_text(text)
    run("cargo", "update", "--quiet", "--workspace", "--offline")


def keep_script(version: str) -> None:
    """Copies the install script of the release to sql/releases."""
    staged = install.build(install.Installation.find(str(toolchain.postgres_pg_config())), "release")
    script = (staged / "share" / "extension" / f"pg_docsearch--{version}.sql").read_text()
    for earlier in install.releases():
        if install.library_name(earlier) == install.library_name(version) and (
                functions(script) != functions(released.script(earlier).read_text())):
            raise SystemExit(f"{earlier} has other functions and the same library, "
                             f"{install.library_name(version)}.so: release the next minor version instead.")
    released.script(version).write_text(script)


def functions(script: str) -> set[str]:
    """The functions of the library that an install script declares, with their arguments."""
    created = re.findall(r"^CREATE\s+FUNCTION .*?;$", script, flags=re.DOTALL | re.MULTILINE)
    return {text for text in created if "MODULE_PATHNAME" in text}


def remember(version: str, commit: str) -> None:
    """Records the commit of a release for the upgrade tests."""
    known = {**install.releases(), version: commit}
    install.RELEASES.write_text(json.dumps(known, indent=4) + "\n")


def date_changelog(version: str) -> None:
    """Gives the section Unreleased its version and today's date."""
    today = datetime.date.today().isoformat()
    CHANGELOG.write_text(CHANGELOG.read_text().replace(UNRELEASED, f"{UNRELEASED}\n\n## [{version}] - {today}", 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="version to release, equal to that in Cargo.toml")
    parser.add_argument("--next", help="version to develop afterwards (default: the next minor version)")
    parser.add_argument("--check", action="store_true", help="print what is not ready, and write nothing")
    options = parser.parse_args()
    major, minor, _ = numbers(options.version)
    following = options.next or f"{major}.{minor + 1}.0"
    if found := problems(options.version, following):
        raise SystemExit("\n".join([*found, f"Nothing was changed; {options.version} is not released."]))
    if options.check:
        print(f"{options.version} is ready.")
        return
    date_changelog(options.version)
    keep_script(options.version)
    for step in ("notice", "lint", "test"):
        run("make", step)
    run("git", "add", "--all")
    run("git", "commit", "--quiet", f"--message=Version {options.version}")
    run("git", "tag", "--annotate", f"v{options.version}", f"--message=pg_docsearch {options.version}")
    remember(options.version, run("git", "rev-parse", "HEAD", quiet=True))
    (UPGRADES / f"{options.version}.sql").write_text(EMPTY_UPGRADE)
    set_version(following)
    run("git", "add", "--all")
    run("git", "commit", "--quiet", f"--message=Begin {following}")
    print(f"Version {options.version} is tagged v{options.version}, and {following} has begun. To publish:\n"
          f"  git push --follow-tags")


if __name__ == "__main__":
    sys.exit(main())
