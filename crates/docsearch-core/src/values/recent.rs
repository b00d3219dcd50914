//! A cache of the most recently used values, bounded in bytes.

use std::collections::VecDeque;

/// Values by key. The least recently used make room for others.
#[derive(Debug)]
pub struct Recent<K, V> {
    /// The most recently used is at the end.
    entries: VecDeque<(K, V, usize)>,
    bytes: usize,
    max_bytes: usize,
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// A cache of at most this number of bytes.
    pub const fn new(max_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// The value of a key.
    pub fn get(&mut self, key: &K) -> Option<V> {
        let place = self.entries.iter().position(|(known, ..)| known == key)?;
        let entry = self.entries.remove(place)?;
        let value = entry.1.clone();
        self.entries.push_back(entry);
        Some(value)
    }

    /// Stores a value of this size in bytes. A value larger than the cache is not stored.
    pub fn put(&mut self, key: K, value: V, bytes: usize) {
        if let Some(place) = self.entries.iter().position(|(known, ..)| *known == key)
            && let Some((.., freed)) = self.entries.remove(place)
        {
            self.bytes -= freed;
        }
        if bytes > self.max_bytes {
            return;
        }
        while self.bytes + bytes > self.max_bytes
            && let Some((.., freed)) = self.entries.pop_front()
        {
            self.bytes -= freed;
        }
        self.bytes += bytes;
        self.entries.push_back((key, value, bytes));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let mut recent = Recent::new(20);
        recent.put("a", 1, 10);
        recent.put("b", 2, 10);
        assert_eq!(recent.get(&"a"), Some(1));
        recent.put("c", 3, 10);
        assert_eq!(
            (recent.get(&"a"), recent.get(&"b"), recent.get(&"c")),
            (Some(1), None, Some(3))
        );
        recent.put("d", 4, 21);
        assert_eq!((recent.get(&"d"), recent.get(&"a")), (None, Some(1)));
    }

    proptest! {
        #[test]
        fn the_bytes_are_those_of_the_entries_and_never_too_many(puts in proptest::collection::vec((0u8..9, 0usize..40), 0..60)) {
            let mut recent = Recent::new(64);
            for (key, bytes) in puts {
                recent.put(key, bytes, bytes);
                prop_assert_eq!(recent.bytes, recent.entries.iter().map(|(.., bytes)| bytes).sum::<usize>());
                prop_assert!(recent.bytes <= 64);
                prop_assert_eq!(recent.get(&key), Some(bytes));
            }
        }
    }
}
