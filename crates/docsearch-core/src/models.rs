//! No model is called here: prompts go out as text, and replies come in as text.

pub mod json_object;
pub mod prompt;
pub mod question_reply;
pub mod self_test;
pub mod wording_reply;
