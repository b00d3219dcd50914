//! Web pages with their pictures in one file (MHTML), which some programs put into documents.

/// The HTML page in an archive; `None` if it has none that is readable.
pub(super) fn page(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = bytes
        .iter()
        .map(|&byte| char::from(byte))
        .collect::<String>()
        .replace("\r\n", "\n");
    let (head, body) = text.split_once("\n\n")?;
    let boundary = parameter(head, "boundary");
    let mut parts = match &boundary {
        Some(boundary) => body.split(&format!("--{boundary}")).collect(),
        None => vec![text.as_str()],
    }
    .into_iter();
    parts.find_map(|part| {
        let (head, body) = part.trim_start().split_once("\n\n")?;
        let encoding = value(head, "content-transfer-encoding").unwrap_or_default();
        if !value(head, "content-type")?.starts_with("text/html") {
            return None;
        }
        match encoding.as_str() {
            "quoted-printable" => Some(quoted_printable(body)),
            "" | "7bit" | "8bit" | "binary" => Some(bytes_of(body)),
            _ => None,
        }
    })
}

/// The value of a header in lower case.
fn value(head: &str, name: &str) -> Option<String> {
    let unfolded = head.replace("\n ", " ").replace("\n\t", " ");
    unfolded.lines().find_map(|line| {
        let (own, value) = line.split_once(':')?;
        own.eq_ignore_ascii_case(name).then(|| value.trim().to_lowercase())
    })
}

/// A parameter of the type of the archive, in its own case.
fn parameter(head: &str, name: &str) -> Option<String> {
    let at = head.to_ascii_lowercase().find(&format!("{name}="))?;
    let rest = head[at + name.len() + 1..].trim_start_matches('"');
    let end = rest.find(['"', ';', '\n']).unwrap_or(rest.len());
    Some(rest[..end].trim().to_owned()).filter(|value| !value.is_empty())
}

fn quoted_printable(text: &str) -> Vec<u8> {
    let bytes = bytes_of(text);
    let mut output = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'=' {
            output.push(*first);
            continue;
        }
        // A sign at the end of a line joins it to the next.
        if let Some(next) = after.strip_prefix(b"\n") {
            rest = next;
            continue;
        }
        let code = after
            .get(..2)
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match code {
            Some(byte) => {
                output.push(byte);
                rest = &after[2..];
            }
            None => output.push(b'='),
        }
    }
    output
}

/// The bytes of a text of which every character is one byte.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars()
        .filter_map(|character| u8::try_from(character).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_the_part_in_html() {
        let archive = "MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n boundary=\"--Mark\"\r\n\r\n----Mark\r\n\
            Content-Type: text/html;\r\n\tcharset=\"utf-8\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
            <p id=3D\"a\">caf=C3=A9 =\r\nau lait</p>\r\n----Mark\r\nContent-Type: image/png\r\n\r\nxx\r\n----Mark--";
        let page = page(archive.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(page).unwrap().trim(), "<p id=\"a\">café au lait</p>");
        assert_eq!(super::page(b"MIME-Version: 1.0"), None);
        assert_eq!(super::page(b"Content-Type: text/plain\n\nx"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            super::page(&bytes);
        }
    }
}
