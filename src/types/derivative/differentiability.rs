//! `@differentiable` on a declaration: what it promises, and whether anything can keep it.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Attribute, AttributeArgs, Decl, DifferentiationArgs, Name, WrtKind, WrtParam};
use crate::types::model::tables::{Env, FunctionKind, Owner, Signature, World};
use crate::types::model::tree::{FunctionId, FunctionRef};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use crate::types::names::type_expr::TypeScope;
use std::rc::Rc;

/// What a declaration promises.
#[derive(Clone, PartialEq, Debug)]
pub struct Promise {
    /// With respect to which parameters, `self` first.
    pub wrt: Vec<bool>,
    /// `linear`: its derivative is itself.
    pub linear: bool,
    /// `default`: by the derivative that an extension of its protocol registers.
    pub default: bool,
}

/// A function that fulfils a promised requirement.
pub struct Kept {
    /// The function. A default implementation is meant for one type that conforms.
    pub witness: FunctionRef,
    /// What the requirement promises.
    pub promise: Rc<Promise>,
    /// Where the requirement stands.
    pub requirement: Span,
}

/// The words that say what kind of differentiability is meant.
const KINDS: &[&str] = &["reverse", "forward", "linear", "default"];

impl World {
    /// What `@differentiable` on a function promises.
    pub(crate) fn promise(&mut self, f: FunctionId) -> Option<Rc<Promise>> {
        if let Some(known) = &self.function_data(f).promise {
            return known.clone();
        }
        self.functions[f.0 as usize].promise = Some(None);
        let promise = self.read_promise(f).map(Rc::new);
        self.functions[f.0 as usize].promise = Some(promise.clone());
        promise
    }

    fn read_promise(&mut self, f: FunctionId) -> Option<Promise> {
        let data = self.function_data(f);
        let (kind, is_requirement, is_prelude) = (data.kind, data.requirement.is_some(), data.is_prelude);
        // A setter is promised by what it sets.
        let decl = data.decl.clone().filter(|_| kind != FunctionKind::Setter)?;
        let attribute = decl.attribute("differentiable")?;
        let args = differentiation(attribute);
        let signature = self.signature(f);
        let env = self.required_env(f, &signature.env, &args);
        let saved = std::mem::replace(&mut self.env, env);
        let (names, types) = parameters(&signature);
        let wrt = self.wrt_flags(&args, &names, &types, signature.self_type.is_some());
        if !is_prelude {
            if is_requirement && !args.requirements.is_empty() {
                let message = "'@differentiable' attribute on protocol requirement cannot specify 'where' clause";
                self.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
            }
            if let Some(problem) = self.impossible(f, &signature, &args, &wrt, attribute.span) {
                self.report(problem);
            }
        }
        self.env = saved;
        if !is_prelude {
            self.check_further_promises(f, &decl, &signature);
        }
        let is = |word: &str| args.kind.as_ref().is_some_and(|k| &*k.name == word);
        Some(Promise { wrt, linear: is("linear"), default: is("default") })
    }

    /// The other attributes of a declaration that promise something: each says something new.
    fn check_further_promises(&mut self, f: FunctionId, decl: &Decl, signature: &Signature) {
        let mut said: Vec<Vec<bool>> = vec![];
        for attribute in decl.attributes.iter().filter(|a| &*a.name.name == "differentiable") {
            let args = differentiation(attribute);
            let env = self.required_env(f, &signature.env, &args);
            let saved = std::mem::replace(&mut self.env, env);
            let (names, types) = parameters(signature);
            let wrt = self.wrt_flags(&args, &names, &types, signature.self_type.is_some());
            self.env = saved;
            if said.contains(&wrt) {
                let message = "duplicate '@differentiable' attribute with same parameters";
                self.report(Diagnostic::error(Code::WithRespectTo, attribute.span, message));
            }
            said.push(wrt);
        }
    }

    /// The parameters of each promise that a declaration makes.
    pub(crate) fn promised_parameters(&mut self, f: FunctionId) -> Vec<(Span, Vec<bool>)> {
        let Some(decl) = self.function_data(f).decl.clone() else { return vec![] };
        let signature = self.signature(f);
        let (names, types) = parameters(&signature);
        let mut all = vec![];
        for attribute in decl.attributes.iter().filter(|a| &*a.name.name == "differentiable") {
            let args = differentiation(attribute);
            let env = self.required_env(f, &signature.env, &args);
            let saved = std::mem::replace(&mut self.env, env);
            all.push((attribute.span, self.wrt_flags(&args, &names, &types, signature.self_type.is_some())));
            self.env = saved;
        }
        all
    }

    /// `@differentiable` on what is stored: in a type that moves, and of a type that moves.
    pub(crate) fn check_promised_properties(&mut self, n: NominalId) {
        let differentiable = self.protocol("Differentiable");
        let env = self.group_env(self.nominal_data(n).group);
        let saved = std::mem::replace(&mut self.env, env);
        let own = self.declared_type(n);
        let may_move = self.is_declared_differentiable(n);
        for i in 0..self.nominal_data(n).stored.len() {
            let stored = &self.nominal_data(n).stored[i];
            if let Some(marked) = stored.decl.attribute("noDerivative").filter(|_| !may_move) {
                let message =
                    "'@noDerivative' is only allowed on stored properties of types that conform to 'Differentiable'";
                let span = marked.span;
                self.report(Diagnostic::error(Code::WithRespectTo, span, message));
                continue;
            }
            let Some(span) = stored.decl.attribute("differentiable").map(|a| a.span) else { continue };
            let ty = self.stored_type(n, i as u32);
            let message = if !self.conforms_to(&own, differentiable) {
                with_respect_to(&self.show(&own))
            } else if !self.conforms_to(&ty, differentiable) {
                self.result_does_not_conform(&ty)
            } else {
                continue;
            };
            self.report(Diagnostic::error(Code::WithRespectTo, span, message));
        }
        self.env = saved;
    }

    /// Whether a type, or a class that it inherits from, is declared to be differentiable, if only for some arguments.
    fn is_declared_differentiable(&mut self, n: NominalId) -> bool {
        let mut class = Some(n);
        while let Some(n) = class {
            if self.declares(n, "Differentiable").is_some() {
                return true;
            }
            class = self.superclass(n).map(|(base, _)| base);
        }
        false
    }

    /// `default` speaks of a derivative that is registered for a requirement which the function fulfils.
    pub(crate) fn check_default_promise(&mut self, f: FunctionId) {
        let decl = self.function_data(f).decl.clone();
        let is_default = |a: &&Attribute| differentiation(a).kind.is_some_and(|kind| &*kind.name == "default");
        let attributes = decl.iter().flat_map(|decl| &decl.attributes);
        let Some(attribute) = attributes.filter(|a| &*a.name.name == "differentiable").find(is_default) else {
            return;
        };
        if !self.has_default_derivative(f) {
            let name = self.function_data(f).base_name.clone();
            let message = format!("'{name}' has no default derivative");
            let diagnostic = Diagnostic::error(Code::WithRespectTo, attribute.span, message);
            self.report(diagnostic.note(
                "a default derivative is registered with '@derivative(of:)' in a protocol extension, for a requirement \
                 that the function satisfies",
            ));
        }
    }

    /// Whether what the promise requires holds for concrete generic arguments.
    pub fn promise_applies(&mut self, f: FunctionId, generics: &[Type]) -> bool {
        let decl = self.function_data(f).decl.clone();
        let Some(attribute) = decl.as_ref().and_then(|d| d.attribute("differentiable")) else { return true };
        let env = self.signature(f).env.clone();
        let env = self.required_env(f, &env, &differentiation(attribute));
        self.holds(&env.requirements, &env.params, generics)
    }

    /// What the functions that fulfil promised requirements owe.
    pub fn promises_of_conformances(&mut self) -> Vec<Kept> {
        let mut kept = vec![];
        for n in 0..self.nominals.len() as u32 {
            let n = NominalId(n);
            if self.nominal_data(n).is_prelude {
                continue;
            }
            let own = self.declared_type(n);
            let conformances: Vec<_> =
                self.nominal_data(n).conformances.iter().map(|c| (c.protocol, c.group)).collect();
            for (p, group) in conformances {
                let env = self.group_env(group);
                let saved = std::mem::replace(&mut self.env, env);
                for q in self.refined(p).iter() {
                    self.promises_of_conformance(*q, &own, &mut kept);
                }
                self.env = saved;
            }
        }
        kept
    }

    fn promises_of_conformance(&mut self, p: ProtocolId, own: &Type, kept: &mut Vec<Kept>) {
        for r in 0..self.protocol_data(p).requirements.len() as u32 {
            let function = self.protocol_data(p).requirements[r as usize].function;
            let Some(promise) = self.promise(function) else { continue };
            let generics = self.own_generics(p, r);
            let Some(witness) = self.find_witness(p, r, own, &generics) else { continue };
            let data = self.function_data(witness.function);
            if data.is_prelude || data.primitive.is_some() {
                continue;
            }
            let is_open = |ty: &Type| ty.any(&mut |t| matches!(t, Type::Param(_)));
            match data.owner {
                Owner::Nominal(_) => {}
                Owner::Protocol(_) if !witness.generics.iter().any(is_open) => {}
                Owner::Protocol(_) | Owner::Module => continue,
            }
            let requirement = self.function_data(function).span;
            let wrt = self.flags_of(&promise.wrt, function, witness.function);
            let promise = Rc::new(Promise { wrt, ..(*promise).clone() });
            kept.push(Kept { witness, promise, requirement });
        }
    }

    /// What is said of the parameters of a requirement, for what is in its place: either may take a type as `self`.
    pub(crate) fn flags_of(&self, wrt: &[bool], requirement: FunctionId, by: FunctionId) -> Vec<bool> {
        match (self.belongs_to_type(requirement), self.belongs_to_type(by)) {
            (true, false) => wrt[1.min(wrt.len())..].to_vec(),
            (false, true) => std::iter::once(false).chain(wrt.iter().copied()).collect(),
            _ => wrt.to_vec(),
        }
    }

    /// The generic surroundings of a function, with what an attribute requires besides.
    pub(crate) fn required_env(&mut self, f: FunctionId, env: &Rc<Env>, args: &DifferentiationArgs) -> Rc<Env> {
        if args.requirements.is_empty() {
            return env.clone();
        }
        let scope = TypeScope::of(self.function_data(f).owner, self.function_data(f).file);
        let mut env = (**env).clone();
        self.add_requirements(&mut env, &args.requirements, &scope);
        Rc::new(env)
    }

    /// Why nothing could keep the promise.
    fn impossible(
        &mut self,
        f: FunctionId,
        signature: &Signature,
        args: &DifferentiationArgs,
        wrt: &[bool],
        span: Span,
    ) -> Option<Diagnostic> {
        let name = self.function_data(f).base_name.clone();
        let error = |span, message: String| Some(Diagnostic::error(Code::WithRespectTo, span, message));
        if let Some(kind) = args.kind.as_ref().filter(|k| !KINDS.contains(&&*k.name)) {
            let message = format!("'{}' is not a kind of differentiability", kind.name);
            let known = KINDS.iter().map(|k| format!("'{k}'")).collect::<Vec<_>>().join(", ");
            return error(kind.span, message).map(|d| d.note(format!("the kinds are {known}")));
        }
        if wrt.is_empty() {
            return error(span, format!("'{name}' has no parameters to differentiate with respect to"));
        }
        if args.wrt.is_none() && !wrt.contains(&true) {
            let message = "no differentiation parameters could be inferred; must differentiate with respect to at least one parameter conforming to 'Differentiable'";
            return error(span, message.into());
        }
        let changes = signature.self_inout || signature.params.iter().any(|p| p.is_inout);
        if signature.result.is_unit() && !changes {
            return error(span, format!("cannot differentiate void function '{name}'"));
        }
        let differentiable = self.protocol("Differentiable");
        if !self.conforms_to(&signature.result, differentiable) {
            let message = self.result_does_not_conform(&signature.result);
            return error(span, message);
        }
        None
    }

    pub(crate) fn result_does_not_conform(&self, result: &Type) -> String {
        let result = self.show(result);
        format!(
            "can only differentiate functions with results that conform to 'Differentiable', but '{result}' does not conform to 'Differentiable'"
        )
    }

    /// The parameters that `wrt:` names: by default all that are differentiable. In the current generic surroundings.
    pub(crate) fn wrt_flags(
        &mut self,
        args: &DifferentiationArgs,
        names: &[Name],
        types: &[Type],
        has_self: bool,
    ) -> Vec<bool> {
        let differentiable = self.protocol("Differentiable");
        let is_function = |t: &Type| matches!(t, Type::Function(_));
        let Some(wrt) = &args.wrt else {
            return types.iter().map(|t| !is_function(t) && self.conforms_to(t, differentiable)).collect();
        };
        let mut flags = vec![false; types.len()];
        let mut before = None;
        for param in wrt {
            let Some(i) = self.wrt_index(param, names, types, has_self) else { continue };
            if before.is_some_and(|b| b >= i) {
                let message = "parameters must be specified in original order";
                self.report(Diagnostic::error(Code::WithRespectTo, param.span, message));
            }
            before = Some(i);
            if is_function(&types[i]) || !self.conforms_to(&types[i], differentiable) {
                let message = with_respect_to(&self.show(&types[i]));
                self.report(Diagnostic::error(Code::WithRespectTo, param.span, message));
            }
            flags[i] = true;
        }
        flags
    }

    fn wrt_index(&mut self, param: &WrtParam, names: &[Name], types: &[Type], has_self: bool) -> Option<usize> {
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
            self.report(diagnostic);
        }
        index
    }
}

fn with_respect_to(ty: &str) -> String {
    format!(
        "can only differentiate with respect to parameters that conform to 'Differentiable', but '{ty}' does not conform to 'Differentiable'"
    )
}

/// The arguments of an attribute of differentiation.
pub(crate) fn differentiation(attribute: &Attribute) -> DifferentiationArgs {
    match &attribute.args {
        AttributeArgs::Differentiation(args) => args.clone(),
        AttributeArgs::None | AttributeArgs::Text(_) => DifferentiationArgs::default(),
    }
}

/// Names of the parameters, and types, `self` first.
pub(crate) fn parameters(signature: &Signature) -> (Vec<Name>, Vec<Type>) {
    let names = signature.params.iter().map(|p| p.name.clone()).collect();
    let types = signature.self_type.iter().cloned().chain(signature.params.iter().map(|p| p.ty.clone())).collect();
    (names, types)
}
