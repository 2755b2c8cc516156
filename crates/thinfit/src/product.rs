//! Matrix products on packed operands: the inner loops of the generator and of the Gram matrix.
//!
//! The right operand is a *panel*: [`Element::PANEL`] columns, row by row, two of the widest registers to a row.
//! The left operand is given by columns too: entry (i, p) stands at `p · stride + first + i`. A block of the
//! result is a few rows of a panel. Whoever lays matrices out in panels need not pack them again; for others
//! there are [`pack`] and [`pack_transposed`].
//!
//! Every entry is one sum over p in ascending order, whatever the instruction set and the size of the tiles.
//! All functions are to be inlined into a [`pulp::WithSimd`] of the caller, which chooses the instruction set.

use pulp::Simd;

/// f32 or f64 in registers.
pub(crate) trait Element: Copy + Send + Sync + 'static {
    /// Columns of a panel.
    const PANEL: usize;
    const ZERO: Self;
    type Lanes<S: Simd>: Copy;
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Lanes<S>;
    /// a · b + c, fused where the machine can.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Lanes<S>,
        b: Self::Lanes<S>,
        c: Self::Lanes<S>,
    ) -> Self::Lanes<S>;
    fn add<S: Simd>(simd: S, a: Self::Lanes<S>, b: Self::Lanes<S>) -> Self::Lanes<S>;
    fn lanes<S: Simd>(slice: &[Self]) -> &[Self::Lanes<S>];
    fn lanes_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Lanes<S>];
}

macro_rules! element {
    ($t:ty, $panel:literal, $lanes:ident, $splat:ident, $mul_add:ident, $add:ident, $view:ident, $view_mut:ident) => {
        impl Element for $t {
            const PANEL: usize = $panel;
            const ZERO: Self = 0.0;
            type Lanes<S: Simd> = S::$lanes;
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$lanes {
                simd.$splat(value)
            }
            #[inline(always)]
            fn mul_add<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes, c: S::$lanes) -> S::$lanes {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn add<S: Simd>(simd: S, a: S::$lanes, b: S::$lanes) -> S::$lanes {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn lanes<S: Simd>(slice: &[Self]) -> &[S::$lanes] {
                S::$view(slice).0
            }
            #[inline(always)]
            fn lanes_mut<S: Simd>(slice: &mut [Self]) -> &mut [S::$lanes] {
                S::$view_mut(slice).0
            }
        }
    };
}
element!(
    f32,
    32,
    f32s,
    splat_f32s,
    mul_add_e_f32s,
    add_f32s,
    as_simd_f32s,
    as_mut_simd_f32s
);
element!(
    f64,
    16,
    f64s,
    splat_f64s,
    mul_add_e_f64s,
    add_f64s,
    as_simd_f64s,
    as_mut_simd_f64s
);

/// The left operand of a block: entry (i, p) is `values[p * stride + first + i]`.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a, T> {
    pub values: &'a [T],
    pub stride: usize,
    pub first: usize,
}

/// C ← A · B, or C += A · B with `add`, for `2 HALF` rows: `c` and `b` are rows of a panel, of which only the
/// registers that hold the first `width` columns are computed.
///
/// A machine with few registers takes the rows in two halves.
#[inline(always)]
pub(crate) fn multiply<S: Simd, T: Element, const ROWS: usize, const HALF: usize>(
    simd: S,
    a: Left<'_, T>,
    b: &[T],
    c: &mut [T],
    width: usize,
    add: bool,
) {
    const { assert!(ROWS == 2 * HALF) };
    if S::REGISTER_COUNT >= 32 {
        strip::<S, T, ROWS>(simd, a, b, c, width, add);
    } else {
        let (upper, lower) = c.split_at_mut(HALF * T::PANEL);
        strip::<S, T, HALF>(simd, a, b, upper, width, add);
        let first = a.first + HALF;
        strip::<S, T, HALF>(simd, Left { first, ..a }, b, lower, width, add);
    }
}

#[inline(always)]
fn strip<S: Simd, T: Element, const R: usize>(
    simd: S,
    a: Left<'_, T>,
    b: &[T],
    c: &mut [T],
    width: usize,
    add: bool,
) {
    let lanes = size_of::<T::Lanes<S>>() / size_of::<T>();
    let mut at = 0;
    while at * lanes < width {
        if width - at * lanes > lanes {
            tile::<S, T, R, 2>(simd, a, b, c, at, add);
        } else {
            tile::<S, T, R, 1>(simd, a, b, c, at, add);
        }
        at += 2;
    }
}

/// R rows times V registers, `at` registers from the left edge of the panel.
#[inline(always)]
fn tile<S: Simd, T: Element, const R: usize, const V: usize>(
    simd: S,
    a: Left<'_, T>,
    b: &[T],
    c: &mut [T],
    at: usize,
    add: bool,
) {
    // A panel of just two registers needs no checks in the loop.
    let at = if 2 * size_of::<T::Lanes<S>>() == T::PANEL * size_of::<T>() {
        0
    } else {
        at
    };
    let Left {
        values,
        stride,
        first,
    } = a;
    assert!(first + R <= stride);
    let mut sums = [[T::splat(simd, T::ZERO); V]; R];
    for (a, b) in values.chunks_exact(stride).zip(b.chunks_exact(T::PANEL)) {
        let (a, b) = (&a[first..first + R], &T::lanes::<S>(b)[at..at + V]);
        for i in 0..R {
            let a = T::splat(simd, a[i]);
            for j in 0..V {
                sums[i][j] = T::mul_add(simd, a, b[j], sums[i][j]);
            }
        }
    }
    for (c, sums) in c.chunks_exact_mut(T::PANEL).zip(sums) {
        let c = &mut T::lanes_mut::<S>(c)[at..at + V];
        for j in 0..V {
            c[j] = if add {
                T::add(simd, c[j], sums[j])
            } else {
                sums[j]
            };
        }
    }
}

/// Packs `width` columns of a row-major matrix, which starts at `b[0]`, into a panel; the rest of it is zero.
#[inline(always)]
pub(crate) fn pack<T: Element>(b: &[T], row: usize, width: usize, panel: &mut [T]) {
    let panel = panel.chunks_exact_mut(T::PANEL);
    if width == T::PANEL {
        for (b, out) in b.chunks(row).zip(panel) {
            out.copy_from_slice(&b[..T::PANEL]);
        }
    } else {
        for (b, out) in b.chunks(row).zip(panel) {
            out[..width].copy_from_slice(&b[..width]);
            out[width..].fill(T::ZERO);
        }
    }
}

/// Packs the transpose of the first `width` rows of a row-major matrix, which starts at `b[0]`, into a panel.
///
/// Columns are taken sixteen at a time, a line of cache of every row.
#[inline(always)]
pub(crate) fn pack_transposed<T: Element>(b: &[T], row: usize, width: usize, panel: &mut [T]) {
    const STRIP: usize = 16;
    if width < T::PANEL {
        panel.fill(T::ZERO);
    }
    for (p, panel) in panel.chunks_mut(STRIP * T::PANEL).enumerate() {
        for (j, b) in b.chunks(row).take(width).enumerate() {
            let b = &b[p * STRIP..];
            if panel.len() == STRIP * T::PANEL {
                for i in 0..STRIP {
                    panel[i * T::PANEL + j] = b[i];
                }
            } else {
                for (out, &b) in panel.chunks_exact_mut(T::PANEL).zip(b) {
                    out[j] = b;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::{Arch, Scalar, WithSimd};

    /// C += A · B for a whole matrix, by tiles of six rows.
    struct Whole<'a, T> {
        a: &'a [T],
        b: &'a [T],
        c: &'a mut [T],
        width: usize,
    }

    impl<T: Element> WithSimd for Whole<'_, T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for (t, c) in self.c.chunks_exact_mut(6 * T::PANEL).enumerate() {
                let a = Left {
                    values: self.a,
                    stride: 12,
                    first: 6 * t,
                };
                multiply::<S, T, 6, 3>(simd, a, self.b, c, self.width, t == 1);
            }
        }
    }

    macro_rules! against_loops {
        ($name:ident, $t:ty) => {
            /// Small integers, so that every order of summation is exact.
            #[test]
            fn $name() {
                const N: usize = <$t>::PANEL;
                let value = |i: usize| ((i * 7919) % 13) as $t - 6.0;
                for (k, width) in [(1, 1), (7, 5), (20, N / 2), (33, N / 2 + 1), (50, N)] {
                    let a: Vec<$t> = (0..k * 12).map(value).collect();
                    let b: Vec<$t> = (0..width * k).map(|i| value(i + 5)).collect();
                    let (mut panel, mut transposed) = (vec![9.0; k * N], vec![9.0; k * N]);
                    pack(&b, width, width, &mut panel);
                    let mut bt = vec![0.0; b.len()];
                    for i in 0..k * width {
                        bt[i % width * k + i / width] = b[i];
                    }
                    pack_transposed(&bt, k, width, &mut transposed);
                    assert_eq!(panel, transposed);
                    let start: Vec<$t> = (0..12 * N).map(value).collect();
                    let (mut wide, mut narrow) = (start.clone(), start.clone());
                    let whole = |c| Whole {
                        a: &a,
                        b: &panel,
                        c,
                        width,
                    };
                    Arch::new().dispatch(whole(&mut wide[..]));
                    Scalar::new().vectorize(whole(&mut narrow[..]));
                    for (i, j) in (0..12).flat_map(|i| (0..width).map(move |j| (i, j))) {
                        let sum: $t = (0..k).map(|p| a[p * 12 + i] * b[p * width + j]).sum();
                        let expected = if i < 6 { sum } else { sum + start[i * N + j] };
                        assert_eq!(wide[i * N + j], expected, "{k} {i} {j}");
                        assert_eq!(narrow[i * N + j], expected, "{k} {i} {j}");
                    }
                }
            }
        };
    }
    against_loops!(single_precision, f32);
    against_loops!(double_precision, f64);
}
