//! Paths of published pages.

/// The path of a page, and whether it is the page of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) path: String,
    pub(super) is_folder: bool,
}

/// The date in the name of a post, and the rest of the name.
pub(super) fn dated(name: &str) -> Option<([String; 3], &str)> {
    let mut parts = name.splitn(4, '-');
    let date = [parts.next()?, parts.next()?, parts.next()?];
    let rest = parts.next()?;
    let is_number = date
        .iter()
        .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty());
    is_number.then(|| (date.map(str::to_owned), rest))
}
