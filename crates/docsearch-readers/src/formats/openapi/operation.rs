//! One operation: a method of a path.

use std::collections::HashSet;

use serde_json::{Map, json};

use super::message::{Message, is_true};
use super::reference::Api;
use super::value::Value;
use super::{described, example, fact, security, server, text};
use crate::draft::Draft;
use crate::draft::front_matter::FrontMatter;
use crate::file::slug;

const METHODS: [&str; 9] = [
    "get", "post", "put", "patch", "delete", "head", "options", "trace", "query",
];
/// Maximum nesting of callbacks.
const MAX_CALLBACK_DEPTH: usize = 2;

pub(super) struct Operation<'a> {
    pub(super) method: String,
    /// The path, or the name of a webhook.
    pub(super) path: &'a str,
    pub(super) is_webhook: bool,
    value: &'a Value,
    /// The path item, with the parameters and servers that all its methods share.
    item: &'a Value,
}

/// Every operation in the order of the file, then every webhook.
pub(super) fn all<'a>(api: &Api<'a>) -> Vec<Operation<'a>> {
    let mut operations = of_items(api, api.root.get("paths"), false);
    for key in ["webhooks", "x-webhooks"] {
        operations.extend(of_items(api, api.root.get(key), true));
    }
    operations
}

fn of_items<'a>(api: &Api<'a>, items: Option<&'a Value>, is_webhook: bool) -> Vec<Operation<'a>> {
    let items = items.and_then(Value::as_object);
    items
        .into_iter()
        .flatten()
        .flat_map(|(path, item)| {
            let item = api.resolve(item);
            METHODS.iter().filter_map(move |method| {
                Some(Operation {
                    method: method.to_ascii_uppercase(),
                    path,
                    is_webhook,
                    value: item.get(method).filter(|value| value.is_object())?,
                    item,
                })
            })
        })
        .collect()
}

impl<'a> Operation<'a> {
    /// `GET /pets/{id}`
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn id(&self) -> Option<&'a str> {
        text(self.value, "operationId")
    }

    /// `None` if it is missing or empty.
    pub(super) fn summary(&self) -> Option<&'a str> {
        text(self.value, "summary")
    }

    pub(super) fn tags(&self) -> Vec<&'a str> {
        let tags = self.value.get("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Makes the document; `taken` has the slugs of the documents before it.
    pub(super) fn draft(&self, api: &Api<'a>, taken: &mut HashSet<String>) -> Draft {
        let by_path = slug::from_title(&format!("{} {}", self.method, self.path));
        let mut slug_suffix = self.id().map_or_else(|| by_path.clone(), slug::normalise);
        if slug_suffix.is_empty() || taken.contains(&slug_suffix) {
            slug_suffix = by_path;
        }
        let mut number = 1;
        let base = slug_suffix.clone();
        while !taken.insert(slug_suffix.clone()) {
            number += 1;
            slug_suffix = format!("{base}-{number}");
        }
        let mut keywords = vec![self.line()];
        keywords.extend(self.id().map(str::to_owned));
        let tags = self.tags();
        let place = if self.is_webhook { "webhook" } else { "path" };
        let mut metadata = Map::from_iter([
            ("method".to_owned(), json!(self.method)),
            (place.to_owned(), json!(self.path)),
        ]);
        if !tags.is_empty() {
            metadata.insert("tags".to_owned(), json!(tags));
        }
        if let Some(server) = self.servers(api).first().filter(|_| !self.is_webhook) {
            metadata.insert("server".to_owned(), json!(server));
        }
        let title = self.id().map_or_else(|| self.line(), str::to_owned);
        let matter = FrontMatter {
            title: Some(title.clone()),
            category: tags.first().map(|tag| (*tag).to_owned()),
            version: api.info("version"),
            summary: self.summary().map(described::line),
            keywords,
            metadata,
            ..FrontMatter::default()
        };
        let body = self.body(api, &title);
        Draft {
            slug_suffix: Some(slug_suffix),
            body,
            warning: cut_warning(api),
            ..Draft::new(matter)
        }
    }

    fn servers(&self, api: &Api<'a>) -> Vec<String> {
        self.own_servers()
            .map_or_else(|| server::addresses(api), server::own_addresses)
    }

    /// The operation or the path, if it has servers of its own.
    fn own_servers(&self) -> Option<&'a Value> {
        [self.value, self.item]
            .into_iter()
            .find(|owner| !server::own_addresses(owner).is_empty())
    }

    fn body(&self, api: &Api<'a>, title: &str) -> String {
        let mut message = Message {
            api,
            level: 2,
            blocks: vec![format!("# {title}"), format!("`{}`", self.line())],
        };
        if self.is_webhook {
            message.blocks.push("A webhook: the API sends this request.".to_owned());
        }
        self.describe(&mut message, 0);
        if let Some(owner) = self.own_servers() {
            message.heading("Servers");
            message.blocks.push(server::own_items(owner).join("\n"));
        }
        let samples = example::samples(self.value);
        if !samples.is_empty() {
            message.heading("Code samples");
            message.blocks.extend(samples);
        }
        if !self.is_webhook || self.value.get("security").is_some() {
            message.blocks.extend(security::of_operation(api, self.value));
        }
        let blocks: Vec<&str> = message.blocks.iter().map(|block| block.trim_end()).collect();
        blocks.join("\n\n") + "\n"
    }

    /// What is said of the operation, of its request and of its responses. Callbacks are operations, too.
    fn describe(&self, message: &mut Message<'a, '_>, depth: usize) {
        let api = message.api;
        if is_true(self.value, "deprecated") {
            message.blocks.push("**Deprecated.**".to_owned());
        }
        message.blocks.extend(text(self.item, "summary").map(str::to_owned));
        message.description(self.item);
        message.blocks.extend(self.summary().map(str::to_owned));
        message.description(self.value);
        let documentation = self.value.get("externalDocs").and_then(fact::external);
        message.blocks.extend(documentation);
        let parameters = self.parameters(api);
        message.parameters(&parameters);
        self.media_types(message, "consumes", "Accepts");
        if !message.swagger_body(&parameters)
            && let Some(request) = self.value.get("requestBody")
        {
            message.request_body(api.resolve(request));
        }
        self.media_types(message, "produces", "Returns");
        message.responses(self.value);
        let callbacks = self.value.get("callbacks").and_then(Value::as_object);
        if let Some(callbacks) = callbacks.filter(|all| !all.is_empty() && depth < MAX_CALLBACK_DEPTH) {
            message.heading("Callbacks");
            for (name, callback) in callbacks {
                for operation in of_items(api, Some(api.resolve(callback)), true) {
                    message.level += 1;
                    message.heading(&format!("`{name}`: `{}`", operation.line()));
                    message.level += 1;
                    operation.describe(message, depth + 1);
                    message.level -= 2;
                }
            }
        }
    }

    /// The media types of requests or responses in Swagger 2.0.
    fn media_types(&self, message: &mut Message<'a, '_>, key: &str, label: &str) {
        let types = self.value.get(key).and_then(Value::as_array).into_iter().flatten();
        let types: Vec<String> = types
            .filter_map(Value::as_str)
            .map(|name| format!("`{name}`"))
            .collect();
        if !types.is_empty() {
            message.blocks.push(format!("{label} {}.", types.join(", ")));
        }
    }

    /// The parameters of the operation, then those of the path that it does not override.
    fn parameters(&self, api: &Api<'a>) -> Vec<&'a Value> {
        let key = |parameter: &Value| {
            (
                text(parameter, "name").map(str::to_owned),
                text(parameter, "in").map(str::to_owned),
            )
        };
        let mut seen = HashSet::new();
        [self.value, self.item]
            .iter()
            .filter_map(|owner| owner.get("parameters")?.as_array())
            .flatten()
            .map(|parameter| api.resolve(parameter))
            .filter(|parameter| seen.insert(key(parameter)))
            .collect()
    }
}

/// Says that text was left out, because it would have been too much.
pub(super) fn cut_warning(api: &Api<'_>) -> Option<String> {
    match api.take_cut() {
        0 => None,
        1 => Some("left out: a part of a schema or an example that is too large".to_owned()),
        count => Some(format!(
            "left out: {count} parts of schemas and examples that are too large"
        )),
    }
}
