//! Registration: checks that a function with `@derivative(of:)` or `@transpose(of:)` fits its original, and adds it to
//! the original's entry.
//!
//! Not here: the older `@differentiable(adjoint:)` (`primal_adjoint`) and `@differentiable(vjp:)` (`named_derivative`), the type that a derivative must have
//! (`derivative_type`), and which registered functions apply to concrete types (`registered_derivatives`).

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Decl, DifferentiationArgs, FunctionName, Name};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::derivative::derivative_constraints;
use crate::types::derivative::derivative_type;
use crate::types::derivative::derivative_type::{changed_parameters, derivative_parts, together, unlabeled};
use crate::types::derivative::differentiability;
use crate::types::derivative::differentiability::parameters;
use crate::types::derivative::named_derivative;
use crate::types::derivative::original_function;
use crate::types::derivative::original_function::parameter_labels;
use crate::types::derivative::primal_adjoint;
use crate::types::generics::associated_type;
use crate::types::generics::signature;
use crate::types::model::declaration_info::RegisteredKind;
use crate::types::model::declaration_tables::{FunctionKind, Owner, Registered, Requirement, Signature};
use crate::types::model::display;
use crate::types::model::syntax_query::differentiation;
use crate::types::model::ty::Type;
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

const TWO_PARTS: &str = "'@derivative(of:)' attribute requires function to return a two-element tuple; first element must have label 'value:' and second element must have label 'pullback:' or 'differential:'";

/// An original whose generic parameters are replaced by those of the function to be registered.
pub(crate) struct Original {
    pub(crate) function: FunctionId,
    /// The types that are substituted for the generic parameters of the original.
    pub(crate) arguments: Vec<Type>,
    /// The parameters of the original, `self` first.
    pub(crate) params: Vec<Type>,
    /// Flags for the parameters that the original modifies.
    pub(crate) changed: Vec<bool>,
    pub(crate) result: Type,
    pub(crate) has_self: bool,
}

impl Original {
    /// Creates the entry of a function that is registered for the original.
    pub(crate) fn registered(&self, function: FunctionId, wrt: Vec<bool>, kind: RegisteredKind) -> Registered {
        let arguments = self.arguments.clone();
        Registered { function, arguments, wrt, kind, differs: false, primal: None, visible_in: None }
    }
}

/// The reason why a function cannot be registered for a candidate. `Types` and `Unmet` are reported in preference to
/// `Labels`, and `Labels` in preference to `Shape`.
enum RegistrationMismatch {
    /// The parameters or the value of the function differ from the parameters or the value of the candidate.
    Shape,
    /// The primal types agree, and the types of the linear function or of the transpose do not.
    Types(Box<Diagnostic>),
    /// The argument labels of the function and of the candidate differ.
    Labels(FunctionId),
    /// The candidate has a requirement on its generic parameters that the derivative does not imply.
    Unmet(FunctionId, Requirement),
    /// A diagnostic has been reported already.
    Reported,
}

/// Resolves the originals of the queued registrations.
pub(crate) fn resolve_registrations(cx: &mut TypeContext) {
    while !cx.module.registrations.is_empty() {
        for (decl, f) in std::mem::take(&mut cx.module.registrations) {
            for attribute in &decl.attributes {
                let args = differentiation(attribute);
                match (&*attribute.name.name, &args.of) {
                    ("differentiable", _) => {
                        primal_adjoint::register_adjoint(cx, f, &args, attribute.span);
                        named_derivative::register_named(cx, f, &args, attribute.span);
                    }
                    ("derivative" | "transpose", None) => {
                        let message = "the attribute must name the original with 'of:'";
                        cx.sink.report(Diagnostic::error(Code::Registration, attribute.span, message));
                    }
                    ("derivative", Some(of)) => register_derivative(cx, f, of, &args, attribute.span),
                    ("transpose", Some(of)) => register_transpose(cx, f, of, &args, attribute.span),
                    _ => {}
                }
            }
        }
    }
}

/// Tries to register a function for each candidate that its attribute may name, or reports why no candidate fits.
fn register_for(
    cx: &mut TypeContext,
    f: FunctionId,
    of: &FunctionName,
    try_one: &mut dyn FnMut(&mut TypeContext, &Original) -> Result<(), RegistrationMismatch>,
) {
    let mut candidates = original_function::originals(cx, f, of);
    if candidates.is_empty() {
        let problem = no_original(cx, f, of);
        cx.sink.report(problem);
        return;
    }
    let given = signature::signature(cx, f);
    // Labels may be omitted or added, and a derivative may be static although its original is not. Of several
    // candidates that fit, a candidate with equal labels and the same kind of receiver is preferred.
    let own = parameter_labels(&given);
    candidates.sort_by_key(|candidate| {
        let signature = signature::signature(cx, *candidate);
        let is_alike = signature.self_type.is_some() == given.self_type.is_some();
        (!is_alike, parameter_labels(&signature) != own)
    });
    let (types, labels, done) = type_context::with_env(cx, given.env.clone(), |cx| {
        let (mut labels, mut types) = (None, None);
        let mut done = None;
        for candidate in &candidates {
            let Some(original) = self::original(cx, *candidate, f, &given) else { continue };
            match try_one(cx, &original) {
                Ok(()) => done = Some(Some(original)),
                Err(RegistrationMismatch::Reported) => done = Some(None),
                Err(RegistrationMismatch::Labels(other)) => labels = Some(other),
                Err(RegistrationMismatch::Types(problem)) => types = types.or(Some(problem)),
                Err(RegistrationMismatch::Unmet(function, requirement)) => {
                    types = types.or_else(|| {
                        Some(Box::new(derivative_constraints::less_constrained(cx, of, function, &requirement)))
                    });
                }
                Err(RegistrationMismatch::Shape) => {}
            }
            if done.is_some() {
                break;
            }
        }
        if let Some(Some(original)) = &done
            && let Some(other) = derivative_constraints::fits_as_well(cx, original, &candidates, f, &given)
        {
            derivative_constraints::report_ambiguous(cx, of, original.function, other);
        }
        (types, labels, done)
    });
    match (types, labels) {
        _ if done.is_some() => {}
        (Some(problem), _) => cx.sink.report(*problem),
        (None, Some(original)) => {
            let message = format!(
                "a derivative must have the same argument labels as its original, but '{}' and '{}' differ",
                cx.defs.full_name(f),
                cx.defs.full_name(original)
            );
            let (at, other) = (cx.defs.function_data(f).span, cx.defs.function_data(original).span);
            cx.sink.report(
                Diagnostic::error(Code::Registration, at, message).also(other, "the original is declared here"),
            );
        }
        (None, None) => {
            let name = &of.name.name;
            let message = format!(
                "referenced declaration '{name}' could not be resolved: no '{name}' has the parameters of this \
                     function"
            );
            cx.sink.report(Diagnostic::error(Code::Registration, of.name.span, message));
        }
    }
}

/// Returns the diagnostic for an attribute that names no function.
fn no_original(cx: &TypeContext, f: FunctionId, of: &FunctionName) -> Diagnostic {
    let name = &of.name.name;
    let is_stored = match (cx.defs.function_data(f).owner, &of.base) {
        (Owner::Nominal(n), None) => cx.defs.nominal_data(n).stored.iter().any(|s| s.name == *name),
        _ => false,
    };
    if is_stored {
        let message = format!("cannot register derivative for stored property '{name}'");
        return Diagnostic::error(Code::Registration, of.name.span, message)
            .help("read it in a computed property, and register a derivative for that");
    }
    if let Some(accessor) = &of.accessor {
        let message = format!(
            "referenced declaration '{name}' could not be resolved: no declaration of that name has '{}'",
            accessor.name
        );
        return Diagnostic::error(Code::Registration, of.name.span, message);
    }
    let diagnostic = Diagnostic::error(Code::UnknownName, of.name.span, format!("cannot find '{name}' in scope"));
    match prelude::import_advice(cx, name) {
        Some(advice) => diagnostic.help(advice),
        None => diagnostic,
    }
}

/// Substitutes the generic parameters of `f`, the function to be registered, for those of the original. Returns `None`
/// if the parameters do not correspond.
pub(crate) fn original(
    cx: &mut TypeContext,
    function: FunctionId,
    f: FunctionId,
    given: &Signature,
) -> Option<Original> {
    let signature = signature::signature(cx, function);
    let (own, given_params) = (&signature.env.params, &given.env.params);
    let arguments: Vec<Type> = if own.len() == given_params.len() {
        given_params.iter().map(|p| Type::Param(*p)).collect()
    } else {
        // The original is a member of a protocol, for which `f` is registered in a conforming type.
        let (Owner::Protocol(_), Owner::Nominal(n)) =
            (cx.defs.function_data(function).owner, cx.defs.function_data(f).owner)
        else {
            return None;
        };
        let outer = cx.defs.nominal_data(n).params.len();
        let further = given_params.get(outer..).filter(|rest| rest.len() + 1 == own.len())?;
        std::iter::once(cx.defs.declared_type(n)).chain(further.iter().map(|p| Type::Param(*p))).collect()
    };
    let (_, mut types) = parameters(&signature);
    let (mut changed, mut has_self) = (changed_parameters(&signature), signature.self_type.is_some());
    if superclass::fills_instance(cx, function) {
        // The registered function creates the instance, so `self` is not a parameter.
        types.remove(0);
        changed.remove(0);
        has_self = false;
    }
    let mut put = |t: &Type| {
        let t = t.substitute(&|p| own.iter().position(|q| *q == p).map(|i| arguments[i].clone()));
        associated_type::normalize_type(cx, &t)
    };
    let params = types.iter().map(&mut put).collect();
    let result = put(&signature.result);
    Some(Original { function, arguments, params, changed, result, has_self })
}

fn register_derivative(cx: &mut TypeContext, f: FunctionId, of: &FunctionName, args: &DifferentiationArgs, span: Span) {
    let given = signature::signature(cx, f);
    let Some((kind, value, linear)) = derivative_parts(&given.result) else {
        cx.sink.report(Diagnostic::error(Code::Registration, cx.defs.function_data(f).span, TWO_PARTS));
        return;
    };
    let env = differentiability::required_env(cx, f, &given.env, args);
    register_for(cx, f, of, &mut |cx, original| {
        let (names, types) = parameters(&given);
        if types.len() != original.params.len() || changed_parameters(&given) != original.changed {
            return Err(RegistrationMismatch::Shape);
        }
        if labels_differ(cx, f, original.function) {
            return Err(RegistrationMismatch::Labels(original.function));
        }
        let same = |cx: &mut TypeContext, a: &Type, b: &Type| associated_type::normalize_type(cx, a) == *b;
        if !types.iter().zip(&original.params).all(|(a, b)| same(cx, a, b)) {
            return Err(RegistrationMismatch::Shape);
        }
        if !same(cx, &value, &original.result) {
            let name = &cx.defs.function_data(original.function).base_name;
            let message = format!("function result's 'value' type does not match '{name}'");
            let expected = format!("'value' does not have expected type '{}'", display::show(cx, &original.result));
            let diagnostic = Diagnostic::error(Code::Registration, cx.defs.function_data(f).span, message);
            return Err(RegistrationMismatch::Types(Box::new(diagnostic.note(expected))));
        }
        if let Some(requirement) = derivative_constraints::unmet_of(cx, original) {
            return Err(RegistrationMismatch::Unmet(original.function, requirement));
        }
        if given.throws && !signature::signature(cx, original.function).throws {
            let message = "a derivative can only throw if its original throws";
            return Err(RegistrationMismatch::Types(Box::new(Diagnostic::error(
                Code::Registration,
                cx.defs.function_data(f).span,
                message,
            ))));
        }
        type_context::with_env(cx, env.clone(), |cx| {
            let before = cx.sink.diagnostics.len();
            let mut wrt = differentiability::wrt_flags(cx, args, &names, &types, given.self_type.is_some());
            if cx.sink.diagnostics.len() > before {
                return Err(RegistrationMismatch::Reported);
            }
            if let Some(problem) = derivative_type::misfitting_derivative(cx, f, original, kind, &wrt, &linear, span) {
                let declared = if args.wrt.is_none() { declared_for_original(cx, original) } else { vec![] };
                let fits = |wrt: &Vec<bool>| {
                    derivative_type::misfitting_derivative(cx, f, original, kind, wrt, &linear, span).is_none()
                };
                wrt = declared.into_iter().find(fits).ok_or_else(|| RegistrationMismatch::Types(Box::new(problem)))?;
            }
            let differs = args.differs.is_some();
            let visible_in = visibility(cx, f);
            remember(cx, Registered { differs, visible_in, ..original.registered(f, wrt, kind) }, original, span);
            Ok(())
        })
    });
}

/// Returns the parameters of each `@differentiable` attribute of an original.
fn declared_for_original(cx: &mut TypeContext, original: &Original) -> Vec<Vec<bool>> {
    let made = usize::from(superclass::fills_instance(cx, original.function));
    let declared = differentiability::declared_wrt(cx, original.function);
    declared.into_iter().map(|(_, wrt)| wrt[made.min(wrt.len())..].to_vec()).collect()
}

/// Whether a derivative without a name of its own and its original have different labels for an argument. A derivative with a name
/// is also called itself, with its own labels. Arguments of operators, subscripts and setters have no labels.
fn labels_differ(cx: &mut TypeContext, f: FunctionId, original: FunctionId) -> bool {
    let data = cx.defs.function_data(original);
    let is_accessor = data.kind == FunctionKind::Setter || &*data.base_name == "subscript";
    if is_accessor || crate::types::model::syntax_query::is_operator(&data.base_name) || has_own_name(cx, f) {
        return false;
    }
    let (new, old) =
        (parameter_labels(&signature::signature(cx, f)), parameter_labels(&signature::signature(cx, original)));
    has_other_labels(&old, &new)
}

fn has_own_name(cx: &TypeContext, f: FunctionId) -> bool {
    &*cx.defs.function_data(f).base_name != "_"
}

/// Whether an argument has labels in two lists, and they differ.
pub(crate) fn has_other_labels(some: &[Option<Name>], others: &[Option<Name>]) -> bool {
    some.iter().zip(others).any(|pair| matches!(pair, (Some(a), Some(b)) if a != b))
}

fn register_transpose(cx: &mut TypeContext, f: FunctionId, of: &FunctionName, args: &DifferentiationArgs, span: Span) {
    let given = signature::signature(cx, f);
    let env = differentiability::required_env(cx, f, &given.env, args);
    register_for(cx, f, of, &mut |cx, original| {
        type_context::with_env(cx, env.clone(), |cx| {
            let (names, _) = parameters(&signature::signature(cx, original.function));
            let before = cx.sink.diagnostics.len();
            let mut wrt = differentiability::wrt_flags(cx, args, &names, &original.params, original.has_self);
            if cx.sink.diagnostics.len() > before {
                return Err(RegistrationMismatch::Reported);
            }
            if args.wrt.is_none() && original.has_self && given.self_type.is_some() {
                // A method transposes its arguments; a function that also transposes `self` is static.
                wrt[0] = false;
            }
            let (_, types) = parameters(&given);
            let others = original.params.iter().zip(&wrt).filter(|(_, w)| !**w).map(|(t, _)| t);
            let wanted: Vec<Type> = others.chain([&original.result]).cloned().collect();
            let varied: Vec<Type> =
                original.params.iter().zip(&wrt).filter(|(_, w)| **w).map(|(t, _)| t.clone()).collect();
            if let Some(problem) = not_transposable(cx, f, original, args, &wrt, span) {
                return Err(RegistrationMismatch::Types(Box::new(problem)));
            }
            if let Some(requirement) = derivative_constraints::unmet_of(cx, original) {
                return Err(RegistrationMismatch::Unmet(original.function, requirement));
            }
            let same = |cx: &mut TypeContext, a: &Type, b: &Type| {
                unlabeled(&associated_type::normalize_type(cx, a)) == unlabeled(b)
            };
            let fits = types.len() == wanted.len()
                && types.iter().zip(&wanted).all(|(a, b)| same(cx, a, b))
                && same(cx, &given.result, &together(&varied));
            if !fits {
                let problem = misfitting_transpose(cx, original, &wanted, &varied, span);
                return Err(RegistrationMismatch::Types(Box::new(problem)));
            }
            let differs = args.differs.is_some();
            let visible_in = visibility(cx, f);
            let new = Registered { differs, visible_in, ..original.registered(f, wrt, RegisteredKind::Transpose) };
            remember(cx, new, original, span);
            Ok(())
        })
    });
}

/// Returns the diagnostic if a transposed function does not map between vector spaces, whose types are their own
/// tangent vectors.
fn not_transposable(
    cx: &mut TypeContext,
    f: FunctionId,
    original: &Original,
    args: &DifferentiationArgs,
    wrt: &[bool],
    span: Span,
) -> Option<Diagnostic> {
    // Without `wrt:`, the result of the transpose shows whether the transpose is with respect to all parameters.
    let given = match &signature::signature(cx, f).result {
        Type::Tuple(parts) => parts.len(),
        _ => 1,
    };
    let all = args.wrt.is_none() && !original.has_self && given == original.params.len();
    let varied = original.params.iter().zip(wrt).filter(|(_, w)| all || **w).map(|(t, _)| ("parameter", t));
    for (what, ty) in varied.chain([("result", &original.result)]) {
        if !is_vector_space(cx, ty) {
            let text = display::show(cx, ty);
            let message = format!(
                "cannot transpose with respect to original {what} '{text}' that does not conform to 'Differentiable' and satisfy '{text} == {text}.TangentVector'"
            );
            return Some(Diagnostic::error(Code::Registration, span, message));
        }
    }
    None
}

/// Whether a type is its own tangent vector.
fn is_vector_space(cx: &mut TypeContext, ty: &Type) -> bool {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let ty = associated_type::normalize_type(cx, ty);
    if matches!(ty, Type::Function(_)) || !conformances::conforms_to(cx, &ty, differentiable) {
        return false;
    }
    let vector = Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into());
    associated_type::normalize_type(cx, &vector) == ty
}

fn misfitting_transpose(
    cx: &TypeContext,
    original: &Original,
    takes: &[Type],
    gives: &[Type],
    span: Span,
) -> Diagnostic {
    let name = &cx.defs.function_data(original.function).base_name;
    let takes = takes.iter().map(|t| display::show(cx, t)).collect::<Vec<_>>().join(", ");
    let expected = format!("({takes}) -> {}", display::show(cx, &together(gives)));
    Diagnostic::error(
        Code::Registration,
        span,
        format!("the transpose of '{name}' does not have expected type '{expected}'"),
    )
    .note(
        "a transpose takes the parameters that are not transposed, then a value of the result's type, and \
                   returns the transposed values",
    )
}

/// Returns the only file in which a registered function applies, if it is private.
fn visibility(cx: &TypeContext, f: FunctionId) -> Option<u32> {
    let data = cx.defs.function_data(f);
    let is_private = data.decl.as_ref().is_some_and(|d| d.has("private") || d.has("fileprivate"))
        || data.group.is_some_and(|g| cx.defs.groups[g.0 as usize].is_private);
    is_private.then_some(data.file)
}

/// Adds a registered function to the entry of its original.
pub(crate) fn remember(cx: &mut TypeContext, new: Registered, original: &Original, span: Span) {
    let (f, kind) = (new.function, new.kind);
    if original.changed.contains(&true) && matches!(kind, RegisteredKind::Transpose | RegisteredKind::Adjoint) {
        let name = &cx.defs.function_data(original.function).base_name;
        let what = if kind == RegisteredKind::Adjoint { "adjoint" } else { "transpose" };
        let message = format!("cannot register {what} for '{name}', which modifies its arguments");
        let note = format!(
            "the {what} describes only the result; use '@derivative(of:)', which also covers modified arguments"
        );
        cx.sink.report(Diagnostic::error(Code::Registration, span, message).note(note));
        return;
    }
    let clashes = |r: &Registered| {
        r.wrt == new.wrt
            && r.arguments.len() == new.arguments.len()
            && r.visible_in == new.visible_in
            && r.kind.mode() == new.kind.mode()
            && requires_the_same(cx, r.function, f)
    };
    let data = cx.defs.function_data(original.function);
    if let Some(other) = data.registered.iter().find(|r| clashes(r)) {
        let what = if kind == RegisteredKind::Transpose { "transpose" } else { "derivative" };
        let message = format!("a {what} already exists for '{}'", data.base_name);
        let at = cx.defs.function_data(other.function).span;
        cx.sink.report(Diagnostic::error(Code::Registration, span, message).also(at, "registered here"));
        return;
    }
    if !matches!(kind, RegisteredKind::Adjoint | RegisteredKind::Transpose) {
        check_level(cx, f, original.function, span);
    }
    cx.defs.has_private_rules |= new.visible_in.is_some();
    cx.defs.registers_for_requirements |= cx.defs.function_data(original.function).requirement.is_some();
    let data = &mut cx.defs.functions[original.function.0 as usize];
    data.registered.push(new);
    // The most specific derivative comes first: the derivative with the fewest parameters.
    data.registered.sort_by_key(|r| r.wrt.iter().filter(|w| **w).count());
}

/// Whether two registered functions have the same requirements on their generic parameters.
fn requires_the_same(cx: &TypeContext, a: FunctionId, b: FunctionId) -> bool {
    let of = |f: FunctionId| cx.defs.function_data(f).memo.signature.as_ref().map(|s| s.env.requirements.len());
    cx.defs.function_data(a).owner == cx.defs.function_data(b).owner && of(a) == of(b)
}

/// Checks that a derivative is not more accessible than its original.
fn check_level(cx: &mut TypeContext, f: FunctionId, original: FunctionId, span: Span) {
    let (new, old) = (cx.defs.function_data(f), cx.defs.function_data(original));
    if old.is_prelude || new.owner != old.owner {
        return;
    }
    let levels = [new, old].map(|data| level(data.decl.as_deref()));
    if LEVELS.iter().position(|l| *l == levels[0]) <= LEVELS.iter().position(|l| *l == levels[1]) {
        return;
    }
    let (name, other) = (&new.base_name, &old.base_name);
    let message = format!(
        "derivative function must have same access level as original function; derivative function '{name}' is {}, but original function '{other}' is {}",
        levels[0], levels[1]
    );
    let at = new.span;
    cx.sink.report(
        Diagnostic::error(Code::Registration, span, message)
            .also(at, "the derivative is declared here")
            .help(format!("mark the derivative function as '{}' to match the original function", levels[1])),
    );
}

/// The access levels, from the most restrictive one.
const LEVELS: [&str; 4] = ["private", "fileprivate", "internal", "public"];

/// Returns the declared access level of a declaration.
fn level(decl: Option<&Decl>) -> &'static str {
    let written = |word: &str| decl.is_some_and(|d| d.has(word));
    match () {
        () if written("private") => "private",
        () if written("fileprivate") => "fileprivate",
        () if written("public") || written("open") || written("package") => "public",
        () => "internal",
    }
}
