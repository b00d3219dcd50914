//! Known faults of PostgreSQL and pgvector: versions, effects, remedies.
//!
//! `known_fault/table.json` is the only place with these versions. The extension reads it here,
//! `scripts/known_fault.py` reads it for installation and packages.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer};

/// Tags of versions before a release.
const PRERELEASE_TAGS: [&str; 5] = ["alpha", "beta", "rc", "dev", "pre"];

static TABLE: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("known_fault/table.json")).expect("the table is read by a test")
});

/// All known faults.
pub fn table() -> &'static [Fault] {
    &TABLE
}

/// The numbers at the beginning of a version: `18.6 (Debian 18.6-1.pgdg13+1)` is 18.6, `0.8.4-1.pgdg` is 0.8.4.
/// Missing numbers are 0. Pre-releases (`18beta1`) come before their release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Without zeros at the end.
    numbers: Vec<u64>,
    released: bool,
}

impl Version {
    /// Parses a version; `None` for a text that does not begin with a number.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let mut numbers = Vec::new();
        loop {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if end == 0 {
                break;
            }
            // A number that does not fit is newer than any other.
            numbers.push(rest[..end].parse().unwrap_or(u64::MAX));
            rest = &rest[end..];
            match rest.strip_prefix('.') {
                Some(next) if next.starts_with(|c: char| c.is_ascii_digit()) => rest = next,
                _ => break,
            }
        }
        if numbers.is_empty() {
            return None;
        }
        let word = rest.trim_start_matches(['.', '-', '~', '_']).to_ascii_lowercase();
        Some(Self::new(
            numbers,
            !PRERELEASE_TAGS.iter().any(|before| word.starts_with(before)),
        ))
    }

    /// The version of a server, from `server_version_num`.
    pub fn of_server(number: i32) -> Self {
        let number = u64::try_from(number).unwrap_or(0);
        Self::new(vec![number / 10_000, number % 10_000], true)
    }

    fn new(mut numbers: Vec<u64>, released: bool) -> Self {
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        Self { numbers, released }
    }

    fn major(&self) -> u64 {
        self.numbers.first().copied().unwrap_or(0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        match numbers.as_slice() {
            [] => formatter.write_str("0"),
            numbers => formatter.write_str(&numbers.join(".")),
        }
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        Self::parse(text).ok_or_else(|| serde::de::Error::custom(format!("\"{text}\" is no version")))
    }
}

/// A product with known faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Product {
    /// The server.
    PostgreSQL,
    /// The extension `vector`.
    #[serde(rename = "pgvector")]
    Pgvector,
}

impl Product {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::PostgreSQL => "PostgreSQL",
            Self::Pgvector => "pgvector",
        }
    }

    /// The first version without any known fault.
    fn safe_from(self, version: &Version) -> &'static Version {
        let faults = table().iter().filter(|fault| fault.product == self);
        let good = faults.map(|fault| fault.good_from(version)).max();
        good.expect("only what has a fault is asked for")
    }
}

/// A fault of some versions of a product.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its identifier: a CVE, if it has one.
    pub fault: &'static str,
    /// The product.
    pub product: Product,
    /// The first version without it for each major version, in rising order. The last also applies to later major
    /// versions.
    good_from: Vec<Version>,
    /// What may happen.
    pub effect: &'static str,
    /// What to do after an update.
    #[serde(default)]
    afterwards: Option<&'static str>,
    /// Whether pg_docsearch refuses to be created with it.
    #[serde(default)]
    pub refused: bool,
}

impl Fault {
    /// Whether a version has the fault.
    pub fn affects(&self, version: &Version) -> bool {
        version < self.good_from(version)
    }

    /// The first version without the fault in the same major version, or after it.
    pub fn good_from(&self, version: &Version) -> &Version {
        let of_major = |good: &&Version| good.major() <= version.major();
        let good = self.good_from.iter().rev().find(of_major);
        good.or(self.good_from.first()).expect("a test has seen one")
    }
}

/// The versions of a server and of its pgvector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// `server_version_num`.
    pub server: i32,
    /// Version of pgvector in the catalog of the database.
    pub catalog: Option<String>,
    /// Version of the pgvector files on the server, which `CREATE EXTENSION vector` would install.
    pub files: Option<String>,
    /// Version of the library in this session, if Postgres reports it.
    pub loaded: Option<String>,
}

/// A known fault of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The fault.
    pub fault: &'static Fault,
    /// The oldest version with it, as written.
    pub version: String,
    /// The effect, and the versions that were found.
    pub detail: String,
    /// What to do.
    pub remedy: String,
}

impl Finding {
    /// The product and version.
    pub fn object(&self) -> String {
        format!("{} {}", self.fault.product.name(), self.version)
    }
}

impl Versions {
    /// The known faults, in the order of the table.
    pub fn faults(&self) -> Vec<Finding> {
        table().iter().filter_map(|fault| self.finding(fault)).collect()
    }

    /// The known versions of pgvector, with where they were found.
    fn pgvector(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("catalog", &self.catalog),
            ("files on the server", &self.files),
            ("library of this session", &self.loaded),
        ]
        .into_iter()
        .filter_map(|(place, version)| Some((place, version.as_deref()?)))
    }

    fn finding(&self, fault: &'static Fault) -> Option<Finding> {
        match fault.product {
            Product::PostgreSQL => {
                let version = Version::of_server(self.server);
                fault.affects(&version).then(|| Finding {
                    fault,
                    version: version.to_string(),
                    detail: fault.effect.to_owned(),
                    remedy: format!(
                        "Update PostgreSQL to {} or newer, and restart the server.",
                        fault.product.safe_from(&version)
                    ),
                })
            }
            Product::Pgvector => self.pgvector_finding(fault),
        }
    }

    fn pgvector_finding(&self, fault: &'static Fault) -> Option<Finding> {
        let has_fault = |text: &str| Version::parse(text).filter(|version| fault.affects(version));
        let affected = self.pgvector().filter_map(|(_, text)| Some((has_fault(text)?, text)));
        let (oldest, version) = affected.min()?;
        let found: Vec<String> = self
            .pgvector()
            .map(|(place, version)| format!("{place} {version}"))
            .collect();
        let has = |version: &Option<String>| version.as_deref().and_then(has_fault).is_some();
        let mut steps = Vec::new();
        // The code is in the files. If their version is not known, that of the catalog is assumed.
        let has_old_files = has(&self.files) || (self.files.is_none() && has(&self.catalog));
        if has_old_files {
            let safe = fault.product.safe_from(&oldest);
            steps.push(format!("install pgvector {safe} or newer on the server"));
        }
        if has_old_files || has(&self.loaded) {
            steps.push("connect again (restart the server if it preloads vector)".to_owned());
        }
        if has_old_files || has(&self.catalog) {
            steps.push("run ALTER EXTENSION vector UPDATE".to_owned());
        }
        steps.extend(fault.afterwards.map(str::to_owned));
        Some(Finding {
            fault,
            version: version.to_owned(),
            detail: format!("{} ({})", fault.effect, found.join(", ")),
            remedy: sentence(&steps),
        })
    }
}

/// Steps as one sentence.
fn sentence(steps: &[String]) -> String {
    let text = steps.join(", then ");
    let first = text.chars().next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(text.chars().skip(1)).chain(['.']).collect()
}

#[cfg(test)]
mod tests;
