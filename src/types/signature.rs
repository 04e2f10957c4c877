//! Types of functions, properties and globals, worked out when they are asked for.

use super::resolve::TypeScope;
use super::store::{
    BodyState, Code, Env, FunctionKind, Member, MemberKind, Owner, Signature, SignatureParam, World, blank_function,
};
use super::tree::{self, FunctionId, GlobalId};
use super::ty::{FunctionParam, FunctionType, NominalId, Strength, Type};
use super::world::{Function, Nominal, Param};
use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::syntax::ast::{AttributeArgs, DifferentiationArgs, NominalKind, WrtKind};
use std::rc::Rc;

impl World {
    /// The generic surroundings of a function's own parameters.
    pub(super) fn function_outer_env(&mut self, f: FunctionId) -> Rc<Env> {
        let data = self.function_data(f);
        if let Some(outer) = &data.outer {
            return outer.clone();
        }
        match data.group {
            Some(group) => self.group_env(group),
            None => Rc::default(),
        }
    }

    /// A function's types.
    pub(super) fn signature(&mut self, f: FunctionId) -> Rc<Signature> {
        if let Some(signature) = &self.function_data(f).signature {
            return signature.clone();
        }
        let outer = self.function_outer_env(f);
        let data = self.function_data(f);
        let (owner, file, generics) = (data.owner, data.file, data.generics.clone());
        let (kind, ast_params, ast_result) = (data.kind, data.ast_params.clone(), data.ast_result.clone());
        let (is_static, is_mutating, throws, is_prelude) =
            (data.is_static, data.is_mutating, data.throws, data.is_prelude);
        let is_operator = super::declare::is_operator(&self.function_data(f).base_name);
        let is_subscript = &*self.function_data(f).base_name == "subscript";
        let mut env = (*outer).clone();
        let scope = TypeScope::of(owner, file);
        for (name, _) in &generics.params {
            let param = self.new_param(&name.name);
            env.params.push(param);
        }
        self.add_implied(&mut env, &ast_params, ast_result.as_deref());
        let saved = std::mem::replace(&mut self.env, Rc::new(env.clone()));
        self.add_generics(&mut env, &generics, &scope);
        self.env = Rc::new(env.clone());
        let mut params = vec![];
        for param in ast_params.iter() {
            let mut ty = match &param.ty {
                Some(ty) => self.resolve_type(ty, &scope),
                // Formulas and functions of one's own may leave types out.
                None => self.simple("Double"),
            };
            if param.variadic {
                ty = self.applied("Array", &[ty]);
            }
            let has = |name: &str| param.attributes.iter().any(|a| &*a.name.name == name);
            let mut autoclosure = has("autoclosure");
            if let Some(crate::syntax::ast::TypeExprKind::Attributed(attributes, _)) =
                param.ty.as_ref().map(|t| &t.kind)
            {
                autoclosure |= attributes.iter().any(|a| &*a.name.name == "autoclosure");
            }
            let label = param.label.as_ref().map(|l| l.name.clone());
            params.push(SignatureParam {
                // Operands have no labels, and arguments of a subscript have one only when it is written twice.
                label: label.filter(|l| !is_operator && (!is_subscript || *l != param.name.name)),
                name: param.name.name.clone(),
                ty,
                is_inout: param.is_inout,
                variadic: param.variadic,
                autoclosure,
                default: None,
                span: param.name.span,
            });
        }
        let self_type = match owner {
            Owner::Nominal(n) => Some(self.declared_type(n)),
            Owner::Protocol(p) => Some(Type::Param(self.protocol_data(p).self_param)),
            Owner::Module => None,
        };
        let result = match (kind, &ast_result) {
            (FunctionKind::Init { failable }, _) => {
                let own = self_type.clone().unwrap_or(Type::Error);
                if failable { self.applied("Optional", &[own]) } else { own }
            }
            (_, Some(ty)) => self.resolve_type(ty, &scope),
            (FunctionKind::Getter, None) => Type::Error,
            (_, None) => Type::unit(),
        };
        let env = self.env.clone();
        self.env = saved;
        let has_self = self_type.is_some() && !is_static && !matches!(kind, FunctionKind::Init { .. });
        let is_class = match owner {
            Owner::Nominal(n) => self.nominal_data(n).kind == NominalKind::Class,
            Owner::Module | Owner::Protocol(_) => false,
        };
        let mut signature = Signature {
            env,
            params,
            self_type: self_type.filter(|_| has_self),
            self_inout: has_self && is_mutating && !is_class,
            result,
            throws,
            differentiable: None,
        };
        signature.differentiable = self.differentiable_promise(f, &signature);
        for (i, param) in ast_params.iter().enumerate() {
            if let Some(value) = &param.default {
                let mut data = blank_function(
                    &format!("default argument of {}", param.name.name).into(),
                    value.span,
                    file,
                    is_prelude,
                );
                data.owner = owner;
                data.is_static = true;
                data.code = Code::Expression(Rc::new(value.clone()));
                data.outer = Some(signature.env.clone());
                data.signature = Some(Rc::new(Signature {
                    env: signature.env.clone(),
                    params: vec![],
                    self_type: None,
                    self_inout: false,
                    result: signature.params[i].ty.clone(),
                    throws: false,
                    differentiable: None,
                }));
                signature.params[i].default = Some(self.add_function(data));
            }
        }
        let infers_result = matches!(self.function_data(f).code, Code::Expression(_)) && ast_result.is_none();
        let signature = Rc::new(signature);
        self.functions[f.0 as usize].signature = Some(signature.clone());
        if infers_result {
            return self.infer_formula_result(f, &signature);
        }
        signature
    }

    /// The result type of a formula is that of its body; while it is looked for, calls of itself give `Double`.
    fn infer_formula_result(&mut self, f: FunctionId, signature: &Rc<Signature>) -> Rc<Signature> {
        let double = self.simple("Double");
        let assumed = Rc::new(Signature { result: double.clone(), ..(**signature).clone() });
        self.functions[f.0 as usize].signature = Some(assumed);
        self.functions[f.0 as usize].resolving = true;
        let result = self.check_formula(f).unwrap_or(double);
        self.functions[f.0 as usize].resolving = false;
        let known = Rc::new(Signature { result, ..(**signature).clone() });
        self.functions[f.0 as usize].signature = Some(known.clone());
        known
    }

    /// What `@differentiable` on a declaration promises: one flag a parameter, `self` first.
    fn differentiable_promise(&mut self, f: FunctionId, signature: &Signature) -> Option<Vec<bool>> {
        let decl = self.function_data(f).decl.clone()?;
        let attribute = decl.attribute("differentiable")?;
        let empty = DifferentiationArgs::default();
        let args = match &attribute.args {
            AttributeArgs::Differentiation(args) => args,
            AttributeArgs::None | AttributeArgs::Text(_) => &empty,
        };
        let saved = std::mem::replace(&mut self.env, signature.env.clone());
        let names: Vec<_> = signature.params.iter().map(|p| p.name.clone()).collect();
        let types: Vec<Type> =
            signature.self_type.iter().cloned().chain(signature.params.iter().map(|p| p.ty.clone())).collect();
        let flags = self.wrt_flags(args, &names, &types, signature.self_type.is_some());
        self.env = saved;
        Some(flags)
    }

    /// The parameters that `wrt:` names: by default all that are differentiable.
    pub(super) fn wrt_flags(
        &mut self,
        args: &DifferentiationArgs,
        names: &[crate::syntax::ast::Name],
        types: &[Type],
        has_self: bool,
    ) -> Vec<bool> {
        let differentiable = self.protocol("Differentiable");
        let Some(wrt) = &args.wrt else {
            return types.iter().map(|t| self.conforms_to(t, differentiable)).collect();
        };
        let offset = usize::from(has_self);
        let mut flags = vec![false; types.len()];
        let mut before = None;
        for param in wrt {
            let index = match &param.kind {
                WrtKind::SelfParam if has_self => Some(0),
                WrtKind::SelfParam => {
                    let message = "'self' parameter is only applicable to instance methods";
                    self.report(Diagnostic::error(DiagnosticCode::WithRespectTo, param.span, message));
                    continue;
                }
                WrtKind::Name(name) => names.iter().position(|n| n == name).map(|i| i + offset),
                WrtKind::Index(i) => Some(*i as usize + offset).filter(|i| *i < types.len()),
            };
            match index {
                None => {
                    let message = match &param.kind {
                        WrtKind::Name(name) => format!("unknown parameter name '{name}'"),
                        _ => "parameter index is larger than total number of parameters".to_string(),
                    };
                    let known = names.iter().map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
                    let diagnostic = Diagnostic::error(DiagnosticCode::WithRespectTo, param.span, message);
                    self.report(diagnostic.note(format!("it has {known}")));
                }
                Some(i) => {
                    if before.is_some_and(|b| b >= i) {
                        let message = "parameters must be specified in original order";
                        self.report(Diagnostic::error(DiagnosticCode::WithRespectTo, param.span, message));
                    }
                    before = Some(i);
                    if !self.conforms_to(&types[i], differentiable) {
                        let message = format!(
                            "can only differentiate with respect to parameters that conform to 'Differentiable', but '{}' does not conform to 'Differentiable'",
                            self.show(&types[i])
                        );
                        self.report(Diagnostic::error(DiagnosticCode::WithRespectTo, param.span, message));
                    }
                    flags[i] = true;
                }
            }
        }
        flags
    }

    /// A function declaration as a value: the type of the value, `self` left out.
    pub(super) fn function_type(&self, signature: &Signature) -> Type {
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

    /// The type of a stored property, in terms of its type's parameters.
    pub(super) fn stored_type(&mut self, n: NominalId, index: u32) -> Type {
        let data = &self.nominal_data(n).stored[index as usize];
        if let Some(ty) = &data.resolved {
            return ty.clone();
        }
        let (ty, value, span, resolving) = (data.ty.clone(), data.value.clone(), data.span, data.resolving);
        let file = self.nominal_data(n).file;
        if resolving {
            return Type::Error;
        }
        self.nominal_data_mut(n).stored[index as usize].resolving = true;
        let env = self.nominal_env(n);
        let resolved = match (&ty, &value) {
            (Some(ty), _) => {
                let saved = std::mem::replace(&mut self.env, env);
                let resolved = self.resolve_type(ty, &TypeScope::of(Owner::Nominal(n), file));
                self.env = saved;
                resolved
            }
            (None, Some(_)) => {
                let initial = self.stored_initial(n, index).map(|f| self.check_expression_type(f));
                initial.flatten().unwrap_or(Type::Error)
            }
            (None, None) => {
                let message =
                    format!("type annotation missing for '{}'", self.nominal_data(n).stored[index as usize].name);
                self.report(Diagnostic::error(DiagnosticCode::CannotInfer, span, message));
                Type::Error
            }
        };
        let data = &mut self.nominal_data_mut(n).stored[index as usize];
        data.resolving = false;
        data.resolved = Some(resolved.clone());
        if let Some(initial) = data.initial
            && let Some(signature) = self.functions[initial.0 as usize].signature.clone()
        {
            self.functions[initial.0 as usize].signature =
                Some(Rc::new(Signature { result: resolved.clone(), ..(*signature).clone() }));
        }
        resolved
    }

    /// The function that computes the initial value of a stored property.
    pub(super) fn stored_initial(&mut self, n: NominalId, index: u32) -> Option<FunctionId> {
        let data = &self.nominal_data(n).stored[index as usize];
        if let Some(initial) = data.initial {
            return Some(initial);
        }
        let value = data.value.clone()?;
        let (name, span, ty) = (data.name.clone(), data.span, data.resolved.clone());
        let (file, is_prelude, group) =
            (self.nominal_data(n).file, self.nominal_data(n).is_prelude, self.nominal_data(n).group);
        let env = self.nominal_env(n);
        let mut function = blank_function(&format!("initial value of {name}").into(), span, file, is_prelude);
        function.owner = Owner::Nominal(n);
        function.group = Some(group);
        function.is_static = true;
        function.code = Code::Expression(value);
        function.outer = Some(env.clone());
        function.signature = Some(Rc::new(plain_signature(env, ty.unwrap_or(Type::Error))));
        let id = self.add_function(function);
        self.nominal_data_mut(n).stored[index as usize].initial = Some(id);
        Some(id)
    }

    /// The type of a global variable.
    pub(super) fn global_type(&mut self, g: GlobalId) -> Type {
        let data = &self.globals[g.0 as usize];
        if let Some(ty) = &data.ty {
            return ty.clone();
        }
        if data.resolving {
            let message = format!("the type of '{}' depends on itself", data.name);
            let span = data.span;
            self.report(Diagnostic::error(DiagnosticCode::CannotInfer, span, message));
            return Type::Error;
        }
        let (ty_expr, owner, file, group) = (data.ty_expr.clone(), data.owner, data.file, data.group);
        self.globals[g.0 as usize].resolving = true;
        let env = group.map_or_else(Rc::default, |group| self.group_env(group));
        let ty = match ty_expr {
            Some(ty) => {
                let saved = std::mem::replace(&mut self.env, env);
                let ty = self.resolve_type(&ty, &TypeScope::of(owner, file));
                self.env = saved;
                Some(ty)
            }
            None => {
                let initial = self.global_initial(g);
                initial.and_then(|f| self.check_expression_type(f))
            }
        };
        let data = &mut self.globals[g.0 as usize];
        data.resolving = false;
        match ty {
            Some(ty) => {
                data.ty = Some(ty.clone());
                if let Some(f) = data.lazy {
                    let signature = self.signature(f);
                    self.functions[f.0 as usize].signature =
                        Some(Rc::new(Signature { result: ty.clone(), ..(*signature).clone() }));
                }
                ty
            }
            None => Type::Error,
        }
    }

    /// The function that computes the initial value of a lazy global.
    pub(super) fn global_initial(&mut self, g: GlobalId) -> Option<FunctionId> {
        let data = &self.globals[g.0 as usize];
        if data.lazy.is_some() || !data.is_lazy {
            return data.lazy;
        }
        let value = data.value.clone()?;
        let (name, span, owner, file, group) = (data.name.clone(), data.span, data.owner, data.file, data.group);
        let (ty, is_prelude) = (data.ty.clone(), data.is_prelude);
        let env = group.map_or_else(Rc::default, |group| self.group_env(group));
        let mut function = blank_function(&format!("initial value of {name}").into(), span, file, is_prelude);
        function.owner = owner;
        function.group = group;
        function.is_static = true;
        function.code = Code::Expression(value);
        function.outer = Some(env.clone());
        function.signature = Some(Rc::new(plain_signature(env, ty.unwrap_or(Type::Error))));
        let id = self.add_function(function);
        self.globals[g.0 as usize].lazy = Some(id);
        Some(id)
    }

    /// A getter or setter for a stored property that fulfils a requirement.
    pub(super) fn stored_accessor(&mut self, n: NominalId, index: u32, is_setter: bool) -> FunctionId {
        let stored = &self.nominal_data(n).stored[index as usize];
        let (name, span) = (stored.name.clone(), stored.span);
        let key = format!("{}{index}", if is_setter { "set stored " } else { "get stored " });
        if let Some(found) = self.nominal_data(n).members.get(&*key)
            && let MemberKind::Method(f) = found[0].kind
        {
            return f;
        }
        let data = self.nominal_data(n);
        let (file, is_prelude, group, is_class) =
            (data.file, data.is_prelude, data.group, data.kind == NominalKind::Class);
        let (own, ty, env) = (self.declared_type(n), self.stored_type(n, index), self.nominal_env(n));
        let mut function = blank_function(&name, span, file, is_prelude);
        function.owner = Owner::Nominal(n);
        function.group = Some(group);
        function.kind = if is_setter { FunctionKind::Setter } else { FunctionKind::Getter };
        let mut signature = plain_signature(env, if is_setter { Type::unit() } else { ty.clone() });
        signature.self_type = Some(own.clone());
        signature.self_inout = is_setter && !is_class;
        let local = |name: &str, ty: &Type, is_inout| tree::Local {
            name: name.into(),
            ty: ty.clone(),
            mutable: is_inout,
            is_inout,
            captured: false,
            span,
        };
        let mut locals = vec![local("self", &own, signature.self_inout)];
        let own_expr = tree::Expr { kind: tree::ExprKind::Local(tree::LocalId(0)), ty: own, span };
        let statement = if is_setter {
            signature.params.push(SignatureParam {
                label: None,
                name: "newValue".into(),
                ty: ty.clone(),
                is_inout: false,
                variadic: false,
                autoclosure: false,
                default: None,
                span,
            });
            locals.push(local("newValue", &ty, false));
            let value = tree::Expr { kind: tree::ExprKind::Local(tree::LocalId(1)), ty: ty.clone(), span };
            let path = vec![tree::Projection { kind: tree::ProjectionKind::Field(index), ty: ty.clone(), span }];
            let root =
                if is_class { tree::Root::Value(Box::new(own_expr)) } else { tree::Root::Local(tree::LocalId(0)) };
            tree::StmtKind::Assign { place: tree::Place { root, path, ty, span }, value }
        } else {
            let value = tree::ExprKind::Field { base: Box::new(own_expr), index };
            tree::StmtKind::Return(Some(tree::Expr { kind: value, ty, span }))
        };
        let params = locals.len();
        let body =
            tree::Body { locals, params, captures: vec![], statements: vec![tree::Stmt { kind: statement, span }] };
        function.signature = Some(Rc::new(signature));
        function.body = BodyState::Checked(Rc::new(body));
        let id = self.add_function(function);
        let member = Member { kind: MemberKind::Method(id), is_static: false, group, file, is_private: false };
        self.add_member(Owner::Nominal(n), &key, member);
        id
    }

    /// A getter for a static stored property that fulfils a requirement.
    pub(super) fn global_accessor(&mut self, g: GlobalId) -> FunctionId {
        let ty = self.global_type(g);
        let data = &self.globals[g.0 as usize];
        let (name, span, owner, file, group) = (data.name.clone(), data.span, data.owner, data.file, data.group);
        let env = group.map_or_else(Rc::default, |group| self.group_env(group));
        let mut function = blank_function(&name, span, file, data_is_prelude(self, g));
        function.owner = owner;
        function.group = group;
        function.is_static = true;
        function.kind = FunctionKind::Getter;
        function.signature = Some(Rc::new(plain_signature(env, ty.clone())));
        let value = tree::Expr { kind: tree::ExprKind::Global(g), ty, span };
        let statement = tree::Stmt { kind: tree::StmtKind::Return(Some(value)), span };
        let body = tree::Body { statements: vec![statement], ..tree::Body::default() };
        function.body = BodyState::Checked(Rc::new(body));
        self.add_function(function)
    }

    /// The nominal type with its stored properties and cases worked out.
    pub(super) fn nominal_info(&mut self, n: NominalId) -> Rc<Nominal> {
        if let Some(info) = &self.nominal_data(n).info {
            return info.clone();
        }
        self.enter_conformances(n);
        for i in 0..self.nominal_data(n).stored.len() {
            self.stored_type(n, i as u32);
        }
        let env = self.nominal_env(n);
        let saved = std::mem::replace(&mut self.env, env);
        let mut cases = vec![];
        for i in 0..self.nominal_data(n).cases.len() {
            let payload = self.case_payload(n, i as u32);
            cases.push(self.case_info(&self.nominal_data(n).cases[i], payload));
        }
        self.env = saved;
        let data = self.nominal_data(n);
        let info = Rc::new(Nominal {
            name: data.name.clone(),
            kind: data.kind,
            params: data.params.clone(),
            stored: data.stored.iter().map(|s| self.stored_info(s)).collect(),
            cases,
            builtin: data.builtin,
            is_indirect: data.is_indirect,
            superclass: data.superclass.clone(),
            style: data.style.clone(),
            is_prelude: data.is_prelude,
            span: data.span,
        });
        self.nominal_data_mut(n).info = Some(info.clone());
        info
    }

    /// The payload of a case, in terms of its type's parameters.
    pub(super) fn case_payload(&mut self, n: NominalId, case: u32) -> Vec<(Option<crate::syntax::ast::Name>, Type)> {
        let env = self.nominal_env(n);
        let file = self.nominal_data(n).file;
        let payload = self.nominal_data(n).cases[case as usize].payload.clone();
        let saved = std::mem::replace(&mut self.env, env);
        let scope = TypeScope::of(Owner::Nominal(n), file);
        let payload = payload.iter().map(|(l, t)| (l.clone(), self.resolve_type(t, &scope))).collect();
        self.env = saved;
        payload
    }

    /// A function as `ir` sees it.
    pub(super) fn function_info(&mut self, f: FunctionId) -> Rc<Function> {
        if let Some(info) = &self.function_data(f).info {
            return info.clone();
        }
        let signature = self.signature(f);
        self.resolve_registrations();
        let saved = std::mem::replace(&mut self.env, signature.env.clone());
        let mut params = vec![];
        let data = self.function_data(f);
        let (name, span) = (self.display_name(f), data.span);
        if let Some(own) = &signature.self_type {
            params.push(Param { name: "self".into(), ty: own.clone(), is_inout: signature.self_inout, span });
        }
        for p in &signature.params {
            let ty = self.normalize_type(&p.ty);
            params.push(Param { name: p.name.clone(), ty, is_inout: p.is_inout, span: p.span });
        }
        let result = self.normalize_type(&signature.result);
        self.env = saved;
        let data = self.function_data(f);
        let info = Rc::new(Function {
            name: name.into(),
            generics: signature.env.params.clone(),
            params,
            result,
            throws: signature.throws,
            primitive: data.primitive.clone(),
            registered: data.registered.clone(),
            is_opaque: data.is_opaque,
            is_prelude: data.is_prelude,
            span,
        });
        self.functions[f.0 as usize].info = Some(info.clone());
        info
    }

    /// A function's name with the type that it belongs to, for backtraces.
    fn display_name(&self, f: FunctionId) -> String {
        let data = self.function_data(f);
        let own = self.full_name(f);
        match data.owner {
            Owner::Nominal(n) if !matches!(data.kind, FunctionKind::Closure) => {
                format!("{}.{own}", self.nominal_data(n).name)
            }
            Owner::Protocol(p) if !matches!(data.kind, FunctionKind::Closure) => {
                format!("{}.{own}", self.protocol_data(p).name)
            }
            _ => own,
        }
    }
}

fn data_is_prelude(world: &World, g: GlobalId) -> bool {
    world.globals[g.0 as usize].is_prelude
}

/// A function without parameters.
pub(super) fn plain_signature(env: Rc<Env>, result: Type) -> Signature {
    Signature { env, params: vec![], self_type: None, self_inout: false, result, throws: false, differentiable: None }
}
