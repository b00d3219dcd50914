"""Builds Debian packages from the parts of a build."""

import gzip
import hashlib
import os
import re
import shutil
import tempfile
from email.utils import formatdate
from pathlib import Path

import cross
import toolchain
from commands import output
from parts import Parts, empty, epoch, is_elf, maintainer, versions, wanted

DESCRIPTION = toolchain.ROOT / "packaging" / "deb"
RUNTIME = "pgdocsearch-runtime"
PROGRAM = "pgdocsearch"
# Debian's folders, whatever the pg_config of the build says.
LIBRARY = "usr/lib/postgresql/{major}/lib"
SHARE = "usr/share/postgresql/{major}"
FOLDER = "pg_docsearch"
# Where dpkg finds libraries for another processor.
SEARCHED = [f"-l{cross.SYSROOT}/lib"] if cross.IS_CROSS else []


def build(parts: Parts, finished: Path) -> list[Path]:
    """Builds three packages: for this major version, for what all versions share, and for the program."""
    version = f"{toolchain.version()}-{os.environ.get('REVISION') or 1}"
    extension = f"postgresql-{parts.major}-pgdocsearch"
    layouts = {extension: lay_extension, RUNTIME: lay_runtime, PROGRAM: lay_program}
    packed = []
    finished.mkdir(parents=True, exist_ok=True)
    for name, lay in layouts.items():
        root = empty(finished / "work" / name)
        lay(parts, root)
        document(name, root, version)
        control(name, root, version, parts.major)
        for path in (root, *root.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or is_program(path) else 0o644)
        packed.append(finished / f"{name}_{version}_{cross.ARCHITECTURE}.deb")
        output("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, packed[-1])
    shutil.rmtree(finished / "work")
    return packed


def is_program(path: Path) -> bool:
    """Whether a file should be executable. Debian's libraries are not."""
    return is_elf(path) and ".so" not in path.name


def lay_extension(parts: Parts, root: Path) -> None:
    """The library and SQL of one major version, and links to the shared files."""
    library, share = (root / path.format(major=parts.major) for path in (LIBRARY, SHARE))
    shutil.copytree(parts.extension / "lib", library, ignore=only_here(parts.extension / "lib" / FOLDER))
    shutil.copytree(parts.extension / "share", share, ignore=only_here(parts.extension / "share" / FOLDER))
    link(library / FOLDER, root / "usr/lib/pgdocsearch", root)
    # The folder itself is real, since users' models belong there, too.
    for model in sorted((parts.extension / "share" / FOLDER / "models").iterdir()):
        link(share / FOLDER / "models" / model.name, root / "usr/share/pgdocsearch/models" / model.name, root)


def only_here(folder: Path):
    """For copytree: leaves one folder out."""
    return lambda place, names: [name for name in names if Path(place, name) == folder]


def link(place: Path, target: Path, root: Path) -> None:
    """A relative link, as Debian's policy requires below the same top-level directory."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent))


def lay_runtime(parts: Parts, root: Path) -> None:
    """The inference program, ONNX Runtime and the model."""
    shutil.copytree(parts.extension / "lib" / FOLDER, root / "usr/lib/pgdocsearch")
    shutil.copytree(parts.extension / "share" / FOLDER / "models", root / "usr/share/pgdocsearch/models")
    documentation = root / "usr/share/doc" / RUNTIME
    documentation.mkdir(parents=True)
    notices = root / "usr/lib/pgdocsearch"
    (notices / "LICENSE").unlink()
    compress((notices / "ThirdPartyNotices.txt").read_bytes(), documentation / "ThirdPartyNotices.txt.gz")
    (notices / "ThirdPartyNotices.txt").unlink()
    for model in (root / "usr/share/pgdocsearch/models").iterdir():
        (model / "LICENSE").unlink()
    units = root / "usr/lib/systemd/system/postgresql@.service.d"
    units.mkdir(parents=True)
    shutil.copy(toolchain.ROOT / "packaging/systemd/postgresql.conf", units / "pg_docsearch.conf")


def lay_program(parts: Parts, root: Path) -> None:
    """The staged program, with compressed pages and without the licence, which is in `copyright`."""
    shutil.copytree(parts.program, root / "usr")
    documentation = root / "usr/share/doc"
    shutil.move(documentation / "docsearch", documentation / PROGRAM)
    for name in ("LICENSE", "NOTICE"):
        (documentation / PROGRAM / name).unlink()
    (documentation / PROGRAM / "examples").mkdir()
    shutil.move(documentation / PROGRAM / "serve.env.example", documentation / PROGRAM / "examples" / "serve.env")
    shutil.move(root / "usr/share/zsh/site-functions", root / "usr/share/zsh/vendor-completions")
    for page in sorted((root / "usr/share/man/man1").iterdir()):
        compress(page.read_bytes(), page.with_name(f"{page.name}.gz"))
        page.unlink()


def compress(data: bytes, target: Path) -> None:
    """gzip -9n."""
    target.write_bytes(gzip.compress(data, 9, mtime=0))


def document(name: str, root: Path, version: str) -> None:
    """The licences of the contents, and the changelog."""
    place = root / "usr/share/doc" / name
    place.mkdir(parents=True, exist_ok=True)
    texts = [(DESCRIPTION / "copyright").read_text(), (toolchain.ROOT / "LICENSE").read_text(),
             (toolchain.ROOT / "NOTICE").read_text()]
    if name == RUNTIME:
        texts += ["ONNX Runtime\n\n" + (toolchain.onnxruntime() / "LICENSE").read_text()]
    (place / "copyright").write_text("\n".join(texts))
    changes = (f"{name} ({version}) unstable; urgency=medium\n\n  * changelog.gz says what has changed for users.\n\n"
               f" -- {maintainer()}  {formatdate(epoch())}\n")
    compress(changes.encode(), place / "changelog.Debian.gz")
    compress((toolchain.ROOT / "CHANGELOG.md").read_bytes(), place / "changelog.gz")
    overrides = DESCRIPTION / f"{'extension' if name.startswith('postgresql') else name}.lintian-overrides"
    if overrides.is_file():
        (root / "usr/share/lintian/overrides").mkdir(parents=True)
        (root / "usr/share/lintian/overrides" / name).write_text(overrides.read_text().replace("@package@", name))


def control(name: str, root: Path, version: str, major: int) -> None:
    """The control file. Its dependencies are the libraries whose symbols are used."""
    (root / "DEBIAN").mkdir()
    template = DESCRIPTION / f"{'extension' if name.startswith('postgresql') else name}.control"
    files = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    sizes = sum(-(-path.lstat().st_size // 1024) for path in root.rglob("*") if not path.is_dir())
    values = {"package": name, "version": version, "architecture": cross.ARCHITECTURE,
              "maintainer": maintainer(), "major": str(major), "libraries": libraries(files), "size": str(sizes),
              **wanted(major)}
    text = template.read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in files]
    (root / "DEBIAN" / "control").write_text(text)
    (root / "DEBIAN" / "md5sums").write_text("".join(sums))


def libraries(files: list[Path]) -> str:
    """The packages of the linked libraries, in the versions that have the symbols."""
    linked = [path for path in files if is_elf(path)]
    with tempfile.TemporaryDirectory() as place:
        # dpkg-shlibdeps must run in the folder where a package is built.
        (Path(place) / "debian").mkdir()
        (Path(place) / "debian" / "control").write_text("Source: pgdocsearch\n\nPackage: pgdocsearch\nArchitecture: any\n")
        found = output("dpkg-shlibdeps", "-O", "--warnings=0", *SEARCHED, *(f"-e{path}" for path in linked),
                       env={**os.environ, "DEB_HOST_ARCH": cross.ARCHITECTURE}, cwd=place)
    named = found.strip().removeprefix("shlibs:Depends=")
    if cross.IS_CROSS:
        # Lists the packages of the cross compiler, and the C library's own version instead of that of the symbols.
        newest = ".".join(map(str, max(versions(path) for path in linked)))
        named = re.sub(r":\w+\b", "", named.replace(f"-{cross.ARCHITECTURE}-cross", ""))
        named = re.sub(r"\blibc6 \([^)]*\)", f"libc6 (>= {newest})", named)
    return named
