use std::sync::Arc;

use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

/// Bytes of an entry beside its text, digest and vector, roughly.
const OVERHEAD: usize = 128;
/// A usual entry, by which the cache is laid out: 384 dimensions and a few words.
const USUAL_BYTES: u64 = 2048;

/// Vectors of queries that were asked before, bounded in bytes.
pub(super) struct QueryCache {
    vectors: Cache<Key, Arc<[f32]>, Bytes>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    digest: String,
    text: String,
}

#[derive(Hash)]
struct KeyRef<'a> {
    digest: &'a str,
    text: &'a str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.digest == key.digest && self.text == key.text
    }
}

#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Arc<[f32]>> for Bytes {
    fn weight(&self, key: &Key, vector: &Arc<[f32]>) -> u64 {
        (key.digest.len() + key.text.len() + size_of_val::<[f32]>(vector) + OVERHEAD) as u64
    }
}

impl QueryCache {
    pub(super) fn new(bytes: u64) -> Self {
        let usual = usize::try_from(bytes / USUAL_BYTES).unwrap_or(usize::MAX);
        Self {
            vectors: Cache::with_weighter(usual.max(1), bytes, Bytes),
        }
    }

    pub(super) fn resize(&self, bytes: u64) {
        self.vectors.set_capacity(bytes);
    }

    pub(super) fn entries(&self) -> u64 {
        self.vectors.len() as u64
    }

    pub(super) fn get(&self, digest: &str, text: &str) -> Option<Vec<f32>> {
        Some(self.vectors.get(&KeyRef { digest, text })?.to_vec())
    }

    pub(super) fn put(&self, digest: &str, text: &str, vector: &[f32]) {
        let key = Key {
            digest: digest.to_owned(),
            text: text.to_owned(),
        };
        self.vectors.insert(key, vector.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_found_under_its_model_and_its_text_only() {
        let cache = QueryCache::new(1 << 20);
        cache.put("model", "text", &[1.0]);
        assert_eq!(cache.get("model", "text"), Some(vec![1.0]));
        assert_eq!(cache.get("other", "text"), None);
        assert_eq!(cache.get("model", "texts"), None);
    }

    #[test]
    fn the_cache_stays_within_its_size_and_can_be_switched_off() {
        let cache = QueryCache::new(100_000);
        for number in 0..1000 {
            cache.put("model", &number.to_string(), &[0.0; 384]);
        }
        assert!((10..60).contains(&cache.entries()));

        cache.resize(0);
        cache.put("model", "text", &[1.0]);
        assert_eq!(cache.get("model", "text"), None);
    }
}
