// Sites whose configuration can only add a script: `docsearch.js?place=SELECTOR&project=kit` adds the element as well.

function place() {
  const { place, ...attributes } = Object.fromEntries(new URL(SOURCE).searchParams);
  if (place === undefined) return;
  const element = make("doc-search");
  for (const name of PLACED) if (name in attributes) element.setAttribute(name, attributes[name]);
  const target = place === "corner" ? null : document.querySelector(place);
  if (!target) element.setAttribute("corner", "");
  (target ?? document.body).append(element);
}
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", place);
else place();
