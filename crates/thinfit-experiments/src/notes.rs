//! The texts around the numbers of a report: what they mean, and what to know about each table.

use crate::{Column, Exhibit, Problem};

/// The introduction of every report.
pub(crate) const INTRODUCTION: &str = "Numbers are mean squared errors on test points, averaged over seeds; the spread is \
    their standard deviation. Failed fits, mostly those whose numbers left the finite range, are left out of the mean \
    and counted. Published numbers are from Tables 1 to 6 of Hertrich and Neumayer, Generative Feature Training \
    of Thin 2-Layer Networks, TMLR 2025, averaged over five runs. The ratio is ours over published. The best of each column is \
    bold, once among ours and once among the paper's; among ours only rows with all seeds and no failed fit compete. λ is \
    the strength of the regulariser in our fits, or the published one in brackets if we have no number. ANOVA-RFF, SHRIMP \
    and HARFE have as many features as their pruning leaves, mostly more than the table has neurons. Times are of one fit \
    on one thread, with others running beside it; on a GPU, of a batch of fits over their number, with other batches \
    beside it. A cell that differs from the published one by more than a factor of 3 has a remark, in which × is an \
    error over the published one.";

/// The title of an exhibit.
pub(crate) fn title(exhibit: Exhibit) -> &'static str {
    match exhibit {
        Exhibit::Table(1) => "Table 1: functions on the unit cube, 100 neurons",
        Exhibit::Table(2) => "Table 2: further functions, 100 neurons",
        Exhibit::Table(3) => "Table 3: measured data, 100 neurons",
        Exhibit::Table(4) => "Table 4: 50 neurons",
        Exhibit::Table(5) => "Table 5: 200 neurons",
        Exhibit::Table(_) => "Table 6: ablations, 100 neurons",
        Exhibit::Figure1 => "Figure 1: features of functions of two inputs, 100 neurons",
    }
}

/// Notes for the readers of an exhibit.
pub(crate) fn notes(exhibit: Exhibit) -> &'static [&'static str] {
    const RIDGE: &str = "Kernel ridge regression: the paper states neither ridge nor precision. Ours runs in double precision \
        with a ridge of 1e-4 for functions and 1e-5 for measured data; the published errors lie between those of the two.";
    const STEP: &str = "F-Opt: the paper does not state its step size. Ours is 1e-3, which is mostly better. With 1e-4, that \
        of GFT, eleven of twelve errors of one seed are within a factor of 3 of the published ones.";
    const LAST: &str = "Neural net: as in the paper, the last iterate of Adam counts; it scatters, in places \
        more than tenfold between seeds. The same network in PyTorch has similar errors, in single and in double precision \
        (tools/plain_precision.py).";
    match exhibit {
        Exhibit::Table(1) => &[
            "The paper copied its rows of ANOVA-RFF, SHRIMP and HARFE from another paper, and they are very \
             probably not of the unit cube: that paper's programs draw f2 from [−π, π]^d, and f1 from other distributions, \
             too. Our rows are our own runs on the unit cube, as the text of the paper has it, where f2 is much easier, and \
             for f2 also on [−π, π]^d (columns ishigami, beside the published numbers of f2). There the errors \
             depend on the density of the frequencies, which is not published; ours are normal with deviation 1/q for sets \
             of q inputs, and for ANOVA-RFF normal or Cauchy by validation. SHRIMP has complex features on all pairs of \
             inputs here, as in those programs; the row below GFT-r has the real features of SHRIMP's own authors.",
            RIDGE,
            STEP,
            LAST,
            "The paper has no rows here for SALSA, SHRIMP with real features, RFF, ARFF, SWIM, validated kernel ridge and Gaussian processes.",
        ],
        Exhibit::Table(2) => &[
            "The published numbers of h1 belong to sin(Σx) + ‖x‖⁴ (column h1); the text of the paper has sin(Σx) + ‖x‖² \
             (column h1-text, for which nothing is published).",
            RIDGE,
            "Kernel ridge regression on h3: no ridge that we tried gives the published error, which is sixteen times ours.",
            STEP,
            LAST,
        ],
        Exhibit::Table(3) => &[
            "Every seed splits the rows anew, except for galaxy, which has one split: its spread is that of the fits alone.",
            "The paper copied its rows of SHRIMP and SALSA from the SHRIMP paper, one split each. Our \
             SHRIMP has the settings of its authors' scripts for measured data.",
            RIDGE,
            STEP,
            LAST,
        ],
        Exhibit::Table(4) => &[
            "GFT and GFT-r: of the 24 published errors 21 are more than three times ours, those of the sigmoid up to millions \
             of times, while with 100 neurons most agree. They look like those of single precision, in which the same method in \
             PyTorch with 100 neurons has errors of 1.4e-4 for GFT on f2 (5, 500) with Fourier features, and up to 26 on f3 (5, \
             500) with the sigmoid (tools/gft_precision.py). With 50 neurons we have not tried it.",
            STEP,
            LAST,
        ],
        Exhibit::Table(6) => &[
            "The paper gives neither step size nor number of steps for noisy gradients, and no program for either ablation.",
        ],
        Exhibit::Figure1 => &[
            "The share is the part of Σ|b| within 0.1 of the lines on which the Fourier transform of the function \
             lies. The paper prints no numbers here.",
        ],
        Exhibit::Table(_) => &[STEP, LAST],
    }
}

/// A column with its inputs, samples and formula.
pub(crate) fn heading(column: Column) -> String {
    match column {
        Column::Function(Problem::Ishigami, dim, _) => format!("{column}: f2 on [−π, π]^{dim}"),
        Column::Function(problem, ..) => format!("{column}: {}", problem.formula()),
        Column::Measured(measured) => {
            let (dim, samples) = (column.dim(), column.samples());
            format!("{} ({dim}, {samples})", measured.name())
        }
    }
}
