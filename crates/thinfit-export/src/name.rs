//! Names and remarks that are safe in the languages we write: identifiers and comments made from any text.

/// Words that C, C++ or Python keep for themselves, functions of C, and what our own code calls its parts.
const RESERVED: &[&str] = &[
    "False",
    "None",
    "True",
    "abs",
    "acos",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "as",
    "asin",
    "asm",
    "assert",
    "async",
    "atan",
    "atan2",
    "auto",
    "await",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "cbrt",
    "ceil",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "cos",
    "cosh",
    "cosine",
    "decltype",
    "def",
    "default",
    "del",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "elif",
    "else",
    "enum",
    "enumerate",
    "erf",
    "except",
    "exp",
    "exp2",
    "explicit",
    "expm1",
    "exponential",
    "export",
    "extern",
    "fabs",
    "false",
    "finally",
    "float",
    "floor",
    "fma",
    "fmod",
    "for",
    "friend",
    "from",
    "gamma",
    "global",
    "goto",
    "hidden",
    "hypot",
    "if",
    "import",
    "in",
    "inline",
    "inputs",
    "int",
    "is",
    "lambda",
    "lgamma",
    "load",
    "log",
    "log10",
    "log1p",
    "log2",
    "long",
    "main",
    "math",
    "max",
    "mutable",
    "namespace",
    "neurons",
    "new",
    "noexcept",
    "nonlocal",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "outputs",
    "pass",
    "pow",
    "private",
    "products",
    "protected",
    "public",
    "raise",
    "range",
    "register",
    "reinterpret_cast",
    "remainder",
    "requires",
    "restrict",
    "return",
    "round",
    "short",
    "sigmoid",
    "signed",
    "sin",
    "sinh",
    "size_t",
    "sizeof",
    "sqrt",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "sum",
    "switch",
    "tan",
    "tangent",
    "tanh",
    "template",
    "tgamma",
    "this",
    "thread_local",
    "throw",
    "true",
    "trunc",
    "try",
    "typedef",
    "typeid",
    "typename",
    "uint64_t",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "weights",
    "while",
    "with",
    "xor",
    "xor_eq",
    "yield",
];

/// An identifier of C, C++ and Python that resembles `name`: ASCII letters, digits and single underscores.
///
/// `2nd model.json` becomes `f_2nd_model_json`; what has no letter or digit becomes `f`.
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
    if RESERVED.binary_search(&id.as_str()).is_ok() {
        id.push('_');
    }
    id
}

/// Identifiers for some names, all different.
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

/// `text` on one line, without what ends a comment of C, a string of Python or a line of either.
pub(crate) fn remark(text: &str) -> String {
    let plain = |c: char| match c {
        '\\' | '"' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    let line: String = text.chars().map(plain).collect();
    // `??` starts a trigraph.
    line.replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("??", "? ?")
        .replace("??", "? ?")
}

/// Names with their places, one after the other, for a documentation text.
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
        ] {
            assert_eq!(identifier(name), id);
        }
        assert!(RESERVED.is_sorted());
        let names = ["a b", "a-b", "a_b"].map(String::from);
        assert_eq!(identifiers(&names), ["a_b", "a_b_2", "a_b_3"]);
    }

    #[test]
    fn remarks_cannot_end_their_comment() {
        assert_eq!(remark("a */ b\n\"\\ ???/ /*/"), "a * / b '' ? ? ?/ / * /");
    }
}
