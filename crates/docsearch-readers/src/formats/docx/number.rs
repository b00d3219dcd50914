//! Numbers as lists show them.

/// How a level writes its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Bullet,
    None,
    Decimal,
    /// With a zero before one digit.
    Padded,
    Ordinal,
    UpperRoman,
    LowerRoman,
    /// The characters of a row, doubled after the last.
    Letters(&'static str),
    /// The characters of a row, and decimal numbers after the last.
    Signs(&'static str),
    /// Chinese numerals: `二十三`.
    Chinese,
}

/// The formats whose numbers are characters, by their names in the file.
const LETTERS: [(&str, &str); 8] = [
    ("upperLetter", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("lowerLetter", "abcdefghijklmnopqrstuvwxyz"),
    ("russianUpper", "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ"),
    ("russianLower", "абвгдежзиклмнопрстуфхцчшщыэюя"),
    ("arabicAlpha", "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"),
    ("hebrew2", "אבגדהוזחטיכלמנסעפצקרשת"),
    (
        "aiueoFullWidth",
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    ),
    (
        "irohaFullWidth",
        "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
    ),
];
const SIGNS: [(&str, &str); 4] = [
    ("decimalEnclosedCircle", "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"),
    ("decimalEnclosedCircleChinese", "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"),
    ("ideographTraditional", "甲乙丙丁戊己庚辛壬癸"),
    ("ideographZodiac", "子丑寅卯辰巳午未申酉戌亥"),
];
const CHINESE: [&str; 8] = [
    "chineseCounting",
    "chineseCountingThousand",
    "ideographDigital",
    "japaneseCounting",
    "japaneseDigitalTenThousand",
    "koreanDigital",
    "taiwaneseCounting",
    "taiwaneseCountingThousand",
];
/// A letter is repeated this many times at most.
const MAX_REPEATED: usize = 10;
const MAX_CHINESE: u32 = 9_999;
const MAX_ROMAN: u32 = 3_999;

impl Format {
    pub(super) fn named(name: &str) -> Self {
        let of = |rows: &[(&str, &'static str)]| {
            rows.iter()
                .find(|(own, _)| *own == name)
                .map(|(_, characters)| *characters)
        };
        match name {
            "bullet" => Self::Bullet,
            "none" => Self::None,
            "decimalZero" => Self::Padded,
            "ordinal" => Self::Ordinal,
            "upperRoman" => Self::UpperRoman,
            "lowerRoman" => Self::LowerRoman,
            name if CHINESE.contains(&name) => Self::Chinese,
            _ => of(&LETTERS)
                .map(Self::Letters)
                .or_else(|| of(&SIGNS).map(Self::Signs))
                .unwrap_or(Self::Decimal),
        }
    }
}

pub(super) fn text(format: Format, number: u32) -> String {
    match format {
        Format::Bullet | Format::None => String::new(),
        Format::Padded => format!("{number:02}"),
        Format::Ordinal => format!("{number}{}", ordinal_end(number)),
        Format::UpperRoman if (1..=MAX_ROMAN).contains(&number) => roman(number),
        Format::LowerRoman if (1..=MAX_ROMAN).contains(&number) => roman(number).to_lowercase(),
        Format::Letters(letters) if number > 0 => {
            let count = letters.chars().count();
            let at = (number as usize - 1) % count;
            let times = ((number as usize - 1) / count + 1).min(MAX_REPEATED);
            letters
                .chars()
                .nth(at)
                .into_iter()
                .flat_map(|letter| vec![letter; times])
                .collect()
        }
        Format::Signs(signs) => {
            let sign = (number as usize).checked_sub(1).and_then(|at| signs.chars().nth(at));
            sign.map_or_else(|| number.to_string(), String::from)
        }
        Format::Chinese if number <= MAX_CHINESE => chinese(number),
        _ => number.to_string(),
    }
}

fn ordinal_end(number: u32) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

fn roman(mut number: u32) -> String {
    const VALUES: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut text = String::new();
    for (value, letters) in VALUES {
        while number >= value {
            text.push_str(letters);
            number -= value;
        }
    }
    text
}

fn chinese(number: u32) -> String {
    const DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    const UNITS: [(u32, &str); 4] = [(1000, "千"), (100, "百"), (10, "十"), (1, "")];
    if number == 0 {
        return DIGITS[0].to_string();
    }
    let mut text = String::new();
    let mut has_gap = false;
    for (value, unit) in UNITS {
        let digit = number / value % 10;
        if digit == 0 {
            has_gap = !text.is_empty();
            continue;
        }
        if std::mem::take(&mut has_gap) {
            text.push('零');
        }
        // Ten has no one before it.
        if !(digit == 1 && value == 10 && text.is_empty()) {
            text.push(DIGITS[digit as usize]);
        }
        text.push_str(unit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_word_does() {
        let of = |name: &str, number: u32| text(Format::named(name), number);
        assert_eq!(of("decimal", 12), "12");
        assert_eq!(of("decimalZero", 7), "07");
        assert_eq!(of("upperRoman", 1994), "MCMXCIV");
        assert_eq!(of("lowerRoman", 4), "iv");
        assert_eq!(of("lowerLetter", 26), "z");
        assert_eq!(of("lowerLetter", 28), "bb");
        assert_eq!(of("ordinal", 21), "21st");
        assert_eq!(of("ordinal", 112), "112th");
        assert_eq!(of("decimalEnclosedCircle", 3), "③");
        assert_eq!(of("decimalEnclosedCircle", 21), "21");
        assert_eq!(
            [1, 10, 12, 20, 105, 1010].map(|number| of("chineseCounting", number)),
            ["一", "十", "十二", "二十", "一百零五", "一千零一十"]
        );
        assert_eq!(of("of a later version", 3), "3");
        assert_eq!(of("none", 3), "");
    }

    proptest::proptest! {
        #[test]
        fn every_number_has_a_short_text(number: u32) {
            for name in ["decimal", "lowerRoman", "upperLetter", "russianLower", "chineseCounting", "ordinal"] {
                let text = text(Format::named(name), number);
                proptest::prop_assert!(!text.is_empty() && text.chars().count() <= 16, "{}", text);
            }
        }
    }
}
