#!/usr/bin/env python3
"""Builds the images of docker/ without a daemon, and searches through SQL and HTTP.

Needs root, buildah and debootstrap. Official images are replaced by images of the same names, made from bare Debian
systems and this machine's tool chain. Processes, network and users are those of the machine, so the server listens only
on its socket and at 127.0.0.1.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import debian_root
import toolchain
from commands import output

MAJOR = 17
STORE = toolchain.target_directory() / "images"
POSTGRES = f"docker.io/library/postgres:{MAJOR}-trixie"
RUST = "docker.io/library/rust:1.95-slim-trixie"
DEBIAN = "docker.io/library/debian:trixie-slim"
# This machine's authorities, since it may be behind a proxy.
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
PORT, HTTP = 15432, 18765
SECRETS = ("postgres_password", "web_password", "editor_password")
PATIENCE_SECONDS = 120
QUERY = "how do I make a button"


def buildah(*arguments: str | Path) -> str:
    """Runs buildah, with a store of its own."""
    command = ["buildah", "--root", STORE / "root", "--runroot", STORE / "run", "--storage-driver", "overlay", *arguments]
    return output(*command).strip()


def image(name: str) -> bool:
    """Whether an image is in the store."""
    return name in buildah("images", "--format", "{{.Name}}:{{.Tag}}").split()


def stand_in(name: str, archive: Path, *settings: str, files: dict[Path, Path | str] | None = None) -> None:
    """Makes an image of an archive and further files, under the name of an official image."""
    if image(name):
        return
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, archive, "/")
    for source, place in {AUTHORITIES: AUTHORITIES, **(files or {})}.items():
        buildah("copy", "--quiet", container, source, place)
    buildah("config", *settings, container)
    buildah("commit", "--quiet", "--rm", "--format", "docker", container, name)


def bases() -> None:
    """Makes replacements for the three official images that the Dockerfiles name."""
    stand_in(DEBIAN, debian_root.bare(), "--cmd", "bash")
    server = debian_root.with_packages(f"server{MAJOR}", [f"postgresql-{MAJOR}"])
    path = f"/usr/lib/postgresql/{MAJOR}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    entrypoint = toolchain.ROOT / "tests" / "images" / "docker-entrypoint.sh"
    stand_in(POSTGRES, server, "--env", f"PATH={path}", "--env", "PGDATA=/var/lib/postgresql/data",
             "--entrypoint", '["docker-entrypoint.sh"]', "--cmd", "postgres",
             files={entrypoint: "/usr/local/bin/docker-entrypoint.sh"})
    sysroot = Path(output("rustc", "--print", "sysroot", cwd=toolchain.ROOT).strip())
    compiler = debian_root.with_packages("compiler", ["gcc", "libc6-dev", "make"])
    links = STORE / "cargo-bin"
    shutil.rmtree(links, ignore_errors=True)
    links.mkdir(parents=True)
    for program in ("cargo", "rustc"):
        (links / program).symlink_to(f"/usr/local/rustup/toolchain/bin/{program}")
    stand_in(RUST, compiler, "--env", "CARGO_HOME=/usr/local/cargo", "--env", f"PATH=/usr/local/cargo/bin:{path}",
             files={sysroot / "bin": "/usr/local/rustup/toolchain/bin", sysroot / "lib": "/usr/local/rustup/toolchain/lib",
                    links: "/usr/local/cargo/bin"})


def build(name: str, dockerfile: str, *options: str) -> None:
    """Builds an image, with this machine's caches in place of the cache mounts."""
    began = time.monotonic()
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    volumes = []
    for source, target in ((cargo / "registry", "/usr/local/cargo/registry"),
                           (toolchain.CACHE, "/root/.cache/pg_docsearch"), (STORE / "target", "/src/target")):
        source.mkdir(parents=True, exist_ok=True)
        volumes += ["--volume", f"{source}:{target}"]
    # Without the cache mounts, which would be empty and hide the volumes.
    text = (toolchain.ROOT / "docker" / dockerfile).read_text()
    text = re.sub(r"--mount=type=cache,target=\S+ ?", "", text)
    copy = STORE / f"{name}.Dockerfile"
    copy.write_text(text)
    command = ["buildah", "--root", STORE / "root", "--runroot", STORE / "run", "--storage-driver", "overlay", "build",
               "--isolation", "chroot", "--format", "docker", "--pull-never", *volumes, *options,
               "--file", copy, "--tag", name, toolchain.ROOT]
    if subprocess.run([str(part) for part in command]).returncode != 0:
        raise SystemExit(f"docker/{dockerfile} did not build")
    print(f"{name}: built in {time.monotonic() - began:.0f} s", flush=True)


@contextmanager
def running(name: str, options: list[str], command: list[str]):
    """A running container of an image. A signal to its command ends it."""
    container = buildah("from", "--pull-never", name)
    prefix = ["buildah", "--root", STORE / "root", "--runroot", STORE / "run", "--storage-driver", "overlay", "run",
              "--isolation", "chroot", *options, container, "--"]
    process = subprocess.Popen([str(part) for part in [*prefix, *command]], start_new_session=True)
    try:
        yield container
    finally:
        os.killpg(process.pid, 2)
        try:
            process.wait(PATIENCE_SECONDS)
        finally:
            buildah("rm", container)


def inside(container: str, *command: str, options: tuple[str, ...] = ()) -> str:
    """The output of a program in a running container."""
    return buildah("run", "--isolation", "chroot", *options, container, "--", *command)


def wait(what: str, ready) -> None:
    """Waits until `ready` succeeds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ready()
        except (SystemExit, urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise SystemExit(f"FAILED: {what} is not ready") from None
            time.sleep(1)


def answer(path: str, **arguments: str) -> dict:
    """The response of the front end."""
    address = f"http://127.0.0.1:{HTTP}{path}?{urllib.parse.urlencode(arguments)}"
    with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as reply:
        return json.load(reply)


def search(server: str, program: str) -> None:
    """Indexes the example pages with one image, and searches with both."""
    secrets = STORE / "secrets"
    secrets.mkdir(exist_ok=True)
    for name in SECRETS:
        (secrets / name).write_text(f"{name}-of-the-test")
        (secrets / name).chmod(0o644)
    roles = toolchain.ROOT / "docker" / "roles.sh"
    options = ["--env", "POSTGRES_PASSWORD_FILE=/run/secrets/postgres_password", "--env", f"PGPORT={PORT}",
               "--volume", f"{secrets}:/run/secrets:ro", "--volume", f"{roles}:/docker-entrypoint-initdb.d/20-roles.sh:ro"]
    url = f"postgres://%s@127.0.0.1:{PORT}/postgres"
    program_image = buildah("from", "--pull-never", program)
    with running(server, options, ["docker-entrypoint.sh", "postgres", "-c", "listen_addresses=127.0.0.1"]) as database:
        wait("the server", lambda: inside(database, "pg_isready", "--quiet", "--host=127.0.0.1", f"--port={PORT}"))
        example = toolchain.ROOT / "examples" / "swiftui"
        print(inside(program_image, "docsearch", "index", "/docs", "--project", "swiftui", options=(
            "--env", f"DOCSEARCH_URL={url % 'editor'}", "--env", "PGPASSWORD=editor_password-of-the-test",
            "--volume", f"{example}:/docs:ro")))
        found = inside(database, "psql", "-h", "/var/run/postgresql", "-p", str(PORT), "-U", "postgres", "-XAtc",
                       f"SELECT slug FROM search_docs('{QUERY}') LIMIT 1")
        print(f"SQL: {found}")
        if "button" not in found:
            raise SystemExit(f"FAILED: the search found {found!r}")
        connection = ["--env", f"DOCSEARCH_URL={url % 'web'}", "--env", "PGPASSWORD=web_password-of-the-test"]
        with running(program, connection, ["docsearch", "serve", f"127.0.0.1:{HTTP}"]) as front:
            wait("the front end", lambda: answer("/healthz"))
            result = answer("/v1/search", query=QUERY)
            print(f"HTTP: {json.dumps(result)[:200]}")
            if "button" not in json.dumps(result["results"][0]):
                raise SystemExit("FAILED: the front end found something else")
            inside(front, "docsearch", "status", "--format", "json", options=tuple(connection))
    buildah("rm", program_image)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=("source", "deb"), default="source",
                        help="compile the extension, or install the packages in target/deb")
    options = parser.parse_args()
    if shutil.which("buildah") is None or os.geteuid() != 0:
        raise SystemExit("the images are built with buildah (apt install buildah), as root")
    STORE.mkdir(parents=True, exist_ok=True)
    bases()
    build("docsearch", "serve/Dockerfile", "--target", options.target)
    build("pg_docsearch", "postgres/Dockerfile", "--build-arg", f"PG_MAJOR={MAJOR}", "--target", options.target)
    search("localhost/pg_docsearch:latest", "localhost/docsearch:latest")
    print("passed: images of docker/, one search each through SQL and HTTP")


if __name__ == "__main__":
    main()
