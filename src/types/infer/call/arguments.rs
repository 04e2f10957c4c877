//! Arguments of calls: matching arguments with parameters, and testing whether an argument fits before the callee is
//! chosen.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Name};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::candidates::Candidate;
use crate::types::infer::expr::implicit_member::implicit_root;
use crate::types::model::declaration_tables::SignatureParam;
use crate::types::model::ty::{FunctionType, NominalId, ProtocolId, Type};
use crate::types::model::type_vars;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::Expr;
use crate::types::names::members;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The syntax of an argument, and its value if the value was inferred without an expected type.
#[derive(Clone, Debug)]
pub(crate) struct ArgNode {
    pub(crate) label: Option<Name>,
    /// The source location of the argument's label.
    pub(crate) label_span: Option<Span>,
    pub(crate) ast: Rc<ast::Expr>,
    pub(crate) trailing: bool,
    pub(crate) ready: Option<Rc<Expr>>,
    /// Whether the argument is an array of all values of a variadic parameter, such as the elements of a literal.
    pub(crate) is_whole: bool,
    pub(crate) span: Span,
}

/// The cost of a closure of several parameters that destructures a tuple: higher than that of any function with as many
/// parameters.
const TUPLE_APART: u32 = 200;

impl ArgNode {
    pub(crate) fn new(arg: &ast::Arg) -> ArgNode {
        ArgNode {
            label: arg.label.as_ref().map(|l| l.name.clone()),
            label_span: arg.label.as_ref().map(|l| l.span),
            trailing: arg.trailing,
            ..ArgNode::unlabeled(arg.value.clone())
        }
    }

    /// Creates an argument without a label, such as an operand.
    pub(crate) fn unlabeled(ast: Rc<ast::Expr>) -> ArgNode {
        ArgNode { label: None, label_span: None, span: ast.span, ast, trailing: false, ready: None, is_whole: false }
    }

    /// Whether the argument is the value with which a pattern is compared.
    pub(crate) fn is_matched(&self) -> bool {
        matches!(&self.ast.kind, Ast::Ident { name, .. } if name.starts_with("$match"))
    }

    /// Whether the type of the argument depends on the expected type, so that the inference of the argument is
    /// deferred.
    pub(crate) fn waits(&self) -> bool {
        waits(&self.ast)
    }
}

/// Whether the type of an expression depends on the expected type.
pub(crate) fn waits(e: &ast::Expr) -> bool {
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

/// Whether the arguments of a call could be a factor in parentheses.
pub(crate) fn is_factor(args: &[ArgNode]) -> bool {
    matches!(args, [arg] if !matches!(arg.ast.kind, Ast::String(_) | Ast::Closure(_)))
}

/// The arguments that a parameter receives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    Arg(usize),
    Variadic(Vec<usize>),
    /// The parameter is variadic and receives its values as one array: the index of the argument.
    Whole(usize),
    Default,
}

impl Slot {
    /// The arguments that are values of the parameter, or of its elements if it is variadic.
    pub(crate) fn given(&self) -> &[usize] {
        match self {
            Slot::Arg(i) => std::slice::from_ref(i),
            Slot::Variadic(all) => all,
            Slot::Whole(_) | Slot::Default => &[],
        }
    }
}

/// The reason why the arguments of a call do not match the parameters.
pub(crate) enum ArgumentMismatch {
    /// A parameter, given by its index, receives no argument.
    Missing(usize),
    /// An argument, given by its index, is received by no parameter.
    Extra(usize),
    /// The label of an argument, given by its index, differs from the label of the parameter.
    Label(usize),
}

/// Assigns the arguments of a call to the parameters of a function.
pub(crate) fn match_args(params: &[SignatureParam], args: &[ArgNode]) -> Result<Vec<Slot>, ArgumentMismatch> {
    let mut slots = vec![];
    let mut next = 0;
    let plain = args.iter().position(|a| a.trailing).unwrap_or(args.len());
    for (i, param) in params.iter().enumerate() {
        let is_function = may_be_function(&param.ty) && !param.autoclosure;
        if next < args.len() && next >= plain {
            // The first trailing closure goes to the first remaining parameter of function type.
            let arg = &args[next];
            let first = next == plain;
            let takes = match first && arg.label.is_none() {
                true => is_function && !is_skipped(params, i, args.get(next + 1)),
                false => arg.label == param.label,
            };
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
            return Err(ArgumentMismatch::Missing(i));
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
            return Err(ArgumentMismatch::Label(next));
        } else {
            return Err(ArgumentMismatch::Missing(i));
        }
    }
    if next < args.len() { Err(ArgumentMismatch::Extra(next)) } else { Ok(slots) }
}

/// Whether the first trailing closure goes to a later parameter: a parameter with a default value is skipped if another
/// one that requires an argument follows before the parameter of the next trailing closure.
fn is_skipped(params: &[SignatureParam], i: usize, following: Option<&ArgNode>) -> bool {
    let is_required = |param: &SignatureParam| param.default.is_none() && !param.variadic;
    let mut later = params[i + 1..].iter().take_while(|param| following.is_none_or(|arg| arg.label != param.label));
    !is_required(&params[i]) && later.any(|param| is_required(param) && may_be_function(&param.ty))
}

/// Whether an argument is the left operand of an operator that modifies it, which is written without `&`.
pub(crate) fn is_operand(place: &ast::Expr, arg: &ArgNode) -> bool {
    place.span == arg.ast.span
}

fn may_be_function(ty: &Type) -> bool {
    match ty {
        Type::Function(_) | Type::Param(_) | Type::Var(_) | Type::Error => true,
        Type::Nominal(_, args) => args.len() == 1 && matches!(args[0], Type::Function(_)),
        _ => false,
    }
}

impl Infer<'_> {
    /// Infers the arguments of a call that do not depend on an expected type.
    pub(crate) fn ready_args(&mut self, args: &mut [ArgNode]) {
        for arg in args {
            if !self.names_bound_methods(&arg.ast) {
                self.ready_operand(arg);
            }
        }
    }

    /// Infers the operands of an operator that do not depend on an expected type.
    pub(crate) fn ready_operands(&mut self, args: &mut [ArgNode]) {
        args.iter_mut().for_each(|arg| self.ready_operand(arg));
    }

    fn ready_operand(&mut self, arg: &mut ArgNode) {
        if arg.ready.is_none() && !arg.waits() && !self.names_several(&arg.ast) {
            let value = self.expr(&arg.ast.clone(), None);
            arg.ready = Some(self.set_aside(value));
        }
    }

    /// Infers the variables that are passed with `&`. Their types select the overload, because they are not converted.
    pub(crate) fn ready_places(&mut self, args: &mut [ArgNode]) {
        for arg in args {
            if let (None, Ast::InOut(place)) = (&arg.ready, &arg.ast.kind) {
                let value = self.target(&place.clone());
                arg.ready = Some(self.set_aside(value));
            }
        }
    }

    /// Infers the arguments that share a generic parameter as their type, before this type is decided: the type becomes
    /// optional if an argument is optional, or a common superclass.
    pub(crate) fn ready_shared(&mut self, candidate: &Candidate, args: &mut [ArgNode]) {
        let params = self.candidate_params(candidate);
        let Ok(slots) = match_args(&params, args) else { return };
        let typed: Vec<(Type, usize)> = slots
            .iter()
            .zip(params.iter())
            .flat_map(|(slot, param)| {
                let ty = self.param_value_type(param);
                slot.given().iter().map(|i| (ty.clone(), *i)).collect::<Vec<_>>()
            })
            .filter(|(ty, _)| matches!(ty, Type::Param(_)))
            .collect();
        let is_shared = |ty: &Type| typed.iter().filter(|(other, _)| other == ty).count() > 1;
        for (_, i) in typed.iter().filter(|(ty, _)| is_shared(ty)).cloned() {
            self.ready_args(std::slice::from_mut(&mut args[i]));
            if let Some(ready) = &args[i].ready {
                self.take_optional_result(ready);
            }
        }
    }

    /// Infers the arguments that are literals of collections and tuples and have no expected type.
    pub(crate) fn ready_collections(&mut self, args: &mut [ArgNode]) {
        for arg in args {
            let is_collection = matches!(&arg.ast.kind, Ast::Array(items) if !items.is_empty())
                || matches!(&arg.ast.kind, Ast::Dictionary(items) if !items.is_empty())
                || matches!(&arg.ast.kind, Ast::Tuple(_) | Ast::If { .. } | Ast::Switch { .. })
                // A branch that is an implicit member has no type of its own.
                || matches!(&arg.ast.kind, Ast::Ternary { then, otherwise, .. }
                    if implicit_root(then).is_none() && implicit_root(otherwise).is_none());
            if arg.ready.is_none() && is_collection {
                let value = self.expr(&arg.ast.clone(), None);
                arg.ready = Some(self.set_aside(value));
            }
        }
    }

    /// Returns the type that all candidates want for an argument, if it is the same type without generic parameters,
    /// and not an array: the type of an argument that is a literal.
    pub(crate) fn common_literal_type(
        &mut self,
        candidates: &[Candidate],
        args: &[ArgNode],
        arg: usize,
    ) -> Option<Type> {
        let mut common: Option<Type> = None;
        for candidate in candidates {
            let params = self.candidate_params(candidate);
            let slots = match_args(&params, args).ok()?;
            let at = slots.iter().position(|slot| *slot == Slot::Arg(arg))?;
            let ty = &params[at].ty;
            let is_plain =
                matches!(ty, Type::Nominal(n, of) if of.is_empty() && self.cx.defs.nominal_data(*n).builtin.is_none());
            if !is_plain || common.as_ref().is_some_and(|common| common != ty) {
                return None;
            }
            common = Some(ty.clone());
        }
        common
    }

    /// Whether an argument is a literal whose type is not known yet.
    pub(crate) fn is_open_literal(&mut self, arg: &ArgNode) -> bool {
        let Some(ready) = &arg.ready else { return false };
        matches!(unification::shallow(self.cx, &ready.ty), Type::Var(v) if self.cx.vars.var(v).literal.is_some())
    }

    /// Returns the cost of passing an argument to a parameter of type `wanted`, 0 for equal types; `None` if the
    /// argument cannot be passed.
    pub(crate) fn arg_fits(&mut self, arg: &ArgNode, wanted: &Type, is_inout: bool, span: Span) -> Option<u32> {
        let Some(ready) = &arg.ready else { return self.shape_fits(&arg.ast, wanted, is_inout) };
        if is_inout && self.widens {
            // The converted value of an `inout` argument could not be written back.
            return self.with_widening(false, |infer| infer.arg_fits(arg, wanted, is_inout, span));
        }
        match &arg.ast.kind {
            Ast::InOut(place) if !is_operand(place, arg) => {
                let is_same = is_inout
                    && (unification::try_unify(self.cx, &ready.ty.clone(), wanted, span)
                        || self
                            .inside_unwrapped(ready)
                            .is_some_and(|payload| unification::unify(self.cx, &payload, wanted, span)));
                return is_same.then_some(0);
            }
            Ast::InOut(_) => {}
            _ if is_inout => return None,
            _ => {}
        }
        let ty = unification::shallow(self.cx, &ready.ty.clone());
        let wanted = unification::shallow(self.cx, wanted);
        let literal = match &ty {
            Type::Var(v) => self.cx.vars.var(*v).literal,
            _ => None,
        };
        if let (Some(literal), Type::Nominal(..)) = (literal, &wanted)
            && !name_lookup::is_optional(self.cx, &wanted)
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
        // A generic parameter is more specific than an existential, than an optional to which a value is converted, and
        // than the array to which a tangent vector is converted.
        let forgets = matches!(wanted, Type::Existential(_))
            || name_lookup::is_optional(self.cx, &wanted) && !name_lookup::is_optional(self.cx, &ty)
            || self.is_tangent_of_array(&ty, &wanted);
        self.can_convert(&ty, &wanted).then_some(if forgets { 25 } else { 5 })
    }

    /// Returns the cost of passing an argument that is not inferred yet; `None` if the syntax of the argument is
    /// incompatible with the type `wanted`.
    fn shape_fits(&mut self, arg: &ast::Expr, wanted: &Type, is_inout: bool) -> Option<u32> {
        if is_inout != matches!(arg.kind, Ast::InOut(_)) {
            return None;
        }
        let wanted = unification::shallow(self.cx, wanted);
        match &wanted {
            Type::Error => return Some(2),
            // The type variable of a literal, or a type variable with a required conformance, does not become a
            // function type.
            Type::Var(v) => {
                let state = self.cx.vars.var(*v);
                let is_value = state.literal.is_some() || !state.conforms.is_empty();
                let fits = match &arg.kind {
                    Ast::Closure(_) | Ast::Operator(_) => !is_value,
                    Ast::Array(_) => self.takes_literal(&wanted, "Array", "ExpressibleByArrayLiteral"),
                    Ast::Dictionary(_) => self.takes_literal(&wanted, "Dictionary", "ExpressibleByDictionaryLiteral"),
                    _ => true,
                };
                return fits.then_some(2);
            }
            _ => {}
        }
        let inner = name_lookup::optional_payload(self.cx, &wanted).unwrap_or_else(|| wanted.clone());
        let inner = unification::shallow(self.cx, &inner);
        if let Ast::Call { callee, args } = &arg.kind
            && let Ast::Implicit { name, .. } = &callee.kind
        {
            return self.implicit_call_fits(name, args, &inner);
        }
        if let Some((_, name)) = implicit_root(arg) {
            let found = |infer: &mut Self, ty| !members::members(infer.cx, ty, &name.name, true, infer.file).is_empty();
            let fits = match &inner {
                Type::Function(_) => matches!(wanted, Type::Nominal(..)) && found(self, &wanted),
                Type::Nominal(..) => found(self, &inner) || found(self, &wanted),
                _ => true,
            };
            return fits.then_some(1);
        }
        if let Ast::Ternary { then, otherwise, .. } = &arg.kind {
            return self.branches_fit(&[then, otherwise], &wanted, is_inout);
        }
        let fits = match &arg.kind {
            Ast::InOut(_) => return Some(0),
            Ast::Closure(closure) => match &inner {
                Type::Function(f) => match closure_arity(closure) {
                    // The closure destructures a tuple, if no function has as many parameters as the closure.
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
            Ast::KeyPath { path, .. } => return self.key_path_cost(path, &inner, arg.span),
            Ast::Nil => name_lookup::is_optional(self.cx, &wanted),
            Ast::Array(items) => {
                self.takes_literal(&inner, "Array", "ExpressibleByArrayLiteral") && self.takes_elements(&inner, items)
            }
            Ast::Dictionary(items) => {
                self.takes_literal(&inner, "Dictionary", "ExpressibleByDictionaryLiteral")
                    && self.takes_pairs(&inner, items)
            }
            Ast::Paren(e) => return self.shape_fits(e, &wanted, is_inout),
            Ast::Tuple(parts) => match &inner {
                Type::Tuple(types) => types.len() == parts.len(),
                _ => matches!(inner, Type::Var(_) | Type::Existential(_)),
            },
            _ => !matches!(inner, Type::Function(_) | Type::Tuple(_)),
        };
        fits.then(|| 1 + self.cost_of_collection(arg, &inner))
    }

    /// Returns the highest cost of the branches of a conditional argument; `None` if the syntax of a branch is
    /// incompatible with the type `wanted`.
    fn branches_fit(&mut self, branches: &[&Rc<ast::Expr>], wanted: &Type, is_inout: bool) -> Option<u32> {
        branches.iter().try_fold(1, |cost: u32, branch| match waits(branch) {
            true => Some(cost.max(self.shape_fits(branch, wanted, is_inout)?)),
            false => Some(cost),
        })
    }

    /// Whether the declared parameter and result types of a closure fit those of a function. Type variables in the
    /// function type are unified with the declared types.
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

    /// Resolves a type annotation without diagnostics, which are reported when the enclosing expression is inferred.
    pub(crate) fn resolve_quietly(&mut self, ty: &ast::TypeExpr) -> Type {
        let (before, failed) = (self.cx.sink.diagnostics.len(), self.failed);
        let ty = self.resolve(ty);
        self.cx.sink.diagnostics.truncate(before);
        self.failed = failed;
        ty
    }

    /// Whether the elements of an array literal fit the element type of a type that can be written as an array literal,
    /// as far as the types of the elements are evident.
    fn takes_elements(&mut self, ty: &Type, items: &[ast::Expr]) -> bool {
        let Type::Nominal(n, args) = ty else { return true };
        let is_array = *n == name_lookup::library_nominal(self.cx, "Array");
        let element = match self.cx.defs.nominal_data(*n).builtin {
            Some(_) if !is_array => return true,
            Some(_) => args.first().cloned(),
            None => associated_type::associated_type(self.cx, ty, "ArrayLiteralElement"),
        };
        let Some(element) = element else { return true };
        items.iter().all(|item| self.takes_element(&element, item, is_array))
    }

    /// Whether the keys and values of a dictionary literal fit the types of a dictionary, as far as their types are
    /// evident.
    fn takes_pairs(&mut self, ty: &Type, items: &[(ast::Expr, ast::Expr)]) -> bool {
        let Type::Nominal(n, args) = ty else { return true };
        if *n != name_lookup::library_nominal(self.cx, "Dictionary") {
            return true;
        }
        items
            .iter()
            .all(|(key, value)| self.takes_element(&args[0], key, true) && self.takes_element(&args[1], value, true))
    }

    /// Whether one value of a collection literal fits the type of the values, as far as its type is evident.
    fn takes_element(&mut self, element: &Type, item: &ast::Expr, is_array: bool) -> bool {
        let element = name_lookup::optional_payload(self.cx, element).unwrap_or_else(|| element.clone());
        let element = unification::shallow(self.cx, &element);
        if !matches!(element, Type::Nominal(..)) {
            return true;
        }
        let literal = match &item.kind {
            Ast::Array(inner) => {
                return self.takes_literal(&element, "Array", "ExpressibleByArrayLiteral")
                    && self.takes_elements(&element, inner);
            }
            Ast::Implicit { name, .. } => {
                return !members::members(self.cx, &element, &name.name, true, self.file).is_empty();
            }
            Ast::Int(_) => Literal::Int,
            Ast::Float(_) => Literal::Float,
            Ast::String(_) => Literal::Text,
            _ => {
                // Elements of type `Int` are not checked, since integers take the expected type.
                let integer = name_lookup::simple(self.cx, "Int");
                let own = self.evident_type(item).filter(|own| is_array && *own != integer);
                let Some(own) = own else { return true };
                return unification::try_unify(self.cx, &own, &element, item.span) || self.can_convert(&own, &element);
            }
        };
        unification::accepts_literal(self.cx, &element, literal)
    }

    /// Returns the type of a value that is created by the name of its type, such as `Float(2)`, or of a variable.
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

    /// Whether a type can be written as a literal of the given kind.
    fn takes_literal(&mut self, ty: &Type, usual: &'static str, protocol: &'static str) -> bool {
        match ty {
            Type::Function(_) | Type::Metatype(_) => false,
            Type::Nominal(n, _) if *n == name_lookup::library_nominal(self.cx, usual) => true,
            Type::Nominal(..) => {
                let protocol = name_lookup::protocol(self.cx, protocol);
                conformances::conforms_to(self.cx, ty, protocol)
            }
            Type::Var(v) => {
                let state = self.cx.vars.var(*v);
                // The type of a literal number or text is no collection, unless other code determines it.
                if state.literal.is_some() {
                    return false;
                }
                let required: Vec<ProtocolId> = state.conforms.iter().map(|c| c.protocol).collect();
                required.into_iter().all(|required| self.some_literal_type_conforms(usual, protocol, required))
            }
            _ => true,
        }
    }

    /// Whether one of the types that can be written as a collection literal declares a conformance.
    fn some_literal_type_conforms(&mut self, usual: &'static str, literal: &'static str, required: ProtocolId) -> bool {
        let usual = name_lookup::library_nominal(self.cx, usual);
        if conformances::find_conformance(self.cx, usual, required).is_some() {
            return true;
        }
        (0..self.cx.defs.nominals.len() as u32).map(NominalId).any(|n| {
            conformances::find_conformance(self.cx, n, required).is_some()
                && conformances::declares(self.cx, n, literal).is_some()
        })
    }
}

/// Returns the number of parameters of a closure, if its syntax determines it.
pub(crate) fn closure_arity(closure: &ast::Closure) -> Option<usize> {
    match &closure.params {
        Some(params) => Some(params.len()),
        None => {
            let highest = crate::types::infer::expr::closure::highest_anonymous(&closure.body);
            // A closure without `$0` can also ignore its arguments.
            highest.map(|n| n + 1)
        }
    }
}
