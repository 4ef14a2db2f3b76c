// Sends commands: each has an idempotency key and is resent until there is an answer, so it counts once.
// @ts-check

const AGAIN_MS = 1_000;
const MOST_MS = 5_000;
const ANSWER_MS = 6_000;
const LATER = new Set(["busy", "waiting", "slow"]); // answers of a table that may not have accepted the command

/** Return a unique key; `randomUUID` is not available on a page without TLS. */
function fresh() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @typedef {{ code: string, message: string, hint: string, wait_s?: number }} Refusal
 * @typedef {{ ok: boolean, status: number, revision?: number, error?: Refusal, gone?: boolean }} Outcome
 */

/** Sends one command at a time. `changed` is called whenever `late` or `busy` may have changed. */
export class Sender {
  constructor(/** @type {() => void} */ changed) {
    this.busy = false;
    this.late = false;
    this.changed = changed;
    this.wake = () => {};
    this.stop = false;
  }

  /** Send `call`, made for the revision `expect`, until there is an answer; null if another one is being sent. */
  async send(/** @type {object} */ call, /** @type {number} */ expect) {
    if (this.busy) return null;
    const body = JSON.stringify({ key: fresh(), expect, call });
    Object.assign(this, { busy: true, late: false, stop: false });
    this.changed();
    try {
      for (let pause = AGAIN_MS; ; pause = Math.min(MOST_MS, 2 * pause)) {
        const outcome = await this.once(body);
        if (outcome) return outcome;
        if (this.stop) return /** @type {Outcome} */ ({ ok: false, status: 0, gone: true });
        this.late = true;
        this.changed();
        await new Promise((done) => {
          const timer = setTimeout(done, pause);
          this.wake = () => {
            clearTimeout(timer);
            done(undefined);
          };
        });
        if (this.stop) return /** @type {Outcome} */ ({ ok: false, status: 0, gone: true });
      }
    } finally {
      Object.assign(this, { busy: false, late: false });
      this.changed();
    }
  }

  /** Send once; null if the result is not known. */
  async once(/** @type {string} */ body) {
    try {
      const answer = await fetch("/judge/command", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const told = await answer.json();
      if (!answer.ok && LATER.has(told.error.code)) return null;
      return /** @type {Outcome} */ ({ ok: answer.ok, status: answer.status, revision: told.revision, error: told.error });
    } catch {
      return null;
    }
  }

  /** Resend at once: the connection is back. */
  now() {
    this.wake();
  }

  /** Stop sending. */
  giveUp() {
    this.stop = true;
    this.wake();
  }
}
