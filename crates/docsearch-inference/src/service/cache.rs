//! The cache of answers.

use std::sync::Arc;

use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

/// Approximate overhead of an entry, in bytes.
const OVERHEAD: usize = 128;
/// Size of a typical entry: 384 dimensions and a few words. The cache is allocated for entries of this size.
const USUAL_BYTES: u64 = 2048;

/// Cached answers, bounded in bytes: vectors of queries, or texts of a language model.
pub(super) struct AnswerCache<T: ?Sized> {
    answers: Cache<Key, Arc<T>, Bytes>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    subject: String,
    text: String,
}

#[derive(Hash)]
struct KeyRef<'a> {
    subject: &'a str,
    text: &'a str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.subject == key.subject && self.text == key.text
    }
}

#[derive(Clone)]
struct Bytes;

impl<T: ?Sized> Weighter<Key, Arc<T>> for Bytes {
    fn weight(&self, key: &Key, answer: &Arc<T>) -> u64 {
        (key.subject.len() + key.text.len() + size_of_val::<T>(answer) + OVERHEAD) as u64
    }
}

impl<T: ?Sized> AnswerCache<T> {
    pub(super) fn new(bytes: u64) -> Self {
        let usual = usize::try_from(bytes / USUAL_BYTES).unwrap_or(usize::MAX);
        Self {
            answers: Cache::with_weighter(usual.max(1), bytes, Bytes),
        }
    }

    pub(super) fn resize(&self, bytes: u64) {
        self.answers.set_capacity(bytes);
    }

    pub(super) fn entries(&self) -> u64 {
        self.answers.len() as u64
    }

    /// The cached answer to a text, if there is one. The subject is the model or the purpose of the text.
    pub(super) fn get(&self, subject: &str, text: &str) -> Option<Arc<T>> {
        self.answers.get(&KeyRef { subject, text })
    }

    pub(super) fn put(&self, subject: &str, text: &str, answer: impl Into<Arc<T>>) {
        let key = Key {
            subject: subject.to_owned(),
            text: text.to_owned(),
        };
        self.answers.insert(key, answer.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_under_its_subject_and_its_text_only() {
        let cache = AnswerCache::<[f32]>::new(1 << 20);
        cache.put("model", "text", [1.0]);
        assert_eq!(cache.get("model", "text").as_deref(), Some(&[1.0][..]));
        assert_eq!(cache.get("other", "text"), None);
        assert_eq!(cache.get("model", "texts"), None);
    }

    #[test]
    fn the_cache_stays_within_its_size_and_can_be_switched_off() {
        let cache = AnswerCache::<[f32]>::new(100_000);
        for number in 0..1000 {
            cache.put("model", &number.to_string(), [0.0; 384]);
        }
        assert!((10..60).contains(&cache.entries()));

        cache.resize(0);
        cache.put("model", "text", [1.0]);
        assert_eq!(cache.get("model", "text"), None);
    }
}
