// User management for the head judge; a new PIN is shown once and not stored.
// @ts-check
import { by, fill, make, say, words } from "./judge_page.js";
import { ask, sentence } from "./request.js";

const INERT_MS = 600; // after a change another user may be at the place of a touch

/** Initialise the section for users. */
export function people() {
  const place = by("people-inside");
  let inert = 0;
  // these stay when the list is redrawn, because someone may be typing
  const name = /** @type {HTMLInputElement} */ (make("input", { id: "people-name", type: "text", autocomplete: "off" }));
  const role = /** @type {HTMLSelectElement} */ (make("select", { id: "people-role" }));

  function devices(/** @type {number} */ n) {
    return [words.people_sessions_0, words.people_sessions_1][n] ?? fill(words.people_sessions, { n });
  }

  function button(/** @type {string} */ label, /** @type {() => void} */ does) {
    const element = make("button", { type: "button", class: "wide" }, label);
    element.addEventListener("click", () => performance.now() < inert || does());
    return element;
  }

  /** Send a change, then show all users again with its result. */
  async function change(/** @type {object} */ told, /** @type {string} */ whose) {
    inert = Infinity;
    const done = await ask("/judge/people", told);
    if (!done.error && Object(told).do === "add") name.value = "";
    await draw(done.error ? sentence(done.error) : (done.pin ? fill(words.people_pin, { name: whose }) : words.done), done.pin ?? "");
    inert = performance.now() + INERT_MS;
  }

  async function draw(said = "", pin = "") {
    const all = await ask("/judge/people");
    const problem = make("p", { role: "alert", class: "problem" }, all.error ? sentence(all.error) : said);
    if (all.error) return place.replaceChildren(problem);
    const rows = all.people.map((/** @type {any} */ one) =>
      make("li", { class: "person" },
        make("p", {}, make("bdi", {}, one.name), ` – ${words[`role_${one.role}`] ?? one.role}, ${devices(one.sessions)}`),
        make("div", { class: "row" },
          button(words.people_new_pin, () => change({ do: "new_pin", id: one.id }, one.name)),
          button(words.people_revoke, () => change({ do: "revoke", id: one.id }, one.name)),
          button(words.people_remove, () => change({ do: "remove", id: one.id }, one.name)))),
    );
    if (!role.options.length) role.append(...all.roles.map((/** @type {string} */ one) => make("option", { value: one }, words[`role_${one}`] ?? one)));
    const add = button(words.people_add, () => {
      if (name.value.trim()) change({ do: "add", name: name.value.trim(), role: role.value }, name.value.trim());
      else say(problem, words.people_name_first);
    });
    place.replaceChildren(
      problem, ...(pin ? [make("p", { class: "pin-told" }, pin)] : []),
      make("ul", { class: "stack" }, ...rows),
      make("label", { for: "people-name" }, words.people_name), name,
      make("label", { for: "people-role" }, words.people_role), role, add,
    );
  }

  by("people").addEventListener("toggle", () => {
    if (/** @type {HTMLDetailsElement} */ (by("people")).open) draw();
  });
}
