//! Who reads the documentation: people, or assistants.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// Readers that a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Readers {
    /// Those that search with SQL, the command line, HTTP or the search page.
    People,
    /// Those that search over MCP.
    Assistants,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::feedback::Choice;

    #[test]
    fn readers_have_names() {
        assert_eq!(Readers::named("assistants"), Ok(Readers::Assistants));
        assert_eq!(Readers::named("mcp").unwrap_err(), "people, assistants");
    }
}
