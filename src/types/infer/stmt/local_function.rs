//! Local functions: their declarations, and the variables of enclosing bodies that local functions and closures
//! capture.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{FunctionDecl, StmtKind as AstStmt};
use crate::types::declare::fixity;
use crate::types::declare::redeclaration::redeclared;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::infer::stmt::local_formula::function_of_formula;
use crate::types::infer::{Binding, FrameKind, Infer, OpenBody};
use crate::types::model::declaration_tables::{
    BodyState, Code as FunctionCode, FunctionKind, Signature, blank_function,
};
use crate::types::model::syntax_walk::all_names;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Body, FunctionId, LocalId, Stmt, StmtKind};
use hashbrown::HashMap;
use std::rc::Rc;

impl Infer<'_> {
    /// Declares the functions of a block, so that they can call each other.
    pub(crate) fn declare_local_functions(&mut self, items: &[ast::Stmt]) -> Vec<(FunctionId, Rc<ast::Decl>)> {
        let mut found = vec![];
        for item in items {
            let AstStmt::Decl(decl) = &item.kind else { continue };
            let function: FunctionDecl = match &decl.kind {
                ast::DeclKind::Function(function) => function.clone(),
                ast::DeclKind::Formula { name, params, body } => function_of_formula(name, params, body),
                _ => continue,
            };
            let id = self.declare_local_function(decl, &function);
            found.push((id, decl.clone()));
            let name = function.name.name.clone();
            if let Some(scope) = self.frame().scopes.last_mut() {
                match Rc::make_mut(scope).entry(name).or_insert_with(|| Binding::Functions(vec![])) {
                    Binding::Functions(all) => all.push(id),
                    other => *other = Binding::Functions(vec![id]),
                }
            }
        }
        found
    }

    /// Declares a function of the body that is being checked.
    pub(crate) fn declare_local_function(&mut self, decl: &Rc<ast::Decl>, function: &FunctionDecl) -> FunctionId {
        let is_prelude = self.file == crate::types::model::prelude_index::PRELUDE_FILE;
        let mut data = blank_function(&function.name.name, function.name.span, self.file, is_prelude);
        data.owner = self.owner;
        data.is_static = true;
        data.decl = Some(decl.clone());
        data.fixity = fixity(decl);
        data.generics = function.generics.clone();
        data.ast_params = function.params.clone().into();
        data.ast_result = function.result.clone().map(Rc::new);
        data.throws = function.throws || function.rethrows;
        data.rethrows = function.rethrows;
        data.code = FunctionCode::Block(function.body.clone());
        data.memo.body = BodyState::Checking;
        data.outer = Some(self.cx.scope.env.clone());
        data.local_types = Some(self.local_types.clone());
        let id = self.cx.defs.add_function(data);
        self.local_functions.insert(id, self.current);
        id
    }

    /// Returns the index of the last statement of a block that declares a variable which the local function at an index
    /// uses, if this statement follows: then the types of these variables are known, and the body can be checked. A
    /// variable of an enclosing scope takes precedence.
    pub(crate) fn last_used_declaration(&mut self, id: FunctionId, items: &[ast::Stmt], at: usize) -> Option<usize> {
        let FunctionCode::Block(Some(body)) = self.cx.defs.function_data(id).code.clone() else { return None };
        let upcoming = self.upcoming.last()?;
        let end = items[at].span.end;
        let mut used = vec![];
        all_names(&body, &mut |name| {
            used.extend(upcoming.get_key_value(name).filter(|(_, declared)| declared.start >= end));
        });
        let used: Vec<(ast::Name, Span)> = used.into_iter().map(|(name, span)| (name.clone(), *span)).collect();
        let mut last = None;
        for (name, declared) in used {
            if !self.find_local_quiet(&name) && !self.cx.declares(&name) {
                last = last.max(Some(items.partition_point(|item| item.span.end <= declared.start)));
            }
        }
        last.filter(|last| *last < items.len())
    }

    /// Checks the body of a local function at its declaration, or after the variables that it uses.
    pub(crate) fn local_function(&mut self, id: FunctionId) -> Stmt {
        let signature = signature::signature(self.cx, id);
        let span = self.cx.defs.function_data(id).span;
        self.with_env(signature.env.clone(), |infer| {
            infer.push_frame(FrameKind::LocalFunction, signature.result.clone(), signature.throws, Some(id));
            infer.add_signature_params(&signature);
            let FunctionCode::Block(Some(body)) = infer.cx.defs.function_data(id).code.clone() else {
                infer.leave_frame();
                return;
            };
            let built = infer.built_body_of_local(id, &body);
            let body = built.as_ref().unwrap_or(&body);
            let extended = infer.body_with_variables(id, body, !signature.result.is_unit());
            let statements = infer.function_statements(extended.as_ref().unwrap_or(body), &signature.result);
            let frame = infer.leave_frame();
            infer.open_body(id, frame, statements);
        });
        Stmt { kind: StmtKind::LocalFunction(id), span }
    }

    /// Returns the candidates of the local functions with a name.
    pub(crate) fn local_candidates(&self, functions: &[FunctionId]) -> Vec<Candidate> {
        let prefix: Rc<[Type]> = self.cx.scope.env.params.iter().map(|p| Type::Param(*p)).collect();
        let candidate = |f: &FunctionId| Candidate {
            target: Target::Function(*f),
            prefix: prefix.clone(),
            receiver: None,
            tier: 0,
        };
        functions.iter().map(candidate).collect()
    }

    /// Returns the candidates of the operator functions of enclosing bodies with a name.
    pub(crate) fn local_operators(&mut self, name: &str) -> Vec<Candidate> {
        if self.local_functions.is_empty() {
            return vec![];
        }
        let functions = self.local_functions_named(name);
        self.capture_for(&functions);
        self.local_candidates(&functions)
    }

    pub(crate) fn add_signature_params(&mut self, signature: &Signature) {
        let mut count = 0;
        let mut seen: HashMap<&str, Span> = HashMap::new();
        if let Some(own) = &signature.self_type {
            let span = Span::default();
            let local = self.new_param("self", own.clone(), signature.self_inout, span);
            self.bind(&"self".into(), local);
            count += 1;
        }
        for param in &signature.params {
            match seen.get(&*param.name) {
                Some(before) if &*param.name != "_" => self.error(redeclared(&param.name, param.span, *before)),
                _ => {
                    seen.insert(&param.name, param.span);
                }
            }
            let local = self.new_param(&param.name, param.ty.clone(), param.is_inout, param.span);
            self.bind(&param.name, local);
            count += 1;
        }
        self.frame().params = count;
    }

    /// Makes each body that uses a local function capture the variables that this function captures.
    pub(crate) fn capture_for(&mut self, functions: &[FunctionId]) {
        for f in functions {
            let Some(home) = self.local_functions.get(f).copied() else { continue };
            let path = self.path();
            let Some(at) = path.iter().position(|p| *p == home) else { continue };
            let frames: Vec<usize> = path[at..].to_vec();
            self.uses.push((*f, frames.clone()));
            let captured: Vec<LocalId> = match self.open.iter().find(|o| o.function == *f) {
                Some(open) => self.frames[open.frame].captures.iter().map(|c| c.outer).collect(),
                None => vec![],
            };
            for local in captured {
                self.capture(&frames, local);
            }
        }
    }

    /// Completes the captures of local functions, since a local function may be used before its captures are known:
    /// repeats until no further variable is captured.
    pub(crate) fn complete_captures(&mut self) {
        let uses = self.uses.clone();
        loop {
            let mut any = false;
            for (f, frames) in &uses {
                let Some(open) = self.open.iter().find(|o| o.function == *f) else { continue };
                let captured: Vec<LocalId> = self.frames[open.frame].captures.iter().map(|c| c.outer).collect();
                let before: usize = frames.iter().map(|f| self.frames[*f].captures.len()).sum();
                for local in captured {
                    // Inside of the local function itself, its captures are available.
                    if frames.len() > 1 {
                        self.capture(frames, local);
                    }
                }
                any |= frames.iter().map(|f| self.frames[*f].captures.len()).sum::<usize>() > before;
            }
            if !any {
                break;
            }
        }
        self.uses.clear();
    }

    /// Completes the bodies that were waiting until all their types were known.
    pub(crate) fn close_bodies(&mut self) {
        for OpenBody { function, frame, mut statements, env } in std::mem::take(&mut self.open) {
            self.with_env(env, |infer| {
                infer.finish_statements(&mut statements);
                let mut body = infer.body_of(frame, statements);
                infer.finish_locals(&mut body);
                infer.set_closure_signature(function, frame, &body);
                infer.cx.defs.functions[function.0 as usize].memo.body = BodyState::Checked(Rc::new(body));
            });
        }
    }

    /// Stores the body of a closure or local function until all types are known.
    pub(crate) fn open_body(&mut self, function: FunctionId, frame: usize, statements: Vec<Stmt>) {
        let env = self.cx.scope.env.clone();
        self.open.push(OpenBody { function, frame, statements, env });
    }

    fn set_closure_signature(&mut self, function: FunctionId, frame: usize, body: &Body) {
        if self.cx.defs.function_data(function).kind != FunctionKind::Closure {
            return;
        }
        let result = self.frames[frame].result.clone();
        let result = unification::resolved(self.cx, &result);
        let params = body.locals[..body.params]
            .iter()
            .map(|l| crate::types::model::declaration_tables::SignatureParam {
                label: None,
                name: l.name.clone(),
                ty: l.ty.clone(),
                is_inout: l.is_inout,
                variadic: false,
                autoclosure: false,
                default: None,
                span: l.span,
            })
            .collect();
        let signature = Signature {
            env: self.cx.scope.env.clone(),
            params,
            self_type: None,
            self_inout: false,
            result,
            throws: self.frames[frame].throws,
        };
        self.cx.defs.functions[function.0 as usize].memo.signature = Some(Rc::new(signature));
    }
}
