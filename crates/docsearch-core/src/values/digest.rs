//! Hashes of texts.

use sha2::{Digest, Sha256};

use crate::values::interrupt::check;

/// Version of chunking and analysis. It is part of every hash, so that a change of it is noticed.
pub const ANALYSIS_VERSION: u32 = 3;

/// Bytes that are hashed between two checks for interrupts.
const HASHED_PART_BYTES: usize = 1 << 20;

/// SHA-256, in 64 hexadecimal digits, of texts with their lengths and of [`ANALYSIS_VERSION`]. The same text divided
/// differently has another digest.
pub fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(ANALYSIS_VERSION.to_le_bytes());
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        for part in text.as_bytes().chunks(HASHED_PART_BYTES) {
            check();
            hasher.update(part);
        }
    }
    base16ct::lower::encode_string(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::digest;

    #[test]
    fn stored_hashes_stay_what_they_are() {
        // sha256sum of 03000000 0300000000000000 "abc".
        assert_eq!(
            digest(&["abc"]),
            "5b6dc713aa520977b60ae011880b39ea7b0583d54c0bd3610d4084d1a7f7f604"
        );
    }

    proptest! {
        #[test]
        fn texts_that_are_cut_elsewhere_differ(first in "[a-z]{1,5}", second in "[a-z]{1,5}") {
            let joined = format!("{first}{second}");
            prop_assert_ne!(digest(&[&first, &second]), digest(&[&joined]));
            prop_assert_ne!(digest(&[&first, &second]), digest(&[&joined, ""]));
        }
    }
}
