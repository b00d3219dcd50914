//! Time of the rules: scores and orders 200 candidates, as a search does after its retrievers. Prints the median and
//! the 95th percentile for each query, with stored keys of pages and with computed ones.

use std::hint::black_box;
use std::time::{Duration, Instant};

use docsearch_core::documents::page_keys::PageKeys;
use docsearch_core::query::container::KnownNames;
use docsearch_core::query::rule::Rules;
use docsearch_core::query::understanding::Understanding;
use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::rank::{ScoredDocument, TextScore, base_score};
use docsearch_core::ranking::rerank::Reranker;
use docsearch_core::ranking::score::Scorer;
use docsearch_core::ranking::weight::Weights;
use docsearch_core::values::cosine::dense_score;
use docsearch_core::values::id::{DocumentId, Map};

const CANDIDATES: i64 = 200;
const RUNS: usize = 1_000;
const BASELINE: f32 = 0.05;
const QUERIES: [&str; 5] = [
    "UITableView",
    "Button in SwiftUI",
    "how do I delete all large files of a project",
    "List all certificates in the key vault <vault> of my subscription",
    "save a text file",
];
const VERBS: [&str; 5] = ["list", "create", "delete", "update", "get"];
const THINGS: [&str; 8] = [
    "file",
    "certificate",
    "key vault",
    "table view",
    "project",
    "storage account",
    "button",
    "text style",
];

fn candidates(stored: bool) -> (Map<DocumentId, Page>, Vec<ScoredDocument>) {
    let mut pages = Map::default();
    let mut documents = Vec::new();
    for number in 0..CANDIDATES {
        let at = usize::try_from(number).unwrap_or_default();
        let (verb, thing) = (VERBS[at % VERBS.len()], THINGS[at / VERBS.len() % THINGS.len()]);
        let title = format!("{verb}_{}_{number}", thing.replace(' ', "_"));
        let document = DocumentId {
            project: 1,
            document: number,
        };
        let similarity = 0.2 + 0.6 * number as f32 / CANDIDATES as f32;
        let (dense, lexical) = (dense_score(similarity, BASELINE), 1.0 - similarity);
        documents.push(ScoredDocument {
            document,
            similarity: Some(similarity),
            dense,
            lexical,
            base: base_score(dense, lexical, 0.5),
            text: TextScore::default(),
            chunks: Vec::new(),
        });
        let mut page = Page {
            project: "kit".to_owned(),
            slug: format!("reference/{thing}/{title}"),
            category: Some(format!("{thing}s")),
            description: format!(
                "{verb}s every {thing} that belongs to a subscription, with its name, its place and its size, and says \
                 which of them can be changed by the caller. Needs the rights of an owner of the {thing}."
            ),
            metadata: Some(serde_json::json!({"framework": "SwiftUI", "platforms": ["ios", "macos"]})),
            title,
            ..Page::default()
        };
        page.keys = stored.then(|| PageKeys::of(&page.title, &page.slug, page.category.as_deref()));
        pages.insert(document, page);
    }
    (pages, documents)
}

fn main() {
    let (rules, weights) = (Rules::english(), Weights::default());
    let known: KnownNames = ["SwiftUI"].into_iter().collect();
    println!("{CANDIDATES} candidates, {RUNS} runs");
    for stored in [true, false] {
        let (pages, documents) = candidates(stored);
        let keys = if stored {
            "query, keys are stored"
        } else {
            "query, keys are computed"
        };
        println!("{keys:<66} {:>9} {:>9}", "p50 ms", "p95 ms");
        for query in QUERIES {
            let understanding = Understanding::read(query, &rules, &known);
            let mut times: Vec<Duration> = (0..RUNS)
                .map(|_| {
                    let documents = documents.clone();
                    let begun = Instant::now();
                    let scorer = Scorer::new(&understanding, &rules, &weights);
                    black_box(Reranker::new(scorer, &pages, BASELINE).rerank(documents));
                    begun.elapsed()
                })
                .collect();
            times.sort();
            let milliseconds = |share: usize| times[RUNS * share / 100].as_secs_f64() * 1000.0;
            println!("{query:<66} {:>9.3} {:>9.3}", milliseconds(50), milliseconds(95));
        }
    }
}
