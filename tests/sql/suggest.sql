-- Completions of a text while it is typed: names of pages and sections, identifiers and questions, with their targets.
SELECT docsearch.create_project('atlas') > 0 AS created;
SELECT slug, action FROM docsearch.index_docs('atlas', '[
  {"slug": "hooks/usereducer", "title": "useReducer", "body": "# useReducer\n\nState by a reducer.\n\n## Usage\n\nCall it.\n\n### Adding a reducer to a component\n\nText."},
  {"slug": "hooks/useref", "title": "useRef", "body": "# useRef\n\nA value that is kept.\n\n## Usage\n\nCall it."},
  {"slug": "hooks/useid", "title": "useId", "body": "# useId\n\nAn id.\n\n## Usage\n\nCall it."},
  {"slug": "hooks/usestate", "title": "useState", "body": "# useState\n\nState.\n\n## Usage\n\nCall it."},
  {"slug": "env", "title": "Environment variables", "body": "# Environment variables\n\n## import.meta.env\n\nVariables of the build.\n\n## import.meta.glob(pattern)\n\nFiles of a pattern."},
  {"slug": "templates", "title": "Templates", "body": "# Templates\n\n## flask.render_template(name, **context)\n\nRenders a template.\n\n## Server-side rendering\n\nText.\n\nrender_size (integer)\n\nSets how much is rendered at once."},
  {"slug": "git/commit", "title": "git commit", "body": "# git commit\n\nRecords changes.\n\n## Options\n\nText."},
  {"slug": "config", "title": "Configuration", "metadata": {"aliases": ["settings"]}, "body": "# Configuration\n\n## Größe der Fenster\n\nText."},
  {"slug": "components", "title": "Async Server Components", "body": "# Async Server Components\n\nText."},
  {"slug": "build", "title": "Building", "body": "# Building\n\n## Generated files\n\nShip them.\n\n## Cleaning\n\nText.",
   "questions": [{"anchor": "generated-files", "question": "How do I ship a generated file?"}, {"anchor": "cleaning", "question": "how do I start over"}, "why is it slow"]}
]');
CREATE FUNCTION pg_temp.shown(typed text, most int = 4) RETURNS SETOF text LANGUAGE sql AS
    $$ SELECT concat_ws(' | ', s.suggestion, s.kind, s.target) FROM docsearch.suggest(typed, 'atlas', most) s $$;
CREATE FUNCTION pg_temp.marked(typed text) RETURNS text LANGUAGE sql AS
    $$ SELECT string_agg('[' || substr(s.suggestion, (h.h ->> 0)::int + 1, (h.h ->> 1)::int - (h.h ->> 0)::int) || ']', ' ' ORDER BY h.n) || ' of ' || s.suggestion
       FROM docsearch.suggest(typed, 'atlas', 1) s, jsonb_array_elements(s.highlights) WITH ORDINALITY AS h(h, n) GROUP BY s.suggestion $$;

-- s0_23: beginnings of names of pages, sections and identifiers, and of questions.
SELECT typed, pg_temp.shown(typed) FROM unnest(ARRAY['useRed', 'use', 'u', 'render_temp', 'import.meta.en', 'import.me', 'flask.re', 'server', 'adding', 'render_s',
    'how do I sh', 'HOW DO  i', 'settings', 'größ', 'grö']) typed;
SELECT suggestion, kind, slug, title, section, target, highlights FROM docsearch.suggest('import.meta.gl', 'atlas');
SELECT suggestion, kind, slug, title, section, target, highlights FROM docsearch.suggest('how do i', 'atlas');
-- The targets are references.
SELECT bool_and(load_doc(s.target) LIKE '%' || coalesce(s.section, s.title) || '%') AS loaded
FROM unnest(ARRAY['use', 'render', 'import', 'how do', 'git', 'gen', 'why']) typed, docsearch.suggest(typed, 'atlas') s;

-- Words in order, behind the beginning.
SELECT typed, pg_temp.shown(typed) FROM unnest(ARRAY['async comp', 'reducer', 'server comp', 'mit', 'comp async']) typed;
-- One error.
SELECT typed, pg_temp.shown(typed) FROM unnest(ARRAY['git comit', 'congif', 'ocnfig', 'usereducre', 'useeff', 'rendre_temp', 'improt.meta.e', 'addign a']) typed;
-- A heading that many pages have leads to none.
SELECT pg_temp.shown('usag');

SELECT typed, pg_temp.marked(typed) FROM unnest(ARRAY['useRed', 'reducer', 'async comp', 'git comit', 'congif', 'import.meta.en', 'größ', 'HOW DO  i sh', 'settings']) typed;

-- Of several projects, and of all.
SELECT docsearch.create_project('other') > 0 AS created;
SELECT docsearch.index_doc('other', 'hooks/usereducer', 'useReducer', E'# useReducer\n\nAnother one.');
SELECT suggestion, target FROM docsearch.suggest('useRed');

-- Changed and deleted documents.
SELECT docsearch.index_doc('atlas', 'env', 'Environment variables', E'# Environment variables\n\n## import.meta.mode\n\nThe mode.');
SELECT typed, pg_temp.shown(typed) FROM unnest(ARRAY['import.meta', 'import.meta.en']) typed;
SELECT docsearch.delete_doc('atlas', 'env');
SELECT count(*) FROM docsearch.suggest('import.meta', 'atlas');

-- Hidden documents have no suggestions, take no places, and do not count.
CREATE ROLE suggest_reader;
SELECT docsearch.grant_usage('suggest_reader');
ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY;
CREATE POLICY suggest_own ON docsearch.document TO suggest_reader USING (slug NOT IN ('hooks/usereducer', 'hooks/useid', 'build', 'git/commit'));
SET ROLE suggest_reader;
SELECT typed, s.suggestion, s.target FROM unnest(ARRAY['use', 'useRed', 'usag', 'how do i', 'generated', 'git comit', 'reducer']) typed,
    docsearch.suggest(typed, 'atlas', 3) s WHERE s.target IS NOT NULL;
RESET ROLE;
DROP POLICY suggest_own ON docsearch.document;
ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY;

-- Input of any kind.
SELECT octet_length(typed), count(s.suggestion) FROM unnest(ARRAY[repeat('a', 100000), repeat('use ', 10000), '%', '_____', '\\\\', 'use%', E'\u202eabc']) typed
    LEFT JOIN LATERAL docsearch.suggest(typed, 'atlas') s ON true GROUP BY typed ORDER BY 1, 2;
SELECT * FROM docsearch.suggest(NULL);

SELECT docsearch.drop_project('atlas'), docsearch.drop_project('other');
SELECT docsearch.revoke_usage('suggest_reader');
DROP ROLE suggest_reader;
