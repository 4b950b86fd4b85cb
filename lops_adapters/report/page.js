(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en");
  const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)}\u00a0%`;
  const short = (value) => String(Number(value.toFixed(3))); // never in scientific notation
  const chance = (value) => (value > 0 && value < 0.001 ? "< 0.1\u00a0%" : value < 1 && value > 0.999 ? "> 99.9\u00a0%" : percent(value, 1));
  const confidence = (value) => (data.probability ? chance(value) : short(value));
  const least = (value) => (data.probability ? `${Math.floor(1e4 * value + 1e-6) / 100}\u00a0%` : short(value));
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
      const [value, rows, with_gold, wrong] = data.thresholds[at];
      const [x, shareY, noiseY] = data.places[at];
      const among = with_gold === rows ? "these" : `the ${number.format(with_gold)} with a gold label`;
      const noise = !with_gold ? "" : `; ${number.format(wrong)} of ${among} wrong (${percent(wrong, with_gold)})`;
      const kept = `${number.format(rows)} of ${number.format(data.rows)} rows (${percent(rows, data.rows)})`;
      byId("threshold-says").replaceChildren(
        element("strong", "", kept),
        element("span", "", ` have a confidence of at least ${least(value)}${noise}.`),
      );
      input.setAttribute("aria-valuetext", `at least ${least(value)}: ${number.format(rows)} rows`);
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
  let current = null; // the row that keys act on
  const corrections = lopsCorrections(data);

  const searched = (row) => [row.text, row.label, row.suggested, row.gold, row.id].join("\n").toLowerCase();
  const haystack = data.suspects.map(searched);

  function clipped(text, long) {
    const end = /[\uD800-\uDBFF]/.test(text[long - 1]) ? long - 1 : long;
    return `${text.slice(0, end)}…`;
  }

  // Puts the text of a row into an element; a long one is cut and unfolds.
  function unfolding(box, row, long = LONG) {
    if (row.text.length <= long * 1.2) {
      box.append(foreign(row.text));
      return box;
    }
    const said = foreign(clipped(row.text, long));
    const button = element("button", "more", "more");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", `more of the text of row ${row.id ?? row.row}`);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "false";
      button.setAttribute("aria-expanded", String(open));
      button.textContent = open ? "less" : "more";
      said.textContent = open ? row.text : clipped(row.text, long);
    });
    box.append(said, " ", button);
    return box;
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
    head.append(row.id === null ? String(row.row) : foreign(row.id));
    const truth = row.gold === row.label ? "gold agrees" : `gold: ${row.gold}`;
    const cells = [head, unfolding(element("td", "words said"), row), named(row.label, row.gold === null ? "" : truth)];
    if (data.suggested) {
      const sure = row.suggested_probability === null ? "" : `${chance(row.suggested_probability)} sure`;
      cells.push(named(row.suggested, sure));
    }
    cells.push(element("td", "", confidence(row.confidence)));
    if (data.learnt) cells.push(element("td", "", row.learnt_at === null ? "never" : short(row.learnt_at)));
    const state = element("td");
    state.append(element("span", row.selected ? "state yes" : "state no", row.selected ? "kept" : "rejected"));
    cells.push(state, correction(row));
    cells.forEach((cell, i) => {
      cell.dataset.name = data.columns[i];
      cell.setAttribute("role", i ? "cell" : "rowheader");
    });
    made.setAttribute("role", "row");
    made.tabIndex = -1;
    made.dataset.row = row.row;
    if (row === current) made.setAttribute("aria-current", "true");
    if (corrections.has(row.row)) made.classList.add("corrected");
    made.append(...cells);
    return made;
  }

  function push(name, row, action) {
    const button = element("button", "small", name);
    button.type = "button";
    button.setAttribute("aria-label", `${name} row ${row.id ?? row.row}`);
    button.addEventListener("click", () => decide(row, action));
    return button;
  }

  // The classes to choose from are made when they are asked for: there may be thousands.
  function choices(row) {
    const select = element("select", "small");
    select.setAttribute("aria-label", `class of row ${row.id ?? row.row}`);
    const first = element("option", "", "change to");
    first.value = "";
    select.append(first);
    const fill = () => {
      if (select.length > 1) return;
      data.classes.forEach((known, code) => {
        if (code === row.code) return;
        const option = element("option", "", known.shown);
        option.value = code;
        select.append(option);
      });
    };
    if (data.classes.length <= 100) fill();
    for (const event of ["pointerdown", "focus"]) select.addEventListener(event, fill);
    select.addEventListener("change", () => {
      if (select.value !== "") decide(row, () => corrections.set(row.row, Number(select.value)));
    });
    return select;
  }

  const accepts = (row) => row.suggested_code >= 0 && row.suggested_code !== row.code;

  function correction(row) {
    const cell = element("td", "words fix");
    const box = element("span", "fixes");
    cell.append(box);
    const code = corrections.get(row.row);
    if (code === undefined) {
      if (accepts(row)) box.append(push("accept", row, () => corrections.set(row.row, row.suggested_code)));
      box.append(push("delete", row, () => corrections.set(row.row, corrections.DELETED)), choices(row));
      return cell;
    }
    const right = corrections.confirmed(row.row);
    const said = element("strong", "", right ? "right" : code === corrections.DELETED ? "deleted" : "\u2192 ");
    if (!right && code !== corrections.DELETED) said.append(foreign(data.classes[code].shown));
    box.append(said, push("undo", row, () => corrections.undo(row.row)));
    return cell;
  }

  const drawn = (row) => byId("rows").querySelector(`tr[data-row="${row.row}"]`);

  function redraw(row) {
    const old = drawn(row);
    if (!old) return;
    const focused = old.contains(document.activeElement);
    const fresh = line(row);
    old.replaceWith(fresh);
    if (focused) fresh.focus({ preventScroll: true });
  }

  function settle(row, action) {
    action();
    redraw(row);
    count();
  }

  function decide(row, action) {
    const before = current;
    current = row;
    if (before && before !== row) redraw(before);
    settle(row, action);
  }

  function count() {
    byId("corrections-status").textContent = corrections.says();
    byId("undo").disabled = corrections.size() === 0;
    byId("download-corrections").disabled = corrections.size() === 0;
    checking?.update();
  }

  function undoLast() {
    const row = data.suspects.find((known) => known.row === corrections.numbers().at(-1));
    if (row) decide(row, () => corrections.undo(row.row));
  }

  function move(step) {
    const at = shown.indexOf(current);
    const next = at < 0 ? first : Math.min(Math.max(at + step, 0), shown.length - 1);
    if (!shown.length) return;
    current = shown[next];
    if (next < first || next >= first + size()) first = next - (next % size());
    draw();
    drawn(current).focus({ preventScroll: true });
    drawn(current).scrollIntoView({ block: "nearest" });
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if (checking?.active() && key !== "j" && key !== "k") {
      checking.press(event);
      return;
    }
    const onRow = current && shown.includes(current);
    if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
    else if (key === "u") undoLast();
    else if (onRow && key === "d") decide(current, () => corrections.set(current.row, corrections.DELETED));
    else if (onRow && key === "a" && accepts(current)) decide(current, () => corrections.set(current.row, current.suggested_code));
    else if (onRow && /^[1-9]$/.test(key) && key <= data.classes.length) decide(current, () => corrections.set(current.row, key - 1));
    else return;
    event.preventDefault();
  }

  function draw() {
    byId("rows").tBodies[0].replaceChildren(...shown.slice(first, first + size()).map(line));
    says();
  }

  function says() {
    const until = Math.min(first + size(), shown.length);
    const range = shown.length ? `${number.format(first + 1)} to ${number.format(until)} of ${number.format(shown.length)} rows` : "No matching rows.";
    byId("rows-status").textContent = range;
    byId("previous").disabled = first === 0;
    byId("next").disabled = until === shown.length;
    byId("download").disabled = shown.length === 0;
  }

  function choose() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const [label, state, order] = ["label", "state", "order"].map((id) => byId(id).value);
    shown = data.suspects.filter(
      (row, i) =>
        (label === "" || row.label === data.labels[label]) &&
        (state === "" || (state === "checked" ? corrections.has(row.row) : row.selected === (state === "kept"))) &&
        words.every((word) => haystack[i].includes(word)),
    );
    if (order === "") shown.sort((a, b) => a.confidence - b.confidence); // ties stay: they are ordered
    if (order === "position") shown.sort((a, b) => a.position - b.position);
    if (order === "probe") {
      const doubt = (row) => (accepts(row) ? row.suggested_probability ?? 1 : -1);
      shown.sort((a, b) => doubt(b) - doubt(a));
    }
  }

  function filter() {
    choose();
    first = 0;
    draw();
  }

  // Rows that have been unpacked. The row that is worked on stays in sight, and keeps the focus.
  function grow(rows) {
    const before = shown.slice(first, first + size());
    data.suspects = data.suspects.concat(rows);
    for (const row of rows) haystack.push(searched(row));
    corrections.add(rows);
    choose();
    const at = shown.indexOf(current);
    if (at >= 0) first = at - (at % size());
    const after = shown.slice(first, first + size());
    if (before.length === after.length && before.every((row, i) => row === after[i])) says();
    else draw();
    count();
  }

  function unpack() {
    if (!data.more.length) return;
    const left = (text) => (byId("more-status").textContent = text);
    left(`(${number.format(data.listed)} in all, loading)`);
    lopsMore(data.more, grow).then(
      () => left(""),
      () => left(`This browser shows the first ${number.format(data.suspects.length)}.`),
    );
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
    const cells = (row) => [row.row, ...names.map((name) => csvCell(row[name]))];
    save("suspicious_rows.csv", [["row", ...names].join(","), ...shown.map((row) => cells(row).join(","))]);
  }

  const saveCorrections = () => save(data.table.download ?? "corrections.csv", corrections.csv(csvCell));

  function save(name, lines) {
    const blob = new Blob([`\uFEFF${lines.join("\r\n")}\r\n`], { type: "text/csv;charset=utf-8" });
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function turn(step) {
    first += step * size();
    draw();
    byId("suspects").scrollIntoView();
  }

  const tools = { element, foreign, unfolding, chance, accepts, settle, save: saveCorrections, narrow: () => narrow.matches };
  const checking = byId("check-card") && lopsCheck(data, corrections, tools);
  if (byId("threshold")) slider();
  if (byId("rows")) {
    byId("search").addEventListener("input", filter);
    for (const id of ["label", "state", "order"]) byId(id).addEventListener("change", filter);
    byId("previous").addEventListener("click", () => turn(-1));
    byId("next").addEventListener("click", () => turn(1));
    byId("download").addEventListener("click", download);
    byId("download-corrections").addEventListener("click", saveCorrections);
    byId("undo").addEventListener("click", undoLast);
    document.addEventListener("keydown", press);
    narrow.addEventListener("change", () => {
      first -= first % size(); // the page that the first row shown is on
      draw();
    });
    filter();
    count();
    unpack();
  }
})();
