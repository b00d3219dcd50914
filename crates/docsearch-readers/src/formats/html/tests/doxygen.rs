//! Pages of Doxygen, which has tables and other elements of its own for titles, signatures and members.

use std::path::Path;

use super::{draft, read_page};

const HEAD: &str =
    "<head><title>Kit: kit::Ferry Class Reference</title><meta name=generator content='Doxygen 1.9.4'></head>";

fn page(summary: &str, title: &str, contents: &str) -> String {
    format!(
        "<html>{HEAD}<body><div id=top><div id=titlearea><div id=projectname>Kit</div><div id=projectbrief>For \
         harbours</div></div><div id=nav-path><ul><li><a href=a.html>kit</a></li></ul></div></div><div class=header>\
         {summary}<div class=headertitle><div class=title>{title}</div></div></div><div class=contents>{contents}</div>\
         </body></html>"
    )
}

#[test]
fn the_title_is_a_heading_above_the_others() {
    let summary = "<div class=summary><a href='#pub-methods'>Public Member Functions</a></div>";
    let title = "Ferries<div class=ingroups><a href=boats.html>Boats</a></div>";
    let page = draft(&page(
        summary,
        title,
        "<div class=textblock><h1>Sailing</h1><p>Slowly.</p><h2>At night</h2><p>Not.</p></div>",
    ));
    assert_eq!(page.matter.title.as_deref(), Some("Ferries"));
    assert_eq!(
        page.body,
        "# Ferries\n\n## Sailing\n\nSlowly.\n\n### At night\n\nNot.\n"
    );
}

#[test]
fn members_are_a_list_below_their_heading() {
    let members = "<table class=memberdecls><tr class=heading><td colspan=2><h2 class=groupheader><a id=pub-methods></a>\
                   Functions</h2></td></tr><tr class='memitem:a1'><td class=memItemLeft><a id=a1></a>int&#160;</td><td \
                   class=memItemRight><a href='#a1'>load</a> (Cargo *cargo)</td></tr><tr class='memdesc:a1'><td \
                   class=mdescLeft>&#160;</td><td class=mdescRight>Loads <em>one</em>.</td></tr><tr class='separator:a1'><td \
                   class=memSeparator colspan=2>&#160;</td></tr><tr class='memitem:a2'><td class=memTemplParams colspan=2>\
                   template&lt;class T&gt; </td></tr><tr class='memitem:a2'><td class=memTemplItemLeft>T&#160;</td><td \
                   class=memTemplItemRight><b>first</b> ()</td></tr><tr><td class=memTemplParams>template&lt;&gt;</td></tr></table>";
    let page = draft(&page("", "kit::Ferry Class Reference", members));
    assert_eq!(
        page.body,
        "# kit::Ferry Class Reference\n\n## Functions {#pub-methods}\n\n- `int load (Cargo *cargo)`: Loads *one*.\n- \
         `template<class T> T first ()`\n\n`template<>`\n"
    );
}

#[test]
fn a_signature_is_code_and_its_parameters_are_a_list() {
    let member = "<h2 class=memtitle><span class=permalink><a href='#a1'>◆</a></span>load()</h2><div class=memitem><div \
                  class=memproto><table class=mlabels><tr><td class=mlabels-left><table class=memname><tr><td \
                  class=memname>int kit::Ferry::load </td><td>(</td><td class=paramtype><a href=c.html>Cargo</a> *&#160;</td>\
                  <td class=paramname><em>cargo</em>, </td></tr><tr><td class=paramkey></td><td></td><td class=paramtype>int\
                  &#160;</td><td class=paramname><em>count</em>&#160;</td></tr><tr><td></td><td>)</td><td></td><td> const</td>\
                  </tr></table></td><td class=mlabels-right><span class=mlabels><span class=mlabel>inline</span></span></td>\
                  </tr></table></div><div class=memdoc><dl class=params><dt>Parameters</dt><dd><table class=params><tr><td \
                  class=paramdir>[in]</td><td class=paramname>cargo</td><td>What to load.</td></tr><tr><td class=paramdir>[in]\
                  </td><td class=paramname>count</td><td>One of:<ul><li>1: one</li><li>2: two</li></ul></td></tr></table></dd>\
                  </dl></div></div>";
    let page = draft(&page("", "Ferries", member));
    assert_eq!(
        page.body,
        "# Ferries\n\n## load()\n\n```\nint kit::Ferry::load(Cargo * cargo, int count) const\n```\n\ninline\n\n**Parameters**\n\n\
         - \\[in\\] `cargo` What to load.\n- \\[in\\] `count` One of:\n    - 1: one\n    - 2: two\n"
    );
}

#[test]
fn what_a_pointer_over_a_name_shows_is_no_text() {
    let code = "<p>Like this:</p><div class=fragment><div class=line>load(1);</div><div class=ttc id=t1><div class=ttname>\
                <a href=l.html>load</a></div><div class=ttdoc>Loads one.</div></div></div><p>Done.</p>";
    let page = draft(&page("", "Ferries", code));
    assert_eq!(page.body, "# Ferries\n\nLike this:\n\n```\nload(1);\n```\n\nDone.\n");
}

#[test]
fn pages_of_its_search_and_listings_are_no_documentation() {
    let html = format!("<html>{HEAD}<body class=SRPage><div class=SRStatus>Loading...</div></body></html>");
    let reason = |path: &str, html: &str| read_page(Path::new(path), html).unwrap_err().to_string();
    assert!(reason("search/all_0.html", &html).contains("search page"));
    let listing = page(
        "",
        "ferry.h",
        "<div class=fragment><div class=line><span class=lineno>1</span>int load();</div></div>",
    );
    assert!(reason("ferry_8h_source.html", &listing).contains("listing of code"));
}

/// The words of a text without marks of Markdown.
fn words(text: &str) -> Vec<String> {
    let is_word = |character: char| character.is_ascii_alphanumeric();
    text.split(|character| !is_word(character))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

proptest::proptest! {
    #[test]
    fn no_word_of_a_member_is_lost(
        members in proptest::collection::vec(
            ("[a-z]{1,6}", "[a-z]{1,6}", "[a-z]{1,6} [a-z]{1,6}", "([a-z]{1,6} ?){0,3}", proptest::bool::ANY), 1..6),
        labels in "([a-z]{1,6})?",
    ) {
        let (mut list, mut parameters, mut signature) = (String::new(), String::new(), String::new());
        let (mut listed, mut described, mut signed) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, name, argument, text, is_template) in &members {
            if *is_template {
                list += &format!("<tr><td class=memTemplParams colspan=2>template {kind}</td></tr>");
                listed.extend(["template".to_owned(), kind.clone()]);
            }
            list += &format!(
                "<tr><td class=memItemLeft><a id=a></a>{kind}&#160;</td><td class=memItemRight><b>{name}</b> ({argument})</td>\
                 </tr><tr><td class=mdescLeft>&#160;</td><td class=mdescRight>{text}<br></td></tr>"
            );
            listed.extend(words(&format!("{kind} {name} {argument} {text}")));
            parameters += &format!("<tr><td class=paramname>{name}</td><td>{text}<ul><li>{argument}</li></ul></td></tr>");
            described.extend(words(&format!("{name} {text} {argument}")));
            signature += &format!("<tr><td></td><td>(</td><td class=paramtype>{kind}&#160;</td><td><em>{name}</em>,</td></tr>");
            signed.extend([kind.clone(), name.clone()]);
        }
        signed.extend(words(&labels));
        let page = draft(&page("", "Ferries", &format!(
            "<table class=memberdecls><tr><td colspan=2><h2>List</h2></td></tr>{list}</table><h2>One</h2><table \
             class=mlabels><tr><td class=mlabels-left><table class=memname>{signature}</table></td><td \
             class=mlabels-right><span class=mlabel>{labels}</span></td></tr></table><dl><dt>Parameters</dt><dd><table \
             class=params>{parameters}</table></dd></dl>"
        )));
        let expected = [
            words("Ferries List"), listed, words("One"), signed, words("Parameters"), described,
        ].concat();
        proptest::prop_assert_eq!(words(&page.body), expected, "{}", page.body);
    }
}
