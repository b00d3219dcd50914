//! `.pgpass`: passwords by host, port, database and user.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The key of a password; as in libpq, `localhost` also means the default socket directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct PasswordKey<'a> {
    pub(super) host: &'a str,
    pub(super) port: &'a str,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// The lines of a password file.
#[derive(Debug, Default)]
pub(super) struct PasswordFile(pub(super) String);

impl PasswordFile {
    /// Reads the file. A missing file is empty. A file that others may read is ignored, with a warning.
    pub(super) fn read(path: &Path, warn: impl FnOnce(String)) -> Self {
        match Self::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                warn(format!("password file \"{}\" is not used: {error}", path.display()));
                Self::default()
            }
        }
    }

    fn open(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a plain file"));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::other(
                "group or world may access it; permissions should be u=rw (0600) or less",
            ));
        }
        Ok(Self(fs::read_to_string(path)?))
    }

    /// The password in the first matching line.
    pub(super) fn password(&self, key: PasswordKey<'_>) -> Option<String> {
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| match_line(line, key)).next()
    }
}

fn match_line(line: &str, key: PasswordKey<'_>) -> Option<String> {
    let mut rest = line;
    for wanted in [key.host, key.port, key.database, key.user] {
        let (field, after) = field(rest)?;
        if field != "*" && unescape(field) != wanted {
            return None;
        }
        rest = after;
    }
    Some(unescape(rest)).filter(|password| !password.is_empty())
}

/// The text up to the next unescaped colon, and the text after it.
fn field(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.find(|character| {
        let ends = character == ':' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    })?;
    Some((&text[..end], &text[end + 1..]))
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => characters.next().unwrap_or('\\'),
            character => character,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: PasswordKey<'_> = PasswordKey {
        host: "db.example.test",
        port: "5432",
        database: "docs",
        user: "me",
    };

    #[test]
    fn the_first_matching_line_is_used() {
        let file = PasswordFile(
            "# comment\nelsewhere:*:*:*:wrong\ndb.example.test:5432:docs:me:a\\:b\\\\c\n*:*:*:*:rest\n".to_owned(),
        );
        assert_eq!(file.password(KEY).as_deref(), Some("a:b\\c"));
        let other = PasswordKey { user: "you", ..KEY };
        assert_eq!(file.password(other).as_deref(), Some("rest"));
    }

    #[test]
    fn a_file_that_others_may_read_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        fs::write(&path, "*:*:*:*:secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut warning = String::new();
        let file = PasswordFile::read(&path, |text| warning = text);
        assert_eq!(file.password(KEY), None);
        assert!(warning.contains("0600"), "{warning}");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let file = PasswordFile::read(&path, |text| panic!("{text}"));
        assert_eq!(file.password(KEY).as_deref(), Some("secret"));
    }

    #[test]
    fn a_missing_file_is_empty() {
        let file = PasswordFile::read(Path::new("/does/not/exist"), |text| panic!("{text}"));
        assert_eq!(file.password(KEY), None);
    }
}
