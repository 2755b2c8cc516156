//! Suggestions for misspelt names, and short lists of names.

use crate::shown;

/// Maximum number of names in a message.
const MOST: usize = 12;
/// Maximum number of characters of a name in a message.
const LONGEST: usize = 40;

/// The text for a message: at most forty characters, hidden ones escaped.
pub fn brief(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", shown(&text[..end])),
        None => shown(text).into_owned(),
    }
}

/// The name that `name` may have been meant to be: the one that the fewest changes of characters lead to, if these are few.
pub fn nearest<'a>(names: &'a [impl AsRef<str>], name: &str) -> Option<&'a str> {
    let length = name.chars().count();
    let few = ..length.min(length.div_ceil(3) + 1);
    let near = |known: &&str| few.contains(&distance(known, name));
    let names = names.iter().map(AsRef::as_ref).filter(near);
    names.min_by_key(|known| distance(known, name))
}

/// The name that `name` may have been meant to be: the nearest, or one that contains it, as `Yield (%)` does `Yield`.
pub fn meant<'a>(names: &'a [impl AsRef<str>], name: &str) -> Option<&'a str> {
    let part = name.to_lowercase();
    let longer = |known: &&str| name.chars().count() > 1 && known.to_lowercase().contains(&part);
    nearest(names, name).or_else(|| names.iter().map(AsRef::as_ref).find(longer))
}

/// A hint for a `name` that is not among `names`.
pub fn suggest(names: &[impl AsRef<str>], name: &str) -> String {
    match meant(names, name) {
        Some(meant) => format!("did you mean `{}`?", brief(meant)),
        None => format!(
            "it has {}",
            list(names.iter().map(|name| brief(name.as_ref())))
        ),
    }
}

/// The first few words, and how many more there are.
pub fn list(words: impl ExactSizeIterator<Item = String>) -> String {
    let more = words.len().saturating_sub(MOST);
    let mut some: Vec<_> = words.take(MOST).collect();
    if more > 0 {
        some.push(format!("and {more} more"));
    }
    some.join(", ")
}

/// Edit distance: characters to insert, delete or change to turn one text into the other, ignoring case.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let width = other.chars().count();
    let mut row: Vec<usize> = (0..=width).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.chars().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[width]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_longer_names_are_suggested_and_others_listed() {
        let names = ["thickness", "Yield (%)", "x1"];
        assert_eq!(suggest(&names, "thicknes"), "did you mean `thickness`?");
        assert_eq!(suggest(&names, "Yield"), "did you mean `Yield (%)`?");
        assert_eq!(suggest(&names, "qqqq"), "it has thickness, Yield (%), x1");
        let many: Vec<String> = (0..20).map(|k| format!("column {k}")).collect();
        assert!(suggest(&many, "zz").ends_with("column 11, and 8 more"));
        assert_eq!(brief(&"a".repeat(50)).chars().count(), 41);
    }
}
