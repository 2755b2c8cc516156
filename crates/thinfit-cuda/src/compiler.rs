//! Compiles the kernels for the present device and caches the machine code in a folder of the user.

#![allow(unsafe_code)]

use crate::device::{Device, failed, unusable};
use crate::parameters::{Parameters, SIZES, SOURCE};
use cudarc::driver::CudaModule;
use cudarc::nvrtc::{Ptx, result as nvrtc, sys as nvrtc_sys};
use std::ffi::{CStr, CString, c_char};
use std::path::PathBuf;
use std::sync::Arc;
use thinfit::file::{fnv1a, read_whole, write_whole};
use thinfit::pieces::COEFFICIENTS;
use thinfit::{Activation, Leaf, Precision, Result, Variation};

/// The kernels, in the order in which they are compiled.
const KERNELS: [&str; 8] = [
    include_str!("../kernels/prelude.cu"),
    include_str!("../kernels/draw.cu"),
    include_str!("../kernels/features.cu"),
    include_str!("../kernels/solve.cu"),
    include_str!("../kernels/sweep.cu"),
    include_str!("../kernels/variation.cu"),
    include_str!("../kernels/generator.cu"),
    include_str!("../kernels/adam.cu"),
];

impl Device {
    /// The compiled kernels, from the cache where they are there.
    pub fn module(&self, activation: Activation, precision: Precision) -> Result<Arc<CudaModule>> {
        let source = source(activation, precision);
        let cached = cache().map(|folder| {
            let hash = fnv1a(source.bytes());
            folder.join(format!("kernels-{}-{hash:016x}.cubin", self.architecture))
        });
        let load = |image: Vec<u8>| self.context.load_module(Ptx::from_binary(image));
        if let Some(module) = cached
            .as_ref()
            .and_then(|path| read_whole(path).ok())
            .and_then(|image| load(image).ok())
        {
            return Ok(module);
        }
        let image = self.compile(&source)?;
        if let Some(path) = &cached {
            // Without a cache the next start takes some seconds longer.
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = write_whole(path, &image);
        }
        load(image).map_err(failed)
    }

    /// Machine code of this architecture: text for a newer compiler than the driver's could not be loaded.
    fn compile(&self, source: &str) -> Result<Vec<u8>> {
        // SAFETY: only looks for the library.
        if !unsafe { nvrtc_sys::is_culib_present() } {
            return Err(unusable(
                &self.name,
                "the CUDA library nvrtc was not found",
                "install the CUDA toolkit or NVIDIA's packages for Python, or use device cpu",
            ));
        }
        let broken =
            |problem: String| unusable(&self.name, problem, "update CUDA, or use device cpu");
        let text = CString::new(source).expect("kernels have no zero byte");
        let program = nvrtc::create_program(&text, None)
            .map_err(|error| broken(format!("nvrtc: {error:?}")))?;
        let options = [
            format!("--gpu-architecture={}", self.architecture),
            "--std=c++17".into(),
        ];
        // SAFETY: `program` was just made, is used by this thread alone and destroyed once.
        unsafe {
            let compiled = nvrtc::compile_program(program, &options);
            let image = compiled.map_err(|error| {
                let log = nvrtc::get_program_log(program).unwrap_or_default();
                let log: Vec<u8> = log.iter().map(|&c: &c_char| c as u8).collect();
                let log = CStr::from_bytes_until_nul(&log)
                    .map_or_else(|_| String::new(), |log| log.to_string_lossy().into());
                broken(format!("the kernels do not compile: {error:?} {log}"))
            });
            let image = image.and_then(|()| {
                let mut size = 0;
                nvrtc_sys::nvrtcGetCUBINSize(program, &mut size)
                    .result()
                    .map_err(|error| broken(format!("nvrtc: {error:?}")))?;
                let mut image = vec![0u8; size];
                nvrtc_sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast())
                    .result()
                    .map_err(|error| broken(format!("nvrtc: {error:?}")))?;
                Ok(image)
            });
            // It leaks at worst.
            let _ = nvrtc::destroy_program(program);
            image
        }
    }
}

/// The text of all kernels for an activation, with the generator in a precision.
fn source(activation: Activation, precision: Precision) -> String {
    let real = match precision {
        Precision::F32 => "float",
        Precision::F64 => "double",
    };
    let numbers = Activation::ALL
        .map(|activation| (activation.name().to_uppercase(), activation as i32))
        .into_iter()
        .chain([
            ("ACTIVATION".into(), activation as i32),
            ("PARAMETERS".into(), Leaf::Parameters as i32),
            ("LATENTS".into(), Leaf::Latents as i32),
            ("WEIGHTS".into(), Leaf::Weights as i32),
            ("BOTH".into(), Leaf::Both as i32),
            ("ANISOTROPIC".into(), Variation::Anisotropic as i32),
            ("ISOTROPIC".into(), Variation::Isotropic as i32),
            ("DIRICHLET".into(), Variation::Dirichlet as i32),
        ])
        .map(|(name, number)| format!("#define {name} {number}\n"));
    let [beta1, beta2, epsilon] = COEFFICIENTS;
    let head = format!(
        "{}constexpr double BETA1 = {beta1}, BETA2 = {beta2}, EPSILON = {epsilon:e};\n\
         typedef {real} real;\n{SIZES}{SOURCE}static_assert(sizeof(Parameters) == {});\n",
        numbers.collect::<String>(),
        size_of::<Parameters>()
    );
    head + &KERNELS.join("\n")
}

/// The folder of compiled kernels.
fn cache() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let base = folder("XDG_CACHE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("thinfit"))
}
