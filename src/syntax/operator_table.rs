//! Operator table: stores the operators of a module and their precedence.

use super::ast::{DeclKind, File, Fixity, Ident, Name, StmtKind};
use crate::diagnostic::{Code, Diagnostic};
use hashbrown::{HashMap, HashSet};

/// The associativity of a precedence group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Associativity {
    Left,
    Right,
    None,
}

/// The choice of the operator that is applied first when `left` and `right` are adjacent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AppliedFirst {
    Left,
    Right,
    /// Neither operator is applied first: parentheses are required.
    Parentheses,
}

/// The number of a precedence group in the operator table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Group(usize);

/// The operators of a module: the operators of Swift, mathematical operators, and the operators that the module
/// declares.
#[derive(Clone, Debug)]
pub struct OperatorTable {
    names: Vec<Name>,
    associativity: Vec<Associativity>,
    /// The relation of precedence groups: `above[a][b]` states whether group `a` binds tighter than group `b`.
    above: Vec<Vec<bool>>,
    infix: HashMap<Name, Group>,
    prefix: HashSet<Name>,
    postfix: HashSet<Name>,
}

use Associativity::{Left, None as Neither, Right};

/// The standard precedence groups, from the loosest to the tightest.
const GROUPS: &[(&str, Associativity, &str)] = &[
    ("AssignmentPrecedence", Right, "+= -= *= /= %= ^= &= |= <<= >>= &+= &-= &*= &<<= &>>= .&= .|= .^="),
    ("FunctionArrowPrecedence", Right, ""),
    ("TernaryPrecedence", Right, ""),
    ("DefaultPrecedence", Neither, ""),
    ("LogicalDisjunctionPrecedence", Left, "||"),
    ("LogicalConjunctionPrecedence", Left, "&&"),
    ("ComparisonPrecedence", Neither, "== != < <= > >= === !== ~= ≈ .== .!= .< .<= .> .>="),
    ("NilCoalescingPrecedence", Right, "??"),
    ("CastingPrecedence", Neither, ""),
    ("StridedRangeFormationPrecedence", Left, ""),
    ("RangeFormationPrecedence", Neither, "..< ..."),
    ("AdditionPrecedence", Left, "+ - &+ &- | .| .^ .+ .-"),
    ("MultiplicationPrecedence", Left, "* / % & &* .& .* ./"),
    ("BitwiseShiftPrecedence", Neither, "<< >> &<< &>>"),
    ("CompositionPrecedence", Left, "∘"),
    ("ExponentiationPrecedence", Right, "^"),
];
/// The operators of the module of tensors, by the index of their precedence group.
const TENSOR_OPERATORS: &[(usize, &str)] = &[(0, ".= .*= ./="), (9, ".."), (11, "++"), (12, "• ⋅ · × ⨯")];
/// The name of the module of tensors.
const TENSOR_MODULE: &str = "TensorFlow";
const PREFIX: &str = "- + ! ~ √ ∛ ... ..< .!";
const POSTFIX: &str = "...";

impl Default for OperatorTable {
    fn default() -> OperatorTable {
        OperatorTable::standard()
    }
}

impl OperatorTable {
    pub(super) const ASSIGNMENT: Group = Group(0);
    pub(super) const TERNARY: Group = Group(2);
    pub(super) const DEFAULT: Group = Group(3);
    pub(super) const COMPARISON: Group = Group(6);
    pub(super) const CASTING: Group = Group(8);
    pub(super) const MULTIPLICATION: Group = Group(12);
    pub(super) const POWER: Group = Group(15);

    /// Returns the operator table with the operators that every module has.
    pub fn standard() -> OperatorTable {
        let count = GROUPS.len();
        let words = |list: &str| list.split(' ').map(Name::from).collect::<HashSet<Name>>();
        let mut infix = HashMap::new();
        for (i, (_, _, operators)) in GROUPS.iter().enumerate() {
            infix.extend(operators.split(' ').filter(|o| !o.is_empty()).map(|o| (Name::from(o), Group(i))));
        }
        OperatorTable {
            names: GROUPS.iter().map(|g| g.0.into()).collect(),
            associativity: GROUPS.iter().map(|g| g.1).collect(),
            above: (0..count).map(|a| (0..count).map(|b| a > b).collect()).collect(),
            infix,
            prefix: words(PREFIX),
            postfix: words(POSTFIX),
        }
    }

    /// Returns the operator table of the library, which has the operators of all of its modules.
    pub fn library() -> OperatorTable {
        let mut table = OperatorTable::standard();
        table.add_tensor_operators();
        table
    }

    fn add_tensor_operators(&mut self) {
        for (group, operators) in TENSOR_OPERATORS {
            self.infix.extend(operators.split(' ').map(|o| (Name::from(o), Group(*group))));
        }
    }

    /// Adds the operators and precedence groups that a file declares or imports to the table.
    pub fn declare(&mut self, file: &File) -> Vec<Diagnostic> {
        let mut diagnostics = vec![];
        let imports_tensors = file.items.iter().any(|item| match &item.kind {
            StmtKind::Decl(decl) => match &decl.kind {
                DeclKind::Import { path, .. } => path.first().is_some_and(|name| &*name.name == TENSOR_MODULE),
                _ => false,
            },
            _ => false,
        });
        if imports_tensors {
            self.add_tensor_operators();
        }
        let declared = || {
            file.items.iter().filter_map(|item| match &item.kind {
                StmtKind::Decl(decl) => Some(&decl.kind),
                _ => None,
            })
        };
        for kind in declared() {
            if let DeclKind::PrecedenceGroup { name, associativity, .. } = kind {
                self.declare_group(name, associativity.as_ref(), &mut diagnostics);
            }
        }
        for kind in declared() {
            match kind {
                DeclKind::PrecedenceGroup { name, higher_than, lower_than, .. } => {
                    self.relate(name, higher_than, lower_than, &mut diagnostics);
                }
                DeclKind::Operator { fixity, name, precedence } => {
                    self.declare_operator(*fixity, name, precedence.as_ref(), &mut diagnostics);
                }
                _ => {}
            }
        }
        diagnostics
    }

    fn declare_group(&mut self, name: &Ident, associativity: Option<&Ident>, diagnostics: &mut Vec<Diagnostic>) {
        let associativity = match associativity.map(|a| (&*a.name, a.span)) {
            Some(("left", _)) => Left,
            Some(("right", _)) => Right,
            None | Some(("none", _)) => Neither,
            Some((_, span)) => {
                diagnostics.push(Diagnostic::error(
                    Code::Syntax,
                    span,
                    "associativity must be 'left', 'right' or 'none'",
                ));
                Neither
            }
        };
        if let Some(group) = self.group(&name.name) {
            // A later declaration replaces an earlier declaration, as in an interactive session.
            self.associativity[group.0] = associativity;
            return;
        }
        self.names.push(name.name.clone());
        self.associativity.push(associativity);
        for row in &mut self.above {
            row.push(false);
        }
        self.above.push(vec![false; self.names.len()]);
    }

    fn relate(&mut self, name: &Ident, higher: &[Ident], lower: &[Ident], diagnostics: &mut Vec<Diagnostic>) {
        let Some(group) = self.group(&name.name) else { return };
        for (other, is_higher) in higher.iter().map(|h| (h, true)).chain(lower.iter().map(|l| (l, false))) {
            let Some(found) = self.group(&other.name) else {
                diagnostics.push(unknown_group(other));
                continue;
            };
            let (top, bottom) = if is_higher { (group.0, found.0) } else { (found.0, group.0) };
            if top == bottom || self.above[bottom][top] {
                let message =
                    format!("'{}' and '{}' cannot each have higher precedence than the other", name.name, other.name);
                diagnostics.push(Diagnostic::error(Code::Syntax, other.span, message));
                continue;
            }
            let uppers: Vec<usize> = (0..self.above.len()).filter(|i| *i == top || self.above[*i][top]).collect();
            let lowers: Vec<usize> = (0..self.above.len()).filter(|i| *i == bottom || self.above[bottom][*i]).collect();
            for upper in uppers {
                for lower in &lowers {
                    self.above[upper][*lower] = true;
                }
            }
        }
    }

    fn declare_operator(
        &mut self,
        fixity: Fixity,
        name: &Ident,
        precedence: Option<&Ident>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        match fixity {
            Fixity::Prefix => drop(self.prefix.insert(name.name.clone())),
            Fixity::Postfix => drop(self.postfix.insert(name.name.clone())),
            Fixity::Infix => {
                let group = match precedence {
                    None => OperatorTable::DEFAULT,
                    Some(group) => self.group(&group.name).unwrap_or_else(|| {
                        diagnostics.push(unknown_group(group));
                        OperatorTable::DEFAULT
                    }),
                };
                // The group of the power operator is fixed even if a program declares `**`, because the folding of
                // prefix operators depends on this group.
                if self.infix(&name.name) != Some(OperatorTable::POWER) {
                    self.infix.insert(name.name.clone(), group);
                }
            }
        }
    }

    fn group(&self, name: &str) -> Option<Group> {
        self.names.iter().position(|n| &**n == name).map(Group)
    }

    /// Returns the precedence group of an infix operator, if the operator is declared.
    pub(super) fn infix(&self, name: &str) -> Option<Group> {
        self.infix.get(name).copied()
    }

    /// Whether an operator is declared with the given fixity.
    pub fn is_declared(&self, name: &str, fixity: Fixity) -> bool {
        match fixity {
            Fixity::Prefix => self.prefix.contains(name),
            Fixity::Infix => self.infix.contains_key(name),
            Fixity::Postfix => self.postfix.contains(name),
        }
    }

    /// Whether an infix operator is a comparison operator.
    pub fn compares(&self, name: &str) -> bool {
        self.infix(name) == Some(OperatorTable::COMPARISON)
    }

    pub(super) fn first(&self, left: Group, right: Group) -> AppliedFirst {
        if left == right {
            return match self.associativity[left.0] {
                Left => AppliedFirst::Left,
                Right => AppliedFirst::Right,
                Neither => AppliedFirst::Parentheses,
            };
        }
        match (self.above[left.0][right.0], self.above[right.0][left.0]) {
            (true, _) => AppliedFirst::Left,
            (_, true) => AppliedFirst::Right,
            _ => AppliedFirst::Parentheses,
        }
    }
}

fn unknown_group(name: &Ident) -> Diagnostic {
    Diagnostic::error(Code::Syntax, name.span, format!("there is no precedence group '{}'", name.name))
}
