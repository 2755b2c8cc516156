// Tables, models and reports for the tests, made by the program itself.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const folder = mkdtempSync(join(tmpdir(), "thinfit-web-"));
export const remove = () => rmSync(folder, { recursive: true, force: true });

// Runs the program in the folder.
export const thinfit = (...words) => execFileSync(process.env.THINFIT, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const quoted = (cell) => (typeof cell === "number" ? String(cell) : `"${cell.replaceAll('"', '""')}"`);

// Writes a table and returns its name.
export const table = (name, header, rows) => {
  writeFileSync(join(folder, name), [header, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n");
  return name;
};

// Columns of a table that the program wrote.
export const readTable = (name) => {
  const [header, ...lines] = readFileSync(join(folder, name), "utf8").trim().split("\n").map((line) => line.split(","));
  return { header, rows: lines.map((line) => line.map(Number)) };
};

// Numbers that look random, the same every time.
export const uniform = (i, j) => ((i + 1) * [0.6180339887, 0.7548776662, 0.5698402910, 0.8191725134][j]) % 1;

// Rows of three inputs of different units and of two outputs.
export const samples = (count, noise, from = 0) => Array.from({ length: count }, (_, k) => {
  const i = k + from, [a, b, c] = [0, 1, 2].map((j) => uniform(i, j));
  const wave = Math.sin(3 * a) + b * c + noise * (uniform(i, 3) - 0.5);
  return [a, 1200 + 40 * b, 1e-3 * (c - 0.5), 10 * wave, -5 + Math.cos(2 * b) * a + noise * (uniform(i + 7, 3) - 0.5)];
});

// The network of random features: quick, with intervals.
const NETWORK = ["--method", "random", "--width", "30", "--set", "polish.steps=3", "--quiet"];
const PROCESS = ["--method", "gaussian-process", "--quiet"];

const NAMES = ["angle", "temperature [K]", "offset", "lift", "drag"];
const fit = (name, data, target, method) => {
  thinfit("fit", data, "--target", target, ...method, "-o", `${name}.json`);
  return name;
};

// A report of a network and of a process, for one output and for two, with a table of new rows or with the rows fitted to.
export const reports = () => {
  const train = table("train.csv", NAMES, samples(120, 0.1)), test = table("test.csv", NAMES, samples(60, 0.1, 500));
  const one = table("one.csv", NAMES.slice(0, 4), samples(120, 0.1).map((row) => row.slice(0, 4)));
  const clean = table("clean.csv", NAMES.slice(0, 4), samples(100, 0.01).map((row) => row.slice(0, 4)));
  const exact = table("exact.csv", NAMES.slice(0, 4), samples(100, 0).map((row) => row.slice(0, 4)));
  const made = [
    { name: fit("network-1", one, "lift", NETWORK), data: test, outputs: 1 },
    { name: fit("network-2", train, "lift,drag", [...NETWORK, "--set", "width=10"]), data: train, outputs: 2, seen: true },
    { name: fit("process-1", clean, "lift", PROCESS), outputs: 1 },
    { name: fit("process-exact", exact, "lift", PROCESS), outputs: 1 },
    { name: fit("process-2", train, "lift,drag", PROCESS), data: test, outputs: 2 },
  ];
  for (const { name, data } of made) thinfit("report", `${name}.json`, ...(data ? [data] : []), "-o", `${name}.html`);
  return made;
};

// What strangers write into tables and model files; all of it must be text on the page.
export const HOSTILE = [
  "<script>document.title = 'run'</script>",
  "\"><img src=x onerror=\"document.title = 'run'\">",
  "</script><script>document.title = 'run'</script><!--",
  "'; document.title = 'run'; //",
  "${document.title = 'run'}`",
  "{{content}}",
];

// Reports whose names and cells are hostile: of a table, and of a model file with changed texts.
export const hostileReports = () => {
  const long = "x".repeat(900), header = [HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[3], long];
  const words = [HOSTILE[4], `${HOSTILE[0]} ${"y".repeat(10_000)}`.slice(0, 900), "\u202eabc\u2066 d"];
  const rows = samples(90, 0.1).map(([a, b, c, y], i) => [a, b, words[i % 3], y + (i % 3), c]);
  thinfit("fit", table("hostile.csv", header, rows), "--target", HOSTILE[3], ...PROCESS, "-o", "hostile.json");
  thinfit("report", "hostile.json", "hostile.csv", "-o", "hostile.html");
  const model = JSON.parse(readFileSync(join(folder, "network-1.json"), "utf8"));
  model.inputs = [HOSTILE[2], HOSTILE[5], "a&b \u2028</title>".replace("\u2028", "")];
  model.outputs = [HOSTILE[1]];
  model.record.diagnosis = {
    choice: { within_chance: { most_probable: true } }, standard_error: [0.1], folds: 10, nested: false, noise: [0.1],
    inputs: [0], terms: null, outliers: [3], tried: [{ candidate: "matern", mse: [0.5] }],
  };
  writeFileSync(join(folder, "stranger.json"), JSON.stringify(model));
  thinfit("report", "stranger.json", "-o", "stranger.html");
  return ["hostile", "stranger"];
};
