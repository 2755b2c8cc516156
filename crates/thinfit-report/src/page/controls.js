// The controls: a slider or a choice for every column, each with the profile of the output along it.

const STEPS = 1000;

// Numbers of an input in the units of its slider, and back.
const bent = (control, v) => (control.warp ? Math.asinh((v - control.warp.centre) / control.warp.width) : v);
const straight = (control, u) => (control.warp ? control.warp.centre + control.warp.width * Math.sinh(u) : u);
const ends = (control) => control.range.map((v) => bent(control, v));

// The number at a place of the slider, from 0 to 1.
const numberAt = (control, place) => {
  const [low, high] = ends(control);
  return straight(control, low + place * (high - low));
};

// Where a number stands, from 0 to 1 within the range.
const placeOf = (control, v) => {
  const [low, high] = ends(control);
  return high > low ? (bent(control, v) - low) / (high - low) : 0.5;
};

// The number at a step of the slider as text: as few digits as tell neighbouring steps apart, but within the range.
const textAt = (control, step) => {
  const [low, high] = control.range;
  if (!(high > low)) return String(low);
  const v = numberAt(control, step / STEPS);
  const near = numberAt(control, (step < STEPS ? step + 1 : step - 1) / STEPS);
  const places = Math.min(100, -Math.floor(Math.log10(Math.abs(near - v))));
  const rounded = (number) => (places >= 0 ? number.toFixed(places) : String(Math.round(number * 10 ** places) / 10 ** places));
  const grain = 10 ** -places;
  for (const number of [v, v + grain, v - grain]) {
    if (Number(rounded(number)) >= low && Number(rounded(number)) <= high) return rounded(number);
  }
  return String(v);
};

// A name with its unit, as axes and sliders show it.
const labelled = (name, unit) => (unit ? `${name} [${unit}]` : name);

// The inputs of a row as a control shows them.
const shownOf = (control, row) => {
  if (!control.levels) return numberOf(control, row[control.first]);
  return (control.levels[levelOf(control, row)] ?? { name: "?" }).name;
};
// A number of a control; of a warped one small values count as well.
const numberOf = (control, v) => (control.warp && !control.range.every(Number.isInteger) ? four : within(control.range))(v);
// The number of the level that a row has.
const levelOf = ({ levels, first }, row) => levels.findIndex((level) => level.inputs.every((v, k) => row[first + k] === v));

// What a typed text says, as [number, problem].
const typed = (text) => {
  if (/,\d{3}(?!\d)/.test(text)) return [NaN, "Write it without the comma, or with a decimal point."];
  const number = text.trim() === "" ? NaN : Number(text.replace(",", "."));
  return [number, Number.isFinite(number) ? "" : "This is not a number."];
};

// Size of a profile, with the room below it for the histogram of the rows.
const WIDTH = 240, HEIGHT = 92, RUG = 14, POINTS = 48;

// A card: its elements, what it sets in the row, and how it draws its profile.
const card = (control, number, row, changed) => {
  const id = `control-${number}`, levels = control.levels;
  const name = labelled(control.name, control.unit);
  const label = html("label", { for: id, title: name }, short(name, 120));
  const picture = svg("svg", {
    class: "profile", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Profile along ${short(name, 60)}`,
  });
  const path = (attributes) => picture.appendChild(svg("path", { "vector-effect": "non-scaling-stroke", ...attributes }));
  const rug = path({ fill: "var(--line)" });
  const band = path({ fill: "var(--band)" });
  const curve = path({ fill: "none", stroke: "var(--accent)", "stroke-width": 2 });
  const here = path({ fill: "none", stroke: "var(--ink)", "stroke-width": 1, "stroke-dasharray": "3 3" });
  const low = html("span"), high = html("span"), top = html("span"), bottom = html("span");
  const frame = html("div", { class: "frame" }, picture, top, bottom);
  let element, show;

  if (levels) {
    const choice = html("select", { id }, ...levels.map((level, k) => html("option", { value: k }, short(level.name, 60))));
    const set = () => levels[choice.value].inputs.forEach((v, k) => { row[control.first + k] = v; });
    choice.addEventListener("change", () => { set(); changed(); });
    show = () => {
      choice.value = String(Math.max(0, levelOf(control, row)));
      set();
    };
    levels[Math.floor((levels.length - 1) / 2)].inputs.forEach((v, k) => { row[control.first + k] = v; });
    element = html("div", { class: "card" }, html("div", { class: "card-head" }, label, choice), frame,
      html("div", { class: "ends" }, low, high));
    told(low, levels[0].name, 20);
    told(high, levels[levels.length - 1].name, 20);
  } else {
    const field = html("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", "aria-describedby": `${id}-problem` });
    const problem = html("p", { id: `${id}-problem`, class: "warn" });
    const complain = (text) => {
      field.setAttribute("aria-invalid", String(text !== ""));
      problem.textContent = text;
    };
    const slider = html("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": short(name, 60) });
    slider.disabled = !(control.range[1] > control.range[0]);
    const set = (number) => {
      row[control.first] = number;
      slider.setAttribute("aria-valuetext", String(number));
      complain("");
    };
    slider.addEventListener("input", () => {
      field.value = textAt(control, Number(slider.value));
      set(Number(field.value));
      changed();
    });
    field.addEventListener("input", () => {
      const [number, wrong] = typed(field.value);
      complain(wrong);
      if (wrong) return;
      set(number);
      slider.value = String(Math.round(STEPS * placeOf(control, number)));
      changed();
    });
    show = () => {
      field.value = String(row[control.first]);
      slider.value = String(Math.round(STEPS * placeOf(control, row[control.first])));
      set(row[control.first]);
    };
    row[control.first] = Number(textAt(control, STEPS / 2));
    element = html("div", { class: "card" }, html("div", { class: "card-head" }, label, field), problem, frame, slider,
      html("div", { class: "ends" }, low, high));
    low.textContent = numberOf(control, control.range[0]);
    high.textContent = numberOf(control, control.range[1]);
  }

  // Rows per part of the range, along the bottom.
  const count = (column) => {
    const counts = new Array(40).fill(0);
    for (const v of column) {
      const place = Math.floor(placeOf(control, v) * counts.length);
      counts[Math.max(0, Math.min(place, counts.length - 1))]++;
    }
    const most = Math.max(...counts), wide = WIDTH / counts.length;
    rug.setAttribute("d", counts.map((k, i) => `M${i * wide} ${HEIGHT}v${(-RUG * k) / most}h${wide}V${HEIGHT}z`).join(""));
  };

  // Draws the profile; `at` gives [value, half width or null] of a row. Yields between points.
  const draw = function* (at, span, grow) {
    const other = row.slice(), places = levels ? levels.map((_, k) => (k + 0.5) / levels.length)
      : Array.from({ length: POINTS + 1 }, (_, k) => k / POINTS);
    const values = [];
    for (const [k, place] of places.entries()) {
      if (levels) levels[k].inputs.forEach((v, i) => { other[control.first + i] = v; });
      else other[control.first] = numberAt(control, place);
      values.push(at(other));
      yield;
    }
    for (const [f, half] of values) grow(f, half);
    const [least, most] = span;
    bottom.textContent = within(span, 2)(least);
    top.textContent = within(span, 2)(most);
    const x = (k) => (places[k] * WIDTH).toFixed(2);
    const y = (v) => Math.max(-4, Math.min(HEIGHT, HEIGHT - RUG - 4 - ((v - least) / (most - least || 1)) * (HEIGHT - RUG - 8))).toFixed(2);
    const bounded = values.every(([, half]) => half !== null);
    if (levels) {
      const mark = ([f], k) => `M${x(k) - 8} ${y(f)}h16`;
      const box = ([f, half], k) => `M${x(k) - 5} ${y(f - half)}h10V${y(f + half)}h-10z`;
      curve.setAttribute("d", values.map(mark).join(""));
      band.setAttribute("d", bounded ? values.map(box).join("") : "");
      return;
    }
    curve.setAttribute("d", "M" + values.map(([f], k) => `${x(k)} ${y(f)}`).join("L"));
    const upper = values.map(([f, half], k) => `${x(k)} ${y(f + half)}`);
    const lower = values.map(([f, half], k) => `${x(k)} ${y(f - half)}`).reverse();
    band.setAttribute("d", bounded ? `M${upper.concat(lower).join("L")}z` : "");
  };

  // Marks where the slider stands.
  const mark = () => {
    const place = levels ? (levelOf(control, row) + 0.5) / levels.length : Math.max(0, Math.min(placeOf(control, row[control.first]), 1));
    here.setAttribute("d", `M${(place * WIDTH).toFixed(2)} 0V${HEIGHT}`);
  };

  return { element, control, show, count, draw, mark };
};
