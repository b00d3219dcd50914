use fastrand::Rng;

/// Numbers that often break arithmetic.
const NUMBERS: [&str; 8] = [
    "0",
    "-1",
    "65536",
    "2147483648",
    "9223372036854775807",
    "18446744073709551616",
    "1e308",
    "0.0000001",
];
/// Characters that often break the splitting of text.
const CHARACTERS: [&str; 10] = [
    "\u{0}",
    "\u{85}",
    "\u{a0}",
    "\u{301}",
    "\u{130}",
    "\u{200b}",
    "\u{2028}",
    "\u{fb01}",
    "\u{1f468}\u{200d}\u{1f469}",
    "\u{10ffff}",
];
/// Maximum length of a range that is repeated.
const MAX_REPEATED: usize = 64;
/// Maximum number of random words.
const MAX_WORDS: usize = 2000;

/// What inputs are made of.
pub(crate) struct Material {
    pub(crate) corpus: Vec<Vec<u8>>,
    pub(crate) words: Vec<String>,
    pub(crate) nests: Vec<(String, String)>,
    pub(crate) max_bytes: usize,
}

impl Material {
    pub(crate) fn word(&self, rng: &mut Rng) -> &str {
        rng.choice(&self.words).map_or("", String::as_str)
    }

    pub(crate) fn nest(&self, rng: &mut Rng) -> (String, String) {
        rng.choice(&self.nests).cloned().unwrap_or_default()
    }
}

/// A number from 1 to `max`, log-uniform: small numbers are as frequent as large ones.
pub(crate) fn log_uniform(rng: &mut Rng, max: usize) -> usize {
    ((max.max(1) as f64).powf(rng.f64()) as usize).clamp(1, max.max(1))
}

/// Random words.
pub(crate) fn soup(rng: &mut Rng, material: &Material) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..log_uniform(rng, MAX_WORDS) {
        input.extend_from_slice(material.word(rng).as_bytes());
    }
    input.truncate(material.max_bytes);
    input
}

/// Applies one random mutation.
pub(crate) fn mutate(rng: &mut Rng, input: &mut Vec<u8>, material: &Material) {
    let max = material.max_bytes;
    let place = rng.usize(..=input.len());
    let end = place + log_uniform(rng, input.len() - place + 1) - 1;
    match rng.u32(..12) {
        0 => {
            if let Some(byte) = input.get_mut(place) {
                *byte = rng.u8(..);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(place) {
                *byte ^= 1 << rng.u32(..8);
            }
        }
        2 | 3 => insert(input, place, material.word(rng).as_bytes()),
        4 => insert(input, place, rng.choice(CHARACTERS).unwrap_or_default().as_bytes()),
        5 => {
            let number = rng.choice(NUMBERS).unwrap_or_default();
            input.splice(place..end.min(place + 8), number.bytes());
        }
        6 => drop(input.drain(place..end)),
        7 => input.truncate(place),
        8 => {
            let range = input[place..end.min(place + MAX_REPEATED)].to_vec();
            let times = log_uniform(rng, MAX_WORDS).min(max / range.len().max(1));
            insert(input, place, &range.repeat(times));
        }
        9 => {
            if let Some(other) = rng.choice(&material.corpus) {
                let from = rng.usize(..=other.len());
                let length = log_uniform(rng, other.len() - from + 1) - 1;
                insert(input, place, &other[from..from + length]);
            }
        }
        10 => {
            let (open, close) = material.nest(rng);
            let depth = log_uniform(rng, 3000).min(max / (open.len() + close.len()).max(1));
            insert(input, end, close.repeat(depth).as_bytes());
            insert(input, place, open.repeat(depth).as_bytes());
        }
        _ => {
            let moved: Vec<u8> = input.drain(place..end).collect();
            let to = rng.usize(..=input.len());
            insert(input, to, &moved);
        }
    }
    input.truncate(max);
}

fn insert(input: &mut Vec<u8>, place: usize, bytes: &[u8]) {
    input.splice(place..place, bytes.iter().copied());
}
