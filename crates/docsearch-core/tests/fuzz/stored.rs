use docsearch_core::documents::listing::{ListedDocument, Listing};
use docsearch_core::index::bm25::{Frequencies, Lexeme};
use docsearch_core::index::postings::{SECTIONS_BUCKET, Section, SegmentBuilder, read_all};
use docsearch_core::index::vector_code::{Code, CodePacker, CodeQuery, Codes, NearestCodes, VectorKind};
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::filter::ParsedFilter;
use docsearch_core::ranking::page::Page;
use docsearch_core::text::name;
use docsearch_fuzz::text;
use serde_json::Value;

pub(crate) fn filters(input: &[u8]) {
    let Ok(filter) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    if let Ok(parsed) = ParsedFilter::parse(&filter) {
        let compiled = parsed.with_versions(&[]);
        let size = [&compiled.metadata, &compiled.fields]
            .into_iter()
            .flatten()
            .map(String::len)
            .sum::<usize>();
        // A value occurs for each spelling of its key and of itself, and every character of both may be escaped.
        assert!(size <= 160 * input.len() + 1000, "{} bytes give {size}", input.len());
        assert_eq!(ParsedFilter::parse(&filter).expect("the same filter"), parsed);
        compiled.is_empty();
    }
}

pub(crate) fn metadata(input: &[u8]) {
    let Ok(metadata) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    name::stated_containers(Some(&metadata)).count();
    name::containers(Some("a/b"), Some(&metadata));
    let page = Page {
        metadata: Some(metadata),
        ..Page::default()
    };
    page.is_inside(&["a".to_owned()]);
}

pub(crate) fn vectors(input: &[u8]) {
    let Some(vector) = TsVector::new(input) else { return };
    assert!(vector.len() * 4 <= input.len());
    let mut lexemes: Vec<&str> = vector.lexemes().take(500).collect();
    let positions: usize = lexemes.iter().map(|lexeme| vector.positions(lexeme).count()).sum();
    assert!(positions <= lexemes.len() * (input.len() / 2 + 1));
    vector.positions("none").count();
    lexemes.sort_unstable();
    let wanted: Vec<Lexeme<'_>> = lexemes
        .iter()
        .enumerate()
        .map(|(place, text)| Lexeme {
            text,
            term: place % 3,
            closeness: 1.0,
        })
        .collect();
    assert_eq!(Frequencies::of_terms(3, &wanted, &vector).len(), 3);
}

/// Rows of a segment with any bytes, and a segment of a vector with any bytes.
pub(crate) fn postings(input: &[u8]) {
    for bucket in [SECTIONS_BUCKET, 0] {
        let half = input.len() / 2;
        let _ = read_all([(bucket, &input[..half]), (0, &input[half..])]);
    }
    if let Some(vector) = TsVector::new(input) {
        let mut builder = SegmentBuilder::new();
        builder.add(Section::default(), &vector);
        let segment = builder.finish();
        let rows = segment
            .blocks
            .iter()
            .map(|block| (block.bucket, block.bytes.as_slice()));
        assert!(read_all(rows).is_some_and(|sections| sections.len() == 1));
    }
}

/// A row of codes with any bytes, and the code of any numbers.
pub(crate) fn vector_codes(input: &[u8]) {
    if let Some(codes) = Codes::read(input) {
        let keys = codes.keys().count();
        assert!(12 * keys <= input.len());
        let mut best = NearestCodes::new(3, VectorKind::Text);
        best.compare(&CodeQuery::new(&[0.5; 64]), 1, &codes);
        assert!(best.compared() <= keys && best.finish().len() <= 3);
    }
    let (numbers, _) = input.as_chunks::<4>();
    let numbers: Vec<f32> = numbers
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .take(16_000)
        .collect();
    let mut packer = CodePacker::default();
    packer.push(i64::MIN, i32::MAX, &Code::of(&numbers));
    packer.push(i64::MAX, i32::MIN, &Code::of(&numbers));
    let rows = packer.finish();
    let read = rows.iter().filter_map(|row| Codes::read(&row.bytes));
    let keys: Vec<(i64, i32)> = read.flat_map(|codes| codes.keys()).collect();
    assert!(numbers.is_empty() || keys == [(i64::MIN, i32::MAX), (i64::MAX, i32::MIN)]);
    let mut best = NearestCodes::new(1, VectorKind::Text);
    for codes in rows.iter().filter_map(|row| Codes::read(&row.bytes)) {
        best.compare(&CodeQuery::new(&numbers), 1, &codes);
    }
    assert!(best.finish().len() <= 1);
}

pub(crate) fn listings(input: &[u8]) {
    let text = text(input);
    let documents = text.lines().map(|line| {
        let document = ListedDocument {
            project: "manual".to_owned(),
            slug: "page".to_owned(),
            title: String::new(),
            description: None,
            last_updated: String::new(),
        };
        (Some(line.to_owned()), document)
    });
    let listing = Listing::of(documents);
    assert_eq!(listing.total_documents, text.lines().count());
    assert!(serde_json::to_string(&listing).is_ok());
}
