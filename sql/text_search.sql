CREATE TEXT SEARCH PARSER docsearch.code_parser (
    START = docsearch.code_parser_start,
    GETTOKEN = docsearch.code_parser_token,
    END = docsearch.code_parser_end,
    LEXTYPES = docsearch.code_parser_types,
    HEADLINE = pg_catalog.prsd_headline
);

CREATE TEXT SEARCH CONFIGURATION docsearch.simple (PARSER = docsearch.code_parser);
ALTER TEXT SEARCH CONFIGURATION docsearch.simple
    ADD MAPPING FOR word, numword, folded, version, numpart, part, qualified, identifier, bigram, number, operator
    WITH pg_catalog.simple;
COMMENT ON TEXT SEARCH CONFIGURATION docsearch.simple IS 'code-aware parser, words as they are';

-- A configuration for each Snowball language of the server. The stemmers have no list of stop
-- words: IN, ALL and not are things that people look up.
DO $$
DECLARE
    stemmer pg_catalog.text;
    language pg_catalog.text;
BEGIN
    FOR stemmer IN
        SELECT d.dictname::pg_catalog.text
        FROM pg_catalog.pg_ts_dict d
        WHERE d.dictname::pg_catalog.text OPERATOR(pg_catalog.~) '_stem$'
          AND d.dictnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid
        ORDER BY d.dictname::pg_catalog.text USING OPERATOR(pg_catalog.<)
    LOOP
        language := pg_catalog.regexp_replace(stemmer, '_stem$', '');
        EXECUTE pg_catalog.format(
            'CREATE TEXT SEARCH DICTIONARY docsearch.%I (TEMPLATE = pg_catalog.snowball, LANGUAGE = %I)',
            stemmer, language);
        EXECUTE pg_catalog.format('COMMENT ON TEXT SEARCH DICTIONARY docsearch.%I IS %L',
            stemmer, pg_catalog.format('snowball stemmer for %s without stop words', language));
        EXECUTE pg_catalog.format(
            'CREATE TEXT SEARCH CONFIGURATION docsearch.%I (PARSER = docsearch.code_parser)', language);
        EXECUTE pg_catalog.format(
            'ALTER TEXT SEARCH CONFIGURATION docsearch.%I ADD MAPPING FOR word, folded, part WITH docsearch.%I',
            language, stemmer);
        EXECUTE pg_catalog.format(
            'ALTER TEXT SEARCH CONFIGURATION docsearch.%I ADD MAPPING FOR numword, version, numpart,
                 qualified, identifier, bigram, number, operator WITH pg_catalog.simple', language);
        EXECUTE pg_catalog.format('COMMENT ON TEXT SEARCH CONFIGURATION docsearch.%I IS %L',
            language, pg_catalog.format('code-aware parser, %s words stemmed, identifiers whole and in parts', language));
    END LOOP;
END
$$;
COMMENT ON TEXT SEARCH PARSER docsearch.code_parser IS
    'words, also without accents, identifiers whole and in parts, qualified names, operators, versions, pairs of characters of scripts without spaces';
