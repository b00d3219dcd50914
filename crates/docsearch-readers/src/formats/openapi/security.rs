//! Security schemes, and which of them an operation requires.

use super::reference::Api;
use super::value::Value;
use super::{described, fact, text};

/// Security requirements of an operation, of which one has to be met.
pub(super) fn of_operation(api: &Api<'_>, operation: &Value) -> Option<String> {
    let choices = operation
        .get("security")
        .or_else(|| api.root.get("security"))?
        .as_array()?;
    let lines: Vec<String> = choices
        .iter()
        .filter_map(Value::as_object)
        .map(|choice| {
            let names: Vec<String> = choice
                .iter()
                .map(|(name, scopes)| requirement(api, name, scopes))
                .collect();
            match names.as_slice() {
                [] => "- none".to_owned(),
                _ => format!("- {}", names.join(" and ")),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| format!("## Security\n\n{}", lines.join("\n")))
}

/// The schemes of the API, with their flows and scopes.
pub(super) fn of_api(api: &Api<'_>) -> Option<String> {
    let lines: Vec<String> = api
        .security_schemes()?
        .iter()
        .flat_map(|(name, scheme)| {
            let scheme = api.resolve(scheme);
            let label = format!("`{name}` ({})", kind(scheme));
            let mut facts = String::new();
            for (key, label) in [("bearerFormat", "Format"), ("openIdConnectUrl", "Discovery")] {
                facts.push_str(&text(scheme, key).map_or_else(String::new, |value| format!(" {label}: `{value}`.")));
            }
            let said = fact::after(text(scheme, "description").unwrap_or_default(), &facts);
            let mut lines = vec![described::item(&label, &said, 0)];
            match scheme.get("flows").and_then(Value::as_object) {
                Some(flows) => flows.iter().for_each(|(name, values)| flow(name, values, &mut lines)),
                // Swagger 2.0 has a single flow in the scheme itself.
                None => {
                    if let Some(name) = text(scheme, "flow") {
                        flow(name, scheme, &mut lines);
                    }
                }
            }
            lines
        })
        .collect();
    (!lines.is_empty()).then(|| format!("## Authentication\n\n{}", lines.join("\n")))
}

/// How to get a token of OAuth 2, and the scopes that it may have.
fn flow(name: &str, values: &Value, lines: &mut Vec<String>) {
    let addresses = [
        ("authorizationUrl", "authorization"),
        ("tokenUrl", "token"),
        ("refreshUrl", "refresh"),
        ("deviceAuthorizationUrl", "device authorization"),
    ];
    let addresses: Vec<String> = addresses
        .iter()
        .filter_map(|(key, label)| Some(format!("{label} `{}`", text(values, key)?)))
        .collect();
    lines.push(described::item(&format!("`{name}`"), &addresses.join(", "), 1));
    for (scope, description) in values.get("scopes").and_then(Value::as_object).into_iter().flatten() {
        let description = description.as_str().unwrap_or_default();
        lines.push(described::item(&format!("`{scope}`"), description, 2));
    }
}

fn requirement(api: &Api<'_>, name: &str, scopes: &Value) -> String {
    let mut text = format!("`{name}`");
    if let Some(scheme) = api.security_scheme(name) {
        text.push_str(&format!(" ({})", kind(scheme)));
    }
    let scopes: Vec<String> = scopes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|scope| Some(format!("`{}`", scope.as_str()?)))
        .collect();
    if !scopes.is_empty() {
        text.push_str(&format!(" with {}", scopes.join(", ")));
    }
    text
}

/// `API key in header X-Token`, `HTTP bearer`, `OAuth 2`.
fn kind(scheme: &Value) -> String {
    match text(scheme, "type") {
        Some("apiKey") => format!(
            "API key in {} `{}`",
            text(scheme, "in").unwrap_or("header"),
            text(scheme, "name").unwrap_or_default()
        ),
        Some("http") => format!("HTTP {}", text(scheme, "scheme").unwrap_or_default()),
        Some("oauth2") => "OAuth 2".to_owned(),
        Some("openIdConnect") => "OpenID Connect".to_owned(),
        Some("mutualTLS") => "mutual TLS".to_owned(),
        Some(other) => other.to_owned(),
        None => "unknown".to_owned(),
    }
}
