//! A kernel as a sum of terms, k(x, x′) = Σ_t weight_t · k_t(x, x′), and its matrices.
//!
//! A kernel may have edges, planes across which functions jump or bend. Each is one more input, derived from the d
//! inputs of x: parts refer to it as input d, d + 1, … Methods choose the parts and solve with the matrices. In a file a single part of weight one
//! over all inputs is `{"shape", "lengths"}`, anything else `{"parts"}`, with `"edges"` if there are any.

use crate::edge::Edge;
use crate::kernel_term::KernelTerm;
use crate::shape::Shape;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// A sum of terms, each over some of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Kernel {
    /// The terms, at least one.
    pub terms: Vec<KernelTerm>,
    /// The inputs that are derived from the others, after these.
    pub edges: Vec<Edge>,
}

impl From<KernelTerm> for Kernel {
    fn from(term: KernelTerm) -> Self {
        vec![term].into()
    }
}

impl From<Vec<KernelTerm>> for Kernel {
    fn from(terms: Vec<KernelTerm>) -> Self {
        Kernel {
            terms,
            edges: vec![],
        }
    }
}

/// A kernel in a file.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a kernel with `shape` and `lengths`, or with `parts`"
)]
enum Written {
    Single {
        shape: Shape,
        lengths: Vec<f64>,
    },
    Sum {
        #[serde(rename = "parts")]
        terms: Vec<KernelTerm>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edges: Vec<Edge>,
    },
}

impl From<Written> for Kernel {
    fn from(written: Written) -> Self {
        match written {
            Written::Single { shape, lengths } => Kernel::single(shape, lengths),
            Written::Sum { terms, edges } => Kernel { terms, edges },
        }
    }
}

impl From<Kernel> for Written {
    fn from(mut kernel: Kernel) -> Self {
        match kernel.terms.pop() {
            Some(term) if kernel.terms.is_empty() && kernel.edges.is_empty() && term.is_full() => {
                Written::Single {
                    shape: term.shape,
                    lengths: term.lengths,
                }
            }
            last => {
                kernel.terms.extend(last);
                Written::Sum {
                    terms: kernel.terms,
                    edges: kernel.edges,
                }
            }
        }
    }
}

impl Kernel {
    /// One term of weight one over the first inputs, as many as there are lengths.
    pub fn single(shape: Shape, lengths: Vec<f64>) -> Self {
        KernelTerm::full(shape, lengths).into()
    }

    /// The rows of `x` (n × d) with the values of the edges after them: n × (d + edges).
    pub fn widened(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let d = x.ncols();
        let mut wide = Mat::zeros(x.nrows(), d + self.edges.len());
        wide.as_mut().subcols_mut(0, d).copy_from(x);
        for (e, edge) in self.edges.iter().enumerate() {
            for i in 0..x.nrows() {
                wide[(i, d + e)] = edge.value(x.row(i));
            }
        }
        wide
    }

    /// The matrix of k(x_i, x_j) for the rows of `x` (m × d): its lower triangle, zero above.
    pub fn gram(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let x = self.widened(x);
        self.sum((x.nrows(), x.nrows()), |term| term.gram(x.as_ref()))
    }

    /// The matrix of k(x_i, p_j) for the rows of `x` (n × d) and of `points` (m × d): n × m.
    pub fn cross(&self, x: MatRef<'_, f64>, points: MatRef<'_, f64>) -> Mat<f64> {
        let (x, points) = (self.widened(x), self.widened(points));
        self.cross_widened(&x, &points)
    }

    /// The same for rows and points that have the values of the edges already.
    pub fn cross_widened(&self, x: &Mat<f64>, points: &Mat<f64>) -> Mat<f64> {
        self.sum((x.nrows(), points.nrows()), |term| {
            term.cross(x.as_ref(), points.as_ref())
        })
    }

    /// Σ_p c_p ∂k(x_i, p)/∂x_ij for the rows of `x` (n × d) and of `points` (m × d), c (m): n × d.
    pub(crate) fn gradient(&self, x: &Mat<f64>, points: MatRef<'_, f64>, c: &[f64]) -> Mat<f64> {
        let (wide, points) = (self.widened(x.as_ref()), self.widened(points));
        let mut gradient = Mat::zeros(x.nrows(), wide.ncols());
        for term in &self.terms {
            term.add_gradient(&wide, points.as_ref(), c, &mut gradient);
        }
        let d = x.ncols();
        for (e, edge) in self.edges.iter().enumerate() {
            for i in 0..x.nrows() {
                let slope = gradient[(i, d + e)] * edge.slope(x.row(i));
                for (j, v) in edge.direction.iter().enumerate() {
                    gradient[(i, j)] += slope * v;
                }
            }
        }
        gradient.truncate(x.nrows(), d);
        gradient
    }

    /// k(x, x), the same for every x.
    pub fn diagonal(&self) -> f64 {
        self.terms.iter().map(KernelTerm::diagonal).sum()
    }

    /// How many real numbers the kernel has: the lengths, the weights that are not one, and those of the edges.
    pub fn parameters(&self) -> usize {
        let numbers = |term: &KernelTerm| {
            term.lengths.len() + term.shares.len() + usize::from(term.weight != 1.0)
        };
        let edges: usize = self.edges.iter().map(Edge::parameters).sum();
        self.terms.iter().map(numbers).sum::<usize>() + edges
    }

    /// Whether this is a kernel of `d` inputs.
    pub fn fits(&self, d: usize) -> bool {
        let wide = d + self.edges.len();
        !self.terms.is_empty()
            && self.terms.iter().all(|term| term.fits(wide))
            && self.edges.iter().all(|edge| edge.fits(d))
    }

    fn sum(
        &self,
        (rows, columns): (usize, usize),
        of: impl Fn(&KernelTerm) -> Mat<f64>,
    ) -> Mat<f64> {
        let mut matrices = self.terms.iter().map(of);
        let first = matrices.next().unwrap_or_else(|| Mat::zeros(rows, columns));
        matrices.fold(first, |sum, matrix| sum + matrix)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::edge::Crossing;
    use crate::shape::additive::additive_grams;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    pub(crate) fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| rng.random())
    }

    /// k(a, b) straight from its definition.
    pub(crate) fn plain(kernel: &Kernel, a: &[f64], b: &[f64]) -> f64 {
        let wide = |x: &[f64]| -> Vec<f64> {
            let edges = kernel.edges.iter().map(|edge| {
                let u: f64 = edge.direction.iter().zip(x).map(|(v, x)| v * x).sum();
                match edge.crossing {
                    Crossing::Jump => match u - edge.offset {
                        ..=-1.0 => -0.5,
                        1.0.. => 0.5,
                        c => 0.75 * c - 0.25 * c.powi(3),
                    },
                    Crossing::Bend => (u - edge.offset).max(0.0),
                }
            });
            x.iter().copied().chain(edges).collect()
        };
        let (a, b) = (wide(a), wide(b));
        let terms = kernel.terms.iter();
        terms.map(|term| term.weight * shape(term, &a, &b)).sum()
    }

    fn shape(term: &KernelTerm, a: &[f64], b: &[f64]) -> f64 {
        let squares: Vec<f64> = (term.inputs.iter().zip(&term.lengths))
            .map(|(&j, length)| ((a[j] - b[j]) / length).powi(2))
            .collect();
        let (s, q) = (squares.len(), squares.iter().sum::<f64>());
        match term.shape {
            Shape::Gaussian => (-0.5 * q).exp(),
            Shape::Matern52 => {
                let r = (5.0 * q).sqrt();
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
            Shape::Additive(order) => (0u32..1 << s)
                .filter(|set| set.count_ones() as usize == order)
                .map(|set| {
                    let q: f64 = (0..s)
                        .filter(|j| set >> j & 1 == 1)
                        .map(|j| squares[j])
                        .sum();
                    (-0.5 * q).exp()
                })
                .sum(),
            Shape::Anova => (squares.iter().zip(&term.shares))
                .map(|(square, share)| 1.0 - share + share * (-0.5 * square).exp())
                .product(),
            Shape::AnovaMatern52 => (squares.iter().zip(&term.shares))
                .map(|(square, share)| {
                    let r = (5.0 * square).sqrt();
                    1.0 - share + share * (1.0 + r + r * r / 3.0) * (-r).exp()
                })
                .product(),
        }
    }

    /// A sum of terms of every shape, over some of four inputs.
    pub(crate) fn sum() -> Kernel {
        let term = |weight, shape, inputs: &[usize], lengths: &[f64]| KernelTerm {
            weight,
            shape,
            inputs: inputs.to_vec(),
            lengths: lengths.to_vec(),
            shares: (0..inputs.len() * usize::from(shape.has_shares()))
                .map(|k| 0.3 + 0.2 * k as f64)
                .collect(),
        };
        let terms = vec![
            term(0.7, Shape::Gaussian, &[0, 1, 2, 3], &[0.3, 1.0, 2.0, 0.7]),
            term(2.5, Shape::Matern52, &[2, 0], &[0.5, 0.9]),
            term(0.1, Shape::Additive(2), &[1, 2, 3], &[0.4, 0.6, 1.1]),
            term(1.0, Shape::Gaussian, &[3], &[0.2]),
            term(0.4, Shape::Anova, &[3, 1], &[0.5, 0.8]),
            term(0.3, Shape::AnovaMatern52, &[0, 1, 2], &[0.5, 0.8, 1.3]),
        ];
        terms.into()
    }

    /// The sum, two of its terms with a jump and a bend as further inputs.
    fn creased() -> Kernel {
        let mut kernel = sum();
        let edge = |crossing, direction: &[f64], offset| Edge {
            crossing,
            direction: direction.to_vec(),
            offset,
        };
        kernel.edges = vec![
            edge(Crossing::Jump, &[3.0, 0.0, -2.0, 0.5], 0.4),
            edge(Crossing::Bend, &[0.0, 1.0, 0.7, 0.0], 0.9),
        ];
        for (term, input) in [(0, 4), (0, 5), (2, 4), (4, 5)] {
            let term = &mut kernel.terms[term];
            term.inputs.push(input);
            term.lengths.push(0.8);
            if term.shape.has_shares() {
                term.shares.push(0.7);
            }
        }
        kernel
    }

    fn single(shape: Shape) -> Kernel {
        Kernel::single(shape, vec![0.3, 1.0, 2.0, 0.7])
    }

    /// Kernels of four inputs of every kind, shares of zero and one included.
    fn every() -> [Kernel; 9] {
        let shared = |shape| {
            let shares = vec![1.0, 0.0, 0.4, 0.9];
            KernelTerm::with_shares(shape, vec![0.3, 1.0, 2.0, 0.7], shares).into()
        };
        [
            single(Shape::Gaussian),
            single(Shape::Matern52),
            single(Shape::Additive(1)),
            single(Shape::Additive(3)),
            single(Shape::Additive(4)),
            shared(Shape::Anova),
            shared(Shape::AnovaMatern52),
            sum(),
            creased(),
        ]
    }

    #[test]
    fn gradients_agree_with_central_differences() {
        let (x, points, step) = (random(7, 4, 1), random(5, 4, 2), 1e-6);
        let c = [1.0, -2.0, 0.5, 3.0, -0.1];
        for kernel in every() {
            let gradient = kernel.gradient(&x, points.as_ref(), &c);
            for j in 0..4 {
                let moved = |h: f64| {
                    let mut x = x.clone();
                    x.col_as_slice_mut(j).iter_mut().for_each(|v| *v += h);
                    let c = Mat::from_fn(5, 1, |i, _| c[i]);
                    kernel.cross(x.as_ref(), points.as_ref()) * c
                };
                let difference = (moved(step) - moved(-step)) * faer::Scale(0.5 / step);
                for i in 0..7 {
                    let error = gradient[(i, j)] - difference[(i, 0)];
                    assert!(error.abs() < 1e-8, "{kernel:?}: {error}");
                }
            }
        }
        // At a point itself the derivative is zero, and so it is where the kernel has vanished.
        let far = Mat::from_fn(2, 1, |i, _| 1e150 * i as f64);
        for shape in [Shape::Gaussian, Shape::Matern52, Shape::Additive(1)] {
            let kernel = Kernel::single(shape, vec![1e-160]);
            assert_eq!(
                kernel.gradient(&far, far.as_ref(), &[1.0, 2.0]),
                Mat::<f64>::zeros(2, 1)
            );
        }
    }

    #[test]
    fn slopes_are_derivatives_in_the_squared_distance() {
        let (x, step) = (random(9, 3, 1), 1e-5);
        for shape in [Shape::Gaussian, Shape::Matern52] {
            let term = KernelTerm {
                weight: 0.6,
                shape,
                inputs: vec![2, 0],
                lengths: vec![0.5, 0.8],
                shares: vec![],
            };
            let slopes = term.slopes(term.gram(x.as_ref()), &x);
            // Lengths divided by √(1 + h) multiply q by 1 + h.
            let moved = |h: f64| {
                let lengths = term.lengths.iter().map(|l| l / (1.0 + h).sqrt()).collect();
                KernelTerm {
                    lengths,
                    ..term.clone()
                }
                .gram(x.as_ref())
            };
            let difference = (moved(step) - moved(-step)) * faer::Scale(0.5 / step);
            for j in 0..9 {
                for i in j + 1..9 {
                    let q: f64 = (term.inputs.iter().zip(&term.lengths))
                        .map(|(&k, l)| ((x[(i, k)] - x[(j, k)]) / l).powi(2))
                        .sum();
                    let expected = -2.0 * difference[(i, j)] / q;
                    assert!((slopes[(i, j)] - expected).abs() < 1e-8, "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn a_single_full_part_is_written_without_terms_and_a_sum_with_them() {
        let single = Kernel::single(Shape::Matern52, vec![0.5, 2.0]);
        let text = serde_json::to_string(&single).unwrap();
        assert_eq!(text, r#"{"shape":"matern52","lengths":[0.5,2.0]}"#);
        let mut shifted = single.clone();
        shifted.terms[0].inputs = vec![0, 2];
        let mut heavy = single.clone();
        heavy.terms[0].weight = 2.0;
        for kernel in [single, shifted, heavy, sum(), creased()] {
            let text = serde_json::to_string(&kernel).unwrap();
            assert_eq!(serde_json::from_str::<Kernel>(&text).unwrap(), kernel);
            assert!(kernel.fits(4) && !kernel.fits(1));
        }
        let error = serde_json::from_str::<Kernel>(r#"{"shape": "gaussian"}"#).unwrap_err();
        assert!(error.to_string().contains("`lengths`"), "{error}");
    }

    #[test]
    fn parts_that_do_not_fit_are_found() {
        let spoiled = |change: fn(&mut KernelTerm)| {
            let mut kernel = sum();
            change(&mut kernel.terms[2]);
            !kernel.fits(4)
        };
        assert!(sum().fits(4));
        assert!(spoiled(|term| term.weight = 0.0));
        assert!(spoiled(|term| term.weight = f64::INFINITY));
        assert!(spoiled(|term| term.lengths[1] = f64::NAN));
        assert!(spoiled(|term| term.inputs[1] = 4));
        assert!(spoiled(|term| term.inputs.truncate(2)));
        assert!(spoiled(|term| term.shape = Shape::Additive(4)));
        assert!(spoiled(
            |term| (term.inputs, term.lengths) = (vec![], vec![])
        ));
        assert!(!Kernel::from(vec![]).fits(4));
        let creased = |change: fn(&mut Kernel)| {
            let mut kernel = creased();
            change(&mut kernel);
            !kernel.fits(4)
        };
        assert!(!creased(|_| {}));
        assert!(creased(|kernel| kernel.edges.truncate(1)));
        assert!(creased(|kernel| kernel.edges[0].offset = f64::NAN));
        assert!(creased(
            |kernel| kernel.edges[1].direction[1] = f64::INFINITY
        ));
        assert!(creased(|kernel| kernel.edges[1].direction.truncate(3)));
    }

    #[test]
    fn matrices_are_the_kernel_of_every_pair() {
        let (x, points) = (random(19, 4, 1), random(23, 4, 2));
        let row = |a: &Mat<f64>, i: usize| a.row(i).iter().copied().collect::<Vec<_>>();
        for kernel in every() {
            let (gram, cross) = (
                kernel.gram(x.as_ref()),
                kernel.cross(x.as_ref(), points.as_ref()),
            );
            for i in 0..19 {
                for j in 0..23 {
                    let expected = plain(&kernel, &row(&x, i), &row(&points, j));
                    assert!((cross[(i, j)] / expected - 1.0).abs() < 1e-14, "{kernel:?}");
                }
                for j in 0..19 {
                    let expected = plain(&kernel, &row(&x, i), &row(&x, j));
                    let expected = if i >= j { expected } else { 0.0 };
                    assert!(
                        (gram[(i, j)] - expected).abs() <= 1e-14 * expected,
                        "{kernel:?}"
                    );
                }
                assert!((gram[(i, i)] / kernel.diagonal() - 1.0).abs() < 1e-15);
            }
        }
        let grams = additive_grams(&[0.3, 1.0, 2.0, 0.7], x.as_ref(), 2, 4);
        for (gram, order) in grams.iter().zip(2..) {
            assert_eq!(*gram, single(Shape::Additive(order)).gram(x.as_ref()));
        }
    }

    #[test]
    fn far_points_have_the_kernel_zero() {
        let x = Mat::from_fn(2, 1, |i, _| 1e150 * i as f64);
        for shape in [Shape::Gaussian, Shape::Matern52, Shape::Additive(1)] {
            let gram = Kernel::single(shape, vec![1e-160]).gram(x.as_ref());
            assert_eq!((gram[(1, 1)], gram[(1, 0)]), (1.0, 0.0));
        }
    }
}
