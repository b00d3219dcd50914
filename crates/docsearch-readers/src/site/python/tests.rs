use super::*;

fn text_of(file: &str, name: &str) -> Option<String> {
    assignments(file).get(name).and_then(Value::text).map(str::to_owned)
}

#[test]
fn values_are_computed_from_literals_names_and_methods() {
    for (file, expected) in [
        ("x = '4.2'\n", Some("4.2")),
        ("x: str = \"a\\n\"  # comment\n", Some("a\n")),
        ("x = ('a'\n     \"b\")\n", Some("ab")),
        ("x = r'\\d' + u'e'\n", Some("\\de")),
        ("y = '4.2.1'\nx = f'v{y}, {{z}}'\n", Some("v4.2.1, {z}")),
        ("y = '4.2.1'\nx = '.'.join(y.split('.')[:2])\n", Some("4.2")),
        ("y = '4.2.1'\nx = y.rsplit('.', 1)[0]\n", Some("4.2")),
        ("y = '4.2.1'\nx = y.rpartition('.')[0]\n", Some("4.2")),
        ("y = '4.2'\nx = 'v%s (%s)' % (y, 7)\n", Some("v4.2 (7)")),
        ("x = 'v{}-{}'.format('a', 'b')\n", Some("va-b")),
        ("x = 'a'\nx += 'b'\n", Some("ab")),
        (
            "x = \"\"\"\n.. |a| replace:: b\n\"\"\"\n",
            Some("\n.. |a| replace:: b\n"),
        ),
        ("'''\nx = 'in a string'\n'''\nx = 'b'\n", Some("b")),
        ("x = 'a' if y else 'b'\n", None),
        ("x = run('a')\n", None),
        ("x = y\n", None),
        ("if y:\n    x = 'a'\n", None),
        ("x = 'open\n", None),
    ] {
        assert_eq!(text_of(file, "x").as_deref(), expected, "{file}");
    }
}

#[test]
fn dictionaries_keep_what_is_known() {
    let values =
        assignments("links = {\n  'a': ('u/%s', None), # c\n  **more,\n  b(): 'x',\n  'c': ['d'],\n}\nx = 1\n");
    let text = |text: &str| Value::Text(text.to_owned());
    let Value::Map(entries) = &values["links"] else {
        panic!("{values:?}")
    };
    assert!(entries.contains(&(text("a"), Value::Items(vec![text("u/%s"), Value::Unknown]))));
    assert!(entries.contains(&(text("c"), Value::Items(vec![text("d")]))));
    assert_eq!(values["x"], Value::Number(1));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_to_its_end(file in "([a-z]{1,2}( [+]?= )?|[-+%.,:\\[\\](){}'\"#\\\\ \n0-9]{1,3}|f\"|'''){0,40}") {
        assignments(&file);
    }

    /// The text of a literal is the value, whatever it contains.
    #[test]
    fn literals_are_their_text(text in "[^\\\\'\n\r]{0,20}") {
        proptest::prop_assert_eq!(text_of(&format!("x = '{text}'\n"), "x"), Some(text));
    }
}
