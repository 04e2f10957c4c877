//! Differentiability: the meaning of `@differentiable` on a declaration, and checks that the declaration permits it.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Attribute, Decl, DifferentiationArgs, Name, WrtKind, WrtParam};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::conform::witness;
use crate::types::derivative::inherited_derivative;
use crate::types::derivative::registered_derivatives;
use crate::types::generics::generic_env;
use crate::types::generics::signature;
use crate::types::model::declaration_tables::{Env, FunctionKind, Owner, Signature};
use crate::types::model::differentiability::Differentiability;
use crate::types::model::display;
use crate::types::model::syntax_query;
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, FunctionRef};
use crate::types::names::function_type;
use crate::types::names::name_lookup;
use crate::types::names::type_expr::TypeScope;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// A witness of a `@differentiable` requirement, with the differentiability that it must have.
pub struct DifferentiableWitness {
    /// The function that is the witness. The generic arguments of a default implementation specify one conforming type.
    pub witness: FunctionRef,
    /// The differentiability of the requirement.
    pub differentiability: Rc<Differentiability>,
    /// The source location of the requirement.
    pub requirement: Span,
}

/// Returns the differentiability that the `@differentiable` attribute of a function states, which is computed once.
pub(crate) fn differentiability(cx: &mut TypeContext, f: FunctionId) -> Option<Rc<Differentiability>> {
    if let Some(known) = &cx.defs.function_data(f).memo.differentiability {
        return known.clone();
    }
    cx.defs.functions[f.0 as usize].memo.differentiability = Some(None);
    let differentiability = read_attribute(cx, f).map(Rc::new);
    cx.defs.functions[f.0 as usize].memo.differentiability = Some(differentiability.clone());
    differentiability
}

fn read_attribute(cx: &mut TypeContext, f: FunctionId) -> Option<Differentiability> {
    let data = cx.defs.function_data(f);
    let (kind, is_requirement, is_prelude) = (data.kind, data.requirement.is_some(), data.is_prelude);
    // The attribute of a computed property applies to its getter, not to its setter.
    let decl = data.decl.clone().filter(|_| kind != FunctionKind::Setter)?;
    let attribute = decl.attribute("differentiable")?;
    let args = syntax_query::differentiation(attribute);
    let signature = signature::signature(cx, f);
    let env = required_env(cx, f, &signature.env, &args);
    let wrt = type_context::with_env(cx, env, |cx| {
        let (names, types) = parameters(&signature);
        let wrt = wrt_flags(cx, &args, &names, &types, signature.self_type.is_some());
        if !is_prelude {
            if is_requirement && !args.requirements.is_empty() {
                let message = "'@differentiable' attribute on protocol requirement cannot specify 'where' clause";
                cx.sink.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
            }
            if let Some(problem) = impossible(cx, f, &signature, &args, &wrt, attribute.span) {
                cx.sink.report(problem);
            }
        }
        wrt
    });
    if !is_prelude {
        check_further_attributes(cx, f, &decl, &signature);
    }
    let is = |word: &str| args.kind.as_ref().is_some_and(|k| &*k.name == word);
    Some(Differentiability { wrt, linear: is("linear"), default: is("default") })
}

/// Checks that the `@differentiable` attributes of a declaration differ in their parameters.
fn check_further_attributes(cx: &mut TypeContext, f: FunctionId, decl: &Decl, signature: &Signature) {
    let mut reported: Vec<Vec<bool>> = vec![];
    for attribute in decl.attributes.iter().filter(|a| &*a.name.name == "differentiable") {
        let args = syntax_query::differentiation(attribute);
        let env = required_env(cx, f, &signature.env, &args);
        let wrt = type_context::with_env(cx, env, |cx| {
            let (names, types) = parameters(signature);

            wrt_flags(cx, &args, &names, &types, signature.self_type.is_some())
        });
        if reported.contains(&wrt) {
            let message = "duplicate '@differentiable' attribute with same parameters";
            cx.sink.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
        }
        reported.push(wrt);
    }
}

/// Returns the parameters of each `@differentiable` attribute of a declaration.
pub(crate) fn declared_wrt(cx: &mut TypeContext, f: FunctionId) -> Vec<(Span, Vec<bool>)> {
    let Some(decl) = cx.defs.function_data(f).decl.clone() else { return vec![] };
    let signature = signature::signature(cx, f);
    let (names, types) = parameters(&signature);
    let mut all = vec![];
    for attribute in decl.attributes.iter().filter(|a| &*a.name.name == "differentiable") {
        let args = syntax_query::differentiation(attribute);
        let env = required_env(cx, f, &signature.env, &args);
        type_context::with_env(cx, env, |cx| {
            all.push((attribute.span, wrt_flags(cx, &args, &names, &types, signature.self_type.is_some())));
        });
    }
    all
}

/// Checks `@differentiable` on stored properties: both the enclosing type and the type of the property must conform to
/// `Differentiable`.
pub(crate) fn check_differentiable_properties(cx: &mut TypeContext, n: NominalId) {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let env = generic_env::group_env(cx, cx.defs.nominal_data(n).group);
    type_context::with_env(cx, env, |cx| {
        let own = cx.defs.declared_type(n);
        let may_move = is_declared_differentiable(cx, n);
        for i in 0..cx.defs.nominal_data(n).stored.len() {
            let stored = &cx.defs.nominal_data(n).stored[i];
            if let Some(marked) = stored.decl.attribute("noDerivative").filter(|_| !may_move) {
                let message =
                    "'@noDerivative' is only allowed on stored properties of types that conform to 'Differentiable'";
                let span = marked.span;
                cx.sink.report(Diagnostic::error(Code::WithRespectTo, span, message));
                continue;
            }
            let Some(span) = stored.decl.attribute("differentiable").map(|a| a.span) else { continue };
            let ty = stored_property::stored_type(cx, n, i as u32);
            let message = if !conformances::conforms_to(cx, &own, differentiable) {
                with_respect_to(&display::show(cx, &own))
            } else if !conformances::conforms_to(cx, &ty, differentiable) {
                result_does_not_conform(cx, &ty)
            } else {
                continue;
            };
            cx.sink.report(Diagnostic::error(Code::WithRespectTo, span, message));
        }
    });
}

/// Whether a type or one of its superclasses declares conformance to `Differentiable`, possibly a conditional one.
fn is_declared_differentiable(cx: &mut TypeContext, n: NominalId) -> bool {
    let mut class = Some(n);
    while let Some(n) = class {
        if conformances::declares(cx, n, "Differentiable").is_some() {
            return true;
        }
        class = superclass::superclass(cx, n).map(|(base, _)| base);
    }
    false
}

/// Checks that a function marked `@differentiable(default)` satisfies a requirement, or overrides a method, with a
/// registered derivative.
pub(crate) fn check_default_attribute(cx: &mut TypeContext, f: FunctionId) {
    let decl = cx.defs.function_data(f).decl.clone();
    let is_default =
        |a: &&Attribute| syntax_query::differentiation(a).kind.is_some_and(|kind| &*kind.name == "default");
    let attributes = decl.iter().flat_map(|decl| &decl.attributes);
    let Some(attribute) = attributes.filter(|a| &*a.name.name == "differentiable").find(is_default) else {
        return;
    };
    if !inherited_derivative::has_default_derivative(cx, f) {
        let name = cx.defs.function_data(f).base_name.clone();
        let message = format!("'{name}' has no default derivative");
        let diagnostic = Diagnostic::error(Code::WithRespectTo, attribute.span, message);
        cx.sink.report(diagnostic.note(
            "a default derivative is registered with '@derivative(of:)' in a protocol extension, for a requirement \
                 that the function satisfies",
        ));
    }
}

/// Whether the requirements of the `@differentiable` attribute hold for concrete generic arguments.
pub fn attribute_applies(cx: &mut TypeContext, f: FunctionId, generics: &[Type]) -> bool {
    let decl = cx.defs.function_data(f).decl.clone();
    let Some(attribute) = decl.as_ref().and_then(|d| d.attribute("differentiable")) else { return true };
    let env = signature::signature(cx, f).env.clone();
    let env = required_env(cx, f, &env, &syntax_query::differentiation(attribute));
    registered_derivatives::holds(cx, &env.requirements, &env.params, generics)
}

/// Returns the witnesses of `@differentiable` requirements in all types of the program, with the differentiability that
/// each witness must have.
pub fn differentiable_witnesses(cx: &mut TypeContext) -> Vec<DifferentiableWitness> {
    let mut out = vec![];
    for n in 0..cx.defs.nominals.len() as u32 {
        let n = NominalId(n);
        if cx.defs.nominal_data(n).is_prelude {
            continue;
        }
        let own = cx.defs.declared_type(n);
        let conformances: Vec<_> = cx.defs.nominal_data(n).conformances.iter().map(|c| (c.protocol, c.group)).collect();
        for (p, group) in conformances {
            let env = generic_env::group_env(cx, group);
            type_context::with_env(cx, env, |cx| {
                for q in conformances::refined(cx, p).iter() {
                    differentiable_witnesses_of(cx, *q, &own, &mut out);
                }
            });
        }
    }
    out
}

fn differentiable_witnesses_of(cx: &mut TypeContext, p: ProtocolId, own: &Type, out: &mut Vec<DifferentiableWitness>) {
    for r in 0..cx.defs.protocol_data(p).requirements.len() as u32 {
        let function = cx.defs.protocol_data(p).requirements[r as usize].function;
        let Some(differentiability) = self::differentiability(cx, function) else { continue };
        let generics = witness::own_generics(cx, p, r);
        let Some(witness) = witness::find_witness(cx, p, r, own, &generics) else { continue };
        let data = cx.defs.function_data(witness.function);
        if data.is_prelude || data.primitive.is_some() {
            continue;
        }
        let is_open = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Param(_)));
        match data.owner {
            Owner::Nominal(_) => {}
            Owner::Protocol(_) if !witness.generics.iter().any(is_open) => {}
            Owner::Protocol(_) | Owner::Module => continue,
        }
        let requirement = cx.defs.function_data(function).span;
        let wrt = flags_of(cx, &differentiability.wrt, function, witness.function);
        let differentiability = Rc::new(Differentiability { wrt, ..(*differentiability).clone() });
        out.push(DifferentiableWitness { witness, differentiability, requirement });
    }
}

/// Translates the parameter flags of a requirement to a witness; either of them may have an additional `self`.
pub(crate) fn flags_of(cx: &TypeContext, wrt: &[bool], requirement: FunctionId, by: FunctionId) -> Vec<bool> {
    match (signature::belongs_to_type(cx, requirement), signature::belongs_to_type(cx, by)) {
        (true, false) => wrt[1.min(wrt.len())..].to_vec(),
        (false, true) => std::iter::once(false).chain(wrt.iter().copied()).collect(),
        _ => wrt.to_vec(),
    }
}

/// Returns the generic environment of a function, extended by the requirements of an attribute.
pub(crate) fn required_env(cx: &mut TypeContext, f: FunctionId, env: &Rc<Env>, args: &DifferentiationArgs) -> Rc<Env> {
    if args.requirements.is_empty() {
        return env.clone();
    }
    let scope = TypeScope::of(cx.defs.function_data(f).owner, cx.defs.function_data(f).file);
    let mut env = (**env).clone();
    generic_env::add_requirements(cx, &mut env, &args.requirements, &scope);
    Rc::new(env)
}

/// Returns the diagnostic if a function cannot be differentiable as its attribute states.
fn impossible(
    cx: &mut TypeContext,
    f: FunctionId,
    signature: &Signature,
    args: &DifferentiationArgs,
    wrt: &[bool],
    span: Span,
) -> Option<Diagnostic> {
    let name = cx.defs.function_data(f).base_name.clone();
    let error = |span, message: String| Some(Diagnostic::error(Code::WithRespectTo, span, message));
    if let Some(problem) = function_type::unknown_kind(args, function_type::KINDS) {
        return Some(problem);
    }
    if wrt.is_empty() {
        return error(span, format!("'{name}' has no parameters to differentiate with respect to"));
    }
    if args.wrt.as_ref().is_none_or(Vec::is_empty) && !wrt.contains(&true) {
        let message = "no differentiation parameters could be inferred; must differentiate with respect to at least one parameter conforming to 'Differentiable'";
        let empty = args.wrt.as_ref().and_then(|_| empty_parameter_list(cx, span));
        return error(empty.unwrap_or(span), message.into());
    }
    let changes = signature.self_inout || signature.params.iter().any(|p| p.is_inout);
    if signature.result.is_unit() && !changes {
        return error(span, format!("cannot differentiate void function '{name}'"));
    }
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    if !conformances::conforms_to(cx, &signature.result, differentiable) {
        let message = result_does_not_conform(cx, &signature.result);
        return error(span, message);
    }
    None
}

/// Returns the span of `wrt: ()` in an attribute.
fn empty_parameter_list(cx: &TypeContext, attribute: Span) -> Option<Span> {
    let text = cx.sink.source_text(attribute);
    let begin = text.find("wrt").or_else(|| text.find("withRespectTo"))?;
    let end = begin + text[begin..].find(')')? + 1;
    Some(Span::new(attribute.start + begin as u32, attribute.start + end as u32))
}

pub(crate) fn result_does_not_conform(cx: &TypeContext, result: &Type) -> String {
    let result = display::show(cx, result);
    format!(
        "can only differentiate functions with results that conform to 'Differentiable', but '{result}' does not conform to 'Differentiable'"
    )
}

/// Returns flags for the parameters that `wrt:` names, by default all parameters that conform to `Differentiable` in
/// the current generic environment.
pub(crate) fn wrt_flags(
    cx: &mut TypeContext,
    args: &DifferentiationArgs,
    names: &[Name],
    types: &[Type],
    has_self: bool,
) -> Vec<bool> {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let is_function = |t: &Type| matches!(t, Type::Function(_));
    let Some(wrt) = &args.wrt else {
        return types.iter().map(|t| !is_function(t) && conformances::conforms_to(cx, t, differentiable)).collect();
    };
    let mut flags = vec![false; types.len()];
    let mut before = None;
    for param in wrt {
        let Some(i) = wrt_index(cx, param, names, types, has_self) else { continue };
        if before.is_some_and(|b| b >= i) {
            let message = "parameters must be specified in original order";
            cx.sink.report(Diagnostic::error(Code::WithRespectTo, param.span, message));
        }
        before = Some(i);
        if is_function(&types[i]) || !conformances::conforms_to(cx, &types[i], differentiable) {
            let message = with_respect_to(&display::show(cx, &types[i]));
            let mut diagnostic = Diagnostic::error(Code::WithRespectTo, param.span, message);
            let possible = names.iter().zip(&types[usize::from(has_self)..]);
            let possible =
                possible.filter(|(_, t)| !is_function(t) && conformances::conforms_to(cx, t, differentiable));
            let possible: Vec<String> = possible.map(|(name, _)| format!("'{name}'")).collect();
            if !possible.is_empty() {
                diagnostic = diagnostic.help(format!("the function can be differentiated in {}", possible.join(", ")));
            }
            cx.sink.report(diagnostic);
        }
        flags[i] = true;
    }
    flags
}

fn wrt_index(cx: &mut TypeContext, param: &WrtParam, names: &[Name], types: &[Type], has_self: bool) -> Option<usize> {
    let offset = usize::from(has_self);
    let (index, message) = match &param.kind {
        WrtKind::SelfParam if has_self => (Some(0), String::new()),
        WrtKind::SelfParam => (None, "'self' parameter is only applicable to instance methods".into()),
        WrtKind::Name(name) => {
            (names.iter().position(|n| n == name).map(|i| i + offset), format!("unknown parameter name '{name}'"))
        }
        WrtKind::Index(i) => {
            let message = "parameter index is larger than total number of parameters";
            (Some(*i as usize + offset).filter(|i| *i < types.len()), message.into())
        }
    };
    if index.is_none() {
        let mut diagnostic = Diagnostic::error(Code::WithRespectTo, param.span, message);
        if param.kind != WrtKind::SelfParam {
            let known = names.iter().map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
            diagnostic = diagnostic.note(format!("its parameters are {known}"));
        }
        cx.sink.report(diagnostic);
    }
    index
}

fn with_respect_to(ty: &str) -> String {
    format!(
        "can only differentiate with respect to parameters that conform to 'Differentiable', but '{ty}' does not conform to 'Differentiable'"
    )
}

/// Returns the names of the parameters without `self`, and the types of the parameters, `self` first.
pub(crate) fn parameters(signature: &Signature) -> (Vec<Name>, Vec<Type>) {
    let names = signature.params.iter().map(|p| p.name.clone()).collect();
    let types = signature.self_type.iter().cloned().chain(signature.params.iter().map(|p| p.ty.clone())).collect();
    (names, types)
}
