-- The action, the exclusions and the names of a query: words as written, verbs before objects.
SELECT docsearch.create_project('quay') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('quay', '[
  {"slug": "session", "title": "Session", "body": "# Session\n\nA session with the quay. Sessions of one crew share a pool."},
  {"slug": "sessionpool", "title": "SessionPool", "body": "# SessionPool\n\nKeeps open sessions for later."},
  {"slug": "guides/pooling", "title": "Pooling", "body": "# Pooling\n\nA session comes from a `SessionPool` or from quay.SessionPool(4)."},
  {"slug": "get_secure_cookie", "title": "get_secure_cookie", "body": "# get_secure_cookie\n\nReads a signed cookie of the session."},
  {"slug": "get_cookie", "title": "get_cookie", "body": "# get_cookie\n\nReads a cookie of the session, signed or not, secure or not."},
  {"slug": "guides/cookies", "title": "Cookies", "body": "# Cookies\n\nCookies of a session.\n\n```python\nname = self.get_secure_cookie(\"name\")\nqueue.run(name)\n```"},
  {"slug": "queue.run", "title": "queue.run", "body": "# queue.run\n\nRuns what is queued in a session, like std::deque in C++."},
  {"slug": "runner", "title": "Runner", "body": "# Runner\n\nRuns a queue of a session with push --force-with-lease."},
  {"slug": "push", "title": "push", "body": "# push\n\nSends a session with --force or with the lease."},
  {"slug": "releases/3.0", "title": "Release notes 3.0", "body": "# Release notes 3.0\n\nWhat is new in the session. Row level security."},
  {"slug": "releases/3.0.1", "title": "Release notes 3.0.1", "body": "# Release notes 3.0.1\n\nWhat was wrong in the session. Security of a row, level by level."},
  {"slug": "releases/13.0", "title": "Release notes 13.0", "body": "# Release notes 13.0\n\nWhat is new in the session much later: row-level locks. The session is parsed."}
]');

-- s4_34: an exclusion removes the pages that have it as written, with a notice if there are none.
CREATE FUNCTION pg_temp.lost(excluded text) RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(slug, ' ' ORDER BY slug), '(none)')
    FROM (SELECT slug FROM search_docs('session', 'quay', max_results => 50)
          EXCEPT SELECT slug FROM search_docs('session ' || excluded, 'quay', max_results => 50)) lost(slug) $$;
SELECT excluded, pg_temp.lost(excluded) AS lost,
       jsonb_path_query_first(search_docs_json('session ' || excluded, 'quay'), '$.notices[*] ? (@.code == "not_excluded").message') #>> '{}' AS notice
FROM unnest(ARRAY['-SessionPool', '-sessionpool', '-sessionpools', '-get_secure_cookie', '-get_cookie()', '-cookie', '-cookies', '-queue.run', '-run', '-queue.runner',
                  '-std::deque', '---force', '-"--force-with-lease"', '-3.0', '-3.0.1', '-13.0', '-4.0', '-"row level security"', '-"row level"', '-"pool of sessions"',
                  '-parsed', '-parsing', '-pool', '-guides', '-releases', '-SessionPool -parsing', '-xyz']) WITH ORDINALITY AS e(excluded, place) ORDER BY place;
SELECT slug FROM search_docs('session -SessionPool', 'quay', max_results => 1);

-- s0_37: a link between pages of a site is the address of the page with this slug only.
CREATE FUNCTION pg_temp.top(query text, project text = 'quay') RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', r ->> 'slug', '#' || nullif(r ->> 'anchor', ''), r ->> 'confidence')
    FROM search_docs_json(query, project, max_results => 1) a, LATERAL (SELECT a -> 'results' -> 0 AS r) f $$;
SELECT docsearch.create_project('sphinx') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('sphinx', '[
  {"slug": "options", "title": "Options", "body": "# Options\n\nSwitches of a command.\n\n## Boolean\n\nOn or off."},
  {"slug": "guide/options", "title": "More options", "body": "# More options\n\nOptions of options. Options that have options, and options for options in options.html."},
  {"slug": "faqs", "title": "Frequent questions", "body": "# Frequent questions\n\nWhat people ask of commands in faqs.md."},
  {"slug": "guide/asking", "title": "faqs.md", "body": "# Where faqs.md comes from\n\nfaqs.md lists faqs."},
  {"slug": "process", "title": "Processes", "body": "# Processes\n\nOne after the other."},
  {"slug": "guide/running", "title": "Running a process", "body": "# Running a process\n\nA process.html is written while a process runs a process."},
  {"slug": "package.json", "title": "The file of a package", "body": "# The file of a package\n\nNames and versions."},
  {"slug": "package", "title": "Packages", "body": "# Packages\n\nThe package.json of a package."},
  {"slug": "main", "title": "Main", "body": "# Main\n\nWhere it begins."},
  {"slug": "guide/rust", "title": "Rust", "body": "# Rust\n\nA program begins in main.rs, and node.js in index.js."},
  {"slug": "reference/State", "title": "State", "body": "# State\n\nA wrapper of a value that changes."},
  {"slug": "reference/StateObserver", "title": "StateObserver", "body": "# StateObserver\n\nThe observer of a state wrapper. It wraps each State wrapper once."},
  {"slug": "guide/documentation", "title": "Writing pages", "body": "# Writing pages\n\nAn options page lists options; each page has a page of its own."}
]');
SELECT q, pg_temp.top(q, 'sphinx') FROM unnest(ARRAY['options.html', './options.html', 'options.html#boolean', 'options.html?highlight=switch', 'OPTIONS.rst', '`options.md`',
    'faqs.md', '[questions](faqs.md)', 'process.html', 'sphinx/process.html', 'package.json', 'main.html']) WITH ORDINALITY AS e(q, place) ORDER BY place;
SELECT q, pg_temp.top(q, 'sphinx') FROM unnest(ARRAY['main.rs', 'index.js', 'Node.js']) q;
SELECT form, names, holding FROM docsearch.verify_invariants('sphinx') WHERE names IS NOT NULL;

-- s0_7: the page for which the name is most complete is first.
SELECT q, array_agg(slug ORDER BY rank) AS slugs FROM unnest(ARRAY['options', 'Options', 'OPTIONS']) q, search_docs(q, 'sphinx', max_results => 2) GROUP BY q ORDER BY q;
-- s0_30: words for kinds of things are not part of a name.
SELECT q, slug FROM unnest(ARRAY['State wrapper', 'state wrapper', 'Processes page', 'state property wrapper']) q, search_docs(q, 'sphinx', max_results => 1);
-- s0_28: all spellings of a container give one order.
SELECT count(*) FROM docsearch.index_docs('sphinx', (SELECT jsonb_agg(jsonb_build_object('slug', lower(f) || '/' || p, 'title', p, 'metadata', jsonb_build_object('framework', f),
    'body', format(E'# %s\n\n%s of %s shows %s in rows, as a kit for the tide does.', p, p, f, lower(p)))) FROM unnest('{TideKit,BrackishDB}'::text[]) f, unnest('{List,DriftList,Panel,Start}'::text[]) p));
SELECT count(DISTINCT slugs) AS orders FROM unnest(ARRAY['list in TideKit', 'list in tide-kit', 'list in tide kit', 'list in tidekit', 'list in TIDEKIT', 'list in Tide Kit']) q,
    LATERAL (SELECT array_agg(slug || ' ' || score ORDER BY rank) AS slugs FROM search_docs(q, 'sphinx', max_results => 8)) s;

-- s2_7: for saving a text file, the tool that writes is first, then the one that edits, and the one that reads last.
CREATE TEMPORARY TABLE wording(number int, read text, write text, edit text);
INSERT INTO wording VALUES
  (0, 'Reads the complete content of a file as text.', 'Creates a file or replaces one that is there.', 'Makes changes to some lines of a file.'),
  (1, 'Read a text file from disk and return its contents as a string.', 'Create a new file or completely overwrite an existing file with new content. Use with caution.', 'Make line-based edits to a text file. Each edit replaces exact line sequences with new content.'),
  (2, 'Returns what a text file contains. Handles various encodings.', 'Creates a new file or overwrites an existing one with new content.', 'Replaces parts of an existing file. Returns a diff of the changes made.'),
  (3, 'Opens a text document and gives back its text, optionally only the first or last lines.', 'Puts content into a file at the given path. The file is created if it does not exist.', 'Applies a list of search and replace operations to a document.'),
  (4, 'Get the contents of a text file. Supports head and tail.', 'Stores content under a path.', 'Changes selected lines.'),
  (5, 'Loads a text file into memory and shows it as UTF-8.', 'Write bytes or a string to a path, truncating whatever was there.', 'Patch a file in place with a unified diff.'),
  (6, 'Display a text file with line numbers.', 'Output a new version of the whole file.', 'Insert, delete or substitute lines of a text file without rewriting it.'),
  (7, 'Fetch the text of a file in the workspace. Binary files are refused.', 'Persist content to the workspace. Parent folders are made when missing.', 'Update a region of a file in the workspace.'),
  (8, 'Text file reader. Returns the text of the file, decoded.', 'File writer. Overwrites silently.', 'File editor. Works on ranges of lines.'),
  (9, 'Reads one text file. Only text, not images.', 'Puts the given content on disk.', 'Modifies the content of a file, guarded by the text that has to be there.');
CREATE TEMPORARY TABLE beside(name text, documents jsonb);
INSERT INTO beside VALUES ('alone', '[]'), ('tools', '[{"slug": "list_directory", "title": "list_directory", "body": "Lists files and folders in a directory with their sizes."}, {"slug": "search_files", "title": "search_files", "body": "Finds files by a pattern, recursively."}, {"slug": "move_file", "title": "move_file", "body": "Moves or renames a file."}, {"slug": "delete_file", "title": "delete_file", "body": "Deletes a file for good."}, {"slug": "get_file_info", "title": "get_file_info", "body": "Returns size, times and permissions of a file."}, {"slug": "read_media_file", "title": "read_media_file", "body": "Reads an image or audio file as base64."}, {"slug": "create_directory", "title": "create_directory", "body": "Makes a new folder, with those above it."}, {"slug": "copy_file", "title": "copy_file", "body": "Copies a file to another place."}]'), ('guides', '[{"slug": "list_directory", "title": "list_directory", "body": "Lists files and folders in a directory with their sizes."}, {"slug": "search_files", "title": "search_files", "body": "Finds files by a pattern, recursively."}, {"slug": "move_file", "title": "move_file", "body": "Moves or renames a file."}, {"slug": "delete_file", "title": "delete_file", "body": "Deletes a file for good."}, {"slug": "get_file_info", "title": "get_file_info", "body": "Returns size, times and permissions of a file."}, {"slug": "read_media_file", "title": "read_media_file", "body": "Reads an image or audio file as base64."}, {"slug": "create_directory", "title": "create_directory", "body": "Makes a new folder, with those above it."}, {"slug": "copy_file", "title": "copy_file", "body": "Copies a file to another place."}, {"slug": "guides/files", "title": "Files and folders", "body": "How files are kept, which encodings are understood, and how text files are opened and saved."}, {"slug": "guides/permissions", "title": "Permissions", "body": "Who may read and write which file."}, {"slug": "guides/quickstart", "title": "Quickstart", "body": "Install the server and read your first file."}, {"slug": "guides/encodings", "title": "Text and encodings", "body": "Text files are read as UTF-8 and saved as such."}, {"slug": "guides/backups", "title": "Backups", "body": "Old versions of a text file are saved before it changes."}]');
SELECT count(docsearch.create_project(name || number)), sum((
    SELECT count(*) FROM docsearch.index_docs(name || number, jsonb_build_array(
        jsonb_build_object('slug', 'read_text_file', 'title', 'read_text_file', 'body', read),
        jsonb_build_object('slug', 'write_file', 'title', 'write_file', 'body', write),
        jsonb_build_object('slug', 'edit_file', 'title', 'edit_file', 'body', edit)) || documents))) AS documents
FROM wording, beside;
SELECT query, name, count(*) AS catalogues,
       count(*) FILTER (WHERE slugs = '{write_file,edit_file,read_text_file}') AS in_order, count(*) FILTER (WHERE first = 'write_file') AS first
FROM unnest('{save a text file,store a text file,persist a text file,how do I save a text file?,I want to save a text file}'::text[]) query, wording, beside,
     LATERAL (SELECT array_agg(slug ORDER BY rank) FILTER (WHERE slug IN ('write_file', 'edit_file', 'read_text_file')) AS slugs,
                     min(slug) FILTER (WHERE rank = 1) AS first
              FROM search_docs(query, name || number, max_results => 20)) s
GROUP BY query, name ORDER BY query, name;
-- Other verbs, and equivalent verbs. Guides in which the words are nouns rank below.
SELECT docsearch.create_project('depot') > 0 AS created;
SELECT count(*) FROM docsearch.index_docs('depot', '[
  {"slug": "create_note", "title": "create_note", "body": "Adds a note with a title and a text."},
  {"slug": "delete_note", "title": "delete_note", "body": "The note is gone for good afterwards."},
  {"slug": "update_note", "title": "update_note", "body": "Gives an existing note another text."},
  {"slug": "get_note", "title": "get_note", "body": "Returns a note by its number, whole."},
  {"slug": "list_notes", "title": "list_notes", "body": "All notes, newest first, create one if there is none."},
  {"slug": "send_message", "title": "send_message", "body": "Hands a text to somebody, and is read there."},
  {"slug": "read_message", "title": "read_message", "body": "Shows a message that somebody sent; sent messages, too."},
  {"slug": "lock_account", "title": "lock_account", "body": "Nobody signs in with it until it is opened again."},
  {"slug": "unlock_account", "title": "unlock_account", "body": "Opens an account that a lock keeps closed. Removes the lock of the account."},
  {"slug": "search_users", "title": "search_users", "body": "Finds people by name."},
  {"slug": "delete_user", "title": "delete_user", "body": "Takes a user away."},
  {"slug": "create_parcel", "title": "create_parcel", "body": "Starts a parcel."},
  {"slug": "update_parcel", "title": "update_parcel", "body": "Changes a parcel."},
  {"slug": "fetch_weather", "title": "fetch_weather", "body": "Of a harbour."},
  {"slug": "guides/security", "title": "Accounts and locks", "body": "# Accounts and locks\n\nAn account is locked when a lock is set on the account. A locked account has a lock."},
  {"slug": "guides/notes", "title": "Notes", "body": "# Notes\n\nNotes are made and removed by the tools for notes. Creating a note, making a note, deleting a note."}
]');
SELECT q, pg_temp.top(q, 'depot') FROM unnest(ARRAY['delete a note', 'remove a note', 'erase the note', 'create a note', 'make a note', 'fetch a note', 'get the note', 'change a note',
    'send a message', 'read a message', 'unlock an account', 'get the weather']) WITH ORDINALITY AS e(q, place) ORDER BY place;

-- s2_15, s2_23: for queries with the object first or a vague verb, existing titles are suggested; both
-- forms find the same page.
SELECT q, (SELECT array_agg(suggestion) FROM (SELECT suggestion FROM docsearch.suggest(q, 'depot') WHERE kind = 'phrasing' LIMIT 3) s) AS suggested,
       split_part(pg_temp.top(q, 'depot'), ' ', 1) = split_part(pg_temp.top((SELECT suggestion FROM docsearch.suggest(q, 'depot') WHERE kind = 'phrasing' LIMIT 1), 'depot'), ' ', 1) AS same_page
FROM unnest(ARRAY['user search functionality', 'user search', 'work with parcels', 'deal with parcels', 'handle messages', 'process notes', 'parcel management',
    'message handling', 'manage notes']) WITH ORDINALITY AS e(q, place) ORDER BY place;
SELECT count(*) FROM docsearch.suggest('search users', 'depot') WHERE kind = 'phrasing';

SELECT count(docsearch.drop_project(name || number)) FROM wording, beside;
SELECT docsearch.drop_project('quay'), docsearch.drop_project('sphinx'), docsearch.drop_project('depot');
