//! Vector codes of two bits for each component. They preselect the sections that may be near a query, without reading
//! their vectors.
//!
//! A component becomes one of four levels, -1.5, -0.5, 0.5 and 1.5 times the root mean square of the components. The
//! level of component `i` is `c[i] - 1.5`, where `c[i]` from 0 to 3 has a high and a low bit. A code has the high
//! bits of all components and the low bits as two planes. A factor for each vector makes the estimate of its product
//! with itself exact:
//!
//! ```text
//! v·q ≈ factor(v) · Σ (c[i] - 1.5) · q[i],  factor(v) = v·v / Σ (c[i] - 1.5) · v[i]
//! ```
//!
//! The components of a query are rounded to eight bits, so that the sum is computed with AND and POPCNT, or by multiplying
//! bytes. Of the 60 nearest of 7,000 to 14,000 sections, 96 to 98 percent are among the 90 with the greatest estimates,
//! and 98 to 99.6 percent among 120 (384 components, three manuals). The vectors decide among these.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::documents::question_chunk::{is_question, section_chunk};
use crate::values::id::{ChunkId, DocumentId, Map, Set};

/// Most bytes of a row of codes: it fits into a page.
pub const ROW_BYTES: usize = 8000;
/// Most bytes of a centroid: an entry of an index has up to 2,704.
const CENTROID_BYTES: usize = 2500;

/// The format of a row: this byte, an unused one, 64-bit words of a plane (u16), number of codes (u32), lowest document (i64); for
/// each code, document above the lowest (u32), chunk (u32) and factor (f32); for each code, words of the high bits and of
/// the low bits in turns. All numbers are little-endian.
const FORMAT: u8 = 1;
const HEADER_BYTES: usize = 16;
const KEY_BYTES: usize = 12;

/// Bits of a component of a query, with its sign.
const QUERY_BITS: usize = 8;
/// Greatest absolute value of a rounded component of a query.
const QUERY_MAX: f32 = 127.0;

/// Least cosine of a vector and the levels of its stored code, for a code that is still valid.
const MIN_COSINE: f32 = 0.85;

/// Most questions of a section, and of a document, whose vectors are compared.
const MAX_PER_SECTION: usize = 2;
const MAX_PER_DOCUMENT: usize = 8;

/// A vector in two bits for each component.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    factor: f32,
    /// A word of the high bits and one of the low bits for each 64 components.
    words: Vec<[u64; 2]>,
}

impl Code {
    /// The code of a vector.
    pub fn of(vector: &[f32]) -> Self {
        let square: f32 = vector.iter().map(|x| x * x).sum();
        let scale = (square / vector.len().max(1) as f32).sqrt();
        let mut words = vec![[0; 2]; vector.len().div_ceil(64)];
        let mut product = 0.0;
        for (place, &x) in vector.iter().enumerate() {
            let level = ((x / scale).floor() + 2.0).clamp(0.0, 3.0);
            // A component that is not a number has the lowest level.
            let level = level as u64;
            product += (level as f32 - 1.5) * x;
            let bit = place % 64;
            words[place / 64][0] |= (level >> 1) << bit;
            words[place / 64][1] |= (level & 1) << bit;
        }
        let factor = square / product;
        Self {
            factor: if factor.is_finite() { factor } else { 0.0 },
            words,
        }
    }

    /// Whether it may be the code of a vector, or of one nearby: components may have been rounded since.
    pub fn resembles(&self, vector: &[f32]) -> bool {
        let current = Self::of(vector);
        if self.factor == 0.0 || current.factor == 0.0 {
            return self.factor == current.factor;
        }
        self.words.len() == current.words.len() && self.cosine(vector) >= MIN_COSINE * current.cosine(vector)
    }

    /// Cosine of the levels and a vector, not divided by the length of the vector.
    fn cosine(&self, vector: &[f32]) -> f32 {
        let (mut square, mut product) = (0.0, 0.0);
        for (place, &x) in vector.iter().enumerate() {
            let [high, low] = self.words[place / 64].map(|word| (word >> (place % 64) & 1) as f32);
            let level = 2.0 * high + low - 1.5;
            square += level * level;
            product += level * x;
        }
        product / f32::sqrt(square)
    }
}

/// The rounded components of a query by the places of their bits in the codes: for each 32 bytes of planes and each bit
/// of a byte, lowest first, the components whose bits these are.
pub type ByteWeights = [[i8; 32]; 8];

/// For each bit of the rounded components of a query, lowest first, the bits of 64 of them.
pub type BitPlanes = [u64; QUERY_BITS];

/// A query in a form to be compared with codes.
#[derive(Clone, Debug)]
pub struct CodeQuery {
    /// For each 64 components the bits of their rounded values, in two's complement.
    words: Vec<BitPlanes>,
    weights: Vec<ByteWeights>,
    /// Size of a unit of the rounded values.
    unit: f32,
    /// 1.5 times the sum of the rounded values.
    offset: f32,
}

impl CodeQuery {
    /// A query by its vector.
    pub fn new(vector: &[f32]) -> Self {
        let greatest = vector.iter().fold(0.0f32, |greatest, x| greatest.max(x.abs()));
        let unit = greatest / QUERY_MAX;
        let mut words = vec![[0; QUERY_BITS]; vector.len().div_ceil(64)];
        let mut weights = vec![[[0; 32]; 8]; words.len().div_ceil(2)];
        let mut sum = 0;
        for (place, &x) in vector.iter().enumerate() {
            let rounded = (x / unit).round().clamp(-QUERY_MAX, QUERY_MAX) as i32;
            sum += rounded;
            for (bit, plane) in words[place / 64].iter_mut().enumerate() {
                *plane |= ((rounded >> bit & 1) as u64) << (place % 64);
            }
            // The high bits of 64 components take 8 bytes, and their low bits the next 8.
            let byte = place % 64 / 8 + 16 * (place / 64 % 2);
            let of_bit = &mut weights[place / 128][place % 8];
            of_bit[byte] = rounded as i8;
            of_bit[byte + 8] = rounded as i8;
        }
        Self {
            words,
            weights,
            unit,
            offset: 1.5 * sum as f32,
        }
    }

    /// The bits of the rounded components in two's complement, for 64 components at a time.
    pub fn planes(&self) -> &[BitPlanes] {
        &self.words
    }

    /// The rounded components, for 32 bytes of planes at a time.
    pub fn weights(&self) -> &[ByteWeights] {
        &self.weights
    }

    /// `Σ c[i] · q[i]` of the rounded components and the levels of a code, whose words are `planes`.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    pub fn product(&self, planes: &[u8]) -> i32 {
        let (mut highs, mut lows) = ([0u64; QUERY_BITS], [0u64; QUERY_BITS]);
        let (planes, _) = planes.as_chunks::<16>();
        let words = planes.len().min(self.words.len());
        let (planes, query) = (&planes[..words], &self.words[..words]);
        // Loops over numbers and not over zipped iterators: the compiler then vectorises them.
        for word in 0..words {
            let code = u128::from_le_bytes(planes[word]);
            let (high, low) = (code as u64, (code >> 64) as u64);
            for bit in 0..QUERY_BITS {
                highs[bit] += u64::from((query[word][bit] & high).count_ones());
                lows[bit] += u64::from((query[word][bit] & low).count_ones());
            }
        }
        let mut product = 0;
        for bit in 0..QUERY_BITS {
            let weight = if bit == QUERY_BITS - 1 { -1 } else { 1 } << bit;
            product += (2 * highs[bit] + lows[bit]) as i32 * weight;
        }
        product
    }

    /// The estimated product with the vector of a code by its [`Self::product`].
    fn estimate(&self, factor: f32, product: i32) -> f32 {
        factor * self.unit * (product as f32 - self.offset)
    }
}

/// Packs codes into rows.
#[derive(Debug, Default)]
pub struct CodePacker {
    rows: Vec<CodeRow>,
    keys: Vec<(i64, i32, f32)>,
    /// Lowest and highest document of the keys.
    span: Option<(i64, i64)>,
    planes: Vec<u8>,
    words: usize,
}

/// A row of codes.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeRow {
    /// Number of its codes.
    pub codes: usize,
    /// Whether no further code fits.
    pub is_full: bool,
    /// Its bytes, [`ROW_BYTES`] at most.
    pub bytes: Vec<u8>,
}

impl CodePacker {
    /// Adds the code of a section. Rows are smaller if neighbouring documents are near each other.
    pub fn push(&mut self, document: i64, chunk: i32, code: &Code) {
        let (lowest, highest) = self.span.map_or((document, document), |(lowest, highest)| {
            (lowest.min(document), highest.max(document))
        });
        let fits = self.words == code.words.len()
            && self.keys.len() < codes_in_row(self.words)
            && highest
                .checked_sub(lowest)
                .is_some_and(|span| u32::try_from(span).is_ok());
        if fits {
            self.span = Some((lowest, highest));
        } else {
            self.end_row();
            self.span = Some((document, document));
        }
        self.words = code.words.len();
        self.keys.push((document, chunk, code.factor));
        for word in code.words.iter().flatten() {
            self.planes.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// The rows.
    pub fn finish(mut self) -> Vec<CodeRow> {
        self.end_row();
        self.rows
    }

    fn end_row(&mut self) {
        let Some((lowest, _)) = self.span.take() else { return };
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.keys.len() * KEY_BYTES + self.planes.len());
        bytes.extend_from_slice(&[FORMAT, 0]);
        bytes.extend_from_slice(&(self.words as u16).to_le_bytes());
        bytes.extend_from_slice(&(self.keys.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&lowest.to_le_bytes());
        for &(document, chunk, factor) in &self.keys {
            bytes.extend_from_slice(&((document - lowest) as u32).to_le_bytes());
            bytes.extend_from_slice(&(chunk as u32).to_le_bytes());
            bytes.extend_from_slice(&factor.to_le_bytes());
        }
        bytes.append(&mut self.planes);
        self.rows.push(CodeRow {
            codes: self.keys.len(),
            is_full: self.keys.len() >= codes_in_row(self.words),
            bytes,
        });
        self.keys.clear();
    }
}

/// Number of codes of this number of words that fit into a row.
fn codes_in_row(words: usize) -> usize {
    ((ROW_BYTES - HEADER_BYTES) / (KEY_BYTES + 16 * words)).max(1)
}

/// Longest vectors whose centroid fits into an index. Two codes then fit beside it.
pub const MAX_CLUSTERED: usize = (CENTROID_BYTES - HEADER_BYTES - KEY_BYTES) / 16 * 64;

/// Number of codes of vectors of a dimension in a row with its centroid beside it; `None` if they are too long.
pub(crate) fn codes_beside(dimension: usize) -> Option<usize> {
    let code = KEY_BYTES + 16 * dimension.div_ceil(64);
    (dimension <= MAX_CLUSTERED).then(|| (ROW_BYTES - 2 * HEADER_BYTES - code) / code)
}

/// The codes of a row.
#[derive(Clone, Copy, Debug)]
pub struct Codes<'a> {
    lowest: i64,
    words: usize,
    keys: &'a [[u8; KEY_BYTES]],
    planes: &'a [u8],
}

impl<'a> Codes<'a> {
    /// Parses a row; `None` if it is invalid.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let [format, _, w0, w1, c0, c1, c2, c3, lowest @ ..] = *header;
        let words = usize::from(u16::from_le_bytes([w0, w1]));
        let count = usize::try_from(u32::from_le_bytes([c0, c1, c2, c3])).ok()?;
        let (keys, planes) = rest.split_at_checked(count.checked_mul(KEY_BYTES)?)?;
        let is_whole = planes.len() == count.checked_mul(16 * words)?;
        (format == FORMAT && words > 0 && is_whole).then_some(Self {
            lowest: i64::from_le_bytes(lowest),
            words,
            keys: keys.as_chunks().0,
            planes,
        })
    }

    /// Whether the codes are of vectors of this dimension, up to the padding of the last word.
    pub fn have_dimension(&self, dimension: usize) -> bool {
        self.words == dimension.div_ceil(64)
    }

    /// Documents and chunks.
    pub fn keys(&self) -> impl Iterator<Item = (i64, i32)> + use<'a> {
        let lowest = self.lowest;
        self.keys.iter().map(move |key| {
            let (document, chunk, _) = read_key(key, lowest);
            (document, chunk)
        })
    }

    /// Documents and chunks, with their codes.
    pub fn iter(&self) -> impl Iterator<Item = (i64, i32, Code)> + use<'a> {
        let Self { lowest, words, .. } = *self;
        let planes = self.planes.chunks_exact(16 * words);
        self.keys.iter().zip(planes).map(move |(key, planes)| {
            let (document, chunk, factor) = read_key(key, lowest);
            let (words, _) = planes.as_chunks::<16>();
            let words = words.iter().map(|word| {
                let word = u128::from_le_bytes(*word);
                [word as u64, (word >> 64) as u64]
            });
            let code = Code {
                factor,
                words: words.collect(),
            };
            (document, chunk, code)
        })
    }
}

fn read_key(key: &[u8; KEY_BYTES], lowest: i64) -> (i64, i32, f32) {
    let [d0, d1, d2, d3, c0, c1, c2, c3, f0, f1, f2, f3] = *key;
    (
        lowest.wrapping_add(i64::from(u32::from_le_bytes([d0, d1, d2, d3]))),
        i32::from_le_bytes([c0, c1, c2, c3]),
        f32::from_le_bytes([f0, f1, f2, f3]),
    )
}

/// Kinds of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorKind {
    /// Sections.
    Text,
    /// Questions that sections answer.
    Question,
}

impl VectorKind {
    /// The kind of a chunk's vector.
    #[inline(always)]
    pub fn of(chunk: i32) -> Self {
        if is_question(chunk) { Self::Question } else { Self::Text }
    }
}

/// The sections or questions with the greatest estimates, a few of each section and document.
#[derive(Debug)]
pub struct NearestCodes {
    limit: usize,
    kind: VectorKind,
    /// May exceed the limit: at twice as many, the least are removed.
    found: Vec<(f32, ChunkId)>,
    /// The documents to search, if not all.
    documents: Option<Rc<Set<i64>>>,
    /// Estimates below this are not among the nearest.
    least: f32,
    seen: usize,
}

impl NearestCodes {
    /// Collects up to `limit` codes of a kind.
    pub fn new(limit: usize, kind: VectorKind) -> Self {
        Self {
            limit,
            kind,
            found: Vec::new(),
            documents: None,
            least: f32::NEG_INFINITY,
            seen: 0,
        }
    }

    /// Skips other documents than these.
    #[must_use]
    pub fn among(mut self, documents: Option<Rc<Set<i64>>>) -> Self {
        self.documents = documents;
        self
    }

    /// Compares the codes of its kind in a row of a project. Codes of another dimension than the query's are skipped.
    #[inline(always)]
    pub fn compare(&mut self, query: &CodeQuery, project: i64, codes: &Codes<'_>) {
        self.compare_by(query, project, codes, |planes| query.product(planes));
    }

    /// The same with another way to compute [`CodeQuery::product`].
    #[inline(always)]
    pub fn compare_by(&mut self, query: &CodeQuery, project: i64, codes: &Codes<'_>, product: impl Fn(&[u8]) -> i32) {
        if codes.words != query.words.len() || self.limit == 0 {
            return;
        }
        let planes = codes.planes.chunks_exact(16 * codes.words);
        for (key, planes) in codes.keys.iter().zip(planes) {
            let [.., c0, c1, c2, c3, f0, f1, f2, f3] = *key;
            if VectorKind::of(i32::from_le_bytes([c0, c1, c2, c3])) != self.kind {
                continue;
            }
            let is_searched = |documents: &Rc<Set<i64>>| documents.contains(&read_key(key, codes.lowest).0);
            if !self.documents.as_ref().is_none_or(is_searched) {
                continue;
            }
            self.seen += 1;
            let estimate = query.estimate(f32::from_le_bytes([f0, f1, f2, f3]), product(planes));
            if estimate >= self.least {
                let (document, chunk, _) = read_key(key, codes.lowest);
                let document = DocumentId { project, document };
                self.found.push((estimate, ChunkId { document, chunk }));
                if self.found.len() >= self.limit.saturating_mul(2).max(64) {
                    self.remove_least();
                }
            }
        }
    }

    /// How many codes were compared.
    pub fn compared(&self) -> usize {
        self.seen
    }

    fn remove_least(&mut self) {
        if self.kind == VectorKind::Question {
            self.found.sort_unstable_by(order);
            remove_crowds(&mut self.found);
        }
        if self.found.len() <= self.limit {
            return;
        }
        if self.kind == VectorKind::Text {
            self.found.select_nth_unstable_by(self.limit - 1, order);
        }
        self.least = self.found[self.limit - 1].0;
        self.found.truncate(self.limit);
    }

    /// The nearest, greatest estimate first, each once. There are fewer than the limit if a section has two codes,
    /// one of them outdated.
    pub fn finish(mut self) -> Vec<ChunkId> {
        self.remove_least();
        self.found.sort_unstable_by(order);
        let mut seen = Set::default();
        let found = self.found.into_iter().map(|(_, id)| id);
        found.filter(|id| seen.insert(*id)).collect()
    }
}

/// Keeps each code once, and the first ones of each section and document. One question of a section counts, and the
/// first may be outdated. More would displace other pages.
fn remove_crowds(found: &mut Vec<(f32, ChunkId)>) {
    let mut sections: Map<(DocumentId, i32), usize> = Map::default();
    let mut documents: Map<DocumentId, usize> = Map::default();
    let mut known = Set::default();
    found.retain(|(_, id)| {
        if !known.insert(*id) {
            return false;
        }
        let of_section = sections.entry((id.document, section_chunk(id.chunk))).or_default();
        let of_document = documents.entry(id.document).or_default();
        let is_kept = *of_section < MAX_PER_SECTION && *of_document < MAX_PER_DOCUMENT;
        *of_section += usize::from(is_kept);
        *of_document += usize::from(is_kept);
        is_kept
    });
}

/// A total order that does not depend on other codes.
fn order(a: &(f32, ChunkId), b: &(f32, ChunkId)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests;
