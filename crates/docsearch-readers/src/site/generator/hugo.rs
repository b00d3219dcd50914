//! Hugo, with the theme Docsy.

use std::path::Path;

use serde_json::Value;

use super::{Generator, Routes};
use crate::site::Site;
use crate::site::configuration::{first_of, inside, is_url, join, scalar};

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    routes: Routes {
        path: |_, matter| matter.get("url").and_then(Value::as_str).map(str::trim),
        name: |slug, _| slug,
        is_lower_case: true,
        ..Routes::DEFAULT
    },
    containers: &[".td-content"],
    ..Generator::new("Hugo")
};

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let named = ["hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"];
    let text = first_of(folder, &named).or_else(|| {
        let old = [
            "config.toml",
            "config.yaml",
            "config.yml",
            "config/_default/hugo.toml",
            "config/_default/config.toml",
        ];
        first_of(folder, &old).filter(|text| scalar(text, "baseURL").is_some())
    })?;
    let content = scalar(&text, "contentDir").unwrap_or_else(|| "content".to_owned());
    let is_flat = scalar(&text, "uglyURLs").as_deref() == Some("true");
    Some(Site {
        generator: Some(&GENERATOR),
        content: inside(folder, &content),
        base: scalar(&text, "baseURL")
            .filter(|url| is_url(url))
            .map(|url| join(&url, "")),
        suffix: Some(if is_flat { ".html" } else { "/" }.to_owned()),
        ..Site::default()
    })
}
