//! Every word that a browser shows is in the text, in order and apart from its neighbours.

use proptest::prelude::*;

use super::draft;

/// An element with its content.
#[derive(Debug, Clone)]
enum Part {
    Word,
    /// Parts within start and end, which are tags.
    Within(&'static str, &'static str, Vec<Part>),
    /// Cells by row, with the columns and rows that each spans. The first row names the columns.
    Table(Vec<Vec<(usize, usize, Vec<Part>)>>),
}

/// Tags around inline text.
const INLINE: [(&str, &str); 14] = [
    ("<b>", "</b>"),
    ("<em>", "</em>"),
    ("<span>", "</span>"),
    ("<code>", "</code>"),
    ("<samp>", "</samp>"),
    ("<kbd>", "</kbd>"),
    ("<a href=x.html>", "</a>"),
    ("<a href='#y'>", "</a>"),
    ("<ins>", "</ins>"),
    ("<my-mark>", "</my-mark>"),
    ("<font>", "</font>"),
    ("<sub>", "</sub>"),
    ("<q>", "</q>"),
    ("<label>", "</label>"),
];
/// Tags around a line of text.
const LINES: [(&str, &str); 22] = [
    ("<p>", "</p>"),
    ("<h2>", "</h2>"),
    ("<h3 id='a/b(c)'>", "</h3>"),
    ("<h4><a href=x.html>", "</a></h4>"),
    ("<div role=heading aria-level=3>", "</div>"),
    ("<pre>", "</pre>"),
    ("<div class=highlight><pre><code>", "</code></pre></div>"),
    ("<code style='white-space: pre'>", "</code>"),
    ("<xmp>", "</xmp>"),
    ("<textarea>", "</textarea>"),
    ("<figure><figcaption>", "</figcaption></figure>"),
    ("<fieldset><legend>", "</legend></fieldset>"),
    ("<select><option>", "</option></select>"),
    ("<address>", "</address>"),
    ("<p>Press <button>", "</button></p>"),
    ("<h3><button aria-expanded=false>", "</button></h3>"),
    ("<my-line>", "</my-line>"),
    ("<dl><dt>", "</dt></dl>"),
    ("<svg><text>", "</text></svg>"),
    ("<p class=programlisting>", "</p>"),
    ("<p><code>a</code><br><code>", "</code></p>"),
    ("<article class=feedback>", "</article>"),
];
/// Tags around blocks.
const BLOCKS: [(&str, &str); 26] = [
    ("<div>", "</div>"),
    ("<section>", "</section>"),
    ("<section><header>", "</header></section>"),
    ("<aside>", "</aside>"),
    ("<article>", "</article>"),
    ("<blockquote>", "</blockquote>"),
    ("<ul><li>", "</li></ul>"),
    ("<ol><li>", "</li></ol>"),
    ("<menu><li>", "</li></menu>"),
    ("<dl><dt>", "</dt></dl>"),
    ("<dl><dd>", "</dd></dl>"),
    ("<dl><div><dd>", "</dd></div></dl>"),
    ("<details><summary>", "</summary></details>"),
    ("<details open>", "</details>"),
    ("<figure>", "</figure>"),
    ("<form>", "</form>"),
    ("<center>", "</center>"),
    ("<a href=x.html>", "</a>"),
    ("<b>", "</b>"),
    ("<my-box>", "</my-box>"),
    ("<div role=tabpanel hidden>", "</div>"),
    ("<ul>", "</ul>"),
    ("<ol><li>", "</li>beside</ol>"),
    ("<div class=code>", "</div>"),
    ("<div class=toc><ul><li><a href=x.html>x</a>", "</ul></div>"),
    ("<svg><foreignObject>", "</foreignObject></svg>"),
];

fn inline() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => Just(Part::Word),
        1 => prop::sample::select(&INLINE[..]).prop_map(|(start, end)| Part::Within(start, end, vec![Part::Word])),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let line = (prop::sample::select(&LINES[..]), prop::collection::vec(inline(), 1..4))
        .prop_map(|((start, end), words)| Part::Within(start, end, words));
    line.prop_recursive(5, 40, 5, |inner| {
        let cell = (
            1usize..3,
            0usize..3,
            prop::collection::vec(prop_oneof![Just(Part::Word), inner.clone()], 1..3),
        );
        prop_oneof![
            4 => (prop::sample::select(&BLOCKS[..]), prop::collection::vec(inner, 1..5))
                .prop_map(|((start, end), parts)| Part::Within(start, end, parts)),
            1 => prop::collection::vec(prop::collection::vec(cell, 1..4), 1..4).prop_map(Part::Table),
        ]
    })
}

/// A page, its words in order, and the words that stand at the values that they name.
#[derive(Default)]
struct Page {
    html: String,
    words: Vec<String>,
    names: Vec<String>,
    is_name: bool,
}

impl Page {
    fn write(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Word => {
                    let word = format!("w{}", self.words.len() + self.names.len());
                    self.html += &format!(" {word} ");
                    if self.is_name { &mut self.names } else { &mut self.words }.push(word);
                }
                Part::Within(start, end, inner) => {
                    self.html += start;
                    self.write(inner);
                    self.html += end;
                }
                Part::Table(rows) => {
                    self.html += "<table>";
                    for (number, row) in rows.iter().enumerate() {
                        let (tag, before) = (if number == 0 { "th" } else { "td" }, self.is_name);
                        self.is_name |= number == 0;
                        self.html += "<tr>";
                        for (columns, rows, content) in row {
                            self.html += &format!("<{tag} colspan={columns} rowspan={rows}>");
                            self.write(content);
                            self.html += &format!("</{tag}>");
                        }
                        self.html += "</tr>";
                        self.is_name = before;
                    }
                    self.html += "</table>";
                }
            }
        }
    }
}

fn check(parts: &[Part]) -> Result<(), TestCaseError> {
    let mut page = Page::default();
    page.write(parts);
    let body = draft(&format!("<main><h1>Page</h1><p>Start.</p>{}</main>", page.html)).body;
    let found: Vec<&str> = body
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.starts_with('w') && word[1..].starts_with(|digit: char| digit.is_ascii_digit()))
        .collect();
    let mut rest = found.iter();
    for word in &page.words {
        prop_assert!(
            rest.any(|found| found == word),
            "{} is not in its place:\n{}\n{}",
            word,
            page.html,
            body
        );
    }
    for name in &page.names {
        prop_assert!(
            found.contains(&name.as_str()),
            "{} is lost:\n{}\n{}",
            name,
            page.html,
            body
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn every_word_of_a_page_is_in_its_text_in_order(parts in prop::collection::vec(part(), 1..6)) {
        check(&parts)?;
    }
}
