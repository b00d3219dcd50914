//! Compressed files, as most manual pages are.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::draft::Unreadable;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Decompresses gzip to at most `max_bytes`; returns other bytes unchanged.
pub(crate) fn uncompressed(bytes: Vec<u8>, max_bytes: u64) -> Result<Vec<u8>, Unreadable> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut output = Vec::new();
    MultiGzDecoder::new(bytes.as_slice())
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut output)
        .map_err(|error| Unreadable::Malformed {
            format: "gzip",
            reason: error.to_string(),
        })?;
    match output.len() as u64 > max_bytes {
        true => Err(Unreadable::TooLarge(max_bytes)),
        false => Ok(output),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn the_content_of_a_file_is_bounded() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&[b'a'; 5000]).unwrap();
        let bytes = encoder.finish().unwrap();
        assert_eq!(uncompressed(bytes.clone(), 5000).unwrap().len(), 5000);
        assert!(matches!(
            uncompressed(bytes.clone(), 4999),
            Err(Unreadable::TooLarge(4999))
        ));
        assert!(matches!(
            uncompressed(bytes[..20].to_vec(), 100),
            Err(Unreadable::Malformed { .. })
        ));
        assert_eq!(uncompressed(b"text".to_vec(), 100).unwrap(), b"text");
    }
}
