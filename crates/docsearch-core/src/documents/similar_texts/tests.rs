use proptest::prelude::*;

use super::*;

fn of<T: AsRef<str>>(texts: &[T]) -> Vec<Shingles> {
    texts.iter().map(|text| Shingles::of(text.as_ref())).collect()
}

fn grouped<T: AsRef<str>>(texts: &[T], threshold: f64) -> Vec<Vec<usize>> {
    let texts = of(texts);
    groups(&texts.iter().collect::<Vec<_>>(), threshold)
}

#[test]
fn a_page_with_another_word_is_similar_and_another_page_is_not() {
    let page: String = (0..60).map(|number| format!("word{number} ")).collect();
    let texts = [
        page.clone(),
        page.replace("word30 ", "other "),
        "Something else.".to_owned(),
    ];
    let shingles = of(&texts);
    assert!((shingles[0].similarity(&shingles[1]) - 51.0 / 61.0).abs() < 1e-9);
    assert_eq!(grouped(&texts, 0.8), [vec![0, 1]]);
    let (one, two) = (
        shingles.iter().take(1).collect::<Vec<_>>(),
        shingles.iter().collect::<Vec<_>>(),
    );
    let similar: Vec<usize> = similar_others(&one, &two, 0.8)
        .remove(0)
        .into_iter()
        .map(|(place, _)| place)
        .collect();
    assert_eq!(similar, [0, 1]);
}

#[test]
fn case_and_punctuation_are_no_difference() {
    assert_eq!(
        grouped(&["Open the kiln, slowly.", "open the kiln slowly"], 1.0),
        [vec![0, 1]]
    );
    assert!(grouped(&["", "..."], 0.5).is_empty());
    assert!(!Shingles::of("Open the kiln slowly again").are_at_least(2));
}

#[test]
fn long_texts_are_sampled() {
    let page = |from: u32| -> String { (from..from + 9_000).map(|number| format!("word{number} ")).collect() };
    let texts = [page(0), page(900), page(5_000), page(0)];
    let shingles = of(&texts);
    assert!(shingles.iter().all(|shingles| shingles.hashes.len() <= MAX_SHINGLES));
    // 8,100 words of 9,900 are common.
    assert!((shingles[0].similarity(&shingles[1]) - 8_100.0 / 9_900.0).abs() < 0.06);
    assert_eq!(grouped(&texts, 0.7), [vec![0, 1, 3]]);
}

/// Many pages with most of their text in common: comparing all pairs would take minutes.
#[test]
fn pages_of_a_template_are_one_group() {
    let template: String = (0..95).map(|number| format!("word{number} ")).collect();
    let texts: Vec<String> = (0..3_000)
        .map(|number| format!("{template} page{number} of many others {number}"))
        .collect();
    assert_eq!(grouped(&texts, 0.8), [(0..3_000).collect::<Vec<_>>()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The same groups as by comparing all.
    #[test]
    fn no_pair_is_missed(
        texts in prop::collection::vec("([ab] ){3,14}|([a-d] ){10,40}", 0..16),
        long in prop::collection::vec((0u32..3, 480u32..1_400), 0..4),
        threshold in 0.2f64..1.0,
    ) {
        let long = long.iter().map(|&(start, words)| {
            (start * 40..start * 40 + words).map(|number| format!("w{number} ")).collect::<String>()
        });
        let texts: Vec<String> = texts.into_iter().chain(long).collect();
        let shingles = of(&texts);
        let mut all = DisjointSets::new(texts.len());
        for second in 0..texts.len() {
            for first in 0..second {
                if shingles[first].similarity(&shingles[second]) >= threshold {
                    all.join(first, second);
                }
            }
        }
        prop_assert_eq!(grouped(&texts, threshold), all.groups());
    }

    #[test]
    fn similarity_is_symmetric_and_1_for_the_same(a in "([ab] ){1,14}", b in "([ab] ){1,14}") {
        let (a, b) = (Shingles::of(&a), Shingles::of(&b));
        prop_assert_eq!(a.similarity(&b), b.similarity(&a));
        prop_assert_eq!(a.similarity(&b) == 1.0, a == b);
        prop_assert_eq!(a.similarity(&a), 1.0);
    }
}
