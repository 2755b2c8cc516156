//! Services of the WebAssembly host: a clock, and a channel for messages before an answer is complete.

#[cfg(target_arch = "wasm32")]
mod browser {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        /// Milliseconds since some moment.
        pub safe fn now() -> f64;
        /// That many bytes of output are to be read now.
        pub safe fn hear(len: usize);
    }
}

/// Milliseconds since some moment.
#[cfg(target_arch = "wasm32")]
pub fn now() -> f64 {
    browser::now()
}

/// Says something in the middle of a call.
#[cfg(target_arch = "wasm32")]
pub fn say(text: String) {
    browser::hear(crate::put(text));
}

/// Milliseconds since some moment.
#[cfg(not(target_arch = "wasm32"))]
pub fn now() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

/// Nobody listens outside a browser.
#[cfg(not(target_arch = "wasm32"))]
pub fn say(_: String) {}
