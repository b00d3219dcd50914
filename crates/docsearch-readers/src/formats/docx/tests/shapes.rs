use super::*;

/// A text box as Word writes it, for programs of two generations.
fn text_box(content: &str) -> String {
    format!(
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx>\
         <w:txbxContent>{content}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice>\
         <mc:Fallback><w:pict><v:shape><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></v:shape></w:pict></mc:Fallback>\
         </mc:AlternateContent></w:r>"
    )
}

fn control(content: &str) -> String {
    format!("<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>")
}

fn cell(text: &str) -> String {
    format!("<w:tc><w:tcPr/>{}</w:tc>", paragraphs(&[text]))
}

#[test]
fn controls_around_cells_rows_and_paragraphs_are_seen_through() {
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let table = format!(
        "<w:tbl><w:tblPr/>{}{}{}</w:tbl>{}",
        row(&[cell("Field"), cell("Value"), cell("Remark")]),
        row(&[cell("name"), control(&cell("chosen gannet")), cell("required")]),
        control(&control(&row(&[
            cell("colour"),
            cell("red"),
            format!("<w:tc>{}</w:tc>", control(&paragraphs(&["own", "choice"])))
        ]))),
        control(&paragraphs(&["About auks."]))
    );
    assert_eq!(
        body(&table),
        "| Field | Value | Remark |\n| --- | --- | --- |\n| name | chosen gannet | required |\n| colour | red | own choice |\n\nAbout auks.\n"
    );
}

#[test]
fn columns_that_a_row_skips_or_joins_are_empty() {
    let table = format!(
        "<w:tbl><w:tr>{}{}{}</w:tr><w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>{}{}</w:tr>\
         <w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{}</w:tc>{}</w:tr></w:tbl>",
        cell("a"),
        cell("b"),
        cell("c"),
        cell("d"),
        cell("e"),
        paragraphs(&["f"]),
        cell("g")
    );
    assert_eq!(
        body(&table),
        "| a | b | c |\n| --- | --- | --- |\n|  | d | e |\n| f |  | g |\n"
    );
}

#[test]
fn text_boxes_are_paragraphs_of_their_own_once() {
    let text = format!(
        "<w:p>{}{}</w:p><w:p>{}{}{}</w:p>",
        text_box(&paragraphs(&["Student falls ill", "Report it"])),
        run("Paragraph about terns."),
        run("Another."),
        text_box(&paragraphs(&["Health office"])),
        text_box(&paragraphs(&["Second box"]))
    );
    assert_eq!(
        body(&text),
        "Student falls ill\n\nReport it\n\nParagraph about terns.\n\nAnother.\n\nHealth office\n\nSecond box\n"
    );
    let old = "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>Old box</w:t></w:r></w:p></w:txbxContent></v:textbox>\
        <v:textpath string='Drawn text'/></v:shape></w:pict></w:r></w:p>";
    assert_eq!(body(old), "Old box\n\nDrawn text\n");
    let heading = format!(
        "<w:p><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr>{}{}</w:p>",
        text_box(&paragraphs(&["Beside it"])),
        run("Kites")
    );
    assert_eq!(body(&heading), "# Kites\n\nBeside it\n");
}

#[test]
fn a_box_in_a_cell_or_in_a_box_is_kept() {
    let inner = text_box(&paragraphs(&["inner"]));
    let boxed = text_box(&format!("<w:p>{inner}{}</w:p>", run("outer")));
    let table = format!(
        "<w:tbl><w:tr><w:tc><w:p>{boxed}{}</w:p></w:tc>{}</w:tr></w:tbl>",
        run("cell"),
        cell("next")
    );
    assert_eq!(body(&table), "| inner outer cell | next |\n| --- | --- |\n");
}

#[test]
fn a_dropped_capital_belongs_to_the_next_paragraph() {
    for kind in ["drop", "margin"] {
        let capital = format!(
            "<w:p><w:pPr><w:framePr w:dropCap='{kind}' w:lines='3'/></w:pPr>{}</w:p>",
            run("F")
        );
        let text = format!("{capital}{}", paragraphs(&["erries carry puffins.", "More."]));
        assert_eq!(body(&text), "Ferries carry puffins.\n\nMore.\n");
        assert_eq!(body(&capital), "F\n");
        let table = format!("<w:tbl><w:tr><w:tc>{text}</w:tc>{}</w:tr></w:tbl>", cell("next"));
        assert_eq!(body(&table), "| Ferries carry puffins. More. | next |\n| --- | --- |\n");
    }
}

#[test]
fn a_fallback_is_read_where_only_it_has_text() {
    let text = "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='future'><w:drawing/></mc:Choice>\
        <mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>Old form</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict></mc:Fallback>\
        </mc:AlternateContent></w:r></w:p>";
    assert_eq!(body(text), "Old form\n");
}

/// A document with one drawing that refers to this part.
fn with_part(drawing: &str, kind: &str, part: &str) -> String {
    let relationships = format!("<R><R Id='r7' Type='http://x/{kind}' Target='drawn/part.xml'/></R>");
    let text = format!("<w:p>{}<w:r><w:drawing>{drawing}</w:drawing></w:r></w:p>", run("See:"));
    let files = [
        ("word/_rels/document.xml.rels", relationships.as_str()),
        ("word/drawn/part.xml", part),
    ];
    read(&file_with(&text, &files)).unwrap().body
}

#[test]
fn the_shapes_of_a_diagram_are_a_list() {
    let point = |id: u8, text: &str| {
        format!("<dgm:pt modelId='{id}'><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r><a:br/></a:p></dgm:t></dgm:pt>")
    };
    let link = |from: u8, to: u8, place: u8| {
        format!("<dgm:cxn modelId='9{to}' srcId='{from}' destId='{to}' srcOrd='{place}'/>")
    };
    let data = format!(
        "<dgm:dataModel><dgm:ptLst><dgm:pt modelId='0' type='doc'/>{}{}{}<dgm:pt modelId='8' type='pres'/></dgm:ptLst>\
         <dgm:cxnLst>{}{}{}<dgm:cxn type='presOf' modelId='98' srcId='1' destId='8'/></dgm:cxnLst></dgm:dataModel>",
        point(2, "Land"),
        point(1, "Fly"),
        point(3, "In</a:t></a:r><a:br/><a:r><a:t>wind"),
        link(0, 2, 1),
        link(0, 1, 0),
        link(1, 3, 0)
    );
    let drawing = "<wp:inline><a:graphic><a:graphicData><dgm:relIds r:dm='r7' r:lo='r8'/></a:graphicData></a:graphic></wp:inline>";
    assert_eq!(
        with_part(drawing, "diagramData", &data),
        "See:\n\n- Fly\n  - In wind\n- Land\n"
    );
    let circle = format!(
        "<dgm:dataModel><dgm:ptLst>{}{}</dgm:ptLst><dgm:cxnLst>{}{}</dgm:cxnLst></dgm:dataModel>",
        point(1, "a"),
        point(2, "b"),
        link(1, 2, 0),
        link(2, 1, 0)
    );
    assert_eq!(with_part(drawing, "diagramData", &circle), "See:\n\n- a\n  - b\n");
}

#[test]
fn a_chart_is_its_title_and_its_data() {
    let points = |texts: &[&str]| -> String {
        let points = texts
            .iter()
            .enumerate()
            .map(|(at, text)| format!("<c:pt idx='{at}'><c:v>{text}</c:v></c:pt>"));
        format!(
            "<c:strRef><c:strCache>{}</c:strCache></c:strRef>",
            points.collect::<String>()
        )
    };
    let series = |name: &str, values: &[&str]| {
        format!(
            "<c:ser><c:tx>{}</c:tx><c:cat>{}</c:cat><c:val>{}</c:val></c:ser>",
            points(&[name]),
            points(&["May", "June"]),
            points(values)
        )
    };
    let chart = format!(
        "<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Birds </a:t></a:r><a:r><a:t>seen</a:t></a:r></a:p></c:rich></c:tx></c:title>\
         <c:plotArea><c:barChart>{}{}</c:barChart></c:plotArea></c:chart></c:chartSpace>",
        series("Terns", &["3", "5"]),
        series("Auks", &["1"])
    );
    let drawing = "<wp:inline><a:graphic><a:graphicData><c:chart r:id='r7'/></a:graphicData></a:graphic></wp:inline>";
    assert_eq!(
        with_part(drawing, "chart", &chart),
        "See:\n\nBirds seen\n\n|  | Terns | Auks |\n| --- | --- | --- |\n| May | 3 | 1 |\n| June | 5 |  |\n"
    );
}

#[test]
fn a_picture_is_its_description() {
    let picture = |description: &str| {
        format!(
            "<w:p>{}<w:r><w:drawing><wp:inline><wp:docPr name='Picture 1' descr='{description}'/><a:graphic><a:graphicData><pic:pic/>\
             </a:graphicData></a:graphic></wp:inline></w:drawing></w:r>{}</w:p>",
            run("Before"),
            run("after.")
        )
    };
    assert_eq!(body(&picture("A tern on a post")), "Before A tern on a post after.\n");
    assert_eq!(body(&picture("C:\\pictures\\IMG_0012.jpg")), "Beforeafter.\n");
}

proptest::proptest! {
    #[test]
    fn words_are_kept_in_order_whatever_is_around_them(kinds in proptest::collection::vec(0u8..8, 1..20)) {
        let words: Vec<String> = (0..kinds.len()).map(|number| format!("word{number}x")).collect();
        let text: String = kinds.iter().zip(&words).map(|(kind, word)| match kind {
            0 => paragraphs(&[word]),
            1 => control(&paragraphs(&[word])),
            2 => format!("<w:p>{}</w:p>", text_box(&paragraphs(&[word]))),
            3 => format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", control(&cell(word)), cell("-")),
            4 => format!("<w:p><w:hyperlink w:anchor='a'>{}</w:hyperlink></w:p>", run(word)),
            5 => format!("<w:p><w:ins>{}</w:ins><w:del>{}</w:del></w:p>", run(word), run("deleted")),
            6 => format!("<w:unknown><w:p><w:new>{}</w:new></w:p></w:unknown>", run(word)),
            _ => format!("<w:p><w:pPr><w:framePr w:dropCap='drop'/></w:pPr>{}</w:p><w:p>{}</w:p>", run(&word[..1]), run(&word[1..])),
        }).collect();
        let body = body(&text);
        let kept: Vec<&str> = body.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with("word")).collect();
        proptest::prop_assert_eq!(kept, words);
        proptest::prop_assert!(!body.contains("deleted"));
    }
}
