//! Signatures: the types of functions, computed on demand.

use crate::diagnostic::Code as DiagnosticCode;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::Attribute;
use crate::syntax::ast::AttributeArgs;
use crate::syntax::ast::{Param, TypeExpr, TypeExprKind};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::generic_env;
use crate::types::generics::implied_requirements;
use crate::types::generics::omitted_arguments::omits_arguments;
use crate::types::generics::opaque_type;
use crate::types::model::declaration_tables::Observed;
use crate::types::model::declaration_tables::{
    Code, Env, FunctionData, FunctionKind, Owner, Requirement, Signature, SignatureParam, blank_function,
};
use crate::types::model::queries;
use crate::types::model::syntax_query::closure_of;
use crate::types::model::syntax_query::is_implicitly_unwrapped;
use crate::types::model::syntax_walk::is_literal;
use crate::types::model::ty::{FunctionParam, FunctionType, Strength, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::function_type;
use crate::types::names::name_lookup;
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

/// Returns the generic environment that encloses a function, without the function's own parameters.
pub(crate) fn function_outer_env(cx: &mut TypeContext, f: FunctionId) -> Rc<Env> {
    let data = cx.defs.function_data(f);
    if let Some(outer) = &data.outer {
        return outer.clone();
    }
    match data.group {
        Some(group) => generic_env::group_env(cx, group),
        None => Rc::default(),
    }
}

/// Returns the type of a function that computes a value of the given type.
fn deferred(result: Type) -> Type {
    Type::Function(Rc::new(FunctionType { params: vec![], result, throws: false, strength: Strength::Open }))
}

/// The parts of a function's declaration from which its signature is determined.
struct Declaration {
    f: FunctionId,
    owner: Owner,
    kind: FunctionKind,
    params: Rc<[Param]>,
    result: Option<Rc<TypeExpr>>,
    /// The value that an accessor or an observer observes.
    observed: Option<Observed>,
    throws: bool,
    rethrows: bool,
    is_static: bool,
    is_mutating: bool,
    is_prelude: bool,
    /// Whether the body is an expression, whose type may be the type of the result.
    is_expression: bool,
    is_operator: bool,
    /// The scope of the types in the declaration.
    scope: TypeScope,
}

/// Returns the signature of a function.
pub(crate) fn signature(cx: &mut TypeContext, f: FunctionId) -> Rc<Signature> {
    if let Some(signature) = &cx.defs.function_data(f).memo.signature {
        return signature.clone();
    }
    crate::cancel::check();
    let outer = function_outer_env(cx, f);
    let declaration = Declaration::of(cx, f);
    let env = declaration.env(cx, &outer);
    let (params, self_type, completes_result, result, env) = type_context::with_env(cx, Rc::new(env), |cx| {
        let params = declaration.params.iter().map(|param| declaration.param(cx, param)).collect();
        let self_type = declaration.own_type(cx);
        let completes_result = declaration.completes_result(cx);
        let result = match completes_result {
            true => Type::Error,
            false => declaration.result(cx, self_type.as_ref()),
        };
        (params, self_type, completes_result, result, cx.scope.env.clone())
    });
    let mut signature = declaration.with_self(cx, self_type, Signature { params, ..plain_signature(env, result) });
    declaration.add_defaults(cx, &mut signature);
    queries::note_open_defaults(cx, f, &signature, outer.params.len());
    let signature = Rc::new(signature);
    cx.defs.functions[f.0 as usize].memo.signature = Some(signature.clone());
    match declaration.result {
        None if declaration.is_expression => infer_formula_result(cx, f, &signature),
        _ if completes_result => complete_result(cx, f, &signature),
        _ => signature,
    }
}

impl Declaration {
    fn of(cx: &TypeContext, f: FunctionId) -> Declaration {
        let data = cx.defs.function_data(f);
        let locals = data.local_types.clone().unwrap_or_default();
        Declaration {
            f,
            owner: data.owner,
            kind: data.kind,
            params: data.ast_params.clone(),
            result: data.ast_result.clone(),
            observed: data.observed,
            throws: data.throws,
            rethrows: data.rethrows,
            is_static: data.is_static,
            is_mutating: data.is_mutating,
            is_prelude: data.is_prelude,
            is_expression: matches!(data.code, Code::Expression(_)),
            is_operator: crate::types::model::syntax_query::is_operator(&data.base_name),
            scope: TypeScope { locals, ..TypeScope::of(data.owner, data.file) },
        }
    }

    /// Returns the generic environment of the function.
    fn env(&self, cx: &mut TypeContext, outer: &Env) -> Env {
        let generics = cx.defs.function_data(self.f).generics.clone();
        let mut env = outer.clone();
        for (name, _) in &generics.params {
            let param = cx.defs.new_param(&name.name);
            env.params.push(param);
        }
        let (params, result) = (&self.params, self.result.as_deref());
        implied_requirements::add_implied(cx, &mut env, outer.params.len(), params, result, &self.scope);
        let implied = Rc::new(env.clone());
        type_context::with_env(cx, implied, |cx| generic_env::add_generics(cx, &mut env, &generics, &self.scope));
        if !self.is_prelude {
            implied_requirements::add_implied_of_members(cx, &mut env, params, result, &self.scope);
        }
        env
    }

    /// Returns a parameter, without its default value.
    fn param(&self, cx: &mut TypeContext, param: &Param) -> SignatureParam {
        refuse_wrapped_param(cx, param);
        let mut ty = self.param_type(cx, param);
        if is_implicitly_unwrapped(param.ty.as_ref()) {
            cx.defs.unwrapping.insert(param.name.span);
        }
        if let Some(written) = param.ty.as_ref().filter(|_| !self.is_prelude) {
            function_type::check_of_functions(cx, &param.attributes, &ty, written.span);
            function_type::check_no_derivative(cx, &param.attributes);
        }
        if self.rethrows && !self.throws {
            ty = crate::types::conform::rethrowing_function::throwing(&ty, false);
        }
        if param.variadic {
            ty = name_lookup::applied(cx, "Array", &[ty]);
        }
        let autoclosure = is_autoclosure(param);
        // A deferred wrapped value has the type of the property.
        if autoclosure && self.observed.is_some() && !matches!(ty, Type::Function(_)) {
            ty = deferred(ty);
        }
        let label = param.label.as_ref().map(|l| l.name.clone());
        SignatureParam {
            // Operators have no labels.
            label: label.filter(|_| !self.is_operator),
            name: param.name.name.clone(),
            ty,
            is_inout: param.is_inout,
            variadic: param.variadic,
            autoclosure,
            default: None,
            span: param.name.span,
        }
    }

    /// Returns the declared type of a parameter.
    fn param_type(&self, cx: &mut TypeContext, param: &Param) -> Type {
        match (&param.ty, self.observed) {
            (Some(ty), Some(observed)) if omits_arguments(cx, ty, &self.scope) => observed_type(cx, observed),
            (Some(ty), _) => function_type::resolve_attributed(cx, &param.attributes, ty, &self.scope),
            (None, Some(observed)) => observed_type(cx, observed),
            // Formulas and functions of a program may omit parameter types.
            (None, None) => name_lookup::simple(cx, "Double"),
        }
    }

    /// Returns the type to which the function belongs.
    fn own_type(&self, cx: &mut TypeContext) -> Option<Type> {
        match self.owner {
            Owner::Nominal(n) => Some(cx.defs.declared_type(n)),
            Owner::Protocol(p) => Some(Type::Param(cx.defs.protocol_data(p).self_param)),
            Owner::Module => None,
        }
    }

    /// Whether the written type of the result omits generic arguments, which the body determines.
    fn completes_result(&self, cx: &mut TypeContext) -> bool {
        match &self.result {
            Some(written) => self.is_expression && omits_arguments(cx, written, &self.scope),
            None => false,
        }
    }

    /// Returns the declared type of the result.
    fn result(&self, cx: &mut TypeContext, own: Option<&Type>) -> Type {
        let of_observed = |cx: &mut TypeContext| self.observed.map_or(Type::Error, |of| observed_type(cx, of));
        match (self.kind, &self.result) {
            (FunctionKind::Init { failable }, _) => {
                let own = own.cloned().unwrap_or(Type::Error);
                if failable { name_lookup::applied(cx, "Optional", &[own]) } else { own }
            }
            (FunctionKind::Getter, Some(ty)) if self.observed.is_some() && omits_arguments(cx, ty, &self.scope) => {
                of_observed(cx)
            }
            (_, Some(ty)) => opaque_type::resolve_result(cx, self.f, ty, &self.scope),
            (FunctionKind::Getter, None) => of_observed(cx),
            (_, None) => Type::unit(),
        }
    }

    /// Adds `self` to a signature, given the type to which the function belongs.
    fn with_self(&self, cx: &mut TypeContext, own: Option<Type>, signature: Signature) -> Signature {
        let is_class = match self.owner {
            Owner::Nominal(n) => superclass::is_class(cx, n),
            Owner::Module | Owner::Protocol(_) => false,
        };
        let of_type = belongs_to_type(cx, self.f);
        let has_self =
            own.is_some() && !self.is_static && (is_class || !matches!(self.kind, FunctionKind::Init { .. }));
        let self_type = match of_type {
            true => own.map(|own| Type::Metatype(Rc::new(own))),
            false => own.filter(|_| has_self),
        };
        let may_modify = has_self && !of_type && self.is_mutating && !is_class;
        let self_inout = may_modify && !is_class_bound(cx, self.owner, &signature.env);
        Signature { self_type, self_inout, throws: self.throws, ..signature }
    }

    /// Declares the functions that compute the default values of parameters.
    fn add_defaults(&self, cx: &mut TypeContext, signature: &mut Signature) {
        for (param, declared) in signature.params.iter_mut().zip(self.params.iter()) {
            let Some(value) = &declared.default else { continue };
            let name = format!("default argument of {}", declared.name.name);
            let mut data = blank_function(&name.into(), value.span, self.scope.file, self.is_prelude);
            data.owner = self.owner;
            data.is_static = true;
            data.local_types = cx.defs.function_data(self.f).local_types.clone();
            // The default value is wrapped in a closure, as an argument would be.
            let value = match param.autoclosure {
                true => closure_of(&[], value.clone(), value.span),
                false => value.clone(),
            };
            // A default value that does not depend on the generic arguments is not generic.
            let names_param = |t: &Type| matches!(t, Type::Param(_));
            let is_fixed = is_literal(&value) && !param.ty.any(&mut |t| names_param(t));
            let outer = if is_fixed { Rc::default() } else { signature.env.clone() };
            data.code = Code::Expression(Rc::new(value));
            data.outer = Some(outer.clone());
            data.memo.signature = Some(Rc::new(plain_signature(outer, param.ty.clone())));
            param.default = Some(cx.defs.add_function(data));
        }
    }
}

/// Whether an argument becomes a closure: the attribute may belong to the parameter or to its type.
fn is_autoclosure(param: &Param) -> bool {
    let has = |attributes: &[Attribute]| attributes.iter().any(|a| &*a.name.name == "autoclosure");
    let of_type = match param.ty.as_ref().map(|ty| &ty.kind) {
        Some(TypeExprKind::Attributed(attributes, _)) => has(attributes),
        _ => false,
    };
    has(&param.attributes) || of_type
}

/// Determines the generic arguments that the declared type of a property omits from the initial value.
fn complete_result(cx: &mut TypeContext, f: FunctionId, signature: &Rc<Signature>) -> Rc<Signature> {
    let result = queries::check_expression_type(cx, f).unwrap_or(Type::Error);
    let known = Rc::new(Signature { result, ..(**signature).clone() });
    cx.defs.functions[f.0 as usize].memo.signature = Some(known.clone());
    known
}

/// Whether the `self` of a member of a protocol is an instance of a class.
fn is_class_bound(cx: &mut TypeContext, owner: Owner, env: &Env) -> bool {
    let Owner::Protocol(p) = owner else { return false };
    let own = Type::Param(cx.defs.protocol_data(p).self_param);
    let object = name_lookup::protocol(cx, "AnyObject");
    let requires = |r: &Requirement, cx: &mut TypeContext| match r {
        Requirement::Conforms(of, q) => *of == own && conformances::refined(cx, *q).contains(&object),
        Requirement::Superclass(of, _) => *of == own,
        Requirement::Same(..) => false,
    };
    conformances::refined(cx, p).contains(&object) || env.requirements.iter().any(|r| requires(r, cx))
}

/// Whether the `self` of a function is a type that may be known only at run time, as for the static members of classes
/// and protocols.
pub(crate) fn belongs_to_type(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    let may_vary = match data.owner {
        Owner::Protocol(_) => true,
        Owner::Nominal(n) => superclass::is_class(cx, n),
        Owner::Module => false,
    };
    let is_static = match data.kind {
        FunctionKind::Init { .. } => data.requirement.is_some(),
        FunctionKind::Function | FunctionKind::Getter | FunctionKind::Setter => {
            data.is_static && !crate::types::model::syntax_query::is_operator(&data.base_name)
        }
        FunctionKind::Closure | FunctionKind::Script | FunctionKind::Test => false,
    };
    let is_member = data.outer.is_none() && data.observed.is_none();
    let is_written = !data.is_prelude && data.decl.is_some() && is_member;
    may_vary && is_static && is_written && data.primitive.is_none() && !stands_for_operator_or_initializer(data)
}

/// Infers the result type of a formula from its body; recursive calls in the body are assumed to return `Double`.
fn infer_formula_result(cx: &mut TypeContext, f: FunctionId, signature: &Rc<Signature>) -> Rc<Signature> {
    let double = name_lookup::simple(cx, "Double");
    let assumed = Rc::new(Signature { result: double.clone(), ..(**signature).clone() });
    cx.defs.functions[f.0 as usize].memo.signature = Some(assumed);
    cx.defs.functions[f.0 as usize].memo.resolving = true;
    let result = queries::check_formula(cx, f).unwrap_or(double);
    cx.defs.functions[f.0 as usize].memo.resolving = false;
    let known = Rc::new(Signature { result, ..(**signature).clone() });
    cx.defs.functions[f.0 as usize].memo.signature = Some(known.clone());
    known
}

/// Returns the type of a function declaration as a value, without `self`.
pub(crate) fn function_type(signature: &Signature) -> Type {
    let params = signature.params.iter().map(|p| FunctionParam {
        ty: p.ty.clone(),
        is_inout: p.is_inout,
        no_derivative: false,
        autoclosure: p.autoclosure,
    });
    Type::Function(Rc::new(FunctionType {
        params: params.collect(),
        result: signature.result.clone(),
        throws: signature.throws,
        strength: Strength::Open,
    }))
}

/// Creates the signature of a function without parameters.
pub(crate) fn plain_signature(env: Rc<Env>, result: Type) -> Signature {
    Signature { env, params: vec![], self_type: None, self_inout: false, result, throws: false }
}

/// Whether a function is the derivative or transpose of an operator or of a class initializer: such a function has the
/// parameters of the original, and no `self`.
fn stands_for_operator_or_initializer(data: &FunctionData) -> bool {
    let Some(decl) = &data.decl else { return false };
    let is_in_class = matches!(data.owner, Owner::Nominal(_));
    decl.attributes.iter().any(|attribute| match &attribute.args {
        AttributeArgs::Differentiation(args) => args.of.as_ref().is_some_and(|of| {
            crate::types::model::syntax_query::is_operator(&of.name.name) || is_in_class && &*of.name.name == "init"
        }),
        AttributeArgs::None | AttributeArgs::Text(_) => false,
    })
}

/// Returns the type of the value that an observer observes.
pub(crate) fn observed_type(cx: &mut TypeContext, observed: Observed) -> Type {
    match observed {
        Observed::Stored(n, index) => queries::stored_type(cx, n, index),
        Observed::Global(g) => queries::global_type(cx, g),
        Observed::Result(f) => signature(cx, f).result.clone(),
    }
}

/// Reports a wrapper on a parameter that is `inout` or variadic.
pub(crate) fn refuse_wrapped_param(cx: &mut TypeContext, param: &Param) {
    let kind = match param {
        Param { is_inout: true, .. } => "an 'inout'",
        Param { variadic: true, .. } => "a variadic",
        _ => return,
    };
    let is_wrapper = |a: &&Attribute| cx.defs.wrappers.contains_key(&*a.name.name);
    if let Some(attribute) = param.attributes.iter().find(is_wrapper) {
        let message = format!("a property wrapper cannot be applied to {kind} parameter");
        let diagnostic = Diagnostic::error(DiagnosticCode::WrongContext, attribute.span, message);
        let (wrapper, name) = (&attribute.name.name, &param.name.name);
        cx.sink.report(diagnostic.help(format!("wrap a local variable instead: '@{wrapper} var wrapped = {name}'")));
    }
}
