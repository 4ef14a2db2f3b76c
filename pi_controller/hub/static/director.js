// The director's console: sends decisions. The page shows a decision only after the hub has stored it.
// @ts-check
import "./boards.js";
import { release, releaseIfGone } from "./regions.js";
import { ask, freshKey, sentence } from "./request.js";

const SURE_MS = 4_000;
const READ_MS = 20_000; // how long a question with names waits for its second touch
const DONE_MS = 4_000;
const line = /** @type {HTMLElement} */ (document.getElementById("said"));
const done = /** @type {HTMLElement} */ (document.getElementById("done"));
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const words = document.body.dataset;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let doneTimer;

/** Say that all is well, for a moment, beside the title: there it covers nothing. */
function tellDone() {
  clearTimeout(doneTimer);
  line.textContent = "";
  done.textContent = words.done ?? "";
  doneTimer = setTimeout(() => (done.textContent = ""), DONE_MS);
}

/** Show a refusal in the line below the page until the next answer. */
function tellRefusal(/** @type {string} */ text) {
  clearTimeout(doneTimer);
  done.textContent = "";
  line.textContent = text;
}

/** Send `content` to `path`; return the answer, or null if it was refused or did not come. Show which of these it was.
 * @returns {Promise<any>} */
async function send(/** @type {string} */ path, /** @type {unknown} */ content, type = "application/json") {
  const answer = await ask(path, content, type);
  if (answer.error?.code === "signed_out") location.reload();
  if (answer.error) tellRefusal(sentence(answer.error));
  else tellDone();
  return answer.error ? null : answer;
}

/** @type {Promise<any>} */
let last = Promise.resolve(null);

/** Send a decision after the earlier ones; return the answer, null if it failed. */
function command(/** @type {object} */ fact) {
  const sent = { key: freshKey(), fact };
  return (last = last.then(() => send("/director/command", sent)));
}

/** @typedef {{ text: string, key: string, line: HTMLElement, top: number, timer: ReturnType<typeof setTimeout> }} Question */
/** Questions that wait for a second touch, by their buttons.
 * @type {Map<HTMLElement, Question>} */
const questions = new Map();
let doubled = false; // the second half of a double click confirms nothing
addEventListener("click", (event) => (doubled = event.detail > 1), true);

/** Return what makes a button the same in newer HTML: its decision and its text. */
const buttonKey = (/** @type {HTMLElement} */ button) => JSON.stringify([button.dataset, button.textContent]);
const topOf = (/** @type {HTMLElement} */ button) => button.getBoundingClientRect().top;

/** Mark `button` as the one to touch again, with its question below it. */
function mark(/** @type {HTMLElement} */ button, /** @type {HTMLElement} */ question) {
  button.style.minWidth = `${button.offsetWidth}px`;
  button.dataset.second = "yes";
  button.textContent = words.sure ?? "";
  if (question.textContent) (button.closest(".buttons") ?? button).after(question);
}

/** Withdraw the question of a button. */
function withdraw(/** @type {HTMLElement} */ button) {
  const question = questions.get(button);
  if (!question) return;
  clearTimeout(question.timer);
  question.line.remove();
  questions.delete(button);
  delete button.dataset.second;
  button.style.minWidth = "";
  button.textContent = question.text;
}

/** Return whether `button` was touched a second time. The first touch asks for that, and shows `sentence`. */
function isSure(/** @type {HTMLElement} */ button, sentence = button.dataset.ask ?? "") {
  if (!sentence && !button.dataset.sure) return true;
  if (questions.has(button)) {
    if (doubled) return false;
    withdraw(button);
    return true;
  }
  line.textContent = done.textContent = ""; // an earlier answer is none to this question
  const [text, key] = [button.textContent ?? "", buttonKey(button)];
  const question = Object.assign(document.createElement("p"), { className: "ask", textContent: sentence, role: "alert" });
  question.dataset.key = "question"; // it is no part of newer HTML
  mark(button, question);
  question.scrollIntoView({ block: "nearest" }); // below the last line of a phone it would be confirmed unread
  const timer = setTimeout(() => [...questions].forEach(([one, held]) => held.line === question && withdraw(one)), sentence ? READ_MS : SURE_MS);
  questions.set(button, { text, key, line: question, top: topOf(button), timer });
  return false;
}

/** Put the questions whose parts were redrawn to the same buttons, at the same place of the screen. */
function keepQuestions() {
  for (const [gone, question] of questions) {
    if (gone.isConnected) continue;
    questions.delete(gone);
    const button = /** @type {HTMLElement[]} */ ([...main.querySelectorAll("button")]).find((one) => buttonKey(one) === question.key);
    if (!button) {
      clearTimeout(question.timer); // what it asked about is no longer offered
      continue;
    }
    mark(button, question.line);
    main.scrollTop += topOf(button) - question.top;
    questions.set(button, { ...question, top: topOf(button) });
    if (document.activeElement === document.body) button.focus({ preventScroll: true });
  }
}

new MutationObserver(keepQuestions).observe(main, { childList: true, subtree: true });
main.addEventListener("scroll", () => questions.forEach((question, button) => (question.top = topOf(button))));

addEventListener("input", (event) => {
  const form = /** @type {Element} */ (event.target).closest("form, [data-row]");
  for (const button of questions.keys()) if (form?.contains(button)) withdraw(button); // the question no longer fits the changed form
});
addEventListener("reset", (event) => {
  for (const button of questions.keys()) if (/** @type {Element} */ (event.target).contains(button)) withdraw(button);
});

/** Send the decision of a button, with the reason typed beside it, if there is one. */
async function decide(/** @type {HTMLElement} */ button) {
  const fact = JSON.parse(button.dataset.send ?? "");
  const row = /** @type {HTMLElement | null} */ (button.closest("[data-row]"));
  const reason = button.dataset.why ? /** @type {HTMLInputElement | null} */ (row?.querySelector("[name=why]") ?? null) : null;
  if (reason?.value.trim()) fact.why = reason.value.trim();
  if (!(await command(fact))) return row && releaseIfGone(row);
  if (reason) reason.value = "";
}

/** Return the text of a field's label. */
const labelOf = (/** @type {Element} */ field) => [...(field.closest("label")?.childNodes ?? [])].map((one) => (one.nodeType === Node.TEXT_NODE ? one.textContent?.trim() : "")).filter(Boolean).join(" ");

/** Return a form's decision as a sentence with names: `data-ask` filled in, then the other filled fields. */
function sentenceOf(/** @type {HTMLFormElement} */ form) {
  const template = form.dataset.ask ?? "";
  if (!template) return "";
  const chosen = /** @type {HTMLSelectElement | null} */ (form.querySelector("select[name=match]"))?.selectedOptions[0];
  const { winner = "", team } = chosen?.dataset ?? {};
  /** @type {Record<string, string>} */
  const values = { match: chosen?.dataset.name ?? form.dataset.name ?? "", winner, other: JSON.parse(chosen?.dataset.teams ?? "[]").find((/** @type {string} */ team) => team !== winner) ?? "", ...(team ? { team } : {}) };
  const more = [];
  for (const field of /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (form.querySelectorAll("input, select"))) {
    if (field.name in values || (form.dataset.changed && isUnchanged(field))) continue;
    const isBox = field instanceof HTMLInputElement && field.type === "checkbox";
    const value = field instanceof HTMLSelectElement ? (field.selectedOptions[0]?.textContent ?? "") : isBox ? "" : field.value;
    values[field.name] = value;
    if (template.includes(`{${field.name}}`) || !(isBox ? field.checked : field.value)) continue;
    more.push(`${[labelOf(field), value].filter(Boolean).join(": ")}.`);
  }
  return [template.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole), ...more].join(" ");
}

document.addEventListener("click", async (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (/** @type {Element} */ (event.target).closest("button"));
  if (!button || button.closest("form") || button.closest("#people")) return;
  if (button.id === "sign-out") {
    await send("/director/sign-out", {});
    return location.reload();
  }
  if (button.type === "reset" || !isSure(button)) return;
  if (button.dataset.send) await decide(button);
  if (button.dataset.join) await send("/director/join", { do: button.dataset.join, table: button.dataset.table });
  if (button.dataset.undo) await send("/director/undo", { key: freshKey() });
});

/** Return whether a field has the value with which the page came. */
function isUnchanged(/** @type {Element | null} */ field) {
  if (field instanceof HTMLSelectElement) return field.selectedOptions[0]?.defaultSelected || (field.selectedIndex === 0 && !field.querySelector("[selected]"));
  return field instanceof HTMLInputElement && field.value === field.defaultValue;
}

/** Return the fact that a form makes. */
function fact(/** @type {HTMLFormElement} */ form, /** @type {HTMLElement | null} */ by) {
  /** @type {Record<string, any>} */
  const found = { do: form.dataset.do };
  for (const [key, value] of new FormData(form)) if (value !== "" || key === "text" || key === "said") found[key] = String(value);
  for (const one of form.querySelectorAll("[data-for]")) // a choice that the chosen format has not is not sent
    if (getComputedStyle(one).display === "none") delete found[one.querySelector("[name]")?.getAttribute("name") ?? ""];
  if (form.dataset.changed)
    for (const key of Object.keys(found)) if (isUnchanged(form.querySelector(`[name=${key}]`))) delete found[key];
  if (by?.getAttribute("name")) found[by.getAttribute("name") ?? ""] = by.getAttribute("value");
  if (form.dataset.protest) found.protest = Number(form.dataset.protest);
  const chosen = /** @type {HTMLSelectElement | null} */ (form.querySelector("select[name=match]"))?.selectedOptions[0];
  for (const key of ["winner", "team"]) if (chosen?.dataset[key]) found[key] = chosen.dataset[key];
  if (form.dataset.match) found.match = form.dataset.match;
  for (const key of ["best_of", "groups", "through", "rest_s", "grace_s", "game"]) if (found[key] && !Number.isNaN(Number(found[key]))) found[key] = Number(found[key]);
  for (const one of /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("[data-minutes]"))) if (one.name in found) found[one.name] *= 60;
  for (const key of ["sweep", "third_place", "unused"]) if (key in found) found[key] = true;
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
  if (form.dataset.do === "enter" || form.dataset.do === "add") {
    const [name, ...players] = String(found.team).split(",").map((one) => one.trim());
    const here = players.filter(Boolean);
    const team = { name, players: here, leader: form.dataset.leader ? (here[0] ?? "") : "" };
    return form.dataset.do === "add" ? { do: "add", team } : { do: "enter", teams: [team] };
  }
  if (form.dataset.do === "appoint") return { do: "appoint", judges: [found.judge] };
  return found;
}

/** Forms waiting for an answer: a second touch is ignored.
 * @type {WeakSet<HTMLFormElement>} */
const waiting = new WeakSet();

/** Enter the typed team and clear the field for the next one. A refused team is put back. */
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
  const by = /** @type {HTMLElement | null} */ (/** @type {SubmitEvent} */ (event).submitter ?? form.querySelector("button"));
  if (by && !isSure(by, sentenceOf(form))) return;
  waiting.add(form);
  const file = /** @type {HTMLInputElement | null} */ (form.querySelector("[type=file]"))?.files?.[0];
  let done = true;
  if (form.dataset.join) done = await openCode(form);
  else if (form.dataset.people) done = await people({ do: form.dataset.people, ...Object.fromEntries(new FormData(form)) });
  else if (file && form.dataset.file) done = await enterList(form, by, file);
  else done = await command(fact(form, by));
  waiting.delete(form);
  if (form.contains(document.activeElement)) /** @type {HTMLElement} */ (document.activeElement).blur();
  if (done) release(form);
  else releaseIfGone(form);
});

/** Show the teams of a list; when they are shown, enter them. The list counts only after that. */
async function enterList(/** @type {HTMLFormElement} */ form, /** @type {HTMLElement | null} */ button, /** @type {File} */ file) {
  const list = /** @type {HTMLElement} */ (form.querySelector(".preview"));
  if (!list.hidden) return send(form.dataset.file ?? "", file, "text/csv");
  const found = await send(`${form.dataset.file}?preview=1`, file, "text/csv");
  if (!found || !button) return null;
  line.textContent = "";
  list.replaceChildren(...found.teams.map((/** @type {{name: string, players?: string[]}} */ team) => {
    const row = document.createElement("li");
    for (const name of [team.name, ...(team.players ?? [])]) row.append(Object.assign(document.createElement("bdi"), { textContent: name }));
    return row;
  }));
  list.hidden = false;
  button.dataset.show = button.textContent ?? "";
  button.textContent = (button.dataset.enter ?? "").replace("{n}", found.teams.length);
  return null;
}

addEventListener("change", (event) => {
  const form = /** @type {HTMLInputElement} */ (event.target).closest("[data-file]");
  const list = /** @type {HTMLElement | null | undefined} */ (form?.querySelector(".preview"));
  const button = form?.querySelector("button");
  if (!list || list.hidden || !button) return;
  list.hidden = true; // another file: its teams were not shown yet
  button.textContent = button.dataset.show ?? "";
});

const codes = /** @type {HTMLElement} */ (document.getElementById("join-codes"));

/** Open a join code and show it, only on this page, until it was used or has expired. */
async function openCode(/** @type {HTMLFormElement} */ form) {
  const given = new FormData(form);
  const code = await send("/director/join", { do: "open", table: given.get("table"), anew: given.has("anew") });
  if (!code) return null;
  forget(code.table);
  const copy = /** @type {HTMLTemplateElement} */ (document.getElementById("join-code")).content.cloneNode(true);
  const part = /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (copy).firstElementChild);
  part.dataset.table = code.table;
  part.dataset.since = code.seq;
  setTimeout(() => part.remove(), 1000 * code.good_s); // also without a connection to the hub
  /** @type {HTMLElement} */ (part.querySelector("h3")).textContent = code.table;
  /** @type {HTMLElement} */ (part.querySelector(".code")).textContent = code.code;
  /** @type {HTMLElement} */ (part.querySelector("code")).textContent = code.command;
  /** @type {HTMLElement} */ (part.querySelector(".qr")).innerHTML = code.qr; // drawn by the hub
  codes.append(part);
  line.textContent = ""; // the code is the answer
  part.scrollIntoView({ block: "nearest" });
  return code;
}

/** Remove the code of a table from the page. */
function forget(/** @type {string | undefined} */ table) {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (codes.querySelectorAll("[data-table]"))) if (part.dataset.table === table) part.remove();
}

setInterval(() => {
  const open = new Set([.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-joining]"))].map((one) => one.dataset.joining));
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (codes.querySelectorAll("[data-table]"))) {
    const isKnown = Number(document.documentElement.dataset.seq) >= Number(part.dataset.since); // the page shows that it was opened, or later
    if (isKnown && !open.has(part.dataset.table)) forget(part.dataset.table);
  }
}, 500);

/** Make `change`, if there is one, and show the users; return whether it succeeded. A new PIN is shown only once. */
async function people(/** @type {Record<string, any> | null} */ change) {
  const outcome = /** @type {HTMLElement} */ (document.getElementById("people-told"));
  const list = /** @type {HTMLElement} */ (document.getElementById("people-list"));
  const done = change ? await ask("/director/people", change) : {};
  const all = await ask("/director/people");
  const error = done.error ?? all.error;
  outcome.textContent = error ? sentence(error) : "";
  const name = change?.name ?? all.people?.find((/** @type {any} */ one) => one.id === change?.id)?.name ?? "";
  if (done.pin && !error) outcome.textContent = `${(words.pin ?? "").replace("{name}", name)} ${done.pin}`;
  list.replaceChildren(
    ...(all.people ?? []).map((/** @type {any} */ one) => {
      const row = document.createElement("li");
      row.append(Object.assign(document.createElement("bdi"), { textContent: one.name }), ` (${one.role}) `);
      for (const [does, label] of [["new_pin", words.newPin], ["revoke", words.signOut], ["remove", words.remove]]) {
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
        button.dataset.sure = "yes";
        button.dataset.ask = `${label}: ${one.name}.`;
        button.addEventListener("click", () => isSure(button) && people({ do: does, id: one.id }));
        row.append(button);
      }
      return row;
    }),
  );
  return !error;
}

document.getElementById("people")?.addEventListener("toggle", (event) => {
  if (/** @type {HTMLDetailsElement} */ (event.target).open) people(null);
});

// before this script was loaded, a touched button would have done nothing, silently
main.removeAttribute("inert");
