// The output over two inputs, the others as the sliders stand.

const GRIDS = [16, 48];
const MOST_DOTS = 1500;

// Draws the contour of `value(row)` over two numeric controls, coarse first; yields between rows of the grid.
const contour = function* (canvas, [across, up], row, value, name, rows) {
  const other = row.slice();
  for (const size of GRIDS) {
    const grid = [];
    let [least, most] = [Infinity, -Infinity];
    for (let i = 0; i <= size; i++) {
      const line = [];
      other[up.first] = numberAt(up, i / size);
      for (let j = 0; j <= size; j++) {
        other[across.first] = numberAt(across, j / size);
        line.push(value(other));
      }
      least = Math.min(least, ...line);
      most = Math.max(most, ...line);
      grid.push(line);
      yield;
    }
    paint(canvas, [across, up], row, grid, [least, most], name, rows);
  }
};

// Ticks of a control, which may be warped.
const controlTicks = (control) => (low, high, count) => {
  if (!control.warp) return ticks(low, high, count);
  return Array.from({ length: count }, (_, k) => low + ((k + 0.5) * (high - low)) / count).map((u) => {
    const v = Number(straight(control, u).toPrecision(2));
    return [bent(control, v), minus(String(v))];
  });
};

const paint = (canvas, [across, up], row, grid, [least, most], name, rows) => {
  const area = surface(canvas, 0.72), { pen, width } = area, size = grid.length - 1;
  const marks = ticks(least, most, 9), title = short(name, 10);
  const legend = Math.ceil(Math.max(...marks.map(([, text]) => pen.measureText(text).width + 16), pen.measureText(title).width)) + 12;
  const inner = { ...area, width: width - legend };
  const map = axes(inner, ends(across), ends(up), [across, up].map(({ name, unit }) => labelled(name, unit)), [controlTicks(across), controlTicks(up)]);
  const { box } = map, wide = box.right - box.left, high = box.bottom - box.top;
  const image = new ImageData(size + 1, size + 1);
  grid.forEach((line, i) => line.forEach((v, j) => {
    const at = 4 * ((size - i) * (size + 1) + j);
    image.data.set([...shade((v - least) / (most - least || 1)), 255], at);
  }));
  const small = document.createElement("canvas");
  small.width = small.height = size + 1;
  small.getContext("2d").putImageData(image, 0, 0);
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, wide, high);
  pen.clip();
  // Samples are at the corners of the squares, pixels in their middles.
  const [dx, dy] = [wide / size, high / size];
  pen.drawImage(small, box.left - dx / 2, box.top - dy / 2, wide + dx, high + dy);
  pen.lineWidth = 1;
  pen.strokeStyle = "rgba(255, 255, 255, 0.75)";
  pen.beginPath();
  for (const [level] of most > least ? marks : []) {
    for (const [[a, b], [c, d]] of isoline(grid, level)) {
      pen.moveTo(box.left + b * dx, box.bottom - a * dy);
      pen.lineTo(box.left + d * dx, box.bottom - c * dy);
    }
  }
  pen.stroke();
  if (rows) {
    const [x, y] = [rows.x[across.first], rows.x[up.first]], step = Math.max(1, Math.ceil(x.length / MOST_DOTS));
    pen.fillStyle = "rgba(0, 0, 0, 0.55)";
    for (let i = 0; i < x.length; i += step) pen.fillRect(map.across(bent(across, x[i])) - 1, map.up(bent(up, y[i])) - 1, 2, 2);
  }
  const [cx, cy] = [map.across(bent(across, row[across.first])), map.up(bent(up, row[up.first]))];
  for (const [line, ink] of [[4, "#000"], [2, "#fff"]]) {
    pen.lineWidth = line;
    pen.strokeStyle = ink;
    pen.beginPath();
    pen.arc(cx, cy, 6, 0, 7);
    pen.stroke();
  }
  pen.restore();
  const left = width - legend + 8;
  for (let k = 0; k < high; k++) {
    pen.fillStyle = `rgb(${shade(1 - k / high).join(",")})`;
    pen.fillRect(left, box.top + k, 12, 1.5);
  }
  pen.fillStyle = colour("quiet");
  pen.textAlign = "left";
  for (const [level, text] of marks) {
    if (most > least) pen.fillText(text, left + 16, box.bottom - ((level - least) / (most - least)) * high + 4);
  }
  pen.fillText(title, left, 13);
  canvas.places = { box };
};
