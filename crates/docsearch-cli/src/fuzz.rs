//! Fuzz targets for untrusted files and messages: no input may end the process. See `docsearch_fuzz`.

use docsearch_fuzz::{Format, Target, check, execute};

use crate::serving::{mcp_server, serve};
use crate::sources::document_source::DocumentSource;
use crate::sources::json_lines::JsonLines;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;
use crate::{connection, crawling};

fn targets() -> Vec<Target> {
    let sources = [Target::new("cli-json-lines", Format::JSON_LINES, json_lines)];
    let others = [
        connection::fuzz::TARGETS,
        crawling::fuzz::TARGETS,
        mcp_server::fuzz::TARGETS,
        serve::fuzz::TARGETS,
    ];
    sources.into_iter().chain(others.concat()).collect()
}

#[test]
fn no_input_ends_the_process() {
    check(&targets(), "fuzz::execute_targets");
}

#[test]
#[ignore = "run by the processes that the other test starts"]
fn execute_targets() {
    execute(&targets());
}

fn json_lines(input: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), input).expect("a disk with room");
    let mut lines = JsonLines::open(file.path(), Some("root"), 4096).expect("the file");
    let mut statistics = SourceStatistics::default();
    while let Some(documents) = lines
        .next(&mut statistics, &Report::plain())
        .expect("a file that can be read")
    {
        assert!(documents.iter().all(|document| !document.slug.trim().is_empty()));
    }
}
