//! Reads stored `tsvector`s.
//!
//! Ranking needs the positions of a few lexemes from a thousand vectors. So it looks them up in the stored bytes,
//! without a copy.

#[cfg(target_endian = "big")]
compile_error!("the bit fields of a tsvector are read in little-endian order");

/// The part of a document that a position belongs to, after `setweight`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// Body.
    D = 0,
    /// Keywords.
    C = 1,
    /// Headings.
    B = 2,
    /// Title and names.
    A = 3,
}

impl Weight {
    fn from_bits(bits: u16) -> Self {
        match bits & 3 {
            0 => Self::D,
            1 => Self::C,
            2 => Self::B,
            _ => Self::A,
        }
    }
}

/// A `tsvector`, borrowed: the bytes after its length word, `utils/adt/tsvector.h` in Postgres.
#[derive(Clone, Copy, Debug)]
pub struct TsVector<'a> {
    entries: &'a [u8],
    strings: &'a [u8],
}

struct Entry {
    has_positions: bool,
    length: usize,
    offset: usize,
}

impl<'a> TsVector<'a> {
    /// Parses the header. `None` if there are fewer bytes than its entries need.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk::<4>()?;
        let count = usize::try_from(i32::from_le_bytes(*count)).ok()?;
        let (entries, strings) = rest.split_at_checked(count.checked_mul(4)?)?;
        Some(Self { entries, strings })
    }

    /// Number of lexemes.
    pub fn len(&self) -> usize {
        self.entries.len() / 4
    }

    /// Whether the vector has no lexeme.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn entry(&self, index: usize) -> Option<Entry> {
        let bytes = self.entries.get(index * 4..index * 4 + 4)?.try_into().ok()?;
        let bits = u32::from_le_bytes(bytes);
        Some(Entry {
            has_positions: bits & 1 == 1,
            length: ((bits >> 1) & 0x7FF) as usize,
            offset: (bits >> 12) as usize,
        })
    }

    fn lexeme(&self, entry: &Entry) -> Option<&'a [u8]> {
        self.strings.get(entry.offset..entry.offset + entry.length)
    }

    /// The positions of a lexeme, with their weights. Empty if the lexeme does not occur, or has no stored positions.
    pub fn positions(&self, lexeme: &str) -> impl Iterator<Item = (u16, Weight)> + use<'a> {
        self.positions_from(&mut 0, lexeme)
    }

    /// The same for lexemes in ascending order. `from` is where the search begins, 0 for the first, and is then set
    /// for the next.
    pub fn positions_from(&self, from: &mut usize, lexeme: &str) -> impl Iterator<Item = (u16, Weight)> + use<'a> {
        positions(self.find(from, lexeme.as_bytes()).unwrap_or_default())
    }

    /// The lexemes with their positions, in order, without invalid UTF-8.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, impl Iterator<Item = (u16, Weight)> + use<'a>)> + use<'a> {
        let vector = *self;
        (0..self.len()).filter_map(move |index| {
            let entry = vector.entry(index)?;
            let lexeme = std::str::from_utf8(vector.lexeme(&entry)?).ok()?;
            Some((lexeme, positions(vector.stored_positions(&entry).unwrap_or_default())))
        })
    }

    /// The lexemes, in order, without invalid UTF-8.
    pub fn lexemes(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let vector = *self;
        (0..self.len()).filter_map(move |index| {
            let entry = vector.entry(index)?;
            std::str::from_utf8(vector.lexeme(&entry)?).ok()
        })
    }

    fn find(&self, from: &mut usize, lexeme: &[u8]) -> Option<&'a [u8]> {
        let (low, mut high) = (from, self.len());
        let wanted = prefix(lexeme, lexeme.len());
        while *low < high {
            let middle = low.midpoint(high);
            let entry = self.entry(middle)?;
            let start = prefix(self.strings.get(entry.offset..)?, entry.length);
            // Most lexemes differ in their first letters, and need no call to be compared.
            let order = start.cmp(&wanted);
            let order = if order.is_eq() {
                self.lexeme(&entry)?.cmp(lexeme)
            } else {
                order
            };
            match order {
                std::cmp::Ordering::Less => *low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    *low = middle;
                    return self.stored_positions(&entry);
                }
            }
        }
        None
    }

    fn stored_positions(&self, entry: &Entry) -> Option<&'a [u8]> {
        if !entry.has_positions {
            return None;
        }
        let start = (entry.offset + entry.length).next_multiple_of(2);
        let count = self.strings.get(start..start + 2)?.try_into().ok()?;
        let count = usize::from(u16::from_le_bytes(count));
        self.strings.get(start + 2..start + 2 + count * 2)
    }
}

fn positions(stored: &[u8]) -> impl Iterator<Item = (u16, Weight)> + use<'_> {
    stored.chunks_exact(2).map(|bytes| {
        let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
        (bits & 0x3FFF, Weight::from_bits(bits >> 14))
    })
}

/// The first four bytes of a lexeme as a number in the order of lexemes; a lexeme has no zero byte.
fn prefix(bytes: &[u8], length: usize) -> u32 {
    match bytes.first_chunk::<4>() {
        Some(first) if length >= 4 => u32::from_be_bytes(*first),
        _ => {
            let mut first = [0; 4];
            let known = &bytes[..length.min(bytes.len()).min(4)];
            first[..known.len()].copy_from_slice(known);
            u32::from_be_bytes(first)
        }
    }
}

/// Writes a vector as `tsvectorin` does.
#[cfg(test)]
pub(crate) fn encode(lexemes: &[(&str, &[(u16, Weight)])]) -> Vec<u8> {
    let mut strings = Vec::new();
    let mut bytes = (lexemes.len() as i32).to_le_bytes().to_vec();
    for (lexeme, positions) in lexemes {
        let bits = u32::from(!positions.is_empty()) | (lexeme.len() as u32) << 1 | (strings.len() as u32) << 12;
        bytes.extend(bits.to_le_bytes());
        strings.extend(lexeme.as_bytes());
        if !positions.is_empty() {
            strings.resize(strings.len().next_multiple_of(2), 0);
            strings.extend((positions.len() as u16).to_le_bytes());
            for (position, weight) in *positions {
                strings.extend((position | (*weight as u16) << 14).to_le_bytes());
            }
        }
    }
    bytes.extend(strings);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_positions_and_weights() {
        let bytes = encode(&[
            ("a", &[(1, Weight::D), (9, Weight::A)]),
            ("button", &[(3, Weight::B)]),
            ("plain", &[]),
        ]);
        let vector = TsVector::new(&bytes).expect("a whole vector");
        let found = |lexeme: &str| vector.positions(lexeme).collect::<Vec<_>>();
        assert_eq!(found("a"), [(1, Weight::D), (9, Weight::A)]);
        assert_eq!(found("button"), [(3, Weight::B)]);
        assert_eq!(found("plain"), []);
        assert_eq!(found("absent"), []);
        assert_eq!(vector.lexemes().collect::<Vec<_>>(), ["a", "button", "plain"]);
    }

    proptest! {
        #[test]
        fn ascending_look_ups_find_the_same(
            stored in proptest::collection::btree_set("[a-d]{1,3}", 0..20),
            wanted in proptest::collection::btree_set("[a-d]{1,3}", 0..20),
        ) {
            let positions: &[(u16, Weight)] = &[(7, Weight::C)];
            let lexemes: Vec<(&str, _)> = stored.iter().map(|lexeme| (lexeme.as_str(), positions)).collect();
            let bytes = encode(&lexemes);
            let vector = TsVector::new(&bytes).expect("a whole vector");
            let mut from = 0;
            for lexeme in &wanted {
                for _ in 0..2 {
                    let count = vector.positions_from(&mut from, lexeme).count();
                    prop_assert_eq!(count, usize::from(stored.contains(lexeme)));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn broken_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..64), lexeme in "[a-z]{0,4}") {
            if let Some(vector) = TsVector::new(&bytes) {
                let _ = vector.positions(&lexeme).count();
            }
        }
    }
}
