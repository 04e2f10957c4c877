//! Operator folding: turns flat sequences of operands and operators into trees by precedence.
//!
//! The shunting-yard algorithm is used with explicit stacks, so that a long sum does not recurse. The depth of the
//! resulting tree is limited, because the later stages recurse.

use super::ast::{Expr, ExprKind, File, Fixity, Ident, Name, SequencePart, TryKind};
use super::flow_sensitive;
use super::operator_table::{AppliedFirst, Group, OperatorTable};
use super::visitor::{self, Visitor};
use crate::diagnostic::{Code, Diagnostic, Help};
use crate::source::Span;
use std::rc::Rc;

/// The maximum depth of a folded expression. The later stages recurse over the tree, on a thread with a stack of 256
/// MiB, so that each level may use 20 KiB.
pub const MAX_DEPTH: u32 = 12_000;

/// Folds every operator sequence of a file.
pub fn fold_file(file: &mut File, table: &OperatorTable) -> Vec<Diagnostic> {
    let mut folder = Folder { table, diagnostics: vec![], height: 0, reported_depth: false, follows_flow: false };
    visitor::file(&mut folder, file);
    if folder.follows_flow {
        folder.diagnostics.append(&mut flow_sensitive::expand(file));
    }
    folder.diagnostics
}

struct Folder<'t> {
    table: &'t OperatorTable,
    diagnostics: Vec<Diagnostic>,
    /// The height of the tallest expression visited since this field was last reset.
    height: u32,
    reported_depth: bool,
    /// Whether a flow-sensitive gradient operator was found.
    follows_flow: bool,
}

impl Visitor for Folder<'_> {
    fn function_name(&mut self, name: &mut Ident) {
        self.use_usual_form(name, Fixity::Infix);
    }

    fn expr(&mut self, expr: &mut Expr) {
        crate::cancel::check();
        let outer = std::mem::replace(&mut self.height, 0);
        let height = match &mut expr.kind {
            ExprKind::Sequence(parts) => {
                let parts = std::mem::take(parts);
                let (folded, height) = self.sequence(parts, expr.span);
                *expr = folded;
                height
            }
            _ => {
                if let ExprKind::Operator(name) = &mut expr.kind
                    && let Some(usual) = self.usual_form(name, Fixity::Infix)
                {
                    *name = usual;
                }
                visitor::inside(self, expr);
                self.check_fixed(expr);
                self.follows_flow |= flow_sensitive::is_used(expr);
                self.height + 1
            }
        };
        let height = self.limit(expr, height);
        self.height = outer.max(height);
    }
}

/// An operator whose right operand has not been read yet.
enum PendingOperator {
    Binary {
        op: Ident,
        group: Group,
        juxtaposed: bool,
    },
    Assign(Span),
    Ternary {
        then: Rc<Expr>,
        height: u32,
        span: Span,
    },
    /// A prefix operator before a power: `-x^2` means `-(x^2)`.
    Prefix(Ident),
}

impl Folder<'_> {
    fn limit(&mut self, expr: &mut Expr, height: u32) -> u32 {
        if height <= MAX_DEPTH {
            return height;
        }
        if !std::mem::replace(&mut self.reported_depth, true) {
            let message = format!("this expression is nested more than {MAX_DEPTH} deep");
            self.diagnostics.push(
                Diagnostic::error(Code::TooDeep, expr.span, message)
                    .help("use a loop, or store parts of it in constants"),
            );
        }
        expr.kind = ExprKind::Error;
        1
    }

    /// Reports a prefix or postfix operator that is not declared with this fixity.
    fn check_fixed(&mut self, expr: &mut Expr) {
        let (op, fixity, word) = match &mut expr.kind {
            ExprKind::Prefix { op, .. } => (op, Fixity::Prefix, "prefix"),
            ExprKind::Postfix { op, .. } => (op, Fixity::Postfix, "postfix"),
            _ => return,
        };
        self.check_prefix(op, fixity, word);
    }

    fn check_prefix(&mut self, op: &mut Ident, fixity: Fixity, word: &str) {
        self.use_usual_form(op, fixity);
        if self.table.is_declared(&op.name, fixity) {
            return;
        }
        let mut d =
            Diagnostic::error(Code::UnknownOperator, op.span, format!("there is no {word} operator '{}'", op.name));
        if self.table.is_declared(&op.name, Fixity::Infix) {
            let text = if fixity == Fixity::Prefix { "after" } else { "before" };
            d = d.note(format!(
                "to use it as an infix operator, write whitespace on both sides or on neither; there is \
                               none {text} it"
            ));
        } else if matches!(&*op.name, "++" | "--") {
            d = d.help(format!("write 'x {}= 1'", &op.name[..1]));
        } else {
            d = d.help(format!("declare it: '{word} operator {}'", op.name));
        }
        self.diagnostics.push(d);
    }

    /// Replaces an operator that has another usual form, `≤` or `**`, by that form, unless the program declares it.
    fn use_usual_form(&self, op: &mut Ident, fixity: Fixity) {
        if let Some(usual) = self.usual_form(&op.name, fixity) {
            op.name = usual;
        }
    }

    fn usual_form(&self, name: &str, fixity: Fixity) -> Option<Name> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        if name.is_ascii() && alias.is_none() || self.table.is_declared(name, fixity) {
            return None;
        }
        let form = |c: char| SYMBOLS.iter().find(|(symbol, _)| *symbol == c).map(|(_, form)| *form);
        let usual = match alias {
            Some((_, usual)) => (*usual).to_owned(),
            None => name.chars().map(|c| form(c).map_or_else(|| c.to_string(), str::to_owned)).collect(),
        };
        self.table.is_declared(&usual, fixity).then(|| usual.as_str().into())
    }

    fn is_power(&self, name: &str) -> bool {
        let usual = self.usual_form(name, Fixity::Infix);
        self.table.infix(usual.as_deref().unwrap_or(name)) == Some(OperatorTable::POWER)
    }

    fn visit_apart(&mut self, expr: &mut Expr) -> u32 {
        self.height = 0;
        self.expr(expr);
        std::mem::replace(&mut self.height, 0)
    }

    fn sequence(&mut self, parts: Vec<SequencePart>, span: Span) -> (Expr, u32) {
        let mut stacks = OperatorStacks { operands: vec![], waiting: vec![] };
        let mut parts = parts.into_iter().peekable();
        // The last operator before an implicit product, and the span of its left operand.
        let mut before: Option<(Ident, Span)> = None;
        while let Some(part) = parts.next() {
            match part {
                SequencePart::Operand(mut operand) => {
                    let power = matches!(parts.peek(), Some(SequencePart::Operator { op, .. })
                        if self.is_power(&op.name));
                    while power && let ExprKind::Prefix { mut op, operand: inner } = operand.kind {
                        self.check_prefix(&mut op, Fixity::Prefix, "prefix");
                        stacks.waiting.push(PendingOperator::Prefix(op));
                        operand = Rc::unwrap_or_clone(inner);
                    }
                    self.check_try(&operand, &stacks);
                    let height = self.visit_apart(&mut operand);
                    stacks.operands.push((operand, height));
                }
                SequencePart::Operator { mut op, juxtaposed } => {
                    self.use_usual_form(&mut op, Fixity::Infix);
                    if juxtaposed {
                        self.check_product(&before, &stacks, parts.peek());
                    }
                    let group = self.infix_group(&op);
                    self.reduce(&mut stacks, group, op.span, &op.name);
                    let left = stacks.operands.last().map_or(op.span, |o| o.0.span);
                    before = Some((op.clone(), left));
                    stacks.waiting.push(PendingOperator::Binary { op, group, juxtaposed });
                }
                SequencePart::Assign(place) => {
                    self.reduce(&mut stacks, OperatorTable::ASSIGNMENT, place, "=");
                    before = None;
                    stacks.waiting.push(PendingOperator::Assign(place));
                }
                SequencePart::Ternary(mut then, span) => {
                    self.reduce(&mut stacks, OperatorTable::TERNARY, span, "?");
                    before = None;
                    let height = self.visit_apart(Rc::make_mut(&mut then));
                    stacks.waiting.push(PendingOperator::Ternary { then, height, span });
                }
                SequencePart::Is(ty) => {
                    self.reduce(&mut stacks, OperatorTable::CASTING, ty.span, "is");
                    self.cast(&mut stacks, span, |value| ExprKind::Is { value, ty });
                }
                SequencePart::As(ty, kind) => {
                    self.reduce(&mut stacks, OperatorTable::CASTING, ty.span, "as");
                    self.cast(&mut stacks, span, |value| ExprKind::As { value, ty, kind });
                }
            }
        }
        while let Some(op) = stacks.waiting.pop() {
            self.apply(&mut stacks, op);
        }
        stacks.operands.pop().unwrap_or((Expr { kind: ExprKind::Error, span }, 1))
    }

    fn infix_group(&mut self, op: &Ident) -> Group {
        self.table.infix(&op.name).unwrap_or_else(|| {
            let mut d =
                Diagnostic::error(Code::UnknownOperator, op.span, format!("there is no operator '{}'", op.name));
            d = match REPLACEMENTS.iter().find(|(name, ..)| *name == &*op.name) {
                Some((_, instead, why)) => d.fix(*why, op.span, *instead),
                None => d.help(unknown_help(&op.name)),
            };
            self.diagnostics.push(d);
            OperatorTable::MULTIPLICATION
        })
    }

    /// Applies the waiting operators that bind tighter than the next operator, which is `name` of the precedence group
    /// `group`.
    fn reduce(&mut self, stacks: &mut OperatorStacks, group: Group, span: Span, name: &str) {
        while let Some(top) = stacks.waiting.last() {
            let (left, top_name, top_span) = match top {
                PendingOperator::Binary { op, group, .. } => (*group, &*op.name, op.span),
                PendingOperator::Assign(span) => (OperatorTable::ASSIGNMENT, "=", *span),
                PendingOperator::Ternary { span, .. } => (OperatorTable::TERNARY, "?", *span),
                PendingOperator::Prefix(_) if group == OperatorTable::POWER => return,
                PendingOperator::Prefix(op) => (OperatorTable::POWER, &*op.name, op.span),
            };
            let is_prefix = matches!(top, PendingOperator::Prefix(_));
            match self.table.first(left, group) {
                AppliedFirst::Right => return,
                AppliedFirst::Parentheses if !is_prefix => {
                    let message = format!("'{top_name}' and '{name}' cannot be combined without parentheses");
                    let mut d = Diagnostic::error(Code::Syntax, span, message).also(top_span, "the other operator");
                    if (left, group) == (OperatorTable::COMPARISON, OperatorTable::COMPARISON) {
                        d = d.help("compare twice: 'a < b && b < c'");
                    }
                    self.diagnostics.push(d);
                }
                AppliedFirst::Left | AppliedFirst::Parentheses => {}
            }
            let Some(op) = stacks.waiting.pop() else { return };
            self.apply(stacks, op);
        }
    }

    fn cast(&mut self, stacks: &mut OperatorStacks, span: Span, build: impl FnOnce(Rc<Expr>) -> ExprKind) {
        let Some((value, height)) = stacks.operands.pop() else { return };
        let kind = build(Rc::new(value));
        let place = match &kind {
            ExprKind::Is { value, ty } | ExprKind::As { value, ty, .. } => value.span.to(ty.span),
            _ => span,
        };
        self.push(stacks, Expr { kind, span: place }, height + 1);
    }

    fn push(&mut self, stacks: &mut OperatorStacks, mut expr: Expr, height: u32) {
        let height = self.limit(&mut expr, height);
        stacks.operands.push((expr, height));
    }

    fn apply(&mut self, stacks: &mut OperatorStacks, op: PendingOperator) {
        let Some((right, right_height)) = stacks.operands.pop() else { return };
        if let PendingOperator::Prefix(op) = op {
            let span = op.span.to(right.span);
            return self.push(
                stacks,
                Expr { kind: ExprKind::Prefix { op, operand: Rc::new(right) }, span },
                right_height + 1,
            );
        }
        let Some((left, left_height)) = stacks.operands.pop() else {
            return stacks.operands.push((right, right_height));
        };
        let span = left.span.to(right.span);
        let mut height = left_height.max(right_height) + 1;
        let (lhs, rhs) = (Rc::new(left), Rc::new(right));
        let kind = match op {
            PendingOperator::Binary { op, juxtaposed, .. } => ExprKind::Binary { op, lhs, rhs, juxtaposed },
            PendingOperator::Assign(_) => ExprKind::Assign { target: lhs, value: rhs },
            PendingOperator::Ternary { then, height: middle, .. } => {
                height = height.max(middle + 1);
                ExprKind::Ternary { condition: lhs, then, otherwise: rhs }
            }
            PendingOperator::Prefix(_) => unreachable!("applied above"),
        };
        self.push(stacks, Expr { kind, span }, height);
    }

    /// Reports `1 + try f()`: `try` belongs before the whole expression.
    fn check_try(&mut self, operand: &Expr, stacks: &OperatorStacks) {
        let ExprKind::Try { kind, value } = &operand.kind else { return };
        let Some(PendingOperator::Binary { group, .. }) = stacks.waiting.last() else { return };
        if *group == OperatorTable::ASSIGNMENT {
            return;
        }
        let word = match kind {
            TryKind::Propagate => "try",
            TryKind::Optional => "try?",
            TryKind::Forced => "try!",
        };
        let message = format!("'{word}' cannot appear to the right of a non-assignment operator");
        let mut d = Diagnostic::error(Code::Syntax, operand.span, message);
        let mut waiting = stacks.waiting.iter().rev();
        let right = waiting.position(|w| matches!(w, PendingOperator::Assign(_) | PendingOperator::Ternary { .. }));
        let first = right.map_or(0, |after| stacks.operands.len().saturating_sub(after));
        if let (TryKind::Propagate, Some((first, _))) = (kind, stacks.operands.get(first)) {
            let written = Span::new(operand.span.start, value.span.start);
            d.helps.push(Help {
                text: "write it before the whole expression".into(),
                edits: vec![(first.span.before(), format!("{word} ")), (written, String::new())],
            });
        }
        self.diagnostics.push(d);
    }

    /// Reports `1/2x`, which is ambiguous.
    fn check_product(&mut self, before: &Option<(Ident, Span)>, stacks: &OperatorStacks, right: Option<&SequencePart>) {
        let Some((op, left)) = before else { return };
        let Some((number, _)) = stacks.operands.last() else { return };
        if self.table.infix(&op.name) != Some(OperatorTable::MULTIPLICATION) || &*op.name == "*" {
            return;
        }
        let right = match right {
            Some(SequencePart::Operand(right)) => right.span,
            _ => number.span,
        };
        let message = format!("the divisor of '{}' is ambiguous without parentheses", op.name);
        let insert = |span: Span, text: &str| (span, text.to_owned());
        let mut d = Diagnostic::error(Code::AmbiguousProduct, number.span.to(right), message)
            .label("this product has no operator and can be read in two ways");
        d.helps.push(Help {
            text: "divide by the product".into(),
            edits: vec![insert(number.span.before(), "("), insert(right.after(), ")")],
        });
        d.helps.push(Help {
            text: "multiply the quotient".into(),
            edits: vec![insert(left.before(), "("), insert(number.span.after(), ")")],
        });
        self.diagnostics.push(d);
    }
}

#[derive(Default)]
struct OperatorStacks {
    operands: Vec<(Expr, u32)>,
    waiting: Vec<PendingOperator>,
}

/// Operators with their usual forms.
const ALIASES: &[(&str, &str)] = &[("**", "^"), ("≤", "<="), ("≥", ">="), ("≠", "!=")];

/// Mathematical symbols in operators, with their usual forms.
const SYMBOLS: &[(char, &str)] = &[
    ('−', "-"),
    ('÷', "/"),
    ('·', "*"),
    ('×', "*"),
    ('⋅', "*"),
    ('∙', "*"),
    ('∗', "*"),
    ('∧', "&&"),
    ('∨', "||"),
    ('¬', "!"),
];

/// Operators of other languages, the equivalent in dscript, and an explanation.
const REPLACEMENTS: &[(&str, &str, &str)] = &[
    ("..", "..<", "'..<' excludes the end of a range, '...' includes it"),
    ("=<", "<=", "write '<='"),
    ("<>", "!=", "write '!='"),
];

fn unknown_help(name: &str) -> String {
    match name {
        "=>" => "'>=' compares, '->' precedes a result type, and a closure is written '{ x in … }'".into(),
        ":=" => "write 'let x = …'".into(),
        "|>" => "call the function: 'f(x)'".into(),
        "++" => "write 'x += 1'".into(),
        "--" => "write 'x -= 1'".into(),
        _ => format!("declare it: 'infix operator {name}: AdditionPrecedence'"),
    }
}
