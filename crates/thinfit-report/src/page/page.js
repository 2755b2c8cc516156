// The page: puts the content in its places, and draws anew what a change asks for.

const content = JSON.parse(byId("content").textContent);
const { controls, outputs, levels } = content;
const axisNames = outputs.map((name, o) => labelled(name, content.units[o]));
const rows = content.rows && { ...content.rows, ...Object.fromEntries(["x", "y", "f"].map((key) => [key, content.rows[key].map(doubles)])) };
const state = { output: 0, level: levels.indexOf(content.level), row: new Array(content.inputs.length).fill(0), half: null, waiting: true };
const predict = (row) => [model(...row)].flat();

// Work in slices of some milliseconds, so that the page stays responsive; `done` gets what the generator returns.
const SLICE = 12;
const inSlices = (work, done, wanted = () => true, told = () => {}) => {
  const slice = () => {
    if (!wanted()) return;
    const start = performance.now();
    for (;;) {
      const { done: over, value } = work.next();
      if (over) return done(value);
      if (performance.now() - start > SLICE) {
        told(value);
        setTimeout(slice);
        return;
      }
    }
  };
  slice();
};

// The first inputs by importance have their sliders in sight.
const MOST_CARDS = 9;
const ranked = () => {
  const { total } = content.sensitivity[state.output];
  return controls.map((_, k) => k).sort((a, b) => total[b] - total[a]);
};
const cards = controls.map((control, k) => card(control, k, state.row, () => refresh()));

// The range of each output that the profiles share; it grows, but never shrinks under the reader's hand.
const spans = outputs.map(() => [Infinity, -Infinity]), golden = 0.6180339887498949;
const widen = (span, v) => span.splice(0, 2, Math.min(span[0], v), Math.max(span[1], v));
for (let k = 0; k < 60; k++) {
  const row = state.row.slice();
  controls.forEach((control, j) => {
    const place = (0.5 + (k + 1) * golden ** (1 + j / controls.length)) % 1;
    if (control.levels) control.levels[Math.floor(place * control.levels.length)].inputs.forEach((v, i) => { row[control.first + i] = v; });
    else row[control.first] = numberAt(control, place);
  });
  predict(row).forEach((f, o) => widen(spans[o], f));
}
if (rows) rows.y.forEach((column, o) => column.forEach((v) => widen(spans[o], v)));

// Value, half width and its relative rounding error, of the shown output.
const at = (row) => {
  const o = state.output, f = predict(row)[o], known = state.half ? state.half(row, state.level)[o] : null;
  return known ? [f, ...known] : [f, null, 0];
};

const showAnswer = () => {
  const [f, half, error] = at(state.row), digits = digitsLeft(error);
  const places = decimals(f, error > LOST ? null : half, Math.max(digits, 1));
  byId("answer").textContent = fixed(f, places);
  const far = cards.filter(({ control }) => !control.levels && !(Math.abs(placeOf(control, state.row[control.first]) - 0.5) <= 0.5 + 1e-9));
  const bounds = byId("bounds");
  if (far.length > 0) {
    bounds.textContent = "no interval outside the samples";
  } else if (half !== null && error > LOST) {
    bounds.textContent = "rounding hides the interval: neurons are too similar";
  } else if (half !== null && digits === 0) {
    bounds.textContent = `\u00b1 about ${width(half, 1)}: rounding hides further digits`;
  } else if (half !== null) {
    const about = `\u00b1 ${width(half, digits)}`;
    bounds.textContent = half >= 10 ** -places ? `${fixed(f - half, places)} to ${fixed(f + half, places)} (${about})` : about;
  } else if (state.waiting) {
    bounds.textContent = "";
  } else {
    bounds.textContent = state.half ? "too few rows for an interval at this level" : "no interval";
  }
  byId("outside").hidden = far.length === 0;
  byId("outside").textContent = `Outside the samples in ${far.map(({ control }) => short(control.name, 40)).join(", ")}: nothing is certain there.`;
};

const pair = [byId("pair-x"), byId("pair-y")];
let generation = 0;
// The prediction at once, the curves and the contour as there is time; nothing while it is printed.
const refresh = () => {
  if (paper.width > 0) return;
  showAnswer();
  cards.forEach((card) => { card.mark(); card.drawn = false; });
  const mine = ++generation;
  inSlices(redraw(), () => {}, () => mine === generation);
};
const redraw = function* () {
  const span = spans[state.output], before = span.join();
  const grow = (f, half) => {
    const wide = half !== null && half < 0.3 * (span[1] - span[0]) ? half : 0;
    widen(span, f - wide);
    widen(span, f + wide);
  };
  const more = byId("more-cards"), seen = ranked().map((k) => cards[k]).filter(({ element }) => more.open || !more.contains(element));
  for (const card of seen) if (!card.drawn) yield* card.draw(at, span, grow);
  if (span.join() !== before) for (const card of seen) yield* card.draw(at, span, () => {});
  for (const card of seen) card.drawn = true;
  const across = pair.map((select) => controls[select.value]);
  if (across.every(Boolean)) {
    yield* contour(byId("contour"), across, state.row, (row) => predict(row)[state.output], axisNames[state.output], rows);
  }
};

// Sets the sliders to a row.
const go = (row) => {
  row.forEach((v, j) => { state.row[j] = v; });
  cards.forEach((card) => card.show());
  refresh();
  byId("h-try").scrollIntoView({ block: "start" });
  byId("h-try").focus();
};

const showCards = () => {
  const order = ranked(), more = byId("more-cards");
  byId("cards").replaceChildren(...order.slice(0, MOST_CARDS).map((k) => cards[k].element));
  more.hidden = order.length <= MOST_CARDS;
  more.firstElementChild.textContent = `${order.length - MOST_CARDS} more inputs of less importance`;
  more.lastElementChild.replaceChildren(...order.slice(MOST_CARDS).map((k) => cards[k].element));
};

const showPair = () => {
  const numeric = ranked().filter((k) => !controls[k].levels && controls[k].range[1] > controls[k].range[0]);
  byId("pair").hidden = numeric.length < 2;
  pair.forEach((select, i) => {
    const kept = select.value;
    select.replaceChildren(...numeric.map((k) => html("option", { value: k }, short(controls[k].name, 60))));
    if (numeric.length > 1) select.value = kept === "" ? String(numeric[i]) : kept;
  });
  state.pair = pair.map(({ value }) => value);
};

const showQuality = (o) => {
  const { verdict, words, errors } = content.quality[o];
  const sentences = content.words.map((line) => html("li", {}, short(said(line), 600)));
  byId("words").replaceChildren(
    html("p", { class: "verdict" }, "On new rows this model is ", html("b", {}, verdict), "."),
    html("p", {}, said(words.join(" "))),
    ...(sentences.length > 0 ? [html("ul", {}, ...sentences)] : []),
    ...(content.notes.length > 0 ? [html("p", { class: "quiet" }, `Columns of the table: ${content.notes.map((note) => short(note, 300)).join("; ")}.`)] : []));
  byId("errors").replaceChildren(...(errors.length > 0
    ? [table([["on new rows", "name"], ["RMS error", "number"]], errors.map(([name, text]) => [name, minus(text)]))] : []));
};

let drawRows = () => {};
const showOutput = (o) => {
  state.output = o;
  [...byId("tabs").children].forEach((tab, k) => {
    tab.setAttribute("aria-selected", String(k === o));
    tab.tabIndex = k === o ? 0 : -1;
  });
  if (outputs.length > 1) byId("panel").setAttribute("aria-labelledby", `tab-${o}`);
  told(byId("answer-name"), axisNames[o], 60);
  showQuality(o);
  showCards();
  showPair();
  showImportance(byId("bars"), byId("second"), content.sensitivity[o], controls.map(({ name }) => name));
  showFeatures(content.features, o, content.inputs);
  showTried(content.tried, o);
  if (rows) {
    byId("data-words").textContent = said(rows.words[o].join(" "));
    drawRows = rowsView(rows, ranked().map((k) => controls[k]), axisNames[o], o, go);
    drawRows();
  }
  refresh();
};

// The model in a language: its pieces refer to the script that the page runs.
const script = byId("model").textContent;
const files = [{ name: "JavaScript", file: `${content.function}.js`, text: () => `${script}\nexport { ${content.function} };\n` },
  ...content.languages.map(({ name, file, parts }) => ({
    name, file, text: () => parts.map((part) => (typeof part === "string" ? part : script.substr(part[0], part[1]))).join(""),
  }))];
const MOST_LINES = 120;
const showLanguage = () => {
  const lines = files[byId("language").value].text().split("\n"), more = lines.length - MOST_LINES;
  const shown = lines.slice(0, MOST_LINES).map((line) => short(line, 400)).join("\n");
  byId("code").textContent = more > 1 ? `${shown}\n\u2026 ${more} more lines, which are copied as well` : shown;
  byId("copied").textContent = "";
};
const copy = async () => {
  const { text, file } = files[byId("language").value];
  try {
    await navigator.clipboard.writeText(text());
    byId("copied").textContent = `Copied ${file}.`;
  } catch {
    byId("copied").textContent = "The browser refuses to copy; save it as a file.";
  }
};
const save = () => {
  const { text, file } = files[byId("language").value];
  const link = html("a", { download: file, href: URL.createObjectURL(new Blob([text()], { type: "text/plain" })) });
  link.click();
  URL.revokeObjectURL(link.href);
};

const drawAll = () => { drawRows(); refresh(); };
const { dataset } = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
const setTheme = (theme) => {
  dataset.theme = theme;
  byId("theme").setAttribute("aria-pressed", String(theme === "dark"));
};
const follow = () => setTheme(system.matches ? "dark" : "light");

// Printers do not wait: all that is drawn in slices is drawn at once, in the light theme.
let before;
const beforePrint = () => {
  before = { theme: dataset.theme, open: byId("more-cards").open };
  setTheme("light");
  byId("more-cards").open = true;
  paper.width = 416;
  drawRows();
  generation++;
  Array.from(redraw());
};
const afterPrint = () => {
  setTheme(before.theme);
  byId("more-cards").open = before.open;
  paper.width = 0;
  drawAll();
};

// Once.
const start = () => {
  follow();
  const names = outputs.map((name) => short(name, 160));
  byId("title").textContent = `A model of ${names.length > 4 ? `${names.length} outputs` : names.join(", ").replace(/, ([^,]*)$/, " and $1")}`;
  byId("kind").textContent = short(content.kind, 300);
  byId("made").textContent = `${short(content.made, 300)} This page is one file: it computes here and sends nothing to any server.`;
  const tabs = byId("tabs");
  tabs.hidden = outputs.length < 2;
  if (outputs.length > 1) {
    tabs.append(...outputs.map((name, o) =>
      html("button", { type: "button", role: "tab", id: `tab-${o}`, "aria-controls": "panel", onclick: () => showOutput(o), title: name }, short(name, 60))));
    byId("panel").setAttribute("role", "tabpanel");
    tabs.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      showOutput((state.output + step + outputs.length) % outputs.length);
      tabs.children[state.output].focus();
    });
  }
  byId("level").append(...levels.map((level, k) => html("option", { value: k }, `${Math.round(100 * level)} %`)));
  byId("level").value = String(state.level);
  byId("level").addEventListener("change", (event) => { state.level = Number(event.target.value); refresh(); });
  byId("level-label").hidden = content.uncertainty.kind === "none";
  byId("data").hidden = !rows;
  if (rows) {
    byId("seen").textContent = rows.seen;
    byId("seen").className = rows.flattered ? "warn" : "";
    cards.filter(({ control }) => !control.levels).forEach((card) => card.count(rows.x[card.control.first]));
  }
  showNext(content, controls, outputs, go);
  byId("language").append(...files.map(({ name }, k) => html("option", { value: k }, name)));
  byId("language").addEventListener("change", showLanguage);
  byId("copy").addEventListener("click", copy);
  byId("save").addEventListener("click", save);
  showLanguage();
  byId("more-cards").addEventListener("toggle", () => refresh());
  pair.forEach((select, i) => select.addEventListener("change", () => {
    // The same input twice swaps the two.
    if (select.value === pair[1 - i].value) pair[1 - i].value = state.pair[i];
    state.pair = pair.map(({ value }) => value);
    refresh();
  }));
  byId("contour").addEventListener("click", (event) => {
    const frame = event.target.getBoundingClientRect(), { box } = event.target.places ?? {};
    if (!box) return;
    const [px, py] = [(event.clientX - frame.left - box.left) / (box.right - box.left), (box.bottom - event.clientY + frame.top) / (box.bottom - box.top)];
    [[pair[0], px], [pair[1], py]].forEach(([select, place]) => {
      const control = controls[select.value];
      state.row[control.first] = Number(textAt(control, Math.round(STEPS * Math.max(0, Math.min(place, 1)))));
    });
    cards.forEach((card) => card.show());
    refresh();
  });
  byId("contour").setAttribute("aria-label", "Contour of the output over two inputs");
  byId("theme").addEventListener("click", () => { setTheme(dataset.theme === "dark" ? "light" : "dark"); drawAll(); });
  system.addEventListener("change", () => { follow(); drawAll(); });
  let width = window.innerWidth;
  addEventListener("resize", () => {
    if (window.innerWidth !== width) drawAll();
    width = window.innerWidth;
  });
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  cards.forEach((card) => card.show());
  showOutput(0);
  const ready = (half) => {
    state.half = half;
    state.waiting = false;
    byId("progress").textContent = "";
    refresh();
  };
  const told = (share) => { byId("progress").textContent = `computing the interval: ${Math.round(100 * share)} %`; };
  halfWidths(content.uncertainty, model, (work, done) => inSlices(work, done, () => true, told), ready);
};
start();
