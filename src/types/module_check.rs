//! Module check: the interface of the type checker. Enters and checks the files of a module, and answers the queries of
//! `ir`.

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::{SourceMap, Span};
use crate::syntax;
use crate::syntax::ast::{AttributeArgs, File, Stmt};
use crate::types::check::exposed_type;
use crate::types::check::missing_result;
use crate::types::check::type_declaration;
use crate::types::check::unused_declarations;
use crate::types::conform::conformances;
use crate::types::conform::rethrowing_function;
use crate::types::conform::superclass;
use crate::types::conform::witness;
use crate::types::declare;
use crate::types::declare::async_global;
use crate::types::declare::interactive_session;
use crate::types::declare::main_attribute::entry;
use crate::types::declare::module_files;
use crate::types::declare::property_wrapper;
use crate::types::declare::redeclaration;
use crate::types::derivative::differentiability;
use crate::types::derivative::inherited_derivative;
use crate::types::derivative::nondifferentiable_requirement;
use crate::types::derivative::registered_derivatives;
use crate::types::derivative::registration;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::opaque_type;
use crate::types::generics::signature;
use crate::types::generics::type_arguments;
use crate::types::infer::call::generic_default;
use crate::types::infer::stmt::function_body;
use crate::types::model::declaration_info::{Declarations, Function, Global, Nominal, Rule};
use crate::types::model::declaration_tables::{
    BodyState, Code, Entry, FunctionKind, Group, Named, Owner, blank_function,
};
use crate::types::model::differentiability::Differentiability;
use crate::types::model::display;
use crate::types::model::prelude_index;
use crate::types::model::queries::Providers;
use crate::types::model::syntax_query::ownership;
use crate::types::model::ty::{Existential, NominalId, ProtocolId, Type};
use crate::types::model::type_context;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{Body, FunctionId, FunctionRef, GlobalId};
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::names::type_alias;
use crate::types::nominal::initializers;
use crate::types::nominal::overrides;
use crate::types::nominal::ownership;
use crate::types::nominal::stored_property;
use crate::types::resolved_declarations;
use crate::types::synthesize;
use crate::types::synthesize::custom_equality;
use crate::types::synthesize::custom_tangent;
use crate::types::synthesize::subclass_tangent;
use std::rc::Rc;

/// The functions that answer the queries of lower folders.
const PROVIDERS: Providers = Providers {
    declare_top: declare::declare_top,
    stored_type: stored_property::stored_type,
    global_type: stored_property::global_type,
    stored_accessor: stored_property::stored_accessor,
    case_accessor: stored_property::case_accessor,
    global_accessor: stored_property::global_accessor,
    global_setter: stored_property::global_setter,
    inherits_convenience: initializers::inherits_convenience,
    synthesize_member: synthesize::synthesize_member,
    synthesize_tangent_vector: synthesize::synthesize_tangent_vector,
    continue_tangent_vector: subclass_tangent::continue_tangent_vector,
    initializers: synthesize::initializers,
    default_init: synthesize::default_init,
    declared_wrt: differentiability::declared_wrt,
    check_body: function_body::check_body,
    check_expression_type: function_body::check_expression_type,
    check_formula: function_body::check_formula,
    note_open_defaults: generic_default::note_open_defaults,
    check_nominal: type_declaration::check_nominal,
};

/// Returns a type context in which the library can be found, and its files, which are the first files of a session.
pub fn context_with_prelude() -> (TypeContext, SourceMap) {
    let mut cx = TypeContext::new(PROVIDERS);
    cx.defs.operators = syntax::OperatorTable::standard();
    (cx, SourceMap::of_library(prelude_index::LIBRARY.files))
}

/// The result of entering and checking a module's files.
pub struct Checked {
    /// The function that runs the top-level statements of the module.
    pub script: FunctionId,
    /// The functions of the program, for later checks.
    pub functions: Vec<FunctionId>,
    /// The type of the last expression's value, if the caller requested it and the expression has a value.
    pub value: Option<Type>,
    /// Whether derivatives or transposes were registered, possibly for functions of earlier inputs.
    pub registers: bool,
    /// Whether types or protocols of earlier inputs were extended.
    pub extends: bool,
    /// Whether the module has no errors.
    pub ok: bool,
}

/// Enters and checks all files of a module. `texts` holds the sources that messages quote, each with its offset.
/// `wants_value` requests the type of the last expression.
pub fn check_module(cx: &mut TypeContext, files: &[File], texts: &[(u32, Rc<str>)], wants_value: bool) -> Checked {
    cx.sink.texts.extend(texts.iter().cloned());
    begin_module(cx, wants_value);
    let before = cx.defs.functions.len();
    let nominals_before = cx.defs.nominals.len();
    let extensible = [nominals_before, cx.defs.protocols.len(), cx.defs.groups.len()];
    let counts_before = unused_declarations::declaration_counts(cx);
    let globals_before = cx.defs.globals.len() as u32;
    let errors_before = cx.sink.diagnostics.iter().filter(|d| d.is_error()).count();
    let numbered: Vec<(u32, &File)> = files.iter().map(|file| (next_file_number(cx), file)).collect();
    for (_, file) in &numbered {
        property_wrapper::note_wrappers(cx, file);
    }
    async_global::note_throwing_functions(cx, &numbered);
    module_files::enter_files(cx, &numbered);
    let registers = cx.module.registrations.iter().any(|(_, f)| !cx.defs.function_data(*f).is_prelude);
    let extended = extended_owners(cx, extensible);
    redeclaration::check_functions(cx, before);
    exposed_type::check_files(cx, &numbered);
    interactive_session::replace_functions(cx, before);
    for n in nominals_before..cx.defs.nominals.len() {
        overrides::link_class(cx, NominalId(n as u32));
    }
    cx.module.script_globals = globals_before..cx.defs.globals.len() as u32;
    let script = check_script(cx, &numbered);
    registration::resolve_registrations(cx);
    check_types(cx, nominals_before, &extended);
    crate::types::flow::check_circles(cx, globals_before..cx.defs.globals.len() as u32);
    let functions = check_functions(cx, before);
    check_c_functions(cx);
    missing_result::withdraw_consequences(cx);
    unused_declarations::check_declarations_since(cx, counts_before);
    type_alias::check_alias_uses(cx);
    opaque_type::check_opaques(cx);
    // From here on, types are queried by the stages that generate code.
    cx.module.reveals_opaque_types = true;
    let errors = cx.sink.diagnostics.iter().filter(|d| d.is_error()).count();
    let value = cx.module.script_result.clone();
    Checked { script, functions, value, registers, extends: !extended.is_empty(), ok: errors == errors_before }
}

/// Resets what is known of the module before.
fn begin_module(cx: &mut TypeContext, wants_value: bool) {
    cx.module.reveals_opaque_types = false;
    cx.module.wants_value = wants_value;
    cx.module.earlier.clear();
    cx.module.script_result = None;
    cx.module.noted_quotients.clear();
}

fn next_file_number(cx: &mut TypeContext) -> u32 {
    let number = cx.module.files;
    cx.module.files += 1;
    number
}

/// Checks the statements of the files, which are the body of a function without parameters. The result of the function is the value of
/// the last statement, if the session wants one.
fn check_script(cx: &mut TypeContext, numbered: &[(u32, &File)]) -> FunctionId {
    let items: Vec<(u32, Stmt)> =
        numbered.iter().flat_map(|(n, f)| f.items.iter().map(|s| (*n, s.clone()))).chain(entry(numbered)).collect();
    let span = items.first().map_or(Span::default(), |(_, s)| s.span);
    let mut data = blank_function(&"‹script›".into(), span, numbered.first().map_or(0, |(n, _)| *n), false);
    data.kind = FunctionKind::Script;
    data.code = Code::Script(Rc::new(items));
    let script = cx.defs.add_function(data);
    function_body::check_body(cx, script);
    if let Some(ty) = cx.module.script_result.clone() {
        let signature = signature::signature(cx, script);
        let known = crate::types::model::declaration_tables::Signature { result: ty, ..(*signature).clone() };
        cx.defs.functions[script.0 as usize].memo.signature = Some(Rc::new(known));
        cx.defs.functions[script.0 as usize].memo.info = None;
    }
    script
}

/// Checks the types of the module, and the types of earlier modules that it extends.
fn check_types(cx: &mut TypeContext, nominals_before: usize, extended: &[Owner]) {
    for n in nominals_before..cx.defs.nominals.len() {
        type_declaration::check_nominal(cx, NominalId(n as u32));
    }
    if !extended.is_empty() {
        subclass_tangent::reconsider_superclasses(cx);
    }
    for owner in extended {
        if let Owner::Nominal(n) = owner
            && !cx.defs.nominal_data(*n).is_prelude
        {
            conformances::enter_conformances(cx, *n);
            type_declaration::check_conformances(cx, *n);
        }
    }
}

/// Checks the functions of the module, also those that are entered meanwhile. Returns the functions with bodies.
fn check_functions(cx: &mut TypeContext, before: usize) -> Vec<FunctionId> {
    let mut functions = vec![];
    let mut at = before;
    while at < cx.defs.functions.len() {
        crate::cancel::check();
        let f = FunctionId(at as u32);
        at += 1;
        if !cx.defs.function_data(f).is_prelude && check_function(cx, f) {
            functions.push(f);
        }
    }
    functions
}

/// Checks a function; returns whether it has a body of its own.
fn check_function(cx: &mut TypeContext, f: FunctionId) -> bool {
    // The body of a function that rethrows is checked in its throwing version, where `try` is required.
    if let Some(version) = rethrowing_function::throwing_version(cx, f) {
        function_body::check_body(cx, version);
    }
    if cx.memo.throwing_versions.values().any(|version| *version == f) {
        return false;
    }
    differentiability::differentiability(cx, f);
    let data = cx.defs.function_data(f);
    if data.primitive.is_some() || data.requirement.is_some() {
        return false;
    }
    let is_checked = matches!(data.memo.body, BodyState::Checked(_));
    if matches!(data.code, Code::Block(None)) && !is_checked {
        if data.decl.is_some() {
            function_body::check_body(cx, f);
        }
        return false;
    }
    if matches!(data.kind, FunctionKind::Function | FunctionKind::Init { .. }) {
        type_arguments::check_signature(cx, f);
    }
    differentiability::check_default_attribute(cx, f);
    inherited_derivative::check_inherited_derivative(cx, f);
    signature::signature(cx, f);
    if let Some(body) = function_body::check_body(cx, f) {
        nondifferentiable_requirement::check_called_requirements(cx, f, &body);
    }
    true
}

/// Returns the owners of the groups of members that the program added after the first `groups` ones to types and protocols of
/// earlier inputs. An extension of a type of the library counts if it declares conformances.
fn extended_owners(cx: &TypeContext, [types, protocols, groups]: [usize; 3]) -> Vec<Owner> {
    let added = cx.defs.groups.iter().skip(groups).filter(|group| !group.is_prelude);
    let is_earlier = |group: &&Group| match group.owner {
        Owner::Nominal(n) => {
            (n.0 as usize) < types && !(cx.defs.nominal_data(n).is_prelude && group.inherits.is_empty())
        }
        Owner::Protocol(p) => (p.0 as usize) < protocols && !cx.defs.protocol_data(p).is_prelude,
        Owner::Module => false,
    };
    added.filter(is_earlier).map(|group| group.owner).collect()
}

/// Reports functions converted to C functions that capture variables: a C function pointer has no context.
fn check_c_functions(cx: &mut TypeContext) {
    for (f, span) in std::mem::take(&mut cx.module.c_functions) {
        if function_body::check_body(cx, f).is_some_and(|body| !body.captures.is_empty()) {
            let kind =
                if cx.defs.function_data(f).kind == FunctionKind::Closure { "closure" } else { "local function" };
            let message = format!("a C function pointer cannot be formed from a {kind} that captures context");
            cx.sink.report(Diagnostic::error(DiagnosticCode::Mismatch, span, message));
        }
    }
}

/// Returns the operators that are declared in the session.
pub fn operators(cx: &TypeContext) -> &crate::syntax::OperatorTable {
    &cx.defs.operators
}

/// Replaces the operators that are declared in the session.
pub fn set_operators(cx: &mut TypeContext, operators: crate::syntax::OperatorTable) {
    cx.defs.operators = operators;
}

/// Returns the differentiability that `@differentiable` states for a function.
pub fn declared_differentiability(cx: &mut TypeContext, f: FunctionId) -> Option<Rc<Differentiability>> {
    differentiability::differentiability(cx, f)
}

/// Whether a derivative that is registered for creating an instance with a class initializer covers the parameters
/// `wrt` of a `@differentiable` attribute of that initializer.
pub fn has_registered_creation(cx: &mut TypeContext, f: FunctionId, wrt: &[bool]) -> bool {
    registration::resolve_registrations(cx);
    let covers = |r: &crate::types::model::declaration_tables::Registered| {
        r.wrt.iter().zip(wrt.iter().skip(1)).all(|(has, wants)| *has || !wants)
    };
    superclass::fills_instance(cx, f) && cx.defs.function_data(f).registered.iter().any(covers)
}

/// Whether a function is compiled as a part of another function, or is not compiled: a closure, a script, a local
/// function, or a function without a checked body.
pub fn is_inside(cx: &TypeContext, f: FunctionId) -> bool {
    let data = cx.defs.function_data(f);
    matches!(data.kind, FunctionKind::Closure | FunctionKind::Script)
        || data.outer.is_some()
        || !matches!(data.memo.body, BodyState::Checked(_))
}

/// Whether a function is declared in an extension of a protocol.
pub fn is_default_implementation(cx: &TypeContext, f: FunctionId) -> bool {
    matches!(cx.defs.function_data(f).owner, Owner::Protocol(_))
}

/// Formats a function with its types on one line; `None` for closures and unchecked functions.
pub fn describe_function(cx: &mut TypeContext, f: FunctionId) -> Option<String> {
    if is_inside(cx, f) {
        return None;
    }
    let info = resolved_declarations::resolved_function(cx, f);
    let params: Vec<String> = info.params.iter().map(|p| format!("{}: {}", p.name, display::show(cx, &p.ty))).collect();
    let result = display::show(cx, &info.result);
    Some(format!("func {} ({}) -> {result}", info.name, params.join(", ")))
}

/// Returns the globals of the session with their types, formatted for a listing.
pub fn global_types(cx: &mut TypeContext) -> Vec<(String, String)> {
    let shown: Vec<(String, Option<Type>)> =
        cx.defs.globals.iter().filter(|g| !g.is_prelude).map(|g| (g.name.to_string(), g.memo.ty.clone())).collect();
    shown.into_iter().map(|(n, t)| (n, t.map_or_else(|| "_".into(), |t| display::show(cx, &t)))).collect()
}

impl Declarations for TypeContext {
    fn nominal(&mut self, id: NominalId) -> Rc<Nominal> {
        resolved_declarations::resolved_nominal(self, id)
    }

    fn function(&mut self, id: FunctionId) -> Rc<Function> {
        resolved_declarations::resolved_function(self, id)
    }

    fn global(&mut self, id: GlobalId) -> Rc<Global> {
        let ty = stored_property::global_type(self, id);
        let lazy = stored_property::global_initial(self, id);
        let data = &self.defs.globals[id.0 as usize];
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
        function_body::check_body(self, id)
    }

    fn witness(&mut self, protocol: ProtocolId, requirement: u32, of: &Type, generics: &[Type]) -> Option<FunctionRef> {
        type_context::with_env(self, Rc::default(), |cx| witness::find_witness(cx, protocol, requirement, of, generics))
    }

    fn override_of(&mut self, method: &FunctionRef, of: &Type) -> FunctionRef {
        overrides::nearest_override(self, method, of)
    }

    fn overridden(&mut self, method: FunctionId) -> Option<bool> {
        superclass::is_overridable(self, method).then(|| self.defs.overridden.contains(&method))
    }

    fn requirement(&mut self, protocol: ProtocolId, requirement: u32) -> FunctionId {
        self.defs.protocol_data(protocol).requirements[requirement as usize].function
    }

    fn rules(&mut self, of: &FunctionRef, view: Option<u32>) -> Vec<Rule> {
        registered_derivatives::rules_of(self, of, view)
    }

    fn unmet(&mut self, of: &FunctionRef, view: Option<u32>) -> Option<String> {
        registered_derivatives::unmet_by(self, of, view)
    }

    fn view(&mut self, of: &FunctionRef, at: Span) -> Option<u32> {
        registered_derivatives::view_of(self, of, at)
    }

    fn normalize(&mut self, ty: &Type) -> Type {
        type_context::with_env(self, Rc::default(), |cx| associated_type::normalize_type(cx, ty))
    }

    fn conforms(&mut self, ty: &Type, protocol: ProtocolId) -> bool {
        type_context::with_env(self, Rc::default(), |cx| conformances::conforms_to(cx, ty, protocol))
    }

    fn is_value_of(&mut self, ty: &Type, of: &Existential) -> bool {
        type_context::with_env(self, Rc::default(), |cx| existential::is_value_of(cx, ty, of))
    }

    fn tangent_vector(&mut self, ty: &Type) -> Option<Type> {
        custom_tangent::vector_of(self, ty)
    }

    fn own_vector(&mut self, ty: &Type) -> Option<Type> {
        custom_tangent::own_vector(self, ty)
    }

    fn leaves_out(&mut self, ty: &Type, property: &str) -> bool {
        custom_tangent::leaves_out(self, ty, property)
    }

    fn prelude_nominal(&mut self, name: &str) -> Option<NominalId> {
        prelude::library_entries(self, name).into_iter().find_map(|Entry { what, .. }| match what {
            Named::Nominal(n) => Some(n),
            _ => None,
        })
    }

    fn prelude_function(&mut self, name: &str) -> Option<FunctionId> {
        prelude::library_function(self, name)
    }

    fn by_own_equality(&mut self, primitive: &str, of: &Type) -> Option<FunctionId> {
        type_context::with_env(self, Rc::default(), |cx| custom_equality::by_own_equality(cx, primitive, of))
    }

    fn moving(&mut self, getter: FunctionId) -> Option<(FunctionId, Option<FunctionId>)> {
        let declared = self.defs.function_data(getter);
        if !declared.is_prelude {
            return None;
        }
        let decl = declared.decl.clone()?;
        let AttributeArgs::Text(names) = &decl.attribute("moving")?.args else { return None };
        let mut names = names.trim_matches(['"', ' ']).split(' ');
        let take = prelude::library_function(self, names.next()?)?;
        Some((take, names.next().and_then(|name| prelude::library_function(self, name))))
    }

    fn custom_descriptions(&mut self, ty: &Type) -> Option<[FunctionRef; 2]> {
        let Type::Nominal(n, _) = ty else { return None };
        if self.defs.nominal_data(*n).builtin.is_some() {
            return None;
        }
        let (plain, debug) = (
            name_lookup::protocol(self, "CustomStringConvertible"),
            name_lookup::protocol(self, "CustomDebugStringConvertible"),
        );
        let (plain, debug) = (conformances::conforms_to(self, ty, plain), conformances::conforms_to(self, ty, debug));
        let mut text = |name| {
            let function = prelude::library_function(self, name)?;
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
        ownership::deinits(self, ty)
    }

    fn sees_ends(&self) -> bool {
        self.defs.sees_ends
    }

    fn type_name(&mut self, ty: &Type) -> String {
        display::write_type(self, ty, false)
    }
}
