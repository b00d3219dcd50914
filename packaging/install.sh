#!/bin/sh
# Installs pg_docsearch into a PostgreSQL server, or uninstalls it.
set -eu
umask 022

major=@major@
machine=@machine@
glibc=@glibc@

usage() {
    cat <<END
usage: ./install.sh --pg-config PATH [--prefix DIR] [--destdir DIR] [--uninstall]

  --pg-config PATH  pg_config of a PostgreSQL $major server
  --prefix DIR      also install the program docsearch, with manual pages and completions, such as below /usr/local
  --destdir DIR     install below this folder, for a package, without checks of the server
  --uninstall       remove the installed files; your own models stay
END
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

# Whether a version, without what follows its numbers, is before another one.
is_before() {
    numbers=$(echo "$1" | sed -n 's/^\([0-9][0-9.]*\).*/\1/p')
    [ -n "$numbers" ] && [ "$(printf '%s\n' "$numbers.0.0.0" "$2" | sort -V | head -n 1)" != "$2" ]
}

pg_config='' prefix='' destdir='' uninstall=''
while [ $# -gt 0 ]; do
    case "$1" in
        --pg-config | --prefix | --destdir)
            [ $# -gt 1 ] || fail "$1 needs a value"
            case "$1" in
                --pg-config) pg_config=$2 ;;
                --prefix) prefix=$2 ;;
                *) destdir=$2 ;;
            esac
            shift
            ;;
        --uninstall) uninstall=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
[ -n "$pg_config" ] || { usage >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)

version=$("$pg_config" --version 2>/dev/null) || fail "$pg_config is not a pg_config"
case "$version" in
    "PostgreSQL $major."* | "PostgreSQL ${major}"[a-z]*) ;;
    "PostgreSQL "*) fail "$pg_config belongs to $version; this package is for PostgreSQL $major" ;;
    *) fail "$pg_config is not a pg_config" ;;
esac
share=$("$pg_config" --sharedir)
library=$("$pg_config" --pkglibdir)

# The list of `make install`: each line is a file, or with a slash at its end a directory that was created.
remove() {
    [ -f "$1" ] || fail "$1 does not exist: make install or install.sh installed nothing here"
    lines=$(sort -r "$1")
    echo "$lines" | while IFS= read -r line; do
        case "$line" in
            */) ;;
            *) rm -f -- "$line" ;;
        esac
    done
    echo "$lines" | while IFS= read -r line; do
        case "$line" in
            */) rmdir -- "$line" 2>/dev/null || true ;;
        esac
    done
}

# Creates missing directories and prints each with a slash, the outermost first.
make_directories() {
    [ -d "$1" ] && return
    make_directories "$(dirname "$1")"
    mkdir -- "$1"
    echo "$1/"
}

# Copies a tree and prints its files. Each is renamed into place, because a server may have mapped the old one.
put() {
    find "$1" -type f | sort | while IFS= read -r file; do
        target=$2${file#"$1"}
        make_directories "$(dirname "$target")"
        cp -- "$file" "$target.new"
        chmod "$(if [ -x "$file" ]; then echo 755; else echo 644; fi)" "$target.new"
        mv -f -- "$target.new" "$target"
        echo "$target"
    done
}

# Copies trees of files and lists them. Files of an earlier version stay in the list.
install_noted() {
    record=$1
    shift
    noted=$(mktemp)
    trap 'rm -f "$noted"' EXIT
    make_directories "$(dirname "$record")" > "$noted"
    while [ $# -gt 0 ]; do
        put "$1" "$2" >> "$noted"
        shift 2
    done
    if [ -z "$destdir" ]; then
        echo "$record" >> "$noted"
        [ ! -f "$record" ] || cat "$record" >> "$noted"
        sort -u "$noted" > "$record.new"
        mv -f -- "$record.new" "$record"
    fi
    rm -f "$noted"
}

if [ -n "$uninstall" ]; then
    remove "$share/pg_docsearch/installed"
    [ -z "$prefix" ] || remove "$prefix/share/doc/docsearch/installed"
    echo "pg_docsearch is removed from PostgreSQL $major."
    exit 0
fi

if [ -z "$destdir" ]; then
    [ "$(uname -sm)" = "Linux $machine" ] || fail "this package is for Linux on $machine, not $(uname -sm)"
    libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || fail "this package needs glibc: ONNX Runtime does not run with musl"
    [ "$(printf '%s\n' "$glibc" "${libc#glibc }" | sort -V | head -n 1)" = "$glibc" ] ||
        fail "this package needs glibc $glibc or newer, but this is ${libc#glibc }"
    for name in vector pg_trgm btree_gin; do
        [ -f "$share/extension/$name.control" ] || fail "PostgreSQL $major in $share lacks the extension $name: install it
first (pgvector in Debian: postgresql-$major-pgvector; the others are in contrib)"
    done
    server=${version#PostgreSQL }
    vector=$(sed -n "s/^ *default_version *= *'\([^']*\)'.*/\1/p" "$share/extension/vector.control")
    # Each line: product, first version without the fault, whether older ones are refused, first version without faults, the fault.
    while read -r product good refused safe fault; do
        case "$product" in
            PostgreSQL) found=$server ;;
            *) found=$vector ;;
        esac
        is_before "$found" "$good" || continue
        [ "$refused" = no ] || fail "PostgreSQL $major in $share has $product $found: $fault; install $good or newer"
        echo "install.sh: WARNING: $product $found has a known fault, $fault. Use $safe or newer." >&2
    done <<'END'
@faults@
END
    [ -w "$share/extension" ] && [ -w "$library" ] || fail "you may not write to $library: run this as root"
fi

install_noted "$destdir$share/pg_docsearch/installed" "$here/share" "$destdir$share" "$here/lib" "$destdir$library"
if [ -n "$prefix" ]; then
    install_noted "$destdir$prefix/share/doc/docsearch/installed" "$here/program" "$destdir$prefix"
    unit=$destdir$prefix/lib/systemd/system/docsearch.service
    sed "s,^ExecStart=/usr/bin/,ExecStart=$prefix/bin/," "$unit" > "$unit.new"
    mv -f -- "$unit.new" "$unit"
fi
echo "pg_docsearch is installed in PostgreSQL $major. In a UTF-8 database:
  CREATE EXTENSION pg_docsearch CASCADE;"
