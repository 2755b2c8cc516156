//! The multiply-add of the vectorised loops.

/// Numbers with a fast multiply-add.
pub(crate) trait Fma {
    /// `self · a + b`, fused wherever processors do it in one instruction.
    ///
    /// WebAssembly has no such instruction, and the library routine in its place takes many times as long: there, the
    /// product is rounded first. No kernel needs it exact; the elementary functions lose a few units in the last place.
    fn fma(self, a: Self, b: Self) -> Self;
}

impl Fma for f64 {
    #[inline(always)]
    fn fma(self, a: f64, b: f64) -> f64 {
        if cfg!(target_arch = "wasm32") {
            self * a + b
        } else {
            self.mul_add(a, b)
        }
    }
}
