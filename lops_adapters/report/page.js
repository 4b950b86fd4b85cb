"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en");
  const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)}\u00a0%`;
  const short = (value) => String(Number(value.toPrecision(3)));
  for (const part of document.querySelectorAll("[data-live]")) part.hidden = false;

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // Text of unknown origin: only textContent, in an element that isolates its direction.
  function foreign(text) {
    const made = element("bdi", "foreign", text);
    made.dir = "auto";
    return made;
  }

  function slider() {
    const input = byId("threshold");
    const show = () => {
      const at = data.thresholds.length - 1 - input.value; // thresholds fall, the slider rises with the axis above it
      const [value, rows, judged, wrong] = data.thresholds[at];
      const [x, shareY, noiseY] = data.places[at];
      const among = judged === rows ? "these" : `the ${number.format(judged)} with a gold label`;
      const noise = !judged ? "" : `; ${number.format(wrong)} of ${among} wrong (${percent(wrong, judged)})`;
      const kept = `${number.format(rows)} of ${number.format(data.rows)} rows (${percent(rows, data.rows)})`;
      byId("threshold-says").replaceChildren(
        element("strong", "", kept),
        element("span", "", ` have a confidence of at least ${short(value)}${noise}.`),
      );
      input.setAttribute("aria-valuetext", `at least ${short(value)}: ${number.format(rows)} rows`);
      byId("marker-line").setAttribute("transform", `translate(${x - data.places[0][0]} 0)`);
      for (const [id, y] of [["marker-share", shareY], ["marker-noise", noiseY]]) {
        if (byId(id)) {
          byId(id).setAttribute("cx", x);
          byId(id).setAttribute("cy", y);
        }
      }
    };
    input.addEventListener("input", show);
    byId("marker").removeAttribute("display");
    show();
  }

  const LONG = 280; // characters shown of a text before "more"
  const narrow = matchMedia("screen and (max-width: 46rem)");
  const size = () => (narrow.matches ? 10 : 50); // rows in the document at a time
  let shown = [];
  let first = 0;

  const haystack = data.suspects.map((row) => [row.text, row.label, row.suggested, row.gold, row.id].join("\n").toLowerCase());

  function clipped(text) {
    const end = /[\uD800-\uDBFF]/.test(text[LONG - 1]) ? LONG - 1 : LONG;
    return `${text.slice(0, end)}…`;
  }

  function textCell(row) {
    const cell = element("td", "words said");
    if (row.text.length <= LONG * 1.2) {
      cell.append(foreign(row.text));
      return cell;
    }
    const said = foreign(clipped(row.text));
    const button = element("button", "more", "more");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `more of the text of row ${row.id ?? row.position + 1}`);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "false";
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "less" : "more";
      said.textContent = open ? row.text : clipped(row.text);
    });
    cell.append(said, " ", button);
    return cell;
  }

  function named(value, under) {
    const cell = element("td", "words name");
    const box = element("span");
    box.append(value === null ? "-" : foreign(value));
    if (under) box.append(element("span", "under", under));
    cell.append(box);
    return cell;
  }

  function line(row) {
    const made = element("tr");
    const head = element("th", "words");
    head.scope = "row";
    head.append(row.id === null ? String(row.position + 1) : foreign(row.id));
    const truth = row.gold === row.label ? "gold agrees" : `gold: ${row.gold}`;
    const cells = [head, textCell(row), named(row.label, row.gold === null ? "" : truth)];
    if (data.suggested) {
      const sure = row.suggested_probability === null ? "" : `${percent(row.suggested_probability, 1)} sure`;
      cells.push(named(row.suggested, sure));
    }
    cells.push(element("td", "", short(row.confidence)));
    if (data.learnt) cells.push(element("td", "", row.learnt_at === null ? "never" : short(row.learnt_at)));
    const state = element("td");
    state.append(element("span", row.selected ? "state yes" : "state no", row.selected ? "kept" : "rejected"));
    cells.push(state);
    cells.forEach((cell, i) => {
      cell.dataset.name = data.columns[i];
      cell.setAttribute("role", i ? "cell" : "rowheader");
    });
    made.setAttribute("role", "row");
    made.append(...cells);
    return made;
  }

  function draw() {
    const until = Math.min(first + size(), shown.length);
    byId("rows").tBodies[0].replaceChildren(...shown.slice(first, until).map(line));
    const range = shown.length ? `${number.format(first + 1)} to ${number.format(until)} of ${number.format(shown.length)} rows` : "No matching rows.";
    byId("rows-status").textContent = range;
    byId("previous").disabled = first === 0;
    byId("next").disabled = until === shown.length;
    byId("download").disabled = shown.length === 0;
  }

  function filter() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [label, state, order] = ["label", "state", "order"].map((id) => byId(id).value);
    shown = data.suspects.filter(
      (row, i) =>
        (label === "" || row.label === data.labels[label]) &&
        (state === "" || row.selected === (state === "kept")) &&
        words.every((word) => haystack[i].includes(word)),
    );
    if (order === "position") shown.sort((a, b) => a.position - b.position);
    if (order === "probe") {
      const doubt = (row) => (row.suggested !== null && row.suggested !== row.label ? row.suggested_probability ?? 1 : -1);
      shown.sort((a, b) => doubt(b) - doubt(a));
    }
    first = 0;
    draw();
  }

  // Spreadsheets run cells that start like a formula; an apostrophe makes them text. Numbers stay.
  function csvCell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "string") return String(value);
    const safe = /^[\s\u0000-\u001f]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r]/.test(value) ? `'${value}` : value;
    return `"${safe.replaceAll('"', '""')}"`;
  }

  function download() {
    const names = ["id", "label", "suggested", "suggested_probability", "confidence", "learnt_at", "selected", "gold", "text"];
    const cells = (row) => [row.position + 1, ...names.map((name) => csvCell(row[name]))];
    const lines = [["row", ...names].join(","), ...shown.map((row) => cells(row).join(","))];
    const blob = new Blob([`\uFEFF${lines.join("\r\n")}\r\n`], { type: "text/csv;charset=utf-8" });
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = "suspicious_rows.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function turn(step) {
    first += step * size();
    draw();
    byId("suspects").scrollIntoView();
  }

  if (byId("threshold")) slider();
  if (byId("rows")) {
    byId("search").addEventListener("input", filter);
    for (const id of ["label", "state", "order"]) byId(id).addEventListener("change", filter);
    byId("previous").addEventListener("click", () => turn(-1));
    byId("next").addEventListener("click", () => turn(1));
    byId("download").addEventListener("click", download);
    narrow.addEventListener("change", () => {
      first -= first % size(); // the page that the first row shown is on
      draw();
    });
    filter();
  }
})();
