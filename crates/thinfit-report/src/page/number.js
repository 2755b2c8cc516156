// Numbers and texts as people read them.

// A true minus sign; in a sentence, before numbers and in exponents alone.
const minus = (text) => text.replace(/-/g, "\u2212");
const said = (text) => text.replace(/(^|[\s(]|\de)-(?=\d)/g, "$1\u2212");

// Four significant digits, with an exponent only if it helps.
const four = (value) => {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (!(size >= 1e-3 && size < 1e6)) return minus(value.toExponential(3).replace("e+", "e"));
  return minus(value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size)))));
};

// A number of a range, with so many decimals that the range has thousands of steps, or 10 to the given power; of a range
// between integers, integers as such.
const within = ([low, high], power = 3) => (value) => {
  if ([low, high, value].every(Number.isInteger) && Math.abs(value) < 1e7) return minus(String(value));
  const places = power - Math.floor(Math.log10(high - low));
  return places >= 0 && (places <= 6 || Math.abs(value) >= 1e-3) ? minus(value.toFixed(Math.min(places, 15))) : four(value);
};

// A width with one or two significant digits.
const width = (value, digits = 2) => {
  if (value === 0) return "0";
  if (!(value >= 1e-3 && value < 1e6)) return minus(value.toExponential(digits - 1).replace("e+", "e"));
  return value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(value))));
};

// Digits of a width that an error, relative to it, leaves: a hundredth of the last one at most.
const digitsLeft = (error) => (error < 1e-4 ? 2 : error < 1e-3 ? 1 : 0);
// Relative errors beyond which not even the size of a width is known.
const LOST = 1;

// So many decimals that a width has so many digits, but the value at most eight; six digits without a width.
const decimals = (value, half, digits) => {
  const size = Math.floor(Math.log10(Math.max(Math.abs(value), Number.MIN_VALUE)));
  const most = 7 - Math.max(size, -300);
  if (!(half > 0)) return most - 2;
  return Math.min(digits - 1 - Math.floor(Math.log10(half)), most);
};

// The value with so many decimals.
const fixed = (value, places) => {
  if (!Number.isFinite(value)) return minus(String(value));
  const size = Math.abs(value);
  if (places > 12 || places < -2 || size >= 1e9) {
    const digits = size > 0 ? Math.floor(Math.log10(size)) + places : 0;
    return minus(value.toExponential(Math.min(Math.max(digits, 0), 15)).replace("e+", "e"));
  }
  return minus(value.toFixed(Math.max(0, places)));
};

// The text, cut to so many characters.
const short = (text, most) => {
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "\u2026" : text;
};

// Text that may be cut, with a title.
const told = (element, text, most) => {
  element.textContent = short(text, most);
  element.title = text;
};

// Round numbers from low to high, about so many, as [number, text].
const ticks = (low, high, count) => {
  if (!(high > low)) return [[low, four(low)]];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.999) ?? raw;
  const size = Math.floor(Math.log10(step * 1.001)), large = Math.max(Math.abs(low), Math.abs(high));
  const text = (value) => {
    if (Math.abs(value) < 1e-9 * step) return "0";
    if (large >= 0.01 && large < 1e7) return value.toFixed(Math.min(Math.max(0, -size), 20));
    const digits = Math.floor(Math.log10(Math.abs(value)) + 1e-9) - size;
    return value.toExponential(Math.min(Math.max(0, digits), 12)).replace("e+", "e");
  };
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    marks.push([k * step, minus(text(k * step))]);
  }
  return marks;
};
