//! Sizes and arguments shared by host and kernels: each is listed once, and both the Rust and the CUDA code are
//! generated from the list.

use cudarc::driver::DeviceRepr;

/// The CUDA type of an argument, and the Rust type with the same bytes.
macro_rules! rust {
    (int) => {
        i32
    };
    (long) => {
        i64
    };
    (double) => {
        f64
    };
    // An address on the device.
    ($pointer:ident) => {
        u64
    };
}

macro_rules! cuda {
    (int) => {
        "int"
    };
    (long) => {
        "long long"
    };
    (double) => {
        "double"
    };
    (doubles) => {
        "double *"
    };
    (reals) => {
        "real *"
    };
    (ints) => {
        "int *"
    };
    (words) => {
        "unsigned int *"
    };
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident: $kind:ident,)*) => {
        /// What every kernel is given, by value.
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(C)]
        pub(crate) struct Parameters {
            $($(#[$doc])* pub $name: rust!($kind),)*
        }

        /// The same struct in CUDA.
        pub(crate) const SOURCE: &str = concat!(
            "struct Parameters {\n",
            $("    ", cuda!($kind), " ", stringify!($name), ";\n",)*
            "};\n",
        );
    };
}

/// Sizes that are fixed when the kernels are compiled.
macro_rules! sizes {
    ($($(#[$doc:meta])* $name:ident = $value:literal,)*) => {
        $($(#[$doc])* pub(crate) const $name: usize = $value;)*

        /// The same in CUDA.
        pub(crate) const SIZES: &str = concat!(
            $("constexpr int ", stringify!($name), " = ", $value, ";\n",)*
        );
    };
}

sizes! {
    /// Rows of a tile of the sweeps.
    ROWS = 16,
    /// Rows of a block of threads that makes features.
    FEATURE_ROWS = 4,
    /// Points of a tile of the regulariser.
    POINTS = 16,
    /// Columns of a panel of the factorisation.
    PANEL = 8,
    /// Columns of a diagonal block of the factor that is replaced by its inverse.
    BLOCK = 32,
    /// Numbers behind the heads of the panels, which also serve as scratch for blocks of 16.
    SPARE = 128,
}

parameters! {
    /// Rows of the table in use (training or validation): padded inputs, outputs, roots of the weights, sum of weights.
    x: doubles,
    y: doubles,
    root: doubles,
    omega: doubles,
    /// Hidden weights, column by column (n × d′), their gradient and moments.
    w: doubles,
    dw: doubles,
    first_w: doubles,
    second_w: doubles,
    /// Planes of a chunk of rows, EᵀE, factor of S, b and v.
    e: doubles,
    gram: doubles,
    gram_parts: doubles,
    factor: doubles,
    b: doubles,
    v: doubles,
    /// b where it is a leaf, without the factor n; its gradient in the sense of `b`, and its moments.
    leaf_b: doubles,
    slope: doubles,
    first_b: doubles,
    second_b: doubles,
    /// Slots of the groups of rows.
    loss: doubles,
    db: doubles,
    dw_shares: doubles,
    /// The regulariser: its points, their box, and slots of the tiles of points.
    at: doubles,
    domain: doubles,
    point_value: doubles,
    point_db: doubles,
    point_dw: doubles,
    lambda: doubles,
    /// Learning rate; and the coefficients of Adam's step, two for each run.
    rate: doubles,
    stride_of: doubles,
    /// Losses by step (data and variation) and validation errors by draw.
    losses: doubles,
    errors: doubles,
    /// Generator: latents sent ahead, those in use, θ, and gradients and moments of both.
    latents: reals,
    z: reals,
    dz: reals,
    dout: reals,
    theta: reals,
    dtheta: reals,
    first_theta: reals,
    second_theta: reals,
    first_z: reals,
    second_z: reals,
    /// Number of the step and of the draw; by run: Adam's steps, raised ridges, which runs take part.
    clock: ints,
    steps: ints,
    raised: ints,
    active: ints,
    /// Keys of the random streams, eight words for each run.
    keys: words,
    point_stream: long,
    theta_len: long,
    /// First parameter of the layer in use.
    offset: long,
    ridge: double,
    runs: int,
    /// Rows of the table, inputs, d′, width, columns of E, outputs, length of a row of planes.
    m: int,
    d: int,
    dim: int,
    n: int,
    k: int,
    c: int,
    ld: int,
    /// Maximum number of rows of a chunk; first row and rows of the one in use.
    chunk: int,
    first: int,
    rows: int,
    /// Parts of a chunk whose EᵀE are made apart.
    parts: int,
    groups: int,
    tiles: int,
    points: int,
    /// Length and number of the columns of the factor, and whether it fits in shared memory.
    stride: int,
    size: int,
    shared: int,
    /// Whether the ridge is relative to the trace.
    relative: int,
    norm: int,
    leaf: int,
    /// Whether the sweep is for a gradient.
    wants_adjoint: int,
    /// Layer of the generator: units below and above, whether it is the last, first row of its gradient.
    in_: int,
    out: int,
    last: int,
    first_row: int,
}

#[allow(unsafe_code)]
// SAFETY: plain numbers in the layout of C, as the kernels declare them.
unsafe impl DeviceRepr for Parameters {}
