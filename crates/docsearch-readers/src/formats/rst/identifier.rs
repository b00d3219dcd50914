//! The identifiers that Sphinx gives to definitions.

/// The context of definitions.
#[derive(Debug, Default)]
pub(super) struct DefinitionContext {
    /// Set by `module` and `currentmodule`.
    pub(super) module: Option<String>,
    /// Set by `program`.
    pub(super) program: Option<String>,
}

/// The identifier of the definition of `name`, a qualified name, by the directive `kind` of `domain`; `None` for a
/// directive of a project's own.
pub(super) fn of(context: &DefinitionContext, domain: &str, kind: &str, name: &str) -> Option<String> {
    let id = match (domain, kind) {
        ("c" | "cpp", _) => format!("c.{name}"),
        (_, "option" | "cmdoption") => {
            let first = name.split(',').next().unwrap_or_default();
            let word = first.split([' ', '=', '[']).find(|word| !word.is_empty())?;
            let option = word.trim_start_matches(['-', '+', '/']);
            match &context.program {
                Some(program) => format!("cmdoption-{program}-{option}"),
                None => format!("cmdoption-{option}"),
            }
        }
        (_, "envvar" | "confval") => format!("{kind}-{name}"),
        _ if is_python(domain, kind) => match &context.module {
            Some(module) if name != module && !name.starts_with(&format!("{module}.")) => format!("{module}.{name}"),
            _ => name.to_owned(),
        },
        _ => return None,
    };
    let is_valid = !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || "{}#".contains(c));
    is_valid.then_some(id)
}

/// Whether a directive describes something of a Python module.
pub(super) fn is_python(domain: &str, kind: &str) -> bool {
    let is_kind = matches!(
        kind,
        "function"
            | "class"
            | "method"
            | "attribute"
            | "data"
            | "exception"
            | "property"
            | "staticmethod"
            | "classmethod"
            | "decorator"
            | "decoratormethod"
    );
    is_kind && matches!(domain, "" | "py")
}

/// The identifier that docutils makes (`docutils.nodes.make_id`).
pub(super) fn identifier(name: &str) -> String {
    let words = name.split(|character: char| !character.is_ascii_alphanumeric());
    let id = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    id.trim_start_matches(|first: char| first.is_ascii_digit() || first == '-')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_called_as_sphinx_calls_them() {
        let context = DefinitionContext {
            module: Some("kit".to_owned()),
            program: Some("kiln".to_owned()),
        };
        for (domain, kind, name, id) in [
            ("py", "function", "fire", Some("kit.fire")),
            ("", "method", "kit.Oven.open", Some("kit.Oven.open")),
            ("", "option", "-p, --port <path>", Some("cmdoption-kiln-p")),
            ("std", "envvar", "KILN_PORT", Some("envvar-KILN_PORT")),
            ("c", "function", "kit_open", Some("c.kit_open")),
            ("", "setting", "DEBUG", None),
        ] {
            assert_eq!(of(&context, domain, kind, name).as_deref(), id, "{kind} {name}");
        }
        let context = DefinitionContext::default();
        assert_eq!(
            of(&context, "", "option", "--port <path>").as_deref(),
            Some("cmdoption-port")
        );
    }
}
