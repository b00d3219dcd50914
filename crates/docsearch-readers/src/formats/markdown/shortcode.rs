//! Shortcodes of Hugo and tags of Liquid.

/// Attributes of a shortcode that readers see.
const SHOWN: [&str; 4] = ["title=", "header=", "name=", "summary="];

/// The language of the code block that a line opens: `{{< highlight go >}}`, `{% highlight ruby %}`.
pub(super) fn language(text: &str, liquid: bool) -> Option<&str> {
    let inner = text
        .strip_prefix("{{<")
        .or_else(|| text.strip_prefix("{{%"))
        .or_else(|| text.strip_prefix("{%").filter(|_| liquid))?;
    let arguments = inner.trim_start_matches(['-', ' ']).strip_prefix("highlight ")?;
    let end = arguments.find([' ', '%', '>', ',']).unwrap_or(arguments.len());
    Some(arguments[..end].trim_matches('"'))
}

/// Whether a line closes such a block.
pub(super) fn ends_code(line: &str) -> bool {
    let text = line.trim().trim_start_matches(['{', '%', '<', '-', ' ']);
    let end = ["/highlight", "/ highlight", "endhighlight"];
    line.trim().starts_with('{') && end.iter().any(|end| text.starts_with(end))
}

/// `line` without shortcodes and, if `liquid`, without tags and values of Liquid. Their visible text stays.
pub(super) fn without(line: &str, liquid: bool) -> String {
    let openings: &[(&str, &str)] = match liquid {
        true => &[("{{<", ">}}"), ("{{%", "%}}"), ("{%", "%}"), ("{{", "}}")],
        false => &[("{{<", ">}}"), ("{{%", "%}}")],
    };
    let mut output = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('{') {
        let tag = &rest[at..];
        let found = openings.iter().find_map(|(open, close)| {
            let inner = tag.strip_prefix(open)?;
            let end = inner.find(close)?;
            Some((&inner[..end], open.len() + end + close.len()))
        });
        let before = &rest[..at];
        // In a code span it is literal.
        let is_code = before.matches('`').count() % 2 == 1;
        match found.filter(|(inner, _)| !is_code && !inner.starts_with("/*")) {
            Some((inner, length)) => {
                output.push_str(before);
                output.push_str(shown(inner).as_deref().unwrap_or_default());
                rest = &tag[length..];
            }
            None => {
                output.push_str(&rest[..=at]);
                rest = &tag[1..];
            }
        }
    }
    output.push_str(rest);
    output
}

fn shown(inner: &str) -> Option<String> {
    let inner = inner.trim_matches([' ', '-']);
    let (name, arguments) = inner.split_once(' ')?;
    let value = |text: &str| {
        let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        text[1..].split_once(quote).map(|(value, _)| value.to_owned())
    };
    match name {
        // URLs are in links.
        "ref" | "relref" | "link" => value(arguments.trim_start()).or_else(|| Some(arguments.trim().to_owned())),
        "tab" | "details" | "expand" | "tabItem" => value(arguments.trim_start())
            .or_else(|| SHOWN.iter().find_map(|key| value(arguments.split_once(key)?.1)))
            .map(|label| format!("**{label}**")),
        _ => SHOWN
            .iter()
            .filter(|key| **key != "name=")
            .find_map(|key| value(arguments.split_once(key)?.1))
            .map(|label| format!("**{label}**")),
    }
}
