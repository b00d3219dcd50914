-- The specification of docsearch.code_parser.
SELECT tokid, alias, description FROM ts_token_type('docsearch.code_parser') ORDER BY tokid;

CREATE FUNCTION pg_temp.parsed(text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(t.alias || ':' || p.token, ' ' ORDER BY p.place)
    FROM ts_parse('docsearch.code_parser', $1) WITH ORDINALITY p(tokid, token, place)
    JOIN ts_token_type('docsearch.code_parser') t USING (tokid)
    WHERE t.alias <> 'gap'
$$;

-- An identifier is emitted whole and then in its parts.
SELECT text, pg_temp.parsed(text) FROM unnest(ARRAY[
    'UITableView', 'snake_case', 'kebab-case', 'HTTPServer2', 'os.path.join', 'std::vector',
    'AsyncImagePhase.failure', '--long-flag', '@State', 'C++', 'C#', 'frame(width:height:)', '__init__'
]) AS text;

-- Operators, error codes, versions and numbers are tokens.
SELECT text, pg_temp.parsed(text) FROM unnest(ARRAY[
    'a @> b', 'x || y', 'SELECT ''1''::int', '[[', '!', '42P01', 'ORA-00942', '15.4.1', 'v2.0', '1.0.0-rc.15', '3.14', '15'
]) AS text;

-- Chinese, Japanese and Korean text becomes bigrams.
SELECT text, pg_temp.parsed(text) FROM unnest(ARRAY['文本文件', 'ファイル', '書く file']) AS text;

-- Without the whole identifiers, the tokens are the text, byte for byte.
SELECT string_agg(token, '' ORDER BY place) = text AS complete
FROM (VALUES (E'A.b::c -- d''s "UITable_view2" (x)\n\t文本 @> [1.2.3]')) v(text),
     ts_parse('docsearch.code_parser', v.text) WITH ORDINALITY p(tokid, token, place)
WHERE tokid NOT BETWEEN 15 AND 17 GROUP BY text;

-- Words are stemmed, whole identifiers are not, and there are no stop words.
SELECT to_tsvector('docsearch.english', 'IN and NOT: tables of the UITableView');
SELECT to_tsvector('docsearch.german', 'Tabellen der UITableView');
SELECT to_tsvector('docsearch.simple', 'Tables of');
SELECT alias, token, dictionary, lexemes FROM ts_debug('docsearch.english', 'UITableView tables') WHERE alias <> 'gap';

-- Any part of an identifier finds it, and so does the identifier whole.
SELECT q, to_tsvector('docsearch.english', 'reload the UITableView') @@ plainto_tsquery('docsearch.english', q) AS found
FROM unnest(ARRAY['table', 'tables', 'table view', 'uitableview', 'UITableView', 'scroll view']) q;

-- Headlines show each word once.
SELECT ts_headline('docsearch.english', 'Reload the UITableView after a change.', plainto_tsquery('docsearch.english', 'table'));

-- Long runs are split.
SELECT length(token) FROM ts_parse('docsearch.code_parser', repeat('x', 5000)) WHERE tokid <> 12;

-- s0_18: identifiers in words.
SELECT x, docsearch.split_identifier(x)
FROM unnest(ARRAY['UITableView', 'GeometryReader', 'URLSession', 'HTTP', 'pg_cancel_backend', 'button']) x;
