"use strict";
// What people decided about rows: a new class, or deletion. Kept in the browser under the page's own key.
const lopsCorrections = (data) => {
  const DELETED = -1;
  const rows = new Map(data.suspects.map((row) => [row.row, row]));
  const made = new Map(); // number of a row -> code of its new class, or DELETED; the latest is the last
  let stored = true;

  const known = (row, code) => rows.has(row) && Number.isInteger(code) && code >= DELETED && code < data.classes.length;

  function load() {
    try {
      const found = JSON.parse(localStorage.getItem(data.key) ?? "[]");
      for (const entry of Array.isArray(found) ? found : []) {
        if (Array.isArray(entry) && known(...entry)) made.set(...entry);
      }
    } catch {
      store(); // broken content is replaced; no storage is noted
    }
  }

  function store() {
    try {
      if (made.size) localStorage.setItem(data.key, JSON.stringify([...made]));
      else localStorage.removeItem(data.key);
      stored = true;
    } catch {
      stored = false;
    }
  }

  function set(row, code) {
    made.delete(row);
    if (code !== rows.get(row).code) made.set(row, code); // its own class again: nothing to correct
    store();
  }

  function undo(row) {
    made.delete(row);
    store();
  }

  function says() {
    const gone = [...made.values()].filter((code) => code === DELETED).length;
    const noun = made.size === 1 ? "correction" : "corrections";
    const parts = made.size ? `: ${made.size - gone} relabelled, ${gone} deleted` : "";
    const lost = stored ? "" : ". This browser does not keep them: download them before you close the page";
    return `${made.size} ${noun}${parts}${lost}.`;
  }

  function csv(cell) {
    const named = data.suspects.some((row) => row.id !== null);
    const table = ["column", "sha256"].filter((name) => data.table[name]);
    const header = ["row", "label", ...(named ? ["id"] : []), ...table];
    const lines = [...made].sort((a, b) => a[0] - b[0]).map(([row, code]) => {
      const label = code === DELETED ? "" : data.classes[code].label;
      const ids = named ? [rows.get(row).id] : [];
      return [row, ...[label, ...ids, ...table.map((name) => data.table[name])].map(cell)].join(",");
    });
    return [header.join(","), ...lines];
  }

  load();
  return { DELETED, get: (row) => made.get(row), has: (row) => made.has(row), last: () => [...made.keys()].at(-1), size: () => made.size, set, undo, says, csv };
};
