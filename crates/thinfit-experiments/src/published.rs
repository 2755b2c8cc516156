//! The published errors: all 300 cells of the paper's Tables 1 to 6, by setting and row.
//!
//! They are compiled in from `data/paper_results.csv` and parsed on first use. An error is the mean over five runs of
//! the mean squared error on as many fresh test points as there were training points. The paper copied the rows of
//! ANOVA-RFF, SHRIMP, HARFE and SALSA from other papers, which probably used other domains: compare with care.

use std::sync::LazyLock;

use crate::Row;
use thinfit::Activation;

/// One published error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Number of the table.
    pub table: u32,
    /// Hidden neurons $N$.
    pub width: usize,
    /// Name of the function or data set, in lower case.
    pub problem: &'static str,
    /// Inputs $d$.
    pub dim: usize,
    /// Training points $M$.
    pub samples: usize,
    /// The row.
    pub row: Row,
    /// Its activation; none for kernel ridge.
    pub activation: Option<Activation>,
    /// Mean squared error on fresh points.
    pub mse: f64,
    /// Whether the paper sets the number in bold.
    pub highlighted: bool,
    /// The selected strength of the regulariser, if the table gives one.
    pub lambda: Option<f64>,
}

/// The setting of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// Name of the function or data set, in lower case.
    pub problem: &'a str,
    /// Inputs $d$.
    pub dim: usize,
    /// Training points $M$.
    pub samples: usize,
    /// Hidden neurons $N$: 100 in Tables 1, 2, 3 and 6, also for methods without neurons.
    pub width: usize,
}

/// Every published cell, in the order of the tables.
pub fn cells() -> &'static [Published] {
    static CELLS: LazyLock<Vec<Published>> = LazyLock::new(|| {
        parse(include_str!("../data/paper_results.csv"))
            .expect("the file is compiled in and a test parses it")
    });
    &CELLS
}

/// The published cell of a heading, a row and an activation (none for kernel ridge), if there is one.
pub fn find(
    heading: Heading<'_>,
    row: Row,
    activation: Option<Activation>,
) -> Option<&'static Published> {
    cells().iter().find(|cell| {
        let Published {
            problem,
            dim,
            samples,
            width,
            ..
        } = **cell;
        (Heading {
            problem,
            dim,
            samples,
            width,
        }) == heading
            && cell.row == row
            && cell.activation == activation
    })
}

/// Parses the file; an error names the line and the field.
fn parse(text: &'static str) -> Result<Vec<Published>, String> {
    text.lines()
        .enumerate()
        .skip(1)
        .map(|(number, line)| {
            parse_line(line).map_err(|field| format!("line {}: bad {field}: {line}", number + 1))
        })
        .collect()
}

fn parse_line(line: &'static str) -> Result<Published, &'static str> {
    let fields: Vec<&'static str> = line.split(',').collect();
    let [
        table,
        width,
        problem,
        dim,
        samples,
        row,
        activation,
        mse,
        highlighted,
        lambda,
    ] = fields[..]
    else {
        return Err("number of fields");
    };
    Ok(Published {
        table: table
            .strip_prefix("table")
            .and_then(|n| n.parse().ok())
            .ok_or("table")?,
        width: width.parse().map_err(|_| "width")?,
        problem,
        dim: dim.parse().map_err(|_| "d")?,
        samples: samples.parse().map_err(|_| "M")?,
        row: Row::ALL
            .into_iter()
            .find(|known| known.label() == row)
            .ok_or("method")?,
        activation: match activation {
            "fourier" => Some(Activation::Fourier),
            "sigmoid" => Some(Activation::Sigmoid),
            "relu" => Some(Activation::Relu),
            "" => None,
            _ => return Err("activation"),
        },
        mse: mse.parse().map_err(|_| "mse")?,
        highlighted: highlighted == "1",
        lambda: match lambda {
            "" => None,
            value => Some(value.parse().map_err(|_| "lambda")?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const F3: Heading<'_> = Heading {
        problem: "f3",
        dim: 5,
        samples: 500,
        width: 100,
    };

    #[test]
    fn all_cells_are_there() {
        assert_eq!(cells().len(), 300);
        assert!(
            cells()
                .iter()
                .all(|cell| cell.mse > 0.0 && cell.mse.is_finite())
        );
        for table in 1..=6 {
            assert!(cells().iter().any(|cell| cell.table == table));
        }
    }

    #[test]
    fn cells_of_table_1_are_found() {
        let gft = find(F3, Row::Gft, Some(Activation::Fourier)).unwrap();
        assert_eq!((gft.mse, gft.lambda, gft.table), (5.87e-5, Some(1e-4), 1));
        let refined = find(F3, Row::GftR, Some(Activation::Fourier)).unwrap();
        assert_eq!(
            (refined.mse, refined.lambda, refined.highlighted),
            (6.26e-6, Some(0.0), true)
        );
        let kernel = find(F3, Row::KernelRidge, None).unwrap();
        assert_eq!((kernel.mse, kernel.lambda), (1.15e-2, None));
    }

    #[test]
    fn widths_and_activations_are_distinguished() {
        let wide = Heading { width: 200, ..F3 };
        assert_eq!(
            find(wide, Row::GftR, Some(Activation::Fourier))
                .unwrap()
                .mse,
            1.28e-6
        );
        assert_eq!(
            find(F3, Row::Gft, Some(Activation::Sigmoid)).unwrap().mse,
            6.4e-4
        );
        assert_eq!(find(F3, Row::KernelRidge, Some(Activation::Fourier)), None);
        assert_eq!(
            find(
                Heading { samples: 400, ..F3 },
                Row::Gft,
                Some(Activation::Fourier)
            ),
            None
        );
    }

    #[test]
    fn every_function_and_setting_of_tables_1_and_2_has_a_problem() {
        use crate::Problem;
        for cell in cells().iter().filter(|cell| cell.table <= 2) {
            let problem: Problem = cell.problem.parse().unwrap();
            assert!(
                problem.settings().contains(&(cell.dim, cell.samples)),
                "{cell:?}"
            );
        }
    }

    #[test]
    fn a_damaged_file_is_reported_by_line_and_field() {
        let error = parse("header\ntable1,100,f1,5,300,GFT,fourier,abc,0,").unwrap_err();
        assert!(error.starts_with("line 2: bad mse"), "{error}");
        assert!(
            parse("header\ntable1,100")
                .unwrap_err()
                .contains("number of fields")
        );
    }
}
