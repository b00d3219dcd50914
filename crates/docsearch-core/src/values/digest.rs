//! Hashes of texts.

use sha2::{Digest, Sha256};

use crate::values::interrupt::check;

/// Version of chunking and analysis. It is part of the digests of what is indexed, so that a change of it is noticed.
pub const ANALYSIS_VERSION: u32 = 3;

/// The first bytes of digests that identify something. Stored digests have it: it never changes.
const IDENTITY: u32 = 2;

/// Bytes that are hashed between two checks for interrupts.
const HASHED_PART_BYTES: usize = 1 << 20;

/// SHA-256, in 64 hexadecimal digits, of texts with their lengths. The same text divided differently has another digest.
pub fn digest(texts: &[&str]) -> String {
    prefixed(IDENTITY, texts)
}

/// The digest of texts and of [`ANALYSIS_VERSION`]. It differs from [`digest`] for every version.
pub fn analysis_digest(texts: &[&str]) -> String {
    prefixed(ANALYSIS_VERSION, texts)
}

fn prefixed(prefix: u32, texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(prefix.to_le_bytes());
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

    use super::{analysis_digest, digest};

    #[test]
    fn stored_hashes_stay_what_they_are() {
        // sha256sum of 02000000 0300000000000000 "abc".
        assert_eq!(
            digest(&["abc"]),
            "36443e752d1657a33d0cc9d5d3256425691bedfddb6d5c33ab39fb32e5217c47"
        );
    }

    #[test]
    fn what_is_indexed_has_the_digest_of_its_analysis() {
        assert_ne!(analysis_digest(&["abc"]), digest(&["abc"]));
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
