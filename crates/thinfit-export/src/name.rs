//! Any text made safe for the exported code: as an identifier, or in a comment.

use std::collections::HashSet;
use thinfit_text::clean;

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
/// Functions of the C library and of POSIX: a program that defines another one of that name may crash.
const LIBRARY: &str = include_str!("library.txt");
/// Other names from the headers, in lower case, that may be macros or variables; what compilers define of their own; and
/// headers that an exported one must not hide.
const HEADERS: &str = "
    complex ctype daylight environ errno far fenv float fpclassify hpux i386 imaginary inttypes isfinite isgreater
    isgreaterequal isless islessequal islessgreater isnormal isunordered iso646 limits linux locale math
    math_errhandling max min mips near offsetof optarg opterr optind optopt signbit signgam sparc stdalign stdarg
    stdatomic stdbool stdckdint stdbit stddef stderr stdin stdint stdio stdlib stdnoreturn stdout string sun tgmath
    threads timezone typeof typeof_unqual tzname uchar unix unreachable vax wchar
";
/// Names that the exported code uses itself, and what it calls in Python.
const OWN: &str = "
    all cosine exponential larger load math max min numbers products range root sigmoid smaller step sum sums tangent unusable
    weights
";

/// Words that JavaScript keeps for itself, beyond those of the languages above, what no page lets a script declare, and
/// the names that the exported script uses.
const IN_JAVASCRIPT: &str = "
    Infinity Math NaN Object arguments axes debugger document eval extends function globalThis implements instanceof
    interface let location null package scaled super top typeof undefined usable values var widened window
";

/// Whether a list has the word.
fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// A word of ASCII letters, digits and single underscores that resembles `name`.
fn word(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let mut word = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    if word.is_empty() {
        word.push('f');
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        word.insert_str(0, "f_");
    }
    if [KEYWORDS, STANDARD, OWN]
        .iter()
        .any(|list| has(list, &word))
    {
        word.push('_');
    }
    word
}

/// An identifier of C, C++ and Python that resembles `name`: ASCII letters, digits and single underscores.
///
/// `2nd model.json` becomes `f_2nd_model_json`; a name without letters and digits becomes `f`. What means something else in
/// C ends in an underscore: `memcpy_`; so does what may be a macro: `NULL_`.
pub fn identifier(name: &str) -> String {
    let mut id = word(name);
    let numbered = ["axes_", "inverse_", "shares_"];
    let own = numbered.iter().any(|own| id.starts_with(own));
    let capitals = id.len() > 1 && !id.contains(|c: char| c.is_ascii_lowercase());
    let lists = [LIBRARY, HEADERS];
    let taken = lists.iter().any(|list| has(list, &id)) || id.ends_with("_t");
    if own || capitals || taken {
        id.push('_');
    }
    id
}

/// An identifier of JavaScript that resembles `name`.
pub(crate) fn javascript_identifier(name: &str) -> String {
    let mut id = word(name);
    if has(IN_JAVASCRIPT, &id) {
        id.push('_');
    }
    id
}

/// Distinct parameters of a Python function for the names.
pub(crate) fn parameters(names: &[String]) -> Vec<String> {
    distinct(names, word)
}

/// Distinct parameters of a JavaScript function for the names.
pub(crate) fn javascript_parameters(names: &[String]) -> Vec<String> {
    distinct(names, javascript_identifier)
}

fn distinct(names: &[String], identifier: fn(&str) -> String) -> Vec<String> {
    let (mut ids, mut known) = (Vec::new(), HashSet::new());
    for name in names {
        let base = identifier(name);
        let mut id = base.clone();
        for count in 2.. {
            if known.insert(id.clone()) {
                break;
            }
            id = format!("{base}_{count}");
        }
        ids.push(id);
    }
    ids
}

/// `text` on one line, with nothing that ends a comment in C, C++, Python, JavaScript or LaTeX or a string in Python.
pub(crate) fn remark(text: &str) -> String {
    let plain = |c: char| match c {
        // Outside comments TeX reads `^^M` as a line end.
        '\\' | '"' | '^' => '\'',
        c => c,
    };
    let line: String = clean(text).chars().map(plain).collect();
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

/// How to set the inputs that text has become, `column=level`, in a line that begins with `start`; nothing if there are none.
pub(crate) fn levels(inputs: &[String], start: &str) -> String {
    match inputs.iter().any(|name| name.contains('=')) {
        true => format!(
            "{start}An input `column=level` is 1 where the column is at that level, and 0 elsewhere."
        ),
        false => String::new(),
    }
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
            ("BLOCK", "BLOCK_"),
            ("NULL", "NULL_"),
            ("T", "T"),
            ("memcpy", "memcpy_"),
            ("linux", "linux_"),
            ("strength", "strength"),
            ("string", "string_"),
            ("intptr_t", "intptr_t_"),
            ("axes_0", "axes_0_"),
            ("main", "main_"),
        ] {
            assert_eq!(identifier(name), id);
        }
        let names = ["a b", "a-b", "a_b"].map(String::from);
        assert_eq!(parameters(&names), ["a_b", "a_b_2", "a_b_3"]);
        let names = ["Math", "let", "eval", "class", "x"].map(String::from);
        let ids = ["Math_", "let_", "eval_", "class_", "x"];
        assert_eq!(javascript_parameters(&names), ids);
    }

    #[test]
    fn remarks_cannot_end_a_comment() {
        assert_eq!(remark("a */ b\n\"\\ ???/ /*/"), "a * / b '' ? ? ?/ / * /");
        assert_eq!(remark("^^M\r\n\u{202e}x\0 µ²"), "''M x µ²");
    }
}
