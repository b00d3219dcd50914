COMMENT ON SCHEMA docsearch IS
    'pg_docsearch: projects, documents and what is derived from them, and the functions that index them';

COMMENT ON FUNCTION @extschema@.search_docs(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text[]) IS
    'documents that best answer query, best first: max_results rows (1 to 1000) with scores from 0 to 1, best section, snippet and notices; of one project, category or filter if given. also gives up to 5 further wordings of query: what any of them finds is scored by all. A blank query and unknown keys of config are errors (22023), an unknown project too (42704).';
COMMENT ON FUNCTION @extschema@.search_docs_json(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text[]) IS
    'the answer of search_docs as one object: query, understood (what its text says: class, symbol, container, identifiers ...), executed_query, results with section_matches and the cost of loading each document in tokens, notices with code and message, tips, suggestions, confidence, candidates, grade and timings in milliseconds.';
COMMENT ON FUNCTION @extschema@.search_docs_text(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text, bigint, bigint, text[]) IS
    'the answer of search_docs as text: format compact (three lines for each result; 5 results within 2,000 characters), detailed or raw (the JSON object). Within max_chars characters (200 or more) and max_tokens tokens of 4 characters: detail goes first, then excerpts, then results, and a note says so.';
COMMENT ON FUNCTION docsearch.search_answer(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, text, bigint, bigint, text[]) IS
    'the text of search_docs_text with what a program would have to read out of it, in one row: content, the text; results, how many were found; confidence of the answer (high, medium or low); notices, their codes.';
COMMENT ON FUNCTION @extschema@.load_doc(text, boolean, boolean, text, text, bigint) IS
    'markdown of a document, named by its slug or by project/slug#anchor: whole, one section of it, or cut with a note at max_tokens tokens (4 characters each); a section comes with the references of its parent, the one before and the next. Errors: unknown (42704, with the nearest slugs), in several projects (42P08).';
COMMENT ON FUNCTION @extschema@.load_doc_json(text, boolean, boolean, text, text, bigint) IS
    'the document of load_doc as one object: project, slug, reference, title, summary, category, kind, version, url, source_urls, keywords, metadata, dates (ISO 8601, UTC), tokens (4 bytes each), sections (anchor, level, title, tokens with those below), section with the references of its parent, the one before and the next if one is asked for, content (the markdown of load_doc) and whether max_tokens has truncated it. Errors as of load_doc.';
COMMENT ON FUNCTION @extschema@.load_docs(text[], boolean, boolean, text, bigint) IS
    'load_doc for several slugs, one row each in the order given; a slug that cannot be loaded has an error in its row and does not lose the others. max_tokens (4 characters each) holds for all of them together: short documents are whole, long ones share what is left.';
COMMENT ON FUNCTION @extschema@.list_docs(text, text, text, text, bigint, bigint) IS
    'the documents that the caller sees, without their text; sort_by is title, category or date (newest change first). A category includes those below it, as in guides and guides/install. Rows after the first skip, and as many as have max_tokens tokens (4 characters each) together, but one at least; a NOTICE says how many follow.';

COMMENT ON FUNCTION @extschema@.list_docs_json(text, text, text, text, bigint, bigint) IS
    'the documents of list_docs as a tree: total_documents, next_skip (what skip gives the next part; null at the end), and categories with name, category, document_count (with those below), documents (project, slug, title, description, last_updated) and categories.';

COMMENT ON FUNCTION docsearch.explain_search(text, text, text, text, docsearch.json_argument, docsearch.json_argument, text[]) IS
    'how search_docs comes to the score of the document that slug names: first what each leg found, then each step with the score before and after it. step is leg, base, boost, penalty, name, transform or wording; contribution is after less before; the last after is the score, 0 to 1. Errors: unknown document (42704), one that category or filter leave out (22023).';
COMMENT ON FUNCTION docsearch.transform_query(text, text, timestamp with time zone) IS
    'a query with what could be added to it: query, transformed, changed, added_terms (term, source: synonym, vocabulary or time, reason), recency and reason. Names and well-formed questions are left alone; abbreviations are written out; a vague query gets words that the documents it finds share; one that asks for what is new gets month and year of now. The words of the query always stay.';
COMMENT ON FUNCTION docsearch.grade_results(text, text, text, docsearch.json_argument, docsearch.json_argument, text[]) IS
    'how good the answer to query is, from its first 15 results: score (0.6 relevance + 0.4 completeness), relevance (probability that one of the first 5 answers it), completeness (share of its words, by rarity, that the first 5 hold), grounded (whether the documents are about it), reasoning, and should_refine: whether one of the first three is below grade_min_score, grade_min_relevance or grade_min_completeness, or it is not grounded. All from 0 to 1.';
COMMENT ON FUNCTION docsearch.grade_features(text, text, text, docsearch.json_argument, docsearch.json_argument, text[]) IS
    'the features of an answer that grade_results weighs, by name.';
COMMENT ON FUNCTION docsearch.grade_input(text, text, text, docsearch.json_argument, docsearch.json_argument, text[]) IS
    'the contexts that a grade is about, best first: at most 15, the first 500 characters of each with its source; empty ones are left out.';
COMMENT ON FUNCTION docsearch.search_refined(text, text, text, docsearch.json_argument, bigint, double precision, text, docsearch.json_argument, bigint, text[]) IS
    'the answer of search_docs_json, graded; while the grade asks for it, up to max_refinements (0 to 2) better queries are tried, and the answer with the best grade is given. Grades are always of the query as written. Adds iterations, best_iteration, stop_reason (accepted, max_iterations, nothing_to_add or no_results) and trace, an object for each retrieval.';
COMMENT ON FUNCTION docsearch.answer_prompt(text, text, text, docsearch.json_argument, bigint, docsearch.json_argument, bigint, text) IS
    'a prompt for a language model: the question, the best sections as numbered contexts with their sources, and to answer from them only, in the language of the question or the one given (ISO 639-1). At most max_tokens tokens of 4 characters (200 or more); a note says how many contexts did not fit. Nothing is sent anywhere.';
COMMENT ON FUNCTION docsearch.detect_language(text) IS
    'language of a text as an ISO 639-1 code, such as en or ja, by its small words, its script and its letters; docsearch.default_language if nothing tells.';
COMMENT ON FUNCTION docsearch.detect_text_config(text) IS
    'text search configuration for the language of a text; simple if there is none for it.';
COMMENT ON FUNCTION docsearch.suggest(text, text, bigint) IS
    'what may have been meant by an unfinished or mistyped text, best first, at most max_results (1 to 100): names of pages with their slugs, words of documents, and plainer verbs. kind is name, completion, correction or phrasing (in answers also topic: what many documents are about, when nothing is nearer); score goes from 0 to 1.';
COMMENT ON FUNCTION docsearch.verify_invariants(text, bigint) IS
    'searches a project for each unique name (a title, symbol or slug leaf that no other document bears) as written, in lower case, split into words and followed by "in" and the project, and for each slug of several parts, alone and behind the project: a row for each that does not bring its page first, then a row for each form with how many there are and how many hold. With sample, of about so many names and slugs.';
COMMENT ON FUNCTION docsearch.reset_rules() IS
    'puts the shipped rules back in place of those of all projects, and returns their number; rules of single projects stay.';
COMMENT ON FUNCTION docsearch.rules_changed() IS
    'trigger of the tables of rules: every backend reads them again.';

COMMENT ON FUNCTION docsearch.create_project(text, text, text, docsearch.regconfig_argument, text, docsearch.json_argument) IS
    'creates a project and returns its id; the first call makes the tables and has to come from the owner of schema docsearch. text_config is a text search configuration, docsearch.english if NULL; settings has weights by the names that config has, for searches of this project, and "vectors", which is "sections" or "document".';
COMMENT ON FUNCTION docsearch.configure_project(text, docsearch.json_argument) IS
    'changes settings of a project: those given are set, those given as null are taken away; returns all that it has then. What config of a call says counts for more, what the settings of the session say for less. "vectors" cannot be changed.';
COMMENT ON FUNCTION docsearch.drop_project(text) IS
    'removes a project with all its documents and returns how many documents the caller saw in it; an unknown project is an error (42704).';
COMMENT ON FUNCTION docsearch.index_doc(text, text, text, text, text, docsearch.json_argument, text, text, text, text[], text[], text, text, timestamp with time zone, docsearch.json_argument, docsearch.json_argument, text[]) IS
    'stores a markdown document with its chunks, names, terms and vectors, and returns added, changed or unchanged. Slug, title and body are required; a chunk whose text is unchanged is not embedded again. questions are those that the page answers, in the words of its readers; left out, those that it has stay.';
COMMENT ON FUNCTION docsearch.index_docs(text, docsearch.json_argument) IS
    'index_doc for an array of objects whose keys are its arguments (questions: texts, or objects with anchor and question); one row each with action added, changed, unchanged or failed, the number of chunks, and what is wrong. A document that fails does not lose the others.';
COMMENT ON FUNCTION docsearch.set_questions(text, text, docsearch.json_argument, text) IS
    'replaces the questions of a document that are of one source (author, reader, or model and its name) and returns how many it has of it: an array of texts, or of objects with question and the anchor of the section that answers it. Up to 300 characters each, 64 of a section, 1,000 of a document. For those who may change the document.';
COMMENT ON FUNCTION docsearch.questions(text, text) IS
    'the questions that documents of a project answer, or one of them, of those that the caller sees: slug, anchor of the section, question, source, whether the section has changed since, and since when it is there.';
COMMENT ON FUNCTION docsearch.delete_doc(text, text) IS
    'removes a document of a project; false if there is none with this slug that the caller sees.';
COMMENT ON FUNCTION docsearch.delete_missing(text, text, text[]) IS
    'removes the documents of a project that came from source_root and whose slug is not in keep, and returns their slugs; other source roots are left alone.';
COMMENT ON FUNCTION docsearch.finish_load(text) IS
    'ends a load: adds up the statistics of a project, packs the words of its pending documents and analyses the tables for the planner.';
COMMENT ON FUNCTION docsearch.count_changes() IS
    'trigger of the tables of documents and chunks: keeps the statistics of projects, and the list of pending documents, when rows are written by hand.';
COMMENT ON FUNCTION docsearch.merge_statistics(text) IS
    'adds up the appended changes of a project''s term statistics; indexing does it by itself when many have come together. Does nothing while another transaction merges them.';

COMMENT ON FUNCTION docsearch.embed(text, text) IS
    'vector of a query, by the model named or else docsearch.default_model; NULL for NULL. A missing library or model is an error with a hint (58P01).';
COMMENT ON FUNCTION docsearch.embed_passages(text[], text) IS
    'vectors of passages in the order given, by the model named or else docsearch.default_model; a NULL passage has a NULL vector.';
COMMENT ON FUNCTION docsearch.embedding_dimension(text) IS
    'number of components of a vector of the model named or else of docsearch.default_model.';
COMMENT ON FUNCTION docsearch.embed_input(bigint, bigint, bigint) IS
    'text that was embedded for a chunk, given by project_id, document_id and chunk_no; NULL if there is no such chunk or the caller does not see its document.';

COMMENT ON FUNCTION docsearch.split_identifier(text) IS
    'the identifier with a space between its words, as in UI Table View for UITableView.';
COMMENT ON FUNCTION docsearch.page_keys(text, text, text) IS
    'what the rules of ranking compare of a title, a slug and a category, which document.page_keys is generated by; NULL if it is too long to be stored. Searches compute it then.';

COMMENT ON FUNCTION docsearch.migrate() IS
    'brings the tables of schema docsearch to the version of this extension and returns it; needed after ALTER EXTENSION pg_docsearch UPDATE, run by the owner of the schema.';
COMMENT ON FUNCTION docsearch.grant_usage(text, boolean) IS
    'grants a role what searching needs, with write => true what indexing needs too; which documents the role sees is up to the policies on docsearch.document.';
COMMENT ON FUNCTION docsearch.revoke_usage(text) IS
    'takes all rights on schema docsearch and its tables from a role, those of grant_model too; what it owns stays, and a NOTICE names rights that come to it through PUBLIC, through other roles or from other grantors. An unknown role is an error (42704). For the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.drop_all(text) IS
    'removes all projects, documents and tables, everything else in schema docsearch that is no member of the extension, and the triggers of attached tables; confirm has to be the name of the database. Then DROP EXTENSION needs no CASCADE: objects elsewhere that use the extension are an error that names them (2BP01), and nothing is removed. For the owner of schema docsearch: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.check(text) IS
    'what is wrong with one project or with all, and no row if nothing is: chunks, names, containers, vectors and statistics that are not those of the documents, rows without an owner, missing or invalid indexes, models that cannot be used, known faults of the server and of pgvector. repair says what to run or to do. For the owner of schema docsearch: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.check(boolean, text) IS
    'docsearch.check(project) and, if deep is true, attached tables compared with their documents: rows without a document, documents without a row, documents unlike their row; what waits to be read is left out. Each table is read as the role that the worker reads it as, in this session: statement_timeout holds. For the owner of schema docsearch: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.repair(text) IS
    'mends what docsearch.check finds, as far as the extension can, and says what it did; what failed is a row that begins with "not mended". Indexing waits until the transaction ends, searching does not. For the owner of schema docsearch: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.known_faults() IS
    'known faults of the server and of the pgvector of this database, and no row if none is known: name, product and version, what happens, what to do, whether CREATE EXTENSION refuses the version. docsearch.check has these rows, too.';
COMMENT ON FUNCTION docsearch.settings() IS
    'every setting docsearch.* that the caller may read: value, where the value comes from, unit, bounds and a sentence of help; and, without docsearch. before their names, the weights that are keys of config and of the settings of a project alone.';

COMMENT ON FUNCTION docsearch.code_parser_start(internal, integer) IS
    'begins a parse of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.code_parser_token(internal, internal, internal) IS
    'next token of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.code_parser_end(internal) IS
    'ends a parse of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.code_parser_types(internal) IS
    'token types of docsearch.code_parser; called by Postgres.';
COMMENT ON FUNCTION docsearch.status() IS
    'one row on inference: state (not started, starting, running, not responding, failed, in process), process id and resident memory of the program in bytes, models that it has loaded, texts that wait, texts asked for, runs of a model (one text each), queries answered from the cache, median and 95th percentile of the last 1,000 queries in milliseconds, restarts since the supervisor began, its last error (for members of pg_monitor), and versions: of the server, pg_docsearch and pgvector. Starts nothing.';
COMMENT ON FUNCTION docsearch.restart_inference() IS
    'ends the inference program, waits until the next one answers, and returns its process id. For administrators: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.index_progress(text) IS
    'how far background indexing is, for one project or all: documents done, waiting and failed, changes of attached tables that are not read yet, documents per second, time left, last error.';
COMMENT ON FUNCTION docsearch.wait_for_index(interval) IS
    'waits until everything that was committed is indexed, and starts the worker if there is none; false after the timeout (NULL: none).';
COMMENT ON FUNCTION docsearch.attach_table(regclass, text, text, text, text, text, text, text, text, text, text, interval, text, boolean, regclass[], text) IS
    'indexes the rows of a table that the caller owns, now and whenever they change, in the background: columns of key, title, body, category, metadata (one jsonb column, or several with commas between) and publication, and of the questions that the row answers (text[], or an array as json or jsonb); the project is created, named after the table, when none is given; slugs are slug_prefix (the table''s name and /) and the key; returns the project. Rows that do not fulfil rows_where have no document. A view is read every so often, only what changed_at says has changed if it is given, and whenever one of the tables changes_in does. A table with row-level security, or that not everybody who may search may read, needs policy => ''copied'' or public => true.';
COMMENT ON FUNCTION docsearch.read_table(regclass, text) IS
    'reads all rows of an attached table or view that the caller owns again, in the background, and removes documents that have no row any more.';
COMMENT ON FUNCTION docsearch.detach_table(regclass, text, boolean) IS
    'ends what attach_table began, for one project or all; returns the number of documents removed, none with keep_documents.';
COMMENT ON FUNCTION docsearch.attached_changed() IS
    'trigger of attached tables: notes which rows changed.';
COMMENT ON FUNCTION docsearch.add_model(text, text, bool) IS
    'makes a model known whose files lie in a directory below docsearch.model_directory (NULL: called like the model), after checking the files and embedding some texts (self_test false: one that does not tell them apart is a warning); returns its number; for the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.set_model(text, text) IS
    'gives a project another model in the background: the old one serves until the new one has embedded everything, then it takes over in one transaction; the model it has: ends a switch under way.';
COMMENT ON FUNCTION docsearch.write_questions(text, bigint, text[], bigint, bigint) IS
    'has the language model of docsearch.llm_url write questions for sections that have none, or only stale ones, in the order of slugs: each section is one request. Ends before the next one could exceed max_tokens (4 characters each); 0 sends nothing and estimates all sections. Ends also after max_sections; requests_per_minute keeps requests of the session apart. Returns sections_done, sections_left for further calls, questions_written, dropped (lines of replies that are no questions), tokens_estimated and tokens_spent, what the endpoint says. For those who may change the documents.';
COMMENT ON FUNCTION docsearch.test_language_model() IS
    'asks the language model of docsearch.llm_url for one word, and says what it answered and how long that took; why not is an error with a hint. For administrators: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.add_remote_model(text, text, text, bigint, text, text, text, bigint) IS
    'makes a model known that an OpenAI-compatible endpoint runs: name here, url of the interface (such as http://127.0.0.1:8080/v1), model there, dimension to ask for (1 to 4000; NULL: the model''s own), file of the server with the API key, prefixes, tokens of a chunk (32 to 32768); embeds some texts and returns its number. Of a known name it changes url and api_key_file. For superusers: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.test_model(text) IS
    'embeds a text that no cache knows with the model named or else docsearch.default_model, and says how many components the vector has and how long that took; why not is an error with a hint. For administrators: EXECUTE is not granted to PUBLIC.';
COMMENT ON FUNCTION docsearch.grant_model(text, text) IS
    'lets a role, and its members, have texts sent to the endpoint of a remote model: give it to projects with create_project and set_model, index into projects that have it, embed texts with it; for the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.revoke_model(text, text) IS
    'takes back what grant_model gave; projects keep their models, and rows of attached tables wait; for the owner of schema docsearch.';
COMMENT ON FUNCTION docsearch.project_model() IS
    'trigger of the table of projects: refuses a remote model that the caller was not given.';
