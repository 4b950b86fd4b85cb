// The rows that a person checks, one at a time: the label is right, or another class is.
const lopsCheck = (data, corrections, page) => {
  const byId = (id) => document.getElementById(id);
  const { element, foreign } = page;
  const numbered = new Map(data.suspects.map((row) => [row.row, row]));
  const all = data.to_check.map((number) => numbered.get(number)).filter(Boolean);
  const ROUND = 10; // rows between two selections
  let rows; // those that are asked for: the first ten, then ten more
  const skipped = new Set();
  const past = corrections.numbers().map((number) => numbered.get(number)).filter((row) => all.includes(row)); // for undo
  const [card, box] = [byId("check-card"), byId("check-row")];
  const checked = (row) => corrections.has(row.row);
  const open = (row) => !checked(row) && !skipped.has(row);
  const suggests = byId("check-suggestions"); // hidden, a suggestion does not sway the answer
  const swayed = new Set(stored()); // numbers of the rows that were checked with the suggestion in sight
  let now; // the row on the card; undefined: none is left
  const last = element("span"); // what was done last
  ask(Math.max(1, ...all.map((row, at) => (checked(row) ? at + 1 : 0))));

  function ask(least) {
    rows = all.slice(0, ROUND * Math.ceil(least / ROUND));
  }

  const title = (row) => ["Row ", row.id === null ? String(row.row) : foreign(row.id)];
  const tell = (row, ...said) => last.replaceChildren(...title(row), ": ", ...said);

  function stored() {
    try {
      return JSON.parse(localStorage.getItem(`${data.key}-suggested`) ?? "[]");
    } catch {
      return [];
    }
  }

  function store() {
    try {
      localStorage.setItem(`${data.key}-suggested`, JSON.stringify([...swayed]));
    } catch {} // corrections say that nothing is kept
  }

  function named(name, label, under = "") {
    const line = element("p", "named");
    line.append(element("span", "muted", name), " ", foreign(label), element("span", "muted", under));
    return line;
  }

  function fill() {
    const [made, label] = [[], []];
    if (now) {
      const text = element("div", "said");
      page.unfolding(text, now, page.narrow() ? 280 : 600);
      const head = element("p", "muted");
      head.append(...title(now));
      made.push(head, text);
      label.push(named("label", now.label));
      const sure = now.suggested_probability === null ? "" : ` (${page.chance(now.suggested_probability)} sure)`;
      if (suggests.checked && (page.accepts(now) || !now.selected)) label.push(named("suggested", now.suggested ?? "-", sure));
      byId("check-accept").querySelector("bdi").textContent = now.suggested ?? "";
    } else {
      const [left, more] = [skipped.size, Math.min(ROUND, all.length - rows.length)];
      const done = more ? `${rows.length} rows are checked.` : "All rows are checked.";
      const said = left ? `${left} skipped ${left === 1 ? "row is" : "rows are"} left.` : done;
      const next = "Next: download the corrections, then run the command below. It selects again, and says how many labels are wrong.";
      made.push(element("p", "done", said), element("p", "", next));
      if (more) made.push(button(`Check ${more} more`, () => show(() => ask(rows.length + 1))));
      if (left) made.push(button("Check the skipped rows", () => show(() => skipped.clear())));
    }
    box.replaceChildren(...made);
    byId("check-label").replaceChildren(...label);
    for (const part of card.querySelectorAll("[data-code], #check-right, #check-none, #check-skip, #check-others, #check-other")) part.hidden = !now;
    byId("check-accept").hidden = !now || !accepts();
  }

  function button(name, action) {
    const made = element("button", "", name);
    made.type = "button";
    made.addEventListener("click", action);
    return made;
  }

  // Draws what has changed; the list below changes corrections, too.
  function update(wanted) {
    const before = now;
    for (const row of skipped) if (checked(row)) skipped.delete(row);
    now = wanted ?? (now && open(now) ? now : rows.find(open));
    if (now !== before || !box.firstChild || !now) fill();
    const done = rows.filter(checked).length;
    byId("check-bar").max = rows.length;
    byId("check-bar").value = done;
    const later = skipped.size ? `, ${skipped.size} skipped` : "";
    const knowing = rows.filter((row) => checked(row) && swayed.has(row.row)).length;
    const how = knowing ? `; ${knowing} with the suggestion in sight` : "";
    byId("check-estimate").textContent = done ? `So far: ${answers()}${how}` : "";
    byId("check-status").replaceChildren(element("strong", "", `${done} of ${rows.length} checked${later}${corrections.warning()}`), " ", last);
    byId("check-undo").disabled = past.length === 0;
    byId("download-checked").disabled = corrections.size() === 0;
    byId("download-checked").classList.toggle("primary", !now && corrections.size() > 0);
  }

  // The next row is shown, and read aloud; Enter means "right" again.
  function show(action, wanted) {
    action();
    update(wanted);
    box.focus({ preventScroll: true });
    if (box.getBoundingClientRect().top < 0) card.scrollIntoView();
  }

  function decide(code) {
    if (!now || code < corrections.DELETED || code >= data.classes.length) return;
    const row = now;
    past.push(row);
    const other = !suggests.checked && page.accepts(row) && row.suggested_code !== code;
    const hint = other ? [" (suggested: ", foreign(row.suggested), ")"] : [];
    if (code === corrections.DELETED) tell(row, "none of these", ...hint);
    else tell(row, ...(code === row.code ? ["right"] : ["\u2192 ", foreign(data.classes[code].shown)]), ...hint);
    swayed[suggests.checked ? "add" : "delete"](row.row);
    store();
    show(() => page.settle(row, () => corrections.set(row.row, code)));
  }

  function skip() {
    if (!now) return;
    past.push(now);
    tell(now, "skipped");
    show(() => skipped.add(now));
  }

  function undo() {
    const row = past.pop();
    if (!row) return;
    tell(row, "undone");
    skipped.delete(row);
    show(() => page.settle(row, () => corrections.undo(row.row)), row);
  }

  const right = () => decide(now?.code);
  const none = () => decide(corrections.DELETED);
  const accepts = () => suggests.checked && page.accepts(now);
  const accept = () => now && accepts() && decide(now.suggested_code);

  function answers() {
    const answered = rows.filter(checked);
    const right = answered.filter((row) => corrections.confirmed(row.row)).length;
    const none = answered.filter((row) => corrections.get(row.row) === corrections.DELETED).length;
    return `${right} right, ${answered.length - right - none} wrong, ${none} of no class`;
  }

  // Keys are for the card if its section has the focus, or if nothing has it and the card is in sight.
  function active() {
    const focused = document.activeElement;
    const { top, bottom } = box.getBoundingClientRect();
    return card.closest(".check").contains(focused) || ((!focused || focused === document.body) && bottom > 0 && top < innerHeight);
  }

  function press(event) {
    const key = event.key.toLowerCase();
    const action = { r: right, enter: right, a: accept, n: none, s: skip, u: undo }[key];
    if (key === "enter" && event.target.closest("button, summary")) return;
    if (!action && !/^[1-9]$/.test(key)) return;
    event.preventDefault();
    if (event.repeat) return; // a key that is held down checks one row
    if (action) action();
    else decide(key - 1);
  }

  for (const one of card.querySelectorAll("[data-code]")) one.addEventListener("click", () => decide(Number(one.dataset.code)));
  byId("check-other")?.addEventListener("click", () => decide(Number(byId("check-others").value)));
  for (const [id, action] of Object.entries({ right, accept, none, skip, undo })) byId(`check-${id}`).addEventListener("click", action);
  byId("download-checked").addEventListener("click", page.save);
  suggests.addEventListener("change", () => {
    fill();
    box.focus({ preventScroll: true }); // keys are for the card again
  });
  return { active, press, update };
};
