use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::documents::question_chunk::FIRST;

fn id(document: i64, chunk: i32) -> ChunkId {
    let document = DocumentId { project: 1, document };
    ChunkId { document, chunk }
}

fn vector(dimension: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0f32..1.0, dimension..=dimension)
}

fn vectors() -> impl Strategy<Value = Vec<(i64, i32, Vec<f32>)>> {
    (1usize..200).prop_flat_map(|dimension| {
        let document = prop_oneof![0i64..2, 0i64..50, any::<i64>()];
        let question = (0i32..8, 0i32..8).prop_map(|(section, place)| FIRST + 1024 * section + place);
        let chunk = prop_oneof![0i32..i32::MAX, question];
        prop::collection::vec((document, chunk, vector(dimension)), 0..90)
    })
}

fn packed(vectors: &[(i64, i32, Vec<f32>)]) -> Vec<CodeRow> {
    let mut packer = CodePacker::default();
    for (document, chunk, vector) in vectors {
        packer.push(*document, *chunk, &Code::of(vector));
    }
    packer.finish()
}

/// Σ (c[i] - 1.5) · q[i], as defined in the description of the module.
fn by_definition(code: &Code, query: &[f32]) -> f32 {
    let levels = query.iter().enumerate().map(|(place, &x)| {
        let [high, low] = code.words[place / 64].map(|word| (word >> (place % 64) & 1) as f32);
        (2.0 * high + low - 1.5) * x
    });
    code.factor * levels.sum::<f32>()
}

fn estimate(vector: &[f32], query: &[f32]) -> f32 {
    let code = Code::of(vector);
    let planes: Vec<u8> = code
        .words
        .iter()
        .flatten()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let query = CodeQuery::new(query);
    query.estimate(code.factor, query.product(&planes))
}

/// [`CodeQuery::product`] by the weights of the bytes of planes.
fn by_bytes(query: &CodeQuery, planes: &[u8]) -> i32 {
    let mut product = 0;
    for (bytes, weights) in planes.chunks(32).zip(query.weights()) {
        for (place, byte) in bytes.iter().enumerate() {
            let of_plane = if place % 16 < 8 { 2 } else { 1 };
            for (bit, weights) in weights.iter().enumerate() {
                product += i32::from(byte >> bit & 1) * i32::from(weights[place]) * of_plane;
            }
        }
    }
    product
}

#[test]
fn levels_are_quarters_of_what_components_are() {
    let code = Code::of(&[-3.0, -0.1, 0.1, 3.0]);
    assert_eq!(code.words, [[0b1100, 0b1010]]);
}

proptest! {
    /// The nearest of some documents are those that remain of all.
    #[test]
    fn other_documents_do_not_count(vectors in vectors(), query in vector(200), limit in 1usize..90) {
        let some: Set<i64> = vectors.iter().map(|(document, ..)| *document).step_by(2).collect();
        let nearest = |limit: usize, documents: Option<Rc<Set<i64>>>| {
            let mut nearest = NearestCodes::new(limit, VectorKind::Text).among(documents);
            for row in packed(&vectors) {
                let dimension = vectors[0].2.len();
                nearest.compare(&CodeQuery::new(&query[..dimension]), 1, &Codes::read(&row.bytes).expect("codes"));
            }
            (nearest.compared(), nearest.finish())
        };
        let (_, all) = nearest(usize::MAX, None);
        let (compared, found) = nearest(limit, Some(Rc::new(some.clone())));
        let mut left: Vec<ChunkId> = all.into_iter().filter(|id| some.contains(&id.document.document)).collect();
        prop_assert!(found.len() <= limit && compared >= left.len());
        left.truncate(found.len());
        prop_assert_eq!(found, left);
    }
}

#[test]
fn a_vector_of_nothing_is_near_nothing() {
    for vector in [
        vec![],
        vec![0.0; 5],
        vec![f32::NAN; 5],
        vec![f32::INFINITY; 5],
        vec![f32::MIN_POSITIVE / 1000.0, f32::MAX],
    ] {
        let code = Code::of(&vector);
        assert_eq!(code.factor, 0.0, "{vector:?}");
        let query = CodeQuery::new(&vector);
        let _ = query.estimate(code.factor, query.product(&[]));
    }
}

#[test]
fn a_row_holds_seventy_three_codes_of_384_components_and_fits_into_a_page() {
    let vectors: Vec<_> = (0..74).map(|n| (n, 0, vec![1.0; 384])).collect();
    let rows = packed(&vectors);
    assert_eq!(rows.iter().map(|row| row.codes).collect::<Vec<_>>(), [73, 1]);
    assert_eq!(rows.iter().map(|row| row.is_full).collect::<Vec<_>>(), [true, false]);
    assert!(rows.iter().all(|row| row.bytes.len() <= ROW_BYTES));
}

#[test]
fn the_longest_vectors_that_postgres_stores_have_rows() {
    let rows = packed(&[(1, 0, vec![0.5; 16_000]), (2, 0, vec![-0.5; 16_000])]);
    assert!(rows.iter().all(|row| row.bytes.len() <= ROW_BYTES));
    assert_eq!(rows.iter().map(|row| row.codes).sum::<usize>(), 2);
}

#[test]
fn codes_of_another_dimension_are_passed_over() {
    let rows = packed(&[(1, 0, vec![1.0; 64]), (2, 0, vec![1.0; 65])]);
    let query = CodeQuery::new(&[1.0; 64]);
    let mut best = NearestCodes::new(10, VectorKind::Text);
    for row in &rows {
        best.compare(&query, 1, &Codes::read(&row.bytes).unwrap());
    }
    assert_eq!(best.compared(), 1);
    assert_eq!(best.finish(), [id(1, 0)]);
}

#[test]
fn a_section_with_two_codes_is_found_once() {
    let rows = packed(&[(1, 0, vec![1.0; 8]), (1, 0, vec![1.0; 8]), (2, 0, vec![-1.0; 8])]);
    let mut best = NearestCodes::new(3, VectorKind::Text);
    for row in &rows {
        best.compare(&CodeQuery::new(&[1.0; 8]), 1, &Codes::read(&row.bytes).unwrap());
    }
    assert_eq!(best.finish(), [id(1, 0), id(2, 0)]);
}

proptest! {
    #[test]
    fn what_is_packed_is_read_again(vectors in vectors()) {
        let rows = packed(&vectors);
        let read: Vec<_> = rows.iter().flat_map(|row| Codes::read(&row.bytes).unwrap().iter()).collect();
        let wanted: Vec<_> = vectors.iter().map(|(document, chunk, vector)| (*document, *chunk, Code::of(vector))).collect();
        prop_assert_eq!(read, wanted);
        prop_assert!(rows.iter().all(|row| row.bytes.len() <= ROW_BYTES));
    }

    #[test]
    fn a_row_that_was_cut_or_changed_is_refused_or_read(vectors in vectors(), cut in 0usize..200, place in 0usize..200, byte: u8) {
        for row in packed(&vectors) {
            let mut bytes = row.bytes;
            bytes.truncate(bytes.len() - cut.min(bytes.len()));
            prop_assert!(cut == 0 || Codes::read(&bytes).is_none());
            if let Some(at) = bytes.get_mut(place) {
                *at = byte;
            }
            if let Some(codes) = Codes::read(&bytes) {
                let mut best = NearestCodes::new(5, VectorKind::Text);
                best.compare(&CodeQuery::new(&[0.5; 100]), 1, &codes);
                let _ = (codes.iter().count(), best.finish());
            }
        }
    }

    #[test]
    fn an_estimate_is_what_its_formula_says(pair in (1usize..300).prop_flat_map(|d| (vector(d), vector(d)))) {
        let (vector, query) = pair;
        let unit = CodeQuery::new(&query).unit;
        let rounded: Vec<f32> = query.iter().map(|x| (x / unit).round() * unit).collect();
        let (counted, defined) = (estimate(&vector, &query), by_definition(&Code::of(&vector), &rounded));
        let size: f32 = vector.iter().chain(&query).map(|x| x * x).sum::<f32>().max(1.0);
        prop_assert!((counted - defined).abs() <= 1e-3 * size, "{counted} {defined}");
    }

    #[test]
    fn a_product_is_counted_by_bits_or_added_by_bytes(
        query in (1usize..600).prop_flat_map(vector),
        planes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let query = CodeQuery::new(&query);
        let planes = &planes[..(planes.len() / 16 * 16).min(16 * query.words.len())];
        prop_assert_eq!(query.product(planes), by_bytes(&query, planes));
    }

    #[test]
    fn a_code_resembles_its_vector_as_it_is_stored_and_no_other(pair in (64usize..800).prop_flat_map(|d| (vector(d), vector(d)))) {
        let (vector, other) = pair;
        // A component of 32 bits rounded to 16.
        let stored: Vec<f32> = vector.iter().map(|x| f32::from_bits((x.to_bits() + 0x1000) & !0x1fff)).collect();
        prop_assert!(Code::of(&vector).resembles(&stored));
        prop_assert!(Code::of(&stored).resembles(&vector));
        prop_assume!(other.iter().zip(&vector).filter(|(a, b)| a.signum() == b.signum()).count() < vector.len() * 3 / 4);
        prop_assert!(!Code::of(&other).resembles(&vector));
    }

    #[test]
    fn a_code_resembles_a_vector_of_few_values(values in prop::collection::vec(prop::sample::select(vec![-0.25f32, 0.0, 0.25, 1.0]), 1..200)) {
        prop_assert!(Code::of(&values).resembles(&values));
        let mut sparse = vec![0.0; 300];
        sparse[values.len()] = 1.0;
        prop_assert!(Code::of(&sparse).resembles(&sparse));
    }

    #[test]
    fn a_vector_is_as_near_to_itself_as_it_is(vector in vector(384)) {
        let square: f32 = vector.iter().map(|x| x * x).sum();
        prop_assert!((estimate(&vector, &vector) / square - 1.0).abs() < 0.05);
    }

    #[test]
    fn the_best_are_those_of_sorting_all_of_a_kind(vectors in vectors(), query in vector(200), limit in 1usize..60, questions: bool) {
        let Some(dimension) = vectors.first().map(|v| v.2.len()) else { return Ok(()) };
        let query = &query[..dimension];
        let rows = packed(&vectors);
        let code_query = CodeQuery::new(query);
        let kind = if questions { VectorKind::Question } else { VectorKind::Text };
        let mut best = NearestCodes::new(limit, kind);
        for row in &rows {
            best.compare(&code_query, 1, &Codes::read(&row.bytes).unwrap());
        }
        let of_kind: Vec<_> = vectors.iter().filter(|(_, chunk, _)| VectorKind::of(*chunk) == kind).collect();
        prop_assert_eq!(best.compared(), of_kind.len());
        let mut all: Vec<_> = of_kind.into_iter().map(|(d, c, v)| (estimate(v, query), id(*d, *c))).collect();
        all.sort_by(order);
        if questions {
            all = uncrowded(all);
        }
        all.truncate(limit);
        let mut seen = BTreeSet::new();
        let wanted: Vec<_> = all.into_iter().map(|(_, id)| id).filter(|id| seen.insert(*id)).collect();
        prop_assert_eq!(best.finish(), wanted);
    }

    /// Sections that a caller may not see do not change the order of the others.
    #[test]
    fn more_sections_leave_the_others_in_their_order(vectors in vectors(), query in vector(200), hidden in any::<u64>()) {
        let Some(dimension) = vectors.first().map(|v| v.2.len()) else { return Ok(()) };
        let query = CodeQuery::new(&query[..dimension]);
        let found = |vectors: &[(i64, i32, Vec<f32>)]| {
            let mut best = NearestCodes::new(1000, VectorKind::Text);
            for row in packed(vectors) {
                best.compare(&query, 1, &Codes::read(&row.bytes).unwrap());
            }
            best.finish()
        };
        let is_hidden = |document: i64| hidden >> (document.rem_euclid(64)) & 1 == 1;
        let visible: Vec<_> = vectors.iter().filter(|v| !is_hidden(v.0)).cloned().collect();
        let mut among_all = found(&vectors);
        among_all.retain(|id| !is_hidden(id.document.document));
        prop_assert_eq!(among_all, found(&visible));
    }
}

/// Each once, and the first ones of each section and document, computed by looking back.
fn uncrowded(all: Vec<(f32, ChunkId)>) -> Vec<(f32, ChunkId)> {
    let mut kept: Vec<(f32, ChunkId)> = Vec::new();
    for found in all {
        if kept.iter().any(|kept| kept.1 == found.1) {
            continue;
        }
        let of_document: Vec<ChunkId> = kept
            .iter()
            .map(|kept| kept.1)
            .filter(|id| id.document == found.1.document)
            .collect();
        let section = section_chunk(found.1.chunk);
        let of_section = of_document
            .iter()
            .filter(|id| section_chunk(id.chunk) == section)
            .count();
        if of_section < MAX_PER_SECTION && of_document.len() < MAX_PER_DOCUMENT {
            kept.push(found);
        }
    }
    kept
}

#[test]
fn a_page_with_a_thousand_questions_leaves_places_to_others() {
    let near = [1.0, 0.5, -0.5, 1.0];
    let mut vectors: Vec<(i64, i32, Vec<f32>)> = (0..1000).map(|place| (1, FIRST + place, near.to_vec())).collect();
    vectors.extend((2..40).map(|document| (document, FIRST, vec![1.0, 0.5, 0.5, 1.0])));
    let mut best = NearestCodes::new(20, VectorKind::Question);
    for row in packed(&vectors) {
        best.compare(&CodeQuery::new(&near), 1, &Codes::read(&row.bytes).unwrap());
    }
    let found = best.finish();
    assert_eq!(
        found.iter().filter(|id| id.document.document == 1).count(),
        MAX_PER_SECTION
    );
    assert_eq!(found.len(), 20);
}

#[test]
fn questions_that_were_stored_again_take_no_second_place() {
    let near = [1.0, 0.5, -0.5, 1.0];
    let vectors: Vec<(i64, i32, Vec<f32>)> = (1..40).map(|document| (document, FIRST, near.to_vec())).collect();
    let found = |times: usize| {
        let mut best = NearestCodes::new(20, VectorKind::Question);
        for row in (0..times).flat_map(|_| packed(&vectors)) {
            best.compare(&CodeQuery::new(&near), 1, &Codes::read(&row.bytes).unwrap());
        }
        best.finish()
    };
    assert_eq!(found(1).len(), 20);
    assert_eq!(found(3), found(1));
}
