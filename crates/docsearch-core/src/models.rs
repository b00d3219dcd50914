//! Prompts and replies of models, as text. No model is called here.

pub mod json_object;
pub mod prompt;
pub mod question_reply;
pub mod self_test;
pub mod wording_reply;
