#!/usr/bin/env python3
"""Builds earlier versions of the extension from their commits, for the upgrade tests."""

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import install
import toolchain
from commands import run

def script(version: str) -> Path:
    """The install script of a released version."""
    return install.RELEASES.parent / f"pg_docsearch--{version}.sql"


def lacking(version: str) -> str | None:
    """Why a released version cannot be built here, if the sources have no history."""
    commit = install.releases()[version]
    known = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=toolchain.ROOT, capture_output=True)
    shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=toolchain.ROOT, capture_output=True, text=True)
    if known.returncode == 0 or shallow.stdout.strip() == "false":
        return None
    return f"version {version} is built from commit {commit[:10]}, and these sources have no history"


def staged(version: str, installation: install.Installation) -> Path:
    """A released version, built in the dev profile and laid out as `install.copy` takes it."""
    commit = install.releases()[version]
    target = toolchain.CACHE / f"release-{version}-pg{installation.major}-{commit[:10]}"
    return toolchain.ensure_directory(target, f"pg_docsearch {version} for PostgreSQL {installation.major}",
                                      lambda directory: build(version, commit, installation, directory))


def build(version: str, commit: str, installation: install.Installation, directory: Path) -> None:
    """Fills a directory with `share` and `lib` of a released version."""
    source = directory / "source"
    archive = directory / "source.tar"
    done = subprocess.run(["git", "archive", "--output", str(archive), commit], cwd=toolchain.ROOT)
    if done.returncode != 0:
        raise SystemExit(f"The tests of upgrades build version {version} from commit {commit[:10]}, which is not "
                         "here: git fetch --unshallow, or git fetch --tags.")
    with tarfile.open(archive) as tar:
        # Pythons before 3.11.4 have no filters; the archive is our own.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(source)
    # Not the name of the checkout's library, since both share the target directory.
    built_as = f"released_{re.sub('[^0-9]', '_', version)}"
    manifest = (source / "Cargo.toml").read_text()
    (source / "Cargo.toml").write_text(manifest.replace("[lib]\n", f'[lib]\nname = "{built_as}"\n', 1))
    environment = toolchain.build_environment(installation.pg_config)
    feature = f"pg_docsearch/pg{installation.major}"
    for arguments in (("pg_docsearch", "--lib", "--no-default-features", "--features", feature),
                      ("docsearch-inference",)):
        command = ["cargo", "build", "--quiet", "--locked", "--profile", "dev", "--package", *arguments]
        if subprocess.run(command, cwd=source, env=environment).returncode != 0:
            raise SystemExit(f"pg_docsearch {version} did not build")
    built = toolchain.built("dev")
    library, extension = directory / "lib", directory / "share" / "extension"
    extension.mkdir(parents=True)
    shutil.copytree(toolchain.onnxruntime(), library / "pg_docsearch")
    shutil.copytree(toolchain.model(), directory / "share" / "pg_docsearch" / "models" / toolchain.MODEL_NAME)
    shutil.copy(built / install.PROGRAM, library / "pg_docsearch")
    name = install.library_name(version)
    shutil.copy(built / f"lib{built_as}.so", library / f"{name}.so")
    run("strip", "--strip-debug", library / f"{name}.so")
    shutil.copy(script(version), extension)
    control = (source / "pg_docsearch.control").read_text()
    control = control.replace("@CARGO_VERSION@", version).replace("@LIBRARY@", name)
    (extension / "pg_docsearch.control").write_text(control)
    shutil.rmtree(source)
    archive.unlink()


if __name__ == "__main__":
    found = install.Installation.find(str(toolchain.postgres_pg_config()))
    for each in install.releases():
        print(staged(each, found))
