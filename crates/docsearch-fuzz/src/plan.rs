use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to search, and where findings go.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How long each target runs; without it, a number of cases that is always the same.
    pub time: Option<Duration>,
    /// Generated inputs of each target, if no time is given, besides the corpus and the openings.
    pub cases: u64,
    /// What the generated inputs follow from.
    pub seed: u64,
    /// Processor seconds that one input may take.
    pub patience: Duration,
    /// Address space of a process, in bytes.
    pub memory: u64,
    /// Targets whose name holds this; all, if empty.
    pub only: String,
    /// An input to run, instead of all others.
    pub input: Option<PathBuf>,
    /// Where inputs go that end a process.
    pub findings: PathBuf,
    /// Processes that may end before a target is given up.
    pub ends: u32,
    /// Whether to cut findings down.
    pub minimise: bool,
}

impl Plan {
    /// What `cargo test` runs: the same cases every time and everywhere. The patience is for loops without end.
    pub fn of_tests() -> Self {
        Self {
            time: None,
            cases: 120,
            seed: 1,
            patience: Duration::from_secs(600),
            memory: 2 << 30,
            only: String::new(),
            input: None,
            findings: build_directory().join("fuzz"),
            ends: 40,
            minimise: false,
        }
    }

    /// The plan of the environment: `DOCSEARCH_FUZZ_SECONDS` for each target, `_SEED`, `_TARGET` and `_INPUT`, a file.
    /// That of tests if there is none.
    pub fn from_environment() -> Self {
        let variable = |name: &str| {
            std::env::var(format!("DOCSEARCH_FUZZ_{name}"))
                .ok()
                .filter(|value| !value.is_empty())
        };
        let number =
            |name: &str| variable(name).map(|value| value.parse::<u64>().unwrap_or_else(|_| panic!("{name}: {value}")));
        let mut plan = Self {
            only: variable("TARGET").unwrap_or_default(),
            input: variable("INPUT").map(PathBuf::from),
            ..Self::of_tests()
        };
        if let Some(seconds) = number("SECONDS") {
            plan.time = Some(Duration::from_secs(seconds));
            plan.patience = Duration::from_secs(20);
            plan.minimise = true;
        }
        if let Some(seed) = number("SEED") {
            plan.seed = seed;
        }
        plan
    }
}

/// Cargo's: the test program is in `debug/deps` below it.
fn build_directory() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    program
        .ancestors()
        .nth(3)
        .map_or_else(|| Path::new("target").to_owned(), Path::to_owned)
}
