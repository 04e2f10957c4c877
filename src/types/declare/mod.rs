//! Declarations: enters the names of a module into the tables first, so that their order does not matter, and leaves
//! types to be resolved on demand.

pub(crate) mod async_global;
pub(crate) mod attributes;
pub(crate) mod deinit;
pub(crate) mod inline_adjoint;
pub mod interactive_session;
pub(crate) mod lazy_property;
pub(crate) mod main_attribute;
pub(crate) mod member;
pub(crate) mod modifiers;
pub(crate) mod module_files;
pub(crate) mod parameters;
pub(crate) mod property_observers;
pub(crate) mod property_wrapper;
pub(crate) mod protocol;
pub(crate) mod redeclaration;
pub(crate) mod synthesized_declarations;
pub(crate) mod test_block;
pub(crate) mod tuple_property;

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    AttributeArgs, Binding, Decl, DeclKind, ExtensionDecl, Fixity, FunctionDecl, Generics, Ident, Name, NominalDecl,
    Param, PatternKind, Requirement as AstRequirement, TypeExpr, TypeExprKind,
};
use crate::types::declare::modifiers::DeclarationScope;
use crate::types::declare::redeclaration::redeclared;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::declaration_tables::{
    AliasData, AliasId, Code, Entry, FunctionKind, GlobalData, Group, GroupId, Named, NominalData, Owner,
    blank_function,
};
use crate::types::model::declaration_tables::{AliasMemo, GlobalMemo, GroupMemo, NominalMemo};
use crate::types::model::syntax_query::{bound_names, is_opaque, strip};
use crate::types::model::ty::NominalId;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{FunctionId, GlobalId};
use crate::types::names::name_lookup;
use hashbrown::HashMap;
use std::rc::Rc;

/// Enters a declaration of the top level. Members of an extension are attached at once, for which the extended type
/// must be known, so the types of a module must be entered before its extensions.
pub(super) fn declare_top(cx: &mut TypeContext, decl: &Rc<Decl>, file: u32, is_prelude: bool) {
    crate::cancel::check();
    if !is_prelude {
        attributes::check_attributes(cx, decl, DeclarationScope::Module);
        modifiers::check_modifiers(cx, decl, DeclarationScope::Module);
    }
    let is_private = decl.has("private") || decl.has("fileprivate");
    // The derivatives of the library's functions are separate functions, and the bodies of the library are not parsed
    // before they are used.
    let adjoint = if is_prelude { None } else { crate::types::declare::inline_adjoint::take_apart(decl) };
    if let Some((plain, derivative)) = adjoint {
        declare_top(cx, &Rc::new(plain), file, is_prelude);
        declare_top(cx, &Rc::new(derivative), file, is_prelude);
        return;
    }
    match &decl.kind {
        DeclKind::Function(function) => {
            let id = declare_function(cx, decl, function, Owner::Module, None, file, is_prelude);
            if &*function.name.name != "_" {
                enter(cx, &function.name, Named::Function(id), file, is_private, is_prelude);
            }
        }
        DeclKind::Formula { name, params, body } => {
            let mut data = blank_function(&name.name, name.span, file, is_prelude);
            data.decl = Some(decl.clone());
            data.ast_params = params.clone().into();
            data.code = Code::Expression(Rc::new(body.clone()));
            let id = cx.defs.add_function(data);
            enter(cx, name, Named::Function(id), file, is_private, is_prelude);
        }
        DeclKind::Test { name, body } => {
            let mut data = blank_function(&name.name, name.span, file, is_prelude);
            data.kind = FunctionKind::Test;
            data.decl = Some(decl.clone());
            data.code = Code::Block(Some(body.clone().into()));
            test_block::declare_test(cx, name, data);
        }
        DeclKind::Nominal(nominal) => {
            let id = declare_nominal(cx, decl, nominal, Owner::Module, None, file, is_prelude);
            enter(cx, &nominal.name, Named::Nominal(id), file, is_private, is_prelude);
        }
        DeclKind::Protocol(protocol) => {
            let id = protocol::declare_protocol(cx, protocol, file, is_prelude);
            enter(cx, &protocol.name, Named::Protocol(id), file, is_private, is_prelude);
        }
        DeclKind::Extension(extension) => declare_extension(cx, decl, extension, file, is_prelude),
        DeclKind::TypeAlias { name, generics, target } => {
            let id = declare_alias(cx, name, generics, target, Owner::Module, None, file);
            enter(cx, name, Named::Alias(id), file, is_private, is_prelude);
        }
        DeclKind::Variable { is_let, bindings } => {
            property_wrapper::refuse_wrapped(cx, decl);
            for binding in bindings {
                declare_global(cx, decl, *is_let, binding, file, is_prelude, is_private);
            }
        }
        DeclKind::Import { .. } | DeclKind::Operator { .. } | DeclKind::PrecedenceGroup { .. } => {}
        DeclKind::Init { .. }
        | DeclKind::Deinit(_)
        | DeclKind::Subscript { .. }
        | DeclKind::AssociatedType { .. }
        | DeclKind::Cases(_) => cx.sink.report(Diagnostic::error(
            DiagnosticCode::WrongContext,
            decl.span,
            "this declaration is only allowed inside a type",
        )),
    }
}

pub(super) fn enter(cx: &mut TypeContext, name: &Ident, what: Named, file: u32, is_private: bool, is_prelude: bool) {
    let entry = Entry { what, file, is_private };
    if is_prelude {
        return enter_in_library(cx, name, entry);
    }
    let interactive = cx.module.is_interactive;
    let entries = cx.defs.module.entry(name.name.clone()).or_default();
    let overloads = matches!(what, Named::Function(_));
    let clash = entries.iter().find(|e| {
        let both_functions = overloads && matches!(e.what, Named::Function(_));
        // The names `m` and `m(_:)` are distinct: a variable and a function may have them.
        let takes_arguments = |what: Named| match what {
            Named::Function(f) => !cx.defs.functions[f.0 as usize].ast_params.is_empty(),
            _ => false,
        };
        let beside = match (what, e.what) {
            (Named::Global(_), other) | (other, Named::Global(_)) => !interactive && takes_arguments(other),
            _ => false,
        };
        !both_functions && !beside && (e.file == file || !(e.is_private || is_private) || interactive)
    });
    if let Some(clash) = clash.copied() {
        if !interactive || clash.file == file {
            let before = cx.defs.entry_span(&clash);
            cx.sink.report(redeclared(&name.name, name.span, before));
            return;
        }
        cx.module.earlier.insert(name.name.clone(), std::mem::take(entries));
    } else if interactive && overloads {
        // A function that is declared again at the prompt replaces the earlier function with the same parameters:
        // the later entry is preferred.
        entries.retain(|e| matches!(e.what, Named::Function(_)));
    }
    entries.push(entry);
}

/// Enters a declaration of the library. The entries of a name are in the order of the library, in whichever order lookups
/// enter them.
fn enter_in_library(cx: &mut TypeContext, name: &Ident, entry: Entry) {
    let start = cx.defs.entry_span(&entry).start;
    let before = cx.defs.library.get(&name.name).map_or(&[][..], |entries| entries);
    let index = before.partition_point(|other| cx.defs.entry_span(other).start <= start);
    cx.defs.library.entry(name.name.clone()).or_default().insert(index, entry);
}

/// Enters a function that synthesized code of a file calls.
pub(super) fn enter_hidden(cx: &mut TypeContext, name: &Name, function: FunctionId, file: u32) {
    let entry = Entry { what: Named::Function(function), file, is_private: true };
    cx.defs.module.entry(name.clone()).or_default().push(entry);
}

pub(super) fn new_group(
    cx: &mut TypeContext,
    owner: Owner,
    requirements: Vec<AstRequirement>,
    inherits: Vec<TypeExpr>,
    file: u32,
    is_prelude: bool,
) -> GroupId {
    let id = GroupId(cx.defs.groups.len() as u32);
    cx.defs.groups.push(Group {
        owner,
        requirements,
        inherits,
        file,
        is_prelude,
        is_private: false,
        memo: GroupMemo::default(),
    });
    match owner {
        Owner::Nominal(n) => cx.defs.nominal_data_mut(n).groups.push(id),
        Owner::Protocol(p) => cx.defs.protocols[p.0 as usize].groups.push(id),
        Owner::Module => {}
    }
    id
}

pub(super) fn declare_function(
    cx: &mut TypeContext,
    decl: &Rc<Decl>,
    function: &FunctionDecl,
    owner: Owner,
    group: Option<GroupId>,
    file: u32,
    is_prelude: bool,
) -> FunctionId {
    let mut data = blank_function(&function.name.name, function.name.span, file, is_prelude);
    data.owner = owner;
    data.group = group;
    data.is_static = decl.has("static") || decl.has("class");
    data.is_mutating = decl.has("mutating");
    data.decl = Some(decl.clone());
    data.generics = function.generics.clone();
    data.ast_params = function.params.clone().into();
    data.ast_result = function.result.clone().map(Rc::new);
    // The witness of a requirement may be any function, so whether it throws follows from the declared keywords alone.
    let is_requirement = matches!(owner, Owner::Protocol(_)) && function.body.is_none();
    let rethrows = match is_prelude {
        true => {
            !function.throws
                && (function.rethrows
                    || !function.params.iter().any(crate::types::conform::rethrowing_function::is_throwing))
        }
        false => function.rethrows,
    };
    data.rethrows = if is_requirement { function.rethrows } else { rethrows };
    data.throws = function.throws || is_requirement && function.rethrows;
    data.code = Code::Block(function.body.clone());
    data.primitive = primitive_name(cx, decl, &function.name.name, is_prelude);
    if data.primitive.as_deref() == Some("instance.isUnique") {
        // A variable that is still in scope refers to its instance, even if it is not used again.
        cx.defs.sees_ends = true;
    }
    if !is_prelude && matches!(&*function.name.name, "&&" | "||") {
        cx.defs.logical_operators.insert(function.name.name.clone());
    }
    data.is_opaque = decl.attribute("opaque").is_some();
    data.fixity = fixity(decl);
    let id = cx.defs.add_function(data);
    attributes::note_registration(cx, decl, id);
    if !is_prelude {
        check_colons(cx, &function.params);
        parameters::check_written_params(cx, &function.params);
        parameters::check_written_generics(cx, &function.generics);
        parameters::check_rethrows(cx, owner, function);
    }
    id
}

/// Returns the position of an operator that a declaration marks.
pub(crate) fn fixity(decl: &Decl) -> Option<Fixity> {
    let marks = [("prefix", Fixity::Prefix), ("postfix", Fixity::Postfix)];
    marks.into_iter().find(|(word, _)| decl.has(word)).map(|(_, fixity)| fixity)
}

/// Returns the primitive that a declaration names with `@primitive`. Its types are not checked against the primitive,
/// so only the library may use the attribute.
pub(super) fn primitive_name(cx: &mut TypeContext, decl: &Decl, default: &str, is_prelude: bool) -> Option<Name> {
    let attribute = decl.attribute("primitive")?;
    if !is_prelude {
        let message = "'@primitive' can only be used in dscript's own library";
        cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, attribute.span, message));
        return None;
    }
    Some(match &attribute.args {
        AttributeArgs::Text(text) => Name::from(text.trim_matches(['"', ' '])),
        AttributeArgs::None | AttributeArgs::Differentiation(_) => default.into(),
    })
}

/// Reports a missing `:` and a misplaced `inout`: `x Double` is parsed as a label and a name, and no parameter has the
/// name of a library type.
fn check_colons(cx: &mut TypeContext, params: &[Param]) {
    for param in params {
        if let (Some(label), Some(ty)) = (&param.label, &param.ty)
            && &*label.name == "inout"
        {
            let message = "'inout' before a parameter name is not allowed, place it before the parameter type instead";
            let diagnostic = Diagnostic::error(DiagnosticCode::Syntax, label.span, message);
            let between = Span::new(label.span.start, ty.span.start);
            cx.sink.report(diagnostic.fix("move it there", between, format!("{}: inout ", param.name.name)));
        }
        if let (Some(label), None) = (&param.label, &param.ty)
            && builtin(&param.name.name).is_some()
        {
            let message = "expected ':' between a parameter name and its type";
            let between = Span::new(label.span.end, param.name.span.start);
            let diagnostic = Diagnostic::error(DiagnosticCode::Syntax, param.name.span, message);
            cx.sink.report(diagnostic.fix("write ':'", between, ": "));
        }
    }
}

pub(super) fn declare_alias(
    cx: &mut TypeContext,
    name: &Ident,
    generics: &Generics,
    target: &TypeExpr,
    owner: Owner,
    group: Option<GroupId>,
    file: u32,
) -> AliasId {
    let params = generics.params.iter().map(|(p, _)| cx.defs.new_param(&p.name)).collect();
    cx.defs.aliases.push(AliasData {
        name: name.name.clone(),
        generics: generics.clone(),
        params,
        target: Rc::new(target.clone()),
        group,
        owner,
        file,
        locals: Rc::default(),
        enclosing_env: None,
        is_private: false,
        span: name.span,
        memo: AliasMemo::default(),
    });
    AliasId(cx.defs.aliases.len() as u32 - 1)
}

/// Checks that a computed variable or property is a `var` with an explicit type.
pub(super) fn check_computed(cx: &mut TypeContext, decl: &Decl, is_let: bool, binding: &Binding) {
    let at = binding.pattern.span;
    if is_let {
        let diagnostic =
            Diagnostic::error(DiagnosticCode::WrongContext, at, "'let' declarations cannot be computed properties");
        let word = Span::new(decl.span.start, decl.span.start + 3);
        let fixed =
            if cx.sink.source_text(word) == "let" { diagnostic.fix("write 'var'", word, "var") } else { diagnostic };
        cx.sink.report(fixed);
    }
    if binding.ty.is_none() && !matches!(binding.pattern.kind, PatternKind::Typed(..)) {
        let message = "computed property must have an explicit type";
        cx.sink
            .report(Diagnostic::error(DiagnosticCode::CannotInfer, at, message).help("write ': Type' after the name"));
    }
}

/// Checks that a variable with a setter also has a getter.
pub(super) fn check_has_getter(cx: &mut TypeContext, binding: &Binding, name: &Ident) {
    let Some(accessors) = &binding.accessors else { return };
    if accessors.set.is_some() && accessors.get.is_none() && !accessors.is_requirement {
        let message = "variable with a setter must also have a getter";
        cx.sink.report(Diagnostic::error(DiagnosticCode::WrongContext, name.span, message).help("add 'get { … }'"));
    }
}

fn declare_global(
    cx: &mut TypeContext,
    decl: &Rc<Decl>,
    is_let: bool,
    binding: &Binding,
    file: u32,
    is_prelude: bool,
    is_private: bool,
) {
    if let (Some(accessors), PatternKind::Bind { name, .. }) = (&binding.accessors, &strip(&binding.pattern).kind)
        && (accessors.get.is_some() || accessors.is_requirement)
    {
        // A computed variable is a function without parameters that is called by its name alone.
        let ident = Ident { name: name.clone(), span: binding.pattern.span };
        check_computed(cx, decl, is_let, binding);
        let (getter, _) = member::declare_accessors(
            cx,
            decl,
            &ident,
            accessors,
            binding.ty.as_ref(),
            &[],
            Owner::Module,
            None,
            file,
            is_prelude,
        );
        enter(cx, &ident, Named::Function(getter), file, is_private, is_prelude);
        return;
    }
    if let PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind {
        check_has_getter(cx, binding, &Ident { name: name.clone(), span: binding.pattern.span });
    }
    if !is_prelude && !is_let && decl.has("lazy") && lazy_property::declare_lazy_global(cx, decl, binding, file) {
        return;
    }
    if !is_prelude && is_let && async_global::declare_async_global(cx, decl, binding, file) {
        return;
    }
    let has_initial = is_prelude || binding.value.is_some() || binding.accessors.is_some();
    if decl.has("lazy") && !is_let && !has_initial {
        lazy_property::report_missing_initial(cx, binding.pattern.span);
    }
    let is_lazy = is_prelude || decl.has("lazy") && has_initial;
    let mut names = vec![];
    bound_names(&binding.pattern, &mut names);
    let single = names.len() == 1 && matches!(strip(&binding.pattern).kind, PatternKind::Bind { .. });
    for (name, span, ty) in names {
        let id = add_global(
            cx,
            GlobalData {
                name: name.clone(),
                span,
                is_let,
                ty_expr: ty.or_else(|| binding.ty.clone().filter(|_| single)).filter(|ty| !is_opaque(ty)).map(Rc::new),
                value: binding.value.clone().filter(|_| single && is_lazy).map(Rc::new),
                has_value: binding.value.is_some(),
                group: None,
                owner: Owner::Module,
                file,
                is_lazy,
                is_shared: is_prelude,
                is_prelude,
                decl: Some(decl.clone()),
                getter: None,
                setter: None,
                memo: GlobalMemo::default(),
            },
        );
        let ident = Ident { name, span };
        property_observers::observe_global(cx, id, binding, &ident);
        enter(cx, &ident, Named::Global(id), file, is_private, is_prelude);
    }
}

/// Enters a variable that synthesized code of a file uses; its initial value is computed at the first use.
pub(super) fn add_hidden_global(
    cx: &mut TypeContext,
    name: &Name,
    value: crate::syntax::ast::Expr,
    decl: &Rc<Decl>,
    span: Span,
    file: u32,
) {
    let id = add_global(
        cx,
        GlobalData {
            name: name.clone(),
            span,
            is_let: false,
            ty_expr: None,
            value: Some(Rc::new(value)),
            has_value: true,
            group: None,
            owner: Owner::Module,
            file,
            is_lazy: true,
            is_shared: false,
            is_prelude: false,
            decl: Some(decl.clone()),
            getter: None,
            setter: None,
            memo: GlobalMemo::default(),
        },
    );
    let entry = Entry { what: Named::Global(id), file, is_private: true };
    cx.defs.module.entry(name.clone()).or_default().push(entry);
}

pub(super) fn add_global(cx: &mut TypeContext, data: GlobalData) -> GlobalId {
    let id = GlobalId(cx.defs.globals.len() as u32);
    cx.defs.globals_at.insert((data.name.clone(), data.span), id);
    cx.defs.globals.push(data);
    id
}

pub(super) fn declare_nominal(
    cx: &mut TypeContext,
    decl: &Rc<Decl>,
    nominal: &NominalDecl,
    parent: Owner,
    outer: Option<GroupId>,
    file: u32,
    is_prelude: bool,
) -> NominalId {
    let mut params = match parent {
        Owner::Nominal(p) => cx.defs.nominal_data(p).params.clone(),
        Owner::Module => cx.scope.enclosing_env.as_ref().map_or(vec![], |env| env.params.clone()),
        Owner::Protocol(_) => vec![],
    };
    params.extend(nominal.generics.params.iter().map(|(p, _)| cx.defs.new_param(&p.name)).collect::<Vec<_>>());
    property_wrapper::note_wrapper(cx, decl);
    let id = NominalId(cx.defs.nominals.len() as u32);
    let builtin = primitive_name(cx, decl, &nominal.name.name, is_prelude).and_then(|name| builtin(&name));
    let style = decl.attribute("style").and_then(|a| match &a.args {
        AttributeArgs::Text(text) => Some(Name::from(text.trim_matches(['"', ' ']))),
        AttributeArgs::None | AttributeArgs::Differentiation(_) => None,
    });
    let data = NominalData {
        name: nominal.name.name.clone(),
        kind: nominal.kind,
        span: nominal.name.span,
        parent,
        outer,
        params,
        own_params: nominal.generics.params.len(),
        generics: nominal.generics.clone(),
        group: GroupId(cx.defs.groups.len() as u32),
        groups: vec![],
        members: HashMap::new(),
        stored: vec![],
        cases: vec![],
        conformances: vec![],
        superclass: None,
        raw_type: None,
        builtin,
        style,
        is_indirect: decl.has("indirect"),
        is_final: decl.has("final"),
        is_private: decl.has("private"),
        locals: Rc::default(),
        enclosing_env: cx.scope.enclosing_env.clone().filter(|_| parent == Owner::Module),
        looks_up: decl.attribute("dynamicMemberLookup").is_some(),
        answers_calls: decl.attribute("dynamicCallable").is_some(),
        is_prelude,
        file,
        has_init: false,
        deinit: None,
        memo: NominalMemo::default(),
    };
    cx.defs.nominals.push(data.into());
    if !is_prelude {
        parameters::check_written_generics(cx, &nominal.generics);
    }
    let group = new_group(cx, Owner::Nominal(id), vec![], nominal.inherits.clone(), file, is_prelude);
    for member in &nominal.members {
        member::declare_member(cx, member, group);
    }
    id
}

fn declare_extension(cx: &mut TypeContext, decl: &Rc<Decl>, extension: &ExtensionDecl, file: u32, is_prelude: bool) {
    let Some(owner) = name_lookup::extended_owner(cx, &extension.target, file) else {
        if name_lookup::resolves_to_never(cx, &extension.target, file) {
            // The type `Never` conforms to every protocol, and has no values on which a member of the extension could
            // be called.
            return;
        }
        let text = name_lookup::unknown_type_diagnostic(cx, &extension.target);
        cx.sink.report(text);
        return;
    };
    let mut requirements = target_requirements(cx, owner, &extension.target);
    requirements.extend(extension.requirements.iter().cloned());
    let group = new_group(cx, owner, requirements, extension.inherits.clone(), file, is_prelude);
    cx.defs.groups[group.0 as usize].is_private = decl.has("private") || decl.has("fileprivate");
    for member in &extension.members {
        member::declare_member(cx, member, group);
    }
}

/// Returns the requirements that the type arguments of an extended type imply, as in
/// `extension Array<Int>` and `extension [Int]`.
fn target_requirements(cx: &mut TypeContext, owner: Owner, target: &TypeExpr) -> Vec<AstRequirement> {
    let arguments: Vec<&TypeExpr> = match &target.kind {
        TypeExprKind::Named(path) => path.last().map(|(_, arguments)| arguments.iter().collect()).unwrap_or_default(),
        TypeExprKind::Array(of) | TypeExprKind::Optional(of) => vec![of],
        TypeExprKind::Dictionary(key, value) => vec![key, value],
        _ => vec![],
    };
    if arguments.is_empty() {
        return vec![];
    }
    let names: Vec<Name> = match owner {
        Owner::Nominal(n) => {
            cx.defs.nominal_data(n).generics.params.iter().map(|(name, _)| name.name.clone()).collect()
        }
        Owner::Protocol(p) => cx.defs.protocol_data(p).primary.clone(),
        Owner::Module => vec![],
    };
    if names.len() != arguments.len() {
        let message = format!("'{}' takes {} type arguments", cx.sink.source_text(target.span), names.len());
        cx.sink.report(Diagnostic::error(DiagnosticCode::Types, target.span, message));
        return vec![];
    }
    let equal = names.into_iter().zip(arguments).map(|(name, argument)| {
        let left = TypeExprKind::Named(vec![(Ident { name, span: argument.span }, vec![])]);
        let left = TypeExpr { kind: left, span: argument.span };
        AstRequirement { left, same: true, right: argument.clone() }
    });
    equal.collect()
}

fn builtin(name: &str) -> Option<Builtin> {
    let int = |bits, signed| Some(Builtin::Int { bits, signed });
    match name {
        "Double" => Some(Builtin::Double),
        "Float" => Some(Builtin::Float),
        "Int" | "Int64" => int(64, true),
        "Int32" => int(32, true),
        "Int16" => int(16, true),
        "Int8" => int(8, true),
        "UInt" | "UInt64" => int(64, false),
        "UInt32" => int(32, false),
        "UInt16" => int(16, false),
        "UInt8" => int(8, false),
        "Bool" => Some(Builtin::Bool),
        "String" => Some(Builtin::String),
        "Character" => Some(Builtin::Character),
        "_TensorStorage" => Some(Builtin::TensorStorage),
        "Array" => Some(Builtin::Array),
        "Dictionary" => Some(Builtin::Dictionary),
        "Set" => Some(Builtin::Set),
        "Optional" => Some(Builtin::Optional),
        _ => None,
    }
}
