//! Kinds of tokens.

/// Kinds of tokens. The numbers have meanings in the headline function of Postgres' default parser: 5 and 15 to 17 are left
/// out of headlines, 12 is never a match, the rest is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum TokenKind {
    /// An ordinary word.
    Word = 1,
    /// Letters and digits in one piece: `sha256`, `42P01`.
    NumberWord = 3,
    /// The folded form of the word before it, see [`crate::text::form::folded`].
    Folded = 5,
    /// A version: `15.4.1`, `v2.0`, `1.0.0-rc.15`.
    Version = 8,
    /// A part of an identifier with digits.
    NumberPart = 9,
    /// A part of an identifier that is a word, and a character of a run without spaces.
    Part = 10,
    /// Text between tokens.
    Gap = 12,
    /// Names joined by qualifiers: `os.path.join`, `std::vector`.
    Qualified = 15,
    /// A name of several parts or with a mark: `UITableView`, `--long-flag`, `C++`, `@State`.
    Identifier = 16,
    /// Two neighbouring characters of a script without spaces.
    Bigram = 17,
    /// A number.
    Number = 22,
    /// An operator: `@>`, `||`, `[[`.
    Operator = 24,
}

impl TokenKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [TokenKind; 12] = [
        Self::Word,
        Self::NumberWord,
        Self::Folded,
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

    /// The kind with this number. `None` if there is none.
    pub fn from_id(id: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i32 == id)
    }

    /// Its alias in text search configurations.
    pub fn alias(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::NumberWord => "numword",
            Self::Folded => "folded",
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

    /// Its description in `ts_token_type`.
    pub fn description(self) -> &'static str {
        match self {
            Self::Word => "Word",
            Self::NumberWord => "Word with digits",
            Self::Folded => "Word without accents, hyphens and the like",
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

    /// Whether the parts of such tokens follow.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Qualified | Self::Identifier | Self::Bigram)
    }

    /// Whether such tokens may have a folded form.
    pub(crate) fn is_folded(self) -> bool {
        matches!(
            self,
            Self::Word | Self::NumberWord | Self::NumberPart | Self::Part | Self::Qualified | Self::Identifier
        )
    }

    /// Whether such tokens count for the length of a text: whole words do, parts do not.
    pub fn is_counted(self, inside_whole: bool) -> bool {
        match self {
            Self::Gap => false,
            kind if kind.is_whole() => true,
            _ => !inside_whole,
        }
    }
}
