//! Statements of JavaScript in a page: what it imports and defines.

use std::collections::HashMap;

use super::attribute;

/// Names that the page imports and defines.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Files, by the name of the component or of the text.
    pub(super) imports: HashMap<String, Import>,
    /// Texts.
    pub(super) constants: HashMap<String, String>,
    /// Components that the page defines: what they show.
    pub(super) components: HashMap<String, String>,
}

/// An imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Import {
    /// Markdown.
    Page(String),
    /// Shown as it is.
    Source(String),
}

impl Names {
    pub(super) fn is_empty(&self) -> bool {
        self.imports.is_empty() && self.constants.is_empty() && self.components.is_empty()
    }

    pub(super) fn add(&mut self, statement: &str) {
        if let Some(rest) = statement.trim_start().strip_prefix("import") {
            self.import(rest);
        } else if let Some(rest) = statement.trim_start().strip_prefix("export") {
            self.export(rest.trim_start().trim_start_matches("default").trim_start());
        }
    }

    /// ` Name, {Content as Other} from './file.mdx'`
    fn import(&mut self, rest: &str) {
        let Some((clause, target)) = rest.rsplit_once("from") else {
            return;
        };
        let target = target.trim().trim_end_matches(';').trim_end();
        let Some(target) = attribute::literal(target) else {
            return;
        };
        let import = match source_file(&target) {
            Some(file) => Import::Source(file),
            None if is_page(&target) => Import::Page(target),
            None => return,
        };
        let names = clause.split([',', '{', '}']).map(str::trim);
        for name in names {
            let name = name.rsplit(" as ").next().unwrap_or_default().trim();
            if is_identifier(name) && !name.starts_with("toc") {
                self.imports.insert(name.to_owned(), import.clone());
            }
        }
    }

    /// `const Name = 'text'`, `const Name = () => <p>text</p>`, `function Name() { return <p>text</p> }`
    fn export(&mut self, rest: &str) {
        let Some((kind, rest)) = rest.split_once(char::is_whitespace) else {
            return;
        };
        let length = rest
            .find(|character: char| !(character.is_alphanumeric() || character == '_' || character == '$'))
            .unwrap_or(rest.len());
        let (name, value) = rest.split_at(length);
        if !is_identifier(name) || !matches!(kind, "const" | "let" | "var" | "function") {
            return;
        }
        let value = value.trim_start().trim_start_matches('=').trim();
        let value = value.trim_end_matches(';').trim_end();
        if let Some(text) = attribute::literal(value).filter(|text| !text.contains("${")) {
            self.constants.insert(name.to_owned(), text);
        } else if value.parse::<f64>().is_ok() {
            self.constants.insert(name.to_owned(), value.to_owned());
        } else if let Some(shown) = elements(value, kind == "function").filter(|_| starts_upper(name)) {
            self.components.insert(name.to_owned(), shown.to_owned());
        }
    }
}

/// The elements that a function returns.
fn elements(function: &str, is_declaration: bool) -> Option<&str> {
    let body = match is_declaration {
        true => function,
        false => function.split_once("=>")?.1.trim_start(),
    };
    let body = match body.trim_start_matches(['(', ' ', '\n', '\t']).starts_with('<') && !is_declaration {
        true => body,
        false => body.rsplit_once("return")?.1,
    };
    let start = body.find('<')?;
    let is_first = body[..start]
        .chars()
        .all(|character| character == '(' || character.is_whitespace());
    let end = body.rfind('>')?;
    (is_first && start < end).then(|| &body[start..=end])
}

/// The file whose text an import gives as it is: `!!raw-loader!./a.js`, `./a.js?raw`.
fn source_file(target: &str) -> Option<String> {
    let target = match target.rsplit_once('!') {
        Some((loaders, file)) if loaders.contains("raw-loader") => file,
        _ => target.strip_suffix("?raw")?,
    };
    Some(target.to_owned())
}

/// Whether an import is a page or a part of one.
pub(super) fn is_page(target: &str) -> bool {
    let file = target.split(['?', '#']).next().unwrap_or_default();
    [".md", ".mdx", ".markdown"]
        .iter()
        .any(|extension| file.ends_with(extension))
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|character| character.is_alphanumeric() || "_$".contains(character))
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

pub(super) fn starts_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Whether a line begins a statement.
pub(super) fn is_statement(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("import ") {
        return rest.starts_with(['{', '*', '"', '\''])
            || rest.contains(" from '")
            || rest.contains(" from \"")
            || rest.ends_with('{');
    }
    line.strip_prefix("export ").is_some_and(|rest| {
        let word = rest.split([' ', '(']).next().unwrap_or_default();
        matches!(
            word,
            "const" | "let" | "var" | "function" | "default" | "class" | "async" | "type" | "interface" | "{" | "*"
        ) || rest.starts_with('{')
    })
}

/// The lines of a statement, until its brackets are closed.
pub(super) fn statement<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let balance = |line: &str| {
        line.chars().fold(0_i64, |sum, character| match character {
            '{' | '(' | '[' => sum + 1,
            '}' | ')' | ']' => sum - 1,
            _ => sum,
        })
    };
    let mut statement = vec![first];
    let mut open = balance(first);
    while open > 0 {
        match lines.next() {
            Some(line) => {
                open += balance(line);
                statement.push(line);
            }
            None => break,
        }
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(statements: &[&str]) -> Names {
        let mut names = Names::default();
        for statement in statements {
            names.add(statement);
        }
        names
    }

    #[test]
    fn imports_of_pages_and_sources_are_known_by_every_name() {
        let names = names(&[
            "import A, {toc as tocA, Content as B} from './a.mdx';",
            "import { Part } from \"@site/b.md\"",
            "import Code from '!!raw-loader!./c.js';",
            "import Raw from './d.sh?raw';",
            "import Tabs from '@theme/Tabs';",
            "import './style.css';",
        ]);
        let page = |target: &str| Some(Import::Page(target.to_owned()));
        let source = |target: &str| Some(Import::Source(target.to_owned()));
        let get = |name: &str| names.imports.get(name).cloned();
        assert_eq!(get("A"), page("./a.mdx"));
        assert_eq!(get("B"), page("./a.mdx"));
        assert_eq!(get("Part"), page("@site/b.md"));
        assert_eq!(get("Code"), source("./c.js"));
        assert_eq!(get("Raw"), source("./d.sh"));
        assert_eq!((get("tocA"), get("Tabs")), (None, None));
    }

    #[test]
    fn constants_and_components_of_the_page_are_known() {
        let names = names(&[
            "export const version = '1.2';",
            "export const port = 80",
            "export const Mark = ({children}) => (\n  <b>{children}</b>\n);",
            "export function Note() {\n  return <p>Mind it.</p>;\n}",
            "export const data = {a: '<b>'};",
        ]);
        assert_eq!(names.constants["version"], "1.2");
        assert_eq!(names.constants["port"], "80");
        assert_eq!(names.components["Mark"], "<b>{children}</b>");
        assert_eq!(names.components["Note"], "<p>Mind it.</p>");
        assert_eq!(names.components.len(), 2);
    }
}
