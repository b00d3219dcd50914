//! Questions that pages answer, as their authors give them: in a file beside the pages, or in front matter.

pub mod front_matter;
pub mod headings;
pub mod missing;
pub mod question_file;
pub mod with_document;
