//! Tests an embedding model: whether it puts questions next to the passages that answer them.

use crate::values::cosine::cosine;

/// Questions with their passages, each on another subject. They share hardly a word: a model that computes nonsense
/// still puts texts of the same words together.
pub const PAIRS: [(&str, &str); 12] = [
    ("How do I delete a file?", "Remove files with the command rm."),
    (
        "when does the shop close in the evening",
        "Opening hours are from nine to six, on Saturdays until one.",
    ),
    (
        "my dog will not eat",
        "A pet that refuses its food for two days should see a veterinarian.",
    ),
    (
        "limit how many connections a client may open",
        "max_connections sets the greatest number of concurrent sessions.",
    ),
    (
        "why is the bread so hard",
        "Dough that has not risen long enough gives a dense, tough loaf.",
    ),
    (
        "sort a list of numbers",
        "The function arranges the elements of an array in ascending order.",
    ),
    (
        "which planet is the largest",
        "Jupiter has more mass than all the other worlds of the solar system together.",
    ),
    (
        "the picture is blurred",
        "Hold the camera steady and choose a shorter exposure.",
    ),
    (
        "how can I sleep better",
        "Go to bed at the same time each night and keep the room dark.",
    ),
    (
        "change my password",
        "Open the account settings and enter new credentials twice.",
    ),
    (
        "who painted the ceiling of the chapel",
        "Michelangelo finished the frescoes in 1512.",
    ),
    (
        "the car does not start",
        "Check the battery and the ignition before you call a mechanic.",
    ),
];

/// Fewest questions whose own passage has to be the nearest. all-MiniLM-L6-v2, bge-small-en-v1.5 and e5-small-v2 find
/// all 12, as float and with 8-bit weights. all-MiniLM-L6-v2 finds 6 with random weights, and also with noise of
/// twice its weights.
const MIN_FOUND: usize = 9;
/// Least distance between the means of related and unrelated pairs, in standard deviations of the unrelated ones.
/// e5-small-v2 has 3.0, all-MiniLM-L6-v2 6.9. With noise of half its weights, all-MiniLM-L6-v2 has 1.6 and finds 8.
const MIN_MARGIN: f32 = 1.5;

/// Result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfTest {
    /// Questions whose own passage is the nearest.
    pub found: usize,
    margin: f32,
}

impl SelfTest {
    /// The result by the vectors of the questions and of the passages of [`PAIRS`].
    pub fn of(questions: &[Vec<f32>], passages: &[Vec<f32>]) -> Self {
        let (mut found, mut near, mut far) = (0, Vec::new(), Vec::new());
        for (number, question) in questions.iter().enumerate() {
            let similarities: Vec<f32> = passages.iter().map(|passage| cosine(question, passage)).collect();
            let Some(&own) = similarities.get(number) else {
                continue;
            };
            let others = || similarities.iter().enumerate().filter(|(other, _)| *other != number);
            found += usize::from(others().all(|(_, &other)| own > other));
            near.push(own);
            far.extend(others().map(|(_, &other)| other));
        }
        let unrelated = mean(&far);
        let spread = mean(&far.iter().map(|value| (value - unrelated).powi(2)).collect::<Vec<_>>()).sqrt();
        Self {
            found,
            margin: (mean(&near) - unrelated) / spread,
        }
    }

    /// Whether the model is fit for search.
    pub fn is_passed(self) -> bool {
        self.found >= MIN_FOUND && self.margin >= MIN_MARGIN
    }
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const COUNT: usize = PAIRS.len();

    /// A vector for each pair. `common` is the part that all share, `apart` the distance of questions and passages.
    fn vectors(common: f32, apart: f32, axis: usize) -> Vec<Vec<f32>> {
        let vector = |number| {
            let mut vector = vec![common; COUNT * 3];
            vector[number] += 1.0;
            vector[COUNT * axis + number] += apart;
            vector
        };
        (0..COUNT).map(vector).collect()
    }

    #[test]
    fn a_model_that_puts_pairs_together_passes() {
        for (common, apart) in [(0.0, 0.0), (0.0, 1.0), (2.0, 0.5)] {
            let test = SelfTest::of(&vectors(common, apart, 1), &vectors(common, apart, 2));
            assert_eq!(test.found, COUNT, "{common} {apart}");
            assert!(test.is_passed(), "{common} {apart}");
        }
    }

    #[test]
    fn a_model_with_one_vector_for_all_texts_fails() {
        for value in [0.0, 1.0, -3.5] {
            let same = vec![vec![value; 8]; COUNT];
            let test = SelfTest::of(&same, &same);
            assert_eq!(test.found, 0);
            assert!(!test.is_passed());
        }
    }

    #[test]
    fn a_model_that_mixes_up_a_third_of_the_pairs_fails() {
        let questions = vectors(0.0, 0.0, 1);
        let mut passages = questions.clone();
        passages[..4].rotate_left(1);
        assert_eq!(SelfTest::of(&questions, &passages).found, COUNT - 4);
        assert!(!SelfTest::of(&questions, &passages).is_passed());
    }

    #[test]
    fn pairs_share_hardly_a_word() {
        let words = |text: &str| -> HashSet<String> {
            let words = text.split(|c: char| !c.is_alphanumeric());
            words.filter(|word| word.len() > 3).map(str::to_lowercase).collect()
        };
        for (question, passage) in PAIRS {
            assert!(words(question).intersection(&words(passage)).count() <= 1, "{question}");
        }
    }

    proptest! {
        #[test]
        fn vectors_by_chance_fail(values in proptest::collection::vec(-1.0f32..1.0, COUNT * 2 * 64)) {
            let vectors: Vec<Vec<f32>> = values.chunks(64).map(<[f32]>::to_vec).collect();
            prop_assert!(!SelfTest::of(&vectors[..COUNT], &vectors[COUNT..]).is_passed());
        }

        #[test]
        fn lengths_of_vectors_do_not_matter(factors in proptest::collection::vec(0.1f32..10.0, COUNT)) {
            let mut passages = vectors(0.5, 0.5, 2);
            for (passage, factor) in passages.iter_mut().zip(factors) {
                passage.iter_mut().for_each(|value| *value *= factor);
            }
            prop_assert!(SelfTest::of(&vectors(0.5, 0.5, 1), &passages).is_passed());
        }
    }
}
