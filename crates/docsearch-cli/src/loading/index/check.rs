//! `docsearch index --check-links`: checks links without a database.

use serde_json::json;

use super::run::IndexRun;
use crate::loading::link_check::LinkCheck;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::sources::document_source::DocumentSource;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;
use crate::terminal::sanitize_line;

impl IndexRun<'_> {
    /// Reports every broken link within the documentation. `exists` returns whether there is a file at a path.
    pub(super) fn check_links(
        &self,
        source: &mut dyn DocumentSource,
        interrupt: &Interrupt,
        exists: impl Fn(&str) -> bool,
    ) -> Result<Outcome, Error> {
        let report = Report::new(self.options.json, source.len());
        self.report_problems(&report);
        let mut statistics = SourceStatistics::default();
        let mut check = LinkCheck::default();
        while let Some(documents) = source.next(&mut statistics, &report)? {
            if interrupt.is_raised() {
                return Ok(Outcome::Interrupted);
            }
            documents.into_iter().for_each(|document| check.add(document));
        }
        let (links, broken) = check.run(exists);
        if self.options.json {
            check.pages().for_each(|page| report.event(&page));
        }
        for link in &broken {
            if self.options.json {
                report.event(&json!({
                    "event": "broken_link",
                    "source_path": link.source_path,
                    "link": link.link,
                    "reason": link.reason,
                }));
            } else {
                println!(
                    "{}",
                    sanitize_line(&format!("{}: {}: {}", link.source_path, link.link, link.reason))
                );
            }
        }
        let ending = json!({
            "event": "done",
            "pages": check.len(),
            "links": links,
            "broken": broken.len(),
            "skipped": statistics.skipped() + self.problems.len(),
            "left_out": statistics.left_out(),
        });
        report.checked(
            &format!("{} pages, {links} links, {} broken", check.len(), broken.len()),
            &ending,
        );
        if let (Some(text), false) = (statistics.left_out().text(), self.options.json) {
            report.note(&text);
        }
        let is_clean = broken.is_empty() && statistics.skipped() == 0 && self.problems.is_empty();
        Ok(if is_clean { Outcome::Complete } else { Outcome::Partial })
    }
}
