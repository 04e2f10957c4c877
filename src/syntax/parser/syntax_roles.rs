//! Syntax roles: determines the roles of parts of a text, for the formatter.

use super::piecewise_parsing::{PIECE, pieces};
use super::{Grammar, Rule, bound_work};
use crate::cancel;
use crate::syntax::scan::scan;
use pest::Parser;
use pest::iterators::Pair;

/// A mark on a part of a text: the role of the part, which its characters alone do not determine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax) struct Mark {
    pub start: usize,
    pub end: usize,
    pub role: Role,
}

/// The role of a part of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax) enum Role {
    /// A part of the text that is copied verbatim: a literal, a key path, the text of an attribute.
    Atom,
    Prefix,
    Infix,
    Postfix,
    /// An operator used as a name or a value.
    Operator,
    /// The angle brackets of generic arguments.
    AngleOpen,
    AngleClose,
    /// The dot before a member of the preceding expression.
    Member,
    /// The dot before a member of the expected type.
    Implicit,
    /// The beginning of a case of a `switch`.
    Case,
    /// The brace of a body; `owner` is the offset of the statement or declaration to which it belongs.
    Body {
        owner: usize,
    },
}

/// Returns the copy of a text that the grammar reads, and the marks on its parts in the order of their start offsets;
/// `None` when the text cannot be parsed.
pub(in crate::syntax) fn marks(text: &str) -> Option<(String, Vec<Mark>)> {
    let scanned = scan(text, 0);
    if !scanned.diagnostics.is_empty() {
        return None;
    }
    bound_work(text.len());
    let size = if text.len() > PIECE { PIECE } else { usize::MAX };
    let mut finder = Finder::default();
    for cut in cancel::checking_each(pieces(&scanned.text, &scanned.lines, 0, size)) {
        let pairs = Grammar::parse(Rule::file, &scanned.text[cut.clone()]).ok()?;
        finder.base = cut.start;
        finder.owners.clear();
        pairs.flatten().for_each(|pair| finder.look(&pair));
    }
    finder.marks.sort_by_key(|mark| mark.start);
    Some((scanned.text, finder.marks))
}

#[derive(Default)]
struct Finder {
    base: usize,
    marks: Vec<Mark>,
    /// The start and the end of each enclosing construct to which a body may belong.
    owners: Vec<(usize, usize)>,
}

impl Finder {
    fn look(&mut self, pair: &Pair<'_, Rule>) {
        let (start, end) = (self.base + pair.as_span().start(), self.base + pair.as_span().end());
        let text = pair.as_str();
        while self.owners.last().is_some_and(|owner| owner.1 <= start) {
            self.owners.pop();
        }
        match pair.as_rule() {
            rule if owns_bodies(rule) => self.owners.push((start, end)),
            Rule::block | Rule::accessor_block | Rule::members => {
                let owner = self.owners.last().map_or(start, |owner| owner.0);
                self.mark(start, start + 1, Role::Body { owner });
            }
            Rule::ternary | Rule::head_ternary => {
                let colon = start + text.trim_end().len() - 1;
                self.mark(start, start + 1, Role::Infix);
                self.mark(colon, colon + 1, Role::Infix);
            }
            Rule::generics | Rule::generic_arguments | Rule::generic_suffix => {
                self.mark(start, start + 1, Role::AngleOpen);
                self.mark(end - 1, end, Role::AngleClose);
            }
            Rule::member => {
                let point = end - text.trim_start().len();
                self.mark(point, point + 1, Role::Member);
            }
            Rule::requirement_op if text == ":" => {}
            Rule::implicit => self.mark(start, start + 1, Role::Implicit),
            Rule::switch_case => self.mark(start, start, Role::Case),
            rule => {
                if let Some(role) = role(rule) {
                    self.mark(start, end, role);
                }
            }
        }
    }

    fn mark(&mut self, start: usize, end: usize, role: Role) {
        self.marks.push(Mark { start, end, role });
    }
}

/// Returns the role of a node that is marked over its full extent.
fn role(rule: Rule) -> Option<Role> {
    Some(match rule {
        Rule::prefix_op | Rule::yield_mark => Role::Prefix,
        Rule::infix_op | Rule::assign | Rule::requirement_op => Role::Infix,
        Rule::postfix_op | Rule::force | Rule::chain | Rule::prime | Rule::superscript => Role::Postfix,
        Rule::type_optional | Rule::type_unwrapped | Rule::ellipsis | Rule::failable => Role::Postfix,
        Rule::op_value | Rule::op_name => Role::Operator,
        Rule::radix
        | Rule::decimal
        | Rule::string_short
        | Rule::string_long
        | Rule::string_raw
        | Rule::regex_literal => Role::Atom,
        Rule::key_path | Rule::compound | Rule::function_labels | Rule::attribute_text | Rule::platform_version => {
            Role::Atom
        }
        Rule::as_word | Rule::try_word => Role::Atom,
        _ => return None,
    })
}

fn owns_bodies(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::if_expr
            | Rule::for_statement
            | Rule::while_statement
            | Rule::repeat_statement
            | Rule::guard_statement
            | Rule::defer_statement
            | Rule::do_statement
            | Rule::test_block
            | Rule::adjoint_statement
            | Rule::variable
            | Rule::accessor
            | Rule::function
            | Rule::initializer
            | Rule::deinitializer
            | Rule::subscript_declaration
            | Rule::nominal
            | Rule::protocol
            | Rule::extension
    )
}
