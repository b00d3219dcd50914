//! Schemas as nested lists of the members of objects.

use super::explanation;
use super::reference::{self, Api};
use super::value::{Members, Value};
use super::{described, type_name};

/// Maximum nesting of objects; deeper ones are only named.
const MAX_DEPTH: usize = 6;
/// Maximum lines of a schema.
const MAX_LINES: usize = 400;
/// The same where the schemas that it names are not repeated.
const MAX_OWN_DEPTH: usize = 24;
const MAX_OWN_LINES: usize = 4_000;

/// Lists the members of `schema`, or describes its type on one line.
pub(super) fn list<'a>(api: &Api<'a>, schema: &'a Value) -> String {
    let mut writer = Writer::new(api, MAX_DEPTH, MAX_LINES);
    writer.members(schema, 0);
    writer.finish(schema)
}

/// The same for a schema of its own, without the members of others that it names.
pub(super) fn own_list<'a>(api: &Api<'a>, schema: &'a Value) -> String {
    let mut writer = Writer::new(api, MAX_OWN_DEPTH, MAX_OWN_LINES);
    writer.repeats = false;
    writer.members_of(api.resolve(schema), 0);
    writer.finish(schema)
}

/// A list item for a member, a header or a parameter, with the members of its schema.
pub(super) fn member<'a>(api: &Api<'a>, name: &str, schema: &'a Value, flags: &[&str], said: &str) -> String {
    let mut writer = Writer::new(api, MAX_DEPTH, MAX_LINES);
    writer.lines.push(entry(api, name, schema, flags, said, 0));
    writer.members(schema, 1);
    writer.close();
    writer.lines.join("\n")
}

fn entry<'a>(api: &Api<'a>, name: &str, schema: &'a Value, flags: &[&str], said: &str, depth: usize) -> String {
    let mut details = type_name::of(api, schema);
    for flag in flags {
        details.push_str(", ");
        details.push_str(flag);
    }
    described::item(&format!("`{name}` ({details})"), said, depth)
}

struct Writer<'a, 'b> {
    api: &'b Api<'a>,
    lines: Vec<String>,
    /// References to the enclosing schemas, to detect cycles.
    stack: Vec<&'a str>,
    max_depth: usize,
    max_lines: usize,
    /// Whether the members of schemas with a name are listed wherever the name is.
    repeats: bool,
    /// Places where members without a name were left out.
    cut: usize,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(api: &'b Api<'a>, max_depth: usize, max_lines: usize) -> Self {
        Self {
            api,
            lines: Vec::new(),
            stack: Vec::new(),
            max_depth,
            max_lines,
            repeats: true,
            cut: 0,
        }
    }

    fn finish(mut self, schema: &'a Value) -> String {
        let explanation = explanation::of(self.api, schema);
        let mut head = format!("Type: {}", type_name::of(self.api, schema));
        if !explanation.facts.is_empty() {
            head.push_str(&format!(". {}", explanation.facts.trim()));
        }
        let mut blocks = vec![head];
        blocks.extend(explanation.description().map(str::to_owned));
        self.close();
        if !self.lines.is_empty() {
            blocks.push(self.lines.join("\n"));
        }
        blocks.join("\n\n") + "\n"
    }

    fn close(&mut self) {
        if self.cut > 0 || self.is_full() {
            self.lines.push("- ...".to_owned());
        }
    }

    fn is_full(&self) -> bool {
        self.lines.len() > self.max_lines
    }

    fn push(&mut self, line: String) {
        match self.api.take_room(line.len()) {
            true => self.lines.push(line),
            false => self.leave_out(),
        }
    }

    /// Counts members that are left out. If a schema with a name contains them, another document lists them.
    fn leave_out(&mut self) {
        self.cut += 1;
        if self.stack.is_empty() {
            self.api.mark_cut();
        }
    }

    fn members(&mut self, schema: &'a Value, depth: usize) {
        let target = self.api.resolve(schema);
        let Some(reference) = reference::reference(schema).filter(|_| !std::ptr::eq(schema, target)) else {
            return match depth > self.max_depth || self.is_full() {
                true if has_members(target) => self.leave_out(),
                true => {}
                false => self.members_of(target, depth),
            };
        };
        if depth > self.max_depth || self.is_full() || !self.repeats || self.stack.contains(&reference) {
            return;
        }
        let before = self.cut;
        self.stack.push(reference);
        self.members_of(target, depth);
        self.stack.pop();
        if self.cut == before {
            self.api.mark_described(reference);
        }
    }

    fn members_of(&mut self, target: &'a Value, depth: usize) {
        for part in explanation::parts(self.api, target) {
            self.members(part, depth);
        }
        for (keyword, prefix) in [("properties", ""), ("patternProperties", "any name like ")] {
            if let Some(properties) = target.get(keyword).and_then(Value::as_object) {
                self.properties(properties, prefix, target, depth);
            }
        }
        for (number, item) in array(target, "prefixItems").enumerate() {
            self.member(&number.to_string(), item, &[], depth);
        }
        for keyword in explanation::VALUES {
            if let Some(inner) = target.get(keyword).filter(|inner| inner.is_object()) {
                self.members(inner, depth);
            }
        }
        self.variants(target, depth);
    }

    /// Schemas of which a value meets one, if they differ in more than their type.
    fn variants(&mut self, target: &'a Value, depth: usize) {
        let variants = explanation::variants(self.api, target);
        let says_more = |variant: &&'a Value| {
            has_members(self.api.resolve(variant)) || !explanation::of(self.api, variant).is_empty()
        };
        if !variants.iter().any(says_more) {
            return;
        }
        for variant in variants {
            if self.is_full() {
                return self.leave_out();
            }
            let said = explanation::of(self.api, variant).text();
            let line = described::item(&type_name::of(self.api, variant), &said, depth);
            self.push(line);
            self.members(variant, depth + 1);
        }
    }

    fn properties(&mut self, properties: &'a Members, prefix: &str, owner: &'a Value, depth: usize) {
        for (name, property) in properties {
            if self.is_full() {
                return self.leave_out();
            }
            let is_required = array(owner, "required").any(|required| required.as_str() == Some(name));
            let flags: &[&str] = if is_required { &["required"] } else { &[] };
            self.member(&format!("{prefix}{name}"), property, flags, depth);
        }
    }

    fn member(&mut self, name: &str, schema: &'a Value, flags: &[&str], depth: usize) {
        let target = self.api.resolve(schema);
        let mut flags = flags.to_vec();
        flags.extend(
            FLAGS
                .iter()
                .filter(|(key, _)| is_set(target, key))
                .map(|(_, word)| word),
        );
        let said = explanation::of_member(self.api, name, schema).text();
        let line = entry(self.api, name, schema, &flags, &said, depth);
        self.push(line);
        self.members(schema, depth + 1);
    }
}

const FLAGS: [(&str, &str); 4] = [
    ("nullable", "nullable"),
    ("readOnly", "read only"),
    ("writeOnly", "write only"),
    ("deprecated", "deprecated"),
];

fn is_set(schema: &Value, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn array<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Whether values have members of their own, or may be of several kinds.
fn has_members(schema: &Value) -> bool {
    let keywords = [
        "properties",
        "patternProperties",
        "prefixItems",
        "allOf",
        "oneOf",
        "anyOf",
    ];
    let own = keywords.iter().any(|keyword| schema.get(keyword).is_some());
    own || explanation::VALUES
        .iter()
        .any(|keyword| schema.get(keyword).is_some_and(Value::is_object))
}
