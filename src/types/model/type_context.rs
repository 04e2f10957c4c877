//! Type context: the tables that the checker reads and fills, grouped by lifetime.

use super::copy_on_write::CopyOnWrite;
use super::declaration_tables::{AliasData, Entry, Env, GlobalData, Group, NominalData, ParamData, ProtocolData};
use super::function_table::FunctionData;
use super::ty::{NominalId, ParamId, ProtocolId, Type};
use super::typed_tree::{FunctionId, GlobalId};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{Decl, Name};
use crate::types::model::declaration_tables::AliasUse;
use crate::types::model::declaration_tables::Named;
use crate::types::model::declaration_tables::Opaques;
use crate::types::model::declaration_tables::OpenDefault;
use crate::types::model::declaration_tables::Wrapper;
use crate::types::model::prelude_index::Prelude;
use crate::types::model::queries::Providers;
use crate::types::model::type_vars::TypeVars;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The state of the type checker in a session.
#[derive(Clone)]
pub struct TypeContext {
    /// The functions that answer queries of lower folders.
    pub(crate) providers: Providers,
    /// The declarations of the session. Entries are added and never removed while a module is checked.
    pub(crate) defs: Definitions,
    /// The memoized results of queries, and the queries in progress.
    pub(crate) memo: Memo,
    /// The generic environment of the code that is being checked.
    pub(crate) scope: Scope,
    /// The type variables of the inference in progress, which owns them; see [`with_type_vars`].
    pub(crate) vars: TypeVars,
    /// The diagnostics of the session.
    pub sink: DiagnosticSink,
    /// The state of the module that is being checked.
    pub module: ModuleState,
}

/// All declarations of a session.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    // The prompt retains a copy of the context, which it restores after an input with errors; most entries are equal in
    // both copies.
    pub(crate) nominals: Vec<CopyOnWrite<NominalData>>,
    pub(crate) protocols: Vec<CopyOnWrite<ProtocolData>>,
    pub(crate) params: Vec<ParamData>,
    pub(crate) functions: Vec<CopyOnWrite<FunctionData>>,
    /// The default values of the parts of enum cases.
    pub(crate) case_defaults: HashMap<(NominalId, u32, usize), FunctionId>,
    pub(crate) globals: Vec<GlobalData>,
    /// The global variable that each name at a source location of a script declares.
    pub(crate) globals_at: HashMap<(Name, Span), GlobalId>,
    pub(crate) aliases: Vec<AliasData>,
    pub(crate) groups: Vec<Group>,
    /// The names at the top level of the program's files.
    pub(crate) module: HashMap<Name, Vec<Entry>>,
    /// The names at the top level of the prelude that were entered so far.
    pub(crate) library: HashMap<Name, Vec<Entry>>,
    pub(crate) prelude: CopyOnWrite<Prelude>,
    /// The declared operators, which synthesized code and later inputs use.
    pub(crate) operators: crate::syntax::OperatorTable,
    /// The nominal types and protocols of the prelude that the checker itself uses, by name.
    pub(crate) known: HashMap<&'static str, Entry>,
    /// Whether any registered derivative is private to a file.
    pub(crate) has_private_rules: bool,
    /// Whether any registered derivative is for a requirement of a protocol.
    pub(crate) registers_for_requirements: bool,
    /// Whether the end of an instance can be observed (`deinit`, `weak`, `unowned`).
    pub(crate) sees_ends: bool,
    /// The parameter names of closures in global variables, for `∂(f, x)`.
    pub(crate) closure_names: HashMap<GlobalId, Vec<Name>>,
    /// The override of an inherited method in a class.
    pub(crate) overrides: HashMap<(FunctionId, NominalId), FunctionId>,
    /// The methods that are overridden in any class.
    pub(crate) overridden: HashSet<FunctionId>,
    /// The property wrappers of the session, by name.
    pub(crate) wrappers: HashMap<Name, Wrapper>,
    /// The names of result builders.
    pub(crate) builders: HashSet<Name>,
    /// The names of global actors, which are attributes without effect.
    pub(crate) global_actors: HashSet<Name>,
    /// The operators `&&` and `||` that types of the program declare.
    pub(crate) logical_operators: HashSet<Name>,
    /// The spans of local variables and parameters with a type of the form `T!`.
    pub(crate) unwrapping: HashSet<Span>,
}

/// Memoized results of queries, and the queries in progress.
#[derive(Clone, Default)]
pub(crate) struct Memo {
    /// The throwing version of each function that rethrows.
    pub(crate) throwing_versions: HashMap<FunctionId, FunctionId>,
    /// The stopping version of each function that may be called without `try`.
    pub(crate) stopping_versions: HashMap<FunctionId, FunctionId>,
    /// The failable version of each initializer that does not fail.
    pub(crate) failable_versions: HashMap<FunctionId, FunctionId>,
    /// The functions that satisfy requirements with cases of enums.
    pub(crate) case_accessors: HashMap<(NominalId, u32), FunctionId>,
    /// The default arguments that may determine a generic parameter.
    pub(crate) open_defaults: HashMap<FunctionId, OpenDefault>,
    /// The underlying types of opaque results.
    pub(crate) opaques: Opaques,
    /// The types that synthesized code refers to by a numbered name.
    pub(crate) synthesized_types: Vec<Type>,
    /// The conformance queries in progress, to prevent infinite recursion.
    pub(crate) conforming: Vec<(Type, ProtocolId)>,
    /// The generic types that were reported because of arguments that do not satisfy the requirements of the type.
    pub(crate) refused: Vec<Type>,
    /// The types to which generic aliases refer and that were reported because the arguments do not satisfy the
    /// requirements.
    pub(crate) refused_by_alias: Vec<Type>,
    /// The generic parameter that represents the type of the value in an existential.
    pub(crate) opened: Option<ParamId>,
    /// The protocols whose refinements are being computed, to detect a protocol that refines itself.
    pub(crate) refining: Vec<ProtocolId>,
    /// The number of declarations whose type inference waits for the type of another declaration.
    pub(crate) waiting_types: usize,
    /// The error to report if the number of waiting declarations exceeds its limit.
    pub(crate) waiting_error: Option<Diagnostic>,
}

/// The generic environment of the code that is being checked.
#[derive(Clone, Default)]
pub(crate) struct Scope {
    /// The generic parameters in scope and their requirements.
    pub(crate) env: Rc<Env>,
    /// The generic environment of the function that declares the type that is being entered.
    pub(crate) enclosing_env: Option<Rc<Env>>,
    /// The function whose result type is being resolved: `some P` in this type is an opaque type of the function.
    pub(crate) opaque_result: Option<FunctionId>,
}

impl TypeContext {
    /// Whether the program declares a name at the top level.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.defs.module.contains_key(name)
    }

    /// Returns a type context without declarations.
    pub(crate) fn new(providers: Providers) -> TypeContext {
        TypeContext {
            providers,
            defs: Definitions::default(),
            memo: Memo::default(),
            scope: Scope::default(),
            vars: TypeVars::default(),
            sink: DiagnosticSink::default(),
            module: ModuleState::default(),
        }
    }
}

/// Runs `then` in another generic environment. Only this function and `Infer::with_env`, its counterpart for inference,
/// change the environment.
pub(crate) fn with_env<A>(cx: &mut TypeContext, env: Rc<Env>, then: impl FnOnce(&mut TypeContext) -> A) -> A {
    let outer = std::mem::replace(&mut cx.scope.env, env);
    let result = then(cx);
    cx.scope.env = outer;
    result
}

/// Runs `then` while the declarations of a function body are entered: their types may use the generic parameters of the
/// function.
pub(crate) fn with_enclosing_env<A>(cx: &mut TypeContext, env: Rc<Env>, then: impl FnOnce(&mut TypeContext) -> A) -> A {
    let outer = cx.scope.enclosing_env.replace(env);
    let result = then(cx);
    cx.scope.enclosing_env = outer;
    result
}

/// Runs an inference with a separate table of type variables: the variables of the enclosing inference are not
/// accessible.
pub(crate) fn with_type_vars<A>(cx: &mut TypeContext, infer: impl FnOnce(&mut TypeContext) -> A) -> A {
    let outer = std::mem::take(&mut cx.vars);
    let result = infer(cx);
    cx.vars = outer;
    result
}

/// The state of the module that is being checked.
#[derive(Clone, Default)]
pub struct ModuleState {
    /// The former meanings of names that the current input declares again (at the prompt): the initial value of a
    /// variable may still refer to the former declarations.
    pub(crate) earlier: HashMap<Name, Vec<Entry>>,
    /// The number of files that were entered, which is the number of the next file.
    pub(crate) files: u32,
    /// Whether later inputs may declare a name again (at the prompt).
    pub is_interactive: bool,
    /// Whether the value of the script's last expression is requested.
    pub(crate) wants_value: bool,
    /// Whether opaque types are replaced by their underlying types: they are replaced in code generation, but not while
    /// bodies are checked.
    pub(crate) reveals_opaque_types: bool,
    /// The type of the value of the script's last expression, if any.
    pub(crate) script_result: Option<Type>,
    /// The names of the functions of a module that begins tasks, and whether all functions with the name throw.
    pub(crate) throwing_functions: HashMap<Name, bool>,
    /// The global variables of the script that is being checked.
    pub(crate) script_globals: Range<u32>,
    /// The registered derivatives whose original was not looked up yet: the declaration with the attribute, and the
    /// function.
    pub(crate) registrations: Vec<(Rc<Decl>, FunctionId)>,
    /// The functions that were converted to C functions, with the span of the conversion: such functions may capture
    /// nothing.
    pub(crate) c_functions: Vec<(FunctionId, Span)>,
    /// The calls of functions of the program that return nothing, and the functions that return a value although they
    /// declare no result type.
    pub(crate) calls_without_result: Vec<(FunctionId, Span)>,
    pub(crate) missing_results: Vec<FunctionId>,
    /// The uses of generic aliases whose requirements were not checked yet.
    pub(crate) alias_uses: Vec<AliasUse>,
    /// The quotients of integers of which a note is printed if they drop a remainder.
    pub(crate) noted_quotients: Vec<NotedQuotient>,
    /// The quotients without a note, by their offsets in the entered text: they must be integers.
    pub(crate) integer_quotients: Vec<u32>,
}

/// A quotient of integers of which a note is printed if it drops a remainder.
#[derive(Clone, Debug)]
pub(crate) struct NotedQuotient {
    pub(crate) span: Span,
    /// The offset of the quotient in the entered text.
    pub(crate) offset: u32,
    /// The quotient as a `Double`.
    pub(crate) edit: String,
}

/// The diagnostics of a session, and the source texts that they quote.
#[derive(Clone, Default)]
pub struct DiagnosticSink {
    /// The diagnostics reported so far; the session takes them from here.
    pub diagnostics: Vec<Diagnostic>,
    /// The indices of the diagnostics at each span, so that no diagnostic is reported twice.
    pub(crate) by_span: HashMap<Span, Vec<usize>>,
    /// The source texts: the offset and the text of each.
    pub(crate) texts: Vec<(u32, Rc<str>)>,
    /// The names of the source texts: the offset and the name of each.
    pub(crate) text_names: Vec<(u32, Rc<str>)>,
}

impl Definitions {
    pub(crate) fn function_data(&self, id: FunctionId) -> &FunctionData {
        &self.functions[id.0 as usize]
    }

    /// Returns the span of a declaration at the top level.
    pub(crate) fn entry_span(&self, entry: &Entry) -> Span {
        match entry.what {
            Named::Function(f) => self.function_data(f).span,
            Named::Global(g) => self.globals[g.0 as usize].span,
            Named::Nominal(n) => self.nominal_data(n).span,
            Named::Alias(a) => self.aliases[a.0 as usize].span,
            Named::Protocol(p) => self.protocol_data(p).span,
        }
    }

    pub(crate) fn nominal_data(&self, id: NominalId) -> &NominalData {
        &self.nominals[id.0 as usize]
    }

    pub(crate) fn nominal_data_mut(&mut self, id: NominalId) -> &mut NominalData {
        &mut self.nominals[id.0 as usize]
    }

    pub(crate) fn protocol_data(&self, id: ProtocolId) -> &ProtocolData {
        &self.protocols[id.0 as usize]
    }

    pub(crate) fn new_param(&mut self, name: &Name) -> ParamId {
        self.params.push(ParamData { name: name.clone() });
        ParamId(self.params.len() as u32 - 1)
    }

    pub(crate) fn add_function(&mut self, data: FunctionData) -> FunctionId {
        self.functions.push(data.into());
        FunctionId(self.functions.len() as u32 - 1)
    }

    /// Returns the type of a declaration inside the declaration itself, such as `Name<P1, P2>`.
    pub(crate) fn declared_type(&self, id: NominalId) -> Type {
        Type::Nominal(id, self.nominal_data(id).params.iter().map(|p| Type::Param(*p)).collect())
    }
}

impl DiagnosticSink {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let here = self.by_span.entry(diagnostic.primary.span).or_default();
        // Some diagnostics may have been withdrawn or taken by the session since the index was computed.
        if here.iter().all(|i| self.diagnostics.get(*i) != Some(&diagnostic)) {
            here.push(self.diagnostics.len());
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether there are so few diagnostics that further suggestions are useful: the search for names similar to an
    /// unknown name takes time, and only the first diagnostics are shown.
    pub(crate) fn still_suggests(&self) -> bool {
        const ENOUGH: usize = 100;
        self.diagnostics.len() < ENOUGH
    }
}
