//! Bearer tokens and their database roles.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::process::error::Error;

/// Shorter tokens could be guessed.
const MIN_CHARACTERS: usize = 16;

/// A token. Only its digest is kept, and comparing it takes constant time.
pub(super) struct BearerToken {
    digest: [u8; 32],
    /// The role for its requests; `None` for the role of the program.
    pub(super) role: Option<String>,
    /// Where it was read, for people.
    pub(super) place: String,
}

impl BearerToken {
    fn new(token: &str, role: Option<&str>, file: &str, place: String) -> Result<Self, Error> {
        if token.chars().count() < MIN_CHARACTERS {
            return Err(Error::Usage(format!(
                "{file}{place}: the token has fewer than {MIN_CHARACTERS} characters\nHINT:  Create one with openssl rand -hex 32."
            )));
        }
        Ok(Self {
            digest: digest(token),
            role: role.map(str::to_owned),
            place,
        })
    }
}

/// The tokens in a file and in the environment.
pub(super) fn read(file: Option<&Path>, variable: Option<&str>) -> Result<Vec<BearerToken>, Error> {
    let mut tokens = Vec::new();
    if let Some(path) = file {
        let text = fs::read_to_string(path).map_err(Error::file(path))?;
        let mode = fs::metadata(path).map_err(Error::file(path))?.permissions().mode();
        if mode & 0o007 != 0 {
            return Err(Error::Usage(format!(
                "{}: other users can read the token file\nHINT:  Run chmod 0600 on it.",
                path.display()
            )));
        }
        tokens = parse(&text, &path.display().to_string())?;
        if tokens.is_empty() {
            return Err(Error::Usage(format!("{}: no token in this file", path.display())));
        }
    }
    if let Some(token) = variable.map(str::trim).filter(|token| !token.is_empty()) {
        tokens.push(BearerToken::new(token, None, "", "DOCSEARCH_TOKEN".to_owned())?);
    }
    Ok(tokens)
}

/// Parses a token a line, optionally followed by its role.
pub(super) fn parse(text: &str, name: &str) -> Result<Vec<BearerToken>, Error> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let (token, role) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let role = Some(role.trim()).filter(|role| !role.is_empty());
            BearerToken::new(token, role, &format!("{name}, "), format!("line {number}"))
        })
        .collect()
}

/// The index of the token that was sent. Always compares all tokens.
pub(super) fn position<'a>(tokens: impl Iterator<Item = &'a BearerToken>, sent: &str) -> Option<usize> {
    let sent = digest(sent);
    let mut found = None;
    for (at, token) in tokens.enumerate() {
        if bool::from(token.digest.ct_eq(&sent)) {
            found = Some(at);
        }
    }
    found
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_may_have_a_role() {
        let text = "# team\n0123456789abcdef\n\nfedcba9876543210   web reader\n";
        let tokens = parse(text, "tokens").unwrap();
        assert_eq!(tokens[0].role, None);
        assert_eq!(tokens[1].role.as_deref(), Some("web reader"));
        assert_eq!(position(tokens.iter(), "fedcba9876543210"), Some(1));
        assert_eq!(position(tokens.iter(), "fedcba987654321"), None);
        assert_eq!(position(tokens.iter(), ""), None);
    }

    #[test]
    fn short_tokens_are_rejected() {
        let error = parse("0123456789abcdef\nsecret\n", "tokens").err().unwrap().to_string();
        assert!(error.contains("tokens, line 2"), "{error}");
    }
}
