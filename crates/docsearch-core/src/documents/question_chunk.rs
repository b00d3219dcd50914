//! The chunks of questions: their numbers say which section answers them.

/// The chunk numbers of a section's text lie below this: a document has at most 32 MB, and its chunks have 48 tokens.
pub const FIRST: i32 = 1 << 20;
/// Numbers that a chunk leaves to its questions.
const OF_CHUNK: i32 = 1 << 10;
/// Of these, the numbers from here on are those of headings that are questions: a document has at most as many others.
const HEADINGS: i32 = 1_000;

/// The chunk number of a question, by the chunk with the beginning of its section, and its place in the document.
pub fn chunk_number(section: usize, place: usize) -> Option<i32> {
    let (section, place) = (i32::try_from(section).ok()?, i32::try_from(place).ok()?);
    (section < FIRST && place < OF_CHUNK).then(|| FIRST + section * OF_CHUNK + place)
}

/// The chunk number of a heading that is a question, likewise.
pub fn heading_number(section: usize, place: usize) -> Option<i32> {
    chunk_number(section, usize::try_from(HEADINGS).ok()? + place)
}

/// Whether a chunk number is that of a heading that is a question.
pub fn is_heading(chunk: i32) -> bool {
    is_question(chunk) && (chunk - FIRST) % OF_CHUNK >= HEADINGS
}

/// The condition of SQL that a chunk number of a question is one of those that are stored, not that of a heading.
pub fn is_stored(number: &str) -> String {
    format!("({number} - {FIRST}) % {OF_CHUNK} < {HEADINGS}")
}

/// Whether a chunk number is that of a question.
pub fn is_question(chunk: i32) -> bool {
    chunk >= FIRST
}

/// The chunk whose section a chunk is about: for a question that of its section, for others themselves.
pub fn section_chunk(chunk: i32) -> i32 {
    if is_question(chunk) {
        (chunk - FIRST) / OF_CHUNK
    } else {
        chunk
    }
}

/// What is embedded for a question.
pub fn passage(question: &str) -> String {
    question.to_owned()
}
