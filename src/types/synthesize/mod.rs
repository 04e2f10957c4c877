//! Members that the checker writes: tangent vectors, moving along them, arithmetic, equality, memberwise initialisers.
//!
//! They are written as text in the language and entered like an extension of the type, so that nothing below knows
//! them from what a person wrote.

pub(crate) mod custom_equality;
pub(crate) mod custom_tangent;
pub(crate) mod enum_tangent;
pub(crate) mod subclass_tangent;

use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::model::tables::{
    Code, FunctionKind, GroupId, Member, MemberKind, Owner, Signature, SignatureParam, World, blank_function,
};
use crate::types::model::ty::{NominalId, Type};
use std::fmt::Write;
use std::rc::Rc;

/// Marks a type whose tangent vector nobody wrote.
pub(super) const VECTOR: &str = "a tangent vector";

/// A stored property that moves.
pub(crate) struct Moving {
    /// The name of the member of the tangent vector.
    pub(super) name: Name,
    pub(super) ty: Type,
    /// What is moved: the property, or what keeps a wrapped one.
    pub(super) place: Name,
}

impl World {
    pub(super) fn declares(&mut self, n: NominalId, protocol: &'static str) -> Option<usize> {
        let p = self.protocol(protocol);
        self.find_conformance(n, p)
    }

    /// The stored properties that move, with their types; reports those that cannot and are not marked.
    fn moving_properties(&mut self, n: NominalId, warn: bool) -> Vec<Moving> {
        match self.declared_type(n) {
            Type::Nominal(n, args) => self.moving_of(n, &args, warn),
            _ => vec![],
        }
    }

    /// The same for given arguments; what is inherited comes first.
    pub(super) fn moving_of(&mut self, n: NominalId, args: &[Type], warn: bool) -> Vec<Moving> {
        let differentiable = self.protocol("Differentiable");
        let owner = self.nominal_data(n).name.clone();
        let mut out = match self.superclass(n).and_then(|_| self.base_type(n, args)) {
            Some(Type::Nominal(base, args)) => self.moving_of(base, &args, false),
            _ => vec![],
        };
        for i in 0..self.nominal_data(n).stored.len() {
            let ty = self.stored_type(n, i as u32);
            let mut ty = self.substitute_nominal(n, args, &ty);
            let value = self.wrapped_value(n, i as u32);
            let data = &self.nominal_data(n).stored[i];
            let (mut place, is_let, span) = (data.name.clone(), data.is_let, data.span);
            let name = data.wrapped.as_ref().map_or(&place, |wrapped| &wrapped.name).clone();
            // Whether a lazy property was asked for already is nothing to differentiate by.
            if data.no_derivative || data.lazy.is_some() {
                continue;
            }
            if let Some(value) = value {
                // It moves through its wrapper.
                place = name.clone();
                ty = self.substitute_nominal(n, args, &value.ty);
            }
            let is_function = matches!(ty, Type::Function(_));
            if is_function || !self.conforms_to(&ty, differentiable) {
                if warn {
                    let message = format!(
                        "stored property '{name}' has no derivative because '{}' does not conform to 'Differentiable'",
                        self.show(&ty)
                    );
                    let diagnostic = Diagnostic::warning(DiagnosticCode::NoDerivativeProperty, span, message)
                        .note("derivatives treat the property as a constant")
                        .fix("add a '@noDerivative' attribute to make it explicit", span.before(), "@noDerivative ");
                    self.report(diagnostic);
                }
                continue;
            }
            if is_let && !self.moves_in_place(&ty) {
                if warn {
                    let message = format!(
                        "synthesis of the 'Differentiable.move(along:)' requirement for '{owner}' requires all stored properties not marked with `@noDerivative` to be mutable"
                    );
                    let diagnostic = Diagnostic::warning(DiagnosticCode::ImmutableProperty, span, message)
                        .note_at(span, "change 'let' to 'var' to make it mutable")
                        .note_at(span, "add a '@noDerivative' attribute to make it explicit");
                    self.report(diagnostic);
                }
                continue;
            }
            out.push(Moving { name, ty, place });
        }
        out
    }

    /// Whether moving a value does not change the variable that it is in: an instance of a class, or a type whose own method
    /// is not mutating.
    fn moves_in_place(&mut self, ty: &Type) -> bool {
        let Type::Nominal(n, _) = ty else { return self.is_object(ty) };
        if self.is_class(*n) {
            return true;
        }
        self.load_own_members(*n, "move");
        let written = self.nominal_data(*n).members.get("move").cloned().unwrap_or_default();
        written.iter().any(|m| match m.kind {
            MemberKind::Method(f) => self.has_label(f, &["by", "along"]) && !self.signature(f).self_inout,
            _ => false,
        })
    }

    fn has_label(&mut self, f: crate::types::model::tree::FunctionId, labels: &[&str]) -> bool {
        self.label_of_first(f).is_some_and(|label| labels.contains(&&*label))
    }

    /// Makes `TangentVector` for a type that is declared differentiable and does not have one.
    pub(super) fn synthesize_tangent_vector(&mut self, n: NominalId) -> Option<Type> {
        let data = self.nominal_data(n);
        if data.builtin.is_some() {
            return None;
        }
        if data.kind == NominalKind::Enum {
            return self.synthesize_enum_vector(n);
        }
        let is_prelude = data.is_prelude;
        let conformance = self.declares(n, "Differentiable")?;
        let (group, place) = self.asks(n, conformance);
        self.nominal_data_mut(n).synthesized.push(VECTOR);
        let moving = self.moving_properties(n, !is_prelude);
        let additive = self.protocol("AdditiveArithmetic");
        let all_additive = !self.is_class(n)
            && self.declares(n, "AdditiveArithmetic").is_some()
            && moving.len() == self.nominal_data(n).stored.len()
            && (0..moving.len() as u32).all(|i| {
                let ty = self.stored_type(n, i);
                self.conforms_to(&ty, additive)
            });
        let name: Name = "TangentVector".into();
        if all_additive {
            // The shortcut of the documents: the type is its own tangent space.
            let own = self.declared_type(n);
            let text = format!("typealias TangentVector = {}", self.name_for(own.clone()));
            self.declare_synthesized(&text, group, place);
            let span = self.nominal_data(n).span;
            let scalable = self.protocol("ScalableVector");
            self.add_conformance(n, scalable, group, false, span);
            return Some(own);
        }
        let differentiable = self.protocol("Differentiable");
        let mut text =
            String::from("struct TangentVector: Differentiable, AdditiveArithmetic, ScalableVector, Equatable");
        for asked in self.asked_of_vector(n) {
            let _ = write!(text, ", {asked}");
        }
        text.push_str(" {\n    typealias TangentVector = Self\n");
        for Moving { name: field, ty, .. } in &moving {
            let vector = Type::Associated(Rc::new(ty.clone()), differentiable, name.clone());
            let vector = self.normalize_type(&vector);
            let level = self.level_of_stored(n, field);
            let _ = writeln!(text, "    {level}var {field}: {}", self.name_for(vector));
        }
        text.push_str("}\n");
        self.declare_synthesized(&text, group, place);
        let declared = self.declared_type(n);
        let Type::Nominal(_, args) = &declared else { return None };
        self.own_member_type(n, args, &name)
    }

    /// Makes a member of that name when a conformance asks for it and nobody wrote it.
    pub(super) fn synthesize_member(&mut self, n: NominalId, name: &str, is_static: bool) {
        let key = match (name, is_static) {
            ("move", false) => "move",
            ("zero", true) => "zero",
            ("+", true) => "+",
            ("-", true) => "-",
            ("scaled", false) => "scaled",
            ("==", true) => "==",
            ("hash", false) => "hash",
            ("<", true) => "<",
            ("allCases", true) => "allCases",
            ("rawValue", false) => "rawValue",
            ("init", true) => "init",
            ("TangentVector", true) => "TangentVector",
            _ => return,
        };
        if self.nominal_data(n).synthesized.contains(&key) {
            return;
        }
        self.enter_conformances(n);
        if key == "TangentVector" {
            if let Some(differentiable) = self.declares(n, "Differentiable").map(|_| self.protocol("Differentiable")) {
                self.nominal_data_mut(n).synthesized.push(key);
                let own = self.declared_type(n);
                let ty = Type::Associated(Rc::new(own), differentiable, "TangentVector".into());
                self.normalize_type(&ty);
            }
            return;
        }
        self.load_own_members(n, name);
        let written = self.nominal_data(n).members.get(name).cloned().unwrap_or_default();
        let is_operator = matches!(key, "+" | "-" | "==" | "<");
        let has_own = written.iter().any(|m| match m.kind {
            MemberKind::Method(f) if key == "move" => self.is_along(f),
            MemberKind::Method(f) => {
                !is_operator || self.function_data(f).ast_params.len() == 2 && self.is_own_operator(f)
            }
            _ => true,
        });
        if has_own && key != "init" && !self.needs_move_by(n, key) {
            return;
        }
        self.nominal_data_mut(n).synthesized.push(key);
        let (group, place) = match self.asks_for(n, key) {
            Some(conformance) => self.asks(n, conformance),
            // The initialiser of a class whose properties all have values.
            None if key == "init" => (self.nominal_data(n).group, self.nominal_data(n).span),
            None => return,
        };
        // What the conformance requires of the type's parameters holds here, whoever asks.
        let env = self.group_env(group);
        let saved = std::mem::replace(&mut self.env, env);
        let needs_move_by = self.needs_move_by(n, key);
        let mut text = if has_own && key != "init" { None } else { self.synthesized_text(n, key) };
        if needs_move_by {
            // An instance moves in place.
            text.get_or_insert_default()
                .push_str("\nfunc move(by offset: TangentVector) { self.move(along: offset) }\n");
        }
        self.env = saved;
        if let Some(text) = text {
            self.declare_synthesized(&text, group, place);
            if key == "init" {
                self.inherit_defaults(n);
            }
        }
    }

    /// Whether a class lacks the method of today's Swift, which does not change the variable that an instance is in.
    fn needs_move_by(&mut self, n: NominalId, key: &str) -> bool {
        key == "move" && self.is_class(n) && !self.has_move_by(n)
    }

    /// Whether a method named `move` is the one that is required.
    fn is_along(&mut self, f: crate::types::model::tree::FunctionId) -> bool {
        self.label_of_first(f).as_deref() != Some("by")
    }

    /// Whether a type moves by the method of today's Swift.
    fn has_move_by(&mut self, n: NominalId) -> bool {
        let written = self.nominal_data(n).members.get("move").cloned().unwrap_or_default();
        written.iter().any(|m| matches!(m.kind, MemberKind::Method(f) if !self.is_along(f)))
    }

    fn label_of_first(&mut self, f: crate::types::model::tree::FunctionId) -> Option<Name> {
        self.signature(f).params.first().and_then(|p| p.label.clone())
    }

    /// The conformance that asks for a member.
    fn asks_for(&mut self, n: NominalId, key: &str) -> Option<usize> {
        match key {
            "scaled" => self.declares(n, "Scalable").or_else(|| self.declares(n, "Differentiable")),
            _ => self.declares(n, asking_protocol(key)),
        }
    }

    /// The declaration or extension that a conformance is part of, and where it is written.
    pub(super) fn asks(&self, n: NominalId, conformance: usize) -> (GroupId, Span) {
        let conformance = &self.nominal_data(n).conformances[conformance];
        (conformance.group, conformance.span)
    }

    /// The stored properties and payloads whose types do not conform to a protocol, so that it cannot be synthesized.
    pub(super) fn in_the_way(&mut self, n: NominalId, protocol: &'static str) -> Vec<(String, Span)> {
        let p = self.protocol(protocol);
        let name = self.nominal_data(n).name.clone();
        let mut parts: Vec<(&str, Type, Span)> = vec![];
        for i in 0..self.nominal_data(n).stored.len() as u32 {
            let ty = self.stored_type(n, i);
            parts.push(("stored property", ty, self.nominal_data(n).stored[i as usize].span));
        }
        for case in 0..self.nominal_data(n).cases.len() as u32 {
            let span = self.nominal_data(n).cases[case as usize].span;
            parts.extend(self.case_payload(n, case).into_iter().map(|(_, ty)| ("associated value", ty, span)));
        }
        let mut out = vec![];
        for (what, ty, span) in parts {
            if !self.conforms_to(&ty, p) {
                let ty = self.show(&ty);
                let text = format!(
                    "{what} type '{ty}' does not conform to protocol '{protocol}', preventing synthesized conformance of '{name}' to '{protocol}'"
                );
                out.push((text, span));
            }
        }
        out
    }

    /// Whether both operands of an operator are of the type itself, so that nothing has to be made.
    fn is_own_operator(&mut self, f: crate::types::model::tree::FunctionId) -> bool {
        let signature = self.signature(f);
        match signature.params.as_slice() {
            [a, b] => a.ty == b.ty,
            _ => false,
        }
    }

    fn is_made_from_integers(&mut self, n: NominalId) -> bool {
        let literal = self.protocol("ExpressibleByIntegerLiteral");
        self.find_conformance(n, literal).is_some()
    }

    fn synthesized_text(&mut self, n: NominalId, key: &str) -> Option<String> {
        let kind = self.nominal_data(n).kind;
        if self.nominal_data(n).builtin.is_some() {
            return None;
        }
        let fields: Vec<Name> = self.nominal_data(n).stored.iter().map(|s| s.name.clone()).collect();
        let memberwise = |part: &dyn Fn(&Name) -> String| {
            let parts = fields.iter().map(|f| format!("{f}: {}", part(f))).collect::<Vec<_>>();
            format!("Self._memberwise({})", parts.join(", "))
        };
        match key {
            "move" => {
                let own = self.declared_type(n);
                let differentiable = self.protocol("Differentiable");
                let vector = Type::Associated(Rc::new(own.clone()), differentiable, "TangentVector".into());
                if self.normalize_type(&vector) == own {
                    return None;
                }
                if self.has_move_by(n) {
                    let text = "func move(along direction: TangentVector) { self.move(by: direction) }";
                    return Some(if self.moves_in_place(&own) { text.into() } else { format!("mutating {text}") });
                }
                if !self.moves_by_members(n, &own) {
                    return None;
                }
                if kind == NominalKind::Enum {
                    return Some(self.move_of_enum(n));
                }
                let mut moving = self.moving_properties(n, false);
                let inherited = self.move_of_base(n, &mut moving);
                let mut text = String::from(if kind == NominalKind::Class { "func" } else { "mutating func" });
                text.push_str(" move(along direction: TangentVector) {\n");
                text.push_str(&inherited);
                for Moving { name, place, .. } in moving {
                    let _ = writeln!(text, "    self.{place}.move(along: direction.{name})");
                }
                text.push_str("}\n");
                Some(text)
            }
            // That of a number is its literal 0.
            "zero" if self.is_made_from_integers(n) => None,
            "zero" | "+" | "-" if kind == NominalKind::Struct => Some(match key {
                "zero" => {
                    let zero = memberwise(&|_| ".zero".to_string());
                    format!("static var zero: Self {{ {zero} }}")
                }
                op => {
                    let sum = memberwise(&|f| format!("lhs.{f} {op} rhs.{f}"));
                    format!("static func {op} (lhs: Self, rhs: Self) -> Self {{ {sum} }}")
                }
            }),
            "scaled" if kind == NominalKind::Struct => {
                let scaled = memberwise(&|f| format!("self.{f}.scaled(by: factor)"));
                Some(format!("func scaled(by factor: Double) -> Self {{ {scaled} }}"))
            }
            "==" => {
                if kind == NominalKind::Class || !self.in_the_way(n, "Equatable").is_empty() {
                    return None;
                }
                let own_equality = kind == NominalKind::Struct && !fields.is_empty();
                let equal = fields.iter().map(|f| format!("lhs.`{f}` == rhs.`{f}`")).collect::<Vec<_>>().join(" && ");
                let own = self.declared_type(n);
                if kind == NominalKind::Enum && !self.is_equal_by_parts(&own) {
                    return Some(self.equality_of_cases(n));
                }
                let equal = if own_equality { equal } else { "_equal(lhs, rhs)".to_string() };
                Some(format!("static func == (lhs: Self, rhs: Self) -> Bool {{ {equal} }}"))
            }
            "hash" => self.hash_of_parts(n),
            "init" if kind == NominalKind::Class => self.inherited_initializers(n),
            "rawValue" if kind == NominalKind::Enum => self.raw_value_text(n),
            "init" if kind == NominalKind::Enum => self.raw_init_text(n),
            "<" if kind == NominalKind::Enum => {
                Some("static func < (lhs: Self, rhs: Self) -> Bool { _less(lhs, rhs) }".to_string())
            }
            "allCases" if kind == NominalKind::Enum && self.nominal_data(n).cases.iter().all(|c| !c.has_payload) => {
                let cases = self.nominal_data(n).cases.iter().map(|c| format!(".{}", c.name)).collect::<Vec<_>>();
                Some(format!("static var allCases: [Self] {{ [{}] }}", cases.join(", ")))
            }
            _ => None,
        }
    }

    /// The memberwise initialiser of a struct that has no initialiser of its own.
    pub(super) fn memberwise_init(&mut self, n: NominalId) -> crate::types::model::tree::FunctionId {
        if let Some(f) = self.nominal_data(n).memberwise {
            return f;
        }
        let data = self.nominal_data(n);
        let (span, file, is_prelude, group) = (data.span, data.file, data.is_prelude, data.group);
        let mut function = blank_function(&"init".into(), span, file, is_prelude);
        function.owner = Owner::Nominal(n);
        function.group = Some(group);
        function.kind = FunctionKind::Init { failable: false };
        function.code = Code::Memberwise(n);
        let id = self.add_function(function);
        self.nominal_data_mut(n).memberwise = Some(id);
        let env = self.nominal_env(n);
        let mut params = vec![];
        for i in 0..self.nominal_data(n).stored.len() as u32 {
            let ty = self.stored_type(n, i);
            let stored = &self.nominal_data(n).stored[i as usize];
            if stored.is_let && stored.value.is_some() {
                continue;
            }
            let own = stored.lazy.as_ref().map(|(name, _)| name).or(stored.wrapped.as_ref().map(|w| &w.name));
            let name = own.unwrap_or(&stored.name).clone();
            let (is_let, span) = (stored.is_let, stored.span);
            if let Some((wrap, initial)) = stored.wrapped.as_ref().and_then(|w| Some((w.wrap?, w.initial))) {
                // Who makes the value gives what is wrapped.
                let wrapped = self.signature(wrap).params.first().cloned();
                params.extend(wrapped.map(|p| SignatureParam {
                    label: Some(name.clone()),
                    name,
                    default: initial,
                    ..p
                }));
                continue;
            }
            let mut default = self.stored_initial(n, i);
            if default.is_none() && !is_let && self.is_optional(&ty) {
                default = Some(self.nil_default(n, &ty, span));
            }
            params.push(SignatureParam {
                label: Some(name.clone()),
                name,
                ty,
                is_inout: false,
                variadic: false,
                autoclosure: false,
                default,
                span,
            });
        }
        let result = self.declared_type(n);
        let signature = Signature { env, params, self_type: None, self_inout: false, result, throws: false };
        self.functions[id.0 as usize].signature = Some(Rc::new(signature));
        id
    }

    fn nil_default(
        &mut self,
        n: NominalId,
        ty: &Type,
        span: crate::source::Span,
    ) -> crate::types::model::tree::FunctionId {
        use crate::types::model::tree::{Body, Expr, ExprKind, Stmt, StmtKind};
        let (file, is_prelude) = (self.nominal_data(n).file, self.nominal_data(n).is_prelude);
        let mut function = blank_function(&"nil".into(), span, file, is_prelude);
        function.owner = Owner::Nominal(n);
        function.is_static = true;
        let env = self.nominal_env(n);
        function.outer = Some(env.clone());
        function.signature = Some(Rc::new(crate::types::generics::signature::plain_signature(env, ty.clone())));
        let value = Expr { kind: ExprKind::Nil, ty: ty.clone(), span };
        let statements = vec![Stmt { kind: StmtKind::Return(Some(value)), span }];
        function.body =
            crate::types::model::tables::BodyState::Checked(Rc::new(Body { statements, ..Body::default() }));
        self.add_function(function)
    }

    pub(super) fn is_optional(&mut self, ty: &Type) -> bool {
        self.optional_payload(ty).is_some()
    }

    /// `T` of a `T?`.
    pub(super) fn optional_payload(&mut self, ty: &Type) -> Option<Type> {
        match self.shallow(ty) {
            Type::Nominal(n, args)
                if self.nominal_data(n).builtin == Some(crate::types::model::declared::Builtin::Optional) =>
            {
                args.first().cloned()
            }
            _ => None,
        }
    }

    /// Adds an unwritten initialiser to the members that are looked through, when the type has none of its own.
    /// The initialiser without parameters of a struct that writes none and whose properties all have values. Calls take the
    /// memberwise one; this is for requirements.
    pub(super) fn default_init(&mut self, n: NominalId) -> Option<Member> {
        let data = self.nominal_data(n);
        if data.kind != NominalKind::Struct || data.builtin.is_some() || data.has_init {
            return None;
        }
        let (span, file, is_prelude, group) = (data.span, data.file, data.is_prelude, data.group);
        let memberwise = self.memberwise_init(n);
        let signature = self.signature(memberwise);
        if signature.params.is_empty() || signature.params.iter().any(|p| p.default.is_none()) {
            return None;
        }
        let f = match self.nominal_data(n).default_init {
            Some(f) => f,
            None => {
                let mut function = blank_function(&"init".into(), span, file, is_prelude);
                function.owner = Owner::Nominal(n);
                function.group = Some(group);
                function.kind = FunctionKind::Init { failable: false };
                function.code = Code::Block(Some(crate::syntax::ast::Block { items: vec![], span }.into()));
                self.add_function(function)
            }
        };
        self.nominal_data_mut(n).default_init = Some(f);
        Some(Member { kind: MemberKind::Init(f), is_static: true, group, file, is_private: false })
    }

    pub(super) fn initializers(&mut self, n: NominalId) -> Vec<Member> {
        let data = self.nominal_data(n);
        let mut members = data.members.get("init").cloned().unwrap_or_default();
        let is_struct = data.kind == NominalKind::Struct && data.builtin.is_none();
        if is_struct && !data.has_init {
            let (group, file) = (data.group, data.file);
            let f = self.memberwise_init(n);
            let member = Member { kind: MemberKind::Init(f), is_static: true, group, file, is_private: false };
            members.push(member);
        }
        members
    }
}

/// The protocol that asks for a member that is made when nobody wrote it.
fn asking_protocol(key: &str) -> &'static str {
    match key {
        "zero" | "+" | "-" => "AdditiveArithmetic",
        "==" => "Equatable",
        "hash" => "Hashable",
        "<" => "Comparable",
        "allCases" => "CaseIterable",
        "rawValue" | "init" => "RawRepresentable",
        _ => "Differentiable",
    }
}
