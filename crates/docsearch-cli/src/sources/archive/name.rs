//! The name of an archive without its version.

/// Extensions of archives.
const EXTENSIONS: [&str; 5] = [".tar.gz", ".tgz", ".tar", ".zip", ".gz"];
/// Pre-release words that may follow a version.
const STAGES: [&str; 10] = [
    "alpha", "beta", "rc", "pre", "preview", "dev", "snapshot", "post", "final", "nightly",
];
/// Number of digits of an abbreviated or full commit hash.
const COMMIT: std::ops::RangeInclusive<usize> = 7..=64;

/// `kit` for `kit-1.2.0-rc.1.tar.gz`; empty for `v1.2.zip`.
pub(crate) fn without_version(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let end = EXTENSIONS
        .iter()
        .find(|extension| lower.ends_with(*extension))
        .map_or(name.len(), |extension| name.len() - extension.len());
    let stem = &name[..end];
    let mut parts: Vec<&str> = Vec::new();
    let mut follows_version = false;
    for part in stem.split(['-', '_', ' ']) {
        let drops = is_version(part) || is_commit(part) || follows_version && is_stage(part);
        follows_version = drops;
        if !drops && !part.is_empty() {
            parts.push(part);
        }
    }
    parts.join("-")
}

/// `1.2.0`, `v2`, `3.14rc1`, `20240501`.
fn is_version(part: &str) -> bool {
    let rest = part.strip_prefix(['v', 'V']).unwrap_or(part);
    rest.starts_with(|first: char| first.is_ascii_digit())
        && rest
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || ".+~".contains(letter))
        && !rest.split('.').any(is_word)
}

/// Whether letters after digits are a word and not a stage: `3d` is not a version.
fn is_word(number: &str) -> bool {
    let letters = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let letters = letters.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let letters = letters.to_ascii_lowercase();
    !(letters.is_empty() || ["a", "b", "c", "x", "p"].contains(&letters.as_str()) || STAGES.contains(&letters.as_str()))
}

fn is_stage(part: &str) -> bool {
    let letters = part.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    STAGES.contains(&letters.to_ascii_lowercase().as_str())
}

fn is_commit(part: &str) -> bool {
    COMMIT.contains(&part.len())
        && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        && part.bytes().any(|byte| byte.is_ascii_digit())
        && part.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_releases_have_the_same_name() {
        for (name, expected) in [
            ("kit-1.2.zip", "kit"),
            ("kit-1.10.0-rc.1.tar.gz", "kit"),
            ("kit_v2.0.0-beta-docs.tgz", "kit-docs"),
            ("python-3.14.0-docs-html.zip", "python-docs-html"),
            ("python-3.14rc1-docs-html.tar", "python-docs-html"),
            ("site-20240501.zip", "site"),
            ("site-8f3a2c1.zip", "site"),
            ("v1.2.0.tar.gz", ""),
            ("docs", "docs"),
            ("k8s-docs.zip", "k8s-docs"),
            ("3d-engine-2.0.ZIP", "3d-engine"),
            ("decade-guide.zip", "decade-guide"),
            ("beta-guide.zip", "beta-guide"),
        ] {
            assert_eq!(without_version(name), expected, "{name}");
        }
    }
}
