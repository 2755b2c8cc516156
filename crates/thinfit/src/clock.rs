//! The clock that times training steps.
//!
//! WebAssembly has no clock and the standard library's panics there, so time stands still. Only benchmarks and the
//! relative pace of several runs depend on it.

#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;

#[cfg(target_arch = "wasm32")]
pub use still::Instant;

#[cfg(target_arch = "wasm32")]
mod still {
    use std::ops::Sub;
    use std::time::Duration;

    /// An instant of a clock that stands still.
    #[derive(Clone, Copy, Debug)]
    pub struct Instant;

    impl Instant {
        /// The current instant.
        pub fn now() -> Self {
            Instant
        }

        /// Zero.
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, _: Instant) -> Duration {
            Duration::ZERO
        }
    }
}
