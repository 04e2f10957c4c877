//! Regex literals: `/…/` creates a regular expression whose matches are tuples of the whole match and its groups.

use super::{Builder, parse_at};
use crate::source::Span;
use crate::syntax::ast::{Arg, Expr, ExprKind, StmtKind, StringPart};
use std::rc::Rc;

/// The regular expression of a literal.
#[derive(Clone, Debug)]
pub struct RegexText {
    /// The regular expression.
    pub pattern: String,
    /// The span of the literal.
    pub span: Span,
    /// The position at which the expression begins in the literal, if the literal has one line.
    pub begin: u32,
}

/// A group of a regular expression.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Group {
    name: Option<String>,
    /// Whether a match may have no text for the group.
    is_optional: bool,
}

impl Builder<'_> {
    /// Reads a literal: `_regexLiteral("…") { m in (m.output, m._text(of: 1)) }`.
    pub(super) fn regex_literal(&mut self, span: Span) -> Expr {
        let written = self.written(span);
        let hashes = written.len() - written.trim_start_matches('#').len();
        let written = written.trim_matches('#');
        let inner = written.strip_prefix('/').and_then(|text| text.strip_suffix('/')).unwrap_or(written);
        // A literal of several lines contains white space and comments that have no meaning.
        let pattern = if inner.contains('\n') { format!("(?x){inner}") } else { inner.to_owned() };
        let begin = span.start + hashes as u32 + "/".len() as u32;
        self.regex_literals.push(RegexText { pattern: pattern.clone(), span, begin });
        let groups = groups(&pattern);
        let mut parts = vec!["$match.output".to_owned()];
        for (number, group) in groups.iter().enumerate() {
            let label = group.name.as_ref().map_or(String::new(), |name| format!("{name}: "));
            let text = if group.is_optional { "_optionalText" } else { "_text" };
            parts.push(format!("{label}$match.{text}(of: {})", number + 1));
        }
        let output = match &parts[..] {
            [only] => only.clone(),
            _ => format!("({})", parts.join(", ")),
        };
        let closure = match parse_at(&format!("{{ $match in {output} }}"), span).items.pop().map(|item| item.kind) {
            Some(StmtKind::Expr(closure)) => closure,
            _ => return Expr { kind: ExprKind::Error, span },
        };
        let text = Expr { kind: ExprKind::String(vec![StringPart::Text(pattern.into())]), span };
        let argument = |value| Arg { label: None, value: Rc::new(value), trailing: false };
        let name = self.text_name("_regexLiteral");
        let callee = Expr { kind: ExprKind::Ident { name, generics: vec![] }, span };
        Expr { kind: ExprKind::Call { callee: Rc::new(callee), args: vec![argument(text), argument(closure)] }, span }
    }
}

/// Returns the groups of a regular expression that capture text.
fn groups(pattern: &str) -> Vec<Group> {
    let bytes = pattern.as_bytes();
    let mut groups: Vec<Group> = vec![];
    // For each open parenthesis: the number of groups before its content, whether it captures itself, and whether its content
    // has alternatives.
    let mut open: Vec<(usize, bool, bool)> = vec![(0, false, false)];
    let (mut at, mut in_class) = (0, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => in_class += 1,
            b']' => in_class = in_class.saturating_sub(1),
            _ if in_class > 0 => {}
            b'(' => {
                let rest = &pattern[at + 1..];
                let named = rest.strip_prefix("?<").or_else(|| rest.strip_prefix("?P<"));
                let named = named.filter(|rest| !rest.starts_with(['=', '!']));
                let captures = named.is_some() || !rest.starts_with('?');
                if captures {
                    let name = named.and_then(|rest| rest.split('>').next()).map(str::to_owned);
                    groups.push(Group { name, is_optional: false });
                }
                open.push((groups.len(), captures, false));
            }
            b'|' => {
                if let Some(last) = open.last_mut() {
                    last.2 = true;
                }
            }
            b')' => {
                let Some((from, captures, has_alternatives)) = open.pop() else { return groups };
                let may_be_missing =
                    matches!(bytes.get(at + 1), Some(b'?' | b'*')) || pattern[at + 1..].starts_with("{0");
                let own = if may_be_missing && captures { from.saturating_sub(1) } else { from };
                if may_be_missing || has_alternatives {
                    groups[own..].iter_mut().for_each(|group| group.is_optional = true);
                }
            }
            _ => {}
        }
        at += 1;
    }
    if open.first().is_some_and(|whole| whole.2) {
        groups.iter_mut().for_each(|group| group.is_optional = true);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_may_be_missing_are_optional() {
        let flags = |pattern: &str| groups(pattern).iter().map(|group| group.is_optional).collect::<Vec<_>>();
        assert_eq!(flags(r"(\d+)-(\d+)"), [false, false]);
        assert_eq!(flags(r"(a)?(?:(b)|c)(?:x(d))*[(](\()"), [true, true, true, false]);
        assert_eq!(flags(r"((a)|(b))"), [false, true, true]);
        assert_eq!(flags("(a)|b"), [true]);
        assert_eq!(flags("(?i)(?=a)(?<!b)x"), [false; 0]);
        assert_eq!(
            groups("(?<year>a)(?P<month>b)").iter().filter_map(|g| g.name.clone()).collect::<String>(),
            "yearmonth"
        );
    }
}
