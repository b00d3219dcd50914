use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to search, with which limits, and where to write findings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How long each target runs. Without it, each target runs `cases`.
    pub time: Option<Duration>,
    /// Number of generated inputs of each target, besides the corpus and the openings.
    pub cases: u64,
    /// Seed of the generated inputs.
    pub seed: u64,
    /// Processor time that one input may take.
    pub time_limit: Duration,
    /// Address space of a process, in bytes.
    pub memory: u64,
    /// Runs only targets whose name contains this.
    pub only: String,
    /// Runs only this input.
    pub input: Option<PathBuf>,
    /// Folder for inputs that end a process.
    pub findings: PathBuf,
    /// Maximum number of processes of one target that may end.
    pub max_ends: u32,
    /// Whether to minimise findings.
    pub minimise: bool,
}

impl Plan {
    /// The plan of `cargo test`: the same cases every time. The time limit only ends endless loops.
    pub fn of_tests() -> Self {
        Self {
            time: None,
            cases: 120,
            seed: 1,
            time_limit: Duration::from_secs(600),
            memory: 2 << 30,
            only: String::new(),
            input: None,
            findings: build_directory().join("fuzz"),
            max_ends: 40,
            minimise: false,
        }
    }

    /// [`Plan::of_tests`], changed by the environment: `DOCSEARCH_FUZZ_SECONDS` for each target,
    /// `DOCSEARCH_FUZZ_SEED`, `DOCSEARCH_FUZZ_TARGET`, and the file `DOCSEARCH_FUZZ_INPUT`.
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
            plan.time_limit = Duration::from_secs(20);
            plan.minimise = true;
        }
        if let Some(seed) = number("SEED") {
            plan.seed = seed;
        }
        plan
    }
}

/// Cargo's target directory, which has the test program in `debug/deps`.
fn build_directory() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this program");
    program
        .ancestors()
        .nth(3)
        .map_or_else(|| Path::new("target").to_owned(), Path::to_owned)
}
