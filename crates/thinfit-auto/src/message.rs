//! Evidence in the messages of processes that share candidates or folds.

use faer::Mat;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thinfit::row_list;
use thinfit_gp::Kernel;
use thinfit_gp::pieces::Evidence;

/// The fields of [`Evidence`]; without the gradient, as no search goes on from what was sent.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Evidence")]
struct Fields {
    value: f64,
    #[serde(skip)]
    gradient: Vec<f64>,
    mean: Vec<f64>,
    signal: Vec<f64>,
    #[serde(with = "row_list")]
    alpha: Mat<f64>,
    #[serde(with = "row_list")]
    left_out: Mat<f64>,
    kernel: Kernel,
    ridge: f64,
}

/// Evidence that can be sent.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sent(#[serde(with = "Fields")] pub Evidence);

/// Writes evidence; for `#[serde(with)]`.
pub(crate) fn serialize<S: Serializer>(found: &Evidence, serializer: S) -> Result<S::Ok, S::Error> {
    Fields::serialize(found, serializer)
}

/// Reads evidence.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Evidence, D::Error> {
    Fields::deserialize(from)
}

/// A list of evidence; for `#[serde(with)]`.
pub(crate) mod list {
    use super::{Evidence, Fields, Sent};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(list: &[Evidence], serializer: S) -> Result<S::Ok, S::Error> {
        struct Borrowed<'a>(&'a Evidence);
        impl Serialize for Borrowed<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Fields::serialize(self.0, serializer)
            }
        }
        serializer.collect_seq(list.iter().map(Borrowed))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Evidence>, D::Error> {
        let list = Vec::<Sent>::deserialize(from)?;
        Ok(list.into_iter().map(|Sent(found)| found).collect())
    }
}
