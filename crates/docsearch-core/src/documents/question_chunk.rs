//! Chunk numbers of questions, which encode the section that answers them.

/// Chunk numbers of text are below this: a document has at most 32 MB, and its chunks have 48 tokens.
pub const FIRST: i32 = 1 << 20;
/// Numbers for the questions of a chunk.
const OF_CHUNK: i32 = 1 << 10;
/// From this number on, they are headings that are questions: a document has at most this number of other questions.
const HEADINGS: i32 = 1_000;

/// The chunk number of a question, by the chunk with the beginning of its section, and its index in the document.
pub fn chunk_number(section: usize, index: usize) -> Option<i32> {
    let (section, index) = (i32::try_from(section).ok()?, i32::try_from(index).ok()?);
    (section < FIRST && index < OF_CHUNK).then(|| FIRST + section * OF_CHUNK + index)
}

/// The chunk number of a heading that is a question, in the same way.
pub fn heading_number(section: usize, index: usize) -> Option<i32> {
    chunk_number(section, usize::try_from(HEADINGS).ok()? + index)
}

/// Whether a chunk number is that of a heading that is a question.
pub fn is_heading(chunk: i32) -> bool {
    is_question(chunk) && (chunk - FIRST) % OF_CHUNK >= HEADINGS
}

/// The SQL condition that the chunk number of a question is that of a stored one, and not of a heading.
pub fn is_stored(number: &str) -> String {
    format!("({number} - {FIRST}) % {OF_CHUNK} < {HEADINGS}")
}

/// Whether a chunk number is that of a question.
pub fn is_question(chunk: i32) -> bool {
    chunk >= FIRST
}

/// The chunk of the section: for a question that of the answer, for others the chunk itself.
pub fn section_chunk(chunk: i32) -> i32 {
    if is_question(chunk) {
        (chunk - FIRST) / OF_CHUNK
    } else {
        chunk
    }
}

/// The text that is embedded for a question.
pub fn passage(question: &str) -> String {
    question.to_owned()
}
