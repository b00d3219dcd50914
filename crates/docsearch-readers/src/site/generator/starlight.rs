//! Starlight.

use std::path::Path;

use super::{Generator, Routes};
use crate::site::Site;
use crate::site::configuration::{first_of, is_url, join, scalar};

pub(crate) static GENERATOR: Generator = Generator {
    configuration: Some(configuration),
    routes: Routes {
        path: |slug, _| slug,
        is_lower_case: true,
        ..Routes::DEFAULT
    },
    containers: &[".sl-markdown-content"],
    admonition_titles: &[".starlight-aside__title"],
    ..Generator::new("Starlight")
};

fn configuration(folder: &Path, _pages: &Path) -> Option<Site> {
    let text = first_of(folder, &["astro.config.mjs", "astro.config.ts", "astro.config.js"])?;
    if !text.contains("starlight") {
        return None;
    }
    Some(Site {
        generator: Some(&GENERATOR),
        content: folder.join("src/content/docs"),
        base: scalar(&text, "site").filter(|url| is_url(url)).map(|url| {
            let below = scalar(&text, "base").unwrap_or_default();
            join(&url, &below)
        }),
        suffix: Some(
            if scalar(&text, "trailingSlash").as_deref() == Some("never") {
                ""
            } else {
                "/"
            }
            .to_owned(),
        ),
        ..Site::default()
    })
}
