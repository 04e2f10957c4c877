//! Language pages: the sections of `docs/language.md` that explain a keyword, or that have a title.

const PAGE: &str = include_str!("../../docs/language.md");

/// The titles of sections, and the keywords that each section explains.
const SECTIONS: &[(&str, &str)] = &[
    ("Booleans and Void", "false true"),
    ("Arithmetic", "+ - * / % &+ &- &*"),
    ("Powers", "^ ² ³"),
    ("Comparison and logical operators", "== != < <= > >= === !== && || ! ≤ ≥ ≠ ≈"),
    ("Bitwise operators", "& | ~ << >>"),
    ("Conditional, range, and assignment operators", "... ..< += -= *= /= %="),
    ("Source location literals", "#column #file #function #line"),
    ("Functions defined by a formula", "f(x)"),
    ("Derivatives", "' '' f' f'' ∇ ∂"),
    ("Products and roots", "√ · × π τ"),
    ("Custom operators", "infix operator postfix precedencegroup prefix"),
    ("Constants and variables", "let var"),
    ("Computed, observed, and lazy variables", "get set"),
    ("if", "else if"),
    ("guard", "guard"),
    ("switch", "default fallthrough switch"),
    ("while and repeat", "repeat while"),
    ("for", "for in"),
    ("break, continue, labels", "break continue"),
    ("do", "do"),
    ("Parameters and labels", "func"),
    ("Results", "return"),
    ("inout", "inout"),
    ("Optional values", "nil"),
    ("Stored properties and initializers", "struct"),
    ("Methods", "mutating self"),
    ("Closure expressions", "$0 $1"),
    ("Unwrapping", "??"),
    ("Optional chaining", "?."),
    ("@autoclosure, @discardableResult, Never", "@autoclosure @discardableResult"),
    ("Initializers", "init"),
    ("Computed properties, static members, and nested types", "static"),
    ("Cases and associated values", "case enum"),
    ("Recursive enums", "indirect"),
    ("Instances and identity", "class"),
    ("Inheritance", "final override super"),
    ("Class initializers", "convenience required"),
    ("Deinitialization", "deinit unowned weak"),
    ("Casts", "as is"),
    ("Requirements", "protocol"),
    ("Associated types", "associatedtype"),
    ("Existential types", "any"),
    ("Opaque types", "some"),
    ("Metatypes", "Type"),
    ("where clauses", "where"),
    ("extension", "extension"),
    ("typealias", "typealias"),
    ("Lazy properties", "lazy"),
    ("Property observers", "didSet willSet"),
    ("Subscripts", "subscript"),
    ("throw, try, catch", "catch throw throws try"),
    ("rethrows", "rethrows"),
    ("defer", "defer"),
    ("async and await", "actor async await"),
    ("Tests", "test"),
    ("import", "import"),
    ("Access control and attributes", "@escaping @inlinable @main fileprivate internal open package private public"),
    ("Yielding accessors", "_modify _read yield"),
    ("Property wrappers", "@propertyWrapper"),
    ("Result builders", "@resultBuilder"),
    ("Dynamic member lookup", "@dynamicMemberLookup"),
    ("Conditional compilation", "#else #elseif #endif #if"),
    ("Differentiability checks", "@differentiable"),
    ("Differentiable types", "@memberwise @noDerivative"),
    ("Custom derivatives", "@derivative @transpose"),
    ("Checkpoints", "checkpoint"),
];

/// Returns the section of the reference that explains a keyword, as Markdown.
pub(super) fn of_keyword(word: &str) -> Option<String> {
    let (title, _) = SECTIONS.iter().find(|(_, keywords)| keywords.split(' ').any(|keyword| keyword == word))?;
    titled(title)
}

/// Returns the section of the reference with a title, as Markdown.
pub(super) fn titled(title: &str) -> Option<String> {
    let title = title.to_lowercase();
    let heading = PAGE.lines().find(|line| {
        let text = line.strip_prefix("### ").or_else(|| line.strip_prefix("## "));
        text.is_some_and(|text| text.to_lowercase() == title)
    })?;
    let from = PAGE.find(&format!("\n{heading}\n"))? + 1;
    let text = without_links(section(&PAGE[from..]).trim_start_matches('#').trim());
    // The title of a chapter alone explains nothing.
    text.contains('\n').then_some(text)
}

/// Returns the section at the beginning of a page, which ends before the next title.
fn section(page: &str) -> &str {
    let mut is_code = false;
    let mut end = 0;
    for line in page.split_inclusive('\n') {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        // A line of code may begin with `#if`.
        if end > 0 && !is_code && line.starts_with('#') {
            break;
        }
        end += line.len();
    }
    &page[..end]
}

/// Replaces links to pages and sections by their texts.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let end = rest[at..].find(')').map_or(rest.len(), |n| at + n);
        let is_link = rest[at + 2..].starts_with('#') || rest[at + 2..end].contains(".md");
        match rest[..at].rfind('[').filter(|_| is_link) {
            Some(open) => {
                out.extend([&rest[..open], &rest[open + 1..at]]);
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            None => {
                out.push_str(&rest[..at + 2]);
                rest = &rest[at + 2..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_exists() {
        for (title, keywords) in SECTIONS {
            for keyword in keywords.split(' ') {
                let text = of_keyword(keyword).unwrap_or_default();
                assert!(text.starts_with(title), "'{keyword}' is explained by '{title}'");
                let name = keyword.trim_start_matches('$');
                assert!(text.contains(name), "the section '{title}' does not contain '{name}'");
                assert!(!text.contains("](#"), "the section '{title}' contains a link");
            }
        }
    }
}
