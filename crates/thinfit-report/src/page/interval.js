// Intervals, as `thinfit predict --interval` computes them: f(x) plus and minus a quantile times sigma(x).

// Doubles, each half of which is five digits of base 85, the lower half first.
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%()*+,-./:;=?@[]^_{|";
const doubles = (text) => {
  const values = Object.fromEntries(Array.from(DIGITS, (digit, value) => [digit, value]));
  const bytes = new DataView(new ArrayBuffer((4 * text.length) / 5));
  for (let i = 0; i < text.length; i += 5) {
    let half = 0;
    for (let k = i; k < i + 5; k++) half = 85 * half + values[text[k]];
    bytes.setUint32((4 * i) / 5, half, true);
  }
  return Float64Array.from({ length: text.length / 10 }, (_, i) => bytes.getFloat64(8 * i, true));
};

const waves = (t) => 2 * Math.PI * (t - Math.round(t));
const FEATURES = {
  cosine: (t) => Math.cos(waves(t)),
  sigmoid: (t) => 0.5 + 0.5 * Math.tanh(0.5 * t),
  tanh: (t) => Math.tanh(t),
  relu: (t) => Math.max(t, 0),
};

// e(x) M e(x)' of a network and its rounding error, which is large where neurons are alike: then large terms cancel.
const networkSpread = ({ activation, covariance }, { neurons, scaled }) => {
  const n = neurons.length, complex = activation === "fourier", feature = FEATURES[activation];
  const e = new Float64Array(complex ? 2 * n : n + 1).fill(1), matrix = doubles(covariance);
  return (row) => {
    const x = scaled(...row);
    neurons.forEach(([w], l) => {
      // The offset of a wave holds its phase, which belongs to the output weights.
      let t = complex ? 0 : w[0];
      for (let j = 0; j < x.length; j++) t += w[1 + j] * x[j];
      if (complex) {
        e[l] = Math.cos(waves(t)) / n;
        e[n + l] = Math.sin(waves(t)) / n;
      } else {
        e[l] = feature(t) / n;
      }
    });
    let sum = 0, size = 0, at = 0;
    for (let i = 0; i < e.length; i++) {
      let left = 0, sizes = 0;
      for (let j = 0; j < i; j++) {
        const term = matrix[at++] * e[j];
        left += term;
        sizes += Math.abs(term);
      }
      const own = matrix[at++] * e[i];
      sum += e[i] * (2 * left + own);
      size += Math.abs(e[i]) * (2 * sizes + Math.abs(own));
    }
    return [Math.max(sum, 0), Number.EPSILON * size];
  };
};

// Solves L v = k in place, where L is lower triangular and stored row by row.
const solveLower = (factor, k) => {
  let at = 0;
  for (let i = 0; i < k.length; i++) {
    let sum = k[i];
    for (let j = 0; j < i; j++) sum -= factor[at++] * k[j];
    k[i] = sum / factor[at++];
  }
};

// The factor L of the kernel matrix with its ridge, row by row; yields how much is done. Null if a pivot fails.
function* factorise({ ridge, diagonal }, { kernel, points }) {
  const m = points.length, factor = new Float64Array((m * (m + 1)) / 2);
  for (let i = 0, row = 0; i < m; row += ++i) {
    for (let j = 0, other = 0; j <= i; other += ++j) {
      let sum = i === j ? diagonal + ridge : kernel(points[i][0], points[j][0]);
      for (let k = 0; k < j; k++) sum -= factor[row + k] * factor[other + k];
      if (i === j && !(sum > 0)) return null;
      factor[row + j] = i === j ? Math.sqrt(sum) : sum / factor[other + j];
    }
    yield (i / m) ** 3;
  }
  return factor;
}

// The variance of a Gaussian process beside its noise, in units of the signal, and its rounding error.
const processSpread = (factor, { diagonal }, { kernel, points, scaled }) => {
  const m = points.length, pull = new Float64Array(m).fill(1), k = new Float64Array(m);
  solveLower(factor, pull);
  // The transpose, from the last row on.
  for (let i = m - 1; i >= 0; i--) {
    const row = (i * (i + 1)) / 2;
    pull[i] /= factor[row + i];
    for (let j = 0; j < i; j++) pull[j] -= factor[row + j] * pull[i];
  }
  const total = pull.reduce((sum, v) => sum + v, 0);
  return (row) => {
    const x = scaled(...row);
    let mean = 0, explained = 0;
    for (let i = 0; i < m; i++) {
      k[i] = kernel(x, points[i][0]);
      mean += k[i] * pull[i];
    }
    solveLower(factor, k);
    for (let i = 0; i < m; i++) explained += k[i] * k[i];
    return [Math.max(diagonal - explained, 0) + (1 - mean) ** 2 / total, m * Number.EPSILON * (diagonal + explained)];
  };
};

// Half the width of the interval of each output and its rounding error, relative to it, as a function of a row and the number
// of a level: null where it has too few rows. Calls `ready` with the function, at once or when the covariance is factorised; with null where there is none.
const halfWidths = (uncertainty, model, run, ready) => {
  const { kind, quantiles } = uncertainty;
  const by = (sigma) => (row, level) => {
    const [sigmas, error] = sigma(row);
    return sigmas.map((s, o) => (quantiles[o][level] === null ? null : [quantiles[o][level] * s, error]));
  };
  if (kind === "none") {
    ready(null);
  } else if (kind === "constant") {
    ready(by(() => [quantiles.map(() => 1), 0]));
  } else if (kind === "network") {
    const spread = networkSpread(uncertainty, model), { scale, noise } = uncertainty;
    ready(by((row) => {
      const [v, error] = spread(row);
      return [scale.map((s, o) => s * Math.sqrt(noise[o] * (v + 1))), (0.5 * error) / (v + 1)];
    }));
  } else {
    run(factorise(uncertainty, model), (factor) => {
      if (factor === null) return ready(null);
      const spread = processSpread(factor, uncertainty, model), { scale, signal, ridge } = uncertainty;
      ready(by((row) => {
        const [v, error] = spread(row);
        return [scale.map((s, o) => s * Math.sqrt(signal[o] * (v + ridge))), (0.5 * error) / (v + ridge)];
      }));
    });
  }
};
