CREATE TABLE docsearch.action (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    verb text NOT NULL CHECK (btrim(verb) ~ '^\S+(\s+\S+){0,2}$'),
    intent text CHECK (intent IN ('read', 'write', 'create', 'delete')),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (verb, project_id)
);
COMMENT ON TABLE docsearch.action IS 'verbs that say what a query wants to do';
COMMENT ON COLUMN docsearch.action.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.action.verb IS 'verb in its base form, lower case, such as delete or get rid of';
COMMENT ON COLUMN docsearch.action.intent IS 'read, write, create or delete, if it is one of these';
COMMENT ON COLUMN docsearch.action.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.action_synonym (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    verb text NOT NULL CHECK (btrim(verb) ~ '^\S+(\s+\S+){0,2}$'),
    synonym text NOT NULL CHECK (synonym ~ '^\S+$'),
    closeness real NOT NULL DEFAULT 1 CHECK (closeness BETWEEN 0 AND 1),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (verb, synonym, project_id)
);
COMMENT ON TABLE docsearch.action_synonym IS 'verbs that pages use for the verb of a query';
COMMENT ON COLUMN docsearch.action_synonym.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.action_synonym.verb IS 'verb of the query';
COMMENT ON COLUMN docsearch.action_synonym.synonym IS 'verb of the page';
COMMENT ON COLUMN docsearch.action_synonym.closeness IS 'how well it stands in, 0 to 1';
COMMENT ON COLUMN docsearch.action_synonym.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.intent_conflict (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    asked text NOT NULL CHECK (asked IN ('read', 'write', 'create', 'delete')),
    found text NOT NULL CHECK (found IN ('read', 'write', 'create', 'delete')),
    penalty real NOT NULL CHECK (penalty BETWEEN 0 AND 1),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (asked, found, project_id)
);
COMMENT ON TABLE docsearch.intent_conflict IS 'what a page costs whose title does something else than the query asks for';
COMMENT ON COLUMN docsearch.intent_conflict.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.intent_conflict.asked IS 'intent of the query''s verb';
COMMENT ON COLUMN docsearch.intent_conflict.found IS 'intent of the verb in the title';
COMMENT ON COLUMN docsearch.intent_conflict.penalty IS 'share of the score that is lost, 0 to 1';
COMMENT ON COLUMN docsearch.intent_conflict.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.generic_term (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    term text NOT NULL CHECK (term ~ '^\S+$'),
    boost real NOT NULL DEFAULT 0.05 CHECK (boost BETWEEN 0 AND 1),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (term, project_id)
);
COMMENT ON TABLE docsearch.generic_term IS 'words that many pages have in their names, and that alone say little';
COMMENT ON COLUMN docsearch.generic_term.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.generic_term.term IS 'word, lower case';
COMMENT ON COLUMN docsearch.generic_term.boost IS 'boost of a page with it in its name, when nothing else was asked for';
COMMENT ON COLUMN docsearch.generic_term.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.synonym (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    term text NOT NULL CHECK (term ~ '^\S+$'),
    expansion text NOT NULL CHECK (btrim(expansion) <> ''),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (term, expansion, project_id)
);
COMMENT ON TABLE docsearch.synonym IS 'abbreviations, acronyms and words with what else to look for';
COMMENT ON COLUMN docsearch.synonym.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.synonym.term IS 'word of the query, lower case';
COMMENT ON COLUMN docsearch.synonym.expansion IS 'word or words that mean it';
COMMENT ON COLUMN docsearch.synonym.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.framework_alias (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    alias text NOT NULL CHECK (btrim(alias) ~ '^\S+(\s+\S+){0,2}$'),
    framework text NOT NULL CHECK (btrim(framework) <> ''),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (alias, project_id)
);
COMMENT ON TABLE docsearch.framework_alias IS 'other names of frameworks, libraries and products';
COMMENT ON COLUMN docsearch.framework_alias.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.framework_alias.alias IS 'other name, at most three words';
COMMENT ON COLUMN docsearch.framework_alias.framework IS 'name';
COMMENT ON COLUMN docsearch.framework_alias.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.platform (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    word text NOT NULL CHECK (word ~ '^\S+$'),
    platform text NOT NULL CHECK (btrim(platform) <> ''),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (word, project_id)
);
COMMENT ON TABLE docsearch.platform IS 'words that name a platform';
COMMENT ON COLUMN docsearch.platform.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.platform.word IS 'word of the query, lower case';
COMMENT ON COLUMN docsearch.platform.platform IS 'the platform as metadata name it';
COMMENT ON COLUMN docsearch.platform.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.query_word (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('kind', 'question', 'recency', 'stop')),
    word text NOT NULL CHECK (btrim(word) ~ '^\S+(\s+\S+){0,2}$'),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (kind, word, project_id)
);
COMMENT ON TABLE docsearch.query_word IS 'words that say how a query is meant';
COMMENT ON COLUMN docsearch.query_word.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.query_word.kind IS
    'kind: names a sort of page, as in "View protocol"; question: opens a question; recency: asks for what is new; stop: says nothing';
COMMENT ON COLUMN docsearch.query_word.word IS 'word or phrase of at most three words, lower case';
COMMENT ON COLUMN docsearch.query_word.enabled IS 'false: the row switches off what it names';

CREATE TABLE docsearch.search_tip (
    project_id bigint REFERENCES docsearch.project ON DELETE CASCADE,
    number int NOT NULL,
    tip text NOT NULL CHECK (btrim(tip) <> ''),
    enabled bool NOT NULL DEFAULT true,
    UNIQUE NULLS NOT DISTINCT (number, project_id)
);
COMMENT ON TABLE docsearch.search_tip IS 'advice that comes with poor answers';
COMMENT ON COLUMN docsearch.search_tip.project_id IS 'project that the row is for; NULL: all';
COMMENT ON COLUMN docsearch.search_tip.number IS 'place among the tips';
COMMENT ON COLUMN docsearch.search_tip.tip IS 'one sentence';
COMMENT ON COLUMN docsearch.search_tip.enabled IS 'false: the row switches off what it names';

DO $$
DECLARE
    rules text;
BEGIN
    FOREACH rules IN ARRAY '{action,action_synonym,intent_conflict,generic_term,synonym,framework_alias,platform,query_word,search_tip}'::text[]
    LOOP
        EXECUTE format('CREATE TRIGGER rules_changed AFTER INSERT OR UPDATE OR DELETE ON docsearch.%I
                        FOR EACH STATEMENT EXECUTE FUNCTION docsearch.rules_changed()', rules);
    END LOOP;
END
$$;

CREATE TABLE docsearch.container (
    project_id bigint NOT NULL REFERENCES docsearch.project ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    name text NOT NULL
);
CREATE INDEX container_key ON docsearch.container (project_id, key) INCLUDE (name);
COMMENT ON TABLE docsearch.container IS 'what documents say that they belong to: the Y of "X in Y"';
COMMENT ON COLUMN docsearch.container.project_id IS 'project';
COMMENT ON COLUMN docsearch.container.key IS 'name in comparable form: lower case, without what separates words';
COMMENT ON COLUMN docsearch.container.name IS 'category, or framework, module, library, package, server or namespace in the metadata';

INSERT INTO docsearch.container (project_id, key, name)
SELECT DISTINCT ON (s.project_id, s.key) s.project_id, s.key, s.name
FROM (SELECT d.project_id, c.name, lower(regexp_replace(c.name, '[^[:alnum:]]', '', 'g')) AS key
      FROM docsearch.document d,
           LATERAL (SELECT unnest(string_to_array(d.category, '/'))
                    UNION ALL
                    SELECT m.value #>> '{}' FROM jsonb_each(d.metadata) m
                    WHERE jsonb_typeof(m.value) = 'string'
                      AND m.key IN ('framework', 'module', 'library', 'package', 'server', 'namespace')) c(name)) s
WHERE s.key <> '';

DO $$
BEGIN
    EXECUTE format('CREATE INDEX document_name_trigram ON docsearch.document_name USING gin (project_id, key %I.gin_trgm_ops)',
                   (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
                    WHERE e.extname = 'pg_trgm'));
END
$$;

COMMENT ON COLUMN docsearch.document_name.kind IS 'title, symbol, slug, path, alias or unprefixed';
INSERT INTO docsearch.document_name (project_id, document_id, key, kind)
SELECT d.project_id, d.id, lower(substring(d.title FROM '^[A-Z]{2,3}([A-Z][a-z][A-Za-z0-9]*)$')), 'unprefixed'
FROM docsearch.document d WHERE d.title ~ '^[A-Z]{2,3}[A-Z][a-z][A-Za-z0-9]*$';
-- "#" counts behind a first letter only.
UPDATE docsearch.document_name SET key = left(key, 2) || replace(substr(key, 3), '#', '') WHERE substr(key, 3) LIKE '%#%';
