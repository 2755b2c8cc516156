//! One point: the value of every column of the user's table.

use serde::ser::{Serialize, SerializeMap, Serializer};
use thinfit_methods::{InputColumn, Setting};

/// A value in a column.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A level of a column of text.
    Text(String),
}

/// Columns and their values, in the order of the model; a mapping in JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Point(pub Vec<(String, Value)>);

impl Point {
    /// The values of the factors in `row` (d).
    pub(crate) fn of(factors: &[InputColumn], row: &[f64]) -> Self {
        let value = |factor: &InputColumn| match factor.setting(row) {
            Setting::Number(number) => Value::Number(number),
            Setting::Level(name) => Value::Text(name.into()),
        };
        let columns = factors
            .iter()
            .map(|factor| (factor.name.clone(), value(factor)));
        Point(columns.collect())
    }

    /// The value in a column.
    pub fn get(&self, column: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(name, _)| name == column);
        found.map(|(_, value)| value)
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
