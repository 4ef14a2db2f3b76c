// The recorded hits: a list, each with its plot, which can be enlarged.
// @ts-check
import { by, fill, make, set, words } from "./judge_page.js";
import { ask, sentence } from "./request.js";

/** Return a short description of a hit. */
function describe(/** @type {any} */ hit) {
  const margin = hit.margin_db === null ? "" : `, ${hit.margin_db.toFixed(0)} dB`;
  return `${fill(words.hit_line, { hide: hit.hide, pads: hit.pads.join(", ") })}${margin}${hit.sure ? "" : `, ${words.hit_unsure}`}`;
}

/** Create a button that calls `does`. */
function button(/** @type {string} */ label, /** @type {() => void} */ does, attributes = {}) {
  const element = make("button", { type: "button", class: "act wide", ...attributes }, label);
  element.addEventListener("click", does);
  return element;
}

/** Initialise the section of the recorded hits. */
export function hits() {
  const place = by("hits-inside");
  const picture = /** @type {HTMLDialogElement} */ (by("picture"));
  const img = /** @type {HTMLImageElement} */ (by("picture-img"));
  const zoom = by("picture-zoom");
  const enlarge = (/** @type {boolean} */ on) => {
    picture.classList.toggle("large", on);
    set(zoom, "aria-pressed", String(on));
  };
  zoom.addEventListener("click", () => enlarge(!picture.classList.contains("large")));
  const again = () => button(words.hits_show, list);
  async function list() {
    const answer = await ask("/judge/hits.json");
    if (answer.error) return place.replaceChildren(make("p", { role: "alert" }, sentence(answer.error)), again());
    if (!answer.hits.length) return place.replaceChildren(make("p", {}, words.hits_empty), again());
    const rows = [...answer.hits].reverse().map((/** @type {any} */ hit) => {
      const text = describe(hit);
      const show = () => {
        img.alt = fill(words.hit_picture, { text });
        img.src = `/judge/hit/${hit.n}.svg`;
        enlarge(false);
        picture.showModal();
      };
      return make("li", {}, button(text, show, { "data-hit": String(hit.n) }));
    });
    place.replaceChildren(make("ul", { class: "stack" }, ...rows), again());
  }
  by("hits").addEventListener("toggle", () => {
    if (/** @type {HTMLDetailsElement} */ (by("hits")).open) list();
  });
}
