// Results as elements. Texts of documents become text nodes, never markup.

// Further sections of a page.
const SECTIONS = 2;

function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...content);
  return element;
}

/** A text with marks at ranges of characters (code points): the first, and the one after the last. */
function marked(text, ranges = []) {
  const characters = Array.from(text);
  const parts = [];
  let done = 0;
  for (const [from, to] of ranges) {
    if (!(from >= done && to > from && to <= characters.length)) continue;
    parts.push(characters.slice(done, from).join(""), make("mark", { part: "mark" }, characters.slice(from, to).join("")));
    done = to;
  }
  return [...parts, characters.slice(done).join("")];
}

const line = (kind, text, ranges) => make("span", { class: kind, part: kind, dir: "auto" }, ...marked(text, ranges));

function option(name, kind, attributes, ...content) {
  return make(name, { role: "option", part: kind, class: `option ${kind}`, "aria-selected": "false", ...attributes }, ...content);
}

/** The options of a page: the section that was found, and others that match nearly as well. */
function group(hit, { link, showsProject }) {
  const { highlights = {}, anchor = null } = hit;
  const path = [showsProject && hit.project, hit.category, hit.version].filter(Boolean).join(" · ");
  const first = [line("title", hit.title, highlights.title)];
  if (path) first.push(make("span", { class: "path", part: "path", dir: "auto" }, path));
  if (hit.section && hit.section !== hit.title) first.push(line("section", hit.section, highlights.section));
  if (hit.snippet) first.push(line("snippet", hit.snippet, highlights.snippet));
  const others = (hit.section_matches ?? []).filter((section) => section.id && section.id !== anchor).slice(0, SECTIONS);
  const options = [
    { anchor, url: hit.url, content: first, kind: "page" },
    ...others.map(({ id, url, title, snippet, highlights: marks = {} }) => ({
      anchor: id,
      url,
      content: [line("section", title, marks.title), ...(snippet ? [line("snippet", snippet, marks.snippet)] : [])],
      kind: "further",
    })),
  ].map((found) => {
    const target = option("a", found.kind, { href: link(hit, found), tabindex: "-1" }, ...found.content);
    target.chosen = { url: target.href, project: hit.project, slug: hit.slug, anchor: found.anchor, title: hit.title };
    return target;
  });
  return make("div", { role: "group", class: "group", part: "group", "aria-label": hit.title }, ...options);
}

/** Other texts to search for, without those that the results already show. */
function completions({ completions: found, results }, text, label) {
  const key = (name) => name?.toLowerCase().trim();
  const shown = new Set([text, ...results.flatMap((hit) => [hit.title, hit.section])].map(key));
  const others = found.filter(({ suggestion }) => !shown.has(key(suggestion)) && shown.add(key(suggestion))).slice(0, SUGGESTIONS);
  if (!others.length) return [];
  const options = others.map(({ suggestion, highlights }) => {
    const element = option("div", "suggestion", { dir: "auto" }, ...marked(suggestion, highlights ?? []));
    element.completion = suggestion;
    return element;
  });
  return [make("div", { role: "group", class: "suggestions", part: "suggestions", "aria-label": label }, ...options)];
}
