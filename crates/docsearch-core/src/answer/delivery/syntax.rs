//! Syntaxes of calls, for notices that give the next call.

use strum::EnumString;

use super::budget::Budget;
use crate::text::token_estimate::CHARS_PER_TOKEN;

/// Most results that a call can skip.
pub const MAX_OFFSET: usize = 1_000;

/// `max_tokens` of the MCP tool `search_docs` unless the caller says more.
pub const MCP_SEARCH_TOKENS: usize = 2_000;

/// The same of `load_doc`.
pub const MCP_LOAD_TOKENS: usize = 6_000;

/// Greatest `max_tokens` of the MCP tools.
pub const MCP_MAX_TOKENS: usize = 20_000;

/// Syntax of the arguments of a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Syntax {
    /// `search_docs_text(...)` with named arguments.
    #[default]
    Sql,
    /// Options of `docsearch search`.
    CommandLine,
    /// Arguments of the tool `search_docs`.
    Mcp,
    /// Parameters of `GET /v1/search`.
    Http,
}

impl Syntax {
    /// The syntax with this name: `sql`, `command_line`, `mcp` or `http`; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The arguments for `count` results after the first `offset`; `None` if that is too many to skip.
    pub(super) fn results(self, count: usize, offset: usize) -> Option<String> {
        (offset <= MAX_OFFSET).then(|| match self {
            Self::Sql => format!("max_results => {count}, config => '{{\"offset\": {offset}}}'"),
            Self::CommandLine => format!("--max-results {count} --config '{{\"offset\": {offset}}}'"),
            Self::Mcp => format!("max_results: {count}, offset: {offset}"),
            Self::Http => format!("max_results={count}&offset={offset}"),
        })
    }

    /// The arguments for an answer of this number of characters.
    pub(super) fn length(self, chars: usize, budget: Budget) -> String {
        let tokens = chars.div_ceil(CHARS_PER_TOKEN);
        match self {
            Self::Sql => budget.raised_to(chars),
            Self::CommandLine => format!("--max-tokens {tokens}"),
            Self::Mcp if tokens > MCP_MAX_TOKENS => "max_results: 1 for one at a time".to_owned(),
            Self::Mcp => format!("max_tokens: {tokens}"),
            Self::Http => format!("max_tokens={tokens}"),
        }
    }

    /// The argument for the format with all fields and labels.
    pub(super) fn detailed(self) -> &'static str {
        match self {
            Self::Sql => "format => 'detailed'",
            Self::CommandLine => "--format detailed",
            Self::Mcp => "format: detailed",
            Self::Http => "max_tokens",
        }
    }

    /// The argument for JSON.
    pub(super) fn json(self) -> &'static str {
        match self {
            Self::Sql => "format => 'raw'",
            Self::CommandLine => "--format json",
            Self::Mcp => "format: json",
            Self::Http => "max_tokens",
        }
    }
}
