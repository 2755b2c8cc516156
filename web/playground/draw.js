// Pictures on canvases, in the colours of the page.

const style = getComputedStyle(document.documentElement);
export const colour = (name) => style.getPropertyValue(`--${name}`).trim();
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

// A cleared canvas with a unit of one CSS pixel.
const sheet = (canvas) => {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  }
  const ink = canvas.getContext("2d");
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.clearRect(0, 0, width, height);
  ink.font = FONT;
  return { ink, width, height };
};

const frame = (ink, x, y, width, height) => {
  ink.strokeStyle = colour("rule");
  ink.lineWidth = 1;
  ink.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
};

const line = (ink, points) => {
  ink.beginPath();
  points.forEach(([x, y], k) => (k ? ink.lineTo(x, y) : ink.moveTo(x, y)));
  ink.stroke();
};

// The next of 1, 2, 5, 10, … above a number.
const ceiling = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= value * 0.999);
};

// How far the axes go: nearly all of the sum of sizes is inside.
export const reach = (hidden, size, axes) => {
  const far = hidden.map((w, l) => [Math.max(...axes.map((j) => Math.abs(w[j]))), size[l]]).sort((a, b) => a[0] - b[0]);
  let left = 0.98 * size.reduce((sum, b) => sum + b, 0);
  const edge = far.find(([, b]) => (left -= b) <= 0) ?? [1];
  return ceiling(Math.max(edge[0], 1e-9));
};

// Hidden weights as dots of area |b| over the inputs `axes`, with the lines that they belong on.
export const features = (canvas, { hidden, size }, { names, axes, lines, reach }, tint) => {
  const { ink, width, height } = sheet(canvas), middle = width / 2, scale = (middle - 2) / reach;
  const place = (x, y) => [middle + x * scale, height / 2 - y * scale];
  frame(ink, 0, 0, width, height);
  ink.save();
  ink.beginPath();
  ink.rect(1, 1, width - 2, height - 2);
  ink.clip();
  ink.strokeStyle = colour("rule");
  line(ink, [place(-reach, 0), place(reach, 0)]);
  if (axes.length > 1) line(ink, [place(0, -reach), place(0, reach)]);
  ink.strokeStyle = colour("soft");
  ink.lineWidth = 1;
  ink.setLineDash([4, 4]);
  for (const [a, b] of lines) {
    const far = (2 * reach) / Math.hypot(a, b);
    line(ink, [place(-a * far, -b * far), place(a * far, b * far)]);
  }
  ink.setLineDash([]);
  // Two features that nearly cancel have weights beyond all measure; they would make dots of the others.
  const usual = [...size].sort((a, b) => a - b)[Math.floor(0.9 * size.length)] || 1e-300, unit = 0.03 * width;
  ink.fillStyle = colour(tint);
  hidden.forEach((w, l) => {
    const [x, y] = place(w[axes[0]], axes.length > 1 ? w[axes[1]] : 0);
    ink.globalAlpha = 0.6;
    ink.beginPath();
    ink.arc(x, y, Math.min(Math.max(unit * Math.sqrt(size[l] / usual), 1.2), 2 * unit), 0, 7);
    ink.fill();
  });
  ink.restore();
  ink.globalAlpha = 1;
  ink.fillStyle = colour("soft");
  ink.textBaseline = "bottom";
  ink.textAlign = "right";
  ink.fillText(`${names[axes[0]]}  ±${reach}`, width - 5, height - 4);
  ink.textAlign = "left";
  ink.textBaseline = "top";
  if (axes.length > 1) ink.fillText(names[axes[1]], 5, 5);
};

// Colours from low to high that also differ in lightness.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const shade = (t) => {
  const place = Math.min(Math.max(t, 0), 1) * (STOPS.length - 1), k = Math.min(Math.floor(place), STOPS.length - 2), rest = place - k;
  return STOPS[k].map((low, i) => low + (STOPS[k + 1][i] - low) * rest);
};

// A function of two inputs, as colours between the least and the largest true value.
const map = (canvas, values, side, [low, high]) => {
  const { ink, width, height } = sheet(canvas);
  const picture = new OffscreenCanvas(side, side), paint = picture.getContext("2d"), data = paint.createImageData(side, side);
  values.forEach((value, i) => {
    const x = i % side, y = side - 1 - Math.floor(i / side);
    data.data.set([...shade((value - low) / (high - low)), 255], 4 * (y * side + x));
  });
  paint.putImageData(data, 0, 0);
  ink.imageSmoothingEnabled = true;
  ink.drawImage(picture, 0, 0, width, height);
};

// Predicted over true values: on the diagonal where they agree.
const scatter = (canvas, values, truth, [low, high], tint) => {
  const { ink, width, height } = sheet(canvas), room = (high - low) * 0.06 || 1;
  const place = (v, size) => ((v - low + room) / (high - low + 2 * room)) * size;
  frame(ink, 0, 0, width, height);
  ink.strokeStyle = colour("line");
  line(ink, [[0, height], [width, 0]]);
  ink.fillStyle = colour(tint);
  ink.globalAlpha = 0.6;
  values.forEach((value, i) => {
    ink.beginPath();
    ink.arc(place(truth[i], width), height - Math.min(Math.max(place(value, height), 3), height - 3), 2, 0, 7);
    ink.fill();
  });
  ink.globalAlpha = 1;
  ink.fillStyle = colour("soft");
  ink.textAlign = "right";
  ink.textBaseline = "bottom";
  ink.fillText("true", width - 5, height - 4);
  ink.textAlign = "left";
  ink.textBaseline = "top";
  ink.fillText("predicted", 5, 5);
};

// The function that a network computes, beside the truth.
export const seen = (canvas, values, { side, truth }, tint) => {
  const range = [Math.min(...truth), Math.max(...truth)];
  side ? map(canvas, values, side, range) : scatter(canvas, values, truth, range, tint);
};

// Errors over seconds, both on a logarithmic scale: one curve for each network.
export const curves = (canvas, curves, titles) => {
  const { ink, width, height } = sheet(canvas), [left, top, right, bottom] = [46, 8, 8, 26];
  const points = curves.flatMap(({ points }) => points).filter(([, error]) => error > 0);
  if (!points.length) return frame(ink, left, top, width - left - right, height - top - bottom);
  const seconds = points.map(([t]) => t), errors = points.map(([, error]) => Math.log10(error));
  const end = Math.max(...seconds, 1), low = Math.floor(Math.min(...errors)), high = Math.max(Math.ceil(Math.max(...errors)), low + 1);
  const x = (t) => left + (t / end) * (width - left - right);
  const y = (e) => top + ((high - Math.log10(e)) / (high - low)) * (height - top - bottom);
  frame(ink, left, top, width - left - right, height - top - bottom);
  ink.fillStyle = colour("soft");
  ink.strokeStyle = colour("rule");
  ink.textAlign = "right";
  ink.textBaseline = "middle";
  const every = Math.ceil((high - low) / 6);
  for (let k = high; k >= low; k -= every) {
    ink.fillText(`1e${k}`, left - 6, y(10 ** k));
    if (k < high && k > low) line(ink, [[left, y(10 ** k)], [width - right, y(10 ** k)]]);
  }
  ink.textBaseline = "top";
  const unit = ceiling(end / 6);
  for (let t = 0; t <= end; t += unit) {
    ink.textAlign = t === 0 ? "left" : "center";
    if (x(t) < width - right - 12) ink.fillText(t ? `${Number(t.toPrecision(3))} s` : "0", x(t), height - bottom + 6);
  }
  ink.lineWidth = 2;
  curves.forEach(({ points, tint }, i) => {
    const shown = points.filter(([, error]) => error > 0);
    if (!shown.length) return;
    ink.strokeStyle = ink.fillStyle = colour(tint);
    line(ink, shown.map(([t, error]) => [x(t), y(error)]));
    ink.textAlign = "right";
    ink.textBaseline = "top";
    ink.fillText(titles[i], width - right - 8, top + 6 + 17 * i);
  });
};

// The main effect of an input.
export const effect = (canvas, { at, effect }, [low, high]) => {
  const { ink, width, height } = sheet(canvas), span = high - low || 1;
  const x = (k) => 2 + (k / (at.length - 1)) * (width - 4), y = (v) => height - 3 - ((v - low) / span) * (height - 6);
  ink.strokeStyle = colour("thin");
  ink.lineWidth = 2;
  line(ink, effect.map((v, k) => [x(k), y(v)]));
};
