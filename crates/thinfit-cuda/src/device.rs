//! The device as this crate sees it: kernels by name, products, memory, graphs. All calls of the driver are here and in
//! `compiler`.

#![allow(unsafe_code)]

use crate::parameters::Parameters;
use cudarc::cublas::sys::cublasOperation_t as Operation;
use cudarc::cublas::{CudaBlas, sys as blas};
use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{
    CUdevice_attribute, CUfunction_attribute, CUgraphInstantiate_flags, CUstreamCaptureMode,
};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaGraph, CudaSlice, CudaStream, DevicePtr, DeviceRepr,
    PinnedHostSlice, ValidAsZeroBits, result, sys,
};
use std::collections::HashMap;
use std::ffi::{c_int, c_longlong, c_void};
use std::sync::Arc;
use thinfit::pieces::Real;
use thinfit::{Activation, Error, Precision, Result};

/// Names of the kernels.
const NAMES: [&str; 22] = [
    "draw",
    "scatter",
    "tick",
    "features",
    "combine",
    "solve",
    "adjoint",
    "residuals",
    "tally",
    "sweep",
    "collect",
    "variation",
    "layer",
    "layer_narrow",
    "clip",
    "layer_back",
    "layer_back_narrow",
    "mask",
    "gradient",
    "gradient_narrow",
    "adam",
    "adam_output",
];

/// Workspace of cuBLAS in bytes, as recommended by NVIDIA for this generation.
const WORKSPACE: usize = 32 << 20;

/// The first GPU of this machine.
pub(crate) struct Device {
    pub context: Arc<CudaContext>,
    /// As the driver names it.
    pub name: String,
    /// Architecture, such as `sm_90`.
    pub architecture: String,
    /// Bytes of shared memory that one block of threads can have.
    pub shared: usize,
    pub multiprocessors: usize,
}

/// f32 or f64 on the device.
pub(crate) trait Number: Real + Default + DeviceRepr + ValidAsZeroBits {
    const PRECISION: Precision;
}
impl Number for f32 {
    const PRECISION: Precision = Precision::F32;
}
impl Number for f64 {
    const PRECISION: Precision = Precision::F64;
}

/// The error of a device that cannot be used.
pub(crate) fn unusable(device: &str, problem: impl Into<String>, advice: &'static str) -> Error {
    Error::Device {
        device: device.into(),
        problem: problem.into(),
        advice,
    }
}

/// A call of the driver that failed.
pub(crate) fn failed(error: DriverError) -> Error {
    let problem = error.error_string().map_or_else(
        |_| format!("{error:?}"),
        |text| text.to_string_lossy().into_owned(),
    );
    let advice = if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        "close other programs on the GPU, fit fewer runs at a time, or use device cpu"
    } else {
        "check the GPU with nvidia-smi, or use device cpu"
    };
    unusable("cuda", problem, advice)
}

impl Device {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// No driver, no GPU, or a driver that is too old.
    pub fn open() -> Result<Arc<Self>> {
        // SAFETY: only looks for the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(unusable(
                "cuda",
                "no NVIDIA driver was found on this machine",
                "install the driver of your GPU, or use device cpu",
            ));
        }
        // cudarc panics on a symbol that an old driver lacks.
        let context = std::panic::catch_unwind(|| CudaContext::new(0)).map_err(|_| {
            unusable(
                "cuda",
                "the NVIDIA driver is too old",
                "install a driver of the series 580 or newer, or use device cpu",
            )
        })?;
        let context = context.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NO_DEVICE => unusable(
                "cuda",
                "the NVIDIA driver sees no GPU",
                "check nvidia-smi and CUDA_VISIBLE_DEVICES, or use device cpu",
            ),
            _ => failed(error),
        })?;
        // SAFETY: every batch orders its work by its own stream, and joins others by events.
        unsafe { context.disable_event_tracking() };
        let name = context.name().map_err(failed)?;
        let (major, minor) = context.compute_capability().map_err(failed)?;
        if (major, minor) < (7, 5) {
            return Err(unusable(
                &name,
                format!("compute capability {major}.{minor}, expected 7.5 (Turing) or later"),
                "use a newer GPU, or device cpu",
            ));
        }
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared = context.attribute(attribute).map_err(failed)? as usize;
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = context.attribute(attribute).map_err(failed)? as usize;
        Ok(Arc::new(Device {
            context,
            multiprocessors,
            name,
            architecture: format!("sm_{major}{minor}"),
            shared,
        }))
    }

    /// Free bytes of device memory.
    pub fn free(&self) -> Result<usize> {
        // What was freed comes back with the next wait.
        self.context.synchronize().map_err(failed)?;
        self.context
            .mem_get_info()
            .map(|(free, _)| free)
            .map_err(failed)
    }
}

/// Memory on the device.
pub(crate) struct Buffer<T> {
    slice: CudaSlice<T>,
    /// Its address, for [`Parameters`].
    pub address: u64,
}

/// Memory of the host from which copies need not wait.
pub(crate) struct Pinned<T>(PinnedHostSlice<T>);

impl<T: Number> Pinned<T> {
    /// The numbers, to be written; the copies made from them must be over.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.0.as_mut_slice().map_err(failed)
    }
}

/// A matrix product C = op(A) op(B) for every member of a batch; matrices lie column by column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    /// Whether A and B are transposed.
    pub transposed: [bool; 2],
    /// Rows of C, columns of C, and the length of the sums.
    pub sizes: [usize; 3],
    /// Addresses of A, B and C.
    pub at: [u64; 3],
    /// Distances of columns, in A, B and C.
    pub columns: [usize; 3],
    /// Distances of members, in A, B and C.
    pub members: [usize; 3],
    pub count: usize,
}

impl Product {
    /// Two products whose sum this is, each with half of the sums; the second goes to `to`. A number has `bytes` bytes.
    pub fn halves(&self, bytes: usize, to: u64) -> [Product; 2] {
        let [rows, columns, sums] = self.sizes;
        let half = sums / 2;
        let [a, b] = [
            if self.transposed[0] {
                half
            } else {
                half * self.columns[0]
            },
            if self.transposed[1] {
                half * self.columns[1]
            } else {
                half
            },
        ];
        let first = Product {
            sizes: [rows, columns, half],
            ..*self
        };
        let second = Product {
            sizes: [rows, columns, sums - half],
            at: [
                self.at[0] + (a * bytes) as u64,
                self.at[1] + (b * bytes) as u64,
                to,
            ],
            ..*self
        };
        [first, second]
    }
}

/// A sequence of launches that is replayed as a whole.
pub(crate) struct Graph(CudaGraph);

// SAFETY: a graph belongs to one batch, which one thread uses at a time.
unsafe impl Send for Graph {}

/// Where work is queued.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queue {
    /// One after the other.
    Main,
    /// Beside what is queued after [`Lane::fork`], until [`Lane::join`].
    Aside,
}

/// Queues of work on the device, with the kernels of one activation and precision.
pub(crate) struct Lane {
    pub device: Arc<Device>,
    functions: HashMap<&'static str, CudaFunction>,
    /// By [`Queue`].
    streams: [Arc<CudaStream>; 2],
    /// cuBLAS for either queue, each with memory of its own.
    blas: [CudaBlas; 2],
    _workspace: [CudaSlice<u8>; 2],
}

impl Lane {
    pub fn new(device: &Arc<Device>, activation: Activation, precision: Precision) -> Result<Self> {
        // SAFETY: only looks for the library.
        if !unsafe { blas::is_culib_present() } {
            return Err(unusable(
                &device.name,
                "the CUDA library cuBLAS was not found",
                "install the CUDA toolkit or NVIDIA's packages for Python, or use device cpu",
            ));
        }
        let module = device.module(activation, precision)?;
        let mut functions = HashMap::new();
        for name in NAMES {
            let function = module.load_function(name).map_err(failed)?;
            let fixed = function.shared_size_bytes().map_err(failed)?;
            let room = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function
                .set_attribute(room, device.shared as i32 - fixed)
                .map_err(failed)?;
            functions.insert(name, function);
        }
        let stream = device.context.new_stream().map_err(failed)?;
        let side = device.context.new_stream().map_err(failed)?;
        let broken = |error| {
            unusable(
                &device.name,
                format!("cuBLAS: {error:?}"),
                "update CUDA, or use device cpu",
            )
        };
        let library = |stream: &Arc<CudaStream>| -> Result<(CudaBlas, CudaSlice<u8>)> {
            let blas = CudaBlas::new(Arc::clone(stream)).map_err(broken)?;
            let workspace = stream.alloc_zeros::<u8>(WORKSPACE).map_err(failed)?;
            let address = workspace.device_ptr(stream).0 as *mut c_void;
            // SAFETY: the workspace lives as long as the handle.
            unsafe { blas::cublasSetWorkspace_v2(*blas.handle(), address, WORKSPACE) }
                .result()
                .map_err(broken)?;
            Ok((blas, workspace))
        };
        let (main, main_workspace) = library(&stream)?;
        let (aside, aside_workspace) = library(&side)?;
        stream.synchronize().map_err(failed)?;
        side.synchronize().map_err(failed)?;
        Ok(Lane {
            device: Arc::clone(device),
            functions,
            streams: [stream, side],
            blas: [main, aside],
            _workspace: [main_workspace, aside_workspace],
        })
    }

    /// `len` zeros on the device.
    pub fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<Buffer<T>> {
        let slice = self.streams[0]
            .alloc_zeros::<T>(len.max(1))
            .map_err(failed)?;
        let address = slice.device_ptr(&self.streams[0]).0;
        Ok(Buffer { slice, address })
    }

    /// A copy of `values` on the device.
    pub fn upload<T: DeviceRepr + ValidAsZeroBits>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.zeros(values.len())?;
        self.write(&mut buffer, 0, values)?;
        Ok(buffer)
    }

    /// Overwrites a part of `buffer`.
    pub fn write<T: DeviceRepr>(
        &self,
        buffer: &mut Buffer<T>,
        at: usize,
        values: &[T],
    ) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let mut part = buffer.slice.slice_mut(at..at + values.len());
        self.streams[0]
            .memcpy_htod(values, &mut part)
            .map_err(failed)
    }

    /// Copies `len` numbers at `at` from pinned memory to the same place in `buffer`, without waiting.
    pub fn send<T: Number>(
        &self,
        buffer: &mut Buffer<T>,
        from: &Pinned<T>,
        at: usize,
        len: usize,
    ) -> Result<()> {
        assert!(at + len <= from.0.len() && at + len <= buffer.slice.len());
        let pointer = from.0.as_ptr().map_err(failed)?;
        let bytes = at * size_of::<T>();
        // SAFETY: both ranges were checked; writers to the pinned memory wait for the stream first.
        unsafe {
            let part = std::slice::from_raw_parts(pointer.add(at), len);
            result::memcpy_htod_async(
                buffer.address + bytes as u64,
                part,
                self.streams[0].cu_stream(),
            )
            .map_err(failed)
        }
    }

    /// Pinned memory for `len` numbers.
    pub fn pinned<T: Number>(&self, len: usize) -> Result<Pinned<T>> {
        // SAFETY: it is written before it is read.
        unsafe { self.device.context.alloc_pinned::<T>(len.max(1)) }
            .map(Pinned)
            .map_err(failed)
    }

    /// Copies a part of `buffer` to the host, after all work so far.
    pub fn read<T: DeviceRepr + Default + Clone>(
        &self,
        buffer: &Buffer<T>,
        at: usize,
        len: usize,
    ) -> Result<Vec<T>> {
        let mut values = vec![T::default(); len];
        if len > 0 {
            let part = buffer.slice.slice(at..at + len);
            self.streams[0]
                .memcpy_dtoh(&part, &mut values)
                .map_err(failed)?;
        }
        self.wait()?;
        Ok(values)
    }

    /// Waits for all work so far.
    pub fn wait(&self) -> Result<()> {
        self.streams[0].synchronize().map_err(failed)
    }

    /// What is launched aside from now on waits for all work so far.
    pub fn fork(&self) -> Result<()> {
        self.streams[1].join(&self.streams[0]).map_err(failed)
    }

    /// All work from now on waits for what was launched aside.
    pub fn join(&self) -> Result<()> {
        self.streams[0].join(&self.streams[1]).map_err(failed)
    }

    /// Launches a kernel; `more` are the addresses after the parameters.
    #[allow(clippy::too_many_arguments)]
    pub fn launch(
        &self,
        queue: Queue,
        name: &'static str,
        grid: [usize; 3],
        threads: [usize; 2],
        shared: usize,
        parameters: &Parameters,
        more: &[u64],
    ) -> Result<()> {
        let pointer = |value: &u64| std::ptr::from_ref(value).cast_mut().cast::<c_void>();
        let mut arguments = vec![std::ptr::from_ref(parameters).cast_mut().cast::<c_void>()];
        arguments.extend(more.iter().map(pointer));
        let [x, y, z] = grid.map(|v| v as u32);
        let [tx, ty] = threads.map(|v| v as u32);
        self.device.context.bind_to_thread().map_err(failed)?;
        // SAFETY: the kernels take `Parameters` and addresses of this lane's buffers, whose sizes `batch` gives them.
        unsafe {
            result::launch_kernel(
                self.functions[name].cu_function(),
                (x, y, z),
                (tx, ty, 1),
                shared as u32,
                self.streams[queue as usize].cu_stream(),
                &mut arguments,
            )
        }
        .map_err(failed)
    }

    /// A product of every member of a batch.
    pub fn multiply(&self, queue: Queue, precision: Precision, product: &Product) -> Result<()> {
        let Product {
            transposed,
            sizes,
            at,
            columns,
            members,
            count,
        } = *product;
        let [ta, tb] = transposed.map(|t| {
            if t {
                Operation::CUBLAS_OP_T
            } else {
                Operation::CUBLAS_OP_N
            }
        });
        let [m, n, k] = sizes.map(|v| v as c_int);
        let [lda, ldb, ldc] = columns.map(|v| v as c_int);
        let [sa, sb, sc] = members.map(|v| v as c_longlong);
        let (handle, count) = (*self.blas[queue as usize].handle(), count as c_int);
        // SAFETY: the matrices lie within the buffers of the batch, as `batch` lays them out.
        let status = unsafe {
            match precision {
                Precision::F32 => {
                    let (one, zero) = (1.0f32, 0.0f32);
                    blas::cublasSgemmStridedBatched(
                        handle,
                        ta,
                        tb,
                        m,
                        n,
                        k,
                        &one,
                        at[0] as *const f32,
                        lda,
                        sa,
                        at[1] as *const f32,
                        ldb,
                        sb,
                        &zero,
                        at[2] as *mut f32,
                        ldc,
                        sc,
                        count,
                    )
                }
                Precision::F64 => {
                    let (one, zero) = (1.0f64, 0.0f64);
                    blas::cublasDgemmStridedBatched(
                        handle,
                        ta,
                        tb,
                        m,
                        n,
                        k,
                        &one,
                        at[0] as *const f64,
                        lda,
                        sa,
                        at[1] as *const f64,
                        ldb,
                        sb,
                        &zero,
                        at[2] as *mut f64,
                        ldc,
                        sc,
                        count,
                    )
                }
            }
        };
        status.result().map_err(|error| {
            unusable(
                &self.device.name,
                format!("cuBLAS: {error:?}"),
                "use device cpu",
            )
        })
    }

    /// Records what `work` launches instead of running it.
    pub fn record(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        self.streams[0].begin_capture(mode).map_err(failed)?;
        let worked = work();
        let graph = self.streams[0].end_capture(CUgraphInstantiate_flags(0));
        worked?;
        match graph.map_err(failed)? {
            Some(graph) => Ok(Graph(graph)),
            None => Err(unusable(
                &self.device.name,
                "an empty graph",
                "use device cpu",
            )),
        }
    }

    /// Runs a recorded sequence.
    pub fn replay(&self, graph: &Graph) -> Result<()> {
        graph.0.launch().map_err(failed)
    }
}
