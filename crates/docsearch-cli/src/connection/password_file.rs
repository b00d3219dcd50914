//! `.pgpass`: passwords by host, port, database and user.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What a password is looked up by; libpq writes `localhost` for the default socket directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Server<'a> {
    pub(super) host: &'a str,
    pub(super) port: &'a str,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// The lines of a password file.
#[derive(Debug, Default)]
pub(super) struct PasswordFile(pub(super) String);

impl PasswordFile {
    /// Reads the file. One that is missing is empty; one that others may read is not used, and
    /// `warn` hears of it.
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

    /// The password of the first line that matches; `None` if no line does.
    pub(super) fn password(&self, server: Server<'_>) -> Option<String> {
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| matching(line, server)).next()
    }
}

fn matching(line: &str, server: Server<'_>) -> Option<String> {
    let mut rest = line;
    for wanted in [server.host, server.port, server.database, server.user] {
        let (field, after) = field(rest)?;
        if field != "*" && unescaped(field) != wanted {
            return None;
        }
        rest = after;
    }
    Some(unescaped(rest)).filter(|password| !password.is_empty())
}

/// The text up to the next colon that has no backslash before it.
fn field(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.find(|character| {
        let ends = character == ':' && !escaped;
        escaped = character == '\\' && !escaped;
        ends
    })?;
    Some((&text[..end], &text[end + 1..]))
}

fn unescaped(text: &str) -> String {
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

    const SERVER: Server<'_> = Server {
        host: "db.example.test",
        port: "5432",
        database: "docs",
        user: "me",
    };

    #[test]
    fn the_first_line_that_matches_counts() {
        let file = PasswordFile(
            "# comment\nelsewhere:*:*:*:wrong\ndb.example.test:5432:docs:me:a\\:b\\\\c\n*:*:*:*:rest\n".to_owned(),
        );
        assert_eq!(file.password(SERVER).as_deref(), Some("a:b\\c"));
        let other = Server { user: "you", ..SERVER };
        assert_eq!(file.password(other).as_deref(), Some("rest"));
    }

    #[test]
    fn a_file_that_others_may_read_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pgpass");
        fs::write(&path, "*:*:*:*:secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut warning = String::new();
        let file = PasswordFile::read(&path, |text| warning = text);
        assert_eq!(file.password(SERVER), None);
        assert!(warning.contains("0600"), "{warning}");

        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let file = PasswordFile::read(&path, |text| panic!("{text}"));
        assert_eq!(file.password(SERVER).as_deref(), Some("secret"));
    }

    #[test]
    fn a_file_that_is_missing_is_empty() {
        let file = PasswordFile::read(Path::new("/does/not/exist"), |text| panic!("{text}"));
        assert_eq!(file.password(SERVER), None);
    }
}
