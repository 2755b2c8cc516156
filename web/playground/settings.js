// The settings of the page: in its fields, in a link, and as the commands that repeat the fit elsewhere.

// What a function starts with. The polish pays for f1 to f3 and takes long for waves.
export const DEFAULTS = {
  g1: { samples: 2000, polish: false }, g2: { samples: 2000, polish: false }, g3: { samples: 2000, polish: false },
  f1: { samples: 300, polish: true }, f2: { samples: 500, polish: true }, f3: { samples: 500, polish: true },
  table: { samples: 2000, polish: true },
};
const FIRST = { learn: "g2", noise: 0, width: 100, seed: 1, activation: "fourier" };
const NUMBERS = ["samples", "noise", "width", "seed"];
const field = (name) => document.getElementById(name);

// What the fields say.
export const read = () => {
  const settings = { learn: field("learn").value, activation: field("activation").value, polish: field("polish").checked };
  for (const name of NUMBERS) settings[name] = field(name).valueAsNumber;
  return settings;
};

// Puts settings into the fields; what is missing or makes no sense is as at first.
export const show = (given) => {
  const learn = Object.hasOwn(DEFAULTS, given.learn) ? given.learn : FIRST.learn;
  const all = { ...FIRST, ...DEFAULTS[learn], ...given, learn };
  field("learn").value = learn;
  field("activation").value = all.activation;
  if (field("activation").selectedIndex < 0) field("activation").value = FIRST.activation;
  field("polish").checked = all.polish;
  for (const name of NUMBERS) {
    const input = field(name), usual = { ...FIRST, ...DEFAULTS[learn] }[name];
    input.value = /^\d/.test(all[name]) && isFinite(all[name]) ? all[name] : usual;
    if (!input.checkValidity()) input.value = usual;
  }
};

// The fragment of a link that holds the settings.
export const fragment = (settings) => "#" + new URLSearchParams({ ...settings, polish: settings.polish ? "yes" : "no" });

// The settings in a fragment.
export const parsed = (fragment) => {
  const given = Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, "")));
  const settings = {};
  for (const name of ["learn", "activation", ...NUMBERS]) if (Object.hasOwn(given, name)) settings[name] = given[name];
  if (Object.hasOwn(given, "polish")) settings.polish = given.polish === "yes";
  return settings;
};

const shell = (word) => (/^[\w.,\/:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
const python = (text) => JSON.stringify(text);

// The commands that repeat the fit; `table` has the name of the file, its target and its inputs.
export const command = (settings, table) => {
  const { learn, samples, noise, seed, width, activation, polish } = settings;
  const file = table ? table.name : "train.csv", target = table ? table.target : "y";
  const draw = table ? [] : [["thinfit", "data", learn, "--rows", samples, "--noise", noise, "--seed", seed, "-o", file]];
  const fit = ["thinfit", "fit", file, "--target", target];
  for (const input of table?.chosen ?? []) fit.push("--inputs", input);
  fit.push("--method", "gft-r", "--width", width, "--activation", activation, "--seed", seed);
  if (!polish) fit.push("--set", "polish.steps=0");
  return [...draw, fit].map((words) => words.map((word) => shell(String(word))).join(" ")).join(" &&\n");
};

export const pythonLine = (settings, table) => {
  const { seed, width, activation, polish } = settings;
  const options = [`width=${width}`, `activation=${python(activation)}`, `random_state=${seed}`];
  if (!polish) options.push('config={"polish": {"steps": 0}}');
  const file = python(table ? table.name : "train.csv"), target = python(table ? table.target : "y");
  const inputs = table?.chosen.length ? `data[${python(table.chosen)}]` : `data.drop(columns=${target})`;
  // The separator of a stranger's table is left to pandas; arrays have no columns that it could name.
  const text = !table || /\.(csv|tsv|txt)$/i.test(table.name);
  const data = text ? `pandas.read_csv(${file}${table ? ', sep=None, engine="python"' : ""})` : `...  # the table of ${file} as a pandas.DataFrame`;
  return `import pandas, thinfit; data = ${data}\n`
    + `model = thinfit.GFTRegressor(${options.join(", ")}).fit(${inputs}, data[${target}])`;
};
