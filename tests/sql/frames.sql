-- s1_42: questions count as their task: the words around it, in any language, change neither its grade nor its confidence.
SELECT docsearch.create_project('marina') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('marina', '[
  {"slug": "guides/berths", "title": "Berths", "body": "# Berths\n\n## Reserve a berth\n\nReserve a berth for a guest from the map. Swap two berths by dragging one onto the other.\n\n## Free a berth\n\nFree a berth when the boat has left."},
  {"slug": "guides/fuel", "title": "Fuel dock", "body": "# Fuel dock\n\nMeter the fuel of each boat. Print a receipt for every litre. Calibrate the meter once a year."},
  {"slug": "guides/alarms", "title": "Alarms", "body": "# Alarms\n\nSilence an alarm for an hour. Forward alarms to a phone. An alarm that nobody silences is forwarded."},
  {"slug": "guides/bills", "title": "Bills", "body": "# Bills\n\nSend a bill by mail. Cancel a bill that was sent. Export bills of a month as a table."},
  {"slug": "guides/keys", "title": "Gate keys", "body": "# Gate keys\n\nHand out a key for the gate. Block a lost key. Keys open the gate between six and ten."},
  {"slug": "guides/weather", "title": "Weather", "body": "# Weather\n\nShow the wind on the map. Warn skippers of storms. Gusts are shown in knots."},
  {"slug": "guides/power", "title": "Shore power", "body": "# Shore power\n\nSwitch the power of a pedestal. Read the meter of a pedestal. Limit the current of a berth."},
  {"slug": "guides/backups", "title": "Backups", "body": "# Backups\n\nSchedule a backup every night. Restore a backup on another server. Encrypt backups."},
  {"slug": "guides/users", "title": "Staff", "body": "# Staff\n\nAdd a member of staff. Reset a password. Give rights for bills and berths."},
  {"slug": "reference/settings", "title": "Settings", "body": "# Settings\n\nfuel_unit is litre or gallon. night_mode dims the screens. gate_hours are the hours of the gate."},
  {"slug": "reference/api", "title": "API", "body": "# API\n\nGET /berths lists berths. POST /bills makes a bill."},
  {"slug": "dock/state", "title": "State", "body": "# State\n\nThe state of a dock."},
  {"slug": "berth/type", "title": "type", "body": "# type\n\nThe type of a berth."},
  {"slug": "pump/type", "title": "type", "body": "# type\n\nThe type of a pump."}
]');
CREATE TEMP TABLE task AS SELECT * FROM unnest(ARRAY[
    'reserve a berth for a guest', 'swap two berths', 'free a berth', 'print a receipt for fuel', 'calibrate the meter',
    'silence an alarm', 'forward alarms to a phone', 'cancel a bill that was sent', 'export bills of a month', 'block a lost key',
    'show the wind on the map', 'warn skippers of storms', 'limit the current of a berth', 'restore a backup on another server',
    'reset a password', 'set night_mode', 'switch the power of a pedestal', 'paint the hull of a yacht']) AS task;
CREATE TEMP TABLE frame AS SELECT * FROM unnest(ARRAY[
    '{}?', 'how to {}', 'How do I {}?', 'how can I {}', 'I want to {}', 'I''d like to {}.', 'what is the best way to {}',
    'What''s the easiest way to {}?', 'is there a way to {}?', 'can you tell me how to {}, please?', 'does anyone know how to {}',
    'wie kann ich {}?', 'ich möchte {}', 'was ist der beste Weg, um {}?', 'Kann mir jemand sagen, wie ich {}?',
    'comment puis-je {} ?', 'je voudrais {}', 'quelle est la meilleure façon de {} ?', 'est-il possible de {}',
    '¿cómo puedo {}?', 'quiero {}', '¿cuál es la mejor manera de {}?']) AS frame;
CREATE TEMP TABLE plain AS
SELECT task, search_docs_json(task, 'marina', config => '{"grade": true}') AS answer FROM task;
SELECT count(*) AS asked,
       count(*) FILTER (WHERE framed -> 'grade' IS DISTINCT FROM answer -> 'grade') AS other_grade,
       count(*) FILTER (WHERE framed ->> 'confidence' IS DISTINCT FROM answer ->> 'confidence') AS other_confidence,
       count(*) FILTER (WHERE framed #>> '{results,0,slug}' IS DISTINCT FROM answer #>> '{results,0,slug}') AS other_page
FROM plain, frame, search_docs_json(replace(frame, '{}', task), 'marina', config => '{"grade": true}') framed;
-- The grades differ between tasks.
SELECT count(DISTINCT answer -> 'grade') > 10 AS differ FROM plain;

-- Rows add another language.
SELECT q, search_docs_json(q, 'marina') #>> '{understood,topic}' AS topic
FROM unnest(ARRAY['hoe kan ik een sleutel blokkeren?', 'how can I block a key?']) q;
BEGIN;
INSERT INTO docsearch.query_word (kind, word) VALUES ('opening', 'hoe kan|moet ik|men');
INSERT INTO docsearch.query_word (kind, word, project_id, enabled)
SELECT 'opening', word, p.id, false FROM docsearch.query_word w, docsearch.project p WHERE p.name = 'marina' AND kind = 'opening' AND word LIKE 'how do%';
SELECT q, search_docs_json(q, 'marina') #>> '{understood,topic}' AS topic
FROM unnest(ARRAY['hoe kan ik een sleutel blokkeren?', 'how can I block a key?']) q;
ROLLBACK;

-- s0_12: the only page with this title or slug is meant, however common the word is.
SELECT q, a ->> 'confidence' AS answer, a #>> '{results,0,confidence}' AS first, a #>> '{results,0,slug}' AS slug,
       jsonb_array_length(a -> 'tips') AS tips
FROM unnest(ARRAY['settings', 'Settings', 'api', 'state', 'type', 'berth/type', 'dock']) q, search_docs_json(q, 'marina') a;

-- s0_14: examples are pages of the answer; there are no tips if no words can find anything.
SELECT tip FROM search_docs_json('type', 'marina') a, jsonb_array_elements_text(a -> 'tips') tip;
SELECT jsonb_array_length(search_docs_json('type', 'marina', filter => '{"kind": "none"}') -> 'tips') AS filtered;
SELECT docsearch.create_project('empty') > 0 AS created;
SELECT jsonb_array_length(search_docs_json('type', 'empty') -> 'tips') AS empty;

-- s1_43: grades belong to the model that they were fitted with.
BEGIN;
UPDATE docsearch.model SET name = 'other', directory = coalesce(directory, name);
SELECT docsearch.grade_results('silence an alarm', 'marina') ->> 'reasoning' LIKE '%; not fitted to this embedding model' AS marked;
ROLLBACK;
SELECT docsearch.grade_results('silence an alarm', 'marina') ->> 'reasoning' LIKE '%not fitted%' AS marked;

-- s1_17: without vectors, a page that is named is grounded, and words that no page has are not.
SELECT 'docsearch.vector_' || id AS vectors FROM docsearch.model WHERE id = (SELECT model_id FROM docsearch.project WHERE name = 'marina') \gset
BEGIN;
ALTER TABLE :vectors RENAME TO vectors_gone;
SELECT q, g -> 'grounded' AS grounded FROM unnest(ARRAY['Settings', 'paint the hull of a yacht']) q, docsearch.grade_results(q, 'marina') g;
ROLLBACK;
DROP TABLE plain, frame, task;
SELECT docsearch.drop_project('marina'), docsearch.drop_project('empty');
