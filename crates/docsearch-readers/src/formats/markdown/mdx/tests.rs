use proptest::prelude::*;

use super::*;
use crate::formats::markdown::tests::code_blocks;

fn to_markdown(text: &str) -> String {
    convert(text, Dialect::Mdx, &mut UnknownNames::default())
}

fn of_components(text: &str) -> String {
    convert(text, Dialect::Components, &mut UnknownNames::default())
}

#[test]
fn components_are_counted() {
    let mut components = UnknownNames::default();
    let page =
        "<Tabs>\n<Tab title={<Icon name=\"a\"/>}>\n\nText <b>x</b>.\n\n</Tab>\n</Tabs>\n<Tab/>\n\n```\n<Code/>\n```\n";
    convert(page, Dialect::Mdx, &mut components);
    assert_eq!(
        components.text().unwrap(),
        "kept the text of 4 unknown names (component Tab: 2, component Icon: 1, component Tabs: 1)"
    );
}

#[test]
fn module_statements_go_and_code_stays() {
    let page = "import { Tabs } from 'nextra/components';\nimport Chart, {\n  Axis,\n} from '../chart'\n\nexport const meta = {\n  draft: false,\n};\n\n# Streaming\n\nimport statements are described below.\n\n```ts\nimport { x } from 'y';\n\n\n<Tag />\n```\n";
    assert_eq!(
        to_markdown(page),
        "# Streaming\n\nimport statements are described below.\n\n```ts\nimport { x } from 'y';\n\n\n<Tag />\n```\n"
    );
}

#[test]
fn components_leave_their_text_without_its_indentation() {
    let page = "<Tabs items={['npm', 'yarn']}>\n  <Tab>\n    Run it with `<Tab>`:\n\n    ```sh\n    npm  start\n    ```\n    <Snippet text=\"npm install ai\" dark />\n  </Tab>\n</Tabs>\n\n{/* hidden */}\nUse <Link href=\"/x\">the page</Link>{' '}if a < b, see <https://example.test/a>.\n";
    assert_eq!(
        to_markdown(page),
        "npm, yarn\n\nRun it with `<Tab>`:\n\n```sh\nnpm  start\n```\n`npm install ai`\n\nUse the page if a < b, see <https://example.test/a>.\n"
    );
}

#[test]
fn blocks_divide_words_and_marks_of_words_do_not() {
    for (page, expected) in [
        ("<p>one</p><p>two</p>", "one two\n"),
        ("<p>one <b>bold</b><br/>two</p>", "one bold two\n"),
        ("one<br />two", "one two\n"),
        ("| a<br/>b | c |", "| a b | c |\n"),
        ("<table><tr><td>one</td><td>two</td></tr></table>", "one two\n"),
        ("<ul><li>one</li><li>two</li></ul>", "one two\n"),
        ("<Badge>New</Badge><Badge>Beta</Badge>", "New Beta\n"),
        (
            "un<b>bold</b>ed H<sub>2</sub>O <Term>tern</Term>s",
            "unbolded H2O terns\n",
        ),
        ("very<wbr/>long <x-y>own</x-y>s", "verylong owns\n"),
    ] {
        assert_eq!(to_markdown(page), expected, "{page}");
    }
}

#[test]
fn parameters_have_their_default() {
    for (attributes, expected) in [
        ("default=\"10\"", "`limit` (`int`, default `10`)"),
        (
            "required defaultValue={true}",
            "`limit` (`int`, required, default `true`)",
        ),
        ("default={'a'}", "`limit` (`int`, default `a`)"),
        ("default", "`limit` (`int`)"),
    ] {
        let page = format!("<Param name=\"limit\" type=\"int\" {attributes}>Most rows.</Param>\n");
        assert_eq!(
            to_markdown(&page),
            format!("{expected}\n\nMost rows.\n"),
            "{attributes}"
        );
    }
}

#[test]
fn short_values_of_components_are_shown() {
    for (element, expected) in [
        ("<Since version=\"2.1.0\" />", "version: `2.1.0`\n"),
        ("<Kbd keys='Ctrl+K' />", "keys: `Ctrl+K`\n"),
        (
            "<Env name=\"KIT_HOME\" default=\"/opt\" />",
            "`KIT_HOME`\n\ndefault: `/opt`\n",
        ),
        ("<FileTree.File name=\"index.js\" />", "`index.js`\n"),
        ("<Endpoint method=\"GET\" path=\"/v1/x\" />", "`GET /v1/x`\n"),
        ("<Icon name=\"flag\" />", ""),
        ("<input name=\"a.b\" default=\"3\" />", ""),
    ] {
        assert_eq!(to_markdown(&format!("{element}\n")), expected, "{element}");
    }
}

#[test]
fn strings_in_braces_are_text() {
    assert_eq!(
        to_markdown("{\"Ada's\"} {'a \"b\"'} {`c`} {name} {\"a\": 1}\n"),
        "Ada's a \"b\" c {name} {\"a\": 1}\n"
    );
}

#[test]
fn tables_of_properties_become_lists() {
    let page = "### Parameters\n\n<PropertiesTable\n  content={[\n    {\n      name: 'model',\n      type: 'LanguageModel',\n      description:\n        \"The model. Example: openai('gpt')\",\n    },\n    { name: 'onFinish', isOptional: true, type: '(result) => void' },\n  ]}\n/>\n\n| a | <Check size={18} /> |\n";
    assert_eq!(
        to_markdown(page),
        "### Parameters\n\n- `model` (`LanguageModel`): The model. Example: openai('gpt')\n- `onFinish` (`(result) => void`)\n\n| a | Check |\n"
    );
}

#[test]
fn texts_in_attributes_of_components_are_shown() {
    for (element, expected) in [
        ("<Card title=\"Fast\" to=\"/fast\" icon=\"bolt\" />", "Fast\n"),
        (
            "<Feature headline=\"Searches in milliseconds\" className=\"a b\" />",
            "Searches in milliseconds\n",
        ),
        ("<Tip message={`Mind the ${gap} here`} />", "Mind the ${gap} here\n"),
        ("<Card title={<b>Bold <code>x</code></b>} />", "Bold x\n"),
        (
            "<Step title={<>Go to <Link to=\"/a\">there</Link></>} description='And back.' />",
            "Go to there\n\nAnd back.\n",
        ),
        (
            "<Faq items={[{question: 'How much?', answer: <p>Not <i>much</i>.</p>}, {question: \"Why?\", answer: \"So.\"}]} />",
            "- How much?: Not much.\n- Why?: So.\n",
        ),
        (
            "<Steps items={['Open the lid', 'Pour it in']} />",
            "- Open the lid\n- Pour it in\n",
        ),
        ("<Tabs values={[{label: 'Linux', value: 'l'}]} />", "- Linux\n"),
        (
            "<div className=\"two words\" data-note=\"not shown here\" onClick={() => go('a b')}></div>",
            "",
        ),
        (
            "<Image src=\"/a b.png\" alt=\"A kiln\" style={{font: 'big bold'}} />",
            "A kiln\n",
        ),
    ] {
        assert_eq!(to_markdown(&format!("{element}\n")), expected, "{element}");
    }
}

#[test]
fn scripts_and_styles_are_no_text() {
    let page = "<script setup>\nimport { ref } from 'vue'\n\nconst a = ref(0)\n</script>\n\n# Kit\n\n```vue\n<script>\nlet b\n</script>\n```\n\n<style module>\n.a { color: red }\n</style>\n\nText, and `<style>`.\n";
    let expected = "# Kit\n\n```vue\n<script>\nlet b\n</script>\n```\n\nText, and `<style>`.\n";
    assert_eq!(of_components(page), expected);
    assert_eq!(dialect(page), Some(Dialect::Components));
    assert_eq!(to_markdown("<script>\nlet a\n\n<script>b</style>\n"), "let a\n\nb\n");
}

#[test]
fn an_unclosed_tag_is_text() {
    assert_eq!(to_markdown("Compare x <y and\nmore"), "Compare x <y and\nmore\n");
}

#[test]
fn code_in_components_keeps_its_indentation() {
    let python = "def f(x):\n    if x:\n        return 1\n";
    let page = format!("<Tabs>\n<TabItem>\n\n```py\n{python}```\n\n</TabItem>\n</Tabs>\n");
    assert_eq!(code_blocks(&to_markdown(&page)), [python]);
    let yaml = "a:\n  b:\n    c: 1\n";
    let page = "<Steps>\n1. Write\n\n   ```yaml\n   a:\n     b:\n       c: 1\n   ```\n</Steps>\n";
    assert_eq!(code_blocks(&to_markdown(page)), [yaml]);
    let page = "<Steps>\n  <Step>\n    - Write\n\n      ```yaml\n      a:\n        b:\n          c: 1\n      ```\n\n      more\n  </Step>\n</Steps>\n";
    assert_eq!(
        to_markdown(page),
        "- Write\n\n  ```yaml\n  a:\n    b:\n      c: 1\n  ```\n\n  more\n"
    );
}

#[test]
fn quoted_and_listed_code_is_no_component() {
    let page = "> ```js\n> <Tabs>\n> ```\n\n- ```js\n  <Tab />\n  ```\n\nSay <Tab>it</Tab>.\n";
    assert_eq!(
        to_markdown(page),
        "> ```js\n> <Tabs>\n> ```\n\n- ```js\n  <Tab />\n  ```\n\nSay it.\n"
    );
}

#[test]
fn preformatted_texts_become_blocks() {
    let page = "<div>\n<pre>{`a:\n  - \\`b\\`\n`}</pre>\n</div>\n<pre><code>if a &lt; b {\n}\n</code></pre>\n";
    assert_eq!(code_blocks(&to_markdown(page)), ["a:\n  - `b`\n", "if a < b {\n}\n"]);
    assert_eq!(code_blocks(&to_markdown("<Code>{`x\n  y`}</Code>\n")), ["x\n  y\n"]);
}

#[test]
fn headings_keep_identifiers_and_targets() {
    assert_eq!(
        to_markdown("## Part {/*own*/}\n\n### Two {/* #two */}\n\n{/* hidden */}\n<a id=\"old\" />\n\nText\n"),
        "## Part {#own}\n\n### Two {#two}\n\n<a id=\"old\"></a>\n\nText\n"
    );
}

#[test]
fn indented_code_is_code_in_markdown_and_not_in_mdx() {
    let page = "<Badge />\n\nText:\n\n    <Tab>\n      x\n\n    y\n\n- item\n\n      z\n\n<Box>\n    inside\n</Box>\n";
    assert_eq!(code_blocks(&of_components(page)), ["<Tab>\n  x\n\ny\n", "z\n"]);
    assert!(code_blocks(&to_markdown(page)).is_empty());
}

#[test]
fn the_dialect_of_a_page_is_detected() {
    for (page, expected) in [
        ("import A from './a'\n\n# T\n", Some(Dialect::Mdx)),
        ("# T {/*t*/}\n", Some(Dialect::Mdx)),
        ("# T\n\n<Badge text='x' />\n", Some(Dialect::Components)),
        ("# T\n\n```jsx\nimport A from './a'\n<Badge />\n```\n", None),
        ("Call Vec<T> or <Button>.\n\n<div>\n", None),
        ("import the keys from the old one\n", None),
    ] {
        let found = dialect(page);
        assert_eq!(found, expected, "{page}");
    }
}

/// Lines of code with tags, marks and indentation that have a meaning elsewhere.
fn code() -> impl Strategy<Value = String> {
    let line = "[ ]{0,6}(<Tab>|</Tab>|- x|# y|\\{/\\*z\\*/\\}|import a from 'b'|> q|[a-z(){}:;]{1,8}|)";
    proptest::collection::vec(line, 1..6).prop_map(|lines| lines.join("\n") + "\n")
}

/// A page of nested components and lists, and the code in it.
fn page() -> impl Strategy<Value = (String, Vec<String>)> {
    let part = (0usize..4, any::<bool>(), any::<bool>(), 0usize..5, code());
    proptest::collection::vec(part, 1..6).prop_map(|parts| {
        let mut text = String::new();
        let mut blocks = Vec::new();
        for (depth, is_indented, is_listed, by, code) in parts {
            for level in 0..depth {
                text += &format!("{}<Box>\n", " ".repeat(if is_indented { level * by } else { 0 }));
            }
            let indent = " ".repeat(if is_indented { depth * by } else { 0 });
            let inner = match is_listed {
                true => {
                    text += &format!("\n{indent}- item\n");
                    format!("{indent}  ")
                }
                false => indent,
            };
            let lines: Vec<String> = code
                .lines()
                .map(|line| {
                    if line.is_empty() {
                        String::new()
                    } else {
                        format!("{inner}{line}")
                    }
                })
                .collect();
            text += &format!("\n{inner}~~~\n{}\n{inner}~~~\n\n", lines.join("\n"));
            for level in (0..depth).rev() {
                text += &format!("{}</Box>\n", " ".repeat(if is_indented { level * by } else { 0 }));
            }
            text += "\nBetween.\n\n";
            blocks.push(code);
        }
        (text, blocks)
    })
}

proptest! {
    #[test]
    fn the_code_of_a_page_is_the_code_of_the_document((page, blocks) in page()) {
        let markdown = to_markdown(&page);
        prop_assert_eq!(code_blocks(&markdown), blocks, "{}\n->\n{}", page, markdown);
    }
}

proptest! {
    #[test]
    fn words_of_elements_are_divided(
        words in proptest::collection::vec("[a-z]{3,8}", 2..8),
        name in prop_oneof![Just("p"), Just("div"), Just("li"), Just("td"), Just("dt"), Just("h2"), Just("Card"), Just("section")],
    ) {
        let page: String = words.iter().map(|word| format!("<{name}>{word}</{name}>")).collect();
        let markdown = to_markdown(&page);
        prop_assert_eq!(markdown.split_whitespace().collect::<Vec<_>>(), words);
    }
}
