-- Words around names and objects, which were part of the code.
ALTER TABLE docsearch.query_word DROP CONSTRAINT query_word_kind_check;
ALTER TABLE docsearch.query_word ADD CONSTRAINT query_word_kind_check
    CHECK (kind IN ('change', 'closing', 'comparing', 'framing', 'happened', 'kind', 'made', 'modifier', 'new', 'news', 'opening',
                    'question', 'recency', 'release', 'scope', 'stop', 'thing', 'when'));
COMMENT ON COLUMN docsearch.query_word.kind IS
    'kind: names a sort of page, as in "View protocol"; framing: says what about a name is asked, as in "Grid parameters"; comparing: compares two names; question: opens a question; modifier: tells one kind of objects from others, as in "large files"; scope: says how many are meant; recency: asks for what is new; new: asks for it where nothing else is asked for; happened: does so beside a word for a time or a question word; when: is a time; thing: is a page of any kind; made: after "new", is something to be made; release: asks for release notes and changelogs; news: asks for release notes and the like; change: asks for what changed, beside the number of a version; stop: says nothing; opening, closing: pattern of words before and after a task, as in "how do I silence an alarm, please?"';
