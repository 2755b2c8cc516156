//! All settings of a fit in one serde struct, shared by configuration files, the command line, Python and saved
//! models. This file holds defaults and ranges; it does not read or merge files.

use crate::Form;
use crate::error::require;
use crate::{Activation, Error, Precision, Result, Ridge, Scaling, Variation};
use serde::{Deserialize, Serialize};

/// How the hidden weights are found. F-Opt, GFT and GFT-r differ only in which leaf Adam moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Training {
    /// Drawn once, w ~ scale · N(0, I), and left alone until the polish.
    #[serde(rename = "random")]
    Random,
    /// F-Opt: Adam moves w.
    #[serde(rename = "f-opt")]
    Direct,
    /// GFT: Adam moves the generator's θ.
    #[serde(rename = "gft")]
    Generative,
    /// GFT-r: GFT, then Adam moves the latents z.
    #[default]
    #[serde(rename = "gft-r")]
    Refined,
}

impl Training {
    /// The name in a configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Training::Random => "random",
            Training::Direct => "f-opt",
            Training::Generative => "gft",
            Training::Refined => "gft-r",
        }
    }
}

/// Strength λ of the regulariser.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "expected `auto` or a number")]
pub enum Lambda {
    /// The best of [`Lambda::GRID`] by validation.
    Auto,
    /// This value; 0 turns the regulariser off.
    #[serde(untagged)]
    Fixed(f64),
}

impl Lambda {
    /// The values that the paper chooses from.
    pub const GRID: [f64; 6] = [0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
}

/// Steps and learning rate of one phase of Adam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Number of steps.
    pub steps: usize,
    /// Learning rate.
    pub rate: f64,
}

/// The generator network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneratorConfig {
    /// Units of the hidden layers.
    pub hidden: Vec<usize>,
    /// Floating-point precision.
    pub precision: Precision,
}

/// Levenberg-Marquardt on the projected problem after training; the validation rows select the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Polish {
    /// Maximum steps of the two best candidates, after ten of every candidate; 0 turns the polish off.
    pub steps: usize,
    /// Which least squares problem it solves for Fourier features.
    pub form: Form,
    /// Ridge for trained features relative to the largest singular value of A, τ = κ · s_max.
    pub kappa: f64,
    /// Random features polished alongside those of GFT-r and `random`; validation picks the winner.
    pub starts: Vec<Start>,
}

/// Random features to polish, w ~ scale · N(0, I).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Standard deviation of the weights, in scaled inputs.
    pub scale: f64,
    /// Ridge relative to the largest singular value of A.
    pub kappa: f64,
    /// Damping μ of the first step.
    pub damping: f64,
}

/// Which state a phase passes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// The one with the smallest validation error.
    #[default]
    Best,
    /// The last one.
    Last,
}

/// All settings of a fit. [`Config::default`] is the `fast` preset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How the hidden weights are found.
    #[serde(rename = "method")]
    pub training: Training,
    /// Activation Φ.
    pub activation: Activation,
    /// Number of hidden neurons, n.
    pub width: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Threads; 0 uses all cores. The result does not depend on it, so it is not saved with a model.
    #[serde(skip_serializing)]
    pub threads: usize,
    /// Scaling of the columns before the fit.
    pub scaling: Scaling,
    /// Ridge of the training steps. The final output weights use an absolute ε as given; with a relative one they
    /// choose their own by validation.
    pub ridge: Ridge,
    /// Strength of the regulariser.
    pub lambda: Lambda,
    /// The regulariser's norm.
    pub variation: Variation,
    /// Points at which the regulariser is sampled, fresh in every step.
    pub points: usize,
    /// The generator network of GFT and GFT-r.
    pub generator: GeneratorConfig,
    /// The phase that trains the generator.
    pub generate: Schedule,
    /// The phase that refines the latents.
    pub refine: Schedule,
    /// The phase of F-Opt.
    pub direct: Schedule,
    /// Standard deviation of w that F-Opt starts from, and of the features of `random`.
    pub scale: f64,
    /// Fraction of the rows held out for validation.
    pub validation: f64,
    /// Steps between two validations.
    pub check_every: usize,
    /// Which θ the generator's phase passes on; later phases always pass on the best.
    pub keep: Keep,
    /// The final polish.
    pub polish: Polish,
    /// Whether the output weights are solved again on all rows, including the validation rows.
    pub refit: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config::fast()
    }
}

impl Config {
    /// The preset for users: a small generator, short schedules, refinement, polish; a fit takes seconds.
    pub fn fast() -> Self {
        Config {
            training: Training::Refined,
            activation: Activation::Fourier,
            width: 100,
            seed: 1,
            threads: 0,
            scaling: Scaling::Box,
            ridge: Ridge::Relative(1e-11),
            lambda: Lambda::Fixed(0.0),
            variation: Variation::Anisotropic,
            points: 1000,
            generator: GeneratorConfig {
                hidden: vec![64, 64, 64],
                precision: Precision::F32,
            },
            generate: Schedule {
                steps: 1500,
                rate: 1e-3,
            },
            refine: Schedule {
                steps: 2500,
                rate: 1e-3,
            },
            direct: Schedule {
                steps: 4000,
                rate: 1e-3,
            },
            scale: 0.05,
            validation: 0.1,
            check_every: 200,
            keep: Keep::Best,
            polish: Polish {
                steps: 30,
                form: Form::Complex,
                kappa: 1e-12,
                starts: [
                    (0.001, 1e-13, 1e-2),
                    (0.01, 1e-13, 1e-2),
                    (0.1, 1e-13, 1e-2),
                    (0.003, 3e-7, 1e-2),
                    (0.01, 1e-7, 1.0),
                ]
                .map(|(scale, kappa, damping)| Start {
                    scale,
                    kappa,
                    damping,
                })
                .to_vec(),
            },
            refit: true,
        }
    }

    /// The paper's hyper-parameters: 40,000 + 40,000 steps with a generator of 512-512-512.
    ///
    /// Known deviations: least squares in f64 by Cholesky (published: f32 by LU), a single draw of features, and no
    /// variation along the padded coordinate.
    pub fn paper() -> Self {
        Config {
            scaling: Scaling::None,
            ridge: Ridge::Absolute(1e-7),
            generator: GeneratorConfig {
                hidden: vec![512, 512, 512],
                precision: Precision::F32,
            },
            generate: Schedule {
                steps: 40_000,
                rate: 1e-4,
            },
            refine: Schedule {
                steps: 40_000,
                rate: 1e-4,
            },
            direct: Schedule {
                steps: 40_000,
                rate: 1e-3,
            },
            scale: 1.0,
            keep: Keep::Last,
            polish: Polish {
                steps: 0,
                ..Config::fast().polish
            },
            refit: false,
            ..Config::fast()
        }
    }

    /// The preset of this name.
    ///
    /// # Errors
    /// A name other than `fast` and `paper`.
    pub fn preset(name: &str) -> Result<Self> {
        match name {
            "fast" => Ok(Config::fast()),
            "paper" => Ok(Config::paper()),
            _ => Err(Error::Config {
                field: "preset",
                expected: "`fast` or `paper`",
                found: format!("`{name}`"),
            }),
        }
    }

    /// Checks the range of every field and reports the first that is violated.
    ///
    /// # Errors
    /// [`Error::Config`] with the field, its allowed values and the value found.
    pub fn check(&self) -> Result<()> {
        let (Ridge::Relative(ridge) | Ridge::Absolute(ridge)) = self.ridge;
        let lambda = match self.lambda {
            Lambda::Fixed(lambda) => lambda,
            Lambda::Auto => 0.0,
        };
        let (width, threads, points) = (self.width, self.threads, self.points);
        let counts = (1..=10_000).contains(&width);
        require(counts, "width", "1 to 10000", width)?;
        require(threads <= 4096, "threads", "0 (all cores) to 4096", threads)?;
        let expected = "a finite number of at least 0";
        require(not_negative(ridge), "ridge", expected, ridge)?;
        let expected = "`auto` or a finite number of at least 0";
        require(not_negative(lambda), "lambda", expected, lambda)?;
        let counts = (1..=10_000_000).contains(&points);
        require(counts, "points", "1 to 10000000", points)?;
        require(positive(self.scale), "scale", POSITIVE, self.scale)?;
        let fraction = self.validation > 0.0 && self.validation <= 0.9;
        let expected = "a fraction above 0 and up to 0.9";
        require(fraction, "validation", expected, self.validation)?;
        let every = self.check_every;
        require(every > 0, "check_every", "at least 1", every)?;
        self.generator.check()?;
        self.generate.check(["generate.steps", "generate.rate"])?;
        self.refine.check(["refine.steps", "refine.rate"])?;
        self.direct.check(["direct.steps", "direct.rate"])?;
        self.polish.check()
    }
}

const POSITIVE: &str = "a positive number";

fn positive(v: f64) -> bool {
    v.is_finite() && v > 0.0
}

fn not_negative(v: f64) -> bool {
    v.is_finite() && v >= 0.0
}

impl GeneratorConfig {
    fn check(&self) -> Result<()> {
        let hidden = &self.hidden;
        let layers = hidden.len() <= 64 && hidden.iter().all(|n| (1..=65_536).contains(n));
        let expected = "at most 64 layers of 1 to 65536 units";
        require(layers, "generator.hidden", expected, format!("{hidden:?}"))
    }
}

impl Schedule {
    fn check(self, [steps, rate]: [&'static str; 2]) -> Result<()> {
        let countable = self.steps < i32::MAX as usize;
        require(countable, steps, "below 2147483647", self.steps)?;
        require(positive(self.rate), rate, POSITIVE, self.rate)
    }
}

impl Polish {
    fn check(&self) -> Result<()> {
        let (steps, kappa, starts) = (self.steps, self.kappa, &self.starts);
        require(steps <= 1_000_000, "polish.steps", "0 to 1000000", steps)?;
        require(positive(kappa), "polish.kappa", POSITIVE, kappa)?;
        let sound = |s: &Start| positive(s.scale) && positive(s.damping) && positive(s.kappa);
        let sound = starts.iter().all(sound);
        let expected = "positive scales, kappas and dampings";
        require(sound, "polish.starts", expected, format!("{starts:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_pass_their_own_check_and_survive_json() {
        for config in [Config::fast(), Config::paper()] {
            config.check().unwrap();
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
        }
    }

    #[test]
    fn the_wrong_field_is_named() {
        let error = Config {
            validation: 1.5,
            ..Config::fast()
        }
        .check()
        .unwrap_err()
        .to_string();
        assert_eq!(
            error,
            "config field `validation`: expected a fraction above 0 and up to 0.9, found 1.5"
        );
    }

    #[test]
    fn names_are_those_of_configuration_files() {
        let quoted = |name: &str| format!("\"{name}\"");
        for method in [
            Training::Random,
            Training::Direct,
            Training::Generative,
            Training::Refined,
        ] {
            let written = serde_json::to_string(&method).unwrap();
            assert_eq!(written, quoted(method.name()));
        }
        for activation in Activation::ALL {
            let written = serde_json::to_string(&activation).unwrap();
            assert_eq!(written, quoted(activation.name()));
        }
    }

    #[test]
    fn lambda_is_a_number_or_auto() {
        let read = |text: &str| serde_json::from_str::<Lambda>(text).ok();
        assert_eq!(read("\"auto\""), Some(Lambda::Auto));
        assert_eq!(read("0.1"), Some(Lambda::Fixed(0.1)));
        assert_eq!(read("\"much\""), None);
    }
}
