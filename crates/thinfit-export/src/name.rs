//! Any text made safe for the exported code: as an identifier, or in a comment.

/// Keywords of C, C++ and Python.
const KEYWORDS: &str = "
    False None True alignas alignof and and_eq as asm async auto await bitand bitor bool break case catch
    char char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast
    consteval constexpr constinit continue decltype def default del delete do double dynamic_cast elif else
    enum except explicit export extern false finally float for friend from global goto if import in inline
    int is lambda long mutable namespace new noexcept nonlocal not not_eq nullptr operator or or_eq pass
    private protected public raise register reinterpret_cast requires restrict return short signed sizeof
    static static_assert static_cast struct switch template this thread_local throw true try typedef typeid
    typename union unsigned using virtual void volatile wchar_t while with xor xor_eq yield
";
/// Names from the standard library of C.
const STANDARD: &str = "
    abs acos asin assert atan atan2 cbrt ceil cos cosh erf exp exp2 expm1 fabs floor fma fmod gamma hypot
    lgamma log log10 log1p log2 main pow remainder round sin sinh size_t sqrt tan tanh tgamma trunc
    uint64_t
";
/// Names that the exported code uses itself, and what it calls in Python.
const OWN: &str = "
    add_additive centres cosine descend descend_additive enumerate exponential gaussian gaussian_slope hidden inputs
    load matern matern_slope math max neurons outputs products range root sigmoid squares sum tangent weights
";

/// An identifier of C, C++ and Python that resembles `name`: ASCII letters, digits and single underscores.
///
/// `2nd model.json` becomes `f_2nd_model_json`; a name without letters and digits becomes `f`.
pub fn identifier(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut id = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    if id.is_empty() {
        id.push('f');
    }
    if id.starts_with(|c: char| c.is_ascii_digit()) {
        id.insert_str(0, "f_");
    }
    let mut reserved = [KEYWORDS, STANDARD, OWN]
        .into_iter()
        .flat_map(str::split_whitespace);
    if reserved.any(|word| word == id) {
        id.push('_');
    }
    id
}

/// Distinct identifiers for the names.
pub(crate) fn identifiers(names: &[String]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let base = identifier(name);
        let mut id = base.clone();
        for count in 2.. {
            if !ids.contains(&id) {
                break;
            }
            id = format!("{base}_{count}");
        }
        ids.push(id);
    }
    ids
}

/// `text` on one line, with nothing that ends a comment in C or a string in Python.
pub(crate) fn remark(text: &str) -> String {
    let plain = |c: char| match c {
        '\\' | '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    let line: String = text.chars().map(plain).collect();
    // `??` starts a trigraph; after one pass `???` still has one.
    line.replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("??", "? ?")
        .replace("??", "? ?")
}

/// The names, separated by commas, for a comment.
pub(crate) fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| remark(name)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_becomes_an_identifier() {
        for (name, id) in [
            ("model", "model"),
            ("2nd model.json", "f_2nd_model_json"),
            ("__x__", "x"),
            ("größe", "gr_e"),
            ("", "f"),
            ("µ", "f"),
            ("class", "class_"),
            ("xor_eq", "xor_eq_"),
            ("hypot", "hypot_"),
            ("weights", "weights_"),
        ] {
            assert_eq!(identifier(name), id);
        }
        let names = ["a b", "a-b", "a_b"].map(String::from);
        assert_eq!(identifiers(&names), ["a_b", "a_b_2", "a_b_3"]);
    }

    #[test]
    fn remarks_cannot_end_a_comment() {
        assert_eq!(remark("a */ b\n\"\\ ???/ /*/"), "a * / b '' ? ? ?/ / * /");
    }
}
