//! `list_docs` as text: projects first, or documents of a project.

use docsearch_core::answer::delivery::without_references;
use serde_json::{Value, json};

use crate::library::{DocumentList, Library, ListRequest, OutputFormat, ProjectEntry};
use crate::process::error::Error;

/// The projects, if none was given and there are several; otherwise the documents.
pub(super) async fn list(library: &Library, request: ListRequest) -> Result<String, Error> {
    let is_open = request.projects.is_empty() && request.category.is_none() && request.kind.is_none();
    if is_open && request.offset == 0 && request.sort_by.is_none() {
        let projects = library.projects().await?;
        if projects.len() != 1 {
            return Ok(match request.format {
                OutputFormat::Json => projects_json(&projects).to_string(),
                OutputFormat::Compact | OutputFormat::Detailed => projects_text(&projects),
            });
        }
    }
    let listing = library.list(&request).await?;
    Ok(match request.format {
        OutputFormat::Json => listing.to_json().to_string(),
        OutputFormat::Compact | OutputFormat::Detailed => documents_text(&listing, request.offset),
    })
}

fn projects_json(projects: &[ProjectEntry]) -> Value {
    let entries = projects.iter().map(
        |project| json!({"project": project.name, "documents": project.documents, "categories": project.categories}),
    );
    json!({"projects": entries.collect::<Vec<_>>()})
}

fn projects_text(projects: &[ProjectEntry]) -> String {
    if projects.is_empty() {
        return "No documents are indexed yet.".to_owned();
    }
    let mut text = format!("{} projects\n", projects.len());
    for project in projects {
        text.push_str(&format!("{}: {}", project.name, documents(project.documents)));
        if !project.categories.is_empty() {
            let categories = project.categories.join(", ").replace(char::is_control, " ");
            text.push_str(&format!(" ({})", without_references(&categories)));
        }
        text.push('\n');
    }
    text
}

fn documents_text(listing: &DocumentList, offset: i64) -> String {
    if listing.entries.is_empty() {
        return format!(
            "note: no documents after offset {offset}, of {}",
            documents(listing.total)
        );
    }
    let mut text = format!("{}\n{}", documents(listing.total), listing.entries.join("\n"));
    if let Some(next) = listing.next_offset {
        text.push_str(&format!("\nnote: {} more, offset {next}", listing.total - next));
    }
    text
}

fn documents(count: i64) -> String {
    match count {
        1 => "1 document".to_owned(),
        _ => format!("{count} documents"),
    }
}
