//! The chunks of questions: their numbers say which section answers them.

/// The chunk numbers of a section's text lie below this: a document has at most 32 MB, and its chunks have 48 tokens.
pub const FIRST: i32 = 1 << 20;
/// Numbers that a chunk leaves to its questions.
const OF_CHUNK: i32 = 1 << 10;

/// The chunk number of a question, by the chunk with the beginning of its section, and its place in the document.
pub fn chunk_number(section: usize, place: usize) -> Option<i32> {
    let (section, place) = (i32::try_from(section).ok()?, i32::try_from(place).ok()?);
    (section < FIRST && place < OF_CHUNK).then(|| FIRST + section * OF_CHUNK + place)
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
