// What is known beside the predictions: importance, rows, candidates, features.

const MOST_INPUTS = 12, MOST_PAIRS = 10, WORST = 10;

// Inputs in falling order of their total index.
const byImportance = ({ total }) => total.map((_, j) => j).sort((a, b) => total[b] - total[a]);

const percent = (share) => minus((100 * share).toFixed(1)) + " %";

const showImportance = (bars, second, indices, names) => {
  const order = byImportance(indices);
  const name = (j) => short(names[j], 200) + (indices.undetected.includes(j) ? " (no detectable effect)" : "");
  const share = (shares, kind, j) => {
    const error = indices.errors && indices.errors[kind][j];
    return error === undefined ? percent(shares[j]) : `${minus((100 * shares[j]).toFixed(1))} ±\u00a0${percent(error).replace(" ", "\u00a0")}`;
  };
  const line = (j) => [name(j), bar(indices.first[j], indices.total[j]), share(indices.first, 0, j), share(indices.total, 1, j)];
  const list = (inputs) => table([["input", "name"], ["share", "bar-cell"], ["alone", "number share"], ["with others", "number share"]], inputs.map(line));
  const caveat = "No effect of the inputs is distinguishable from noise: these are shares of a model that explains almost nothing.";
  const warnings = [...(indices.idle ? [caveat] : []), ...(indices.warning ? [`${indices.warning}.`] : [])];
  bars.replaceChildren(...warnings.map((text) => html("p", { class: "warn" }, text)), list(order.slice(0, MOST_INPUTS)));
  if (order.length > MOST_INPUTS) {
    const rest = order.slice(MOST_INPUTS);
    bars.append(html("details", {}, html("summary", {}, `${rest.length} more inputs`), list(rest)));
  }
  const how = indices.closed_form ? "Integrated in closed form" : "Estimated by sampling";
  bars.append(html("p", { class: "quiet hint" }, `Shares of the output's variance (Sobol indices, first order and total) with inputs that are independent of each other: numbers uniform over the range of the samples, whole numbers and levels of a column of text equally likely. ${how}.${indices.errors ? " ±: standard error due to model uncertainty." : ""}`));
  second.replaceChildren();
  const shown = order.slice(0, MOST_PAIRS);
  if (shown.length < 2) return;
  if (indices.second.length === 0) {
    second.append(html("p", { class: "quiet" }, "There are too many pairs of inputs to compute."));
    return;
  }
  const most = Math.max(...shown.flatMap((i) => shown.map((j) => indices.second[i][j])), 1e-300);
  const cell = (i, j) => {
    const share = indices.second[i][j], text = share >= indices.least ? percent(share) : "\u00b7";
    const element = html("td", {}, text);
    const strength = Math.round(70 * Math.max(0, share) / most);
    if (share >= indices.least) element.style.background = `color-mix(in srgb, var(--band) ${strength}%, transparent)`;
    return element;
  };
  const head = (j, scope) => html("th", { scope, title: names[j] }, short(names[j], 14));
  const rows = shown.slice(1).map((i, k) =>
    html("tr", {}, head(i, "row"), ...shown.slice(0, k + 1).map((j) => cell(i, j)), ...shown.slice(k + 2).map(() => html("td"))));
  second.append(html("p", { class: "quiet" }, "Interactions of pairs of inputs"),
    html("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Pairs of inputs" }, html("table", {},
      html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "pair"), ...shown.slice(0, -1).map((j) => head(j, "col")))),
      html("tbody", {}, ...rows))));
};

// The rows beside their predictions: two plots, a highlighted row in both, and the list of the worst.
const rowsView = (rows, controls, name, o, go) => {
  const y = rows.y[o], f = rows.f[o], m = rows.count, errors = y.map((v, i) => v - f[i]);
  const worst = Array.from({ length: m }, (_, i) => i).sort((a, b) => Math.abs(errors[b]) - Math.abs(errors[a]));
  const number = (i) => (rows.numbers ? rows.numbers[i] : i + 1);
  const rowAt = (i) => rows.x.map((column) => column[i]);
  const range = (...lists) => {
    let [low, high] = [Infinity, -Infinity];
    for (const list of lists) for (const v of list) { low = Math.min(low, v); high = Math.max(high, v); }
    const pad = 0.04 * (high - low) || 1;
    return [low - pad, high + pad];
  };
  const plots = [
    { canvas: byId("truth"), x: y, y: f, names: [`measured ${name}`, `predicted ${name}`], line: (x0, x1) => [x0, x1] },
    { canvas: byId("residuals"), x: f, y: errors, names: [`predicted ${name}`, "measured − predicted"], line: () => [0, 0] },
  ];
  plots[0].ranges = [range(y, f), range(y, f)];
  plots[1].ranges = [range(f), range(errors)];
  const shown = within(plots[0].ranges[0]);
  let chosen = null;
  const draw = () => {
    for (const plot of plots) {
      const area = surface(plot.canvas, 0.8), { pen } = area, [[x0, x1], yRange] = plot.ranges;
      const map = axes(area, [x0, x1], yRange, plot.names);
      plot.map = map;
      const [from, to] = plot.line(x0, x1);
      pen.strokeStyle = colour("quiet");
      pen.setLineDash([4, 4]);
      pen.beginPath();
      pen.moveTo(map.across(x0), map.up(from));
      pen.lineTo(map.across(x1), map.up(to));
      pen.stroke();
      pen.setLineDash([]);
      pen.fillStyle = colour("accent");
      pen.globalAlpha = m > 2000 ? 0.35 : 0.65;
      const size = m > 2000 ? 2 : 4;
      for (let i = 0; i < m; i++) pen.fillRect(map.across(plot.x[i]) - size / 2, map.up(plot.y[i]) - size / 2, size, size);
      pen.globalAlpha = 1;
      if (chosen === null) continue;
      pen.strokeStyle = colour("warn");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(map.across(plot.x[chosen]), map.up(plot.y[chosen]), 6, 0, 7);
      pen.stroke();
    }
  };
  const choose = (i) => {
    if (i === chosen) return;
    chosen = i;
    if (i !== null) {
      const row = rowAt(i), inputs = controls.slice(0, 8).map((control) => `${short(control.name, 24)} ${shownOf(control, row)}`);
      byId("hover").textContent = `Row ${number(i)}: measured ${shown(y[i])}, predicted ${shown(f[i])}, error ${four(errors[i])}; ${inputs.join(", ")}${controls.length > 8 ? ", \u2026" : ""}.`;
    }
    draw();
  };
  for (const plot of plots) {
    plot.canvas.setAttribute("aria-label", `${short(plot.names[1], 60)} against ${short(plot.names[0], 60)}, ${m} rows`);
    plot.canvas.onpointermove = (event) => {
      const frame = plot.canvas.getBoundingClientRect(), [px, py] = [event.clientX - frame.left, event.clientY - frame.top];
      let [nearest, best] = [null, 14 ** 2];
      for (let i = 0; i < m; i++) {
        const square = (plot.map.across(plot.x[i]) - px) ** 2 + (plot.map.up(plot.y[i]) - py) ** 2;
        if (square < best) [nearest, best] = [i, square];
      }
      if (nearest !== null) choose(nearest);
    };
    plot.canvas.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const at = chosen === null ? (step > 0 ? -1 : 0) : worst.indexOf(chosen);
      choose(worst[(at + step + m) % m]);
    };
  }
  const columns = [["row", "number"], ...controls.slice(0, 6).map((control) => [short(labelled(control.name, control.unit), 80), control.levels ? "name" : "number"]),
    ["measured", "number"], ["predicted", "number"], ["error", "number"], ["", "act"]];
  byId("worst").replaceChildren(table(columns, worst.slice(0, WORST).map((i) => {
    const row = rowAt(i);
    const to = html("button", { type: "button", "aria-label": `Set the sliders to row ${number(i)}`, onclick: () => { choose(i); go(row); } }, "Set sliders");
    return [String(number(i)), ...controls.slice(0, 6).map((control) => shownOf(control, row)), shown(y[i]), shown(f[i]), four(errors[i]), to];
  })));
  return draw;
};

// Proposed samples.
const showNext = ({ thin, next }, controls, outputs, go) => {
  const lines = thin ?? [];
  const even = "The rows are spread fairly evenly over the values of each input.";
  byId("thin").replaceChildren();
  if (lines.length > 0) {
    byId("thin").append(html("p", {}, "Few rows here:"), html("ul", {}, ...lines.slice(0, 12).map((line) => html("li", {}, short(said(line), 300)))));
  } else if (thin) {
    byId("thin").append(html("p", {}, even));
  }
  byId("next").replaceChildren();
  byId("next").hidden = !next || next.rows.length === 0;
  byId("next-words").textContent = next ? next.words : "This kind of model does not estimate where it is uncertain.";
  if (!next || next.rows.length === 0) return;
  const how = next.level ? `\u00b1 (${Math.round(100 * next.level)} %)` : "\u00b1 1 \u03c3";
  const heading = (name) => (outputs.length > 1 ? `${short(name, 80)} ${how}` : how);
  const columns = [...controls.map((control) => [short(labelled(control.name, control.unit), 80), control.levels ? "name" : "number"]),
    ...outputs.map((name) => [heading(name), "number"]), ["", "act"]];
  byId("next").append(table(columns, next.rows.map((row, k) => [
    ...controls.map((control) => shownOf(control, row)), ...next.widths[k].map((half) => width(half)),
    html("button", { type: "button", "aria-label": `Set the sliders to proposal ${k + 1}`, onclick: () => go(row) }, "Set sliders"),
  ])));
};

// The strongest features in words, and the plane of hidden weights where there are two inputs.
const showFeatures = ({ words, list, plane }, o, names) => {
  byId("features").replaceChildren(html("p", {}, words[o]), html("ul", {}, ...list[o].map((line) => html("li", {}, short(said(line), 600)))));
  byId("plane").replaceChildren();
  if (!plane) return;
  const most = Math.max(...plane.weights.flat().map(Math.abs), 1e-300), largest = Math.max(...plane.sizes[o], 1e-300);
  const at = (v) => 150 + (130 * v) / most;
  const dots = plane.weights.map(([a, b], l) =>
    svg("circle", { cx: at(a), cy: 300 - at(b), r: Math.max(0.8, 12 * Math.sqrt(plane.sizes[o][l] / largest)), fill: "var(--accent)", "fill-opacity": 0.55 }));
  const words2 = (x, y, anchor, text) => svg("text", { x, y, "text-anchor": anchor, "font-size": 11, fill: "var(--quiet)" }, text);
  byId("plane").append(
    svg("svg", { viewBox: "0 0 300 318", role: "img", "aria-label": "Hidden weights: a dot per neuron" },
      svg("path", { d: "M150 10V290M10 150H290", stroke: "var(--line)" }), ...dots,
      words2(290, 164, "end", short(names[0], 24)), words2(156, 20, "start", short(names[1], 24)),
      words2(290, 145, "end", four(most)), words2(150, 314, "middle", plane.unit)),
    html("p", { class: "quiet" }, "A dot per neuron: its position shows its weights, its area the size of its term."));
};

const showTried = (tried, o) => {
  byId("tried-section").hidden = tried.length === 0;
  if (tried.length === 0) return;
  const errors = tried.map(({ rmse }) => Math.log10(Math.max(rmse[o], 1e-300)));
  // A decade at least, so that small differences look small.
  const high = Math.max(...errors), low = Math.min(...errors, high - 1);
  const rows = tried.map(({ name, shown }, k) => [short(name, 120), bar(0.06 + (0.94 * (errors[k] - low)) / (high - low), 0), minus(shown[o])]);
  byId("tried").replaceChildren(table([["candidate; the first was chosen", "name"], ["relative error", "bar-cell"], ["error on held-out rows", "number"]], rows),
    html("p", { class: "quiet hint" }, "Bars are on a logarithmic scale: shorter is better."));
};
