use proptest::prelude::*;

use super::*;
use crate::draft::unknown_names::UnknownNames;
use crate::file::test_folder;
use crate::formats::markdown::mdx::{Dialect, convert};

/// The Markdown of the page `docs/page.mdx` in a folder with these files, and the warning.
fn page(text: &str, files: &[(&str, &str)]) -> (String, Option<String>) {
    let (_place, folder) = test_folder(files);
    let (text, warning) = expand(Some(&folder), Path::new("docs/page.mdx"), text);
    (convert(&text, Dialect::Mdx, &mut UnknownNames::default()), warning)
}

fn markdown(text: &str, files: &[(&str, &str)]) -> String {
    let (text, warning) = page(text, files);
    assert_eq!(warning, None);
    text
}

const STEPS: (&str, &str) = (
    "docs/_steps.mdx",
    "---\ntitle: Hidden\n---\nimport More from './more.md';\n\nFirst.\n\n```sh\nnpm i <kit> {props.os}\n```\n\n<More />\n",
);
const MORE: (&str, &str) = ("docs/more.md", "## More\n\nSecond.\n");

#[test]
fn parts_stand_where_they_are_used_with_their_own_parts() {
    let text = "import Steps from './_steps.mdx';\n\nBefore.\n\n<Steps />\n\nAfter.\n";
    assert_eq!(
        markdown(text, &[STEPS, MORE]),
        "Before.\n\nFirst.\n\n```sh\nnpm i <kit> {props.os}\n```\n\n## More\n\nSecond.\n\nAfter.\n"
    );
}

#[test]
fn parts_are_found_by_relative_paths_aliases_and_every_form_of_import() {
    for import in [
        "import More from './more.md'",
        "import { Content as More } from \"../docs/more.md\";",
        "import More, {toc} from '@site/docs/more.md';",
        "import {\n  More,\n} from '/docs/more.md'",
        "import More from '@/docs/more.md'",
        "<script setup>\nimport More from './more.md'\n</script>",
    ] {
        assert_eq!(markdown(&format!("{import}\n\n<More/>\n"), &[MORE]), MORE.1, "{import}");
    }
    assert_eq!(markdown("<include>./more.md</include>\n", &[MORE]), MORE.1);
    assert_eq!(
        markdown("<Snippet file=\"a.mdx\" />\n", &[("snippets/a.mdx", "Text\n")]),
        "Text\n"
    );
}

#[test]
fn properties_are_shown_where_the_part_names_them() {
    let part = (
        "docs/_p.mdx",
        "Use {props.name} {props.version ?? 'any'}{props.none} on <b title={props.name}>{props.os || 'Linux'}</b>: {props.children}.\n",
    );
    assert_eq!(
        markdown(
            "export const version = '2.1';\nimport P from './_p.mdx';\n\n<P name=\"kit\" version={version} os={'BSD'}>the *end*</P>\n",
            &[part]
        ),
        "Use kit 2.1 on kit BSD: the *end*.\n"
    );
    assert_eq!(
        markdown("import P from './_p.mdx';\n\n<P name={`it`} />\n", &[part]),
        "Use it any on it Linux: .\n"
    );
}

#[test]
fn parts_keep_the_place_of_their_element() {
    let word = ("docs/_w.mdx", "Word\n");
    let import = "import W from './_w.mdx';\nimport More from './more.md';\n\n";
    for (text, expected) in [
        ("Say <W /> now.\n", "Say Word now.\n"),
        ("## The <W/>\n", "## The Word\n"),
        ("| <W /> | <More /> |\n", "| Word | ## More Second. |\n"),
        ("- a\n- <More />\n- c\n", "- a\n- ## More\n\n  Second.\n\n- c\n"),
        ("<Tabs>\n  <Tab label=\"A\"><W /></Tab>\n</Tabs>\n", "A\n\nWord\n"),
        ("`<W />`\n\n```\n<W />\n```\n", "`<W />`\n\n```\n<W />\n```\n"),
    ] {
        assert_eq!(markdown(&format!("{import}{text}"), &[word, MORE]), expected, "{text}");
    }
}

#[test]
fn sources_texts_and_components_of_the_page_are_shown() {
    let text = "import Code from '!!raw-loader!./a.js';\n\nexport const port = 80;\nexport const Key = ({children, where}) => (\n  <kbd\n    style={{color: 'red'}}>\n    {children} on {where}\n  </kbd>\n);\n\nPort {port}, press <Key where=\"it\">F1</Key>.\n\n<CodeBlock language=\"js\">{Code}</CodeBlock>\n";
    assert_eq!(
        markdown(text, &[("docs/a.js", "let a = {b}\n")]),
        "Port 80, press F1 on it.\n\n```js\nlet a = {b}\n```\n"
    );
}

#[test]
fn missing_parts_are_named_and_cycles_end() {
    let (text, warning) = page("import A from './gone.mdx';\n\nText <A />\n", &[]);
    assert_eq!(text, "Text\n");
    assert_eq!(warning.as_deref(), Some("not included: ./gone.mdx (cannot be read)"));
    let cycle = ("docs/_a.mdx", "import A from './_a.mdx'\n\nAgain.\n\n<A /> <A />\n");
    let (text, warning) = page("import A from './_a.mdx';\n\n<A />\n", &[cycle]);
    assert!(text.len() < 10_000);
    assert!(warning.unwrap().contains("nested too deeply"));
    let (text, warning) = page("import A from '../../a.md';\n\n<A />\n", &[]);
    assert_eq!((text.as_str(), warning.unwrap().contains("outside")), ("", true));
}

proptest! {
    /// The words of a page and of its parts are in the document, in order, however the parts nest.
    #[test]
    fn words_of_parts_are_kept_in_order(shape in proptest::collection::vec((0usize..6, 0usize..3), 1..5)) {
        let mut number = 0;
        let mut word = || { number += 1; format!("w{number}") };
        let mut files: Vec<(String, String)> = Vec::new();
        // From the innermost part to the page.
        let mut inner: Option<String> = None;
        let mut texts = Vec::new();
        for (depth, (place, form)) in shape.iter().enumerate() {
            let element = match (&inner, form) {
                (None, _) => String::new(),
                (Some(_), 0) => "<Inner />".to_owned(),
                (Some(_), 1) => "<Inner os=\"x\"\n  flag />".to_owned(),
                (Some(_), _) => "<Inner></Inner>".to_owned(),
            };
            let (before, after) = (word(), word());
            let text = match place {
                0 => format!("{before}\n\n{element}\n\n{after}\n"),
                1 => format!("{before}\n{element}\n{after}\n"),
                2 => format!("{before} {element} {after}\n"),
                3 => format!("- {before}\n\n  {element}\n\n- {after}\n"),
                4 => format!("<Tabs>\n  <Tab label=\"{before}\">{element}</Tab>\n</Tabs>\n\n{after}\n"),
                _ => format!("> {before}\n\n<Box>\n    {element}\n</Box>\n{after}\n"),
            };
            let import = inner.as_ref().map_or(String::new(), |file| format!("import Inner from './{file}';\n\n"));
            let name = format!("_p{depth}.mdx");
            texts = std::iter::once(before).chain(texts).chain([after]).collect();
            files.push((format!("docs/{name}"), format!("{import}{text}")));
            inner = Some(name);
        }
        let (_, text) = files.pop().unwrap();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let markdown = markdown(&text, &files);
        let words = markdown.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with('w'));
        prop_assert_eq!(words.collect::<Vec<_>>(), texts, "{}\n->\n{}", text, markdown);
    }
}
