// The page works without this script. With it, results come while one types, and keys move among them.

const TOKEN = "docsearch-token";
const SESSION = "docsearch-session";
// Milliseconds without a key before a search and before the choices are counted again, and a rest on a result before its preview.
const PAUSE = 80;
const COUNT = 250;
const REST = 120;
const WIDE = matchMedia("(min-width: 64rem)");

let query, form, content, narrow, status, preview;
let running, typing, counting, resting;
let active = -1;
let previewed = "";
const previews = new Map();

/** A name for the searches of this tab, for the log of queries. */
function session() {
  let name = sessionStorage.getItem(SESSION);
  if (!name) {
    name = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    sessionStorage.setItem(SESSION, name);
  }
  return name;
}

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return { "Docsearch-Session": session(), ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

const wait = (time) => new Promise((done) => setTimeout(done, time));

async function get(address, signal) {
  for (let tries = 0; ; tries++) {
    const response = await fetch(address, { headers: headers(), signal });
    if (response.status !== 429 || tries === 3) return response;
    await wait(400 * (tries + 1));
  }
}

function parsed(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  return page.querySelector(".content") ?? page.body;
}

/** The address of the search in the box. */
function address() {
  const parameters = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (String(value).trim()) parameters.append(name, value);
  return String(parameters) ? `/?${parameters}` : "/";
}

async function search(push) {
  clearTimeout(typing);
  const wanted = address();
  const isNew = wanted !== location.pathname + location.search;
  if (!isNew && content.dataset.shown === wanted) return;
  running?.abort();
  const mine = (running = new AbortController());
  content.setAttribute("aria-busy", "true");
  try {
    const fragment = new URL(wanted, location.href);
    fragment.searchParams.set("fragment", "true");
    const response = await get(fragment, mine.signal);
    const text = await response.text();
    if (mine !== running) return;
    const leaves = location.pathname !== "/";
    if (isNew) history[push || leaves ? "pushState" : "replaceState"](null, "", wanted);
    const isHome = !query.value.trim();
    document.body.dataset.kind = isHome ? "home" : "answer";
    document.title = isHome ? "docsearch" : `${query.value.trim()} – docsearch`;
    show(parsed(text), wanted);
    clearTimeout(counting);
    counting = setTimeout(() => count(wanted), isHome ? 0 : COUNT);
  } catch (failure) {
    if (failure.name !== "AbortError") status.textContent = "The server does not respond.";
  } finally {
    if (mine === running) content.removeAttribute("aria-busy");
  }
}

/** Shows the choices that narrow the search, with their numbers. */
async function count(wanted) {
  const fragment = new URL(wanted, location.href);
  fragment.searchParams.set("fragment", "facets");
  try {
    const response = await get(fragment);
    const part = parsed(await response.text());
    // A choice that is open stays: its reader is on it.
    if (response.ok && content.dataset.shown === wanted && !narrow.querySelector("details[open]")) narrow.replaceChildren(...part.childNodes);
  } catch {
    // The results are there without them.
  }
}

function show(part, wanted) {
  content.replaceChildren(...part.childNodes);
  content.dataset.shown = wanted;
  status.textContent = content.querySelector("[data-summary]")?.dataset.summary ?? "";
  enhance();
}

const hits = () => [...content.querySelectorAll(".hit")];

/** Makes the results a list that the box controls. */
function enhance() {
  active = -1;
  const list = content.querySelector(".hits");
  query.setAttribute("aria-expanded", String(Boolean(list)));
  query.removeAttribute("aria-activedescendant");
  if (!list) {
    query.removeAttribute("aria-controls");
    return closePreview();
  }
  list.id = "ds-hits";
  list.setAttribute("role", "listbox");
  query.setAttribute("aria-controls", list.id);
  hits().forEach((hit, index) => {
    hit.parentElement.setAttribute("role", "presentation");
    hit.setAttribute("role", "option");
    hit.setAttribute("aria-selected", "false");
    hit.id = `ds-hit-${index}`;
    hit.tabIndex = -1;
  });
  rest(0);
}

function activate(index) {
  const all = hits();
  if (!all.length) return;
  all[active]?.setAttribute("aria-selected", "false");
  active = index < -1 ? all.length - 1 : index >= all.length ? -1 : index;
  if (active < 0) return query.removeAttribute("aria-activedescendant");
  const hit = all[active];
  hit.setAttribute("aria-selected", "true");
  query.setAttribute("aria-activedescendant", hit.id);
  hit.scrollIntoView({ block: "nearest" });
  rest(active);
}

/** Shows the section of a result, if the choice rests on it for a moment. */
function rest(index) {
  clearTimeout(resting);
  const hit = hits()[index];
  if (!hit || !WIDE.matches) return hit ? undefined : closePreview();
  resting = setTimeout(() => open(hit), REST);
}

async function open(hit) {
  const wanted = hit.dataset.preview;
  if (wanted === previewed && preview) return mark(hit);
  previewed = wanted;
  let part = previews.get(wanted);
  if (!part) {
    try {
      const response = await get(wanted);
      if (!response.ok) return;
      part = parsed(await response.text());
      if (previews.size > 50) previews.clear();
      previews.set(wanted, part);
    } catch {
      return;
    }
  }
  if (previewed !== wanted || !hit.isConnected) return;
  if (!preview) {
    preview = document.createElement("aside");
    preview.className = "preview";
    preview.setAttribute("aria-label", "Preview");
    preview.tabIndex = 0;
    content.after(preview);
    document.body.classList.add("previews");
  }
  preview.replaceChildren(...[...part.childNodes].map((node) => node.cloneNode(true)));
  preview.scrollTop = 0;
  mark(hit);
}

function mark(hit) {
  for (const other of hits()) other.classList.toggle("previewed", other === hit);
}

function closePreview() {
  clearTimeout(resting);
  preview?.remove();
  preview = undefined;
  previewed = "";
  document.body.classList.remove("previews");
}

/** Tells the log of queries which result was opened. */
function opened(hit) {
  const token = hit.closest("[data-token]")?.dataset.token;
  if (!token) return;
  const body = JSON.stringify({ token, kind: "click", reference: hit.dataset.reference });
  fetch("/v1/feedback", { method: "POST", keepalive: true, headers: headers(), body }).catch(() => {});
}

/** Opens another page within this one. A browser cannot send a token when it follows a link. */
async function visit(wanted, push) {
  running?.abort();
  const mine = (running = new AbortController());
  try {
    const response = await get(wanted, mine.signal);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (mine !== running) return response.status;
    if (push) history.pushState(null, "", wanted);
    document.title = page.title;
    document.body.replaceWith(document.adoptNode(page.body));
    preview = undefined;
    previewed = "";
    start();
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
    return response.status;
  } catch (failure) {
    if (failure.name !== "AbortError") status.textContent = "The server does not respond.";
  }
}

function onKey(event) {
  if (event.isComposing) return;
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    query.focus();
    query.select();
  }
  const open = event.target.closest?.("details.facet[open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
  }
  if (event.target !== query) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (!hits().length) return;
    event.preventDefault();
    activate(active + (event.key === "ArrowDown" ? 1 : -1));
  } else if (event.key === "Enter") {
    event.preventDefault();
    const hit = hits()[active];
    if (!hit) return search(true);
    hit.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey }));
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (active >= 0) return activate(-1);
    if (!query.value) return query.blur();
    query.value = "";
    search(true);
  }
}

function onClick(event) {
  for (const other of document.querySelectorAll("details.facet[open]")) if (!other.contains(event.target)) other.open = false;
  const link = event.target.closest?.("a[href]");
  if (!link) return;
  if (link.matches(".hit")) opened(link);
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const isHere = link.origin === location.origin && !(link.hash && link.pathname + link.search === location.pathname + location.search);
  if (isPlain && isHere && !event.defaultPrevented && sessionStorage.getItem(TOKEN)) {
    event.preventDefault();
    visit(link.href, true);
  }
}

/** A section of a long document may be in another part of it. */
function findSection() {
  if (!location.hash) return;
  const isHere = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const other = [...document.querySelectorAll(".outline a")].find((link) => link.hash === location.hash && link.search !== location.search);
  if (!isHere && other) location.replace(other.href);
}

/** Shows in the outline which section is read. */
function follow() {
  const links = new Map([...document.querySelectorAll(".outline a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const headings = [...document.querySelectorAll(".text :is(h1, h2, h3, h4, h5, h6)[id]")].filter((heading) => links.has(heading.id));
  if (!headings.length) return;
  const update = () => {
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 4);
    const target = headings.find((heading) => heading.matches(":target") && Math.abs(heading.getBoundingClientRect().top) < innerHeight);
    const current = links.get((target ?? above.at(-1) ?? headings[0]).id);
    for (const link of links.values()) {
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const observer = new IntersectionObserver(update, { rootMargin: "0px 0px -75% 0px" });
  headings.forEach((heading) => observer.observe(heading));
}

/** Keeps the token for the tab, and opens what was asked for. */
function signIn(asked) {
  const error = document.getElementById("ds-token-error");
  const enter = async () => {
    if ((await visit(location.href)) !== 401) return;
    sessionStorage.removeItem(TOKEN);
    const said = document.getElementById("ds-token-error");
    if (said) said.textContent = "This token is not known.";
  };
  asked.addEventListener("submit", (event) => {
    event.preventDefault();
    error.textContent = "";
    sessionStorage.setItem(TOKEN, document.getElementById("ds-token-value").value.trim());
    enter();
  });
  if (sessionStorage.getItem(TOKEN)) enter();
}

function start() {
  query = document.getElementById("ds-query");
  form = document.getElementById("ds-search");
  content = document.querySelector(".content");
  narrow = document.getElementById("ds-narrow");
  status = document.getElementById("ds-status");
  document.documentElement.classList.add("scripted");
  query.setAttribute("role", "combobox");
  query.setAttribute("aria-autocomplete", "list");
  query.setAttribute("aria-haspopup", "listbox");
  query.setAttribute("aria-expanded", "false");
  query.addEventListener("input", (event) => {
    clearTimeout(typing);
    if (!event.isComposing) typing = setTimeout(search, PAUSE);
  });
  query.addEventListener("compositionend", () => search());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search(true);
  });
  form.addEventListener("change", (event) => {
    if (event.target !== query) search(true);
  });
  content.addEventListener("mouseover", (event) => {
    const hit = event.target.closest?.(".hit");
    if (hit) rest(hits().indexOf(hit));
  });
  content.dataset.shown = location.pathname + location.search;
  if (content.querySelector(".hits")) enhance();
  const outline = document.querySelector(".outline details");
  if (outline && !WIDE.matches) outline.open = false;
  findSection();
  follow();
  const asked = document.getElementById("ds-token");
  if (asked) signIn(asked);
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", onClick);
addEventListener("hashchange", findSection);
addEventListener("popstate", () => {
  if (location.pathname + location.search !== content.dataset.shown) visit(location.href);
});
WIDE.addEventListener("change", () => (WIDE.matches ? rest(Math.max(active, 0)) : closePreview()));
start();
