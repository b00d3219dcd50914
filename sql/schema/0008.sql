-- What a writer may store by hand is bounded as what indexing stores (docsearch_core::bounds), so that no row
-- keeps others from being read. Rows that are there already are not looked at; they have to comply once they
-- change. Nothing of the extension stands in these constraints: a dump restores them anywhere.

ALTER TABLE docsearch.project
    ADD CONSTRAINT project_name_plain CHECK (name !~ '[\u0001-\u001F\u007F-\u009F\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0001\U000E0020-\U000E007F]') NOT VALID,
    ADD CONSTRAINT project_texts_bounded CHECK (
        octet_length(title) <= 65536 AND octet_length(root_url) <= 4096 AND octet_length(text_config) <= 1024
        AND octet_length(switch_error) <= 65536) NOT VALID,
    ADD CONSTRAINT project_settings_readable CHECK (
        NOT jsonb_path_exists(settings, 'strict $.**{65}')
        AND NOT jsonb_path_exists(settings, 'strict $.** ? (@ > 1e308 || @ < -1e308)')
        AND octet_length(settings::text) <= 65536) NOT VALID,
    ADD CONSTRAINT project_title_in_one_line CHECK (title !~ '[\u0001-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]' AND root_url !~ '[\u0001-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]') NOT VALID,
    ADD CONSTRAINT project_times_bounded CHECK (
        created_at BETWEEN timestamptz '0001-01-01 00:00:00+00' AND timestamptz '9999-12-31 23:59:59+00'
        AND updated_at BETWEEN timestamptz '0001-01-01 00:00:00+00' AND timestamptz '9999-12-31 23:59:59+00'
        AND isfinite(switch_next_attempt)) NOT VALID,
    ADD CONSTRAINT project_attempts_positive CHECK (switch_attempts >= 0) NOT VALID;

ALTER TABLE docsearch.document
    ADD CONSTRAINT document_slug_plain CHECK (slug !~ '[\u0001-\u001F\u007F-\u009F\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0001\U000E0020-\U000E007F]') NOT VALID,
    ADD CONSTRAINT document_category_bounded CHECK (
        octet_length(category) <= 1024
        AND length(category) - length(replace(category, '/', '')) < 32
        AND category !~ '[\u0001-\u001F\u007F-\u009F\u00AD\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0001\U000E0020-\U000E007F]') NOT VALID,
    ADD CONSTRAINT document_texts_bounded CHECK (
        octet_length(title) <= 65536 AND octet_length(kind) <= 1024 AND octet_length(version) <= 1024
        AND octet_length(summary) <= 65536 AND octet_length(source_path) <= 4096 AND octet_length(source_root) <= 1024
        AND octet_length(body) <= 33554432 AND octet_length(content_hash) <= 1024) NOT VALID,
    -- The text of an array quotes its elements: 65,536 bytes of them have less than four times as many.
    ADD CONSTRAINT document_keywords_bounded CHECK (
        CASE WHEN array_ndims(keywords) > 1 THEN false ELSE array_position(keywords, NULL) IS NULL END
        AND cardinality(keywords) <= 1000 AND octet_length(keywords::text) <= 262144) NOT VALID,
    ADD CONSTRAINT document_source_urls_bounded CHECK (
        CASE WHEN array_ndims(source_urls) > 1 THEN false ELSE array_position(source_urls, NULL) IS NULL END
        AND cardinality(source_urls) <= 1000 AND octet_length(source_urls::text) <= 262144) NOT VALID,
    -- As text, jsonb has a blank behind every comma and colon.
    ADD CONSTRAINT document_metadata_readable CHECK (
        NOT jsonb_path_exists(metadata, 'strict $.**{65}')
        AND NOT jsonb_path_exists(metadata, 'strict $.** ? (@ > 1e308 || @ < -1e308)')
        AND octet_length(metadata::text) <= 2097152) NOT VALID,
    ADD CONSTRAINT document_title_in_one_line CHECK (title !~ '[\u0001-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]') NOT VALID,
    ADD CONSTRAINT document_times_bounded CHECK (
        created_at BETWEEN timestamptz '0001-01-01 00:00:00+00' AND timestamptz '9999-12-31 23:59:59+00'
        AND updated_at BETWEEN timestamptz '0001-01-01 00:00:00+00' AND timestamptz '9999-12-31 23:59:59+00'
        AND published_at BETWEEN timestamptz '0001-01-01 00:00:00+00' AND timestamptz '9999-12-31 23:59:59+00') NOT VALID,
    ADD CONSTRAINT document_counts_positive CHECK (term_count >= 0 AND chunk_count >= 0) NOT VALID;
