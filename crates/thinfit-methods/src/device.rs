//! Where a network is trained: on the CPU, or on a GPU that a front end provides.

use crate::Method;
use std::str::FromStr;
use std::sync::OnceLock;
use thinfit::pieces::{Backend, Batch, Processor, Task};
use thinfit::{Config, Dataset, Error, Lambda, Result, Training};
use thinfit_baselines::PlainNetwork;
use thinfit_model::Predictor;

/// A device that takes training steps.
pub struct Device {
    /// `None` for the CPU.
    name: Option<String>,
    backend: Box<dyn Backend>,
    /// Whether the CPU takes over if the device cannot start.
    optional: bool,
    /// Why it took over.
    left: OnceLock<Error>,
}

impl Device {
    /// The CPU.
    pub fn processor() -> Self {
        Device {
            name: None,
            backend: Box::new(Processor),
            optional: false,
            left: OnceLock::new(),
        }
    }

    /// Another device, with its name in records.
    pub fn new(name: impl Into<String>, backend: impl Backend + 'static) -> Self {
        Device {
            name: Some(name.into()),
            backend: Box::new(backend),
            ..Device::processor()
        }
    }

    /// Its name; `None` for the CPU.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().filter(|_| self.left.get().is_none())
    }

    /// A model that was made on it, whose record says so.
    pub(crate) fn recorded(&self, mut model: Predictor) -> Predictor {
        model.record_mut().device = self.name().map(str::to_owned);
        model
    }

    /// Why a fit was trained on the CPU after all.
    pub fn left(&self) -> Option<&Error> {
        self.left.get()
    }
}

impl Backend for Device {
    fn start(&self, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>> {
        match self.backend.start(config, runs) {
            Err(error @ Error::Device { .. }) if self.optional => {
                self.left.get_or_init(|| error);
                Processor.start(config, runs)
            }
            started => started,
        }
    }
}

/// The device that a user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The CPU.
    Cpu,
    /// The GPU, or an error.
    Cuda,
    /// The GPU if there is one and it saves time, otherwise the CPU.
    #[default]
    Auto,
}

impl Placement {
    /// Their names.
    pub const NAMES: [&str; 3] = ["cpu", "cuda", "auto"];

    /// The device for a fit of `data` by `method`; `open` opens the GPU.
    ///
    /// # Errors
    /// A requested GPU that cannot be opened, or a method that cannot use it.
    pub fn device(
        self,
        method: &Method,
        data: &Dataset,
        open: impl FnOnce() -> Result<Device>,
    ) -> Result<Device> {
        match (self, method) {
            (Placement::Cuda, _) => {
                method.check_device()?;
                open()
            }
            (Placement::Auto, Method::Thin(config)) if work(config, data.samples()) > PAYS => {
                Ok(open().map_or_else(
                    |_| Device::processor(),
                    |device| Device {
                        optional: true,
                        ..device
                    },
                ))
            }
            _ => Ok(Device::processor()),
        }
    }
}

impl FromStr for Placement {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "cpu" => Ok(Placement::Cpu),
            "cuda" => Ok(Placement::Cuda),
            "auto" => Ok(Placement::Auto),
            _ => Err(Error::Setting {
                field: "device".into(),
                problem: format!(
                    "expected one of {}, found `{name}`",
                    Placement::NAMES.join(", ")
                ),
            }),
        }
    }
}

/// The [`work`] from which a GPU pays: about half a minute on two cores, which take 1e-10 s for each unit of it. A GPU
/// needs a few seconds to start, and the polish after the training stays on the processor.
const PAYS: f64 = 3e11;

/// The work of all training steps, up to a factor: in each, `rows` × n² for the Gram matrix of n neurons, and n times
/// through the weights of the generator.
fn work(config: &Config, rows: usize) -> f64 {
    let hidden = &config.generator.hidden;
    let weights: usize = hidden.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let (steps, weights) = match config.training {
        Training::Random => (0, 0),
        Training::Direct => (config.direct.steps, 0),
        Training::Generative => (config.generate.steps, weights),
        Training::Refined => (config.generate.steps + config.refine.steps, weights),
    };
    let runs = match config.lambda {
        Lambda::Fixed(_) => 1,
        Lambda::Auto => Lambda::GRID.len(),
    };
    let width = config.width as f64;
    (runs * steps) as f64 * width * (rows as f64 * width + weights as f64)
}

impl Method {
    /// The names of the methods whose training steps another device can take.
    pub const TRAINED: [&str; 4] = [
        Method::THIN[1],
        Method::THIN[2],
        Method::THIN[3],
        PlainNetwork::NAME,
    ];

    /// Refuses a method that takes no training steps on a device.
    pub(crate) fn check_device(&self) -> Result<()> {
        if Method::TRAINED.contains(&self.name()) {
            return Ok(());
        }
        Err(Error::Setting {
            field: "device".into(),
            problem: format!(
                "the method `{}` cannot train on a GPU; choose one of {}, or the device cpu",
                self.name(),
                Method::TRAINED.join(", ")
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use serde_json::json;
    use thinfit::{Control, Mat};

    /// A device that is not there, or has too little memory.
    struct Broken;

    fn missing() -> Error {
        Error::Device {
            device: "cuda".into(),
            problem: "no driver".into(),
            advice: "install one",
        }
    }

    impl Backend for Broken {
        fn start(&self, _: &Config, _: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>> {
            Err(missing())
        }
    }

    fn data(rows: usize) -> Dataset {
        let x = Mat::from_fn(rows, 2, |i, j| ((i * (7 + 4 * j)) % 61) as f64 / 61.0);
        let y = Mat::from_fn(rows, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)]);
        Dataset::new(x, y).unwrap()
    }

    fn request(settings: serde_json::Value) -> Request {
        Request::new(None, [settings.as_object().unwrap().clone()]).unwrap()
    }

    fn short(method: &str) -> Request {
        if method == PlainNetwork::NAME {
            return request(json!({ "method": method, "width": 6, "steps": 6 }));
        }
        request(json!({
            "method": method, "width": 6, "generate": { "steps": 6 }, "refine": { "steps": 4 },
            "direct": { "steps": 6 }, "polish": { "steps": 2 }, "generator": { "hidden": [8] },
        }))
    }

    fn fitted(request: &Request, device: &Device) -> Result<Predictor> {
        request.fit_on(device, &data(60), &|_| Control::Continue)
    }

    #[test]
    fn a_device_changes_nothing_but_its_name_in_the_record() {
        for name in Method::TRAINED {
            let request = short(name);
            let mut there = fitted(&request, &Device::new("GPU", Processor)).unwrap();
            let here = request.fit(&data(60), &|_| Control::Continue).unwrap();
            assert_eq!(there.record().device.as_deref(), Some("GPU"));
            assert!(!here.to_json().contains("\"device\""), "{name}");
            there.record_mut().device = None;
            assert_eq!(there.to_json(), here.to_json(), "{name}");
        }
    }

    #[test]
    fn methods_without_training_steps_are_refused_by_a_device() {
        let gpu = Device::new("GPU", Processor);
        for name in Method::ALL.into_iter().filter(|name| *name != "auto") {
            let request = match Method::TRAINED.contains(&name) {
                true => short(name),
                false => request(json!({ "method": name })),
            };
            let trained = Method::TRAINED.contains(&name);
            let open = || Ok(Device::processor());
            let placed = Placement::Cuda.device(&request.method, &data(60), open);
            assert_eq!(placed.is_ok(), trained, "{name}");
            if !trained {
                let error = fitted(&request, &gpu).unwrap_err().to_string();
                assert!(error.contains(name) && error.contains("gft-r"), "{error}");
            }
        }
    }

    #[test]
    fn auto_takes_the_gpu_for_long_fits_and_cuda_always_or_fails() {
        let open = || Ok(Device::new("GPU", Processor));
        let taken = |placement: Placement, settings: serde_json::Value, rows: usize| {
            let method = request(settings).method;
            let device = placement.device(&method, &data(rows), open).unwrap();
            device.name().is_some()
        };
        let paper = || {
            let config = serde_json::to_value(Config::paper()).unwrap();
            json!({ "generate": config["generate"], "refine": config["refine"], "generator": config["generator"] })
        };
        assert!(!taken(Placement::Auto, json!({}), 500));
        assert!(taken(Placement::Auto, json!({}), 20_000));
        assert!(taken(Placement::Auto, json!({ "lambda": "auto" }), 2_000));
        assert!(taken(Placement::Auto, paper(), 300));
        assert!(!taken(
            Placement::Auto,
            json!({ "method": "random" }),
            20_000
        ));
        assert!(!taken(Placement::Auto, json!({ "method": "rff" }), 20_000));
        assert!(!taken(Placement::Cpu, paper(), 20_000));
        assert!(taken(Placement::Cuda, json!({}), 60));

        let method = request(paper()).method;
        let place = |placement: Placement| placement.device(&method, &data(300), || Err(missing()));
        assert!(place(Placement::Auto).unwrap().name().is_none());
        let error = place(Placement::Cuda).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("no driver"));
        for name in Placement::NAMES {
            assert!(name.parse::<Placement>().is_ok());
        }
        assert!("gpu".parse::<Placement>().is_err());
    }

    #[test]
    fn a_gpu_that_cannot_start_is_left_only_where_it_was_not_asked_for() {
        let request = short("gft");
        let asked = fitted(&request, &Device::new("GPU", Broken));
        assert!(matches!(asked, Err(Error::Device { .. })));
        let optional = Device {
            optional: true,
            ..Device::new("GPU", Broken)
        };
        let model = fitted(&request, &optional).unwrap();
        assert_eq!(model.record().device, None);
        assert!(optional.left().is_some() && optional.name().is_none());
    }
}
