//! File extensions, and the kinds of files that are not read.

use std::path::{Path, PathBuf};

use crate::file::manual_page;

/// Document formats that are not read.
const UNREAD: [&str; 34] = [
    ".azw3",
    ".chm",
    ".creole",
    ".dbk",
    ".dita",
    ".djvu",
    ".doc",
    ".docbook",
    ".dvi",
    ".fb2",
    ".info",
    ".key",
    ".mediawiki",
    ".mobi",
    ".odp",
    ".ods",
    ".odt",
    ".org",
    ".pages",
    ".pod",
    ".ppt",
    ".pptx",
    ".ps",
    ".rdoc",
    ".rtf",
    ".tex",
    ".texi",
    ".texinfo",
    ".textile",
    ".typ",
    ".wiki",
    ".xls",
    ".xlsx",
    ".xml",
];
/// Other files, by group.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "images",
        &[
            "avif", "bmp", "drawio", "eps", "gif", "graphml", "ico", "jpeg", "jpg", "png", "psd", "svg", "svgz", "tif",
            "tiff", "webp", "xcf",
        ],
    ),
    (
        "code",
        &[
            "astro", "bash", "bat", "c", "cc", "clj", "cmake", "cpp", "cs", "css", "cxx", "dart", "el", "erl", "ex",
            "exs", "fish", "fs", "go", "gradle", "h", "hh", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts",
            "less", "lua", "m", "map", "mjs", "ml", "nix", "php", "pl", "pm", "proto", "ps1", "py", "pyi", "r", "rb",
            "rs", "sass", "scala", "scss", "sh", "sql", "svelte", "swift", "tcl", "ts", "tsx", "vb", "vim", "vue",
            "zig", "zsh",
        ],
    ),
    (
        "data",
        &[
            "avro",
            "bib",
            "conf",
            "cfg",
            "csv",
            "db",
            "env",
            "ini",
            "inv",
            "json",
            "json5",
            "jsonl",
            "lock",
            "log",
            "ndjson",
            "parquet",
            "plist",
            "po",
            "pot",
            "properties",
            "sqlite",
            "toml",
            "tsv",
            "xsd",
            "xsl",
            "yaml",
            "yml",
        ],
    ),
    (
        "archives",
        &[
            "7z", "bz2", "deb", "gz", "jar", "rar", "rpm", "tar", "tgz", "whl", "xz", "zip", "zst",
        ],
    ),
    (
        "media",
        &[
            "aac", "avi", "flac", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "ogg", "ogv", "opus", "wav", "webm",
        ],
    ),
    ("fonts", &["eot", "otf", "ttf", "woff", "woff2"]),
    (
        "programs",
        &[
            "a", "bin", "class", "dll", "dylib", "exe", "lib", "o", "obj", "pyc", "so", "wasm",
        ],
    ),
];

/// The extension in lower case; `None` for a name without one, or if it is not UTF-8.
pub fn of(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// The path without the extension of compression.
pub(crate) fn uncompressed(path: &Path) -> PathBuf {
    match of(path).as_deref() {
        Some("gz") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// Whether the name may be that of a manual page: `ls.1`, `printf.3p.gz`, `kit.man`.
pub fn may_be_manual_page(path: &Path) -> bool {
    of(&uncompressed(path))
        .is_some_and(|extension| manual_page::is_section(&extension) || matches!(extension.as_str(), "man" | "mdoc"))
}

/// The kind of a file that is not read: a document format, or a group.
pub fn kind(path: &Path) -> &'static str {
    let Some(extension) = of(path) else {
        return "others";
    };
    let unread = UNREAD.iter().find(|known| known[1..] == extension);
    let group = || {
        GROUPS
            .iter()
            .find(|(_, extensions)| extensions.contains(&extension.as_str()))
            .map(|(group, _)| *group)
    };
    unread.copied().or_else(group).unwrap_or("others")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_files_are_counted_by_format_or_group() {
        let kind = |name: &str| kind(Path::new(name));
        assert_eq!(kind("a/Paper.TEX"), ".tex");
        assert_eq!(kind("logo.svg"), "images");
        assert_eq!(kind("main.rs"), "code");
        assert_eq!(kind("Makefile"), "others");
    }

    #[test]
    fn pages_of_the_manual_end_in_their_section() {
        for name in ["ls.1", "printf.3p", "x.1.gz", "kit.mdoc", "Tk.n"] {
            assert!(may_be_manual_page(Path::new(name)), "{name}");
        }
        for name in ["v1.25", "a.gz", "b.txt", "notes.10"] {
            assert!(!may_be_manual_page(Path::new(name)), "{name}");
        }
    }
}
