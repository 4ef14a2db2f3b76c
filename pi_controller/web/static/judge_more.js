// The sections below the play panel: fouls, protest, log, recorded hits, and the score sheet as a form.
// @ts-check
import { announce, by, fill, make, say, set, words } from "./judge_page.js";
import { ask, sentence } from "./request.js";

/** @typedef {(say: any, from: HTMLElement, seen?: number) => void} Press */

/** Create a button that calls `does`. */
function button(/** @type {string} */ label, /** @type {(from: HTMLElement) => void} */ does, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", () => does(element));
  return element;
}

/** Return a function that redraws `place` when its data has changed. While it contains a choice
 * that was not sent yet, it waits; `discard` drops the choice. */
function redraw(/** @type {HTMLElement} */ place, /** @type {(from: any) => (Node | string)[]} */ draw) {
  let [drawn, newest] = ["", ""];
  const put = () => {
    if (newest === drawn || place.dataset.touched) return;
    drawn = newest;
    place.replaceChildren(...draw(JSON.parse(newest)));
  };
  place.addEventListener("input", () => (place.dataset.touched = "yes"));
  place.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest(".pick")) place.dataset.touched = "yes";
  });
  place.addEventListener("discard", () => {
    if (place.dataset.touched) drawn = "";
    delete place.dataset.touched;
    put();
  });
  place.closest("details")?.addEventListener("toggle", (event) => {
    if (!(/** @type {HTMLDetailsElement} */ (event.target).open)) discard(place);
  });
  return (/** @type {any} */ from) => {
    newest = JSON.stringify(from);
    put();
  };
}

/** Drop the choices in a section, also after they were sent, and redraw it. */
export function discard(/** @type {Element | null} */ place) {
  place?.dispatchEvent(new Event("discard"));
}

/** The fouls and other rare actions: one touch each; every button names its hide and the team that gains. */
export function fouls(/** @type {Press} */ press) {
  /** The chosen hide, and the labels of the hides to choose from. */
  let [chosen, among] = ["", ""];
  return redraw(by("fouls-inside"), ([hides, seldom]) => {
    const others = seldom.map((/** @type {any} */ one) =>
      button(one.label, (from) => press(one.say, from), { class: "act wide", "data-id": one.id }));
    if (!hides.length) return [others.length ? make("div", { class: "stack" }, ...others) : make("p", {}, words.foul_none)];
    const labels = hides.map((/** @type {any} */ one) => one.label).join();
    if (labels !== among) [chosen, among] = [hides.find((/** @type {any} */ one) => one.chosen).hide, labels];
    const parts = hides.map((/** @type {any} */ one) => part(one, press));
    const choose = (/** @type {string} */ hide) => {
      chosen = hide;
      for (const one of parts) one.hidden = one.dataset.hide !== hide;
      for (const one of which.children) set(one, "aria-pressed", String(one.getAttribute("data-hide") === hide));
    };
    const which = make("div", { class: "row", role: "group", "aria-label": words.fouls },
      ...hides.map((/** @type {any} */ one) => button(one.label, () => choose(one.hide), { "data-hide": one.hide })));
    choose(chosen);
    return hides.length > 1 ? [which, ...parts] : [make("p", { class: "row-label" }, hides[0].label), ...parts];
  });
}

/** Return the fouls of one hide: what each costs stands once, above those that cost it. */
function part(/** @type {any} */ hide, /** @type {Press} */ press) {
  const parts = ["hider", "hitter"].flatMap((by_) => {
    const some = hide.buttons.filter((/** @type {any} */ one) => one.by === by_);
    if (!some.length) return [];
    const outcomes = [...new Set(some.map((/** @type {any} */ one) => one.outcome))];
    const groups = outcomes.flatMap((outcome) => [
      make("p", { class: "outcome" }, outcome),
      make("div", { class: "stack" }, ...some.filter((/** @type {any} */ one) => one.outcome === outcome).map((/** @type {any} */ one) =>
        button(one.label, (from) => press(one.say, from), { class: "act wide foul", "data-foul": `${one.by}-${one.kind}` }))),
    ]);
    return [make("h2", {}, by_ === "hider" ? words.foul_hider : words.foul_hitter), ...groups];
  });
  return make("div", { class: "of-hide", "data-hide": hide.hide }, ...parts);
}

/** The form of the teams' names, for users who may set them. */
export function teams(/** @type {Press} */ press) {
  return redraw(by("teams-inside"), ([names]) => {
    const problem = make("p", { role: "alert", class: "problem" });
    const inputs = ["A", "B"].map((letter) => /** @type {HTMLInputElement} */ (make("input", {
      id: `teams-${letter}`, type: "text", autocomplete: "off", value: names[letter] === letter ? "" : names[letter] ?? "",
    })));
    const fields = inputs.map((input, i) =>
      make("div", { class: "field" }, make("label", { for: input.id }, fill(words.teams_name, { letter: "AB"[i] })), input));
    const send = button(words.teams_send, (from) => {
      const [a, b] = inputs.map((one) => one.value.trim());
      if (a && b) return press({ judge: "teams", a, b }, from);
      say(problem, words.teams_both);
    }, { class: "act wide", id: "teams-send" });
    return [make("p", {}, words.teams_help), make("div", { class: "row" }, ...fields), problem, send];
  });
}

/** The form for closing the game: the side that is out, the cause, and the reason as text. */
export function closing(/** @type {Press} */ press) {
  return redraw(by("closing-inside"), ([sides]) => {
    /** @type {Record<string, string>} */
    const picked = { by: "", cause: "" };
    const problem = make("p", { role: "alert", class: "problem" });
    const row = (/** @type {string} */ key, /** @type {string} */ label, /** @type {[string, string][]} */ choices) => {
      const group = make("div", { class: "row", role: "group", "aria-label": label });
      for (const [value, told] of choices) {
        const choose = button("", () => {
          picked[key] = value;
          for (const one of group.children) set(one, "aria-pressed", String(one === choose));
        }, { "aria-pressed": "false", class: "pick", [`data-${key}`]: value });
        choose.append(make("bdi", {}, told));
        group.append(choose);
      }
      return [make("p", { class: "row-label" }, label), group];
    };
    const reason = make("input", { id: "closing-reason", type: "text", maxlength: "500", autocomplete: "off" });
    const send = button(words.closing_send, (from) => {
      const why = /** @type {HTMLInputElement} */ (reason).value.trim();
      if (!picked.by || !picked.cause) return say(problem, words.closing_first);
      if (why) return press({ judge: "close", ...picked, reason: why }, from);
      say(problem, words.reason_first);
      reason.focus();
    }, { class: "act wide", id: "closing-send" });
    return [
      ...row("by", words.closing_by, sides.map((/** @type {any} */ one) => [one.value, one.label])),
      ...row("cause", words.closing_why, ["forfeit", "disqualified", "no_show"].map((one) => [one, words[one]])),
      make("label", { for: "closing-reason" }, words.ruling_reason), reason, problem, send,
    ];
  });
}

/** The protest: recorded, then ruled on; meanwhile another one can be recorded. Unsent text is kept. */
export function protest(/** @type {Press} */ press) {
  return redraw(by("protest-inside"), ([open, teams, possible]) => {
    if (!open) return writing(press, teams);
    const about = make("p", { class: "asked" }, make("bdi", {}, teams[open.by] ?? open.by), ": ", make("bdi", {}, open.text || "–"));
    const another = make("details", { id: "protest-another" }, make("summary", {}, words.protest_another));
    another.addEventListener("toggle", () => another.append(...writing(press, teams)), { once: true });
    if (!possible.length) return [about, make("p", {}, words.committee), another];
    const reason = make("input", { id: "ruling-reason", type: "text", maxlength: "500", autocomplete: "off" });
    const rule = (/** @type {string} */ ruling) => (/** @type {HTMLElement} */ from) => {
      const said = /** @type {HTMLInputElement} */ (reason).value.trim();
      if (said) return press({ judge: "ruling", ruling, reason: said }, from);
      say(problem, words.reason_first);
      reason.focus();
    };
    const problem = make("p", { role: "alert", class: "problem" });
    const rulings = possible.filter((/** @type {string} */ one) => one !== "play_on" || !open.play_on);
    return [
      about, make("label", { for: "ruling-reason" }, words.ruling_reason), reason, problem,
      make("div", { class: "stack" }, ...rulings.map((/** @type {string} */ one) => button(words[one], rule(one), { class: "act wide", "data-ruling": one }))),
      another,
    ];
  });
}

/** Return the form that records a protest. */
function writing(/** @type {Press} */ press, /** @type {any} */ teams) {
  let team = "";
  const problem = make("p", { role: "alert", class: "problem" });
  const which = make("div", { class: "row", role: "group", "aria-label": words.protest_by });
  for (const letter of ["A", "B"]) {
    const choose = button("", () => {
      team = letter;
      for (const one of which.children) set(one, "aria-pressed", String(one === choose));
    }, { "aria-pressed": "false", class: `pick ${letter.toLowerCase()}`, "data-team": letter });
    choose.append(make("span", { class: "shape", "aria-hidden": "true" }, letter), make("bdi", {}, teams[letter] || `Team ${letter}`));
    which.append(choose);
  }
  const text = make("textarea", { id: "protest-text", rows: "2", maxlength: "500" });
  const send = button(words.protest_send, (from) => {
    if (!team) return say(problem, words.protest_team);
    press({ judge: "protest", by: team, text: /** @type {HTMLTextAreaElement} */ (text).value.trim() }, from);
  }, { class: "act wide", id: "protest-send" });
  return [make("p", { class: "row-label" }, words.protest_by), which, make("label", { for: "protest-text" }, words.protest_text), text, problem, send];
}

/** Format a time of the table's clock for people. */
function moment(/** @type {number} */ t) {
  const far = t > 1e8; // seconds since 1970, or since a simulated game began
  return far ? new Date(t * 1000).toTimeString().slice(0, 8) : `${t.toFixed(0)} s`;
}

/** The log, newest first. */
export const log = () =>
  redraw(by("log-inside"), (lines) => {
    if (!lines.length) return [make("li", {}, words.log_empty)];
    return [...lines].reverse().map((line) => {
      const text = line.undone ? [make("del", {}, line.text), ` (${words.undone})`] : [line.text];
      return make("li", {}, make("time", {}, moment(line.t)), " ", ...text, " ", make("span", { class: "by" }, make("bdi", {}, line.who)));
    });
  });

/** Return a short description of a hit. */
function told_of(/** @type {any} */ hit) {
  const margin = hit.margin_db === null ? "" : `, ${hit.margin_db.toFixed(0)} dB`;
  return `${fill(words.hit_line, { hide: hit.hide, pads: hit.pads.join(", ") })}${margin}${hit.sure ? "" : `, ${words.hit_unsure}`}`;
}

/** The recorded hits: a list, each with its plot, which can be enlarged. */
export function hits() {
  const place = by("hits-inside");
  const picture = /** @type {HTMLDialogElement} */ (by("picture"));
  const img = /** @type {HTMLImageElement} */ (by("picture-img"));
  const zoom = by("picture-zoom");
  const larger = (/** @type {boolean} */ on) => {
    picture.classList.toggle("large", on);
    set(zoom, "aria-pressed", String(on));
  };
  zoom.addEventListener("click", () => larger(!picture.classList.contains("large")));
  const look = async () => {
    const told = await ask("/judge/hits.json");
    if (told.error) return place.replaceChildren(make("p", { role: "alert" }, sentence(told.error)), again());
    if (!told.hits.length) return place.replaceChildren(make("p", {}, words.hits_empty), again());
    const rows = [...told.hits].reverse().map((/** @type {any} */ hit) => {
      const text = told_of(hit);
      return make("li", {}, button(text, () => {
        img.alt = fill(words.hit_picture, { text });
        img.src = `/judge/hit/${hit.n}.svg`;
        larger(false);
        picture.showModal();
      }, { class: "act wide", "data-hit": String(hit.n) }));
    });
    place.replaceChildren(make("ul", { class: "stack" }, ...rows), again());
  };
  const again = () => button(words.hits_show, look, { class: "act wide" });
  by("hits").addEventListener("toggle", () => {
    if (/** @type {HTMLDetailsElement} */ (by("hits")).open) look();
  });
}

/** The score sheet as a form, for users who may set the table: filled in with the state at the time of opening. */
export function sheet(/** @type {Press} */ press, /** @type {() => any} */ state) {
  const place = by("set-inside");
  const draw = () => {
    const now = state();
    if (!now?.console.fields.length) return;
    const seen = now.view.revision;
    const inputs = now.console.fields.map((/** @type {any} */ field, /** @type {number} */ i) => {
      if (field.fixed) return null;
      const id = `set-${field.path.join("-")}`;
      /** @type {HTMLElement} */
      let input;
      if (field.choices.length) {
        const options = field.choices.map((/** @type {[any, string]} */ [value, label]) => {
          const option = make("option", { value: JSON.stringify(value) }, label);
          if (value === field.value) option.setAttribute("selected", "");
          return option;
        });
        input = make("select", { id, "data-field": String(i) }, ...options);
      } else {
        input = make("input", { id, "data-field": String(i), type: "number", min: "0", step: "1", inputmode: "numeric", value: field.value === null ? "" : String(field.value) });
      }
      return make("div", { class: "field" }, make("label", { for: id }, field.label), input);
    });
    const reason = make("input", { id: "set-reason", type: "text", maxlength: "500", autocomplete: "off" });
    const problem = make("p", { role: "alert", class: "problem" });
    const send = button(words.set_send, (from) => {
      const why = /** @type {HTMLInputElement} */ (reason).value.trim();
      if (!why) {
        say(problem, words.reason_first);
        return reason.focus();
      }
      const told = structuredClone(now.view.sheet);
      for (const [i, field] of now.console.fields.entries()) {
        const input = /** @type {HTMLInputElement | null} */ (place.querySelector(`[data-field="${i}"]`));
        if (!input) continue;
        const value = field.choices.length ? JSON.parse(input.value) : input.value === "" ? null : Number(input.value);
        const at = field.path.slice(0, -1).reduce((/** @type {any} */ part, /** @type {any} */ key) => part[key], told);
        at[field.path.at(-1)] = value;
      }
      press({ judge: "set", sheet: told, reason: why }, from, seen); // the command is refused if the game went on since the form was filled in
    }, { class: "act wide", id: "set-send" });
    place.replaceChildren(
      make("p", {}, words.set_help),
      make("div", { class: "sheet-fields" }, ...inputs.filter(Boolean)),
      make("label", { for: "set-reason" }, words.ruling_reason), reason, problem,
      make("div", { class: "stack" }, send, button(words.set_fresh, () => { draw(); announce(words.set_fresh); }, { class: "act wide" })),
    );
  };
  by("set").addEventListener("toggle", () => {
    if (/** @type {HTMLDetailsElement} */ (by("set")).open) draw();
  });
}
