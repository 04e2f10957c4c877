//! Declaration dump: writes declarations as text.

use super::expr::expr;
use super::types::{attributes, ty};
use super::{Tree, block, list, maybe, pattern, word};
use crate::syntax::ast::{
    Accessors, Binding, CaseDecl, CasePart, Decl, DeclKind, DifferentiationArgs, Fixity, FunctionDecl, Generics, Ident,
    LazyBlock, NominalKind, Param, Requirement, TypeExpr, WrtKind, WrtParam,
};
use std::rc::Rc;

/// Converts a declaration, with attributes and modifiers first.
pub(super) fn decl(d: &Decl) -> Tree {
    let mut head: String = attributes(&d.attributes);
    for modifier in &d.modifiers {
        head += &format!("{} ", modifier.name);
    }
    let documentation = maybe("documentation", d.documentation.as_ref().map(|t| word(format!("{t:?}"))));
    let named = |keyword: &str, name: &str| format!("{head}{keyword} {name}");
    let (head, parts): (String, Vec<Tree>) = match &d.kind {
        DeclKind::Variable { is_let, bindings } => {
            let keyword = if *is_let { "let" } else { "var" };
            (format!("{head}{keyword}"), variables(bindings))
        }
        DeclKind::Function(f) => (named("func", &f.name.name), function(f)),
        DeclKind::Formula { name, params: p, body } => (named("formula", &name.name), vec![params(p), expr(body)]),
        DeclKind::Nominal(n) => {
            let keyword = match n.kind {
                NominalKind::Struct => "struct",
                NominalKind::Enum => "enum",
                NominalKind::Class => "class",
            };
            let inner = generics(&n.generics).into_iter().chain(inherits(&n.inherits)).chain(members(&n.members));
            (named(keyword, &n.name.name), inner.collect())
        }
        DeclKind::Protocol(p) => {
            let primary = p.primary.iter().map(|name| (name.clone(), None)).collect();
            let primary = generics(&Generics { params: primary, requirements: vec![] });
            let inner = primary.into_iter().chain(inherits(&p.inherits)).chain(requirements(&p.requirements));
            (named("protocol", &p.name.name), inner.chain(members(&p.members)).collect())
        }
        DeclKind::Extension(e) => {
            let inner = inherits(&e.inherits).into_iter().chain(requirements(&e.requirements));
            (named("extension", &ty(&e.target)), inner.chain(members(&e.members)).collect())
        }
        DeclKind::Init { failable, function: f } => (named("init", if *failable { "?" } else { "" }), function(f)),
        DeclKind::Test { name, body } => (named("test", &name.name), vec![block("do", body)]),
        DeclKind::Deinit(body) => (named("deinit", ""), vec![block("do", body)]),
        DeclKind::Subscript { function: f, accessors: a } => {
            (named("subscript", ""), function(f).into_iter().chain(accessors(a)).collect())
        }
        DeclKind::TypeAlias { name, generics: g, target } => {
            let inner = generics(g).into_iter().chain([word(ty(target))]);
            (named("typealias", &name.name), inner.collect())
        }
        DeclKind::AssociatedType { name, bound, default, requirements: r } => {
            let bound = bound.as_ref().map(|b| word(format!(":{}", ty(b))));
            let default = maybe("=", default.as_ref().map(|t| word(ty(t))));
            (named("associatedtype", &name.name), bound.into_iter().chain(default).chain(requirements(r)).collect())
        }
        DeclKind::Cases(cases) => (format!("{head}case"), cases.iter().map(case).collect()),
        DeclKind::Import { kind, path, file } => {
            let kind = kind.as_ref().map(|k| word(&*k.name));
            let path: Vec<&str> = path.iter().map(|p| &*p.name).collect();
            let what = file.as_ref().map_or(path.join("."), |f| format!("{f:?}"));
            (format!("{head}import"), kind.into_iter().chain([word(what)]).collect())
        }
        DeclKind::Operator { fixity, name, precedence } => {
            let place = match fixity {
                Fixity::Prefix => "prefix",
                Fixity::Infix => "infix",
                Fixity::Postfix => "postfix",
            };
            let precedence = precedence.as_ref().map(|p| word(&*p.name));
            ("operator".into(), [word(place), word(&*name.name)].into_iter().chain(precedence).collect())
        }
        DeclKind::PrecedenceGroup { name, higher_than, lower_than, associativity, assignment } => {
            let names = |head: &str, all: &[Ident]| match all {
                [] => None,
                _ => Some(list(head, all.iter().map(|n| word(&*n.name)))),
            };
            let mut inner: Vec<Tree> = names("higherThan", higher_than).into_iter().collect();
            inner.extend(names("lowerThan", lower_than));
            inner.extend(associativity.as_ref().map(|a| word(&*a.name)));
            inner.extend(assignment.then(|| word("assignment")));
            (named("precedencegroup", &name.name), inner)
        }
    };
    list(head.trim_end(), documentation.into_iter().chain(parts))
}

/// Converts the variables of a declaration: the parts of a single variable, or each of several variables as a list.
fn variables(bindings: &[Binding]) -> Vec<Tree> {
    let parts = bindings.iter().map(|b| {
        let mut parts = vec![pattern(&b.pattern)];
        parts.extend(b.ty.as_ref().map(|t| word(format!(":{}", ty(t)))));
        parts.extend(maybe("=", b.value.as_ref().map(expr)));
        parts.extend(b.accessors.iter().flat_map(accessors));
        parts
    });
    let mut parts: Vec<Vec<Tree>> = parts.collect();
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            parts.into_iter().map(|p| list("binding", p)).collect()
        }
    }
}

/// Converts a case of an enum, with its payload or raw value.
fn case(c: &CaseDecl) -> Tree {
    let part = |part: &CasePart| match &part.label {
        Some(label) => word(format!("{}:{}", label.name, ty(&part.ty))),
        None => word(ty(&part.ty)),
    };
    let payload = c.payload.iter().flatten().flat_map(|p| {
        let default = p.default.as_ref().map(|value| list("=", [expr(value)]));
        [part(p)].into_iter().chain(default)
    });
    let raw = maybe("=", c.raw.as_ref().map(expr));
    match (&c.payload, &c.raw) {
        (None, None) => word(&*c.name.name),
        _ => list(&*c.name.name, payload.chain(raw)),
    }
}

fn generics(g: &Generics) -> Option<Tree> {
    if g.params.is_empty() && g.requirements.is_empty() {
        return None;
    }
    let params = g.params.iter().map(|(name, bound)| match bound {
        Some(bound) => word(format!("{}:{}", name.name, ty(bound))),
        None => word(&*name.name),
    });
    Some(list("generics", params.chain(requirements(&g.requirements))))
}

fn requirement(r: &Requirement) -> String {
    format!("{}{}{}", ty(&r.left), if r.same { " == " } else { ": " }, ty(&r.right))
}

fn requirements(all: &[Requirement]) -> Option<Tree> {
    (!all.is_empty()).then(|| list("where", all.iter().map(|r| word(requirement(r)))))
}

fn inherits(all: &[TypeExpr]) -> Option<Tree> {
    (!all.is_empty()).then(|| list(":", all.iter().map(|t| word(ty(t)))))
}

fn members(all: &[Rc<Decl>]) -> impl Iterator<Item = Tree> {
    all.iter().map(|m| decl(m))
}

fn params(all: &[Param]) -> Tree {
    list(
        "params",
        all.iter().map(|p| {
            let label = match &p.label {
                Some(label) if label.name == p.name.name => String::new(),
                Some(label) => format!("{} ", label.name),
                None => "_ ".into(),
            };
            let mut text = format!("{label}{}", p.name.name);
            if let Some(t) = &p.ty {
                let place = if p.is_inout { "inout " } else { "" };
                let many = if p.variadic { "..." } else { "" };
                text += &format!(":{}{place}{}{many}", attributes(&p.attributes), ty(t));
            }
            match &p.default {
                Some(default) => list(text, [expr(default)]),
                None => word(text),
            }
        }),
    )
}

fn function(f: &FunctionDecl) -> Vec<Tree> {
    let mut parts: Vec<Tree> = generics(&f.generics).into_iter().collect();
    parts.push(params(&f.params));
    parts.extend(f.throws.then(|| word("throws")));
    parts.extend(f.result.as_ref().map(|t| list("->", [word(ty(t))])));
    parts.extend(f.body.as_ref().map(|b| block("do", b)));
    parts
}

fn accessors(a: &Accessors) -> Vec<Tree> {
    let get = a.get.as_ref().map(|get| {
        let mutating = if a.mutating_get { "mutating " } else { "" };
        block(&format!("{}{mutating}get", attributes(&a.get_attributes)), get)
    });
    let with_name = |head: &str, accessor: &Option<(Option<Ident>, LazyBlock)>| {
        accessor.as_ref().map(|(name, body)| {
            let name = name.as_ref().map(|n| format!(" {}", n.name)).unwrap_or_default();
            block(&format!("{head}{name}"), body)
        })
    };
    let set = with_name(if a.nonmutating_set { "nonmutating set" } else { "set" }, &a.set);
    let observers = [with_name("willSet", &a.will_set), with_name("didSet", &a.did_set)];
    get.into_iter().chain(set).chain(observers.into_iter().flatten()).collect()
}

/// Converts the parameters in the `wrt:` argument of an attribute.
pub(super) fn wrt(all: &[WrtParam]) -> Tree {
    list("wrt", all.iter().map(|p| word(wrt_param(p))))
}

fn wrt_param(p: &WrtParam) -> String {
    match &p.kind {
        WrtKind::SelfParam => "self".into(),
        WrtKind::Name(name) => name.to_string(),
        WrtKind::Index(i) => i.to_string(),
    }
}

/// Formats the arguments of `@differentiable` and related attributes as in source text.
pub(super) fn differentiation(d: &DifferentiationArgs) -> String {
    let mut parts: Vec<String> = d.kind.iter().map(|k| k.name.to_string()).collect();
    if let Some(of) = &d.of {
        let base = of.base.as_ref().map(|b| format!("{}.", ty(b))).unwrap_or_default();
        let labels = of.labels.as_ref().map(|labels| {
            let all = labels.iter().map(|l| format!("{}:", l.as_ref().map_or("_", |l| &*l.name)));
            format!("({})", all.collect::<String>())
        });
        let accessor = of.accessor.as_ref().map(|a| format!(".{}", a.name)).unwrap_or_default();
        parts.push(format!("of: {base}{}{}{accessor}", of.name.name, labels.unwrap_or_default()));
    }
    if let Some(wrt) = &d.wrt {
        parts.push(format!("wrt: ({})", wrt.iter().map(wrt_param).collect::<Vec<_>>().join(", ")));
    }
    parts.extend(d.differs.map(|_| "exact: false".to_owned()));
    parts.extend(d.primal.as_ref().map(|p| format!("primal: {}", p.name)));
    parts.extend(d.vjp.as_ref().map(|f| format!("vjp: {}", f.name)));
    parts.extend(d.jvp.as_ref().map(|f| format!("jvp: {}", f.name)));
    parts.extend(d.adjoint.as_ref().map(|a| format!("adjoint: {}", a.name)));
    let mut text = parts.join(", ");
    if !d.requirements.is_empty() {
        let all: Vec<String> = d.requirements.iter().map(requirement).collect();
        text += &format!(" where {}", all.join(", "));
    }
    text.trim().to_owned()
}
