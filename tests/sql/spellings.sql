-- Words of all scripts, in all forms of their characters, with and without accents; keywords of authors.
SELECT docsearch.create_project('letters', text_config => 'docsearch.simple') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('letters', jsonb_build_array(
    jsonb_build_object('slug', 'decomposed', 'title', E'Cafe\u0301 menu', 'body', E'The nai\u0308ve fac\u0327ade serves cre\u0300me bru\u0302le\u0301e.'),
    jsonb_build_object('slug', 'ligatures', 'title', 'Maintenance', 'body', 'The ﬁle is ﬂushed to the oﬃce diﬀ.'),
    jsonb_build_object('slug', 'full-width', 'title', 'ＡＰＩ キー', 'body', 'ＡＰＩ キーは１２３です。'),
    jsonb_build_object('slug', 'hyphens', 'title', 'Hyphens', 'body', E'Use the co\u2011operative mode and the re\u00ADstart option.'),
    jsonb_build_object('slug', 'units', 'title', 'Units', 'body', E'The length is 5 \u212B and 3 \u00B5m; H₂O boils.'),
    jsonb_build_object('slug', 'blanks', 'title', 'Blanks', 'body', E'The data\u200Bbase has room.'),
    jsonb_build_object('slug', 'other', 'title', 'Other', 'body', 'Nothing of the kind: a page about trams and a seat.')));

-- Texts and queries are compared in one form.
SELECT q, slug, confidence <> 'low' AS found FROM unnest(ARRAY['naïve', 'façade', 'crème brûlée', E'nai\u0308ve', 'file', 'office', 'diff', 'flushed',
        'API', 'ａｐｉ', 'database', 'restart', E're\u00ADstart', 'co-operative', 'cooperative', '5 Å', 'μm', 'H2O', 'café menu', 'cafe menu']) WITH ORDINALITY q(q, place),
    search_docs(q, 'letters', max_results => 1, config => '{"hybrid_weight": 0}') ORDER BY place;
-- Snippets show the text as it is written.
SELECT q, snippet FROM unnest(ARRAY['office', 'restart']) q, search_docs(q, 'letters', max_results => 1, config => '{"hybrid_weight": 0}');

-- Combining marks belong to their word, as in the parser of Postgres.
SELECT word, to_tsvector('docsearch.simple', word) = to_tsvector('pg_catalog.simple', word) AS equal
FROM unnest(ARRAY['सर्वर', 'स्थापित', 'हिन्दी', 'தமிழ்']) word;
SELECT to_tsvector('docsearch.simple', 'שָׁלוֹם'), to_tsvector('docsearch.simple', 'مُحَمَّد');
SELECT docsearch.create_project('scripts', text_config => 'docsearch.simple') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('scripts', '[
  {"slug": "hi-install", "title": "स्थापना", "body": "सर्वर स्थापित करने के लिए यह आदेश चलाएँ।"},
  {"slug": "hi-settings", "title": "विन्यास", "body": "विन्यास फ़ाइल घर के फ़ोल्डर में है।"},
  {"slug": "th-install", "title": "การติดตั้ง", "body": "ดาวน์โหลดไฟล์แล้วรันคำสั่งเพื่อติดตั้งเซิร์ฟเวอร์"},
  {"slug": "th-delete", "title": "การลบ", "body": "ลบไฟล์ออกจากเซิร์ฟเวอร์ด้วยคำสั่งนี้"},
  {"slug": "th-settings", "title": "การตั้งค่า", "body": "ไฟล์ตั้งค่าอยู่ในโฟลเดอร์หลัก"},
  {"slug": "th-search", "title": "การค้นหา", "body": "เครื่องมือค้นหาคำในเอกสาร"},
  {"slug": "zh-fire", "title": "火", "body": "火很热。"},
  {"slug": "zh-database", "title": "数据库", "body": "连接数据库需要用户名和密码。备份每天晚上执行一次。"},
  {"slug": "zh-log", "title": "日志", "body": "日志按天保存，可以设置级别。错误日志会发送邮件。"},
  {"slug": "ja-key", "title": "鍵の管理", "body": "秘密の鍵は毎月更新します。"},
  {"slug": "ko-value", "title": "설정", "body": "이 항목의 값을 바꿉니다."},
  {"slug": "he-greeting", "title": "ברכות", "body": "אומרים שָׁלוֹם בבוקר."},
  {"slug": "he-army", "title": "ראשי תיבות", "body": "צה״ל הוא קיצור."},
  {"slug": "ar-name", "title": "أسماء", "body": "اسمه مُحَمَّد في كتاب."},
  {"slug": "uk-object", "title": "Програма", "body": "Кожен об’єкт має ім’я."}]');
SELECT q, slug FROM unnest(ARRAY['सर्वर', 'फ़ोल्डर', 'ติดตั้งเซิร์ฟเวอร์', 'โฟลเดอร์', 'เอกสาร', 'ดาวน์โหลด', '热', '名', '天', '备份', '数据库备份', '鍵', '月', '값',
        'שלום', 'צה"ל', 'צהל', 'محمد', 'اسماء', 'об''єкт', 'імя']) WITH ORDINALITY q(q, place),
    search_docs(q, 'scripts', max_results => 1, config => '{"hybrid_weight": 0}') ORDER BY place;

-- An accent that is left out leaves the same word. The exact spelling is first.
SELECT docsearch.create_project('accents') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('accents', '[
  {"slug": "pupil", "title": "L’école", "body": "Un élève y apprend par cœur."},
  {"slug": "street", "title": "Straße", "body": "Die Größe der Straße."},
  {"slug": "town", "title": "Würzburg", "body": "Eine Stadt am Main."},
  {"slug": "resume-work", "title": "Breaks", "body": "After a break resume the work at once."},
  {"slug": "resume-paper", "title": "Papers", "body": "Send your résumé with the letter please."},
  {"slug": "plain", "title": "Eleve", "body": "Written without accents: ecole."}]');
SELECT q, slug, confidence <> 'low' AS found FROM unnest(ARRAY['coeur', 'strasse', 'wurzburg', 'grosse', 'resume', 'résumé', 'ecole', 'école', 'eleve', 'élève']) WITH ORDINALITY q(q, place),
    search_docs(q, 'accents', max_results => 1, config => '{"hybrid_weight": 0}') ORDER BY place;
SELECT slug FROM search_docs('resume', 'accents', max_results => 2, config => '{"hybrid_weight": 0}') ORDER BY rank;
SELECT * FROM docsearch.explain_search('coeur', 'pupil', 'accents') e WHERE e::text LIKE '%~%';
SELECT count(*) FROM docsearch.check('accents') WHERE problem NOT IN (SELECT fault FROM docsearch.known_faults());

-- Keywords and tags of authors are searched, also after a repair; keywords that indexing chose are no keywords of authors.
SELECT docsearch.create_project('words') > 0 AS created;
SELECT docsearch.index_doc('words', 'unblock', 'Unblocking the kit', 'Allow the program in the control panel of the system.',
                           keywords => ARRAY['troubleshooting', 'antivirus', 'EPERM']);
SELECT docsearch.index_doc('words', 'fonts', 'Fonts', 'Put fonts beside the pages. A scanner such as an antivirus program may look at them.');
SELECT docsearch.index_doc('words', 'workbook', 'Upgrading a workbook', 'Open it and save it again.',
                           metadata => '{"tags": ["coordinator", "designer"]}');
SELECT q, slug, confidence <> 'low' AS found FROM unnest(ARRAY['troubleshooting', 'antivirus', 'EPERM', 'coordinator']) WITH ORDINALITY q(q, place),
    search_docs(q, 'words', max_results => 1, config => '{"hybrid_weight": 0}') ORDER BY place;
CREATE VIEW pg_temp.keyword AS
    SELECT d.slug, u.lexeme FROM docsearch.chunk c JOIN docsearch.document d ON d.id = c.document_id AND d.project_id = c.project_id
           JOIN docsearch.project p ON p.id = d.project_id, unnest(c.terms) u WHERE p.name = 'words' AND 'C' = ANY (u.weights);
SELECT slug, string_agg(lexeme, ' ' ORDER BY lexeme COLLATE "C") FROM pg_temp.keyword GROUP BY slug ORDER BY slug;
UPDATE docsearch.chunk SET input_hash = 'older';
UPDATE docsearch.document SET keywords_chosen = NULL WHERE slug = 'unblock';
SELECT DISTINCT problem FROM docsearch.check('words') WHERE problem NOT IN (SELECT fault FROM docsearch.known_faults());
SELECT * FROM docsearch.repair('words') ORDER BY object;
SELECT slug, string_agg(lexeme, ' ' ORDER BY lexeme COLLATE "C") FROM pg_temp.keyword GROUP BY slug ORDER BY slug;
SELECT docsearch.drop_project(name) FROM docsearch.project WHERE name IN ('letters', 'scripts', 'accents', 'words') ORDER BY name;
