//! Fuzz targets for arguments of tools and URIs of resources.

use docsearch_fuzz::{Format, Target, text};
use serde_json::{Map, Value};

use super::arguments::{Arguments, Parameter};
use super::{resources, tool};

const PARAMETERS: [Parameter; 2] = [
    Parameter {
        name: "a",
        aliases: &["from", "category"],
    },
    Parameter {
        name: "filter",
        aliases: &["b"],
    },
];

pub(crate) const TARGETS: &[Target] = &[
    Target::new("cli-tool-arguments", Format::FILTER, arguments),
    Target::new("cli-resource-address", Format::LINES, addresses),
];

fn arguments(input: &[u8]) {
    let Ok(given) = serde_json::from_slice::<Map<String, Value>>(input) else {
        return;
    };
    if let Ok(arguments) = Arguments::new("tool", Some(given), &PARAMETERS) {
        for name in ["a", "filter"] {
            let _ = arguments.required_text(name);
            let _ = arguments.texts(name);
            let _ = arguments.integer(name);
            let _ = arguments.number(name);
            let _ = arguments.object(name);
        }
    }
}

fn addresses(input: &[u8]) {
    let text = &*text(input);
    for address in [text, &format!("docsearch://{text}")] {
        if let Some(found) = resources::ResourceUri::parse(address) {
            assert!(found.reference().contains('/'));
        }
        tool::reference(address);
    }
}
