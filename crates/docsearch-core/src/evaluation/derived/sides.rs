//! Which pages are held out.

use super::SourcePage;
use crate::documents::markdown::plain_text;
use crate::documents::similar_texts::{Shingles, groups};
use crate::values::digest::digest;
use crate::values::interrupt::check;

/// Least similarity of pages that are on the same side: what was learnt on one is known of the other.
const SAME_SIDE_SIMILARITY: f64 = 0.8;

/// A number for texts that is the same everywhere and always.
pub(super) fn stable_hash(texts: &[&str]) -> u64 {
    u64::from_str_radix(&digest(texts)[..16], 16).unwrap_or_default()
}

/// Whether each page is held out: about half of them, by their slugs. Pages that say the same are on the same side.
pub fn held_out(pages: &[SourcePage]) -> Vec<bool> {
    let shingles: Vec<Shingles> = pages
        .iter()
        .map(|page| {
            check();
            Shingles::of(&plain_text(&page.body))
        })
        .collect();
    let mut hashes: Vec<u64> = pages.iter().map(|page| stable_hash(&["side", &page.slug])).collect();
    let shingles: Vec<&Shingles> = shingles.iter().collect();
    for group in groups(&shingles, SAME_SIDE_SIMILARITY) {
        let least = group.iter().map(|&place| hashes[place]).min().unwrap_or_default();
        for place in group {
            hashes[place] = least;
        }
    }
    hashes.into_iter().map(|hash| hash % 2 == 1).collect()
}
