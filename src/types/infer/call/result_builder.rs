//! Result builders: with `@resultBuilder`, the statements of a body become the arguments of the builder's functions.
//!
//! Each statement that has a value is stored in a separate constant; branches and loops become values first. The
//! translated body is checked like a body in the source.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{
    Arg, Attribute, Binding, Block, Closure, Condition, Decl, DeclKind, Expr, ExprKind, Ident, Pattern, PatternKind,
    Stmt, StmtKind, SwitchCase, TypeExpr, TypeExprKind,
};
use crate::types::generics::associated_type;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_tables::{Member, MemberKind, Named, Owner};
use crate::types::model::prelude_index;
use crate::types::model::syntax_query;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::members;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// A result builder: its name as written, with generic arguments, and the names of the functions that the builder
/// declares.
struct Builder {
    name: Vec<Ident>,
    generics: Vec<TypeExpr>,
    functions: Vec<&'static str>,
    /// The number of constants that the translation has created.
    made: usize,
    /// The statements that cannot be translated, and the function that the builder would need for each.
    refused: Vec<(Span, Option<&'static str>)>,
}

/// The functions that a builder may have.
const FUNCTIONS: [&str; 7] = [
    "buildBlock",
    "buildExpression",
    "buildOptional",
    "buildEither",
    "buildArray",
    "buildFinalResult",
    "buildPartialBlock",
];

impl Infer<'_> {
    /// Translates a function body if one of the given attributes names a result builder. A body with a `return` is not
    /// translated.
    pub(crate) fn built_body(&mut self, attributes: &[Attribute], body: &Block) -> Option<Block> {
        let (attribute, name, ty) = attributes.iter().find_map(|a| {
            let (name, ty) = self.builder_type(a)?;
            Some((a, name, ty))
        })?;
        let mut returns = false;
        crate::types::model::syntax_walk::returns(&body.items, &mut |_| returns = true);
        if returns {
            return None;
        }
        let file = self.file;
        let is_function = |(kind, ..): &(MemberKind, _, _)| matches!(kind, MemberKind::Method(_));
        let functions = FUNCTIONS
            .into_iter()
            .filter(|f| members::members(self.cx, &ty, f, true, file).iter().any(is_function))
            .collect();
        let mut builder = Builder { name, generics: attribute.generics.clone(), functions, made: 0, refused: vec![] };
        let built = builder.body(body);
        if builder.refused.is_empty() {
            return Some(built);
        }
        for (span, lacks) in builder.refused {
            let shown = self.show(&ty);
            let message =
                format!("closure containing control flow statement cannot be used with result builder '{shown}'");
            let diagnostic = Diagnostic::error(Code::WrongContext, span, message);
            self.error(match lacks {
                Some(function) => diagnostic.help(format!("add 'static func {function}' to the builder")),
                None => diagnostic,
            });
        }
        let span = body.span;
        let nothing = Expr { kind: ExprKind::Error, span };
        Some(Block { items: vec![Stmt { kind: StmtKind::Return(Some(nothing)), span }], span })
    }

    /// Translates the body of a local function whose attributes name a result builder.
    pub(crate) fn built_body_of_local(&mut self, f: FunctionId, body: &Block) -> Option<Block> {
        let decl = self.cx.defs.function_data(f).decl.clone()?;
        self.built_body(&decl.attributes, body)
    }

    /// Translates a closure that is passed to a parameter with a builder attribute.
    pub(crate) fn built_closure(&mut self, attributes: &[Attribute], closure: &Expr) -> Option<Expr> {
        let ExprKind::Closure(given) = &closure.kind else { return None };
        let body = self.built_body(attributes, &given.body)?;
        let built = Closure { body, ..(**given).clone() };
        Some(Expr { kind: ExprKind::Closure(Rc::new(built)), span: closure.span })
    }

    /// Returns the arguments of a call after translating the closure that is passed to a parameter with a builder
    /// attribute.
    pub(crate) fn built_argument(
        &mut self,
        candidate: &Candidate,
        param: usize,
        slot: &Slot,
        args: &[ArgNode],
    ) -> Option<Vec<ArgNode>> {
        let (Slot::Arg(at), Target::Function(f)) = (slot, &candidate.target) else { return None };
        let params = self.cx.defs.function_data(*f).ast_params.clone();
        if self.cx.defs.builders.is_empty() && params.get(param)?.attributes.is_empty() {
            return None;
        }
        let attributes: Vec<Attribute> =
            params.get(param)?.attributes.iter().map(|a| self.as_seen_outside(a, *f)).collect();
        let built = self.built_closure(&attributes, &args[*at].ast)?;
        let mut args = args.to_vec();
        args[*at].ast = Rc::new(built);
        Some(args)
    }

    /// Returns the declaration whose attributes name the builder for the result of a function or getter: the
    /// declaration itself, or the requirement that it satisfies.
    pub(crate) fn building_attributes(&mut self, f: FunctionId) -> Option<Rc<Decl>> {
        if self.cx.defs.builders.is_empty() {
            return None;
        }
        let own = self.cx.defs.function_data(f).decl.clone()?;
        if self.names_builder(&own) {
            return Some(own);
        }
        let Owner::Nominal(n) = self.cx.defs.function_data(f).owner else { return None };
        let name = self.cx.defs.full_name(f);
        for p in associated_type::all_conforming(self.cx, n) {
            for requirement in &self.cx.defs.protocol_data(p).requirements {
                let g = requirement.function;
                let Some(decl) = self.cx.defs.function_data(g).decl.clone() else { continue };
                let is_same = self.cx.defs.function_data(g).kind == self.cx.defs.function_data(f).kind;
                if is_same && self.names_builder(&decl) && self.cx.defs.full_name(g) == name {
                    return Some(decl);
                }
            }
        }
        None
    }

    fn names_builder(&self, decl: &Decl) -> bool {
        decl.attributes.iter().any(|a| self.cx.defs.builders.contains(&*a.name.name))
    }

    /// Qualifies the name of the builder in an attribute of a parameter: the builder may be nested in the type that
    /// declares the function. The generic arguments are omitted if the function is generic, because they may contain its
    /// parameters; the closure then determines them.
    fn as_seen_outside(&self, attribute: &Attribute, f: FunctionId) -> Attribute {
        let is_generic = match self.cx.defs.function_data(f).owner {
            Owner::Nominal(n) => !self.cx.defs.nominal_data(n).params.is_empty(),
            Owner::Protocol(_) => true,
            Owner::Module => false,
        } || !self.cx.defs.function_data(f).generics.params.is_empty();
        let generics = if is_generic { vec![] } else { attribute.generics.clone() };
        let attribute = Attribute { generics, ..attribute.clone() };
        let name = &attribute.name.name;
        let first = name.split('.').next().unwrap_or(name);
        let is_type = |m: &Member| matches!(m.kind, MemberKind::Nominal(_));
        let mut owner = self.cx.defs.function_data(f).owner;
        while let Owner::Nominal(n) = owner {
            let data = self.cx.defs.nominal_data(n);
            if data.members.get(first).is_some_and(|found| found.iter().any(is_type)) {
                let mut path = vec![name.to_string()];
                while let Owner::Nominal(n) = owner {
                    path.insert(0, self.cx.defs.nominal_data(n).name.to_string());
                    owner = self.cx.defs.nominal_data(n).parent;
                }
                let name = Ident { name: path.join(".").into(), span: attribute.name.span };
                return Attribute { name, ..attribute };
            }
            owner = data.parent;
        }
        attribute
    }

    fn builder_type(&mut self, attribute: &Attribute) -> Option<(Vec<Ident>, Type)> {
        let span = attribute.name.span;
        let name: Vec<Ident> = attribute.name.name.split('.').map(|part| Ident { name: part.into(), span }).collect();
        if !self.cx.defs.builders.contains(&name.last()?.name) && !self.is_library_builder(&attribute.name.name) {
            return None;
        }
        let mut parts: Vec<(Ident, Vec<TypeExpr>)> = name.iter().map(|part| (part.clone(), vec![])).collect();
        if let Some((_, generics)) = parts.last_mut() {
            generics.clone_from(&attribute.generics);
        }
        let ty = self.resolve(&TypeExpr { kind: TypeExprKind::Named(parts), span });
        (ty != Type::Error).then_some((name, ty))
    }
}

impl Infer<'_> {
    /// Whether a name refers to a result builder of the library.
    fn is_library_builder(&mut self, name: &str) -> bool {
        let starts_like_type = name.starts_with(|c: char| c.is_ascii_uppercase());
        let declares = |function| !prelude_index::declaring_member(name, function).is_empty();
        if !starts_like_type || !declares("buildBlock") && !declares("buildPartialBlock") {
            return false;
        }
        let file = self.file;
        matches!(name_lookup::type_entry(self.cx, name, file), Some(Named::Nominal(n)) if self.cx.defs.nominal_data(n).is_prelude)
    }
}

impl Builder {
    fn has(&self, function: &str) -> bool {
        self.functions.contains(&function)
    }

    /// Translates a whole body, and returns its combined value.
    fn body(&mut self, body: &Block) -> Block {
        let (mut items, value) = self.block(body);
        let value = if self.has("buildFinalResult") { self.call("buildFinalResult", [(None, value)]) } else { value };
        let span = body.span;
        items.push(Stmt { kind: StmtKind::Return(Some(value)), span });
        Block { items, span }
    }

    /// Translates the statements of a block; returns the new statements, and their combined value.
    fn block(&mut self, body: &Block) -> (Vec<Stmt>, Expr) {
        let (mut out, mut parts) = (vec![], vec![]);
        for item in &body.items {
            match self.component(item) {
                Some(value) => {
                    let name = self.fresh();
                    out.push(constant(&name, value, item.span));
                    parts.push(ident(&name, item.span));
                }
                None => out.push(item.clone()),
            }
        }
        let span = match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => body.span,
        };
        let value = self.together(parts, span);
        (out, value)
    }

    fn together(&mut self, parts: Vec<Expr>, span: Span) -> Expr {
        if self.has("buildPartialBlock") && !parts.is_empty() {
            let mut parts = parts.into_iter();
            let first = parts.next().map(|first| (label("first", span), first));
            let mut all = self.call_at("buildPartialBlock", first, span);
            for next in parts {
                let args = [(label("accumulated", span), all), (label("next", span), next)];
                all = self.call_at("buildPartialBlock", args, span);
            }
            return all;
        }
        self.call_at("buildBlock", parts.into_iter().map(|part| (None, part)), span)
    }

    /// Returns the value that a statement contributes to the result, if any.
    fn component(&mut self, item: &Stmt) -> Option<Expr> {
        let span = item.span;
        match &item.kind {
            StmtKind::Expr(e) => match &e.kind {
                ExprKind::Assign { .. } => None,
                ExprKind::If { conditions, then, otherwise } => Some(self.branches(conditions, then, otherwise, span)),
                ExprKind::Switch { value, cases } => Some(self.switch(value, cases, span)),
                ExprKind::Binary { op, .. } if op.name.ends_with('=') && !is_comparison(&op.name) => None,
                _ if self.has("buildExpression") => Some(self.call("buildExpression", [(None, e.clone())])),
                _ => Some(e.clone()),
            },
            StmtKind::For { pattern, sequence, filter, body, .. } => {
                self.needs("buildArray", span);
                Some(self.array(pattern, sequence, filter.as_ref(), body, span))
            }
            StmtKind::Guard { .. } | StmtKind::While { .. } | StmtKind::Repeat { .. } | StmtKind::Do { .. } => {
                self.refused.push((span, None));
                None
            }
            _ => None,
        }
    }

    fn needs(&mut self, function: &'static str, span: Span) {
        if !self.has(function) {
            self.refused.push((span, Some(function)));
        }
    }

    /// Translates an `if` with or without `else` to an expression.
    fn branches(&mut self, conditions: &[Condition], then: &Block, otherwise: &Option<Rc<Expr>>, span: Span) -> Expr {
        self.needs(if otherwise.is_some() { "buildEither" } else { "buildOptional" }, span);
        let first = self.value_of(then);
        let Some(otherwise) = otherwise else {
            let some = call(member(ident("Optional", span), "some"), [(None, first)], span);
            let nil = Expr { kind: ExprKind::Nil, span };
            let returned = |value: Expr| Stmt { kind: StmtKind::Return(Some(value)), span };
            let then = Block { items: vec![returned(some)], span };
            let choice = ExprKind::If { conditions: conditions.to_vec(), then, otherwise: None };
            let choice = Stmt { kind: StmtKind::Expr(Expr { kind: choice, span }), span };
            let value = applied(Block { items: vec![choice, returned(nil)], span });
            return self.call("buildOptional", [(None, value)]);
        };
        let second = match &otherwise.kind {
            ExprKind::Block(block) => self.value_of(block),
            ExprKind::If { conditions, then, otherwise } => self.branches(conditions, then, otherwise, span),
            _ => (**otherwise).clone(),
        };
        let first = self.call("buildEither", [(label("first", span), first)]);
        let second = self.call("buildEither", [(label("second", span), second)]);
        let otherwise = Expr { kind: ExprKind::Block(single(second)), span };
        let kind =
            ExprKind::If { conditions: conditions.to_vec(), then: single(first), otherwise: Some(Rc::new(otherwise)) };
        Expr { kind, span }
    }

    /// Translates a `switch`: each case but the last is the first alternative of a nested `buildEither`.
    fn switch(&mut self, value: &Rc<Expr>, cases: &[SwitchCase], span: Span) -> Expr {
        let last = cases.len().saturating_sub(1);
        if last > 0 {
            self.needs("buildEither", span);
        }
        let cases = cases
            .iter()
            .enumerate()
            .map(|(i, case)| {
                let mut value = self.value_of(&case.body);
                if i < last {
                    value = self.call("buildEither", [(label("first", span), value)]);
                }
                for _ in 0..i {
                    value = self.call("buildEither", [(label("second", span), value)]);
                }
                SwitchCase { body: single(value), ..case.clone() }
            })
            .collect();
        Expr { kind: ExprKind::Switch { value: value.clone(), cases }, span }
    }

    /// Translates a `for` loop: the values of its iterations become an array, which `buildArray` combines.
    fn array(&mut self, pattern: &Pattern, sequence: &Expr, filter: Option<&Expr>, body: &Block, span: Span) -> Expr {
        let element = self.fresh();
        let bound = Stmt {
            kind: StmtKind::Decl(Rc::new(variable(pattern.clone(), ident(&element, span), span))),
            span: pattern.span,
        };
        let over = |sequence: Expr, function: &str, items: Vec<Stmt>| {
            let params = vec![ast::ClosureParam { name: named(&element, span), ty: None, is_inout: false }];
            let closure = closure(Some(params), Block { items, span });
            call(member(sequence, function), [(None, closure)], span)
        };
        let returned = |value: Expr| Stmt { kind: StmtKind::Return(Some(value)), span };
        let sequence = match filter {
            Some(filter) => {
                // The body may use a variable that the filter does not use.
                let mut items = vec![bound.clone()];
                items.extend(uses(pattern));
                items.push(returned(filter.clone()));
                over(sequence.clone(), "filter", items)
            }
            None => sequence.clone(),
        };
        let value = self.value_of(body);
        let all = over(sequence, "map", vec![bound, returned(value)]);
        self.call("buildArray", [(None, all)])
    }

    /// Returns the combined value of a block as one expression.
    fn value_of(&mut self, body: &Block) -> Expr {
        let (mut items, value) = self.block(body);
        if items.is_empty() {
            return value;
        }
        items.push(Stmt { kind: StmtKind::Return(Some(value)), span: body.span });
        applied(Block { items, span: body.span })
    }

    fn call<const N: usize>(&self, function: &str, args: [(Option<Ident>, Expr); N]) -> Expr {
        let span = args.first().map_or(Span::default(), |(_, e)| e.span);
        self.call_at(function, args, span)
    }

    fn call_at(&self, function: &str, args: impl IntoIterator<Item = (Option<Ident>, Expr)>, span: Span) -> Expr {
        let mut parts = self.name.iter();
        let first = parts.next().map_or_else(|| ident("Self", span), |first| ident(&first.name, span));
        let mut builder = parts.fold(first, |base, part| member(base, &part.name));
        if let ExprKind::Ident { generics, .. } | ExprKind::Member { generics, .. } = &mut builder.kind {
            generics.clone_from(&self.generics);
        }
        call(member(builder, function), args, span)
    }

    fn fresh(&mut self) -> String {
        self.made += 1;
        format!("$part{}", self.made)
    }
}

fn is_comparison(op: &str) -> bool {
    matches!(op, "==" | "!=" | "<=" | ">=" | "===" | "!==" | "~=")
}

fn named(name: &str, span: Span) -> Ident {
    Ident { name: name.into(), span }
}

fn label(name: &str, span: Span) -> Option<Ident> {
    Some(named(name, span))
}

fn ident(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Ident { name: name.into(), generics: vec![] }, span }
}

fn member(base: Expr, name: &str) -> Expr {
    let span = base.span;
    Expr { kind: ExprKind::Member { base: Rc::new(base), name: named(name, span), generics: vec![] }, span }
}

fn call(callee: Expr, args: impl IntoIterator<Item = (Option<Ident>, Expr)>, span: Span) -> Expr {
    let args = args.into_iter().map(|(label, value)| Arg { label, value: Rc::new(value), trailing: false }).collect();
    Expr { kind: ExprKind::Call { callee: Rc::new(callee), args }, span }
}

fn closure(params: Option<Vec<ast::ClosureParam>>, body: Block) -> Expr {
    let span = body.span;
    let closure =
        Closure { captures: vec![], params, throws: false, thrown: None, result: None, attributes: vec![], body };
    Expr { kind: ExprKind::Closure(Rc::new(closure)), span }
}

/// Wraps statements in a closure that is called immediately.
fn applied(body: Block) -> Expr {
    let span = body.span;
    call(closure(None, body), [], span)
}

fn single(value: Expr) -> Block {
    let span = value.span;
    Block { items: vec![Stmt { kind: StmtKind::Expr(value), span }], span }
}

fn constant(name: &str, value: Expr, span: Span) -> Stmt {
    let pattern = Pattern { kind: PatternKind::Bind { name: name.into(), mutable: false }, span };
    Stmt { kind: StmtKind::Decl(Rc::new(variable(pattern, value, span))), span }
}

fn variable(pattern: Pattern, value: Expr, span: Span) -> Decl {
    let binding = Binding { pattern, ty: None, value: Some(value), accessors: None };
    let kind = DeclKind::Variable { is_let: true, bindings: vec![binding] };
    Decl { kind, attributes: vec![], modifiers: vec![], span, documentation: None }
}

/// Returns a statement `_ = name` for each variable of a pattern.
fn uses(pattern: &Pattern) -> Vec<Stmt> {
    let mut names = vec![];
    syntax_query::bound_names(pattern, &mut names);
    let uses = names.into_iter().map(|(name, span, _)| {
        let target = Rc::new(Expr { kind: ExprKind::Discard, span });
        let kind = ExprKind::Assign { target, value: Rc::new(ident(&name, span)) };
        Stmt { kind: StmtKind::Expr(Expr { kind, span }), span }
    });
    uses.collect()
}
