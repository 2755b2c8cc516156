//! Mutations of a tree of objects, arrays, numbers and strings: JSON models and states, and TOML configurations,
//! which are written with one line per key.

use crate::bytes;
use crate::corpus::Source;
use crate::random::Random;
use serde_json::{Map, Value, json};

/// Maximum number of values that an array is repeated to.
const LARGEST: usize = 20_000;

/// Mutates a JSON file; its bytes, if it is not JSON.
pub fn change_json(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let Ok(mut tree) = serde_json::from_slice(file) else {
        return bytes::change(file, source, random);
    };
    let other = serde_json::from_slice(source.other).unwrap_or_default();
    change(&mut tree, &other, source, random);
    *file = tree.to_string().into_bytes();
}

/// Mutates a TOML file; its bytes, if it is not TOML.
pub fn change_toml(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let parsed = |bytes: &[u8]| -> Option<Value> {
        let table: toml::Table = std::str::from_utf8(bytes).ok()?.parse().ok()?;
        serde_json::to_value(table).ok()
    };
    let Some(mut tree) = parsed(file) else {
        return bytes::change(file, source, random);
    };
    let other = parsed(source.other).unwrap_or_default();
    change(&mut tree, &other, source, random);
    let fields = tree.as_object().cloned().unwrap_or_default();
    let lines = fields
        .iter()
        .map(|(key, value)| format!("{} = {}\n", quoted(key), inline(value)));
    *file = lines.collect::<String>().into_bytes();
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A value as TOML writes it within a line.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "nan".into(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(fields) => {
            let pair =
                |(key, value): (&String, &Value)| format!("{} = {}", quoted(key), inline(value));
            let fields: Vec<String> = fields.iter().map(pair).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// Goes down to a value at random and changes it.
fn change(tree: &mut Value, other: &Value, source: &Source<'_>, random: &mut Random) {
    let stay = random.one_in(6);
    match tree {
        Value::Array(values) if !stay && !values.is_empty() => {
            let at = random.below(values.len());
            change(&mut values[at], other, source, random);
        }
        Value::Object(fields) if !stay && !fields.is_empty() => {
            let at = random.below(fields.len());
            if let Some(value) = fields.values_mut().nth(at) {
                change(value, other, source, random);
            }
        }
        value if random.one_in(8) => *value = anything(other, source, random),
        Value::Number(number) => {
            let old = number.as_f64().unwrap_or(0.0);
            *tree = number_near(old, random);
        }
        Value::String(text) => match random.below(3) {
            0 => text.push_str(&source.text(random)),
            // Only what is short, since it may have been repeated before.
            1 if text.len() < 100 => *text = text.repeat(random.below(4) * random.below(40)),
            _ => *text = source.text(random),
        },
        Value::Array(values) => array(values, random),
        Value::Object(fields) => object(fields, other, source, random),
        value => *value = anything(other, source, random),
    }
}

fn number_near(old: f64, random: &mut Random) -> Value {
    let power = random.below(40) as i32 - 20;
    match random.below(8) {
        0 => json!(-old),
        1 => json!(old * 10f64.powi(power)),
        2 => json!(old * 10f64.powi(15 * power)),
        3 => json!((old as i64).saturating_add(1)),
        4 => json!((old as i64).saturating_sub(1)),
        5 => json!(random.extreme()),
        6 => json!(old + 1e-3 * (random.below(2001) as f64 - 1000.0)),
        _ => json!(*random.of(&[0.0, -0.0, 1.0, 0.5, 1e308, -1e308, 5e-324, 1e-300, 1e5])),
    }
}

fn array(values: &mut Vec<Value>, random: &mut Random) {
    match (values.len(), random.below(6)) {
        (0, _) => values.push(json!(1)),
        (length, 0) => drop(values.remove(random.below(length))),
        (length, 1 | 2) => {
            let copy = values[random.below(length)].clone();
            values.insert(random.below(length + 1), copy);
        }
        (length, 3) => values.truncate(random.below(length)),
        (_, 4) => {
            // Only what is small, since parts of parts may have been repeated.
            let copy = values.clone();
            let times = 1 + random.below(8);
            if times * values.iter().map(size).sum::<usize>() < LARGEST {
                (0..times).for_each(|_| values.extend_from_slice(&copy));
            }
        }
        (length, _) => values.swap(0, random.below(length)),
    }
}

fn object(
    fields: &mut Map<String, Value>,
    other: &Value,
    source: &Source<'_>,
    random: &mut Random,
) {
    let keys: Vec<String> = fields.keys().cloned().collect();
    let key = match keys.is_empty() {
        true => source.text(random),
        false => random.of(&keys).clone(),
    };
    match random.below(4) {
        0 => drop(fields.remove(&key)),
        1 => {
            let value = fields.remove(&key).unwrap_or_default();
            fields.insert(source.text(random), value);
        }
        2 => drop(fields.insert(source.text(random), anything(other, source, random))),
        // The same part of another file.
        _ => {
            let theirs = other.get(&key).cloned();
            fields.extend(theirs.map(|value| (key, value)));
        }
    }
}

/// A value of any type, or a part of another file.
fn anything(other: &Value, source: &Source<'_>, random: &mut Random) -> Value {
    match random.below(10) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!([]),
        3 => json!({}),
        4 => json!(source.text(random)),
        5 => json!([[1.0, 2.0], [3.0]]),
        6 => json!(random.extreme()),
        _ => part(other, random).clone(),
    }
}

/// How many values are in a tree.
fn size(tree: &Value) -> usize {
    match tree {
        Value::Array(values) => values.iter().map(size).sum::<usize>() + 1,
        Value::Object(fields) => fields.values().map(size).sum::<usize>() + 1,
        _ => 1,
    }
}

/// A part of a tree.
fn part<'a>(tree: &'a Value, random: &mut Random) -> &'a Value {
    let children: Vec<&Value> = match tree {
        Value::Array(values) => values.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => vec![],
    };
    match children.is_empty() || random.one_in(4) {
        true => tree,
        false => part(children[random.below(children.len())], random),
    }
}
