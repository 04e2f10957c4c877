//! Expressions.

use super::args::ArgNode;
use super::solve::PendingKind;
use super::{Found, Infer};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, CastKind, ExprKind as Ast, Ident, StringPart};
use crate::types::names::closest;
use crate::types::solver::Literal;
use crate::types::store::{FunctionKind, MemberKind, Named, Owner};
use crate::types::tree::{
    Argument, Callee, Condition, Expr, ExprKind, FunctionRef, LocalId, Pattern, PatternKind, Stmt, StmtKind,
};
use crate::types::ty::{Strength, Type};
use std::rc::Rc;

impl Infer<'_> {
    /// The value of an expression. `expected` is a hint; the caller still coerces.
    pub(super) fn expr(&mut self, e: &ast::Expr, expected: Option<&Type>) -> Expr {
        let span = e.span;
        if let Some(chain) = self.optional_chain(e) {
            return chain;
        }
        match &e.kind {
            Ast::Int(value) => self.int_literal(*value, expected, span),
            Ast::Float(value) => {
                let ty = self.literal_type(Literal::Float, expected);
                Expr { kind: ExprKind::Float(*value), ty, span }
            }
            Ast::String(parts) => self.string(parts, expected, span),
            Ast::Bool(value) => Expr { kind: ExprKind::Bool(*value), ty: self.bool_type(), span },
            Ast::Nil => match expected.and_then(|t| self.known(t)) {
                Some(ty) if self.world.is_optional(&ty) => Expr { kind: ExprKind::Nil, ty, span },
                Some(ty) => {
                    let message = format!("'nil' is not compatible with expected type '{}'", self.show(&ty));
                    self.fail(Code::Mismatch, span, message)
                }
                None => {
                    let result = expected.cloned().unwrap_or_else(|| self.world.fresh());
                    self.wait(PendingKind::Nil, result, span)
                }
            },
            Ast::Ident { name, generics } => {
                let ident = Ident { name: name.clone(), span };
                self.name(&ident, generics, expected)
            }
            Ast::Implicit { name, .. } => match expected.and_then(|t| self.known(t)) {
                Some(ty) => self.implicit(name, None, &ty, span),
                None => {
                    let result = expected.cloned().unwrap_or_else(|| self.world.fresh());
                    self.wait(PendingKind::Implicit { name: name.clone(), args: None }, result, span)
                }
            },
            Ast::Member { base, name, .. } => {
                if &*name.name == "self" {
                    if let Some(ty) = self.type_expression(base) {
                        return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
                    }
                    return self.expr(base, expected);
                }
                if let Some(ty) = self.type_expression(e) {
                    return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
                }
                if let Some(ty) = self.type_expression(base) {
                    return self.static_member_of(&ty, name, expected, span);
                }
                let base = self.expr(base, None);
                self.member(base, name, expected, span)
            }
            Ast::Call { callee, args } => self.call(callee, args, expected, span),
            Ast::Subscript { base, args } => {
                let args: Vec<ArgNode> = args.iter().map(ArgNode::new).collect();
                let base = self.expr(base, None);
                self.subscript(base, args, span)
            }
            Ast::Closure(closure) => self.closure(closure, expected, span),
            Ast::Array(items) => self.array(items, expected, span),
            Ast::Dictionary(items) => self.dictionary(items, expected, span),
            Ast::Tuple(parts) => self.tuple(parts, expected, span),
            Ast::Paren(inner) => {
                let value = self.expr(inner, expected);
                Expr { span, ..value }
            }
            Ast::Prefix { op, operand } => self.prefix(op, operand, expected, span),
            Ast::Postfix { op, operand } => {
                let args = vec![ArgNode::new(&ast::Arg { label: None, value: (**operand).clone(), trailing: false })];
                self.postfix.push(op.span);
                self.operator(op, args, expected, span)
            }
            Ast::Binary { op, lhs, rhs, .. } => self.binary(op, lhs, rhs, expected, span),
            Ast::Assign { target, value } => self.assignment(target, value, span),
            Ast::Ternary { condition, then, otherwise } => self.ternary(condition, then, otherwise, expected, span),
            Ast::Is { value, ty } => {
                let value = self.expr(value, None);
                let ty = self.resolve(ty);
                Expr { kind: ExprKind::Is { value: Box::new(value), ty }, ty: self.bool_type(), span }
            }
            Ast::As { value, ty, kind } => self.cast(value, ty, *kind, span),
            Ast::InOut(_) => self.fail(Code::Mismatch, span, "'&' is only allowed for an 'inout' argument"),
            Ast::Force(inner) => self.force(inner, span),
            Ast::Chain(_) => {
                self.fail(Code::Types, span, "'?' must be followed by a call, member lookup, or subscript")
            }
            Ast::Try { kind, value } => self.try_expr(*kind, value, expected, span),
            Ast::If { .. } | Ast::Switch { .. } | Ast::Block(_) => self.statement_expression(e, expected),
            Ast::Operator(name) => self.operator_value(name, expected, span),
            Ast::Type(ty) => {
                let ty = self.resolve(ty);
                Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span }
            }
            Ast::Prime { function, order } => self.prime(function, *order, span),
            Ast::Nabla(function) => self.apply_prelude("gradient", "of", function, span),
            Ast::Partial { function, parameter } => self.partial(function, parameter, span),
            Ast::Discard => self.fail(
                Code::WrongContext,
                span,
                "'_' can only appear in a pattern or on the left side of an assignment",
            ),
            Ast::Super | Ast::KeyPath { .. } | Ast::Hash { .. } => {
                self.fail(Code::Unsupported, span, "this construct is not supported yet")
            }
            Ast::Sequence(_) | Ast::Error => self.error_expr(span),
        }
    }

    fn literal_type(&mut self, literal: Literal, expected: Option<&Type>) -> Type {
        if let Some(mut ty) = expected.and_then(|t| self.known(t)) {
            while let Some(inner) = self.world.optional_payload(&ty) {
                ty = self.world.shallow(&inner);
            }
            if !matches!(ty, Type::Var(_) | Type::Associated(..)) && self.world.accepts_literal(&ty, literal) {
                return ty;
            }
        }
        self.world.fresh_literal(literal)
    }

    fn int_literal(&mut self, value: Option<u128>, expected: Option<&Type>, span: Span) -> Expr {
        let ty = self.literal_type(Literal::Int, expected);
        match value {
            Some(v) if v <= i64::MAX as u128 => Expr { kind: ExprKind::Int(v as i64), ty, span },
            // Too large for an integer, but a fine `Double`; `UInt64` keeps its bits.
            Some(v) => {
                let text = self.show(&ty);
                if text == "UInt64" && v <= u128::from(u64::MAX) {
                    return Expr { kind: ExprKind::Int(v as u64 as i64), ty, span };
                }
                if v == 1 << 63 {
                    // The magnitude of `Int.min`, under a minus.
                    return Expr { kind: ExprKind::Int(i64::MIN), ty, span };
                }
                let double = self.world.simple("Double");
                if self.world.unify(&ty, &double, span) {
                    return Expr { kind: ExprKind::Float(v as f64), ty: double, span };
                }
                let message = format!("integer literal '{v}' overflows when stored into '{text}'");
                self.fail(Code::InvalidLiteral, span, message)
            }
            None => self.fail(Code::InvalidLiteral, span, "integer literal is too large"),
        }
    }

    fn string(&mut self, parts: &[StringPart], expected: Option<&Type>, span: Span) -> Expr {
        if let [] | [StringPart::Text(_)] = parts {
            let text: Rc<str> = match parts {
                [StringPart::Text(text)] => text.clone(),
                _ => "".into(),
            };
            let ty = self.literal_type(Literal::Text, expected);
            return Expr { kind: ExprKind::Text(text), ty, span };
        }
        let string = self.world.simple("String");
        let mut out = vec![];
        for part in parts {
            match part {
                StringPart::Text(text) => {
                    out.push(Expr { kind: ExprKind::Text(text.clone()), ty: string.clone(), span });
                }
                StringPart::Interpolation(args) => {
                    let Some(arg) = args.first() else { continue };
                    let value = self.expr(&arg.value, None);
                    out.push(self.described(value));
                }
            }
        }
        Expr { kind: ExprKind::Interpolation(out), ty: string, span }
    }

    /// The text that `print` would write for a value.
    fn described(&mut self, value: Expr) -> Expr {
        let (string, span, ty) = (self.world.simple("String"), value.span, value.ty.clone());
        let Some(function) = self.world.library_function("_describe") else { return self.error_expr(span) };
        let callee = Callee::Static(FunctionRef { function, generics: vec![ty] });
        Expr { kind: ExprKind::Call { callee, args: vec![Argument::Value(value)] }, ty: string, span }
    }

    /// The type that an expression denotes, if it denotes one.
    pub(super) fn type_expression(&mut self, e: &ast::Expr) -> Option<Type> {
        match &e.kind {
            Ast::Ident { name, generics } => {
                if self.find_local_quiet(name) || !self.names_type(name) {
                    return None;
                }
                let ident = Ident { name: name.clone(), span: e.span };
                let ty =
                    ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident, generics.clone())]), span: e.span };
                Some(self.resolve(&ty))
            }
            Ast::Member { base, name, generics } => {
                let base = self.type_expression(base)?;
                let of = self.world.shallow(&base);
                let values = self.world.members(&of, &name.name, true, self.file);
                let is_value = values.iter().any(|(m, ..)| {
                    !matches!(m, MemberKind::Nominal(_) | MemberKind::Alias(_) | MemberKind::AssociatedType)
                });
                if is_value || matches!(&*name.name, "self" | "init") {
                    return None;
                }
                let member = self.world.member_type(&of, &name.name)?;
                if let (Type::Nominal(n, args), false) = (&member, generics.is_empty()) {
                    let given: Vec<Type> = generics.iter().map(|g| self.resolve(g)).collect();
                    let outer = args.len().saturating_sub(given.len());
                    return Some(Type::Nominal(*n, args.iter().take(outer).cloned().chain(given).collect()));
                }
                if let Type::Nominal(n, args) = &member {
                    // Generic parameters of the nested type that nobody gave are inferred.
                    let own = self.world.nominal_data(*n).params.clone();
                    let args: Vec<Type> = args
                        .iter()
                        .zip(own.iter())
                        .map(|(a, p)| {
                            if *a == Type::Param(*p) && !self.world.env.params.contains(p) {
                                self.world.fresh()
                            } else {
                                a.clone()
                            }
                        })
                        .collect();
                    return Some(Type::Nominal(*n, args.into()));
                }
                Some(member)
            }
            Ast::Type(ty) => Some(self.resolve(ty)),
            Ast::Array(items) => {
                let [item] = items.as_slice() else { return None };
                let of = self.type_expression(item)?;
                Some(self.world.applied("Array", &[of]))
            }
            Ast::Dictionary(items) => {
                let [(key, value)] = items.as_slice() else { return None };
                let (key, value) = (self.type_expression(key)?, self.type_expression(value)?);
                Some(self.world.applied("Dictionary", &[key, value]))
            }
            Ast::Paren(inner) => self.type_expression(inner),
            _ => None,
        }
    }

    fn find_local_quiet(&mut self, name: &str) -> bool {
        let path = self.path();
        path.iter().any(|f| self.frames[*f].scopes.iter().any(|s| s.contains_key(name)))
    }

    fn names_type(&mut self, name: &str) -> bool {
        if matches!(name, "Self" | "Any" | "AnyObject" | "Never") {
            return name != "Self" || self.owner != Owner::Module;
        }
        let env = self.world.env.clone();
        if env.params.iter().any(|p| &*self.world.params[p.0 as usize].name == name)
            || self.local_types.contains_key(name)
        {
            return true;
        }
        let mut owner = self.owner;
        loop {
            match owner {
                Owner::Nominal(n) => {
                    let own = self.world.declared_type(n);
                    if &*self.world.nominal_data(n).name == name {
                        return true;
                    }
                    let Type::Nominal(_, args) = &own else { return false };
                    if self.world.own_member_type(n, args, name).is_some()
                        || self.world.associated_type(&own, name).is_some()
                    {
                        return true;
                    }
                    owner = self.world.nominal_data(n).parent;
                }
                Owner::Protocol(p) => {
                    let own = Type::Param(self.world.protocol_data(p).self_param);
                    if self.world.member_type(&own, name).is_some() {
                        return true;
                    }
                    break;
                }
                Owner::Module => break,
            }
        }
        let file = self.file;
        let entries = self.world.entries(name, file);
        entries.iter().any(|e| matches!(e.what, Named::Nominal(_) | Named::Alias(_) | Named::Protocol(_)))
    }

    /// The type around here, in its own terms.
    pub(super) fn own_type(&mut self) -> Option<Type> {
        match self.owner {
            Owner::Nominal(n) => Some(self.world.declared_type(n)),
            Owner::Protocol(p) => Some(Type::Param(self.world.protocol_data(p).self_param)),
            Owner::Module => None,
        }
    }

    /// A name as a value.
    fn name(&mut self, ident: &Ident, generics: &[ast::TypeExpr], expected: Option<&Type>) -> Expr {
        let (name, span) = (ident.name.split('(').next().unwrap_or(&ident.name), ident.span);
        if name.len() < ident.name.len() && !name.is_empty() {
            // `f(_:by:)`: a function by its full name.
            return self.full_name_value(ident, name, expected);
        }
        match self.find_local(name) {
            Some(Found::Local(local)) => return self.local_expr(local, span),
            Some(Found::LocalFunctions(functions)) => {
                self.capture_for(&functions);
                return self.function_value(&functions, expected, span);
            }
            None => {}
        }
        if let Some(n) = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
            return self.anonymous(n, span);
        }
        if let Some(own) = self.own_type() {
            if !self.world.members(&own, name, false, self.file).is_empty()
                && let Some(local) = self.self_local_quiet()
            {
                let receiver = self.local_expr(local, span);
                return self.member(receiver, ident, expected, span);
            }
            let statics = self.world.members(&own, name, true, self.file);
            if statics
                .iter()
                .any(|(m, ..)| !matches!(m, MemberKind::Nominal(_) | MemberKind::Alias(_) | MemberKind::AssociatedType))
            {
                return self.static_member_of(&own, ident, expected, span);
            }
        }
        if name == "self" {
            return self.fail(
                Code::UnknownName,
                span,
                "cannot find 'self' in scope; it is available inside of types only",
            );
        }
        let file = self.file;
        let entries = self.world.entries(name, file);
        let mut functions = vec![];
        let mut hidden = false;
        for entry in entries {
            match entry.what {
                Named::Global(g) if functions.is_empty() => {
                    let global = &self.world.globals[g.0 as usize];
                    let is_undecided = global.ty.is_none() && !global.is_lazy;
                    let is_top = self.frames[0].kind == super::FrameKind::Script && self.frames.len() == 1;
                    if is_undecided && (is_top || global.ty_expr.is_none()) {
                        hidden = true;
                        continue;
                    }
                    let ty = self.world.global_type(g);
                    if self.current != 0 || self.frames[0].kind != super::FrameKind::Script {
                        self.world.globals[g.0 as usize].is_shared = true;
                    }
                    return Expr { kind: ExprKind::Global(g), ty, span };
                }
                Named::Function(f) if self.world.function_data(f).kind == FunctionKind::Getter => {
                    let ty = self.world.signature(f).result.clone();
                    let callee = Callee::Static(FunctionRef { function: f, generics: vec![] });
                    return Expr { kind: ExprKind::Call { callee, args: vec![] }, ty, span };
                }
                Named::Function(f) => functions.push(f),
                Named::Global(_) | Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        if !functions.is_empty() {
            return self.function_value(&functions, expected, span);
        }
        if generics.is_empty() && hidden {
            let message = format!("'{name}' is used before it is declared");
            return self.fail(Code::Uninitialized, span, message);
        }
        if self.names_type(name) {
            let ty = ast::TypeExpr { kind: ast::TypeExprKind::Named(vec![(ident.clone(), generics.to_vec())]), span };
            let ty = self.resolve(&ty);
            return Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(ty)), span };
        }
        self.unknown_name(ident)
    }

    fn full_name_value(&mut self, ident: &Ident, base: &str, expected: Option<&Type>) -> Expr {
        let file = self.file;
        let mut functions = vec![];
        for entry in self.world.entries(base, file) {
            if let Named::Function(f) = entry.what
                && self.world.full_name(f) == *ident.name
            {
                functions.push(f);
            }
        }
        if functions.is_empty() {
            self.unknown_name(ident)
        } else {
            self.function_value(&functions, expected, ident.span)
        }
    }

    pub(super) fn unknown_name(&mut self, ident: &Ident) -> Expr {
        let mut known: Vec<String> = vec![];
        for f in self.path() {
            for scope in &self.frames[f].scopes {
                known.extend(scope.keys().map(ToString::to_string));
            }
        }
        known.extend(self.world.module.keys().map(ToString::to_string));
        known.extend(self.world.library_names());
        if let Some(own) = self.own_type() {
            known.extend(self.world.member_names(&own));
        }
        known.sort();
        let mut diagnostic =
            Diagnostic::error(Code::UnknownName, ident.span, format!("cannot find '{}' in scope", ident.name));
        if let Some(close) = closest(&ident.name, known.iter().map(String::as_str)) {
            diagnostic =
                diagnostic.label(format!("did you mean '{close}'?")).fix(format!("use '{close}'"), ident.span, close);
        }
        self.error(diagnostic);
        self.error_expr(ident.span)
    }

    /// A function declaration (one of several) as a value.
    pub(super) fn function_value(
        &mut self,
        functions: &[crate::types::tree::FunctionId],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let expected = expected.and_then(|t| self.known(t));
        let mut chosen = functions[0];
        if functions.len() > 1 {
            let mut fitting = vec![];
            for f in functions {
                let snapshot = self.world.snapshot();
                let (ty, _) = self.open_function(*f, span);
                let fits = expected.as_ref().is_none_or(|t| self.can_convert(&ty, t));
                self.world.rollback(snapshot);
                if fits {
                    fitting.push(*f);
                }
            }
            // `Double` before other types when nothing says which is meant.
            let double = self.world.simple("Double");
            let prefers = |infer: &mut Self, f: &crate::types::tree::FunctionId| {
                let signature = infer.world.signature(*f);
                usize::from(!signature.params.iter().all(|p| p.ty == double))
            };
            let mut ranked: Vec<(usize, usize, crate::types::tree::FunctionId)> = vec![];
            for (i, f) in fitting.iter().enumerate() {
                let tier = usize::from(self.world.function_data(*f).is_prelude) * 10;
                ranked.push((tier + prefers(self, f), i, *f));
            }
            ranked.sort_unstable_by_key(|(a, b, _)| (*a, *b));
            if let Some((.., f)) = ranked.first() {
                chosen = *f;
            }
        }
        let (ty, generics) = self.open_function(chosen, span);
        Expr { kind: ExprKind::Function(FunctionRef { function: chosen, generics }), ty, span }
    }

    /// The type of a function value with fresh variables for its generic parameters.
    fn open_function(&mut self, f: crate::types::tree::FunctionId, span: Span) -> (Type, Vec<Type>) {
        let candidate = super::candidates::Candidate {
            target: super::candidates::Target::Function(f),
            prefix: match &self.world.function_data(f).outer {
                Some(env) => env.params.iter().map(|p| Type::Param(*p)).collect(),
                None => Rc::from([]),
            },
            receiver: None,
            tier: 0,
        };
        let instance = self.instantiate(&candidate, span);
        let signature = crate::types::store::Signature {
            env: Rc::default(),
            params: instance.params,
            self_type: None,
            self_inout: false,
            result: instance.result,
            throws: instance.throws,
            differentiable: None,
        };
        (self.world.function_type(&signature), instance.generics)
    }

    fn array(&mut self, items: &[ast::Expr], expected: Option<&Type>, span: Span) -> Expr {
        let mut wanted = expected.and_then(|t| self.known(t));
        while let Some(inner) = wanted.as_ref().and_then(|t| self.world.optional_payload(t)) {
            wanted = self.known(&inner);
        }
        let array = self.world.library_nominal("Array");
        let (element, literal_of) = match &wanted {
            Some(Type::Nominal(n, args)) if *n == array => (args[0].clone(), None),
            Some(ty @ (Type::Nominal(..) | Type::Param(_))) => {
                let protocol = self.world.protocol("ExpressibleByArrayLiteral");
                if self.world.conforms_to(ty, protocol) {
                    let element = self.world.associated_type(ty, "ArrayLiteralElement").unwrap_or(Type::Error);
                    (element, Some(ty.clone()))
                } else {
                    (self.world.fresh(), None)
                }
            }
            _ => (self.world.fresh(), None),
        };
        let mut values = vec![];
        for item in items {
            let value = self.expr(item, Some(&element));
            values.push(self.coerce(value, &element));
        }
        let ty = self.world.applied("Array", &[element]);
        let value = Expr { kind: ExprKind::Array(values), ty, span };
        match literal_of {
            Some(of) => self.made_from_literal(&of, "arrayLiteral", value, span),
            None => value,
        }
    }

    /// A value of a type that is made from a literal.
    fn made_from_literal(&mut self, of: &Type, label: &str, value: Expr, span: Span) -> Expr {
        let label: ast::Name = label.into();
        let ast = ast::Expr { kind: Ast::Nil, span };
        let arg = ArgNode { label: Some(label), ast: Rc::new(ast), trailing: false, ready: Some(Rc::new(value)), span };
        self.call_init(of, vec![arg], Some(of), span)
    }

    fn dictionary(&mut self, items: &[(ast::Expr, ast::Expr)], expected: Option<&Type>, span: Span) -> Expr {
        let wanted = expected.and_then(|t| self.known(t));
        let dictionary = self.world.library_nominal("Dictionary");
        let (key, value) = match &wanted {
            Some(Type::Nominal(n, args)) if *n == dictionary => (args[0].clone(), args[1].clone()),
            _ => (self.world.fresh(), self.world.fresh()),
        };
        let hashable = self.world.protocol("Hashable");
        self.world.require(&key, hashable, span);
        let mut values = vec![];
        for (k, v) in items {
            let k = self.expr(k, Some(&key));
            let k = self.coerce(k, &key);
            let v = self.expr(v, Some(&value));
            values.push((k, self.coerce(v, &value)));
        }
        let ty = self.world.applied("Dictionary", &[key, value]);
        Expr { kind: ExprKind::Dictionary(values), ty, span }
    }

    fn tuple(&mut self, parts: &[(Option<Ident>, ast::Expr)], expected: Option<&Type>, span: Span) -> Expr {
        let wanted = match expected.and_then(|t| self.known(t)) {
            Some(Type::Tuple(types)) if types.len() == parts.len() => Some(types),
            _ => None,
        };
        let mut values = vec![];
        let mut types = vec![];
        for (i, (label, part)) in parts.iter().enumerate() {
            let want = wanted.as_ref().map(|w| w[i].1.clone());
            let value = self.expr(part, want.as_ref());
            let value = match &want {
                Some(want) => self.coerce(value, want),
                None => value,
            };
            types.push((label.as_ref().map(|l| l.name.clone()), value.ty.clone()));
            values.push(value);
        }
        Expr { kind: ExprKind::Tuple(values), ty: Type::Tuple(types.into()), span }
    }

    fn ternary(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let condition = self.condition_value(condition);
        let then = self.expr(then, expected);
        let hint = then.ty.clone();
        let otherwise = self.expr(otherwise, Some(expected.unwrap_or(&hint)));
        let (then, otherwise, ty) = self.common(then, otherwise, expected);
        let kind =
            ExprKind::Ternary { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
        Expr { kind, ty, span }
    }

    /// Gives two values that stand for one the same type.
    pub(super) fn common(&mut self, a: Expr, b: Expr, expected: Option<&Type>) -> (Expr, Expr, Type) {
        if let Some(expected) = expected {
            let (a, b) = (self.coerce(a, expected), self.coerce(b, expected));
            return (a, b, expected.clone());
        }
        let (s, t) = (a.ty.clone(), b.ty.clone());
        let snapshot = self.world.snapshot();
        if self.world.unify(&s, &t, a.span) {
            self.world.keep(snapshot);
            return (a, b, s);
        }
        self.world.rollback(snapshot);
        if self.can_convert(&t, &s) {
            let b = self.coerce(b, &s);
            return (a, b, s);
        }
        let a = self.coerce(a, &t);
        (a, b, t)
    }

    pub(super) fn condition_value(&mut self, e: &ast::Expr) -> Expr {
        let bool_type = self.bool_type();
        let value = self.expr(e, Some(&bool_type));
        self.coerce(value, &bool_type)
    }

    fn cast(&mut self, value: &ast::Expr, ty: &ast::TypeExpr, kind: CastKind, span: Span) -> Expr {
        let wanted = self.resolve(ty);
        if kind == CastKind::Coerce {
            let value = self.expr(value, Some(&wanted));
            return self.coerce(value, &wanted);
        }
        let value = self.expr(value, None);
        let forced = kind == CastKind::Forced;
        let ty = if forced { wanted } else { self.world.applied("Optional", &[wanted]) };
        Expr { kind: ExprKind::Cast { value: Box::new(value), forced }, ty, span }
    }

    fn force(&mut self, inner: &ast::Expr, span: Span) -> Expr {
        let value = self.expr(inner, None);
        if let Some(payload) = self.world.optional_payload(&value.ty.clone()) {
            return Expr { kind: ExprKind::Force(Box::new(value)), ty: payload, span };
        }
        let ty = value.ty.clone();
        if let Type::Var(_) = self.world.shallow(&ty) {
            let payload = self.world.fresh();
            let optional = self.world.applied("Optional", std::slice::from_ref(&payload));
            self.world.unify(&ty, &optional, span);
            return Expr { kind: ExprKind::Force(Box::new(value)), ty: payload, span };
        }
        if ty == Type::Error {
            return value;
        }
        let message = format!("cannot force unwrap value of non-optional type '{}'", self.show(&ty));
        let mark = Span::new(span.end.saturating_sub(1), span.end);
        self.error(Diagnostic::error(Code::Mismatch, span, message).fix("remove '!'", mark, ""));
        value
    }

    fn try_expr(&mut self, kind: ast::TryKind, value: &ast::Expr, expected: Option<&Type>, span: Span) -> Expr {
        self.frame().catching += 1;
        let inner_expected = match kind {
            ast::TryKind::Optional => None,
            ast::TryKind::Propagate | ast::TryKind::Forced => expected,
        };
        let value = self.expr(value, inner_expected);
        self.frame().catching -= 1;
        if kind == ast::TryKind::Propagate {
            self.needs_try(span);
        }
        let ty = match kind {
            ast::TryKind::Optional => match self.world.is_optional(&value.ty.clone()) {
                true => value.ty.clone(),
                false => self.world.applied("Optional", std::slice::from_ref(&value.ty)),
            },
            ast::TryKind::Propagate | ast::TryKind::Forced => value.ty.clone(),
        };
        Expr { kind: ExprKind::Try { kind, value: Box::new(value) }, ty, span }
    }

    /// A value behind `let` in a place where only an expression may stand.
    pub(super) fn with_temporary(&mut self, value: Expr, run: impl FnOnce(&mut Self, LocalId) -> Expr) -> Expr {
        let span = value.span;
        let local = self.new_local("", value.ty.clone(), false, span);
        let pattern = Pattern { kind: PatternKind::Bind(local), ty: value.ty.clone(), span };
        let first = Stmt { kind: StmtKind::Let { pattern, value: Some(value) }, span };
        let body = run(self, local);
        let result = self.new_local("", body.ty.clone(), true, span);
        let ty = body.ty.clone();
        let place = crate::types::tree::Place {
            root: crate::types::tree::Root::Local(result),
            path: vec![],
            ty: ty.clone(),
            span,
        };
        let last = Stmt { kind: StmtKind::Assign { place, value: body }, span };
        Expr { kind: ExprKind::Statements { statements: vec![first, last], result }, ty, span }
    }

    /// Whether a value matches a pattern, as a value.
    pub(super) fn matches(&mut self, value: Expr, pattern: PatternKind, span: Span) -> Expr {
        let bool_type = self.bool_type();
        let result = self.new_local("", bool_type.clone(), true, span);
        let assign = |value| {
            let place = crate::types::tree::Place {
                root: crate::types::tree::Root::Local(result),
                path: vec![],
                ty: bool_type.clone(),
                span,
            };
            let value = Expr { kind: ExprKind::Bool(value), ty: bool_type.clone(), span };
            vec![Stmt { kind: StmtKind::Assign { place, value }, span }]
        };
        let pattern = Pattern { kind: pattern, ty: value.ty.clone(), span };
        let conditions = vec![Condition::Match { pattern, value }];
        let statement = Stmt { kind: StmtKind::If { conditions, then: assign(true), otherwise: assign(false) }, span };
        Expr { kind: ExprKind::Statements { statements: vec![statement], result }, ty: bool_type.clone(), span }
    }

    /// `a?.b`: what stands behind the innermost `?` is evaluated with the value that was found there.
    fn optional_chain(&mut self, e: &ast::Expr) -> Option<Expr> {
        let mut rewritten = e.clone();
        let name = format!("$chain{}", self.frame().locals.len());
        let base = take_chain(&mut rewritten, &name, true)?;
        let value = self.expr(&base, None);
        let ty = value.ty.clone();
        let payload = match self.world.optional_payload(&ty) {
            Some(payload) => payload,
            None if matches!(self.world.shallow(&ty), Type::Var(_)) => {
                let payload = self.world.fresh();
                let optional = self.world.applied("Optional", std::slice::from_ref(&payload));
                self.world.unify(&ty, &optional, e.span);
                payload
            }
            None => {
                if ty != Type::Error {
                    let message =
                        format!("cannot use optional chaining on non-optional value of type '{}'", self.show(&ty));
                    self.error(Diagnostic::error(Code::Mismatch, base.span, message).help("remove the '?'"));
                }
                return Some(self.error_expr(e.span));
            }
        };
        let local = self.new_local("", payload, true, base.span);
        let body = self.in_scope(|infer| {
            infer.bind(&name.as_str().into(), local);
            infer.expr(&rewritten, None)
        });
        let flatten = self.world.is_optional(&body.ty.clone());
        let result =
            if flatten { body.ty.clone() } else { self.world.applied("Optional", std::slice::from_ref(&body.ty)) };
        let (local_, body) = (local, Box::new(body));
        let kind = if self.mutated.contains(&(self.current, local)) {
            let place = self.place_of(value, "cannot use mutating member on immutable value");
            ExprKind::ChainPlace { place, local: local_, body, flatten }
        } else {
            ExprKind::Chain { base: Box::new(value), local: local_, body, flatten }
        };
        Some(Expr { kind, ty: result, span: e.span })
    }

    /// `f'`
    fn prime(&mut self, function: &ast::Expr, order: u32, span: Span) -> Expr {
        let mut value = self.expr(function, None);
        for _ in 0..order {
            value = self.apply_prelude_to(value, "derivative", "of", span);
        }
        value
    }

    fn apply_prelude(&mut self, name: &'static str, label: &str, function: &ast::Expr, span: Span) -> Expr {
        let value = self.expr(function, None);
        self.apply_prelude_to(value, name, label, span)
    }

    fn apply_prelude_to(&mut self, value: Expr, name: &'static str, label: &str, span: Span) -> Expr {
        let arg = ArgNode {
            label: Some(label.into()),
            ast: Rc::new(ast::Expr { kind: Ast::Error, span: value.span }),
            trailing: false,
            ready: Some(Rc::new(value)),
            span,
        };
        let mut candidates = vec![];
        for entry in self.world.library_entries(name) {
            if let Named::Function(f) = entry.what {
                candidates.push(super::candidates::Candidate {
                    target: super::candidates::Target::Function(f),
                    prefix: Rc::from([]),
                    receiver: None,
                    tier: 1,
                });
            }
        }
        self.call_overloaded(&Ident { name: name.into(), span }, candidates, vec![arg], None, span)
    }

    /// `∂(f, x)`: the derivative by one parameter, as a function of all of them.
    fn partial(&mut self, function: &ast::Expr, parameter: &Ident, span: Span) -> Expr {
        let Some((names, types)) = self.parameter_names(function) else {
            let message = "the names of the parameters of this function are not known";
            return self.fail(Code::WithRespectTo, function.span, message);
        };
        let Some(at) = names.iter().position(|n| *n == parameter.name) else {
            let known = names.iter().map(|n| format!("'{n}'")).collect::<Vec<_>>().join(", ");
            let message = format!("the function has no parameter '{}'; it has {known}", parameter.name);
            return self.fail(Code::WithRespectTo, parameter.span, message);
        };
        let text_params: Vec<String> = (0..names.len()).map(|i| format!("$p{i}")).collect();
        let ident = |name: &str| ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span };
        let call = |args: Vec<ast::Expr>, callee: ast::Expr| {
            let args = args.into_iter().map(|value| ast::Arg { label: None, value, trailing: false }).collect();
            ast::Expr { kind: Ast::Call { callee: Box::new(callee), args }, span }
        };
        let inner_args =
            text_params.iter().enumerate().map(|(i, p)| if i == at { ident("$dp") } else { ident(p) }).collect();
        let inner = closure_of(&["$dp".to_string()], call(inner_args, function.clone()), span);
        let labelled =
            |label: &str, value| ast::Arg { label: Some(Ident { name: label.into(), span }), value, trailing: false };
        let args = vec![labelled("at", ident(&text_params[at])), labelled("in", inner)];
        let body = ast::Expr { kind: Ast::Call { callee: Box::new(ident("derivative")), args }, span };
        let outer = closure_of(&text_params, body, span);
        let params = types
            .into_iter()
            .map(|ty| crate::types::ty::FunctionParam { ty, is_inout: false, no_derivative: false, autoclosure: false })
            .collect();
        let result = self.world.fresh();
        let wanted = crate::types::ty::FunctionType { params, result, throws: false, strength: Strength::Open };
        self.expr(&outer, Some(&Type::Function(Rc::new(wanted))))
    }

    /// The names of a function's parameters with their types.
    fn parameter_names(&mut self, function: &ast::Expr) -> Option<(Vec<ast::Name>, Vec<Type>)> {
        let Ast::Ident { name, .. } = &function.kind else { return None };
        let file = self.file;
        for entry in self.world.entries(name, file) {
            match entry.what {
                Named::Function(f) => {
                    let signature = self.world.signature(f);
                    return Some(signature.params.iter().map(|p| (p.name.clone(), p.ty.clone())).unzip());
                }
                Named::Global(g) => {
                    let names = self.world.closure_names.get(&g).cloned();
                    if let (Some(names), Type::Function(f)) = (names, self.world.global_type(g)) {
                        return Some((names, f.params.iter().map(|p| p.ty.clone()).collect()));
                    }
                }
                Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        None
    }

    /// `+` and the like as a value.
    fn operator_value(&mut self, name: &ast::Name, expected: Option<&Type>, span: Span) -> Expr {
        let operand = match expected.and_then(|t| self.known(t)) {
            Some(Type::Function(f)) if f.params.len() <= 2 => f.params.len(),
            _ => 2,
        };
        let params: Vec<String> = (0..operand).map(|i| format!("$op{i}")).collect();
        let ident = |name: &str| ast::Expr { kind: Ast::Ident { name: name.into(), generics: vec![] }, span };
        let op = Ident { name: name.clone(), span };
        let body = if operand == 2 {
            Ast::Binary { op, lhs: Box::new(ident(&params[0])), rhs: Box::new(ident(&params[1])), juxtaposed: false }
        } else {
            Ast::Prefix { op, operand: Box::new(ident("$op0")) }
        };
        let closure = closure_of(&params, ast::Expr { kind: body, span }, span);
        self.expr(&closure, expected)
    }
}

/// `{ params in body }`
pub(super) fn closure_of(params: &[String], body: ast::Expr, span: Span) -> ast::Expr {
    let params = params
        .iter()
        .map(|p| ast::ClosureParam { name: Ident { name: p.as_str().into(), span }, ty: None, is_inout: false })
        .collect();
    let items = vec![ast::Stmt { kind: ast::StmtKind::Expr(body), span }];
    let closure = ast::Closure {
        captures: vec![],
        params: Some(params),
        throws: false,
        result: None,
        attributes: vec![],
        body: ast::Block { items, span },
    };
    ast::Expr { kind: Ast::Closure(Rc::new(closure)), span }
}

/// Takes the innermost `x?` out of the spine of a postfix expression and puts a name there.
pub(super) fn take_chain(e: &mut ast::Expr, name: &str, is_top: bool) -> Option<ast::Expr> {
    let span = e.span;
    match &mut e.kind {
        Ast::Chain(inner) if !is_top => {
            if let Some(found) = take_chain(inner, name, false) {
                return Some(found);
            }
            let base = std::mem::replace(&mut **inner, ast::Expr { kind: Ast::Error, span });
            e.kind = Ast::Ident { name: name.into(), generics: vec![] };
            Some(base)
        }
        Ast::Member { base, .. } | Ast::Subscript { base, .. } | Ast::Force(base) => take_chain(base, name, false),
        Ast::Call { callee, .. } => take_chain(callee, name, false),
        _ => None,
    }
}
