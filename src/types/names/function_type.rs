//! Function types: resolves the syntax of function types, and checks that their parameters and results satisfy
//! `@differentiable`.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Attribute, AttributeArgs, DifferentiationArgs, FunctionTypeParam, TypeExpr, TypeExprKind};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::model::display;
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::names::type_expr::{TypeScope, differentiable_attribute};
use std::rc::Rc;

/// The kinds of differentiability of a declaration, and those of a function type.
pub(crate) const KINDS: &[&str] = &["reverse", "forward", "linear", "default"];
const KINDS_OF_TYPES: &[&str] = &["reverse", "forward", "linear"];

pub(crate) fn resolve_function_type(
    cx: &mut TypeContext,
    params: &[FunctionTypeParam],
    result: &TypeExpr,
    throws: bool,
    attributes: &[Attribute],
    scope: &TypeScope,
) -> Type {
    let strength = match differentiable_attribute(attributes) {
        None if attributes.iter().any(is_convention_of_c) => Strength::C,
        None => Strength::Plain,
        Some(false) => Strength::Differentiable,
        Some(true) => Strength::Linear,
    };
    let unknown = |attribute: &Attribute| match &attribute.args {
        AttributeArgs::Differentiation(args) => unknown_kind(args, KINDS_OF_TYPES),
        AttributeArgs::Text(_) | AttributeArgs::None => None,
    };
    attributes.iter().filter_map(unknown).for_each(|problem| cx.sink.report(problem));
    let mut resolved: Vec<FunctionParam> = vec![];
    for param in params {
        let marked = |name: &str| param.attributes.iter().find(|a| &*a.name.name == name);
        let no_derivative = marked("noDerivative");
        let ty = resolve_attributed(cx, &param.attributes, &param.ty, scope);
        if strength <= Strength::Plain {
            check_no_derivative(cx, &param.attributes);
        }
        if strength >= Strength::Differentiable && no_derivative.is_none() {
            check_differentiable_type(cx, &ty, strength, true, param.ty.span);
        }
        check_of_functions(cx, &param.attributes, &ty, param.ty.span);
        let autoclosure = marked("autoclosure").is_some();
        let no_derivative = no_derivative.is_some();
        resolved.push(FunctionParam { ty, is_inout: param.is_inout, no_derivative, autoclosure });
    }
    let span = result.span;
    let result = type_expr::resolve_type(cx, result, scope);
    if let Some(attribute) = attributes.iter().find(|_| strength >= Strength::Differentiable)
        && resolved.is_empty()
    {
        let message = "'@differentiable' function type requires at least one differentiability parameter";
        cx.sink.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
    }
    let gives_nothing = result.is_unit() && !resolved.iter().any(|p| p.is_inout);
    if strength >= Strength::Differentiable {
        match gives_nothing {
            true => not_differentiable_declaration(cx, &result, "'Differentiable'", "@differentiable", false, span),
            false => check_differentiable_type(cx, &result, strength, false, span),
        }
    }
    Type::Function(Rc::new(FunctionType { params: resolved, result, throws, strength }))
}

/// Returns the diagnostic for a `@differentiable` attribute that names a kind other than the known ones.
pub(crate) fn unknown_kind(args: &DifferentiationArgs, known: &[&str]) -> Option<Diagnostic> {
    let kind = args.kind.as_ref().filter(|k| !known.contains(&&*k.name))?;
    let message = format!("'{}' is not a kind of differentiability", kind.name);
    let known = known.iter().map(|k| format!("'{k}'")).collect::<Vec<_>>().join(", ");
    Some(Diagnostic::error(Code::WithRespectTo, kind.span, message).note(format!("the kinds are {known}")))
}

/// Reports `@noDerivative` at a parameter that does not belong to a `@differentiable` function type.
pub(crate) fn check_no_derivative(cx: &mut TypeContext, attributes: &[Attribute]) {
    if let Some(attribute) = attributes.iter().find(|a| &*a.name.name == "noDerivative") {
        let message = "'@noDerivative' may only be used on parameters of '@differentiable' function types";
        cx.sink.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
    }
}

/// Resolves a type preceded by attributes that the parser did not make part of a function type.
pub(crate) fn resolve_attributed(
    cx: &mut TypeContext,
    attributes: &[Attribute],
    inner: &TypeExpr,
    scope: &TypeScope,
) -> Type {
    let Some(attribute) = attributes.iter().find(|a| &*a.name.name == "differentiable") else {
        return type_expr::resolve_type(cx, inner, scope);
    };
    if let TypeExprKind::Function { params, result, throws, attributes: inside } = &inner.kind {
        let all: Vec<Attribute> = attributes.iter().chain(inside).cloned().collect();
        return resolve_function_type(cx, params, result, *throws, &all, scope);
    }
    let ty = type_expr::resolve_type(cx, inner, scope);
    if ty != Type::Error {
        let message = "'@differentiable' attribute only applies to function types";
        cx.sink.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
    }
    ty
}

/// Checks that `@escaping` and `@autoclosure` apply to a function type.
pub(crate) fn check_of_functions(cx: &mut TypeContext, attributes: &[Attribute], ty: &Type, written: Span) {
    let of_functions = |a: &&Attribute| matches!(&*a.name.name, "escaping" | "autoclosure");
    let Some(attribute) = attributes.iter().find(of_functions) else { return };
    if matches!(unification::shallow(cx, ty), Type::Function(_) | Type::Error | Type::Var(_)) {
        return;
    }
    let message = format!("'@{}' attribute only applies to function types", attribute.name.name);
    let diagnostic = Diagnostic::error(Code::WrongContext, attribute.span, message);
    let before = Span::new(attribute.span.start, written.start.max(attribute.span.end));
    cx.sink.report(diagnostic.fix("remove it", before, ""));
}

/// Checks that a parameter or result type of a differentiable function type conforms to `Differentiable`, and, for a
/// linear function type, that the parameter or result type is its own tangent vector type.
fn check_differentiable_type(cx: &mut TypeContext, ty: &Type, strength: Strength, is_parameter: bool, span: Span) {
    let differentiable = name_lookup::protocol(cx, "Differentiable");
    let mut what = "'Differentiable'".to_string();
    let mut fits = conformances::conforms_to(cx, ty, differentiable);
    let mut attribute = "@differentiable";
    if strength == Strength::Linear {
        let vector = associated_type::normalize_type(
            cx,
            &Type::Associated(Rc::new(ty.clone()), differentiable, "TangentVector".into()),
        );
        fits &= associated_type::normalize_type(cx, ty) == vector || matches!(ty, Type::Function(_) | Type::Error);
        what = format!("'Differentiable' and satisfy '{0} == {0}.TangentVector'", display::show(cx, ty));
        attribute = "@differentiable(linear)";
    }
    if !fits {
        not_differentiable_declaration(cx, ty, &what, attribute, is_parameter, span);
    }
}

fn not_differentiable_declaration(
    cx: &mut TypeContext,
    ty: &Type,
    what: &str,
    attribute: &str,
    is_parameter: bool,
    span: Span,
) {
    let part = if is_parameter { "parameter" } else { "result" };
    let text = display::show(cx, ty);
    let question = if is_parameter { "; did you want to add '@noDerivative' to this parameter?" } else { "" };
    let message = format!(
        "{part} type '{text}' does not conform to {what}, but the enclosing function type is '{attribute}'{question}"
    );
    let mut diagnostic = Diagnostic::error(Code::NotConforming, span, message);
    if is_parameter {
        diagnostic = diagnostic.fix("exclude it from differentiation", span.before(), "@noDerivative ");
    }
    cx.sink.report(diagnostic);
}

/// Whether an attribute is `@convention(c)`.
fn is_convention_of_c(attribute: &Attribute) -> bool {
    let text = match &attribute.args {
        AttributeArgs::Text(text) => text.trim_matches(['(', ')', ' ']),
        AttributeArgs::None | AttributeArgs::Differentiation(_) => "",
    };
    &*attribute.name.name == "convention" && text.split(',').next().is_some_and(|name| name.trim() == "c")
}
