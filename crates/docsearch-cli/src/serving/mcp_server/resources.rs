//! Documents as resources: `docsearch://project/slug`.

use std::fmt;

use docsearch_core::values::bounds::shown;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompletionInfo, ListResourcesResult, Reference, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::Value;

use super::prompts;
use crate::library::{Library, ListRequest, LoadRequest, OutputFormat};
use crate::process::error::Error;

const SCHEME: &str = "docsearch://";
/// Expands to whole slugs. A client that only knows `{slug}` may encode their slashes.
const TEMPLATE: &str = "docsearch://{project}/{+slug}";
const MARKDOWN: &str = "text/markdown";
/// Number of resources in a page.
const PAGE: i64 = 100;

/// Characters that are not encoded.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'(')
    .remove(b')')
    .remove(b':')
    .remove(b'/');

/// The URI of a document or section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourceUri {
    project: String,
    slug: String,
    section: Option<String>,
}

impl ResourceUri {
    pub(super) fn new(project: &str, slug: &str) -> Self {
        Self {
            project: project.to_owned(),
            slug: slug.to_owned(),
            section: None,
        }
    }

    /// Parses a URI; `None` if it is of another form.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(SCHEME)?;
        let (path, section) = match rest.split_once('#') {
            Some((path, section)) => (path, Some(section)),
            None => (rest, None),
        };
        let (project, slug) = path.split_once('/')?;
        let decode = |text: &str| {
            percent_decode_str(text)
                .decode_utf8()
                .ok()
                .map(|text| text.into_owned())
        };
        let (project, slug) = (decode(project)?, decode(slug)?);
        (!project.is_empty() && !slug.is_empty()).then_some(Self {
            project,
            slug,
            section: section.and_then(decode),
        })
    }

    /// The reference for `load_doc`.
    pub(super) fn reference(&self) -> String {
        let section = self.section.as_ref().map(|section| format!("#{section}"));
        format!("{}/{}{}", self.project, self.slug, section.unwrap_or_default())
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encode = |text| utf8_percent_encode(text, SEGMENT);
        write!(out, "{SCHEME}{}/{}", encode(&self.project), encode(&self.slug))
    }
}

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "document")
        .with_title("Document")
        .with_description("A document of a project as Markdown")
        .with_mime_type(MARKDOWN)
}

/// A page of the documents. The cursor is its offset.
pub(super) async fn list(library: &Library, cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let offset = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .ok()
            .filter(|offset| *offset >= 0)
            .ok_or_else(|| ErrorData::invalid_params(format!("unknown cursor \"{}\"", shown(&cursor)), None))?,
    };
    let request = ListRequest {
        offset,
        limit: Some(PAGE),
        format: OutputFormat::Json,
        ..ListRequest::default()
    };
    let listing = library.list(&request).await.map_err(internal)?;
    let mut result = ListResourcesResult::with_all_items(listing.documents().iter().map(resource).collect());
    result.next_cursor = listing.next_offset.map(|offset| offset.to_string());
    Ok(result)
}

fn resource(document: &Value) -> Resource {
    let text = |key: &str| document[key].as_str().unwrap_or_default();
    let uri = ResourceUri::new(text("project"), text("slug"));
    let mut resource = Resource::new(uri.to_string(), uri.reference())
        .with_title(text("title"))
        .with_mime_type(MARKDOWN);
    resource.description = document["description"].as_str().map(str::to_owned);
    resource
}

/// Reads the document or section at a URI.
pub(super) async fn read(library: &Library, uri: &str) -> Result<ResourceContents, ErrorData> {
    let Some(parsed) = ResourceUri::parse(uri) else {
        let message = format!(
            "\"{}\" is not a resource of this server; the form is {TEMPLATE}",
            shown(uri)
        );
        return Err(ErrorData::resource_not_found(message, None));
    };
    let request = LoadRequest {
        project: Some(parsed.project.clone()),
        section: parsed.section.clone(),
        ..LoadRequest::new(&parsed.slug)
    };
    let text = library
        .load(&request)
        .await
        .map_err(|error| match error.is_not_found() {
            true => ErrorData::resource_not_found(error.to_string(), None),
            false => internal(error),
        })?;
    Ok(ResourceContents::text(text, uri).with_mime_type(MARKDOWN))
}

/// Completes projects, or slugs in the project that is already given.
pub(super) async fn complete(library: &Library, request: &CompleteRequestParams) -> Result<CompletionInfo, ErrorData> {
    let argument = request.argument.name.as_str();
    let unknown = match &request.r#ref {
        Reference::Resource(template) if !template.uri.starts_with(SCHEME) => {
            Some(format!("unknown template \"{}\"", shown(&template.uri)))
        }
        Reference::Prompt(prompt) if prompt.name != prompts::WRITE_QUESTIONS => {
            Some(format!("unknown prompt \"{}\"", shown(&prompt.name)))
        }
        Reference::Prompt(_) if argument != prompts::PROJECT => {
            Some(format!("unknown argument \"{}\"", shown(argument)))
        }
        Reference::Resource(_) | Reference::Prompt(_) => None,
        _ => Some("unknown reference".to_owned()),
    };
    if let Some(unknown) = unknown {
        return Err(ErrorData::invalid_params(unknown, None));
    }
    let most = CompletionInfo::MAX_VALUES;
    let typed = request.argument.value.as_str();
    let mut values = match argument {
        "project" => {
            let projects = library.projects().await.map_err(internal)?;
            let names = projects.into_iter().map(|project| project.name);
            names
                .filter(|name| name.to_lowercase().starts_with(&typed.to_lowercase()))
                .collect()
        }
        "slug" | "+slug" => {
            let given = request.context.as_ref().and_then(|context| context.arguments.as_ref());
            let project = given.and_then(|given| given.get("project")).map(String::as_str);
            let limit = i64::try_from(most + 1).unwrap_or(i64::MAX);
            library.complete_slug(project, typed, limit).await.map_err(internal)?
        }
        name => {
            return Err(ErrorData::invalid_params(
                format!("unknown argument \"{}\"", shown(name)),
                None,
            ));
        }
    };
    let has_more = values.len() > most;
    values.truncate(most);
    CompletionInfo::with_pagination(values, None, has_more).map_err(|error| ErrorData::internal_error(error, None))
}

pub(super) fn internal(error: Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_can_contain_any_slug() {
        for (project, slug, uri) in [
            ("swiftui", "view/frame", "docsearch://swiftui/view/frame"),
            ("my-docs", "a b#c/ü", "docsearch://my-docs/a%20b%23c/%C3%BC"),
        ] {
            let document = ResourceUri::new(project, slug);
            assert_eq!(document.to_string(), uri);
            assert_eq!(ResourceUri::parse(uri), Some(document));
        }
        assert_eq!(
            ResourceUri::parse("docsearch://swiftui/view%2Fframe#overview")
                .unwrap()
                .reference(),
            "swiftui/view/frame#overview"
        );
        assert_eq!(ResourceUri::parse("docsearch://swiftui"), None);
        assert_eq!(ResourceUri::parse("file:///etc/passwd"), None);
    }
}
