// The director's console: sends what is touched. Nothing is shown as decided before the hub has it on its disk.
// @ts-check
import "./boards.js";

const SURE_MS = 4_000;
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const words = document.body.dataset;

/** Return a key that nobody else has: a command that is sent again counts once. */
function fresh() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Send `body` to `path`; return what was answered, null where it was not done. What was wrong is said.
 * @returns {Promise<any>} */
async function send(/** @type {string} */ path, /** @type {BodyInit} */ body, type = "application/json") {
  try {
    const answer = await fetch(path, { method: "POST", headers: { "content-type": type }, body });
    const told = await answer.json();
    if (answer.status === 401) location.reload();
    said.textContent = answer.ok ? (words.done ?? "") : [told.error.what, told.error.todo].filter(Boolean).join(": ");
    said.dataset.value = answer.ok ? "good" : "bad";
    return answer.ok ? told : null;
  } catch {
    said.textContent = words.failed ?? "";
    said.dataset.value = "bad";
    return null;
  }
}

/** @type {Promise<any>} */
let last = Promise.resolve(null);

/** Send a decision, after those before it; return what was answered, null where it was not done. */
function command(/** @type {object} */ fact) {
  const body = JSON.stringify({ key: fresh(), fact });
  return (last = last.then(() => send("/director/command", body)));
}

/** Return whether the button was touched a second time; the first touch asks for that. */
function sure(/** @type {HTMLElement} */ button) {
  if (!button.dataset.sure || button.dataset.asked) return true;
  const text = button.textContent;
  button.dataset.asked = "yes";
  button.textContent = words.sure ?? "";
  setTimeout(() => {
    delete button.dataset.asked;
    button.textContent = text;
  }, SURE_MS);
  return false;
}

/** Send the decision of a button, with the reason that is typed beside it, where it has one. */
async function decide(/** @type {HTMLElement} */ button) {
  const fact = JSON.parse(button.dataset.send ?? "");
  const reason = button.dataset.why ? /** @type {HTMLInputElement | null} */ (button.closest(".row")?.querySelector("[name=why]") ?? null) : null;
  if (reason?.value.trim()) fact.why = reason.value.trim();
  if ((await command(fact)) && reason) reason.value = "";
}

document.addEventListener("click", async (event) => {
  const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button"));
  if (!button || button.closest("form") || button.closest("#people")) return;
  if (button.id === "sign-out") {
    await send("/director/sign-out", "{}");
    return location.reload();
  }
  if (!sure(button)) return;
  if (button.dataset.send) await decide(button);
  if (button.dataset.shut) await send("/director/join", JSON.stringify({ do: "shut", table: button.dataset.shut }));
  if (button.dataset.undo) await send("/director/undo", JSON.stringify({ key: fresh() }));
});

/** Return what a form says, as the fact that it makes. */
function fact(/** @type {HTMLFormElement} */ form, /** @type {HTMLElement | null} */ by) {
  /** @type {Record<string, any>} */
  const found = { do: form.dataset.do };
  for (const [key, value] of new FormData(form)) if (value !== "" || key === "text") found[key] = String(value);
  if (by?.getAttribute("name")) found[by.getAttribute("name") ?? ""] = by.getAttribute("value");
  if (form.dataset.protest) found.protest = Number(form.dataset.protest);
  const chosen = /** @type {HTMLSelectElement | null} */ (form.querySelector("select[name=match]"))?.selectedOptions[0];
  for (const key of ["winner", "team"]) if (chosen?.dataset[key]) found[key] = chosen.dataset[key];
  if (form.dataset.match) found.match = form.dataset.match;
  for (const key of ["best_of", "groups", "through", "rest_s", "game"]) if (found[key] && !Number.isNaN(Number(found[key]))) found[key] = Number(found[key]);
  if ("sweep" in found) found.sweep = true;
  if (found.sticks_winner || found.sticks_other) {
    const other = JSON.parse(chosen?.dataset.teams ?? "[]").find((/** @type {string} */ team) => team !== found.winner);
    found.sticks = { [found.winner]: Number(found.sticks_winner ?? 0), [other]: Number(found.sticks_other ?? 0) };
  }
  delete found.sticks_winner;
  delete found.sticks_other;
  if (typeof found.order === "string") found.order = found.order.split("\n").map((one) => one.trim()).filter(Boolean);
  if (form.dataset.do === "plan") {
    const pairs = String(found.options ?? "").split(/[\s,]+/).filter(Boolean);
    found.options = Object.fromEntries(pairs.map((pair) => pair.split("=", 2)));
  }
  if (form.dataset.do === "enter") {
    const [name, ...players] = String(found.team).split(",").map((one) => one.trim());
    const here = players.filter(Boolean);
    return { do: "enter", teams: [{ name, players: here, leader: form.dataset.leader ? (here[0] ?? "") : "" }] };
  }
  if (form.dataset.do === "appoint") return { do: "appoint", judges: [found.judge] };
  return found;
}

/** Forms whose answer is not here yet: touched twice they count once.
 * @type {WeakSet<HTMLFormElement>} */
const waiting = new WeakSet();

/** Enter the team that is typed; the next one can be typed at once. A team that was refused stands there again. */
async function enter(/** @type {HTMLFormElement} */ form) {
  const field = () => /** @type {HTMLInputElement} */ (document.querySelector("[data-do=enter] [name=team]"));
  const typed = field().value;
  const entered = command(fact(form, null));
  field().value = "";
  if (!(await entered) && !field().value) field().value = typed;
}

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (form.dataset.do === "enter") return enter(form);
  if (waiting.has(form)) return;
  waiting.add(form);
  const file = /** @type {HTMLInputElement | null} */ (form.querySelector("[type=file]"))?.files?.[0];
  const by = /** @type {HTMLElement | null} */ (/** @type {SubmitEvent} */ (event).submitter);
  let done = true;
  if (form.dataset.join) done = await openCode(form);
  else if (form.dataset.people) await people({ do: form.dataset.people, ...Object.fromEntries(new FormData(form)) });
  else if (file && form.dataset.file) done = await send(form.dataset.file, file, "text/csv");
  else done = await command(fact(form, by));
  waiting.delete(form);
  if (done) form.reset();
  if (form.contains(document.activeElement)) /** @type {HTMLElement} */ (document.activeElement).blur();
});

const codes = /** @type {HTMLElement} */ (document.getElementById("join-codes"));

/** Have a table join: show the code, which this page alone has, until it was used or has run out. */
async function openCode(/** @type {HTMLFormElement} */ form) {
  const given = new FormData(form);
  const told = await send("/director/join", JSON.stringify({ do: "open", table: given.get("table"), anew: given.has("anew") }));
  if (!told) return null;
  forget(told.table);
  const shown = /** @type {HTMLTemplateElement} */ (document.getElementById("join-code")).content.cloneNode(true);
  const part = /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (shown).firstElementChild);
  part.dataset.table = told.table;
  setTimeout(() => part.remove(), 1000 * told.good_s); // also where nothing comes from the hub any more
  /** @type {HTMLElement} */ (part.querySelector("h3")).textContent = told.table;
  /** @type {HTMLElement} */ (part.querySelector(".code")).textContent = told.code;
  /** @type {HTMLElement} */ (part.querySelector("code")).textContent = told.command;
  /** @type {HTMLElement} */ (part.querySelector(".qr")).innerHTML = told.qr; // drawn by the hub
  codes.append(part);
  said.textContent = ""; // the code itself says so
  part.scrollIntoView({ block: "nearest" });
  return told;
}

/** Take the code of a table off the page. */
function forget(/** @type {string | undefined} */ table) {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (codes.querySelectorAll("[data-table]"))) if (part.dataset.table === table) part.remove();
}

setInterval(() => {
  const open = new Set([.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-joining]"))].map((one) => one.dataset.joining));
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (codes.querySelectorAll("[data-table]"))) {
    if (open.has(part.dataset.table)) part.dataset.seen = "yes";
    else if (part.dataset.seen) forget(part.dataset.table);
  }
}, 500);

/** Show who may sign in, after `change` where there is one. A new PIN is shown once and kept nowhere here. */
async function people(/** @type {Record<string, any> | null} */ change) {
  const outcome = /** @type {HTMLElement} */ (document.getElementById("people-told"));
  const list = /** @type {HTMLElement} */ (document.getElementById("people-list"));
  const ask = async (/** @type {RequestInit} */ how) => (await fetch("/director/people", how)).json();
  try {
    const done = change ? await ask({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(change) }) : {};
    const all = await ask({});
    const error = done.error ?? all.error;
    outcome.textContent = error ? [error.what, error.todo].filter(Boolean).join(": ") : "";
    const name = change?.name ?? all.people?.find((/** @type {any} */ one) => one.id === change?.id)?.name ?? "";
    if (done.pin) outcome.textContent = `${(words.pin ?? "").replace("{name}", name)} ${done.pin}`;
    list.replaceChildren(
      ...(all.people ?? []).map((/** @type {any} */ one) => {
        const row = document.createElement("li");
        row.append(Object.assign(document.createElement("bdi"), { textContent: one.name }), ` (${one.role}) `);
        for (const [does, label] of [["new_pin", words.newPin], ["revoke", words.signOut], ["remove", words.remove]]) {
          const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
          button.dataset.sure = "yes";
          button.addEventListener("click", () => sure(button) && people({ do: does, id: one.id }));
          row.append(button);
        }
        return row;
      }),
    );
  } catch {
    outcome.textContent = words.failed ?? "";
  }
}

document.getElementById("people")?.addEventListener("toggle", (event) => {
  if (/** @type {HTMLDetailsElement} */ (event.target).open) people(null);
});
