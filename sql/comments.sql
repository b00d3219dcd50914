COMMENT ON SCHEMA docsearch IS
    'pg_docsearch: projects, documents and data derived from them, and the functions that index and search them';

COMMENT ON FUNCTION @extschema@.search_docs(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text[], text[]) IS
    'returns the documents that best answer a query, best first';
COMMENT ON FUNCTION @extschema@.search_docs_json(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text[], text[]) IS
    'returns the answer of search_docs as a JSON object';
COMMENT ON FUNCTION @extschema@.search_docs_text(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text, bigint, bigint, text[], text[]) IS
    'returns the answer of search_docs as text for a terminal or a language model';
COMMENT ON FUNCTION docsearch.search_answer(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text, bigint, bigint, text[], text[]) IS
    'returns the text of search_docs_text with the number of results, the confidence and the codes of notices';
COMMENT ON FUNCTION @extschema@.load_doc(text, boolean, boolean, text, text, bigint, bigint) IS
    'returns a document, or one section of it, as Markdown. slug is a slug or a reference such as project/slug#anchor';
COMMENT ON FUNCTION @extschema@.load_doc_json(text, boolean, boolean, text, text, bigint, bigint) IS
    'returns the document of load_doc as a JSON object';
COMMENT ON FUNCTION @extschema@.load_docs(text[], boolean, boolean, text, bigint) IS
    'returns several documents as Markdown, one row for each slug. A document that cannot be loaded has an error in its row';
COMMENT ON FUNCTION @extschema@.list_docs(text, text, text, text, bigint, bigint, text[]) IS
    'returns the documents that the caller can see, without their text';

COMMENT ON FUNCTION @extschema@.list_docs_json(text, text, text, text, bigint, bigint, text[]) IS
    'returns the documents of list_docs as a tree of categories';

COMMENT ON FUNCTION docsearch.explain_search(text, text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) IS
    'returns the steps in which search_docs computes the score of a document. The last value of after is the score';
COMMENT ON FUNCTION docsearch.transform_query(text, text, timestamp with time zone, text[]) IS
    'returns a query with the terms that could be added to it';
COMMENT ON FUNCTION docsearch.grade_results(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) IS
    'grades how well the results of a search answer its query';
COMMENT ON FUNCTION docsearch.grade_features(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) IS
    'returns the features that grade_results weighs, by name';
COMMENT ON FUNCTION docsearch.grade_input(text, text, text, docsearch.json_argument, docsearch.json_argument, text[], text[]) IS
    'returns the contexts that grade_results grades, best first';
COMMENT ON FUNCTION docsearch.search_refined(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, bigint, text[], text[]) IS
    'searches, grades the answer, and tries better queries while the grade is too low';
COMMENT ON FUNCTION docsearch.answer_prompt(text, text, text, docsearch.json_argument, bigint, docsearch.json_argument, bigint, text, text[]) IS
    'returns a prompt that has a language model answer a question from the best sections. Nothing is sent anywhere';
COMMENT ON FUNCTION docsearch.detect_language(text) IS
    'returns the language of a text as an ISO 639-1 code. docsearch.default_language is for texts that do not show theirs';
COMMENT ON FUNCTION docsearch.count_docs(text, text, text, docsearch.json_argument, text, text[]) IS
    'returns the number of documents that match a query by their words';
COMMENT ON FUNCTION docsearch.facets(text, text[], text, text, docsearch.json_argument, bigint, text, text[]) IS
    'returns how many of the documents that match a query by their words have each value of some keys';
COMMENT ON FUNCTION docsearch.suggest(text, text, bigint, text[]) IS
    'returns completions and corrections of a text while it is typed, best first';
COMMENT ON FUNCTION docsearch.verify_invariants(text, bigint) IS
    'checks that a search for each unique name or slug of a project returns its page first. sample is the approximate number of names and of slugs';
COMMENT ON FUNCTION docsearch.reset_rules() IS
    'replaces the rules for all projects with the shipped rules, and returns their number. Rules of single projects stay';
COMMENT ON FUNCTION docsearch.rules_changed() IS
    'makes every backend read the rules again; a trigger function of the tables of rules';

COMMENT ON FUNCTION docsearch.create_project(text, text, text, docsearch.regconfig_argument, text, docsearch.json_argument) IS
    'creates a project and returns its id. The first call creates the tables, and has to come from the owner of schema docsearch';
COMMENT ON FUNCTION docsearch.configure_project(text, docsearch.json_argument) IS
    'changes settings of a project and returns all its settings. null removes a setting';
COMMENT ON FUNCTION docsearch.drop_project(text) IS
    'deletes a project with all its documents, and returns the number of these';
COMMENT ON FUNCTION docsearch.index_doc(text, text, text, text, text, docsearch.json_argument, text, text, text, text[], text[], text, text, timestamp with time zone, docsearch.json_argument, docsearch.json_argument, text[]) IS
    'inserts or updates a document, and returns added, changed or unchanged';
COMMENT ON FUNCTION docsearch.index_docs(text, docsearch.json_argument) IS
    'inserts or updates the documents of a JSON array, and returns a row for each. A document that fails does not affect the others';
COMMENT ON FUNCTION docsearch.set_questions(text, text, docsearch.json_argument, text) IS
    'replaces the questions of a document from one source, and returns their number';
COMMENT ON FUNCTION docsearch.question_candidates(text, timestamp with time zone, bigint, bigint, text) IS
    'returns questions that readers asked and that a section of a project answered for several of them';
COMMENT ON FUNCTION docsearch.accept_question(text, text) IS
    'adds a question of readers to a section, and returns whether it is new';
COMMENT ON FUNCTION docsearch.reject_question(text, text) IS
    'keeps a question from being proposed again for a page, and returns whether that is new';
COMMENT ON FUNCTION docsearch.questions(text, text) IS
    'returns the questions that the documents of a project answer';
COMMENT ON FUNCTION docsearch.delete_doc(text, text) IS
    'deletes a document, and returns whether there was one';
COMMENT ON FUNCTION docsearch.delete_missing(text, text, text[]) IS
    'deletes the documents of a source root whose slug is not in keep, and returns their slugs';
COMMENT ON FUNCTION docsearch.finish_load(text) IS
    'merges the statistics, postings and vector codes of a project, and analyses the tables that have changed. Call it after a load';
COMMENT ON FUNCTION docsearch.warm(text) IS
    'reads what searches of a project read into memory, and loads its model';
COMMENT ON FUNCTION docsearch.count_changes() IS
    'updates statistics and pending documents; a trigger function of document and chunk';
COMMENT ON FUNCTION docsearch.merge_statistics(text) IS
    'merges the pending changes of the term statistics of a project. Indexing does this by itself when many are pending';

COMMENT ON FUNCTION docsearch.embed(text, text) IS
    'returns the vector of a query';
COMMENT ON FUNCTION docsearch.embed_passages(text[], text) IS
    'returns the vectors of passages, in the same order';
COMMENT ON FUNCTION docsearch.embedding_dimension(text) IS
    'returns the number of components of a model''s vectors';
COMMENT ON FUNCTION docsearch.embed_input(bigint, bigint, bigint) IS
    'returns the text that was embedded for a chunk';

COMMENT ON FUNCTION docsearch.split_identifier(text) IS
    'returns an identifier with a space between its words';
COMMENT ON FUNCTION docsearch.compare_versions(text, text, text, text, bigint) IS
    'returns what changed from one version of a documentation to another. Pages, sections, links, names and answers are compared';
COMMENT ON FUNCTION docsearch.text_digest(text, text) IS
    'returns a digest that is equal for pages with the same title and text. The column document.text_digest is generated with it';
COMMENT ON FUNCTION docsearch.page_keys(text, text, text) IS
    'returns the words and names of title, slug and category in the form that ranking compares. The column document.page_keys is generated with it';

COMMENT ON FUNCTION docsearch.migrate() IS
    'upgrades the tables to the version of the extension, and returns this version. Call it after ALTER EXTENSION pg_docsearch UPDATE';
COMMENT ON FUNCTION docsearch.grant_usage(text, boolean) IS
    'grants a role the privileges to search and, with write, to index. Policies on docsearch.document decide which documents the role sees';
COMMENT ON FUNCTION docsearch.revoke_usage(text) IS
    'revokes all privileges on schema docsearch, its tables and its models from a role';
COMMENT ON FUNCTION docsearch.grant_evaluation(text) IS
    'grants a role the privileges to judge answers and to run evaluations. It may search, too';
COMMENT ON FUNCTION docsearch.grant_reports(text) IS
    'grants a role the privileges to read the log of queries and its reports. It may search, too';
COMMENT ON FUNCTION docsearch.drop_all(text) IS
    'drops everything that DROP EXTENSION leaves behind, including all documents. confirm is the name of the database';
COMMENT ON FUNCTION docsearch.check(text) IS
    'checks tables, indexes, models and derived data, and returns a row for each problem';
COMMENT ON FUNCTION docsearch.check(boolean, text) IS
    'does the same as check(project), and compares attached tables with their documents if deep is true';
COMMENT ON FUNCTION docsearch.vector_recall(text, bigint) IS
    'measures how many of the nearest sections searches find, and returns a row for each project';
COMMENT ON FUNCTION docsearch.repair(text) IS
    'repairs what check finds, and returns a row for each repair';
COMMENT ON FUNCTION docsearch.known_faults() IS
    'returns the known faults of this server and of its pgvector';
COMMENT ON FUNCTION docsearch.settings() IS
    'returns the settings and weights that the caller may read';

COMMENT ON FUNCTION docsearch.judge(text, text, text, bigint, text) IS
    'stores how well a document or section answers a query, and returns the id of the query in its set';
COMMENT ON FUNCTION docsearch.import_judgments(text, text, text) IS
    'replaces a set of judgments by queries and judgments in the form of BEIR or TREC';
COMMENT ON FUNCTION docsearch.export_judgments(text, text) IS
    'returns a set of judgments as the files of BEIR or TREC';
COMMENT ON FUNCTION docsearch.judge_from_clicks(text, text, timestamp with time zone, bigint, text) IS
    'replaces a set of judgments by what readers opened, corrected for the place at which it was shown';
COMMENT ON FUNCTION docsearch.drop_judgments(text) IS
    'deletes a set of judgments. Runs of its queries stay';
COMMENT ON FUNCTION docsearch.evaluate(text, text, docsearch.json_argument, bigint, bigint, boolean, text, docsearch.json_argument) IS
    'runs the queries of a set of judgments, and returns how good the answers are. The run is kept';
COMMENT ON FUNCTION docsearch.evaluate_groups(bigint) IS
    'returns the measures of a run, overall and for each group of queries';
COMMENT ON FUNCTION docsearch.evaluate_detail(bigint) IS
    'returns the queries of a run with what they found';
COMMENT ON FUNCTION docsearch.evaluate_tasks(text, text, docsearch.json_argument, bigint, text) IS
    'does the queries of a set as tasks of an assistant, and returns what they cost and whether they succeeded. The run is kept';
COMMENT ON FUNCTION docsearch.evaluate_tasks_detail(bigint) IS
    'returns the tasks of a run with the calls of the assistant';
COMMENT ON FUNCTION docsearch.evaluate_report(bigint) IS
    'returns a run as a JSON object, with its conditions and each query';
COMMENT ON FUNCTION docsearch.reliability(bigint) IS
    'returns the first results of a run in ten bins of their score, with the right share of each';
COMMENT ON FUNCTION docsearch.compare(bigint, bigint) IS
    'compares two runs of one set, with 95 % paired bootstrap intervals of the differences';
COMMENT ON FUNCTION docsearch.regressions(bigint, bigint) IS
    'returns the queries that a run answers worse than an earlier run, the worst first';
COMMENT ON FUNCTION docsearch.ranking_state(text) IS
    'returns the settings and the rules of a project that decide its ranking, as a JSON object';
COMMENT ON FUNCTION docsearch.diff_ranking(text, docsearch.json_argument) IS
    'returns what would change if a ranking state were applied to a project';
COMMENT ON FUNCTION docsearch.apply_ranking(text, docsearch.json_argument, text) IS
    'gives a project the settings and rules of a ranking state, and returns the number of differences. ranking_change keeps the state before';
COMMENT ON FUNCTION docsearch.ranking_history(text) IS
    'returns the changes of the ranking of a project, the newest first';
COMMENT ON FUNCTION docsearch.pin(text, text, text[], text[], text) IS
    'says which pages of a project come first for a query, and which are no results. Replaces the pin of the same query';
COMMENT ON FUNCTION docsearch.unpin(text, text) IS
    'removes the pin for a query, and returns whether there was one';
COMMENT ON FUNCTION docsearch.pins(text) IS
    'returns the queries of a project for which pages are pinned';
COMMENT ON FUNCTION docsearch.tune(text, interval, boolean) IS
    'searches better weights for a project by its own documents, and returns the number of the tuning. docsearch.tuning has the evidence';
COMMENT ON FUNCTION docsearch.rollback_tuning(text) IS
    'takes back what the last tuning of a project changed, and returns the number of that tuning';
COMMENT ON FUNCTION docsearch.feedback(text, text, text, text, text) IS
    'stores what a reader did with an answer, or says of it';
COMMENT ON FUNCTION docsearch.report_gap(text, text, text, text, text) IS
    'stores that a page is outdated, contradictory or incomplete, and returns whether the report is the first of the day';

COMMENT ON FUNCTION docsearch.take_logged_queries() IS
    'returns the calls that a standby has logged, to be stored on its primary. They stay there until discard_taken_queries()';
COMMENT ON FUNCTION docsearch.discard_taken_queries() IS
    'deletes the calls that take_logged_queries returned last';
COMMENT ON FUNCTION docsearch.store_logged_queries(text[]) IS
    'stores calls that a standby has logged, and returns how many are new';
COMMENT ON FUNCTION docsearch.top_queries(timestamp with time zone, text, bigint, text) IS
    'returns the queries with the most searches';
COMMENT ON FUNCTION docsearch.unanswered_queries(timestamp with time zone, text, bigint, text) IS
    'returns the queries with the most searches without a good answer';
COMMENT ON FUNCTION docsearch.rephrased_queries(timestamp with time zone, text, bigint, text) IS
    'returns queries after which the same reader asked in other words within a minute';
COMMENT ON FUNCTION docsearch.page_usage(timestamp with time zone, text, bigint, boolean, text) IS
    'returns how often each page was found and opened';
COMMENT ON FUNCTION docsearch.drift(timestamp with time zone, text, bigint, text, bigint) IS
    'returns searches whose first page is another one than in a run, or than when they were logged';
COMMENT ON FUNCTION docsearch.dead_references(timestamp with time zone, text, bigint, text) IS
    'returns the references that readers asked for and that lead nowhere';
COMMENT ON FUNCTION docsearch.client_usage(timestamp with time zone, text, bigint, text) IS
    'returns the calls of each front end and program';
COMMENT ON FUNCTION docsearch.search_latency(timestamp with time zone, text, bigint, text) IS
    'returns the time of searches, by class of the query and front end';
COMMENT ON FUNCTION docsearch.rule_effects(timestamp with time zone, text, bigint, text) IS
    'returns how often the rules of ranking put another page first, and which page readers opened';
COMMENT ON FUNCTION docsearch.refinement_stats(timestamp with time zone, text, text) IS
    'returns how often refined searches tried again, and how often that helped';
COMMENT ON FUNCTION docsearch.transformation_effects(timestamp with time zone, text, text) IS
    'returns how refined searches tried again, and how often that gave the answer';
COMMENT ON FUNCTION docsearch.rephrase_rate(timestamp with time zone, text, text) IS
    'returns the share of searches after which the same reader asked in other words within a minute';
COMMENT ON FUNCTION docsearch.duplicates(text, double precision, boolean) IS
    'returns the pages or sections of a project that say the same as others';
COMMENT ON FUNCTION docsearch.derived_queries(text, bigint) IS
    'returns queries that are derived from the documents of a project, each with its right page or section';
COMMENT ON FUNCTION docsearch.documentation_gaps(timestamp with time zone, text, bigint, text) IS
    'returns what readers looked for and did not find, grouped by meaning';

COMMENT ON FUNCTION docsearch.code_parser_start(internal, integer) IS
    'starts parsing a text; called by the text search parser docsearch.code_parser';
COMMENT ON FUNCTION docsearch.code_parser_token(internal, internal, internal) IS
    'returns the next token of a text; called by the text search parser docsearch.code_parser';
COMMENT ON FUNCTION docsearch.code_parser_end(internal) IS
    'ends parsing a text; called by the text search parser docsearch.code_parser';
COMMENT ON FUNCTION docsearch.code_parser_types(internal) IS
    'returns the token types; called by the text search parser docsearch.code_parser';
COMMENT ON FUNCTION docsearch.status() IS
    'returns the state of inference, its counters, and the versions of the software';
COMMENT ON FUNCTION docsearch.restart_inference() IS
    'restarts the inference program, and returns its process ID';
COMMENT ON FUNCTION docsearch.index_progress(text) IS
    'returns the progress of background indexing, a row for each project';
COMMENT ON FUNCTION docsearch.wait_for_index(interval) IS
    'waits until everything that was committed is indexed; returns false after the timeout';
COMMENT ON FUNCTION docsearch.attach_table(regclass, text, text, text, text, text, text, text, text, text, text, interval, text, boolean, regclass[], text) IS
    'indexes the rows of a table or view in the background, now and whenever they change. Returns the name of the project';
COMMENT ON FUNCTION docsearch.read_table(regclass, text) IS
    'has the background worker read all rows of an attached table or view again';
COMMENT ON FUNCTION docsearch.detach_table(regclass, text, boolean) IS
    'ends the indexing of an attached table or view, and returns the number of documents deleted';
COMMENT ON FUNCTION docsearch.attached_changed() IS
    'records which rows changed; a trigger function of attached tables';
COMMENT ON FUNCTION docsearch.add_model(text, text, bool) IS
    'registers a model whose files are below docsearch.model_directory, and returns its number';
COMMENT ON FUNCTION docsearch.set_model(text, text) IS
    'replaces the model of a project in the background. Searches use the old model until the new one has embedded everything';
COMMENT ON FUNCTION docsearch.write_questions(text, bigint, text[], bigint, bigint) IS
    'has the language model write questions for sections that have none, or only stale ones';
COMMENT ON FUNCTION docsearch.test_language_model() IS
    'asks the language model for one word, and returns the answer with the time that it took';
COMMENT ON FUNCTION docsearch.add_remote_model(text, text, text, bigint, text, text, text, bigint) IS
    'registers a model that runs behind an OpenAI-compatible interface, and returns its number';
COMMENT ON FUNCTION docsearch.test_model(text) IS
    'embeds a text with a model, and returns the number of components and the time that it took';
COMMENT ON FUNCTION docsearch.grant_model(text, text) IS
    'grants a role the right to have texts sent to the endpoint of a remote model';
COMMENT ON FUNCTION docsearch.revoke_model(text, text) IS
    'revokes what grant_model granted. Projects keep their models';
COMMENT ON FUNCTION docsearch.project_model() IS
    'refuses a remote model that the caller has no right to; a trigger function of project';
