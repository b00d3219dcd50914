//! Parses connection strings: key words of libpq (`host=/tmp dbname=docs`) and URLs.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

/// Values by key word of libpq.
pub(super) type KeyWords = BTreeMap<String, String>;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Parses a connection string in either notation.
pub(super) fn parse(text: &str) -> Result<KeyWords, String> {
    match SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)) {
        Some(rest) => parse_url(rest),
        None => parse_pairs(text),
    }
}

/// Parses `key = value` pairs, separated by white space. Values may be in single quotes; a backslash escapes the next
/// character.
fn parse_pairs(text: &str) -> Result<KeyWords, String> {
    let mut found = KeyWords::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest
            .split_once('=')
            .ok_or_else(|| format!("\"=\" is missing after \"{}\"", first_word(rest)))?;
        let key = key.trim_end();
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(format!("\"=\" is missing after \"{}\"", first_word(rest)));
        }
        let (value, after) = value(after.trim_start())?;
        found.insert(key.to_owned(), value);
        rest = after.trim_start();
    }
    Ok(found)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// A value and the text after it.
fn value(text: &str) -> Result<(String, &str), String> {
    let quoted = text.starts_with('\'');
    let mut value = String::new();
    let mut characters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            character if !quoted && character.is_whitespace() => return Ok((value, &text[at..])),
            character => value.push(character),
        }
    }
    if quoted {
        return Err("unterminated quoted value".to_owned());
    }
    Ok((value, ""))
}

/// `[user[:password]@][host[:port],...][/dbname][?key=value&...]`
fn parse_url(rest: &str) -> Result<KeyWords, String> {
    let mut found = KeyWords::new();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user_info, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    for (key, text) in [("user", user), ("password", password), ("dbname", database)] {
        if !text.is_empty() {
            found.insert(key.to_owned(), decode(text)?);
        }
    }
    if !hosts.is_empty() {
        let (names, ports) = host_list(hosts)?;
        if names.iter().any(|name| !name.is_empty()) {
            found.insert("host".to_owned(), names.join(","));
        }
        if ports.iter().any(|port| !port.is_empty()) {
            found.insert("port".to_owned(), ports.join(","));
        }
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, text) = pair
            .split_once('=')
            .ok_or_else(|| format!("\"=\" is missing after \"{pair}\""))?;
        found.insert(decode(key)?, decode(text)?);
    }
    Ok(found)
}

/// Names and ports of `a:1,b,[::1]:2`.
fn host_list(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let hosts = text.split(',').map(|host| {
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, after)) => (address, after.strip_prefix(':').unwrap_or(after)),
            None => host.rsplit_once(':').unwrap_or((host, "")),
        };
        Ok((decode(name)?, port.to_owned()))
    });
    let hosts: Vec<(String, String)> = hosts.collect::<Result<_, String>>()?;
    Ok(hosts.into_iter().unzip())
}

fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded
        .map(|text| text.into_owned())
        .map_err(|_| format!("\"{text}\" is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap().into_iter().collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn key_words_may_be_quoted() {
        assert_eq!(
            words(r"host = /tmp/s dbname='my docs' password=a\'b options='-c a=\'b\''"),
            pairs(&[
                ("dbname", "my docs"),
                ("host", "/tmp/s"),
                ("options", "-c a='b'"),
                ("password", "a'b"),
            ])
        );
        assert_eq!(words(""), []);
        assert!(parse("host").is_err());
        assert!(parse("dbname='docs").is_err());
    }

    #[test]
    fn urls_name_users_hosts_and_parameters() {
        assert_eq!(
            words("postgres://me:p%40ss@a:5433,[::1]:5434/docs?sslmode=verify-full&options=-c%20a%3Db"),
            pairs(&[
                ("dbname", "docs"),
                ("host", "a,::1"),
                ("options", "-c a=b"),
                ("password", "p@ss"),
                ("port", "5433,5434"),
                ("sslmode", "verify-full"),
                ("user", "me"),
            ])
        );
        assert_eq!(
            words("postgresql:///docs?host=/tmp/s"),
            pairs(&[("dbname", "docs"), ("host", "/tmp/s")])
        );
        assert!(parse("postgres://host/db?sslmode").is_err());
    }
}
