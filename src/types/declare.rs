//! Entering declarations: names first, so that their order does not matter; types are worked out when they are asked for.

use super::prelude::PRELUDE_FILE;
use super::store::{
    AliasData, AliasId, AssociatedData, CaseData, Code, Entry, FunctionKind, GlobalData, Group, GroupId, Member,
    MemberKind, Named, NominalData, Owner, ProtocolData, RequirementData, RequirementKind, StoredData, World,
    blank_function,
};
use super::tree::{FunctionId, GlobalId};
use super::ty::{NominalId, ProtocolId};
use super::world::Builtin;
use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Accessors, AttributeArgs, Binding, Block, Decl, DeclKind, Expr, ExprKind, ExtensionDecl, Fixity, FunctionDecl,
    Generics, Ident, Name, NominalDecl, NominalKind, Param, Pattern, PatternKind, ProtocolDecl,
    Requirement as AstRequirement, TypeExpr, TypeExprKind,
};
use hashbrown::HashMap;
use std::rc::Rc;

impl World {
    /// Enters a declaration of the top level. Extensions are attached at once when their type is known, so a user's types
    /// must be entered before a user's extensions.
    pub(super) fn declare_top(&mut self, decl: &Rc<Decl>, file: u32, is_prelude: bool) {
        let is_private = decl.has("private") || decl.has("fileprivate");
        match &decl.kind {
            DeclKind::Function(function) => {
                let id = self.declare_function(decl, function, Owner::Module, None, file, is_prelude);
                if &*function.name.name != "_" {
                    self.enter(&function.name, Named::Function(id), file, is_private, is_prelude);
                }
            }
            DeclKind::Formula { name, params, body } => {
                let mut data = blank_function(&name.name, name.span, file, is_prelude);
                data.decl = Some(decl.clone());
                data.ast_params = params.clone().into();
                data.code = Code::Expression(Rc::new(body.clone()));
                let id = self.add_function(data);
                self.enter(name, Named::Function(id), file, is_private, is_prelude);
            }
            DeclKind::Nominal(nominal) => {
                let id = self.declare_nominal(decl, nominal, Owner::Module, None, file, is_prelude);
                self.enter(&nominal.name, Named::Nominal(id), file, is_private, is_prelude);
            }
            DeclKind::Protocol(protocol) => {
                let id = self.declare_protocol(protocol, file, is_prelude);
                self.enter(&protocol.name, Named::Protocol(id), file, is_private, is_prelude);
            }
            DeclKind::Extension(extension) => self.declare_extension(decl, extension, file, is_prelude),
            DeclKind::TypeAlias { name, generics, target } => {
                let id = self.declare_alias(name, generics, target, Owner::Module, None, file);
                self.enter(name, Named::Alias(id), file, is_private, is_prelude);
            }
            DeclKind::Variable { is_let, bindings } => {
                for binding in bindings {
                    self.declare_global(decl, *is_let, binding, file, is_prelude, is_private);
                }
            }
            DeclKind::Import { .. } | DeclKind::Operator { .. } | DeclKind::PrecedenceGroup { .. } => {}
            DeclKind::Init { .. }
            | DeclKind::Deinit(_)
            | DeclKind::Subscript { .. }
            | DeclKind::AssociatedType { .. }
            | DeclKind::Cases(_) => self.report(Diagnostic::error(
                DiagnosticCode::WrongContext,
                decl.span,
                "this declaration is only allowed inside a type",
            )),
        }
    }

    fn enter(&mut self, name: &Ident, what: Named, file: u32, is_private: bool, is_prelude: bool) {
        let entry = Entry { what, file, is_private };
        let interactive = self.is_interactive;
        let table = if is_prelude { &mut self.library } else { &mut self.module };
        let entries = table.entry(name.name.clone()).or_default();
        if !is_prelude {
            let overloads = matches!(what, Named::Function(_));
            let clash = entries.iter().any(|e| {
                let both_functions = overloads && matches!(e.what, Named::Function(_));
                !both_functions && (e.file == file || !(e.is_private || is_private))
            });
            if clash && interactive {
                entries.clear();
            } else if clash {
                let message = format!("invalid redeclaration of '{}'", name.name);
                self.diagnostics.push(Diagnostic::error(DiagnosticCode::Redeclared, name.span, message));
                return;
            } else if interactive && overloads {
                // A function defined anew at the prompt replaces the one of the same shape: the later entry is preferred.
                entries.retain(|e| matches!(e.what, Named::Function(_)));
            }
        }
        entries.push(entry);
    }

    pub(super) fn new_group(
        &mut self,
        owner: Owner,
        requirements: Vec<AstRequirement>,
        inherits: Vec<TypeExpr>,
        file: u32,
        is_prelude: bool,
    ) -> GroupId {
        let id = GroupId(self.groups.len() as u32);
        self.groups.push(Group {
            owner,
            requirements,
            inherits,
            file,
            is_prelude,
            env: None,
            conformances_entered: false,
            is_private: false,
        });
        match owner {
            Owner::Nominal(n) => self.nominal_data_mut(n).groups.push(id),
            Owner::Protocol(p) => self.protocols[p.0 as usize].groups.push(id),
            Owner::Module => {}
        }
        id
    }

    pub(super) fn declare_function(
        &mut self,
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
        data.throws = function.throws;
        data.code = Code::Block(function.body.clone().map(Rc::new));
        data.primitive = self.primitive_name(decl, &function.name.name, is_prelude);
        data.is_opaque = decl.attribute("opaque").is_some();
        data.fixity = [("prefix", Fixity::Prefix), ("postfix", Fixity::Postfix)]
            .into_iter()
            .find(|(word, _)| decl.has(word))
            .map(|(_, fixity)| fixity);
        let id = self.add_function(data);
        self.note_registration(decl, id);
        id
    }

    /// The primitive that a declaration stands for. Its types are taken on trust, so only the library may name one.
    fn primitive_name(&mut self, decl: &Decl, default: &str, is_prelude: bool) -> Option<Name> {
        let attribute = decl.attribute("primitive")?;
        if !is_prelude {
            let message = "'@primitive' can only be used in dscript's own library";
            self.report(Diagnostic::error(DiagnosticCode::WrongContext, attribute.span, message));
            return None;
        }
        Some(match &attribute.args {
            AttributeArgs::Text(text) => Name::from(text.trim_matches(['"', ' '])),
            AttributeArgs::None | AttributeArgs::Differentiation(_) => default.into(),
        })
    }

    pub(super) fn declare_alias(
        &mut self,
        name: &Ident,
        generics: &Generics,
        target: &TypeExpr,
        owner: Owner,
        group: Option<GroupId>,
        file: u32,
    ) -> AliasId {
        let params = generics.params.iter().map(|(p, _)| self.new_param(&p.name)).collect();
        self.aliases.push(AliasData {
            name: name.name.clone(),
            generics: generics.clone(),
            params,
            target: Rc::new(target.clone()),
            group,
            owner,
            file,
            resolved: None,
            resolving: false,
            span: name.span,
        });
        AliasId(self.aliases.len() as u32 - 1)
    }

    fn declare_global(
        &mut self,
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
            // A computed variable: a function without parameters that is called by its name alone.
            let ident = Ident { name: name.clone(), span: binding.pattern.span };
            let (getter, _) = self.declare_accessors(
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
            self.enter(&ident, Named::Function(getter), file, is_private, is_prelude);
            return;
        }
        let mut names = vec![];
        bound_names(&binding.pattern, &mut names);
        let single = names.len() == 1 && matches!(strip(&binding.pattern).kind, PatternKind::Bind { .. });
        for (name, span, ty) in names {
            let id = self.add_global(GlobalData {
                name: name.clone(),
                span,
                is_let,
                ty: None,
                ty_expr: ty.or_else(|| binding.ty.clone().filter(|_| single)).map(Rc::new),
                value: binding.value.clone().filter(|_| single && is_prelude).map(Rc::new),
                group: None,
                owner: Owner::Module,
                file,
                lazy: None,
                is_lazy: is_prelude,
                is_shared: is_prelude,
                resolving: false,
                is_prelude,
            });
            self.enter(&Ident { name, span }, Named::Global(id), file, is_private, is_prelude);
        }
    }

    fn add_global(&mut self, data: GlobalData) -> GlobalId {
        self.globals.push(data);
        GlobalId(self.globals.len() as u32 - 1)
    }

    pub(super) fn declare_nominal(
        &mut self,
        decl: &Rc<Decl>,
        nominal: &NominalDecl,
        parent: Owner,
        outer: Option<GroupId>,
        file: u32,
        is_prelude: bool,
    ) -> NominalId {
        let mut params = match parent {
            Owner::Nominal(p) => self.nominal_data(p).params.clone(),
            Owner::Module | Owner::Protocol(_) => vec![],
        };
        params.extend(nominal.generics.params.iter().map(|(p, _)| self.new_param(&p.name)).collect::<Vec<_>>());
        let id = NominalId(self.nominals.len() as u32);
        let builtin = self.primitive_name(decl, &nominal.name.name, is_prelude).and_then(|name| builtin(&name));
        let style = decl.attribute("style").and_then(|a| match &a.args {
            AttributeArgs::Text(text) => Some(Name::from(text.trim_matches(['"', ' ']))),
            AttributeArgs::None | AttributeArgs::Differentiation(_) => None,
        });
        self.nominals.push(NominalData {
            name: nominal.name.name.clone(),
            kind: nominal.kind,
            span: nominal.name.span,
            parent,
            outer,
            params,
            own_params: nominal.generics.params.len(),
            generics: nominal.generics.clone(),
            group: GroupId(self.groups.len() as u32),
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
            is_prelude,
            file,
            info: None,
            has_init: false,
            memberwise: None,
            synthesized: vec![],
        });
        let group = self.new_group(Owner::Nominal(id), vec![], nominal.inherits.clone(), file, is_prelude);
        for member in &nominal.members {
            self.declare_member(member, group);
        }
        id
    }

    fn declare_extension(&mut self, decl: &Rc<Decl>, extension: &ExtensionDecl, file: u32, is_prelude: bool) {
        let Some(owner) = self.extended_owner(&extension.target, file) else {
            let text = self.unknown_type_diagnostic(&extension.target);
            self.report(text);
            return;
        };
        let group = self.new_group(owner, extension.requirements.clone(), extension.inherits.clone(), file, is_prelude);
        self.groups[group.0 as usize].is_private = decl.has("private") || decl.has("fileprivate");
        for member in &extension.members {
            self.declare_member(member, group);
        }
    }

    /// Enters a member of a type, protocol or extension.
    pub(super) fn declare_member(&mut self, decl: &Rc<Decl>, group: GroupId) {
        let Group { owner, file, is_prelude, is_private, .. } = self.groups[group.0 as usize];
        let is_private = is_private || decl.has("private") || decl.has("fileprivate");
        let is_static = decl.has("static") || decl.has("class");
        let is_protocol_body = match owner {
            Owner::Protocol(p) => self.protocol_data(p).group == group,
            Owner::Nominal(_) | Owner::Module => false,
        };
        if is_protocol_body {
            self.declare_requirement(decl, owner, group);
            return;
        }
        let member = |kind| Member { kind, is_static, group, file, is_private };
        match &decl.kind {
            DeclKind::Function(function) => {
                let id = self.declare_function(decl, function, owner, Some(group), file, is_prelude);
                self.functions[id.0 as usize].is_static |= is_operator(&function.name.name);
                if &*function.name.name != "_" {
                    let is_static = is_static || is_operator(&function.name.name);
                    self.add_member(owner, &function.name.name, Member { is_static, ..member(MemberKind::Method(id)) });
                }
            }
            DeclKind::Formula { name, .. } => self.report(Diagnostic::error(
                DiagnosticCode::WrongContext,
                name.span,
                "a formula can be defined at the top level only",
            )),
            DeclKind::Init { failable, function } => {
                let id = self.declare_function(decl, function, owner, Some(group), file, is_prelude);
                let data = &mut self.functions[id.0 as usize];
                data.kind = FunctionKind::Init { failable: *failable };
                data.base_name = "init".into();
                self.add_member(owner, "init", Member { is_static: true, ..member(MemberKind::Init(id)) });
                if let Owner::Nominal(n) = owner {
                    let data = self.nominal_data_mut(n);
                    data.has_init |= data.group == group;
                }
            }
            DeclKind::Subscript { function, accessors } => {
                let name = Ident { name: "subscript".into(), span: function.name.span };
                let (get, set) = self.declare_accessors(
                    decl,
                    &name,
                    accessors,
                    function.result.as_ref(),
                    &function.params,
                    owner,
                    Some(group),
                    file,
                    is_prelude,
                );
                self.functions[get.0 as usize].generics = function.generics.clone();
                if let Some(set) = set {
                    self.functions[set.0 as usize].generics = function.generics.clone();
                }
                self.add_member(owner, "subscript", member(MemberKind::Subscript(get, set)));
            }
            DeclKind::Variable { is_let, bindings } => {
                for binding in bindings {
                    self.declare_property(decl, *is_let, binding, owner, &member(MemberKind::AssociatedType));
                }
            }
            DeclKind::Nominal(nominal) => {
                let id = self.declare_nominal(decl, nominal, owner, Some(group), file, is_prelude);
                self.add_member(
                    owner,
                    &nominal.name.name,
                    Member { is_static: true, ..member(MemberKind::Nominal(id)) },
                );
            }
            DeclKind::TypeAlias { name, generics, target } => {
                let id = self.declare_alias(name, generics, target, owner, Some(group), file);
                self.add_member(owner, &name.name, Member { is_static: true, ..member(MemberKind::Alias(id)) });
            }
            DeclKind::Cases(cases) => {
                let Owner::Nominal(n) = owner else { return };
                for case in cases {
                    let index = self.nominal_data(n).cases.len() as u32;
                    let payload = case.payload.iter().flatten();
                    let data = CaseData {
                        name: case.name.name.clone(),
                        payload: payload
                            .map(|(l, t)| (l.as_ref().map(|l| l.name.clone()), Rc::new(t.clone())))
                            .collect(),
                        span: case.name.span,
                        has_payload: case.payload.is_some(),
                    };
                    let data_of = self.nominal_data_mut(n);
                    data_of.cases.push(data);
                    data_of.is_indirect |= decl.has("indirect");
                    self.add_member(
                        owner,
                        &case.name.name,
                        Member { is_static: true, ..member(MemberKind::Case(index)) },
                    );
                }
            }
            DeclKind::Deinit(_)
            | DeclKind::Import { .. }
            | DeclKind::Operator { .. }
            | DeclKind::PrecedenceGroup { .. } => {}
            DeclKind::Protocol(_) | DeclKind::Extension(_) | DeclKind::AssociatedType { .. } => {
                self.report(Diagnostic::error(
                    DiagnosticCode::WrongContext,
                    decl.span,
                    "this declaration is not allowed inside a type",
                ));
            }
        }
    }

    pub(super) fn add_member(&mut self, owner: Owner, name: &str, member: Member) {
        let members = match owner {
            Owner::Nominal(n) => &mut self.nominal_data_mut(n).members,
            Owner::Protocol(p) => &mut self.protocols[p.0 as usize].members,
            Owner::Module => return,
        };
        members.entry(name.into()).or_default().push(member);
    }

    fn declare_property(&mut self, decl: &Rc<Decl>, is_let: bool, binding: &Binding, owner: Owner, like: &Member) {
        let PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else {
            self.report(Diagnostic::error(
                DiagnosticCode::WrongContext,
                binding.pattern.span,
                "a property is declared with a name",
            ));
            return;
        };
        let ident = Ident { name: name.clone(), span: binding.pattern.span };
        let ty = match &binding.pattern.kind {
            PatternKind::Typed(_, ty) => Some(ty.clone()),
            _ => binding.ty.clone(),
        };
        let group = like.group;
        let Group { file, is_prelude, .. } = self.groups[group.0 as usize];
        let computed = binding.accessors.as_ref().filter(|a| a.get.is_some() || a.is_requirement);
        if let Some(accessors) = computed {
            let (get, set) =
                self.declare_accessors(decl, &ident, accessors, ty.as_ref(), &[], owner, Some(group), file, is_prelude);
            self.add_member(owner, name, Member { kind: MemberKind::Computed(get, set), ..like.clone() });
        } else if like.is_static {
            let id = self.add_global(GlobalData {
                name: name.clone(),
                span: ident.span,
                is_let,
                ty: None,
                ty_expr: ty.map(Rc::new),
                value: binding.value.clone().map(Rc::new),
                group: Some(group),
                owner,
                file,
                lazy: None,
                is_lazy: true,
                is_shared: true,
                resolving: false,
                is_prelude,
            });
            self.add_member(owner, name, Member { kind: MemberKind::Global(id), ..like.clone() });
        } else if let Owner::Nominal(n) = owner {
            let data = self.nominal_data(n);
            if data.group != group || data.kind == NominalKind::Enum {
                let message = if data.kind == NominalKind::Enum {
                    "enums must not contain stored properties"
                } else {
                    "extensions must not contain stored properties"
                };
                self.report(Diagnostic::error(DiagnosticCode::WrongContext, ident.span, message));
                return;
            }
            let stored = StoredData {
                name: name.clone(),
                ty: ty.map(Rc::new),
                value: binding.value.clone().map(Rc::new),
                is_let,
                no_derivative: decl.attribute("noDerivative").is_some(),
                span: decl.span,
                resolved: None,
                resolving: false,
                initial: None,
            };
            let index = self.nominal_data(n).stored.len() as u32;
            self.nominal_data_mut(n).stored.push(stored);
            self.add_member(owner, name, Member { kind: MemberKind::Stored(index), ..like.clone() });
        }
    }

    /// Enters the getter and the setter of a computed property or subscript.
    #[expect(clippy::too_many_arguments, reason = "the parts of one declaration")]
    fn declare_accessors(
        &mut self,
        decl: &Rc<Decl>,
        name: &Ident,
        accessors: &Accessors,
        ty: Option<&TypeExpr>,
        params: &[Param],
        owner: Owner,
        group: Option<GroupId>,
        file: u32,
        is_prelude: bool,
    ) -> (FunctionId, Option<FunctionId>) {
        let is_static = decl.has("static") || decl.has("class");
        let primitive = self.primitive_name(decl, &name.name, is_prelude);
        let mut get = blank_function(&name.name, name.span, file, is_prelude);
        get.kind = FunctionKind::Getter;
        get.is_static = is_static;
        get.is_mutating = accessors.mutating_get;
        get.owner = owner;
        get.group = group;
        get.decl = Some(decl.clone());
        get.ast_params = params.into();
        get.ast_result = ty.cloned().map(Rc::new);
        get.code = Code::Block(accessors.get.clone().filter(|_| !accessors.is_requirement).map(Rc::new));
        get.primitive = primitive.as_ref().map(|p| match accessors.set {
            Some(_) => format!("{p}.get").into(),
            None => p.clone(),
        });
        let get = self.add_function(get);
        self.note_registration(decl, get);
        let set = accessors.set.as_ref().map(|(new_value, body)| {
            let mut set = blank_function(&name.name, name.span, file, is_prelude);
            set.kind = FunctionKind::Setter;
            set.is_static = is_static;
            set.is_mutating = !accessors.nonmutating_set && !is_static;
            set.owner = owner;
            set.group = group;
            set.decl = Some(decl.clone());
            let value_name = new_value.clone().unwrap_or(Ident { name: "newValue".into(), span: name.span });
            set.ast_params = std::iter::once(value_param(value_name, ty))
                .chain(params.iter().map(|p| Param { label: None, ..p.clone() }))
                .collect();
            set.code = Code::Block(Some(body.clone()).filter(|_| !accessors.is_requirement).map(Rc::new));
            set.primitive = primitive.map(|p| format!("{p}.set").into());
            self.add_function(set)
        });
        self.functions[get.0 as usize].setter = set;
        (get, set)
    }

    fn declare_protocol(&mut self, protocol: &ProtocolDecl, file: u32, is_prelude: bool) -> ProtocolId {
        let id = ProtocolId(self.protocols.len() as u32);
        let self_param = self.new_param(&"Self".into());
        self.protocols.push(ProtocolData {
            name: protocol.name.name.clone(),
            self_param,
            inherits: protocol.inherits.clone(),
            requirement_clauses: protocol.requirements.clone(),
            group: GroupId(self.groups.len() as u32),
            groups: vec![],
            requirements: vec![],
            associated: vec![],
            members: HashMap::new(),
            refines: None,
            equalities: None,
            file,
            is_prelude,
        });
        let group = self.new_group(Owner::Protocol(id), vec![], vec![], file, is_prelude);
        for member in &protocol.members {
            self.declare_member(member, group);
        }
        id
    }

    fn declare_requirement(&mut self, decl: &Rc<Decl>, owner: Owner, group: GroupId) {
        let Owner::Protocol(p) = owner else { return };
        let Group { file, is_prelude, .. } = self.groups[group.0 as usize];
        let is_static = decl.has("static") || decl.has("class");
        match &decl.kind {
            DeclKind::Function(function) => {
                let id = self.declare_function(decl, function, owner, Some(group), file, is_prelude);
                let is_static = is_static || is_operator(&function.name.name);
                self.functions[id.0 as usize].is_static = is_static;
                self.add_requirement(p, &function.name.name, RequirementKind::Method, id, is_static, group);
            }
            DeclKind::Init { failable, function } => {
                let id = self.declare_function(decl, function, owner, Some(group), file, is_prelude);
                let data = &mut self.functions[id.0 as usize];
                data.kind = FunctionKind::Init { failable: *failable };
                data.base_name = "init".into();
                self.add_requirement(p, "init", RequirementKind::Init, id, true, group);
            }
            DeclKind::Variable { bindings, .. } => {
                for binding in bindings {
                    let PatternKind::Bind { name, .. } = &strip(&binding.pattern).kind else { continue };
                    let ty = match &binding.pattern.kind {
                        PatternKind::Typed(_, ty) => Some(ty.clone()),
                        _ => binding.ty.clone(),
                    };
                    let ident = Ident { name: name.clone(), span: binding.pattern.span };
                    let accessors = binding.accessors.clone().unwrap_or_default();
                    let (get, set) = self.declare_accessors(
                        decl,
                        &ident,
                        &accessors,
                        ty.as_ref(),
                        &[],
                        owner,
                        Some(group),
                        file,
                        is_prelude,
                    );
                    let setter =
                        set.map(|set| self.add_requirement(p, "", RequirementKind::Setter, set, is_static, group));
                    let index = self.add_requirement(p, name, RequirementKind::Getter, get, is_static, group);
                    self.protocols[p.0 as usize].requirements[index as usize].setter = setter;
                    if let Some(setter) = setter {
                        self.protocols[p.0 as usize].requirements[setter as usize].name = name.clone();
                    }
                }
            }
            DeclKind::Subscript { function, accessors } => {
                let name = Ident { name: "subscript".into(), span: function.name.span };
                let (get, set) = self.declare_accessors(
                    decl,
                    &name,
                    accessors,
                    function.result.as_ref(),
                    &function.params,
                    owner,
                    Some(group),
                    file,
                    is_prelude,
                );
                let setter =
                    set.map(|set| self.add_requirement(p, "", RequirementKind::SubscriptSetter, set, is_static, group));
                let index =
                    self.add_requirement(p, "subscript", RequirementKind::SubscriptGetter, get, is_static, group);
                self.protocols[p.0 as usize].requirements[index as usize].setter = setter;
                if let Some(setter) = setter {
                    self.protocols[p.0 as usize].requirements[setter as usize].name = "subscript".into();
                }
            }
            DeclKind::AssociatedType { name, bound, default, requirements } => {
                self.protocols[p.0 as usize].associated.push(AssociatedData {
                    name: name.name.clone(),
                    bound: bound.clone(),
                    default: default.clone(),
                    requirements: requirements.clone(),
                    conforms: None,
                });
                let member =
                    Member { kind: MemberKind::AssociatedType, is_static: true, group, file, is_private: false };
                self.add_member(owner, &name.name, member);
            }
            DeclKind::TypeAlias { name, generics, target } => {
                let id = self.declare_alias(name, generics, target, owner, Some(group), file);
                let member = Member { kind: MemberKind::Alias(id), is_static: true, group, file, is_private: false };
                self.add_member(owner, &name.name, member);
            }
            _ => self.report(Diagnostic::error(
                DiagnosticCode::WrongContext,
                decl.span,
                "a protocol contains requirements only",
            )),
        }
    }

    fn add_requirement(
        &mut self,
        p: ProtocolId,
        name: &str,
        kind: RequirementKind,
        function: FunctionId,
        is_static: bool,
        group: GroupId,
    ) -> u32 {
        let protocol = &mut self.protocols[p.0 as usize];
        let index = protocol.requirements.len() as u32;
        let (file, is_prelude) = (protocol.file, protocol.is_prelude);
        protocol.requirements.push(RequirementData { name: name.into(), kind, function, is_static, setter: None });
        self.functions[function.0 as usize].requirement = Some((p, index));
        debug_assert!(!is_prelude || file == PRELUDE_FILE);
        if !name.is_empty() {
            let member = Member { kind: MemberKind::Requirement(index), is_static, group, file, is_private: false };
            self.add_member(Owner::Protocol(p), name, member);
        }
        index
    }
}

/// The pattern without the type behind it.
pub(super) fn strip(pattern: &Pattern) -> &Pattern {
    match &pattern.kind {
        PatternKind::Typed(inner, _) => strip(inner),
        _ => pattern,
    }
}

/// The names that a pattern binds, with their place and, if it is written, their type.
pub(super) fn bound_names(pattern: &Pattern, out: &mut Vec<(Name, Span, Option<TypeExpr>)>) {
    match &pattern.kind {
        PatternKind::Bind { name, .. } => out.push((name.clone(), pattern.span, None)),
        PatternKind::Typed(inner, ty) => {
            let before = out.len();
            bound_names(inner, out);
            if let ([(_, _, slot)], PatternKind::Bind { .. }) = (&mut out[before..], &inner.kind) {
                *slot = Some(ty.clone());
            }
        }
        PatternKind::Tuple(parts) => parts.iter().for_each(|(_, p)| bound_names(p, out)),
        PatternKind::Some(inner) | PatternKind::As(inner, _) => bound_names(inner, out),
        PatternKind::Case { payload, .. } => payload.iter().flatten().for_each(|(_, p)| bound_names(p, out)),
        PatternKind::Wildcard | PatternKind::Is(_) | PatternKind::Expr(_) => {}
    }
}

/// Whether a name is that of an operator.
pub(super) fn is_operator(name: &str) -> bool {
    name.chars()
        .next()
        .is_some_and(|c| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '`') && (c as u32) < 0x2E80)
}

fn value_param(name: Ident, ty: Option<&TypeExpr>) -> Param {
    Param { label: None, name, ty: ty.cloned(), is_inout: false, variadic: false, default: None, attributes: vec![] }
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
        "Array" => Some(Builtin::Array),
        "Dictionary" => Some(Builtin::Dictionary),
        "Set" => Some(Builtin::Set),
        "Optional" => Some(Builtin::Optional),
        _ => None,
    }
}

/// The single expression that a block consists of, which is then its value.
pub(super) fn single_expression(block: &Block) -> Option<&Expr> {
    match block.items.as_slice() {
        [only] => match &only.kind {
            crate::syntax::ast::StmtKind::Expr(e) if !matches!(e.kind, ExprKind::Assign { .. }) => Some(e),
            _ => None,
        },
        _ => None,
    }
}

/// The attributed protocol of an inheritance clause, and whether `@memberwise` stands before it.
pub(super) fn inherited(ty: &TypeExpr) -> (&TypeExpr, bool) {
    match &ty.kind {
        TypeExprKind::Attributed(attributes, inner) => {
            (inner, attributes.iter().any(|a| &*a.name.name == "memberwise"))
        }
        _ => (ty, false),
    }
}
