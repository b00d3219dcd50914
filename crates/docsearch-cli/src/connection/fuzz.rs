//! Fuzz targets for connection strings, service files and password files.

use docsearch_fuzz::{Format, Target, text};

use super::password_file::{PasswordFile, PasswordKey};
use super::{key_words, service_file};

pub(crate) const TARGETS: &[Target] = &[
    Target::new("cli-connection-string", Format::LINES, connection_strings),
    Target::new("cli-service-file", Format::LINES, services),
    Target::new("cli-password-file", Format::LINES, passwords),
];

fn connection_strings(input: &[u8]) {
    let text = &*text(input);
    for text in [text, &format!("postgres://{text}")] {
        if let Ok(words) = key_words::parse(text) {
            let size: usize = words.iter().map(|(key, value)| key.len() + value.len()).sum();
            assert!(size <= 3 * text.len() + 100);
        }
    }
}

fn services(input: &[u8]) {
    let text = &*text(input);
    for name in ["docs", "a"] {
        if let Ok(Some(words)) = service_file::section(text, name) {
            assert!(words.len() <= text.lines().count());
        }
    }
}

fn passwords(input: &[u8]) {
    let text = &*text(input);
    let file = PasswordFile(text.to_owned());
    let mut key = PasswordKey {
        host: "localhost",
        port: "5432",
        database: "db",
        user: "user",
    };
    for database in ["db", "a", text] {
        key.database = database;
        assert!(file.password(key).is_none_or(|password| !password.is_empty()));
    }
}
