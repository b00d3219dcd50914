//! `pg_service.conf`: named sets of key words.

use std::fs;
use std::path::PathBuf;

use super::key_words::KeyWords;
use super::variables::Variables;
use crate::process::error::Error;

/// Default of PGSYSCONFDIR, as in Debian and other distributions.
const SYSTEM_DIRECTORY: &str = "/etc/postgresql-common";

/// The key words of the service `name`, from the user's file or else from the system's.
pub(super) fn read(name: &str, variables: &Variables<'_>) -> Result<KeyWords, Error> {
    for path in paths(variables) {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::file(path)(error)),
        };
        let found = section(&text, name).map_err(|(line, reason)| Error::Line {
            path: path.clone(),
            line,
            reason,
        })?;
        if let Some(found) = found {
            return Ok(found);
        }
    }
    let looked_in: Vec<String> = paths(variables).iter().map(|path| path.display().to_string()).collect();
    Err(Error::Usage(format!(
        "definition of service \"{name}\" not found\nHINT:  Looked in {}.",
        looked_in.join(" and ")
    )))
}

fn paths(variables: &Variables<'_>) -> Vec<PathBuf> {
    let own = match variables.get("PGSERVICEFILE") {
        Some(path) => Some(PathBuf::from(path)),
        None => variables.home().map(|home| home.join(".pg_service.conf")),
    };
    let system = variables
        .get("PGSYSCONFDIR")
        .unwrap_or_else(|| SYSTEM_DIRECTORY.to_owned());
    let system = PathBuf::from(system).join("pg_service.conf");
    own.into_iter().chain([system]).collect()
}

/// The entries in the section `[name]`, or the number and error of an invalid line; `None` if there is no such section.
pub(super) fn section(text: &str, name: &str) -> Result<Option<KeyWords>, (usize, String)> {
    let mut found: Option<KeyWords> = None;
    let mut inside = false;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            inside = rest.strip_suffix(']') == Some(name);
            if inside {
                found = Some(KeyWords::new());
            }
            continue;
        }
        let Some(entries) = found.as_mut().filter(|_| inside) else {
            continue;
        };
        let (key, value) = line
            .split_once('=')
            .ok_or_else(|| (number, "syntax error in service file".to_owned()))?;
        if key == "service" {
            return Err((number, "nested service specifications are not supported".to_owned()));
        }
        entries
            .entry(key.trim().to_owned())
            .or_insert_with(|| value.trim().to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# services\n[other]\nhost=elsewhere\n\n[docs]\nhost=/tmp/s\ndbname=library\n[last]\nport=1\n";

    #[test]
    fn a_service_has_the_entries_of_its_section() {
        let found = section(FILE, "docs").unwrap().unwrap();
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [
                ("dbname".to_owned(), "library".to_owned()),
                ("host".to_owned(), "/tmp/s".to_owned())
            ]
        );
        assert_eq!(section(FILE, "none").unwrap(), None);
    }

    #[test]
    fn the_error_for_an_invalid_line_has_its_number() {
        assert_eq!(section("[docs]\n\nhost\n", "docs").unwrap_err().0, 3);
    }
}
