//! Published test functions for surrogate models, most of them from engineering: name, ranges and formula.
//!
//! Inputs are independent and uniform over their ranges. Where the source gives another distribution, a comment says
//! how the range was chosen. Some functions have irrelevant inputs that do not occur in the formula.

use std::f64::consts::{PI, TAU};

use crate::functions::{Problem, Sample, Split, sample};

/// A function of several inputs on a box.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// Short name; a number at its end is the number of inputs.
    pub name: &'static str,
    /// Smallest and largest value of each input (d).
    pub ranges: &'static [[f64; 2]],
    value: fn(&[f64]) -> f64,
}

impl Formula {
    /// Every function.
    pub const ALL: &'static [Formula] = FORMULAS;

    /// The function of this name.
    pub fn named(name: &str) -> Option<Formula> {
        FORMULAS.iter().copied().find(|f| f.name == name)
    }

    /// Number of inputs.
    pub fn dim(&self) -> usize {
        self.ranges.len()
    }

    /// The value at `x` (d).
    ///
    /// # Panics
    /// If `x` is shorter than [`dim`](Formula::dim).
    pub fn evaluate(&self, x: &[f64]) -> f64 {
        (self.value)(&x[..self.dim()])
    }

    /// Draws `samples` points uniformly over the ranges and evaluates the function there; splits are independent.
    pub fn sample(&self, samples: usize, seed: u64, split: Split) -> Sample {
        sample(self.value, self.ranges, samples, seed, split)
    }
}

const UNIT: [f64; 2] = [0.0, 1.0];

/// A line of the list.
const fn of(name: &'static str, ranges: &'static [[f64; 2]], value: fn(&[f64]) -> f64) -> Formula {
    Formula {
        name,
        ranges,
        value,
    }
}

const FORMULAS: &[Formula] = &[
    // Functions of the paper, at sizes of this list.
    of("f1-5", &[UNIT; 5], |x| Problem::F1.evaluate(x)),
    of("f1-10", &[UNIT; 10], |x| Problem::F1.evaluate(x)),
    of("f2-5", &[UNIT; 5], |x| Problem::F2.evaluate(x)),
    of("friedman-5", &[UNIT; 5], |x| Problem::F3.evaluate(x)),
    of("friedman-10", &[UNIT; 10], |x| Problem::F3.evaluate(x)),
    of("ishigami-3", &[[-PI, PI]; 3], |x| {
        Problem::Ishigami.evaluate(x)
    }),
    of("sobol-g-8", &[UNIT; 8], |x| Problem::SobolG.evaluate(x)),
    // Engineering.
    of("borehole-8", &BOREHOLE, borehole),
    of("otl-circuit-6", &OTL_CIRCUIT, otl_circuit),
    of("piston-7", &PISTON, piston),
    of("wing-weight-10", &WING_WEIGHT, wing_weight),
    of("robot-arm-8", &ROBOT_ARM, robot_arm),
    of("cantilever-5", &CANTILEVER, cantilever),
    of("steel-column-9", &STEEL_COLUMN, steel_column),
    of("short-column-5", &SHORT_COLUMN, short_column),
    of("sulfur-9", &SULFUR, sulfur),
    of("environmental-4", &ENVIRONMENTAL, environmental),
    of("flood-8", &FLOOD, flood),
    // Optimisation.
    of("branin-2", &[[-5.0, 10.0], [0.0, 15.0]], branin),
    of(
        "six-hump-camel-2",
        &[[-3.0, 3.0], [-2.0, 2.0]],
        six_hump_camel,
    ),
    of("log-goldstein-price-2", &[UNIT; 2], log_goldstein_price),
    of("hartmann-3", &[UNIT; 3], hartmann_3),
    of("hartmann-6", &[UNIT; 6], hartmann_6),
    of("rosenbrock-10", &[[-2.048, 2.048]; 10], rosenbrock),
    of("dixon-price-10", &[[-10.0, 10.0]; 10], dixon_price),
    of("griewank-5", &[[-5.0, 5.0]; 5], griewank),
    of("ackley-5", &[[-32.768, 32.768]; 5], ackley),
    of("styblinski-tang-5", &[[-5.0, 5.0]; 5], styblinski_tang),
    // Screening and emulation.
    of("welch-20", &[[-0.5, 0.5]; 20], welch),
    of("morris-20", &[UNIT; 20], morris),
    of("loeppky-10", &[UNIT; 10], loeppky),
    of("moon-20", &[UNIT; 20], moon),
    of("linkletter-10", &[UNIT; 10], |x| {
        x[0].sin() + (5.0 * x[1]).sin()
    }),
    of("gramacy-lee-6", &[UNIT; 6], |x| {
        (0.9 * (x[0] + 0.48)).powi(10).sin().exp() + x[1] * x[2] + x[3]
    }),
    of("gramacy-lee-1", &[[0.5, 2.5]], |x| {
        (10.0 * PI * x[0]).sin() / (2.0 * x[0]) + (x[0] - 1.0).powi(4)
    }),
    of("forrester-1", &[UNIT], |x| {
        (6.0 * x[0] - 2.0).powi(2) * (12.0 * x[0] - 4.0).sin()
    }),
    of("higdon-1", &[[0.0, 10.0]], |x| {
        (TAU * x[0] / 10.0).sin() + 0.2 * (TAU * x[0] / 2.5).sin()
    }),
    of("lim-2", &[UNIT; 2], |x| {
        let first = 30.0 + 5.0 * x[0] * (5.0 * x[0]).sin();
        (first * (4.0 + (-5.0 * x[1]).exp()) - 100.0) / 6.0
    }),
    of("franke-2", &[UNIT; 2], franke),
    of("currin-2", &[UNIT; 2], currin),
    of("cheng-sandu-2", &[UNIT; 2], |x| {
        (x[0] + x[1]).cos() * (x[0] * x[1]).exp()
    }),
    of("park-4", &[UNIT; 4], park),
    of("dette-pepelyshev-3", &[UNIT; 3], dette_pepelyshev_3),
    of("dette-pepelyshev-8", &[UNIT; 8], |x| {
        // The added terms count from x3 on.
        let sum = |i: usize| x[2..i].iter().sum::<f64>();
        let rest: f64 = (4..=8).map(|i| i as f64 * sum(i).ln_1p()).sum();
        dette_pepelyshev_3(x) + rest
    }),
    of("bratley-8", &[UNIT; 8], bratley),
];

/// Radius of the well and of its influence, transmissivity and head of the upper aquifer, of the lower, length and
/// conductivity of the well.
const BOREHOLE: [[f64; 2]; 8] = [
    [0.05, 0.15],
    [100.0, 50_000.0],
    [63_070.0, 115_600.0],
    [990.0, 1110.0],
    [63.1, 116.0],
    [700.0, 820.0],
    [1120.0, 1680.0],
    [9855.0, 12_045.0],
];

/// Water that flows through a borehole between two aquifers.
fn borehole(x: &[f64]) -> f64 {
    let &[
        radius,
        influence,
        upper,
        upper_head,
        lower,
        lower_head,
        length,
        conductivity,
    ] = x
    else {
        unreachable!("as many as ranges")
    };
    let log = (influence / radius).ln();
    let along = 2.0 * length * upper / (log * radius * radius * conductivity);
    TAU * upper * (upper_head - lower_head) / (log * (1.0 + along + upper / lower))
}

/// Resistances b1, b2, f, c1, c2 and the current gain.
const OTL_CIRCUIT: [[f64; 2]; 6] = [
    [50.0, 150.0],
    [25.0, 70.0],
    [0.5, 3.0],
    [1.2, 2.5],
    [0.25, 1.2],
    [50.0, 300.0],
];

/// Midpoint voltage of a push-pull circuit without an output transformer.
fn otl_circuit(x: &[f64]) -> f64 {
    let &[b1, b2, f, c1, c2, gain] = x else {
        unreachable!("as many as ranges")
    };
    let (base, load) = (12.0 * b2 / (b1 + b2), gain * (c2 + 9.0));
    ((base + 0.74) * load + 11.35 * f + 0.74 * f * load / c1) / (load + f)
}

/// Weight, surface, initial volume, spring, pressure, ambient and filling temperature.
const PISTON: [[f64; 2]; 7] = [
    [30.0, 60.0],
    [0.005, 0.020],
    [0.002, 0.010],
    [1000.0, 5000.0],
    [90_000.0, 110_000.0],
    [290.0, 296.0],
    [340.0, 360.0],
];

/// Time of one cycle of a piston.
fn piston(x: &[f64]) -> f64 {
    let &[weight, surface, volume, spring, pressure, ambient, filling] = x else {
        unreachable!("as many as ranges")
    };
    let gas = pressure * volume * ambient / filling;
    let force = pressure * surface + 19.62 * weight - spring * volume / surface;
    let at_rest = surface / (2.0 * spring) * ((force * force + 4.0 * spring * gas).sqrt() - force);
    TAU * (weight / (spring + surface * surface * gas / (at_rest * at_rest))).sqrt()
}

/// Area, fuel, aspect ratio, sweep in degrees, dynamic pressure, taper, thickness, load factor, gross and paint weight.
const WING_WEIGHT: [[f64; 2]; 10] = [
    [150.0, 200.0],
    [220.0, 300.0],
    [6.0, 10.0],
    [-10.0, 10.0],
    [16.0, 45.0],
    [0.5, 1.0],
    [0.08, 0.18],
    [2.5, 6.0],
    [1700.0, 2500.0],
    [0.025, 0.08],
];

/// Weight of the wing of a light aircraft.
fn wing_weight(x: &[f64]) -> f64 {
    let cos = x[3].to_radians().cos();
    let size = 0.036 * x[0].powf(0.758) * x[1].powf(0.0035) * (x[2] / (cos * cos)).powf(0.6);
    let shape = x[4].powf(0.006) * x[5].powf(0.04) * (100.0 * x[6] / cos).powf(-0.3);
    size * shape * (x[7] * x[8]).powf(0.49) + x[0] * x[9]
}

/// Four angles, then the lengths of the four segments.
const ROBOT_ARM: [[f64; 2]; 8] = [
    [0.0, TAU],
    [0.0, TAU],
    [0.0, TAU],
    [0.0, TAU],
    UNIT,
    UNIT,
    UNIT,
    UNIT,
];

/// Distance of the hand from the shoulder.
fn robot_arm(x: &[f64]) -> f64 {
    let (mut angle, mut place) = (0.0, [0.0; 2]);
    for (turn, length) in x[..4].iter().zip(&x[4..]) {
        angle += turn;
        place[0] += length * angle.cos();
        place[1] += length * f64::sin(angle);
    }
    place[0].hypot(place[1])
}

/// Young's modulus and two loads, each three deviations to both sides of its mean, then width and thickness.
const CANTILEVER: [[f64; 2]; 5] = [
    [2.465e7, 3.335e7],
    [200.0, 800.0],
    [700.0, 1300.0],
    [2.0, 4.0],
    [2.0, 4.0],
];

/// Displacement of the tip of a beam of length 100 that is clamped at its other end.
fn cantilever(x: &[f64]) -> f64 {
    let &[modulus, across, down, width, thickness] = x else {
        unreachable!("as many as ranges")
    };
    let bend = (down / (thickness * thickness)).hypot(across / (width * width));
    4.0 * 100f64.powi(3) / (modulus * width * thickness) * bend
}

/// Yield stress, three loads, flange breadth and thickness, profile height, initial deflection, Young's modulus; each
/// about two to three deviations to both sides of its mean.
const STEEL_COLUMN: [[f64; 2]; 9] = [
    [330.0, 470.0],
    [4e5, 6e5],
    [4.2e5, 7.8e5],
    [4.2e5, 7.8e5],
    [291.0, 309.0],
    [14.0, 26.0],
    [285.0, 315.0],
    [10.0, 50.0],
    [1.99e5, 2.23e5],
];

/// Strength that a steel column of length 7500 has left.
fn steel_column(x: &[f64]) -> f64 {
    let &[strength, p1, p2, p3, breadth, flange, height, bow, modulus] = x else {
        unreachable!("as many as ranges")
    };
    let (load, area) = (p1 + p2 + p3, breadth * flange);
    let euler = PI * PI * modulus * area * height * height / (2.0 * 7500f64.powi(2));
    strength - load * (0.5 / area + bow / (area * height) * euler / (euler - load))
}

/// Breadth, depth, yield stress, bending moment, axial load; the last three are three deviations to both sides.
const SHORT_COLUMN: [[f64; 2]; 5] = [
    [5.0, 15.0],
    [15.0, 25.0],
    [3.5, 6.5],
    [800.0, 3200.0],
    [200.0, 800.0],
];

/// Limit state of a short column.
fn short_column(x: &[f64]) -> f64 {
    let &[breadth, depth, strength, moment, load] = x else {
        unreachable!("as many as ranges")
    };
    let capacity = breadth * depth * strength;
    1.0 - 4.0 * moment / (capacity * depth) - (load / capacity).powi(2)
}

/// Median over and times the geometric deviation: transmission, clear sky, dark ground, fraction scattered up, mass
/// scattering, its humidity, emission, yield, lifetime.
const SULFUR: [[f64; 2]; 9] = [
    [0.76 / 1.2, 0.76 * 1.2],
    [0.39 / 1.1, 0.39 * 1.1],
    [0.85 / 1.1, 0.85 * 1.1],
    [0.3 / 1.3, 0.3 * 1.3],
    [5.0 / 1.4, 5.0 * 1.4],
    [1.7 / 1.2, 1.7 * 1.2],
    [71.0 / 1.15, 71.0 * 1.15],
    [0.5 / 1.5, 0.5 * 1.5],
    [5.5 / 1.5, 5.5 * 1.5],
];

/// Radiative forcing by sulfate aerosols.
fn sulfur(x: &[f64]) -> f64 {
    // Teragrams a year and days of lifetime over the area of the Earth in square metres.
    let burden = 3e12 * x[6] * x[7] * x[8] / (365.0 * 5.1e14);
    -0.5 * 1366.0 * x[1] * (x[0] * x[2]).powi(2) * x[3] * x[4] * x[5] * burden
}

/// Mass, diffusion, place and time of the second spill.
const ENVIRONMENTAL: [[f64; 2]; 4] = [[7.0, 13.0], [0.02, 0.12], [0.01, 3.0], [30.01, 30.295]];

/// Concentration of a pollutant after two spills, at place 1.5 and time 40, times √(4π).
fn environmental(x: &[f64]) -> f64 {
    let (place, time) = (1.5, 40.0);
    let spill = |distance: f64, age: f64| {
        let spread = x[1] * age;
        x[0] / spread.sqrt() * (-distance * distance / (4.0 * spread)).exp()
    };
    spill(place, time) + spill(place - x[2], time - x[3])
}

/// Discharge, roughness, bed level down- and upstream, dyke, bank, length, width.
const FLOOD: [[f64; 2]; 8] = [
    [500.0, 3000.0],
    [15.0, 55.0],
    [49.0, 51.0],
    [54.0, 56.0],
    [7.0, 9.0],
    [55.0, 56.0],
    [4990.0, 5010.0],
    [295.0, 305.0],
];

/// Height of a flood over the dyke.
fn flood(x: &[f64]) -> f64 {
    let &[discharge, roughness, down, up, dyke, bank, length, width] = x else {
        unreachable!("as many as ranges")
    };
    let slope = ((up - down) / length).sqrt();
    down + (discharge / (width * roughness * slope)).powf(0.6) - dyke - bank
}

fn branin(x: &[f64]) -> f64 {
    let valley = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
    valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0
}

fn six_hump_camel(x: &[f64]) -> f64 {
    let (a, b) = (x[0] * x[0], x[1] * x[1]);
    (4.0 - 2.1 * a + a * a / 3.0) * a + x[0] * x[1] + 4.0 * (b - 1.0) * b
}

/// Logarithm of the Goldstein-Price function on [-2, 2]², scaled to mean 0 and variance 1.
fn log_goldstein_price(x: &[f64]) -> f64 {
    let (a, b) = (4.0 * x[0] - 2.0, 4.0 * x[1] - 2.0);
    let first = 19.0 - 14.0 * a + 3.0 * a * a - 14.0 * b + 6.0 * a * b + 3.0 * b * b;
    let second = 18.0 - 32.0 * a + 12.0 * a * a + 48.0 * b - 36.0 * a * b + 27.0 * b * b;
    let product =
        (1.0 + (a + b + 1.0).powi(2) * first) * (30.0 + (2.0 * a - 3.0 * b).powi(2) * second);
    (product.ln() - 8.693) / 2.427
}

/// Minus the sum of four bumps: heights, exponents and centres.
fn hartmann<const D: usize>(x: &[f64], exponents: [[f64; D]; 4], centres: [[f64; D]; 4]) -> f64 {
    let bump = |i: usize| -> f64 {
        let square = |j: usize| exponents[i][j] * (x[j] - centres[i][j]).powi(2);
        (-(0..D).map(square).sum::<f64>()).exp()
    };
    -[1.0, 1.2, 3.0, 3.2]
        .into_iter()
        .enumerate()
        .map(|(i, height)| height * bump(i))
        .sum::<f64>()
}

fn hartmann_3(x: &[f64]) -> f64 {
    let (wide, narrow) = ([3.0, 10.0, 30.0], [0.1, 10.0, 35.0]);
    let centres = [
        [0.3689, 0.1170, 0.2673],
        [0.4699, 0.4387, 0.7470],
        [0.1091, 0.8732, 0.5547],
        [0.0381, 0.5743, 0.8828],
    ];
    hartmann(x, [wide, narrow, wide, narrow], centres)
}

fn hartmann_6(x: &[f64]) -> f64 {
    let exponents = [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ];
    let centres = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ];
    hartmann(x, exponents, centres)
}

fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2)
        .map(|p| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (p[0] - 1.0).powi(2))
        .sum()
}

fn dixon_price(x: &[f64]) -> f64 {
    let pair = |(i, p): (usize, &[f64])| (i + 2) as f64 * (2.0 * p[1] * p[1] - p[0]).powi(2);
    (x[0] - 1.0).powi(2) + x.windows(2).enumerate().map(pair).sum::<f64>()
}

fn griewank(x: &[f64]) -> f64 {
    let waves = x.iter().enumerate();
    let waves = waves.map(|(i, v)| (v / ((i + 1) as f64).sqrt()).cos());
    1.0 + x.iter().map(|v| v * v).sum::<f64>() / 4000.0 - waves.product::<f64>()
}

fn ackley(x: &[f64]) -> f64 {
    let mean = |of: &dyn Fn(f64) -> f64| x.iter().map(|&v| of(v)).sum::<f64>() / x.len() as f64;
    let hill = -20.0 * (-0.2 * mean(&|v| v * v).sqrt()).exp();
    hill - mean(&|v| (TAU * v).cos()).exp() + 20.0 + 1f64.exp()
}

fn styblinski_tang(x: &[f64]) -> f64 {
    let term = |v: &f64| v.powi(4) - 16.0 * v * v + 5.0 * v;
    0.5 * x.iter().map(term).sum::<f64>()
}

/// Two inputs with no effect and many with little.
fn welch(x: &[f64]) -> f64 {
    let linear = [
        (2, 0.05),
        (3, 0.08),
        (5, 1.0),
        (6, -0.03),
        (7, 0.03),
        (9, -0.09),
        (10, -0.01),
        (11, -0.07),
        (14, -0.04),
        (15, 0.06),
        (17, -0.01),
        (18, -0.03),
        (19, -5.0),
    ];
    let linear: f64 = linear.iter().map(|&(k, slope)| slope * x[k - 1]).sum();
    5.0 * x[11] / (1.0 + x[0])
        + 5.0 * (x[3] - x[19]).powi(2)
        + 40.0 * x[18].powi(3)
        + 0.25 * x[12] * x[12]
        + linear
}

/// Strong terms up to order four among the first inputs, weak linear and pair terms with alternating signs elsewhere.
fn morris(x: &[f64]) -> f64 {
    let w = |i: usize| match i {
        2 | 4 | 6 => 2.0 * (1.1 * x[i] / (x[i] + 0.1) - 0.5),
        _ => 2.0 * (x[i] - 0.5),
    };
    let w: Vec<f64> = (0..20).map(w).collect();
    let sign = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut sum = 0.0;
    for i in 0..20 {
        // Inputs count from one in the source, so that the sign of the first is negative.
        sum += w[i] * if i < 10 { 20.0 } else { sign(i + 1) };
        for j in 0..i {
            sum += w[i] * w[j] * if i < 6 { -15.0 } else { sign(i + j) };
            for k in (0..j).filter(|_| i < 5) {
                sum -= 10.0 * w[i] * w[j] * w[k];
            }
        }
    }
    sum + 5.0 * w[..4].iter().product::<f64>()
}

/// Seven inputs that matter less and less, three idle.
fn loeppky(x: &[f64]) -> f64 {
    let pairs = 3.0 * x[0] * x[1] + 2.2 * x[0] * x[2] + 1.4 * x[1] * x[2];
    let slopes = [6.0, 4.0, 5.5, 1.0, 0.5, 0.2, 0.1];
    pairs + slopes.iter().zip(x).map(|(a, x)| a * x).sum::<f64>()
}

/// The four terms that the source calls large; its many small ones are left out, so that fifteen inputs are idle.
fn moon(x: &[f64]) -> f64 {
    -19.71 * x[0] * x[17] + 23.72 * x[0] * x[18] - 13.34 * x[18] * x[18] + 28.99 * x[6] * x[11]
}

fn franke(x: &[f64]) -> f64 {
    let (a, b) = (9.0 * x[0], 9.0 * x[1]);
    0.75 * (-((a - 2.0).powi(2) + (b - 2.0).powi(2)) / 4.0).exp()
        + 0.75 * (-(a + 1.0).powi(2) / 49.0 - (b + 1.0) / 10.0).exp()
        + 0.5 * (-((a - 7.0).powi(2) + (b - 3.0).powi(2)) / 4.0).exp()
        - 0.2 * (-(a - 4.0).powi(2) - (b - 7.0).powi(2)).exp()
}

fn currin(x: &[f64]) -> f64 {
    let a = x[0];
    let up = ((2300.0 * a + 1900.0) * a + 2092.0) * a + 60.0;
    let down = ((100.0 * a + 500.0) * a + 4.0) * a + 20.0;
    -(-0.5 / x[1]).exp_m1() * up / down
}

fn park(x: &[f64]) -> f64 {
    // x1/2 (√(1 + q/x1²) − 1) without the division by x1.
    let q = (x[1] + x[2] * x[2]) * x[3];
    0.5 * ((x[0] * x[0] + q).sqrt() - x[0]) + (x[0] + 3.0 * x[3]) * (1.0 + x[2].sin()).exp()
}

fn dette_pepelyshev_3(x: &[f64]) -> f64 {
    4.0 * (x[0] - 2.0 + 8.0 * x[1] - 8.0 * x[1] * x[1]).powi(2)
        + (3.0 - 4.0 * x[1]).powi(2)
        + 16.0 * (x[2] + 1.0).sqrt() * (2.0 * x[2] - 1.0).powi(2)
}

/// Alternating sum of the products of the first inputs.
fn bratley(x: &[f64]) -> f64 {
    let (mut product, mut sum) = (1.0, 0.0);
    for value in x {
        product *= -value;
        sum += product;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails unless the function has this value at `x`.
    #[track_caller]
    fn at(name: &str, x: &[f64], expected: f64, tolerance: f64) {
        let got = Formula::named(name).unwrap().evaluate(x);
        assert!(
            (got - expected).abs() <= tolerance,
            "{name}: {got}, not {expected}"
        );
    }

    #[test]
    fn engineering_values_worked_out_by_hand() {
        let tiny = 1e-12;
        // ln(r/rw) = 1, then 2π/(1 + 2/2 + 1)
        let e = 1f64.exp();
        at(
            "borehole-8",
            &[1.0, e, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0],
            TAU / 3.0,
            tiny,
        );
        // base 6 V, load 10 and f 10: (67.4 + 113.5 + 74)/20
        at(
            "otl-circuit-6",
            &[1.0, 1.0, 10.0, 1.0, 1.0, 1.0],
            12.745,
            tiny,
        );
        // no net force: V² = P0 V0, so that both springs are equal
        at(
            "piston-7",
            &[1.0, 1.0, 20.62, 1.0, 1.0, 5.0, 5.0],
            TAU / 2f64.sqrt(),
            tiny,
        );
        at(
            "wing-weight-10",
            &[1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.01, 1.0, 1.0, 2.0],
            2.036,
            tiny,
        );
        // stretched, then folded back after the first segment, then a right angle
        let arm = [0.5, 0.25, 0.125, 0.0625];
        let turned = |second: f64| [&[1.0, second, 0.0, 0.0], &arm[..]].concat();
        at("robot-arm-8", &turned(0.0), 0.9375, tiny);
        at("robot-arm-8", &turned(PI), 0.0625, tiny);
        at("robot-arm-8", &turned(PI / 2.0), 0.5f64.hypot(0.4375), tiny);
        // 4e6/(1e6 · 2 · 1) · √(3² + (16/4)²)
        at("cantilever-5", &[1e6, 16.0, 3.0, 2.0, 1.0], 10.0, tiny);
        // a straight column has load/(2 area) left to bear
        at(
            "steel-column-9",
            &[400.0, 1e3, 2e3, 3e3, 10.0, 10.0, 5.0, 0.0, 2e5],
            370.0,
            tiny,
        );
        // the Euler load is twice the load, so that the bow counts twice: 4 − 2(1/2 + 2·0.25)
        let modulus = 4.0 * 2.0 * 7500f64.powi(2) / (PI * PI);
        at(
            "steel-column-9",
            &[4.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.25, modulus],
            2.0,
            tiny,
        );
        // capacity 8: 1 − 4·4/(8·2) − (4/8)²
        at("short-column-5", &[1.0, 2.0, 4.0, 4.0, 4.0], -0.25, tiny);
        // the burden is 1, everything else but the sun, too
        let ones = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 365.0 * 170.0, 1.0, 1.0];
        at("sulfur-9", &ones, -683.0, 1e-9);
        // the second spill is where and when it is measured but for one unit of D·age
        let (d, age) = (0.1, 10.0);
        let first = (-2.25f64 / 16.0).exp() / 2.0;
        at(
            "environmental-4",
            &[1.0, d, 1.5, 40.0 - age],
            first + 1.0,
            tiny,
        );
        // slope 1/10, so that the water is (320/(1·100·0.1))^0.6 = 8 high
        at(
            "flood-8",
            &[320.0, 100.0, 0.0, 1.0, 1.0, 2.0, 100.0, 1.0],
            5.0,
            1e-9,
        );
    }

    #[test]
    fn published_optima() {
        for x in [[-PI, 12.275], [PI, 2.275], [3.0 * PI, 2.475]] {
            at("branin-2", &x, 0.397_887, 1e-6);
        }
        at("six-hump-camel-2", &[0.0898, -0.7126], -1.0316, 1e-4);
        // 3 at (0, -1)
        at(
            "log-goldstein-price-2",
            &[0.5, 0.25],
            (3f64.ln() - 8.693) / 2.427,
            1e-12,
        );
        at(
            "hartmann-3",
            &[0.114_614, 0.555_649, 0.852_547],
            -3.862_78,
            1e-5,
        );
        at(
            "hartmann-6",
            &[0.201_69, 0.150_011, 0.476_874, 0.275_332, 0.311_652, 0.6573],
            -3.322_37,
            1e-5,
        );
        at("rosenbrock-10", &[1.0; 10], 0.0, 0.0);
        let exponent = |i: i32| -(1.0 - 2f64.powi(1 - i));
        let x: Vec<f64> = (1..=10).map(|i| 2f64.powf(exponent(i))).collect();
        at("dixon-price-10", &x, 0.0, 1e-12);
        at("griewank-5", &[0.0; 5], 0.0, 0.0);
        at("ackley-5", &[0.0; 5], 0.0, 1e-14);
        at(
            "styblinski-tang-5",
            &[-2.903_534; 5],
            -39.166_17 * 5.0,
            1e-3,
        );
        // -6.020740 at 0.757249
        at("forrester-1", &[0.757_249], -6.020_740, 1e-6);
        // 13.798 at (0.216667, 0.023257)
        at("currin-2", &[0.216_667, 0.023_257], 13.798, 1e-3);
    }

    #[test]
    fn other_values_worked_out_by_hand() {
        let tiny = 1e-12;
        // 9 · 100 · 2⁴ would be a wrong power: each pair is 100 (2 − 4)² + 1
        at("rosenbrock-10", &[2.0; 10], 9.0 * 401.0, tiny);
        // Σ_{i=2}^{10} i = 54
        at("dixon-price-10", &[1.0; 10], 54.0, tiny);
        at(
            "griewank-5",
            &[PI, 0.0, 0.0, 0.0, 0.0],
            2.0 + PI * PI / 4000.0,
            tiny,
        );
        at("ackley-5", &[1.0; 5], 20.0 * (1.0 - (-0.2f64).exp()), tiny);
        at("styblinski-tang-5", &[1.0; 5], -25.0, tiny);
        // 5/1.5 over both first inputs, 40/8 − 5/2, then all slopes but that of x19 times one half, and 1/16
        let slopes = 0.05 + 0.08 + 1.0 - 0.03 + 0.03 - 0.09 - 0.01 - 0.07 - 0.04 + 0.06 - 0.01;
        at(
            "welch-20",
            &[0.5; 20],
            2.5 / 1.5 + 2.5 + 0.0625 + 0.5 * (slopes - 0.03),
            tiny,
        );
        let mut x = [0.0; 20];
        (x[3], x[19]) = (0.5, -0.25);
        at("welch-20", &x, 5.0 * 0.5625, tiny);
        // all w are 0, then all are 1: 200 − 15·15 − 7 − 10·10 + 5
        let mut x = [0.5; 20];
        (x[2], x[4], x[6]) = (1.0 / 12.0, 1.0 / 12.0, 1.0 / 12.0);
        at("morris-20", &x, 0.0, tiny);
        at("morris-20", &[1.0; 20], -127.0, 1e-11);
        // w11 = 1 alone has the sign of an odd input
        x[10] = 1.0;
        at("morris-20", &x, -1.0, tiny);
        at("loeppky-10", &[1.0; 10], 6.6 + 17.3, tiny);
        at("moon-20", &[1.0; 20], 19.66, tiny);
        at("linkletter-10", &[PI / 2.0; 10], 2.0, tiny);
        // (0.9 · 0.48)^10 is 2.26e-4 to three digits
        at(
            "gramacy-lee-6",
            &[0.0, 2.0, 3.0, 0.5, 9.0, 9.0],
            7.5 + 2.263_5e-4,
            1e-7,
        );
        at("gramacy-lee-1", &[1.0], 0.0, tiny);
        at("gramacy-lee-1", &[2.0], 1.0, tiny);
        at("forrester-1", &[1.0 / 3.0], 0.0, tiny);
        at("higdon-1", &[2.5], 1.0, tiny);
        at("lim-2", &[0.0, 0.0], 50.0 / 6.0, tiny);
        let peak = 0.75 + 0.75 * (-9.0f64 / 49.0 - 0.3).exp();
        let rest = 0.5 * (-26.0f64 / 4.0).exp() - 0.2 * (-29.0f64).exp();
        at("franke-2", &[2.0 / 9.0, 2.0 / 9.0], peak + rest, tiny);
        // 3 (1 − 1/e) and 6352/624 at the far corner with x2 = 1/2
        at("currin-2", &[0.0, 0.5], 3.0 * -(-1f64).exp_m1(), tiny);
        at("currin-2", &[1.0, 0.0], 6352.0 / 624.0, tiny);
        at("cheng-sandu-2", &[0.0, PI], -1.0, tiny);
        // (1/2)(√(1 + 3) − 1) + 4e
        at(
            "park-4",
            &[1.0, 3.0, 0.0, 1.0],
            0.5 + 4.0 * 1f64.exp(),
            tiny,
        );
        at("dette-pepelyshev-3", &[2.0, 1.0, 0.5], 1.0, tiny);
        at(
            "dette-pepelyshev-3",
            &[1.0, 0.0, 0.0],
            4.0 + 9.0 + 16.0,
            tiny,
        );
        // x3 = 1/2 and the others after it 0: Σ i ln 1.5 = 30 ln 1.5
        at(
            "dette-pepelyshev-8",
            &[2.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0],
            1.0 + 30.0 * 1.5f64.ln(),
            tiny,
        );
        at("bratley-8", &[1.0; 8], 0.0, tiny);
        at(
            "bratley-8",
            &[0.5, 0.5, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            -0.25,
            tiny,
        );
        // the first term of the paper's functions is theirs
        at("f1-10", &[1.0; 10], 4.0, tiny);
        at("friedman-10", &[1.0; 10], 20.0, tiny);
    }

    #[test]
    fn every_function_is_finite_and_varies_over_its_ranges() {
        let mut names: Vec<&str> = Formula::ALL.iter().map(|f| f.name).collect();
        for f in Formula::ALL {
            if let Some(Ok(d)) = f.name.rsplit('-').next().map(str::parse::<usize>) {
                assert_eq!(f.dim(), d, "{}", f.name);
            }
            let Sample { x, y } = f.sample(300, 1, Split::Test);
            assert!(y.is_all_finite(), "{}", f.name);
            let y = y.col_as_slice(0);
            assert!(y.iter().any(|v| (v - y[0]).abs() > 1e-3 * y[0].abs()));
            for (k, [low, high]) in f.ranges.iter().enumerate() {
                let column = x.col_as_slice(k);
                assert!(column.iter().all(|v| low <= v && v <= high), "{}", f.name);
                assert!(column.iter().any(|v| *v > 0.5 * (low + high)));
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Formula::ALL.len());
        assert!(names.len() >= 24);
    }
}
