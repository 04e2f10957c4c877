//! What others ask of a [`World`]: entering a module's files, checking them, and the answers that `ir` needs.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{AttributeArgs, File, Stmt};
use crate::types::declare::main_attribute::entry;
use crate::types::derivative::differentiability::Promise;
use crate::types::model::declared::{Declarations, Function, Global, Nominal, Rule};
use crate::types::model::tables::{BodyState, Code, Entry, FunctionKind, Named, Owner, World, blank_function};
use crate::types::model::tree::Ownership;
use crate::types::model::tree::{Body, FunctionId, FunctionRef, GlobalId};
use crate::types::model::ty::{Existential, NominalId, ProtocolId, Type};
use crate::types::nominal::ownership::ownership;
use std::rc::Rc;

/// A module's files, entered and checked.
pub struct Checked {
    /// The function that runs the top-level statements.
    pub script: FunctionId,
    /// The user's functions, for checks that come later.
    pub functions: Vec<FunctionId>,
    /// The type of the value of the last expression, if it was asked for and there is one.
    pub value: Option<Type>,
    /// Whether derivatives or transposes were registered, perhaps for functions of earlier texts.
    pub registers: bool,
    /// Whether there were no errors.
    pub ok: bool,
}

impl World {
    /// Enters and checks the files of a module. `texts` are quoted in messages: first position and text of each.
    pub fn check_module(&mut self, files: &[File], texts: &[(u32, Rc<str>)], wants_value: bool) -> Checked {
        self.texts.extend(texts.iter().cloned());
        self.opaques.are_known = false;
        self.wants_value = wants_value;
        self.earlier.clear();
        self.script_result = None;
        let before = self.functions.len();
        let nominals_before = self.nominals.len();
        let entered_before = self.entered();
        let globals_before = self.globals.len() as u32;
        let errors_before = self.diagnostics.iter().filter(|d| d.is_error()).count();
        let mut numbered = vec![];
        for file in files {
            let number = self.files;
            self.files += 1;
            numbered.push((number, file));
        }
        for (_, file) in &numbered {
            self.note_wrappers(file);
        }
        self.enter_files(&numbered);
        let registers = self.registrations.iter().any(|(_, f)| !self.function_data(*f).is_prelude);
        self.check_functions(before);
        self.replace_functions(before);
        for n in nominals_before..self.nominals.len() {
            self.link_class(NominalId(n as u32));
        }
        self.script_globals = globals_before..self.globals.len() as u32;
        let items: Vec<(u32, Stmt)> = numbered
            .iter()
            .flat_map(|(n, f)| f.items.iter().map(|s| (*n, s.clone())))
            .chain(entry(&numbered))
            .collect();
        let span = items.first().map_or(Span::default(), |(_, s)| s.span);
        let mut data = blank_function(&"‹script›".into(), span, numbered.first().map_or(0, |(n, _)| *n), false);
        data.kind = FunctionKind::Script;
        data.code = Code::Script(Rc::new(items));
        let script = self.add_function(data);
        self.check_body(script);
        if let Some(ty) = self.script_result.clone() {
            let signature = self.signature(script);
            let known = crate::types::model::tables::Signature { result: ty, ..(*signature).clone() };
            self.functions[script.0 as usize].signature = Some(Rc::new(known));
            self.functions[script.0 as usize].info = None;
        }
        self.resolve_registrations();
        for n in nominals_before..self.nominals.len() {
            self.check_nominal(NominalId(n as u32));
        }
        crate::types::flow::check_circles(self, globals_before..self.globals.len() as u32);
        let mut functions = vec![];
        let mut at = before;
        while at < self.functions.len() {
            crate::cancel::check();
            let f = FunctionId(at as u32);
            at += 1;
            if self.function_data(f).is_prelude {
                continue;
            }
            // The text of a function that rethrows is looked at as one that throws: there `try` must stand.
            if let Some(version) = self.throwing_version(f) {
                self.check_body(version);
            }
            if self.throwing_versions.values().any(|version| *version == f) {
                continue;
            }
            self.promise(f);
            let data = self.function_data(f);
            if data.primitive.is_some() || data.requirement.is_some() {
                continue;
            }
            if !matches!(data.code, Code::Block(None)) || matches!(data.body, BodyState::Checked(_)) {
                if matches!(self.function_data(f).kind, FunctionKind::Function | FunctionKind::Init { .. }) {
                    self.check_signature(f);
                }
                self.check_default_promise(f);
                self.check_inherited_derivative(f);
                self.signature(f);
                if let Some(body) = self.check_body(f) {
                    self.check_called_requirements(f, &body);
                }
                functions.push(f);
            } else if data.decl.is_some() && !matches!(data.body, BodyState::Checked(_)) {
                self.check_body(f);
            }
        }
        self.check_c_functions();
        self.check_entered(entered_before);
        self.check_alias_uses();
        self.check_opaques();
        // From here on types are asked for by what makes code of them.
        self.opaques.are_known = true;
        let errors = self.diagnostics.iter().filter(|d| d.is_error()).count();
        Checked { script, functions, value: self.script_result.clone(), registers, ok: errors == errors_before }
    }

    /// A function of C has no place for what it captures.
    fn check_c_functions(&mut self) {
        for (f, span) in std::mem::take(&mut self.c_functions) {
            if self.check_body(f).is_some_and(|body| !body.captures.is_empty()) {
                let kind =
                    if self.function_data(f).kind == FunctionKind::Closure { "closure" } else { "local function" };
                let message = format!("a C function pointer cannot be formed from a {kind} that captures context");
                self.report(Diagnostic::error(DiagnosticCode::Mismatch, span, message));
            }
        }
    }

    /// Checks what a type declares: the types of its properties, its conformances.
    pub(crate) fn check_nominal(&mut self, n: NominalId) {
        if self.nominal_data(n).is_prelude {
            return;
        }
        crate::cancel::check();
        self.check_class(n);
        self.nominal_info(n);
        self.check_size(n);
        self.check_raw_values(n);
        self.enter_case_defaults(n);
        self.check_stored(n);
        self.check_promised_properties(n);
        self.check_continued(n);
        for i in 0..self.nominal_data(n).conformances.len() {
            if !self.is_redundant(n, i) {
                self.check_conformance(n, i);
            }
        }
        self.check_asked_vector(n);
    }

    /// The operators that are declared.
    pub fn operators(&self) -> &crate::syntax::OperatorTable {
        &self.operators
    }

    /// Sets the operators that are declared.
    pub fn set_operators(&mut self, operators: crate::syntax::OperatorTable) {
        self.operators = operators;
    }

    /// What `@differentiable` on a function promises.
    pub fn declared_promise(&mut self, f: FunctionId) -> Option<Rc<Promise>> {
        self.promise(f)
    }

    /// Whether a derivative that is registered for making an instance by an initialiser of a class keeps a promise of the
    /// initialiser.
    pub fn has_registered_allocation(&mut self, f: FunctionId, wrt: &[bool]) -> bool {
        self.resolve_registrations();
        let covers = |r: &crate::types::model::tables::Registered| {
            r.wrt.iter().zip(wrt.iter().skip(1)).all(|(has, wants)| *has || !wants)
        };
        self.fills_instance(f) && self.function_data(f).registered.iter().any(covers)
    }

    /// Whether a function is a closure or local function, which is compiled with the one around it.
    pub fn is_inside(&self, f: FunctionId) -> bool {
        let data = self.function_data(f);
        matches!(data.kind, FunctionKind::Closure | FunctionKind::Script)
            || data.outer.is_some()
            || !matches!(data.body, BodyState::Checked(_))
    }

    /// Whether a function stands inside of another one and can be compiled alone: it was checked, and nothing is generic in or
    /// around it.
    pub fn is_local(&mut self, f: FunctionId) -> bool {
        let is_plain = self.function(f).generics.is_empty();
        is_plain
            && self.is_local_function(f)
            && self.function_data(f).outer.as_ref().is_some_and(|env| env.params.is_empty())
    }

    /// Whether a function is declared inside of another one, and was checked.
    pub fn is_local_function(&self, f: FunctionId) -> bool {
        let data = self.function_data(f);
        matches!(data.body, BodyState::Checked(_))
            && data.outer.is_some()
            && !matches!(data.kind, FunctionKind::Closure | FunctionKind::Script)
    }

    /// Whether a function stands in an extension of a protocol.
    pub fn is_default_implementation(&self, f: FunctionId) -> bool {
        matches!(self.function_data(f).owner, Owner::Protocol(_))
    }

    /// A function with its types, on one line; `None` for closures and what was not checked.
    pub fn describe_function(&mut self, f: FunctionId) -> Option<String> {
        if self.is_inside(f) {
            return None;
        }
        let info = self.function_info(f);
        let params: Vec<String> = info.params.iter().map(|p| format!("{}: {}", p.name, self.show(&p.ty))).collect();
        let result = self.show(&info.result);
        Some(format!("func {} ({}) -> {result}", info.name, params.join(", ")))
    }

    /// The globals of the session, with their types, for a listing.
    pub fn global_types(&mut self) -> Vec<(String, String)> {
        let shown: Vec<(String, Option<Type>)> =
            self.globals.iter().filter(|g| !g.is_prelude).map(|g| (g.name.to_string(), g.ty.clone())).collect();
        shown.into_iter().map(|(n, t)| (n, t.map_or_else(|| "_".into(), |t| self.show(&t)))).collect()
    }
}

impl Declarations for World {
    fn nominal(&mut self, id: NominalId) -> Rc<Nominal> {
        self.nominal_info(id)
    }

    fn function(&mut self, id: FunctionId) -> Rc<Function> {
        self.function_info(id)
    }

    fn global(&mut self, id: GlobalId) -> Rc<Global> {
        let ty = self.global_type(id);
        let lazy = self.global_initial(id);
        let data = &self.globals[id.0 as usize];
        Rc::new(Global {
            name: data.name.clone(),
            ty,
            is_let: data.is_let,
            lazy,
            is_shared: data.is_shared,
            ownership: data.decl.as_ref().map_or(Ownership::Strong, |decl| ownership(decl)),
            span: data.span,
        })
    }

    fn body(&mut self, id: FunctionId) -> Option<Rc<Body>> {
        self.check_body(id)
    }

    fn witness(&mut self, protocol: ProtocolId, requirement: u32, of: &Type, generics: &[Type]) -> Option<FunctionRef> {
        let saved = std::mem::take(&mut self.env);
        let found = self.find_witness(protocol, requirement, of, generics);
        self.env = saved;
        found
    }

    fn override_of(&mut self, method: &FunctionRef, of: &Type) -> FunctionRef {
        self.nearest_override(method, of)
    }

    fn overridden(&mut self, method: FunctionId) -> Option<bool> {
        self.is_overridable(method).then(|| self.overridden.contains(&method))
    }

    fn requirement(&mut self, protocol: ProtocolId, requirement: u32) -> FunctionId {
        self.protocol_data(protocol).requirements[requirement as usize].function
    }

    fn rules(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
        self.rules_of(of, view)
    }

    fn unmet(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String> {
        self.unmet_by(of, view)
    }

    fn view(&mut self, of: &FunctionRef, at: Span) -> Option<u32> {
        self.view_of(of, at)
    }

    fn normalize(&mut self, ty: &Type) -> Type {
        let saved = std::mem::take(&mut self.env);
        let normal = self.normalize_type(ty);
        self.env = saved;
        normal
    }

    fn conforms(&mut self, ty: &Type, protocol: ProtocolId) -> bool {
        let saved = std::mem::take(&mut self.env);
        let conforms = self.conforms_to(ty, protocol);
        self.env = saved;
        conforms
    }

    fn is_value_of(&mut self, ty: &Type, of: &Existential) -> bool {
        let saved = std::mem::take(&mut self.env);
        let is_value = World::is_value_of(self, ty, of);
        self.env = saved;
        is_value
    }

    fn tangent_vector(&mut self, ty: &Type) -> Option<Type> {
        self.vector_of(ty)
    }

    fn own_vector(&mut self, ty: &Type) -> Option<Type> {
        World::own_vector(self, ty)
    }

    fn leaves_out(&mut self, ty: &Type, property: &str) -> bool {
        World::leaves_out(self, ty, property)
    }

    fn prelude_nominal(&mut self, name: &str) -> Option<NominalId> {
        self.library_entries(name).into_iter().find_map(|Entry { what, .. }| match what {
            Named::Nominal(n) => Some(n),
            _ => None,
        })
    }

    fn prelude_function(&mut self, name: &str) -> Option<FunctionId> {
        self.library_function(name)
    }

    fn by_own_equality(&mut self, primitive: &str, of: &Type) -> Option<FunctionId> {
        let saved = std::mem::take(&mut self.env);
        let found = World::by_own_equality(self, primitive, of);
        self.env = saved;
        found
    }

    fn moving(&mut self, getter: FunctionId) -> Option<(FunctionId, Option<FunctionId>)> {
        let declared = self.function_data(getter);
        if !declared.is_prelude {
            return None;
        }
        let decl = declared.decl.clone()?;
        let AttributeArgs::Text(names) = &decl.attribute("moving")?.args else { return None };
        let mut names = names.trim_matches(['"', ' ']).split(' ');
        let take = self.library_function(names.next()?)?;
        Some((take, names.next().and_then(|name| self.library_function(name))))
    }

    fn own_texts(&mut self, ty: &Type) -> Option<[FunctionRef; 2]> {
        let Type::Nominal(n, _) = ty else { return None };
        if self.nominal_data(*n).builtin.is_some() {
            return None;
        }
        let (plain, debug) = (self.protocol("CustomStringConvertible"), self.protocol("CustomDebugStringConvertible"));
        let (plain, debug) = (self.conforms_to(ty, plain), self.conforms_to(ty, debug));
        let mut text = |name| {
            let function = self.library_function(name)?;
            Some(FunctionRef { function, generics: vec![ty.clone()] })
        };
        let (alone, inside) = match (plain, debug) {
            (false, false) => return None,
            (true, false) => ("_ownText", "_ownText"),
            (false, true) => ("_ownDebugText", "_ownDebugText"),
            (true, true) => ("_ownText", "_ownDebugText"),
        };
        Some([text(alone)?, text(inside)?])
    }

    fn deinits(&mut self, ty: &Type) -> Vec<FunctionRef> {
        World::deinits(self, ty)
    }

    fn sees_ends(&self) -> bool {
        self.sees_ends
    }

    fn type_name(&mut self, ty: &Type) -> String {
        self.write_type(ty, false)
    }
}
