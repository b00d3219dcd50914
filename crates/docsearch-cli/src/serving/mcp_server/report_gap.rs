//! The tool `report_gap`, the only one that writes.

use docsearch_core::usage::feedback::Category;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::json;
use strum::VariantArray;

use super::arguments::{Arguments, Parameter};
use super::tool::{self, PROJECT, message, reference};
use crate::library::{GapRequest, Library};

pub(super) const NAME: &str = "report_gap";

const DESCRIPTION: &str = "\
Report to the authors that the documentation is outdated, contradictory, or misses what you needed. Use it once you have \
searched for it and loaded what was found. It stores your report, goal and client's name. Leave out secrets and personal data.";

pub(super) const PARAMETERS: [Parameter; 5] = [
    Parameter {
        name: "category",
        aliases: &["type", "kind", "issue_type"],
    },
    Parameter {
        name: "report",
        aliases: &["text", "description", "message", "issue", "gap", "details"],
    },
    Parameter {
        name: "goal",
        aliases: &["task", "intent", "query"],
    },
    Parameter {
        name: "reference",
        aliases: &["slug", "id", "ref", "doc", "document", "page", "path", "uri", "url"],
    },
    PROJECT,
];

pub(super) fn tool() -> Tool {
    let categories: Vec<&str> = Category::VARIANTS.iter().map(|&category| category.into()).collect();
    let mut tool = tool::tool(
        NAME,
        "Report a gap in the documentation",
        DESCRIPTION,
        &["category", "report"],
        json!({
            "category": {"type": "string", "enum": categories},
            "report": {"type": "string", "maxLength": 2048, "description": "What is wrong or missing"},
            "goal": {"type": "string", "maxLength": 2048, "description": "What you wanted to do"},
            "reference": {"type": "string", "description": "Reference of the page or section, if there is one"},
            "project": {"type": "string", "description": "The project, if no page is at fault"},
        }),
    );
    tool.annotations = tool.annotations.map(|annotations| annotations.read_only(false));
    tool
}

pub(super) async fn call(library: &Library, given: Option<JsonObject>) -> Result<CallToolResult, String> {
    let arguments = Arguments::new(NAME, given, &PARAMETERS)?;
    let request = GapRequest {
        category: arguments.required_text("category")?.trim().to_lowercase(),
        report: arguments.required_text("report")?,
        goal: arguments.text("goal")?,
        reference: arguments.text("reference")?.as_deref().map(reference),
        project: arguments.text("project")?,
    };
    if request.reference.is_none() && request.project.is_none() {
        return Err(
            "reference and project are missing\nHINT:  Name the page, or the project that should have it: \
                    list_docs lists projects."
                .to_owned(),
        );
    }
    let text = match library.report_gap(&request).await.map_err(message)? {
        true => "The report is stored.",
        false => "There is a report of this page and category today. Nothing was stored; do not repeat it.",
    };
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_costs_a_client_at_most_240_tokens() {
        let text = serde_json::to_string(&tool()).unwrap();
        assert!(text.len() <= 240 * 4, "{} characters", text.len());
    }
}
