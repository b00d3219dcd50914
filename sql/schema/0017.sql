-- Judgments, and runs of their queries.
CREATE TABLE docsearch.judgment_set (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> '' AND octet_length(name) <= 200),
    description text NOT NULL DEFAULT '' CHECK (octet_length(description) <= 8192),
    created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE docsearch.judgment_set IS 'sets of queries whose right answers are known';
COMMENT ON COLUMN docsearch.judgment_set.id IS 'number of the set';
COMMENT ON COLUMN docsearch.judgment_set.name IS 'name, unique';
COMMENT ON COLUMN docsearch.judgment_set.description IS 'where the judgments come from';
COMMENT ON COLUMN docsearch.judgment_set.created_at IS 'when it was made';

CREATE TABLE docsearch.judgment_query (
    set_id bigint NOT NULL REFERENCES docsearch.judgment_set ON DELETE CASCADE,
    query_id text NOT NULL CHECK (octet_length(query_id) BETWEEN 1 AND 256),
    query_no int NOT NULL CHECK (query_no >= 0),
    query text NOT NULL CHECK (query <> '' AND octet_length(query) <= 32768),
    also text[] NOT NULL DEFAULT '{}' CHECK (cardinality(also) <= 5),
    query_group text NOT NULL DEFAULT '' CHECK (octet_length(query_group) <= 200),
    unanswerable bool NOT NULL DEFAULT false,
    PRIMARY KEY (set_id, query_id)
);
COMMENT ON TABLE docsearch.judgment_query IS 'queries of sets of judgments';
COMMENT ON COLUMN docsearch.judgment_query.set_id IS 'set';
COMMENT ON COLUMN docsearch.judgment_query.query_id IS 'id, unique in the set';
COMMENT ON COLUMN docsearch.judgment_query.query_no IS 'place in the set, from 0';
COMMENT ON COLUMN docsearch.judgment_query.query IS 'what is searched for';
COMMENT ON COLUMN docsearch.judgment_query.also IS 'further wordings';
COMMENT ON COLUMN docsearch.judgment_query.query_group IS 'group that it is reported in; empty for none';
COMMENT ON COLUMN docsearch.judgment_query.unanswerable IS 'whether no document answers it; only counts without a relevant one';

CREATE TABLE docsearch.judgment (
    set_id bigint NOT NULL,
    query_id text NOT NULL,
    slug text NOT NULL CHECK (slug <> '' AND octet_length(slug) <= 1024),
    anchor text NOT NULL DEFAULT '' CHECK (octet_length(anchor) <= 1024),
    grade int NOT NULL CHECK (grade BETWEEN -100 AND 100),
    PRIMARY KEY (set_id, query_id, slug, anchor),
    FOREIGN KEY (set_id, query_id) REFERENCES docsearch.judgment_query ON DELETE CASCADE
);
COMMENT ON TABLE docsearch.judgment IS 'documents and sections that answer a query';
COMMENT ON COLUMN docsearch.judgment.set_id IS 'set';
COMMENT ON COLUMN docsearch.judgment.query_id IS 'query';
COMMENT ON COLUMN docsearch.judgment.slug IS 'document; project/slug if several projects are searched';
COMMENT ON COLUMN docsearch.judgment.anchor IS 'section; empty for the document as a whole';
COMMENT ON COLUMN docsearch.judgment.grade IS 'how well it answers the query; above 0 is relevant';

CREATE TABLE docsearch.evaluation_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_by name NOT NULL DEFAULT current_user,
    set_name text NOT NULL,
    project text,
    label text CHECK (octet_length(label) <= 200),
    config jsonb NOT NULL DEFAULT '{}',
    cutoff int NOT NULL,
    max_calls int,
    state jsonb NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX evaluation_run_set ON docsearch.evaluation_run (set_name, project, id);
COMMENT ON TABLE docsearch.evaluation_run IS 'runs of the queries of a set';
COMMENT ON COLUMN docsearch.evaluation_run.id IS 'number of the run';
COMMENT ON COLUMN docsearch.evaluation_run.run_by IS 'role that has run it; its members see the run';
COMMENT ON COLUMN docsearch.evaluation_run.set_name IS 'set of judgments';
COMMENT ON COLUMN docsearch.evaluation_run.project IS 'project that was searched; NULL: all that the role sees';
COMMENT ON COLUMN docsearch.evaluation_run.label IS 'what the caller says of it';
COMMENT ON COLUMN docsearch.evaluation_run.config IS 'config of every search';
COMMENT ON COLUMN docsearch.evaluation_run.cutoff IS 'results that nDCG and MRR look at; of tasks: results of a search';
COMMENT ON COLUMN docsearch.evaluation_run.max_calls IS 'most calls of a task; NULL: a run of queries';
COMMENT ON COLUMN docsearch.evaluation_run.state IS 'what the answers depend on: versions, settings, weights of the project, a digest of the rules, number of documents';
COMMENT ON COLUMN docsearch.evaluation_run.started_at IS 'begin of the run';
COMMENT ON COLUMN docsearch.evaluation_run.finished_at IS 'end of the run';

CREATE TABLE docsearch.evaluation_result (
    run_id bigint NOT NULL REFERENCES docsearch.evaluation_run ON DELETE CASCADE,
    query_id text NOT NULL,
    query_no int NOT NULL,
    query text NOT NULL,
    query_group text NOT NULL,
    found text[] NOT NULL,
    scores real[] NOT NULL,
    relevant text[] NOT NULL,
    rank int,
    ndcg float8 NOT NULL,
    mrr float8 NOT NULL,
    p1 float8 NOT NULL,
    p3 float8 NOT NULL,
    recall float8 NOT NULL,
    outcome text NOT NULL CHECK (outcome IN ('right', 'look_alike', 'too_low', 'missing', 'no_results')),
    confidence text CHECK (confidence IN ('high', 'medium', 'low')),
    probability real,
    milliseconds float8 NOT NULL,
    PRIMARY KEY (run_id, query_id)
);
COMMENT ON TABLE docsearch.evaluation_result IS 'what the queries of a run found';
COMMENT ON COLUMN docsearch.evaluation_result.run_id IS 'run';
COMMENT ON COLUMN docsearch.evaluation_result.query_id IS 'id of the query in its set';
COMMENT ON COLUMN docsearch.evaluation_result.query_no IS 'place in the set, from 0';
COMMENT ON COLUMN docsearch.evaluation_result.query IS 'the query';
COMMENT ON COLUMN docsearch.evaluation_result.query_group IS 'group that it is reported in; empty for none';
COMMENT ON COLUMN docsearch.evaluation_result.found IS 'references of the first results, up to the cutoff of the run';
COMMENT ON COLUMN docsearch.evaluation_result.scores IS 'their scores, 0 to 1';
COMMENT ON COLUMN docsearch.evaluation_result.relevant IS 'references of what is relevant';
COMMENT ON COLUMN docsearch.evaluation_result.rank IS 'rank of the first relevant result, from 1; NULL: none was found';
COMMENT ON COLUMN docsearch.evaluation_result.ndcg IS 'nDCG at the cutoff, 0 to 1';
COMMENT ON COLUMN docsearch.evaluation_result.mrr IS 'reciprocal rank at the cutoff, 0 to 1';
COMMENT ON COLUMN docsearch.evaluation_result.p1 IS 'precision of the first result, 0 or 1';
COMMENT ON COLUMN docsearch.evaluation_result.p3 IS 'precision of the first 3 results, 0 to 1';
COMMENT ON COLUMN docsearch.evaluation_result.recall IS 'recall of the first 100 results, 0 to 1';
COMMENT ON COLUMN docsearch.evaluation_result.outcome IS
    'right; look_alike: a page whose name begins like the right one comes first; too_low: found, but not first; missing; no_results';
COMMENT ON COLUMN docsearch.evaluation_result.confidence IS 'of the first result: high, medium or low';
COMMENT ON COLUMN docsearch.evaluation_result.probability IS 'that the first result is right, 0 to 1; NULL: scores of the project were not calibrated';
COMMENT ON COLUMN docsearch.evaluation_result.milliseconds IS 'time of the search';

CREATE TABLE docsearch.evaluation_task (
    run_id bigint NOT NULL REFERENCES docsearch.evaluation_run ON DELETE CASCADE,
    query_id text NOT NULL,
    query_no int NOT NULL,
    query text NOT NULL,
    query_group text NOT NULL,
    answerable bool NOT NULL,
    found bool NOT NULL,
    tokens int NOT NULL,
    calls int NOT NULL,
    shown int NOT NULL,
    shown_twice int NOT NULL,
    low_confidence bool NOT NULL,
    trace jsonb NOT NULL,
    PRIMARY KEY (run_id, query_id)
);
COMMENT ON TABLE docsearch.evaluation_task IS 'what an assistant did for the tasks of a run';
COMMENT ON COLUMN docsearch.evaluation_task.run_id IS 'run';
COMMENT ON COLUMN docsearch.evaluation_task.query_id IS 'id of the query in its set';
COMMENT ON COLUMN docsearch.evaluation_task.query_no IS 'place in the set, from 0';
COMMENT ON COLUMN docsearch.evaluation_task.query IS 'the query';
COMMENT ON COLUMN docsearch.evaluation_task.query_group IS 'group that it is reported in; empty for none';
COMMENT ON COLUMN docsearch.evaluation_task.answerable IS 'whether the documentation answers it';
COMMENT ON COLUMN docsearch.evaluation_task.found IS 'whether the right section was loaded';
COMMENT ON COLUMN docsearch.evaluation_task.tokens IS 'estimated tokens of all that was read';
COMMENT ON COLUMN docsearch.evaluation_task.calls IS 'number of searches and loads';
COMMENT ON COLUMN docsearch.evaluation_task.shown IS 'number of results that the searches showed';
COMMENT ON COLUMN docsearch.evaluation_task.shown_twice IS 'number of these that an earlier search of the task had shown';
COMMENT ON COLUMN docsearch.evaluation_task.low_confidence IS 'whether no answer had more than low confidence';
COMMENT ON COLUMN docsearch.evaluation_task.trace IS 'the calls in order';

-- A run shows what its role could see.
ALTER TABLE docsearch.evaluation_run ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_runs ON docsearch.evaluation_run
    USING (EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = run_by AND pg_catalog.pg_has_role(r.oid, 'MEMBER')))
    WITH CHECK (run_by = current_user);
ALTER TABLE docsearch.evaluation_result ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_runs ON docsearch.evaluation_result
    USING (EXISTS (SELECT FROM docsearch.evaluation_run r WHERE r.id = run_id));
ALTER TABLE docsearch.evaluation_task ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_runs ON docsearch.evaluation_task
    USING (EXISTS (SELECT FROM docsearch.evaluation_run r WHERE r.id = run_id));

-- What is searched for and loaded, if docsearch.log_queries says so.
CREATE TABLE docsearch.query_log_salt (
    id bool PRIMARY KEY DEFAULT true CHECK (id),
    salt text NOT NULL
);
INSERT INTO docsearch.query_log_salt (salt)
SELECT pg_catalog.gen_random_uuid()::text || pg_catalog.gen_random_uuid()::text;
COMMENT ON TABLE docsearch.query_log_salt IS 'one row, for digests of queries and of tokens';
COMMENT ON COLUMN docsearch.query_log_salt.id IS 'true';
COMMENT ON COLUMN docsearch.query_log_salt.salt IS 'random, and secret';

-- Columns of fixed width come first, in the order of how many reports read them: a report reads a million rows. What reports need of
-- texts and arrays is generated beside them. Texts that are equal have equal keys; those of digests have their order, too.
CREATE TABLE docsearch.query_log (
    logged_at timestamptz NOT NULL,
    single_project bigint NOT NULL
        GENERATED ALWAYS AS (CASE WHEN cardinality(project_ids) = 1 THEN project_ids[1] ELSE 0 END) STORED,
    session_key bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(session, 0)) STORED,
    results int NOT NULL,
    is_search bool NOT NULL GENERATED ALWAYS AS (kind = 'search') STORED,
    is_assistant bool NOT NULL GENERATED ALWAYS AS (source = 'mcp') STORED,
    is_low bool NOT NULL GENERATED ALWAYS AS (coalesce(confidence = 'low', false)) STORED,
    is_filtered bool NOT NULL GENERATED ALWAYS AS (cardinality(filter_keys) > 0) STORED,
    is_fallback bool NOT NULL GENERATED ALWAYS AS ('vector_unavailable' = ANY (notices)) STORED,
    query_key bigint GENERATED ALWAYS AS (
        CASE WHEN octet_length(query_hash) = 16 AND translate(query_hash, '0123456789abcdef', '') = ''
             THEN ('x' || query_hash)::bit(64)::bigint ELSE hashtextextended(query_hash, 0) END) STORED,
    query_chars int GENERATED ALWAYS AS (char_length(query)) STORED,
    first_score real GENERATED ALWAYS AS (scores[1]) STORED,
    original_top bigint,
    final_top bigint,
    attempts int,
    best_attempt int,
    score_delta real,
    grade real,
    grade_gain real,
    total_ms real,
    embed_ms real,
    rank_ms real,
    present_ms real,
    boost_ms real,
    transform_ms real,
    grade_ms real,
    suggest_ms real,
    source text NOT NULL,
    client text,
    class text,
    notices text[] NOT NULL DEFAULT '{}',
    tried text[] NOT NULL DEFAULT '{}',
    project_ids bigint[] NOT NULL,
    found_projects bigint[] NOT NULL DEFAULT '{}',
    found_documents bigint[] NOT NULL DEFAULT '{}',
    id text PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('search', 'load')),
    session text NOT NULL,
    query_hash text,
    confidence text,
    role text NOT NULL,
    query text,
    filter_keys text[] NOT NULL DEFAULT '{}',
    scores real[] NOT NULL DEFAULT '{}',
    found_anchors text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX query_log_logged_at ON docsearch.query_log (logged_at);
CREATE INDEX query_log_query ON docsearch.query_log (query_key, logged_at);
COMMENT ON TABLE docsearch.query_log IS 'searches and loads of documents, if docsearch.log_queries is on';
COMMENT ON COLUMN docsearch.query_log.id IS 'digest of the token in the answer';
COMMENT ON COLUMN docsearch.query_log.logged_at IS 'when the call ended';
COMMENT ON COLUMN docsearch.query_log.single_project IS 'the project that was searched; 0 if there are several';
COMMENT ON COLUMN docsearch.query_log.session_key IS '64 bits of session, by which reports count';
COMMENT ON COLUMN docsearch.query_log.query_key IS '64 bits of query_hash, by which reports count';
COMMENT ON COLUMN docsearch.query_log.query_chars IS 'length of query';
COMMENT ON COLUMN docsearch.query_log.first_score IS 'the first of scores';
COMMENT ON COLUMN docsearch.query_log.is_search IS 'whether kind is search';
COMMENT ON COLUMN docsearch.query_log.is_assistant IS 'whether source is mcp';
COMMENT ON COLUMN docsearch.query_log.is_low IS 'whether confidence is low';
COMMENT ON COLUMN docsearch.query_log.is_filtered IS 'whether there are filter_keys';
COMMENT ON COLUMN docsearch.query_log.is_fallback IS 'whether notices have vector_unavailable';
COMMENT ON COLUMN docsearch.query_log.kind IS 'search or load';
COMMENT ON COLUMN docsearch.query_log.session IS 'what calls of one reader have in common: the connection, or docsearch.log_session';
COMMENT ON COLUMN docsearch.query_log.role IS 'role of the caller';
COMMENT ON COLUMN docsearch.query_log.source IS 'front end: sql, cli, http, mcp or page, as docsearch.log_source says';
COMMENT ON COLUMN docsearch.query_log.client IS 'program, as docsearch.log_client says';
COMMENT ON COLUMN docsearch.query_log.query IS 'the query as written, its first 1000 characters; NULL if it is not kept';
COMMENT ON COLUMN docsearch.query_log.query_hash IS 'digest of the query, without capital letters and repeated white space; NULL if nothing of it is kept';
COMMENT ON COLUMN docsearch.query_log.project_ids IS 'projects that were searched';
COMMENT ON COLUMN docsearch.query_log.class IS 'class of the query, such as identifier or question';
COMMENT ON COLUMN docsearch.query_log.filter_keys IS 'keys of the filter, and category';
COMMENT ON COLUMN docsearch.query_log.results IS 'number of results';
COMMENT ON COLUMN docsearch.query_log.found_projects IS 'projects of the first 10 results, or of what was loaded; one, if all are of the same';
COMMENT ON COLUMN docsearch.query_log.found_documents IS 'documents of the first 10 results, or what was loaded';
COMMENT ON COLUMN docsearch.query_log.found_anchors IS 'their sections; empty for a page as a whole';
COMMENT ON COLUMN docsearch.query_log.scores IS 'their scores, 0 to 1';
COMMENT ON COLUMN docsearch.query_log.original_top IS 'document that would come first without the rules of ranking';
COMMENT ON COLUMN docsearch.query_log.final_top IS 'document that came first';
COMMENT ON COLUMN docsearch.query_log.score_delta IS 'what the rules added to the score of final_top';
COMMENT ON COLUMN docsearch.query_log.confidence IS 'high, medium or low';
COMMENT ON COLUMN docsearch.query_log.grade IS 'grade of the answer, 0 to 1, if it was graded';
COMMENT ON COLUMN docsearch.query_log.attempts IS 'number of retrievals of a refined search';
COMMENT ON COLUMN docsearch.query_log.best_attempt IS 'the one whose answer was given, from 1';
COMMENT ON COLUMN docsearch.query_log.grade_gain IS 'grade of that answer less that of the first';
COMMENT ON COLUMN docsearch.query_log.tried IS 'how a refined search tried again, in order: words, rules or model';
COMMENT ON COLUMN docsearch.query_log.notices IS 'codes of notices';
COMMENT ON COLUMN docsearch.query_log.embed_ms IS 'milliseconds of embedding the query';
COMMENT ON COLUMN docsearch.query_log.rank_ms IS 'of finding and ranking documents, with the embedding';
COMMENT ON COLUMN docsearch.query_log.boost_ms IS 'of the rules of ranking, a part of rank_ms';
COMMENT ON COLUMN docsearch.query_log.present_ms IS 'of reading what is shown';
COMMENT ON COLUMN docsearch.query_log.transform_ms IS 'of changing the query';
COMMENT ON COLUMN docsearch.query_log.grade_ms IS 'of grading the answer';
COMMENT ON COLUMN docsearch.query_log.suggest_ms IS 'of suggesting other queries';
COMMENT ON COLUMN docsearch.query_log.total_ms IS 'of the call';

CREATE TABLE docsearch.feedback (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    given_at timestamptz NOT NULL DEFAULT now(),
    call_id text NOT NULL,
    role name NOT NULL,
    source text NOT NULL DEFAULT 'sql',
    kind text NOT NULL CHECK (kind IN ('click', 'helped', 'did_not_help')),
    project_id bigint,
    document_id bigint,
    anchor text NOT NULL DEFAULT '',
    reason text CHECK (reason IN ('incorrect', 'not_what_i_asked', 'outdated', 'slow', 'other')),
    comment text CHECK (char_length(comment) <= 1000),
    UNIQUE NULLS NOT DISTINCT (call_id, kind, project_id, document_id, anchor)
);
COMMENT ON TABLE docsearch.feedback IS 'what readers did with answers, and said of them';
COMMENT ON COLUMN docsearch.feedback.id IS 'number';
COMMENT ON COLUMN docsearch.feedback.given_at IS 'when it was given';
COMMENT ON COLUMN docsearch.feedback.call_id IS 'docsearch.query_log.id of the search';
COMMENT ON COLUMN docsearch.feedback.role IS 'role of the caller';
COMMENT ON COLUMN docsearch.feedback.source IS 'front end, as docsearch.log_source says';
COMMENT ON COLUMN docsearch.feedback.kind IS 'click: a result was opened; helped, did_not_help: a vote';
COMMENT ON COLUMN docsearch.feedback.project_id IS 'project of the result';
COMMENT ON COLUMN docsearch.feedback.document_id IS 'the result; NULL: the answer as a whole';
COMMENT ON COLUMN docsearch.feedback.anchor IS 'section of the result; empty for the page as a whole';
COMMENT ON COLUMN docsearch.feedback.reason IS 'of a vote: incorrect, not_what_i_asked, outdated, slow or other';
COMMENT ON COLUMN docsearch.feedback.comment IS 'what the reader says, up to 1000 characters';

CREATE TABLE docsearch.gap_report (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reported_at timestamptz NOT NULL DEFAULT now(),
    reported_on date NOT NULL DEFAULT current_date,
    role name NOT NULL,
    source text NOT NULL DEFAULT 'sql',
    client text NOT NULL DEFAULT '',
    project_id bigint NOT NULL,
    document_id bigint,
    slug text NOT NULL DEFAULT '',
    anchor text NOT NULL DEFAULT '',
    category text NOT NULL CHECK (category IN ('outdated', 'contradictory', 'missing', 'other')),
    report text NOT NULL CHECK (char_length(report) BETWEEN 1 AND 2048),
    goal text CHECK (char_length(goal) <= 2048),
    UNIQUE (role, project_id, slug, category, reported_on)
);
CREATE INDEX gap_report_day ON docsearch.gap_report (reported_on, role);
COMMENT ON TABLE docsearch.gap_report IS 'what assistants say is missing or wrong in the documentation';
COMMENT ON COLUMN docsearch.gap_report.id IS 'number';
COMMENT ON COLUMN docsearch.gap_report.reported_at IS 'when it was reported';
COMMENT ON COLUMN docsearch.gap_report.reported_on IS 'the day: a caller reports a page once a day';
COMMENT ON COLUMN docsearch.gap_report.role IS 'role of the caller';
COMMENT ON COLUMN docsearch.gap_report.source IS 'front end, as docsearch.log_source says';
COMMENT ON COLUMN docsearch.gap_report.client IS 'program, as docsearch.log_client says';
COMMENT ON COLUMN docsearch.gap_report.project_id IS 'project';
COMMENT ON COLUMN docsearch.gap_report.document_id IS 'the page; NULL: none is named';
COMMENT ON COLUMN docsearch.gap_report.slug IS 'its slug then; empty if none is named';
COMMENT ON COLUMN docsearch.gap_report.anchor IS 'its section; empty for the page as a whole';
COMMENT ON COLUMN docsearch.gap_report.category IS 'outdated, contradictory, missing or other';
COMMENT ON COLUMN docsearch.gap_report.report IS 'what is wrong, up to 2048 characters';
COMMENT ON COLUMN docsearch.gap_report.goal IS 'what the caller wanted to do, up to 2048 characters';

CREATE TABLE docsearch.rejected_question (
    project_id bigint NOT NULL,
    document_id bigint NOT NULL,
    question_hash text NOT NULL,
    question text NOT NULL CHECK (char_length(question) BETWEEN 1 AND 1000),
    rejected_at timestamptz NOT NULL DEFAULT now(),
    rejected_by name NOT NULL,
    PRIMARY KEY (project_id, document_id, question_hash),
    FOREIGN KEY (project_id, document_id) REFERENCES docsearch.document ON DELETE CASCADE
);
COMMENT ON TABLE docsearch.rejected_question IS 'questions of readers that question_candidates does not propose again';
COMMENT ON COLUMN docsearch.rejected_question.project_id IS 'project';
COMMENT ON COLUMN docsearch.rejected_question.document_id IS 'document';
COMMENT ON COLUMN docsearch.rejected_question.question_hash IS 'SHA-256, hexadecimal, of the question';
COMMENT ON COLUMN docsearch.rejected_question.question IS 'the question, without capital letters and punctuation at its end';
COMMENT ON COLUMN docsearch.rejected_question.rejected_at IS 'when it was rejected';
COMMENT ON COLUMN docsearch.rejected_question.rejected_by IS 'role of the caller';

CREATE TABLE docsearch.ranking_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    changed_at timestamptz NOT NULL DEFAULT now(),
    changed_by name NOT NULL,
    comment text CHECK (octet_length(comment) <= 8192),
    before jsonb NOT NULL,
    after jsonb NOT NULL
);
CREATE INDEX ranking_change_project ON docsearch.ranking_change (project_id, id);
COMMENT ON TABLE docsearch.ranking_change IS 'changes of how projects rank, by docsearch.apply_ranking';
COMMENT ON COLUMN docsearch.ranking_change.id IS 'number';
COMMENT ON COLUMN docsearch.ranking_change.project_id IS 'project';
COMMENT ON COLUMN docsearch.ranking_change.changed_at IS 'when it was changed';
COMMENT ON COLUMN docsearch.ranking_change.changed_by IS 'role of the caller';
COMMENT ON COLUMN docsearch.ranking_change.comment IS 'what the caller says of it';
COMMENT ON COLUMN docsearch.ranking_change.before IS 'settings and rules before, which apply_ranking takes to go back';
COMMENT ON COLUMN docsearch.ranking_change.after IS 'settings and rules after';

-- Readers of the log see calls whose projects and found pages they all see: a query says what its pages are about. The list of
-- projects is computed once for a statement, and pages are looked at only if policies apply to the reader.
ALTER TABLE docsearch.query_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible_answers ON docsearch.query_log
    USING (CASE WHEN single_project > 0 THEN single_project IN (SELECT p.id FROM docsearch.project p)
                ELSE project_ids <@ (SELECT coalesce(pg_catalog.array_agg(p.id), '{}') FROM docsearch.project p) END
           AND CASE WHEN (SELECT pg_catalog.row_security_active('docsearch.document'))
                    THEN NOT EXISTS (SELECT FROM unnest(found_projects, found_documents) f (project_id, id)
                                     WHERE NOT EXISTS (SELECT FROM docsearch.document d
                                                       WHERE d.project_id = coalesce(f.project_id, found_projects[1]) AND d.id = f.id))
                         AND (original_top IS NULL
                              OR EXISTS (SELECT FROM docsearch.document d
                                         WHERE d.project_id = ANY (project_ids) AND d.id = original_top))
                    ELSE true END);
ALTER TABLE docsearch.feedback ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible_calls ON docsearch.feedback
    USING (EXISTS (SELECT FROM docsearch.query_log q WHERE q.id = call_id)
           AND (document_id IS NULL
                OR EXISTS (SELECT FROM docsearch.document d WHERE d.project_id = feedback.project_id AND d.id = document_id)));
ALTER TABLE docsearch.gap_report ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible_pages ON docsearch.gap_report
    USING (CASE WHEN document_id IS NULL THEN EXISTS (SELECT FROM docsearch.project p WHERE p.id = gap_report.project_id)
                ELSE EXISTS (SELECT FROM docsearch.document d
                             WHERE d.project_id = gap_report.project_id AND d.id = document_id) END);

CREATE TABLE docsearch.tuning (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    requested_by name NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    time_limit interval NOT NULL,
    status text NOT NULL
        CHECK (status IN ('waiting', 'running', 'accepted', 'refused', 'failed', 'rolled_back')),
    attempts int NOT NULL DEFAULT 0,
    started_at timestamptz,
    finished_at timestamptz,
    before jsonb NOT NULL DEFAULT '{}',
    after jsonb NOT NULL DEFAULT '{}',
    evidence jsonb NOT NULL DEFAULT '{}',
    problem text
);
CREATE INDEX tuning_project ON docsearch.tuning (project_id, id);
CREATE INDEX tuning_pending ON docsearch.tuning (id) WHERE finished_at IS NULL;
COMMENT ON TABLE docsearch.tuning IS 'tunings of projects on their own documents, with the evidence';
COMMENT ON COLUMN docsearch.tuning.id IS 'number';
COMMENT ON COLUMN docsearch.tuning.project_id IS 'project';
COMMENT ON COLUMN docsearch.tuning.requested_by IS 'role that asked for it; the owner of the tables if the project tunes itself';
COMMENT ON COLUMN docsearch.tuning.requested_at IS 'when it was asked for';
COMMENT ON COLUMN docsearch.tuning.time_limit IS 'how long it may take';
COMMENT ON COLUMN docsearch.tuning.status IS
    'waiting; running; accepted: its settings are those of the project; refused: the weights of the project stay; failed; rolled_back';
COMMENT ON COLUMN docsearch.tuning.attempts IS 'how often it was begun in the background: the end of the server interrupts it';
COMMENT ON COLUMN docsearch.tuning.started_at IS 'when it was begun last';
COMMENT ON COLUMN docsearch.tuning.finished_at IS 'when it ended';
COMMENT ON COLUMN docsearch.tuning.before IS 'settings of the project before, those that tuning may change';
COMMENT ON COLUMN docsearch.tuning.after IS 'the same after it';
COMMENT ON COLUMN docsearch.tuning.evidence IS 'queries by kind, settings tried, differences on pages that the search has not seen, guards, calibration, versions, documents';
COMMENT ON COLUMN docsearch.tuning.problem IS 'why it failed';
ALTER TABLE docsearch.tuning ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible_projects ON docsearch.tuning
    USING (EXISTS (SELECT FROM docsearch.project p WHERE p.id = project_id));

-- Pages with the same text. The column is generated, so that it is right however the row is written, and no writer can give a page
-- the digest of another one.
LOCK TABLE docsearch.document IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE docsearch.document
    ADD COLUMN text_digest bigint GENERATED ALWAYS AS (
        CASE WHEN octet_length(title) <= 65536 AND octet_length(body) <= 1000000 THEN docsearch.text_digest(title, body) END) STORED,
    ADD COLUMN boost real GENERATED ALWAYS AS (
        CASE pg_catalog.jsonb_typeof(metadata -> 'boost')
            WHEN 'number' THEN least(greatest((metadata -> 'boost')::numeric, 0.5), 2)::real END) STORED;
CREATE INDEX document_text_digest ON docsearch.document (text_digest, project_id) WHERE text_digest IS NOT NULL;
COMMENT ON COLUMN docsearch.document.text_digest IS
    'digest of title and text, equal for documents that say the same; NULL: the text has fewer than 12 words, or more than 1 MB';

COMMENT ON COLUMN docsearch.document.boost IS 'weight of the page in every search, 0.5 to 2: the key boost of the metadata; NULL: there is none, which is the same as 1';

ALTER TABLE docsearch.document ADD COLUMN keywords_chosen boolean;
COMMENT ON COLUMN docsearch.document.keywords_chosen IS
    'whether indexing chose the keywords from the text, since none were given; NULL: it was stored by version 16 or before';
-- Names and words without accents. Configurations of users that the owner of the tables does not own stay as they are.
COMMENT ON COLUMN docsearch.document_name.kind IS 'title, symbol, slug, path, alias, unprefixed, folded: one of these without its accents; or address';
DO $$
DECLARE
    missing record;
BEGIN
    FOR missing IN
        SELECT c.oid::pg_catalog.regconfig AS config, pg_catalog.string_agg(m.mapdict::pg_catalog.regdictionary::text, ', ' ORDER BY m.mapseqno) AS dictionaries
        FROM pg_catalog.pg_ts_config c JOIN pg_catalog.pg_ts_parser p ON p.oid = c.cfgparser JOIN pg_catalog.pg_ts_config_map m ON m.mapcfg = c.oid
        WHERE p.prsname = 'code_parser' AND p.prsnamespace = 'docsearch'::pg_catalog.regnamespace AND m.maptokentype = 1
          AND pg_catalog.pg_has_role(c.cfgowner, 'USAGE')
          AND NOT EXISTS (SELECT FROM pg_catalog.pg_ts_config_map f WHERE f.mapcfg = c.oid AND f.maptokentype = 5)
        GROUP BY c.oid
    LOOP
        EXECUTE pg_catalog.format('ALTER TEXT SEARCH CONFIGURATION %s ADD MAPPING FOR folded WITH %s', missing.config, missing.dictionaries);
    END LOOP;
END
$$;

ALTER TABLE docsearch.chunk ADD COLUMN sections jsonb;
COMMENT ON COLUMN docsearch.chunk.sections IS
    'path and anchor of the sections whose headings are in the text, in order, or of the section of the summary; NULL: none, or stored by version 16 or before';

ALTER TABLE docsearch.definition ADD COLUMN name text, ADD COLUMN section text, ADD COLUMN anchor text;
COMMENT ON COLUMN docsearch.definition.name IS 'name as it is written, or the whole heading; NULL: stored by version 16 or before';
COMMENT ON COLUMN docsearch.definition.section IS 'heading of the section that defines it; empty before the first heading';
COMMENT ON COLUMN docsearch.definition.anchor IS 'anchor of that section; empty before the first heading';
-- Questions are completed while they are typed.
CREATE INDEX question_text ON docsearch.question (project_id, lower(question COLLATE "C")) WHERE NOT stale;

-- What editors say of single queries. No role may read it: a page that policies hide may be pinned.
CREATE TABLE docsearch.pin (
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    query_key text NOT NULL CHECK (query_key <> '' AND octet_length(query_key) <= 2000),
    query text NOT NULL CHECK (query <> '' AND octet_length(query) <= 2000),
    first text[] NOT NULL DEFAULT '{}' CHECK (cardinality(first) <= 10),
    never text[] NOT NULL DEFAULT '{}' CHECK (cardinality(never) <= 10),
    source text NOT NULL DEFAULT '' CHECK (octet_length(source) <= 1024),
    changed_at timestamptz NOT NULL DEFAULT now(),
    changed_by name NOT NULL,
    PRIMARY KEY (project_id, query_key)
);
COMMENT ON TABLE docsearch.pin IS 'pages that come first for a query, or never, by docsearch.pin';
COMMENT ON COLUMN docsearch.pin.project_id IS 'project';
COMMENT ON COLUMN docsearch.pin.query_key IS 'the query in lower case, without punctuation at the ends of words; queries with the same one are the same';
COMMENT ON COLUMN docsearch.pin.query IS 'the query, as the editor wrote it';
COMMENT ON COLUMN docsearch.pin.first IS 'slugs of the first pages, in order';
COMMENT ON COLUMN docsearch.pin.never IS 'slugs of pages that are no results';
COMMENT ON COLUMN docsearch.pin.source IS 'source root of the docsearch.toml that has the pin; empty: none has';
COMMENT ON COLUMN docsearch.pin.changed_at IS 'when it was changed';
COMMENT ON COLUMN docsearch.pin.changed_by IS 'role of the caller';
