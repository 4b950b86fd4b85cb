"use strict";
// What people decided about rows: a new class, the row's own class (its label is right), or deletion. Kept in the browser under the page's own key.
const lopsCorrections = (data) => {
  const DELETED = -1;
  const rows = new Map(data.suspects.map((row) => [row.row, row]));
  const made = new Map(); // number of a row -> code of its class, or DELETED; the latest is the last
  const waiting = new Map(); // the same, of rows that are still packed
  let stored = true;

  const known = (row, code) => rows.has(row) && Number.isInteger(code) && code >= DELETED && code < data.classes.length;

  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(data.key) ?? "[]");
      for (const entry of Array.isArray(found) ? found : []) {
        if (!Array.isArray(entry)) continue;
        if (known(...entry)) made.set(...entry);
        else if (data.more.length && !rows.has(entry[0])) waiting.set(...entry);
      }
    } catch {
      store(); // broken content is replaced; no storage is noted
    }
  }

  function store() {
    try {
      const kept = [...waiting, ...made];
      if (kept.length) localStorage.setItem(data.key, JSON.stringify(kept));
      else localStorage.removeItem(data.key);
      stored = true;
    } catch {
      stored = false;
    }
  }

  // Rows that have been unpacked, with the corrections that were kept for them.
  function add(fresh) {
    for (const row of fresh) {
      rows.set(row.row, row);
      const code = waiting.get(row.row);
      if (code !== undefined && known(row.row, code)) made.set(row.row, code);
      waiting.delete(row.row);
    }
  }

  function set(row, code) {
    made.delete(row);
    made.set(row, code);
    store();
  }

  const confirmed = (row) => made.get(row) !== DELETED && made.get(row) === rows.get(row).code;

  function undo(row) {
    made.delete(row);
    store();
  }

  const warning = () => (stored ? "" : ". This browser does not keep them: download them before you close the page");

  function says() {
    const gone = [...made.values()].filter((code) => code === DELETED).length;
    const right = [...made.keys()].filter(confirmed).length;
    const changed = made.size - right;
    const noun = changed === 1 ? "correction" : "corrections";
    const parts = changed ? `: ${changed - gone} relabelled, ${gone} deleted` : "";
    const kept = right ? `; ${right} ${right === 1 ? "label" : "labels"} confirmed` : "";
    return `${changed} ${noun}${parts}${kept}${warning()}.`;
  }

  function csv(cell) {
    const named = data.suspects.some((row) => row.id !== null);
    const keyed = data.suspects.some((row) => row.key !== null); // a key names the row, its number does not
    const table = ["column", "sha256", "counts"].filter((name) => data.table[name]);
    const header = ["row", "label", ...(named ? ["id"] : []), ...(keyed ? ["key"] : []), ...table];
    const lines = [...made].sort((a, b) => a[0] - b[0]).map(([row, code]) => {
      const label = code === DELETED ? "" : data.classes[code].label;
      const ids = named ? [rows.get(row).id] : [];
      const keys = keyed ? [rows.get(row).key] : [];
      return [row, ...[label, ...ids, ...keys, ...table.map((name) => data.table[name])].map(cell)].join(",");
    });
    return [header.join(","), ...lines];
  }

  load();
  return { DELETED, add, get: (row) => made.get(row), has: (row) => made.has(row), confirmed, numbers: () => [...made.keys()], size: () => made.size, set, undo, says, warning, csv };
};
