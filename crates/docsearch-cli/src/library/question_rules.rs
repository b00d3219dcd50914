//! Rules for writing questions: for the skill, the prompt of `docsearch mcp`, and `docsearch questions list`.

use std::sync::LazyLock;

/// The same text as in the skill `docsearch-questions`.
pub(crate) const RULES: &str = include_str!("question_rules.md");
/// Number of the most important rules.
const FIRST: usize = 3;

/// Instructions for one section, in a few sentences.
pub(crate) static INSTRUCTION: LazyLock<String> = LazyLock::new(|| {
    let rules: Vec<String> = bullets().take(FIRST).collect();
    format!(
        "Write the questions that this section answers, each a line of JSON with the keys file, heading and question. {}",
        rules.join(" ")
    )
});

/// The rules, each on one line.
fn bullets() -> impl Iterator<Item = String> {
    let list = RULES
        .split("\n\n")
        .find(|block| block.starts_with("- "))
        .unwrap_or_default();
    list.split("\n- ").map(|rule| {
        rule.trim_start_matches("- ")
            .split_whitespace()
            .collect::<Vec<&str>>()
            .join(" ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skill_has_the_same_rules() {
        let skill = include_str!("../../../../skills/docsearch-questions/SKILL.md");
        assert!(
            skill.contains(RULES),
            "copy crates/docsearch-cli/src/library/question_rules.md into the skill"
        );
    }

    #[test]
    fn the_instruction_has_whole_rules() {
        assert!(bullets().count() > FIRST);
        assert!(bullets().all(|rule| rule.ends_with('.')));
        assert!(INSTRUCTION.contains("at most eight a section. Write a goal (") && !INSTRUCTION.contains('\n'));
    }
}
