// Updates regions of a page in place from the server's HTML: focus, input, folded parts, scroll and motions survive.
// @ts-check

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** A form, or a row with a field beside its buttons. */
const FORM = "form, [data-row]";
const FIELD = "input, select, textarea";
const FAR_S = 86_400; // a later end is of another clock: a simulated game's
const BACK_S = 5; // a clock that is further back was set anew
const TICK_MS = 250;

/** The newest HTML of each region: one that cannot be redrawn now waits for it.
 * @type {Map<HTMLElement, string>} */
const newest = new Map();
/** The HTML from which each region was drawn last.
 * @type {WeakMap<HTMLElement, string>} */
const drawn = new WeakMap();
/** What stays as it is while a region is redrawn, by its key: forms with input, and the page's own parts (`data-own`).
 * @type {Map<string, HTMLElement>} */
const held = new Map();
let pressed = false; // while a button is pressed, buttons do not move
let ahead = -Infinity; // how many seconds the server's clock is ahead of this page's

/** Return the elements in `place` that match `selector`. */
export const all = (/** @type {ParentNode} */ place, /** @type {string} */ selector) => /** @type {HTMLElement[]} */ ([...place.querySelectorAll(selector)]);
const fields = (/** @type {ParentNode} */ place) => /** @type {Field[]} */ (/** @type {unknown} */ (all(place, FIELD)));

/** Return whether a field takes text, whose change can be detected from its value. */
const isTextField = (/** @type {Field} */ one) => !(one instanceof HTMLSelectElement) && !["checkbox", "radio", "file"].includes(one.type);
const isTyped = (/** @type {Field} */ one) => isTextField(one) && one.value !== /** @type {HTMLInputElement} */ (one).defaultValue;

/** Return whether `form` has input that was not sent yet. */
export const isTouched = (/** @type {HTMLElement} */ form) => Boolean(form.dataset.touched) || fields(form).some(isTyped);

/** Return what identifies a node among its siblings: its kind, and its id, `data-keep` or `data-key`; or of a form its
 * decision and fields, of a button what it does, of a folded part its summary without numbers. */
function keyOf(/** @type {Node} */ node) {
  if (!(node instanceof HTMLElement)) return node.nodeName;
  const { touched, keep, key: named, do: does, ...rest } = node.dataset;
  let key = node.id || keep || named || (node instanceof HTMLButtonElement && does);
  if (key) return `${node.nodeName} ${key}`;
  key = node.getAttribute("name") ?? "";
  if (node.matches(FORM)) key = JSON.stringify([rest, does, fields(node).map((field) => field.name)]);
  else if (node instanceof HTMLButtonElement) key = JSON.stringify([rest, key, node.value, node.textContent]);
  else if (node instanceof HTMLDetailsElement) key = node.querySelector("summary")?.textContent?.replace(/\d+/g, "") ?? "";
  return `${node.nodeName} ${key}`;
}

/** Give `old` the attributes of `fresh`; a part that somebody has unfolded stays open, and styles are always the page's. */
function patchAttributes(/** @type {Element} */ old, /** @type {Element} */ fresh) {
  for (const name of old.getAttributeNames()) if (!fresh.hasAttribute(name) && name !== "open" && name !== "style") old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
}

/** Give a field the value that it came with, unless somebody is in it. */
function patchValue(/** @type {Element} */ old, /** @type {Element} */ fresh) {
  if (old === document.activeElement) return;
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) {
    if (isTextField(old)) old.value = fresh.value;
    else old.checked = fresh.checked;
  } else if (old instanceof HTMLTextAreaElement && fresh instanceof HTMLTextAreaElement) old.value = fresh.value;
}

/** Make `old` what `fresh` is, with as many nodes of its own as possible. */
function morph(/** @type {Element} */ old, /** @type {Element | DocumentFragment} */ fresh) {
  if (fresh instanceof Element) {
    patchAttributes(old, fresh);
    patchValue(old, fresh);
  }
  /** @type {Map<string, Node[]>} */
  const free = new Map();
  for (const child of old.childNodes) free.set(keyOf(child), [...(free.get(keyOf(child)) ?? []), child]);
  const children = [...fresh.childNodes].map((child) => {
    const key = keyOf(child);
    const kept = held.get(key);
    const same = kept ?? free.get(key)?.[0];
    free.set(key, (free.get(key) ?? []).filter((one) => one !== same));
    return { child, kept, same };
  });
  for (const rest of free.values()) for (const child of rest) old.removeChild(child);
  const index = fresh instanceof HTMLSelectElement ? fresh.selectedIndex : -1;
  let next = old.firstChild;
  for (const { child, kept, same } of children) {
    if (same === undefined || same !== next) old.insertBefore(same ?? child, next);
    else next = next.nextSibling;
    if (same instanceof Element && !kept) morph(same, /** @type {Element} */ (child));
    else if (same instanceof CharacterData && same.data !== /** @type {CharacterData} */ (child).data) same.data = /** @type {CharacterData} */ (child).data;
  }
  if (old instanceof HTMLSelectElement && old.selectedIndex !== index) old.selectedIndex = index;
}

/** Return `html` as nodes; the server has escaped every text in it. */
function parse(/** @type {string} */ html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  return fresh.content;
}

/** Show `html` in a region at once; the forms `touched` stay as they are. */
export function patch(/** @type {HTMLElement} */ region, /** @type {string} */ html, /** @type {HTMLElement[]} */ touched = []) {
  const focused = region.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
  for (const one of [...touched, ...all(region, "[data-own]")]) held.set(keyOf(one), one);
  morph(region, parse(html));
  for (const [key, one] of held) if (!one.isConnected) all(region, one.tagName).find((other) => keyOf(other) === key)?.replaceWith(one);
  held.clear();
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true }); // it was moved
}

/** Show `html` in a region; return whether it was redrawn. It waits while a form with input has the focus or is not in
 * `html`, while a list is open, and while a button is pressed. */
function put(/** @type {HTMLElement} */ region, /** @type {string} */ html) {
  if (drawn.get(region) === html || (pressed && region.querySelector("button:active"))) return false;
  const focused = document.activeElement;
  const touched = all(region, FORM).filter(isTouched);
  if ((focused instanceof HTMLSelectElement && region.contains(focused)) || touched.some((form) => form.contains(focused))) return false;
  const places = new Set(all(parse(html), FORM).map(keyOf));
  if (touched.some((form) => !places.has(keyOf(form)))) return false;
  patch(region, html, touched);
  drawn.set(region, html);
  return true;
}

/** Draw every region that waits; send the document the event `drawn` if one was redrawn. */
function redraw() {
  const redrawn = [...newest].filter(([region, html]) => put(region, html));
  tick();
  if (redrawn.length) document.dispatchEvent(new Event("drawn"));
}

/** Draw the regions of the page, given by name as HTML. */
export function draw(/** @type {Record<string, string>} */ regions) {
  for (const region of all(document, "[data-region]")) {
    const html = regions[region.dataset.region ?? ""];
    if (html !== undefined) newest.set(region, html);
  }
  redraw();
}

/** Drop the input of a form and redraw it with its region. */
export function release(/** @type {HTMLElement} */ form) {
  if (form instanceof HTMLFormElement) form.reset();
  delete form.dataset.touched;
  redraw();
}

/** Drop the input of a form that newer HTML no longer has. */
export function releaseIfGone(/** @type {HTMLElement} */ form) {
  const html = newest.get(/** @type {HTMLElement} */ (form.closest("[data-region]")));
  if (html !== undefined && !all(parse(html), FORM).some((one) => keyOf(one) === keyOf(form))) release(form);
}

addEventListener("input", ({ target }) => {
  const form = /** @type {HTMLElement | null} */ (/** @type {Field} */ (target).closest(FORM));
  if (form && !isTextField(/** @type {Field} */ (target))) form.dataset.touched = "yes";
});
addEventListener("reset", ({ target }) => {
  delete (/** @type {HTMLElement} */ (target).dataset.touched);
});
addEventListener("pointerdown", () => (pressed = true));
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => (pressed = false)));

/** Synchronise with the server's clock, s. The message with the shortest delay is the most accurate. */
export function setClock(/** @type {string} */ time) {
  const found = Number(time) - performance.now() / 1000;
  if (found > ahead || found < ahead - BACK_S) ahead = found;
  tick();
}

/** Show the time left until `data-ends`, if that is near; a clock stopped at `data-stood` keeps its value. */
export function tick() {
  if (ahead === -Infinity) return;
  for (const clock of all(document, "[data-ends]")) {
    const { ends, stood } = clock.dataset;
    const left = ends ? Number(ends) - (stood ? Number(stood) : performance.now() / 1000 + ahead) : Infinity;
    const seconds = Math.max(0, Math.ceil(left));
    const text = Math.abs(left) < FAR_S ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "";
    if (clock.textContent !== text) clock.textContent = text;
    clock.dataset.over = seconds ? "" : "yes";
  }
}
setInterval(redraw, TICK_MS);
