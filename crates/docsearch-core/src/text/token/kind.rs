//! What tokens are.

/// Kinds of tokens. The numbers are those that the headline function of Postgres' default parser
/// knows: 15 to 17 are left out of headlines, 12 is never a match, the rest is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum TokenKind {
    /// A word of a language.
    Word = 1,
    /// Letters and digits in one piece: `sha256`, `42P01`.
    NumberWord = 3,
    /// A version: `15.4.1`, `v2.0`, `1.0.0-rc.15`.
    Version = 8,
    /// A part of an identifier that holds digits.
    NumberPart = 9,
    /// A part of an identifier that is a word.
    Part = 10,
    /// What stands between tokens.
    Gap = 12,
    /// Names joined by qualifiers: `os.path.join`, `std::vector`.
    Qualified = 15,
    /// A name of several parts or with a mark: `UITableView`, `--long-flag`, `C++`, `@State`.
    Identifier = 16,
    /// Two neighbouring characters of a script that is written without spaces.
    Bigram = 17,
    /// A number.
    Number = 22,
    /// An operator: `@>`, `||`, `[[`.
    Operator = 24,
}

impl TokenKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [TokenKind; 11] = [
        Self::Word,
        Self::NumberWord,
        Self::Version,
        Self::NumberPart,
        Self::Part,
        Self::Gap,
        Self::Qualified,
        Self::Identifier,
        Self::Bigram,
        Self::Number,
        Self::Operator,
    ];

    /// The kind with this number. `None` if no kind has it.
    pub fn from_id(id: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i32 == id)
    }

    /// The alias that text search configurations name the kind by.
    pub fn alias(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::NumberWord => "numword",
            Self::Version => "version",
            Self::NumberPart => "numpart",
            Self::Part => "part",
            Self::Gap => "gap",
            Self::Qualified => "qualified",
            Self::Identifier => "identifier",
            Self::Bigram => "bigram",
            Self::Number => "number",
            Self::Operator => "operator",
        }
    }

    /// What `ts_token_type` says of the kind.
    pub fn description(self) -> &'static str {
        match self {
            Self::Word => "Word",
            Self::NumberWord => "Word with digits",
            Self::Version => "Version number",
            Self::NumberPart => "Part of an identifier, with digits",
            Self::Part => "Part of an identifier",
            Self::Gap => "Space and punctuation",
            Self::Qualified => "Qualified name, whole",
            Self::Identifier => "Identifier, whole",
            Self::Bigram => "Two characters of Chinese, Japanese or Korean",
            Self::Number => "Number",
            Self::Operator => "Operator",
        }
    }

    /// Whether tokens of this kind repeat text that follows again in parts.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Qualified | Self::Identifier | Self::Bigram)
    }

    /// Whether tokens of this kind count for the length of a text: original words only, no parts.
    pub fn is_counted(self, inside_whole: bool) -> bool {
        match self {
            Self::Gap => false,
            kind if kind.is_whole() => true,
            _ => !inside_whole,
        }
    }
}
