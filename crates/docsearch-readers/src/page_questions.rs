//! Questions that pages answer, as their authors give them: in a file beside the pages, or in front matter.

pub(crate) mod front_matter;
pub(crate) mod headings;
pub(crate) mod question_file;
pub(crate) mod with_document;
