// The page: settings in, two fits side by side, pictures out. The fits run in workers, slice by slice; to pause is not to ask
// for the next slice.

import { Engine } from "./engine.js";
import * as draw from "./draw.js";
import { DEFAULTS, command, fragment, parsed, pythonLine, read, show } from "./settings.js";

// Milliseconds of a slice: ten pictures a second.
const SLICE = 100;
// The plain network may train that many times as long as the thin one took.
const PATIENCE = 3;

// The largest frequency shown of functions with lines, in waves per unit.
const REACH = 8;

const field = (id) => document.getElementById(id);
const rounded = (value) => (value === 0 ? "0" : value.toExponential(1).replace("e+", "e").replace("-", "\u2212"));
const NETWORKS = ["thin", "plain"];

let module, file, run;

// One of the two networks of a run.
class Network {
  constructor(kind) {
    this.kind = kind;
    this.section = field(kind);
    this.milliseconds = 0;
    this.points = [];
    this.engine = new Engine(module, (said) => this.says(said));
  }

  says({ phase, step, steps }) {
    this.doing = phase;
    const count = steps ? ` ${step.toLocaleString("en")}/${steps.toLocaleString("en")}` : "";
    this.write(".doing", `${this.doing}${count} · ${this.seconds()}`);
    if (phase === "polish") buttons();
  }

  seconds() {
    return `${(this.milliseconds / 1000).toFixed(1)} s`;
  }

  write(selector, text) {
    this.section.querySelector(selector).textContent = text;
  }

  async begin(learn, bytes) {
    this.opening = await this.engine.ask({ do: "learn", network: this.kind, ...learn }, bytes);
  }

  // One slice; `steps` at most.
  async advance(steps) {
    const start = performance.now();
    const frame = await this.engine.ask({ do: "advance", milliseconds: steps ? 1e9 : SLICE, steps: steps ?? null });
    this.milliseconds += performance.now() - start;
    this.frame = frame;
    this.done = frame.phase === "done";
    this.points.push([this.milliseconds / 1000, frame.mse]);
    this.says(frame);
    this.write(".error", rounded(frame.mse));
    this.draw();
  }

  draw() {
    if (!this.frame) return;
    const { inputs, lines, side, truth } = this.opening;
    const axes = inputs.length > 1 ? [0, 1] : [0];
    const reach = lines.length ? REACH : draw.reach(this.frame.hidden, this.frame.size, axes);
    const features = this.section.querySelector(".features"), seen = this.section.querySelector(".seen");
    draw.features(features, this.frame, { names: inputs, axes, lines, reach }, this.kind);
    draw.seen(seen, this.frame.seen, { side, truth }, this.kind);
    const error = `error ${rounded(this.frame.mse)} after ${this.seconds()}`;
    features.setAttribute("aria-label", `${this.frame.size.length} hidden weights of the ${this.kind} network, ${error}`);
    seen.setAttribute("aria-label", `Function of the ${this.kind} network, ${error}`);
  }
}

// Two networks that learn the same.
class Run {
  going = true;

  constructor() {
    this.networks = NETWORKS.map((kind) => new Network(kind));
    [this.thin, this.plain] = this.networks;
  }

  async begin(learn, bytes) {
    await Promise.all(this.networks.map((network) => network.begin(learn, bytes)));
    const { side, formula, output, samples } = this.thin.opening;
    const what = learn.source.function ? `mean squared error on 1,000 fresh points; ${learn.source.function.name} = ${formula}` : `mean squared error of ${output} on held-out rows of ${samples.toLocaleString("en")}`;
    field("truth").hidden = !side;
    field("measure").textContent = what[0].toUpperCase() + what.slice(1);
    document.querySelectorAll(".seen-caption").forEach((caption) => (caption.textContent = side ? "The function, as the network sees it" : "Predicted and true values"));
  }

  // Whether a network has more to do.
  wants(network) {
    const patience = this.thin.done ? PATIENCE * this.thin.milliseconds : Infinity;
    return !network.done && (network === this.thin || network.milliseconds < patience);
  }

  get over() {
    return !this.networks.some((network) => this.wants(network));
  }

  // Trains until it is paused, ended or over.
  async go() {
    this.going = true;
    buttons();
    await Promise.all(this.networks.map((network) => this.march(network)));
    buttons();
  }

  // A pause lasts from the end of a slice: who goes on before that goes on with the same march.
  march(network) {
    const march = async () => {
      while (this.going && this === run && this.wants(network)) await this.advance(network);
    };
    return (network.marching ??= march().finally(() => (network.marching = undefined)));
  }

  async advance(network, steps) {
    try {
      await network.advance(steps);
    } catch (error) {
      network.done = true;
      if (this === run) complain(network.kind === "thin" ? error.message : `plain network: ${error.message}`);
      return;
    }
    if (this !== run) return;
    this.draw();
    if (network === this.thin && network.done) await this.finish();
  }

  async step() {
    await Promise.all(this.networks.filter((network) => this.wants(network)).map((network) => this.advance(network, 1)));
    buttons();
  }

  draw() {
    const { side, truth } = this.thin.opening;
    if (side) draw.seen(field("truth").querySelector("canvas"), truth, { side, truth });
    const curves = this.networks.map(({ points, kind }) => ({ points, tint: kind }));
    draw.curves(field("curve").querySelector("canvas"), curves, ["thin", "plain, by Adam"]);
  }

  async finish() {
    const { model } = await this.thin.engine.ask({ do: "model" });
    this.model = model;
    const findings = await this.thin.engine.ask({ do: "findings" });
    if (this !== run) return;
    this.findings = findings;
    found(this.thin.opening, findings);
    say(`The thin network is done after ${this.thin.seconds()}: error ${rounded(this.thin.frame.mse)}.`);
    buttons();
  }

  end() {
    this.going = false;
    this.networks.forEach((network) => network.engine.end());
  }
}

const say = (text) => (field("status").textContent = text);
const complain = (text) => (field("problem").textContent = text);

// What the buttons offer now.
const buttons = () => {
  const { start, pause, step, save } = Object.fromEntries(["start", "pause", "step", "save"].map((id) => [id, field(id)]));
  start.disabled = !module || (field("learn").value === "table" && !file?.columns);
  start.textContent = !module ? "Loading…" : run ? "Start again" : "Start";
  const polishing = run?.thin.doing === "polish" && !run.thin.done;
  pause.disabled = !run || run.over;
  pause.textContent = run && !run.going && !run.over ? "Go on" : "Pause";
  step.disabled = !run || run.going || run.over || polishing;
  save.disabled = !run?.model;
};

// Bars of the indices and curves of the effects.
const found = ({ inputs }, { first, total, exact, effects }) => {
  const all = effects.flatMap(({ effect }) => effect), range = [Math.min(...all), Math.max(...all)];
  const rows = inputs.map((name, j) => {
    const row = document.createElement("div"), label = document.createElement("span"), bar = document.createElement("div");
    const value = document.createElement("span"), canvas = document.createElement("canvas");
    row.className = "input";
    label.className = "name";
    label.textContent = label.title = name;
    bar.className = "bar";
    for (const [kind, share] of [["total", total[j]], ["first", first[j]]]) {
      const part = document.createElement("i");
      part.className = kind;
      part.style.width = `${100 * Math.min(share, 1)}%`;
      bar.append(part);
    }
    value.className = "value";
    value.textContent = `${Math.round(100 * first[j])} / ${Math.round(100 * total[j])} %`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Main effect of ${name}`);
    row.append(label, bar, canvas, value);
    return row;
  });
  field("indices").replaceChildren(...rows);
  field("found-note").textContent = `Share of the variance that each input explains alone (full colour) and in all (pale)${exact ? ", exactly" : ", estimated"}; its main effect.`;
  rows.forEach((row, j) => draw.effect(row.querySelector("canvas"), effects[j], range));
};

// The table as chosen; none where a function is learned.
const table = () => {
  if (field("learn").value !== "table" || !file?.columns) return undefined;
  const target = field("target").value, boxes = [...field("inputs").querySelectorAll("input")];
  const inputs = boxes.filter((box) => box.checked && box.value !== target).map((box) => box.value);
  const all = file.columns.every((name) => name === target || inputs.includes(name));
  return { name: file.name, target, inputs, chosen: all ? [] : inputs };
};

// What the settings ask the library for.
const request = (settings) => {
  const { learn, samples, noise, width, activation, seed, polish } = settings, from = table();
  const source = from
    ? { table: { name: from.name, target: from.target, inputs: from.inputs } }
    : { function: { name: learn, samples, noise } };
  return { source, settings: { width, activation, seed, polish } };
};

const changed = () => {
  const settings = read(), isTable = settings.learn === "table";
  document.querySelectorAll(".of-function").forEach((part) => (part.hidden = isTable));
  field("columns").hidden = !isTable || !file?.columns;
  field("file-name").textContent = isTable && file ? file.name : "";
  history.replaceState(null, "", fragment(settings));
  field("command").value = isTable && !file ? "" : command(settings, table());
  field("python").value = isTable && !file ? "" : pythonLine(settings, table());
  for (const box of field("inputs").querySelectorAll("input")) box.disabled = box.value === field("target").value;
  buttons();
};

const start = async () => {
  if (!field("settings").reportValidity()) return;
  run?.end();
  complain("");
  field("indices").replaceChildren();
  field("found-note").textContent = "Sobol\u2019 indices and main effects appear when the thin network is done.";
  const fresh = (run = new Run());
  say("Training. Features move while you watch.");
  try {
    const learn = request(read());
    await fresh.begin(learn, learn.source.table && file.bytes);
  } catch (error) {
    fresh.end();
    if (fresh !== run) return;
    run = undefined;
    say("");
    complain(error.message);
    return buttons();
  }
  await fresh.go();
};

// Reads the columns of a file and offers them.
const take = async (chosen) => {
  run?.end();
  run = undefined;
  complain("");
  field("learn").value = "table";
  field("polish").checked = DEFAULTS.table.polish;
  file = { name: chosen.name, bytes: await chosen.arrayBuffer() };
  const engine = new Engine(module, () => {});
  try {
    const { columns } = await engine.ask({ do: "columns", name: file.name }, file.bytes);
    file.columns = columns;
    const option = (name) => Object.assign(document.createElement("option"), { value: name, textContent: name });
    field("target").replaceChildren(...columns.map(option));
    field("target").value = columns.at(-1);
    const box = (name) => {
      const label = document.createElement("label");
      label.append(Object.assign(document.createElement("input"), { type: "checkbox", value: name, checked: true }), name);
      return label;
    };
    field("inputs").replaceChildren(document.querySelector("#inputs legend"), ...columns.map(box));
    say(`${file.name} has ${columns.length} columns. Choose the one to learn and start.`);
  } catch (error) {
    say("");
    complain(error.message);
  } finally {
    engine.end();
  }
  changed();
};

const save = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([run.model], { type: "application/json" }));
  link.download = "model.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
};

const share = async () => {
  const note = field("learn").value === "table" ? " The table itself is not in it." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    say(`The link is copied.${note}`);
  } catch {
    say(`The address of this page is the link; copy it from there.${note}`);
  }
};

const redraw = () => {
  run?.networks.forEach((network) => network.draw());
  if (run) run.draw();
  else draw.curves(field("curve").querySelector("canvas"), [], []);
  if (run?.findings) found(run.thin.opening, run.findings);
};

field("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  start();
});
field("settings").addEventListener("change", ({ target }) => {
  if (target === field("file")) return;
  if (target === field("learn")) show({ ...read(), ...DEFAULTS[target.value] });
  changed();
});
field("pause").addEventListener("click", () => {
  if (!run.going) return run.go();
  run.going = false;
  say(run.thin.doing === "polish" ? "The polish cannot be paused; the rest is." : "Paused.");
  buttons();
});
field("step").addEventListener("click", () => run.step());
field("save").addEventListener("click", save);
field("share").addEventListener("click", share);
field("file").addEventListener("change", ({ target }) => target.files[0] && take(target.files[0]));
for (const name of ["dragover", "dragleave", "drop"]) {
  addEventListener(name, (event) => {
    event.preventDefault();
    field("drop").classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
}
addEventListener("hashchange", () => {
  show(parsed(location.hash));
  changed();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
let resizing;
addEventListener("resize", () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(redraw);
});

show(parsed(location.hash));
changed();
redraw();
try {
  module = await WebAssembly.compileStreaming(fetch("thinfit.wasm"));
  performance.mark("interactive");
} catch (error) {
  complain(`the library cannot be loaded (${error.message}); reload the page in a browser with WebAssembly SIMD`);
}
buttons();
