//! Line ends.

/// `text` with a line feed at the end of every line: files of Windows have two characters there, those of old Macs a
/// carriage return.
pub(crate) fn with_line_feeds(text: String) -> String {
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n"),
        false => text,
    }
}
