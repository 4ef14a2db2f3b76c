// Keeps a page's event stream open: it comes back after any refusal or silence, and is closed while nobody sees the page.
// @ts-check

const BEAT_MS = 1_000 * Number(document.body.dataset.beat ?? 5); // how often the server sends at least a heartbeat
const SILENT_MS = 2 * BEAT_MS + 500;
const AGAIN_MS = 1_000; // the first wait before a reconnection; each page's is between half and one and a half of it
const MOST_MS = 8_000;
const PROBE_MS = 5_000;
const HIDDEN_MS = 1_000; // a browser has six connections for all tabs of a server, so a hidden one leaves its own to others
const MOST_STREAMS = 4; // of all visible tabs; those that were opened or touched longest ago ask now and then instead
const LINGER_MS = 500; // how long one that asks stays for what comes with the first event
const LOOK_MS = 500;

const badge = document.getElementById("badge");

/** Mark the page as "live", "stale" or "held". */
export function mark(/** @type {string} */ value) {
  if (badge && badge.dataset.value !== value) badge.dataset.value = value;
}

/**
 * Follow the events of `url`: each kind calls its function with its data and id; a heartbeat is the kind "beat".
 * @param {string} url
 * @param {Record<string, (data: string, id: string) => void>} kinds
 * @param {{ onLive?: () => void, onStale?: () => void, stays?: () => boolean }} [how] what to do at each event, and when
 *   the connection is lost; whether the stream stays open while the page is hidden
 */
export function follow(url, kinds, { onLive = () => mark("live"), onStale = () => mark("stale"), stays = () => false } = {}) {
  /** @type {EventSource | null} */
  let source = null;
  let lastId = ""; // with it a page that comes back asks only for newer events
  let contactMs = performance.now();
  let waitMs = AGAIN_MS;
  let ended = false;
  let asks = false;
  const name = String(Math.random());
  /** The tabs whose streams were opened after this one.
   * @type {Set<string>} */
  const newer = new Set();
  const tabs = new BroadcastChannel("streams");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let again;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let leaving;

  const isWanted = () => !ended && (!document.hidden || stays());

  function close() {
    clearTimeout(again);
    source?.close();
    source = null;
  }

  function open() {
    close();
    if (!isWanted()) return;
    contactMs = performance.now();
    if (!asks) tabs.postMessage({ opened: name });
    const stream = new EventSource(lastId ? `${url}${url.includes("?") ? "&" : "?"}last=${encodeURIComponent(lastId)}` : url);
    let isRefused = true;
    source = stream;
    for (const kind of new Set(["beat", ...Object.keys(kinds)])) {
      stream.addEventListener(kind, (event) => {
        if (asks && isRefused) again = setTimeout(rest, LINGER_MS);
        isRefused = false;
        waitMs = AGAIN_MS;
        contactMs = performance.now();
        lastId = event.lastEventId;
        kinds[kind]?.(event.data, event.lastEventId);
        onLive();
      });
    }
    // the browser itself gives up for good after any answer that is not 200
    stream.addEventListener("error", () => {
      if (stream !== source) return;
      close();
      onStale();
      again = setTimeout(isRefused ? probe : open, waitMs * (0.5 + Math.random()));
      waitMs = Math.min(MOST_MS, 2 * waitMs);
    });
  }

  /** Close the stream and tell the other tabs. */
  function leave() {
    close();
    tabs.postMessage({ closed: name });
  }

  /** Leave the connection to other tabs until it is time to ask again. */
  function rest() {
    leave();
    again = setTimeout(open, BEAT_MS);
  }

  /** Have a stream again: somebody uses this tab. */
  function resume() {
    if (!asks) return;
    asks = false;
    newer.clear();
    open();
  }

  tabs.addEventListener("message", ({ data }) => {
    if (data.closed) newer.delete(data.closed);
    else newer.add(data.opened);
    if (asks || newer.size < MOST_STREAMS) return;
    asks = true;
    if (source) rest();
  });
  for (const used of ["focus", "pointerdown", "keydown"]) addEventListener(used, resume);

  /** Ask why the stream was refused: who is signed out signs in again. */
  async function probe() {
    const answer = await fetch(url, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PROBE_MS) }).catch(() => null);
    if (answer?.status === 401) location.reload();
    else open();
  }

  /** Open the stream anew if nothing was heard of it for too long. */
  function look() {
    if (!source || !isWanted() || performance.now() - contactMs <= SILENT_MS) return;
    onStale();
    open();
  }

  setInterval(look, LOOK_MS);
  addEventListener("offline", onStale);
  addEventListener("online", open);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => event.persisted && open());
  document.addEventListener("visibilitychange", () => {
    clearTimeout(leaving);
    if (!document.hidden) return source ? look() : open();
    leaving = setTimeout(() => {
      if (isWanted()) return;
      leave();
      onStale();
    }, HIDDEN_MS);
  });
  open();

  return {
    open,
    /** Close the stream for good. */
    end() {
      ended = true;
      close();
    },
  };
}
