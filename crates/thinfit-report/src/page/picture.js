// Elements and pictures. Texts only ever become text nodes, attributes or pixels.

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
};
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const byId = (id) => document.getElementById(id);

// A colour of the theme.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// A table; columns are [heading, kind] with the kinds "name", "number", "bar-cell" and "act", of buttons.
const table = (columns, rows) => {
  const cell = (tag, content, j) => html(tag, { class: columns[j][1], scope: tag === "th" ? "col" : null }, content);
  const head = html("tr", {}, ...columns.map(([heading], j) => cell(heading ? "th" : "td", heading, j)));
  const body = rows.map((row) => html("tr", {}, ...row.map((content, j) => cell("td", content, j))));
  return html("table", {}, html("thead", {}, head), html("tbody", {}, ...body));
};

// A horizontal bar: a light part up to `whole` of 1 and a solid one up to `part`.
const bar = (part, whole) => {
  const width = (v) => Math.max(0, Math.min(v, 1)) * 100;
  return svg("svg", { class: "bar", viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 1, width: width(whole), height: 12, fill: "var(--band)" }),
    svg("rect", { x: 0, y: 4, width: width(part), height: 6, fill: "var(--accent)" }));
};

// The width of canvases on paper, whatever the screen; 0 on the screen.
const paper = { width: 0 };

// A canvas cleared for drawing, with its size in CSS pixels.
const surface = (canvas, ratio) => {
  const width = paper.width || Math.max(canvas.clientWidth, 200), height = Math.round(width * ratio);
  const dots = paper.width ? 3 : Math.min(window.devicePixelRatio || 1, 3);
  canvas.width = width * dots;
  canvas.height = height * dots;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(dots, dots);
  pen.font = "12px system-ui, sans-serif";
  return { pen, width, height };
};

// Axes of a canvas: the maps from numbers to pixels, with ticks, and the names of the axes.
const axes = ({ pen, width, height }, [x0, x1], [y0, y1], [xName, yName], marks = [ticks, ticks]) => {
  const beside = marks[1](y0, y1, 5);
  const widest = Math.max(...beside.map(([, text]) => pen.measureText(text).width), 10);
  const box = { left: Math.ceil(widest) + 12, right: width - 12, top: 22, bottom: height - 38 };
  const across = (v) => box.left + ((v - x0) / (x1 - x0 || 1)) * (box.right - box.left);
  const up = (v) => box.bottom - ((v - y0) / (y1 - y0 || 1)) * (box.bottom - box.top);
  pen.strokeStyle = colour("line");
  pen.fillStyle = colour("quiet");
  pen.lineWidth = 1;
  pen.strokeRect(box.left + 0.5, box.top + 0.5, box.right - box.left, box.bottom - box.top);
  pen.textAlign = "center";
  for (const [v, text] of marks[0](x0, x1, Math.max(2, Math.floor(width / 90)))) pen.fillText(text, across(v), box.bottom + 15);
  pen.textAlign = "right";
  for (const [v, text] of beside) pen.fillText(text, box.left - 6, up(v) + 4);
  pen.textAlign = "center";
  const most = Math.floor((box.right - box.left) / 6.5);
  pen.fillText(short(xName, most), (box.left + box.right) / 2, height - 5);
  pen.textAlign = "left";
  pen.fillText(short(yName, most), 4, 13);
  return { box, across, up };
};

// Colours from low to high; light or dark, they stand on both papers.
const STOPS = [[27, 42, 82], [28, 92, 128], [52, 143, 132], [158, 184, 112], [244, 220, 140]];
const shade = (share) => {
  const place = Math.max(0, Math.min(share, 1)) * (STOPS.length - 1), k = Math.min(Math.floor(place), STOPS.length - 2);
  return STOPS[k].map((v, i) => Math.round(v + (place - k) * (STOPS[k + 1][i] - v)));
};

// Segments of the line at `level` through the values of a grid, by linear interpolation in each of its squares.
const isoline = (grid, level) => {
  const segments = [];
  for (let i = 0; i + 1 < grid.length; i++) {
    for (let j = 0; j + 1 < grid[i].length; j++) {
      const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]], crossings = [];
      for (let k = 0; k < 4; k++) {
        const [a, b] = [corners[k], corners[(k + 1) % 4]], [u, v] = [grid[a[0]][a[1]], grid[b[0]][b[1]]];
        if (u < level !== v < level) {
          const share = (level - u) / (v - u);
          crossings.push([a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]);
        }
      }
      for (let k = 0; k + 1 < crossings.length; k += 2) segments.push([crossings[k], crossings[k + 1]]);
    }
  }
  return segments;
};
