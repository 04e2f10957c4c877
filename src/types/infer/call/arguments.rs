//! Arguments of calls: matching them with parameters, and whether one fits before it was decided who is called.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, Name};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::expr::implicit_member::implicit_root;
use crate::types::model::tables::SignatureParam;
use crate::types::model::tree::Expr;
use crate::types::model::ty::{FunctionType, Type};
use crate::types::model::type_vars;
use crate::types::model::type_vars::Literal;
use crate::types::names::lookup;
use crate::types::names::members;
use std::rc::Rc;

/// An argument as written, and its value once it was inferred without knowing what is expected.
#[derive(Clone, Debug)]
pub(crate) struct ArgNode {
    pub(crate) label: Option<Name>,
    /// Where the label stands.
    pub(crate) label_span: Option<Span>,
    pub(crate) ast: Rc<ast::Expr>,
    pub(crate) trailing: bool,
    pub(crate) ready: Option<Rc<Expr>>,
    /// Whether it is all that a variadic parameter is given: the elements of a literal.
    pub(crate) is_whole: bool,
    pub(crate) span: Span,
}

/// What it costs that a closure of several parameters takes a tuple apart: more than any function of as many arguments.
const TUPLE_APART: u32 = 200;

impl ArgNode {
    pub(crate) fn new(arg: &ast::Arg) -> ArgNode {
        ArgNode {
            label: arg.label.as_ref().map(|l| l.name.clone()),
            label_span: arg.label.as_ref().map(|l| l.span),
            trailing: arg.trailing,
            ..ArgNode::unlabelled(arg.value.clone())
        }
    }

    /// An operand.
    pub(crate) fn unlabelled(ast: Rc<ast::Expr>) -> ArgNode {
        ArgNode { label: None, label_span: None, span: ast.span, ast, trailing: false, ready: None, is_whole: false }
    }

    /// Whether it is the value that a pattern is compared with.
    pub(crate) fn is_matched(&self) -> bool {
        matches!(&self.ast.kind, Ast::Ident { name, .. } if name.starts_with("$match"))
    }

    /// Whether its type depends on what is expected, so that it must wait for it.
    pub(crate) fn waits(&self) -> bool {
        waits(&self.ast)
    }
}

fn waits(e: &ast::Expr) -> bool {
    match &e.kind {
        Ast::Closure(_)
        | Ast::Implicit { .. }
        | Ast::Nil
        | Ast::Array(_)
        | Ast::Dictionary(_)
        | Ast::InOut(_)
        | Ast::Operator(_) => true,
        Ast::Member { .. } | Ast::Subscript { .. } | Ast::Force(_) | Ast::Call { .. } => implicit_root(e).is_some(),
        Ast::Paren(inner) | Ast::Try { value: inner, .. } => waits(inner),
        Ast::Ternary { then, otherwise, .. } => waits(then) || waits(otherwise),
        Ast::Tuple(parts) => parts.iter().any(|(_, p)| waits(p)),
        Ast::If { .. } | Ast::Switch { .. } | Ast::KeyPath { .. } => true,
        _ => false,
    }
}

/// What a parameter is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    Arg(usize),
    Variadic(Vec<usize>),
    /// The elements of a variadic parameter, as an array.
    Whole(usize),
    Default,
}

/// Why arguments do not match the parameters.
pub(crate) enum Misfit {
    /// The parameter that is given nothing.
    Missing(usize),
    /// The argument that nobody takes.
    Extra(usize),
    /// The argument that has another label than the parameter.
    Label(usize),
}

/// Which argument goes to which parameter.
pub(crate) fn match_args(params: &[SignatureParam], args: &[ArgNode]) -> Result<Vec<Slot>, Misfit> {
    let mut slots = vec![];
    let mut next = 0;
    let plain = args.iter().position(|a| a.trailing).unwrap_or(args.len());
    for (i, param) in params.iter().enumerate() {
        let is_function = may_be_function(&param.ty) && !param.autoclosure;
        if next < args.len() && next >= plain {
            // A trailing closure: the first one goes to the first function-typed parameter that is left.
            let arg = &args[next];
            let first = next == plain;
            let takes = if first && arg.label.is_none() { is_function } else { arg.label == param.label };
            if takes {
                slots.push(Slot::Arg(next));
                next += 1;
                continue;
            }
            if param.default.is_some() {
                slots.push(Slot::Default);
                continue;
            }
            if param.variadic {
                slots.push(Slot::Variadic(vec![]));
                continue;
            }
            return Err(Misfit::Missing(i));
        }
        if param.variadic && args.get(next).is_some_and(|arg| arg.is_whole && arg.label == param.label) {
            slots.push(Slot::Whole(next));
            next += 1;
            continue;
        }
        if param.variadic {
            let mut all = vec![];
            while next < plain
                && (all.is_empty() && args[next].label == param.label || !all.is_empty() && args[next].label.is_none())
            {
                all.push(next);
                next += 1;
            }
            slots.push(Slot::Variadic(all));
            continue;
        }
        if next < plain && args[next].label == param.label {
            slots.push(Slot::Arg(next));
            next += 1;
        } else if param.default.is_some() {
            slots.push(Slot::Default);
        } else if next < plain {
            return Err(Misfit::Label(next));
        } else {
            return Err(Misfit::Missing(i));
        }
    }
    if next < args.len() { Err(Misfit::Extra(next)) } else { Ok(slots) }
}

fn may_be_function(ty: &Type) -> bool {
    match ty {
        Type::Function(_) | Type::Param(_) | Type::Var(_) | Type::Error => true,
        Type::Nominal(_, args) => args.len() == 1 && matches!(args[0], Type::Function(_)),
        _ => false,
    }
}

impl Infer<'_> {
    /// Infers the arguments that do not depend on what is expected.
    pub(crate) fn ready_args(&mut self, args: &mut [ArgNode]) {
        for arg in args {
            if arg.ready.is_none() && !arg.waits() && !self.names_several(&arg.ast) {
                let value = self.expr(&arg.ast.clone(), None);
                arg.ready = Some(self.set_aside(value));
            }
        }
    }

    /// Infers the arguments for parameters of one generic type before the type is decided: it is optional when one of
    /// them is.
    pub(crate) fn ready_shared(&mut self, candidate: &Candidate, args: &mut [ArgNode]) {
        let params = self.candidate_params(candidate);
        let Ok(slots) = match_args(&params, args) else { return };
        let shared: Vec<usize> = slots
            .iter()
            .zip(params.iter())
            .filter(|(_, param)| {
                matches!(param.ty, Type::Param(_)) && params.iter().filter(|other| other.ty == param.ty).count() > 1
            })
            .filter_map(|(slot, _)| if let Slot::Arg(i) = slot { Some(*i) } else { None })
            .collect();
        for i in shared {
            self.ready_args(std::slice::from_mut(&mut args[i]));
            if let Some(ready) = &args[i].ready {
                self.take_optional_result(ready);
            }
        }
    }

    /// Infers literals of collections and tuples, when nothing says what they are to be.
    pub(crate) fn ready_collections(&mut self, args: &mut [ArgNode]) {
        for arg in args {
            let is_collection = matches!(&arg.ast.kind, Ast::Array(items) if !items.is_empty())
                || matches!(&arg.ast.kind, Ast::Dictionary(items) if !items.is_empty())
                || matches!(&arg.ast.kind, Ast::Tuple(_) | Ast::Ternary { .. } | Ast::If { .. } | Ast::Switch { .. });
            if arg.ready.is_none() && is_collection {
                let value = self.expr(&arg.ast.clone(), None);
                arg.ready = Some(self.set_aside(value));
            }
        }
    }

    /// Whether an argument is a literal whose type is not known.
    pub(crate) fn is_open_literal(&mut self, arg: &ArgNode) -> bool {
        let Some(ready) = &arg.ready else { return false };
        matches!(unification::shallow(self.cx, &ready.ty), Type::Var(v) if self.cx.vars.var(v).literal.is_some())
    }

    /// Whether an argument can be given to a parameter, and what it costs: 0 for the same type.
    pub(crate) fn arg_fits(&mut self, arg: &ArgNode, wanted: &Type, param: &SignatureParam, span: Span) -> Option<u32> {
        let Some(ready) = &arg.ready else { return self.shape_fits(&arg.ast, wanted, param) };
        if param.is_inout != matches!(arg.ast.kind, Ast::InOut(_)) && param.is_inout {
            return None;
        }
        let ty = unification::shallow(self.cx, &ready.ty.clone());
        let wanted = unification::shallow(self.cx, wanted);
        let literal = match &ty {
            Type::Var(v) => self.cx.vars.var(*v).literal,
            _ => None,
        };
        if let (Some(literal), Type::Nominal(..)) = (literal, &wanted)
            && !lookup::is_optional(self.cx, &wanted)
        {
            let fits = unification::unify(self.cx, &ty, &wanted, span);
            return fits.then(|| self.literal_cost(literal, &wanted));
        }
        let fits = match self.forgives {
            true => unification::unify(self.cx, &ty, &wanted, span),
            false => unification::try_unify(self.cx, &ty, &wanted, span),
        };
        if fits {
            return Some(u32::from(ty != wanted && !matches!(wanted, Type::Var(_))));
        }
        if !self.can_convert(&ty, &wanted)
            && let Some(payload) = self.inside_unwrapped(ready)
        {
            let fits = unification::unify(self.cx, &payload, &wanted, span) || self.can_convert(&payload, &wanted);
            return fits.then_some(6);
        }
        // A generic parameter says more than an existential does.
        let forgets = matches!(wanted, Type::Existential(_));
        self.can_convert(&ty, &wanted).then_some(if forgets { 25 } else { 5 })
    }

    /// Whether an argument that waits for its type could be of a type at all.
    fn shape_fits(&mut self, arg: &ast::Expr, wanted: &Type, param: &SignatureParam) -> Option<u32> {
        let wanted = unification::shallow(self.cx, wanted);
        match &wanted {
            Type::Error => return Some(2),
            // What a literal becomes, or what conforms to something, is no function.
            Type::Var(v) => {
                let state = self.cx.vars.var(*v);
                let is_value = state.literal.is_some() || !state.conforms.is_empty();
                let is_function = matches!(arg.kind, Ast::Closure(_) | Ast::Operator(_));
                return (!is_value || !is_function).then_some(2);
            }
            _ => {}
        }
        let inner = lookup::optional_payload(self.cx, &wanted).unwrap_or_else(|| wanted.clone());
        let inner = unification::shallow(self.cx, &inner);
        if let Ast::Call { callee, args } = &arg.kind
            && let Ast::Implicit { name, .. } = &callee.kind
        {
            return self.implicit_call_fits(name, args, &inner);
        }
        if let Some((_, name)) = implicit_root(arg) {
            let found = |infer: &mut Self, ty| !members::members(infer.cx, ty, &name.name, true, infer.file).is_empty();
            let fits = !matches!(inner, Type::Nominal(..)) || found(self, &inner) || found(self, &wanted);
            return fits.then_some(1);
        }
        let fits = match &arg.kind {
            Ast::InOut(_) => return param.is_inout.then_some(0),
            Ast::Closure(closure) => match &inner {
                Type::Function(f) => match closure_arity(closure) {
                    // It takes a tuple apart, if nothing takes as many arguments.
                    Some(n) if n > 1 && f.params.len() == 1 => return Some(TUPLE_APART),
                    arity => arity.is_none_or(|n| n == f.params.len()) && self.written_types_fit(closure, f),
                },
                Type::Var(_) => true,
                Type::Existential(e) => e.is_any(),
                _ => false,
            },
            Ast::Operator(_) => matches!(inner, Type::Function(_) | Type::Var(_)),
            Ast::Ident { .. } | Ast::Member { .. } => match &inner {
                Type::Function(_) => return self.reference_fits(arg, &inner),
                _ => matches!(inner, Type::Var(_) | Type::Existential(_)),
            },
            Ast::KeyPath { .. } => match &inner {
                Type::Function(f) => f.params.len() == 1,
                Type::Nominal(n, _) => self.cx.defs.nominal_data(*n).name.ends_with("KeyPath"),
                _ => matches!(inner, Type::Var(_) | Type::Existential(_)),
            },
            Ast::Nil => lookup::is_optional(self.cx, &wanted),
            Ast::Array(items) => {
                self.takes_literal(&inner, "Array", "ExpressibleByArrayLiteral") && self.takes_elements(&inner, items)
            }
            Ast::Dictionary(_) => self.takes_literal(&inner, "Dictionary", "ExpressibleByDictionaryLiteral"),
            Ast::Paren(e) => return self.shape_fits(e, &wanted, param),
            Ast::Tuple(parts) => match &inner {
                Type::Tuple(types) => types.len() == parts.len(),
                _ => matches!(inner, Type::Var(_) | Type::Existential(_)),
            },
            _ => !matches!(inner, Type::Function(_) | Type::Tuple(_)),
        };
        fits.then_some(1)
    }

    /// Whether what a closure says that it takes and gives is what a function takes and gives. Where the function's types
    /// are open, they become what the closure says.
    fn written_types_fit(&mut self, closure: &ast::Closure, f: &FunctionType) -> bool {
        if self.forgives {
            return true;
        }
        for (written, wanted) in closure.params.iter().flatten().zip(&f.params) {
            let Some(ty) = &written.ty else { continue };
            let ty = self.resolve_quietly(ty);
            let fits = unification::try_unify(self.cx, &ty, &wanted.ty, written.name.span)
                || self.can_convert(&wanted.ty, &ty);
            if !fits || written.is_inout != wanted.is_inout {
                return false;
            }
        }
        let Some(result) = &closure.result else { return true };
        let given = self.resolve_quietly(result);
        unification::try_unify(self.cx, &given, &f.result, result.span) || self.can_convert(&given, &f.result)
    }

    /// A type that is written; what is wrong with it is reported with what it stands in.
    pub(crate) fn resolve_quietly(&mut self, ty: &ast::TypeExpr) -> Type {
        let (before, failed) = (self.cx.sink.diagnostics.len(), self.failed);
        let ty = self.resolve(ty);
        self.cx.sink.diagnostics.truncate(before);
        self.failed = failed;
        ty
    }

    /// Whether a type has a member that `.member(…)` could mean. One that has none at all is the last that is meant, and
    /// may be, so that the mistake is in the member.
    fn implicit_call_fits(&mut self, name: &Ident, args: &[ast::Arg], of: &Type) -> Option<u32> {
        const WITHOUT: u32 = 30;
        if !matches!(of, Type::Nominal(..)) {
            return (!matches!(of, Type::Function(_) | Type::Tuple(_))).then_some(1);
        }
        let given: Vec<ArgNode> = args.iter().map(ArgNode::new).collect();
        let candidates = self.method_candidates(of, &name.name, true, None);
        let takes = |infer: &mut Self, c| match_args(&infer.candidate_params(c), &given).is_ok();
        if candidates.is_empty() {
            return (&*name.name != "init").then_some(WITHOUT);
        }
        candidates.iter().any(|c| takes(self, c)).then_some(1)
    }

    /// Whether the elements of a literal in brackets may be those that a type is written with, as far as they show what they
    /// are by themselves.
    fn takes_elements(&mut self, ty: &Type, items: &[ast::Expr]) -> bool {
        let Type::Nominal(n, args) = ty else { return true };
        let is_array = *n == lookup::library_nominal(self.cx, "Array");
        let element = match self.cx.defs.nominal_data(*n).builtin {
            Some(_) if !is_array => return true,
            Some(_) => args.first().cloned(),
            None => associated_type::associated_type(self.cx, ty, "ArrayLiteralElement"),
        };
        let Some(element) = element else { return true };
        let element = lookup::optional_payload(self.cx, &element).unwrap_or(element);
        let element = unification::shallow(self.cx, &element);
        if !matches!(element, Type::Nominal(..)) {
            return true;
        }
        items.iter().all(|item| {
            let literal = match &item.kind {
                Ast::Array(inner) => {
                    return self.takes_literal(&element, "Array", "ExpressibleByArrayLiteral")
                        && self.takes_elements(&element, inner);
                }
                Ast::Int(_) if !is_array => Literal::Int,
                Ast::Float(_) if !is_array => Literal::Float,
                Ast::String(_) if !is_array => Literal::Text,
                _ => {
                    // Integers become what is asked for.
                    let integer = lookup::simple(self.cx, "Int");
                    let own = self.evident_type(item).filter(|own| is_array && *own != integer);
                    let Some(own) = own else { return true };
                    return unification::try_unify(self.cx, &own, &element, item.span)
                        || self.can_convert(&own, &element);
                }
            };
            unification::accepts_literal(self.cx, &element, literal)
        })
    }

    /// The type of a value that is made by naming its type, `Float(2)`, or of a variable.
    fn evident_type(&mut self, e: &ast::Expr) -> Option<Type> {
        let (diagnostics, failed) = (self.cx.sink.diagnostics.len(), self.failed);
        let found = match &e.kind {
            Ast::Call { callee, .. } => match &callee.kind {
                Ast::Ident { name, .. } if self.names_type(name) => self.type_expression(callee),
                _ => None,
            },
            Ast::Ident { name, .. } if !self.names_type(name) && !self.names_several(e) => Some(self.expr(e, None).ty),
            _ => None,
        };
        self.cx.sink.diagnostics.truncate(diagnostics);
        self.failed = failed;
        let found = found.map(|ty| type_vars::zonk(self.cx, &ty))?;
        (found != Type::Error && !unification::has_vars(self.cx, &found) && matches!(found, Type::Nominal(..)))
            .then_some(found)
    }

    /// Whether a type can be written as a literal of a kind.
    fn takes_literal(&mut self, ty: &Type, usual: &'static str, protocol: &'static str) -> bool {
        match ty {
            Type::Function(_) => false,
            Type::Nominal(n, _) if *n == lookup::library_nominal(self.cx, usual) => true,
            Type::Nominal(..) => {
                let protocol = lookup::protocol(self.cx, protocol);
                conformances::conforms_to(self.cx, ty, protocol)
            }
            _ => true,
        }
    }

    fn literal_cost(&mut self, literal: Literal, ty: &Type) -> u32 {
        use crate::types::model::declared::Builtin;
        let Type::Nominal(n, _) = ty else { return 6 };
        match (literal, self.cx.defs.nominal_data(*n).builtin) {
            (Literal::Int, Some(Builtin::Int { bits: 64, signed: true }))
            | (Literal::Float, Some(Builtin::Double))
            | (Literal::Text | Literal::Words, Some(Builtin::String)) => 0,
            (Literal::Int, Some(Builtin::Double)) => 2,
            (_, Some(Builtin::Float)) => 4,
            _ => 6,
        }
    }
}

/// How many parameters a closure has, if that can be seen.
pub(crate) fn closure_arity(closure: &ast::Closure) -> Option<usize> {
    match &closure.params {
        Some(params) => Some(params.len()),
        None => {
            let highest = crate::types::infer::call::closure::highest_anonymous(&closure.body);
            // A closure without `$0` can also ignore what it is given.
            highest.map(|n| n + 1)
        }
    }
}
