//! The six measured data sets of the paper's Table 3, cut, scaled and padded as in its code.
//!
//! | name | file | output | inputs (columns from 0) | noise columns | training / test rows |
//! |---|---|---|---|---|---|
//! | `propulsion` | `propulsion.txt` | ln of column 1 | 2–7, 9–17 | | 200 / 200 |
//! | `galaxy` | `lrgReg.mat` | Y over its standard deviation | all 20 | | first 2000 / last 2000 |
//! | `airfoil` | `airfoil.txt` | 5 | 0–4 | 36 | 750 / 750 |
//! | `ccpp` | `ccpp.mat` | `YTrain` | all 4 | 55 | 2000 / 2000 |
//! | `telemonit` | `telemonitoring.txt`, rows whose column 2 is 0 | 5 | 1, 3, 4, 6–21 | | 1000 / 867 |
//! | `skillcraft` | `skillcraft.txt` | 15 | 1–14, 16–19 | | 1700 / 1600 |
//!
//! A seed shuffles the rows; the first are for training, the next for testing. Inputs and output are standardised by the
//! mean and the (population) standard deviation of the training rows; then noise columns are appended, N(0, 1) and
//! independent between training and test. A column that is constant in the training rows becomes zero. Galaxy is taken
//! as it is, neither shuffled nor standardised.
//!
//! The files are not part of this repository; [`Measured::read`] looks for them in the folder that
//! `THINFIT_DATA` names.

use std::path::{Path, PathBuf};

use crate::Sample;
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use thinfit_table::{Options, Reader};

/// The environment variable with the folder of the files.
pub const VARIABLE: &str = "THINFIT_DATA";

/// One of the data sets; see the table in the [module documentation](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measured {
    /// Decay of a naval propulsion plant.
    Propulsion,
    /// Spectra of galaxies.
    Galaxy,
    /// Noise of an airfoil.
    Airfoil,
    /// Output of a combined cycle power plant.
    Ccpp,
    /// Voices of patients with Parkinson's disease.
    Telemonit,
    /// Players of a strategy game.
    Skillcraft,
}

/// Why a data set could not be read.
#[derive(Debug, thiserror::Error)]
pub enum UciError {
    /// The folder of the files is unknown.
    #[error(
        "the variable {VARIABLE} is not set; download {file} from the UCI repository (or with the code of SALSA) and set \
         {VARIABLE} to its folder"
    )]
    NoFolder {
        /// The file that is needed.
        file: &'static str,
    },
    /// A file cannot be read.
    #[error("{source}; put {file} into the folder that {VARIABLE} names, or download it again")]
    Table {
        /// The file.
        file: &'static str,
        /// The cause.
        source: Box<thinfit_table::Error>,
    },
    /// A file has the wrong contents.
    #[error("{path}: expected {expected}, found {found}; download the file again")]
    Format {
        /// The file.
        path: PathBuf,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
}

/// How a data set is laid out and cut.
struct Layout {
    file: &'static str,
    /// Rows and columns of the whole table; an output that is a table of its own comes last.
    shape: (usize, usize),
    output: usize,
    /// Columns that are neither inputs nor output.
    skipped: &'static [usize],
    noise: usize,
    train: usize,
    test: usize,
}

impl Measured {
    /// Every data set, in the order of the paper.
    pub const ALL: [Measured; 6] = [
        Measured::Propulsion,
        Measured::Galaxy,
        Measured::Airfoil,
        Measured::Ccpp,
        Measured::Telemonit,
        Measured::Skillcraft,
    ];

    /// Short name, as in the tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Measured::Propulsion => "propulsion",
            Measured::Galaxy => "galaxy",
            Measured::Airfoil => "airfoil",
            Measured::Ccpp => "ccpp",
            Measured::Telemonit => "telemonit",
            Measured::Skillcraft => "skillcraft",
        }
    }

    fn layout(self) -> Layout {
        let cut = |file, shape, output, skipped, (noise, train, test)| Layout {
            file,
            shape,
            output,
            skipped,
            noise,
            train,
            test,
        };
        match self {
            Measured::Propulsion => cut("propulsion.txt", (11934, 18), 1, &[0, 8], (0, 200, 200)),
            Measured::Galaxy => cut("lrgReg.mat", (4000, 21), 20, &[], (0, 2000, 2000)),
            Measured::Airfoil => cut("airfoil.txt", (1503, 6), 5, &[], (36, 750, 750)),
            Measured::Ccpp => cut("ccpp.mat", (7000, 5), 4, &[], (55, 2000, 2000)),
            Measured::Telemonit => {
                cut("telemonitoring.txt", (5875, 22), 5, &[0, 2], (0, 1000, 867))
            }
            Measured::Skillcraft => cut("skillcraft.txt", (3338, 20), 15, &[0], (0, 1700, 1600)),
        }
    }

    /// Number of inputs, noise columns included.
    pub fn dim(self) -> usize {
        let layout = self.layout();
        layout.shape.1 - 1 - layout.skipped.len() + layout.noise
    }

    /// Number of training rows.
    pub fn samples(self) -> usize {
        self.layout().train
    }

    /// Training and test rows of the split of `seed`, from the folder in [`VARIABLE`].
    ///
    /// # Errors
    /// No folder, or a file that cannot be read or has the wrong contents.
    pub fn read(self, seed: u64) -> Result<(Sample, Sample), UciError> {
        let file = self.layout().file;
        let folder = std::env::var_os(VARIABLE).ok_or(UciError::NoFolder { file })?;
        self.read_from(Path::new(&folder), seed)
    }

    /// Training and test rows of the split of `seed`, from the files in `folder`.
    ///
    /// # Errors
    /// A file that cannot be read or has the wrong contents.
    pub fn read_from(self, folder: &Path, seed: u64) -> Result<(Sample, Sample), UciError> {
        let layout = self.layout();
        let mut table = table(folder, self)?;
        let y = layout.output;
        match self {
            Measured::Propulsion => table.iter_mut().for_each(|row| row[y] = row[y].ln()),
            Measured::Telemonit => table.retain(|row| row[2] == 0.0),
            Measured::Galaxy => {
                let (_, deviation) = moments(table.iter().map(|row| row[y]));
                table.iter_mut().for_each(|row| row[y] /= deviation);
            }
            _ => {}
        }
        let needed = layout.train + layout.test;
        if table.len() < needed {
            return Err(UciError::Format {
                path: folder.join(layout.file),
                expected: format!("at least {needed} usable rows"),
                found: table.len().to_string(),
            });
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(3);
        if self != Measured::Galaxy {
            for i in (1..table.len()).rev() {
                table.swap(i, rng.random_range(0..=i));
            }
            standardise(&mut table, layout.train);
        }
        let inputs: Vec<usize> = (0..layout.shape.1)
            .filter(|k| *k != y && !layout.skipped.contains(k))
            .collect();
        let mut sample = |start: usize, rows: usize| Sample {
            y: Mat::from_fn(rows, 1, |i, _| table[start + i][y]),
            x: Mat::from_fn(rows, inputs.len() + layout.noise, |i, k| {
                match inputs.get(k) {
                    Some(&column) => table[start + i][column],
                    None => rng.sample(StandardNormal),
                }
            }),
        };
        Ok((sample(0, layout.train), sample(layout.train, layout.test)))
    }
}

/// Scales every column to mean 0 and standard deviation 1 over the first `train` rows.
fn standardise(table: &mut [Vec<f64>], train: usize) {
    for k in 0..table[0].len() {
        let (mean, deviation) = moments(table[..train].iter().map(|row| row[k]));
        let constant = deviation <= 1e-12 * mean.abs();
        for row in &mut *table {
            row[k] = if constant {
                0.0
            } else {
                (row[k] - mean) / deviation
            };
        }
    }
}

/// Mean and population standard deviation.
pub(crate) fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// All rows of a file.
fn table(folder: &Path, measured: Measured) -> Result<Vec<Vec<f64>>, UciError> {
    let Layout { file, shape, .. } = measured.layout();
    let path = folder.join(file);
    let arrays = match measured {
        Measured::Galaxy => Some("X,Y"),
        Measured::Ccpp => Some("XTrain,YTrain"),
        _ => None,
    };
    let options = Options {
        header: Some(false),
        array: arrays.map(String::from),
        ..Options::default()
    };
    let table = Reader::open(&path, &options).and_then(|mut reader| reader.read());
    let x = table
        .map_err(|source| UciError::Table {
            file,
            source: Box::new(source),
        })?
        .x;
    if (x.nrows(), x.ncols()) != shape {
        return Err(UciError::Format {
            path,
            expected: format!("{} rows of {} numbers", shape.0, shape.1),
            found: format!("{} rows of {}", x.nrows(), x.ncols()),
        });
    }
    let row = |i: usize| x.row(i).iter().copied().collect();
    Ok((0..x.nrows()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_the_published_numbers_of_inputs() {
        let dims = Measured::ALL.map(Measured::dim);
        assert_eq!(dims, [15, 20, 41, 59, 19, 18]);
    }

    /// A table in the form of airfoil.txt: output 5 is 100 + the sum of the inputs, and input 2 is constant.
    fn made_up_airfoil() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("thinfit-airfoil-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let row = |i: usize| {
            let at = |k: usize| ((i + 1) as f64 * (k as f64 + 2.0).sqrt()).fract();
            let x = [at(0), 3.0 * at(1), 7.0, at(3), at(4)];
            let y = 100.0 + x.iter().sum::<f64>();
            format!("{} {} {} {} {} {y}\n", x[0], x[1], x[2], x[3], x[4])
        };
        let text: String = (0..1503).map(row).collect();
        std::fs::write(folder.join("airfoil.txt"), text).unwrap();
        folder
    }

    #[test]
    fn a_table_is_cut_standardised_and_padded_with_noise() {
        let folder = made_up_airfoil();
        let read = |seed| Measured::Airfoil.read_from(&folder, seed).unwrap();
        let ((train, test), (again, _), (other, _)) = (read(0), read(0), read(1));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((train.x.nrows(), train.x.ncols()), (750, 41));
        assert_eq!((test.x.nrows(), test.y.nrows()), (750, 750));
        for k in 0..5 {
            let (mean, deviation) = moments(train.x.col_as_slice(k).iter().copied());
            let expected = if k == 2 { 0.0 } else { 1.0 };
            assert!(mean.abs() < 1e-9 && (deviation - expected).abs() < 1e-9);
        }
        let (mean, deviation) = moments(train.y.col_as_slice(0).iter().copied());
        assert!(mean.abs() < 1e-9 && (deviation - 1.0).abs() < 1e-9);
        let (mean, deviation) = moments(train.x.col_as_slice(40).iter().copied());
        assert!(mean.abs() < 0.15 && (deviation - 1.0).abs() < 0.15);
        assert_eq!((&train.x, &train.y), (&again.x, &again.y));
        assert_ne!(train.y, other.y);
    }

    #[test]
    #[cfg_attr(not(measured_data), ignore = "THINFIT_DATA is not set")]
    fn every_split_has_its_shape_and_training_rows_are_standardised() {
        for measured in Measured::ALL {
            let (train, test) = measured.read(0).unwrap();
            let layout = measured.layout();
            assert_eq!(
                (train.x.nrows(), train.x.ncols()),
                (layout.train, measured.dim())
            );
            assert_eq!((test.x.nrows(), test.y.nrows()), (layout.test, layout.test));
            assert!(train.x.is_all_finite() && test.x.is_all_finite() && test.y.is_all_finite());
            let (mean, deviation) = moments(train.y.col_as_slice(0).iter().copied());
            if measured == Measured::Galaxy {
                assert!(
                    (mean + 1.54).abs() < 0.02 && (deviation - 0.99).abs() < 0.02,
                    "{mean} {deviation}"
                );
                assert_eq!(measured.read(1).unwrap().0.y, train.y);
            } else {
                assert!(mean.abs() < 1e-9 && (deviation - 1.0).abs() < 1e-9);
                assert_ne!(measured.read(1).unwrap().0.y, train.y);
                assert_eq!(measured.read(0).unwrap().1.x, test.x);
            }
        }
    }

    #[test]
    fn errors_name_the_missing_file_and_the_remedy() {
        let error = Measured::Airfoil
            .read_from(Path::new("/nowhere"), 0)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/nowhere/airfoil.txt") && error.contains(VARIABLE),
            "{error}"
        );
        let error = UciError::NoFolder { file: "ccpp.mat" }.to_string();
        assert!(error.contains("download ccpp.mat"), "{error}");
    }

    #[test]
    fn a_table_with_too_few_usable_rows_is_refused() {
        let folder = std::env::temp_dir().join(format!("thinfit-uci-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let row = ["1"; 22].join(" ") + "\n";
        std::fs::write(folder.join("telemonitoring.txt"), row.repeat(5875)).unwrap();
        let error = Measured::Telemonit.read_from(&folder, 0).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("at least 1867 usable rows") && text.contains("found 0"),
            "{text}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
