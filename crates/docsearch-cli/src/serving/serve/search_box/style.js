// A constructed style sheet needs no `style-src` in the policy of the site.
const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
:host {
  display: inline-block;
  --accent: var(--docsearch-accent, light-dark(#2f4bd8, #93a6ff));
  --background: var(--docsearch-background, light-dark(#fff, #171a21));
  --text: var(--docsearch-text, light-dark(#16181d, #e7e9ee));
  --muted: var(--docsearch-muted, light-dark(#59606e, #a0a8b7));
  --border: var(--docsearch-border, light-dark(#d5d8e0, #363d4a));
  --active: var(--docsearch-active, light-dark(#eef1fe, #1c2340));
  --mark: var(--docsearch-mark, light-dark(#ffeda3, #574800));
  --mark-text: var(--docsearch-mark-text, light-dark(#3b2f00, #ffeaa0));
  --radius: var(--docsearch-radius, 0.6rem);
  --font: var(--docsearch-font, inherit);
}
:host([hidden]) { display: none; }
*, ::before, ::after { box-sizing: border-box; }
.root { font-family: var(--font); line-height: 1.5; text-align: start; }
.root.own-scheme { color-scheme: light dark; }
button, input { font: inherit; color: inherit; letter-spacing: inherit; }
button { cursor: pointer; }
svg { flex: none; width: 1.1em; height: 1.1em; fill: none; stroke: currentcolor; stroke-width: 2; stroke-linecap: round; }
kbd { font-family: inherit; font-size: 0.75em; line-height: 1.4; padding: 0.05em 0.4em; border: 1px solid var(--border); border-radius: 0.3em; color: var(--muted); white-space: nowrap; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.button { display: inline-flex; align-items: center; gap: 0.5em; min-height: 2.25rem; max-width: 100%; padding: 0.25em 0.75em; background: var(--background); color: var(--muted); border: 1px solid var(--border); border-radius: var(--radius); }
.button:hover { border-color: var(--accent); color: var(--text); }
:host([corner]) .button { position: fixed; z-index: 100; inset-block-end: 1rem; inset-inline-end: 1rem; box-shadow: 0 4px 16px rgb(0 0 0 / 20%); }
dialog { position: fixed; inset: 0; flex-direction: column; width: min(40rem, 100vw - 2rem); max-width: none; height: fit-content; max-height: min(40rem, 80dvh); margin: 10dvh auto auto; padding: 0; overflow: hidden; font-size: 1rem; background: var(--background); color: var(--text); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 16px 48px rgb(0 0 0 / 30%); }
dialog[open] { display: flex; }
dialog::backdrop { background: rgb(10 12 20 / 50%); }
.bar { display: flex; flex: none; align-items: center; gap: 0.6rem; padding: 0.5rem 0.75rem; border-block-end: 1px solid var(--border); color: var(--muted); }
.bar:focus-within { border-block-end-color: var(--accent); }
input { flex: 1; min-width: 0; min-height: 2.5rem; padding: 0; color: var(--text); background: none; border: 0; }
input:focus-visible { outline: none; }
input::placeholder { color: var(--muted); opacity: 1; }
.close { flex: none; min-width: 2rem; min-height: 2rem; padding: 0; background: none; border: 0; }
.status, .mean { flex: none; margin: 0; padding: 0.5rem 1rem; font-size: 0.875rem; color: var(--muted); }
.mean { padding-block-start: 0; }
.mean button { padding: 0.15em 0.5em; background: none; border: 0; color: var(--accent); text-decoration: underline; }
.list { flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; padding: 0 0.5rem 0.5rem; }
.list:empty { display: none; }
.group + .group { margin-block-start: 0.25rem; }
.suggestions { display: flex; flex-wrap: wrap; gap: 0.25rem; padding: 0 0.25rem 0.25rem; }
.option { display: block; padding: 0.5rem; border-inline-start: 3px solid transparent; border-radius: calc(var(--radius) / 2); color: inherit; text-decoration: none; overflow-wrap: anywhere; scroll-margin-block: 0.5rem; cursor: pointer; }
.option[aria-selected="true"] { background: var(--active); border-inline-start-color: var(--accent); }
.suggestions .option { padding: 0.15rem 0.6rem; font-size: 0.875rem; border: 1px solid var(--border); }
.suggestions .option[aria-selected="true"] { border-color: var(--accent); }
.further { margin-inline-start: 1.25rem; }
.title { font-weight: 600; }
.path { margin-inline: 0.6em; font-size: 0.8125rem; color: var(--muted); }
.section, .snippet { display: block; font-size: 0.875rem; }
.snippet { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; line-clamp: 2; overflow: hidden; color: var(--muted); }
mark { background: var(--mark); color: var(--mark-text); border-radius: 0.15em; }
.keys { display: flex; flex: none; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0.4rem 1rem; border-block-start: 1px solid var(--border); font-size: 0.8125rem; color: var(--muted); }
@media (max-width: 40rem) {
  dialog { width: 100vw; height: 100dvh; max-height: none; margin: 0; border: 0; border-radius: 0; }
}
@media (max-width: 40rem), (hover: none) {
  .keys, .button kbd { display: none; }
}
@media (prefers-reduced-motion: no-preference) {
  .button { transition: color 0.1s, border-color 0.1s; }
  .busy svg { animation: pulse 1s 0.3s infinite alternate; }
  @keyframes pulse { to { opacity: 0.3; } }
}
@media (forced-colors: active) {
  .option[aria-selected="true"] { outline: 2px solid Highlight; outline-offset: -2px; }
}
`);
