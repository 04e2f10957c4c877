//! Modifiers: determines which declarations each modifier may precede.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Accessors, Decl, DeclKind, Ident, NominalKind};
use crate::types::model::declaration_tables::{GroupId, Owner};
use crate::types::model::type_context::TypeContext;

/// The kind of scope that encloses a declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclarationScope {
    Module,
    Function,
    Struct,
    Enum,
    Class,
    Protocol,
    ProtocolExtension,
}

const LEVELS: &[&str] = &["public", "internal", "private", "fileprivate", "open", "package"];

/// A misplaced modifier: the message, and the replacement, which is empty if the modifier is to be removed.
struct Misuse {
    message: String,
    instead: &'static str,
}

fn misuse(message: impl Into<String>) -> Option<Misuse> {
    Some(Misuse { message: message.into(), instead: "" })
}

/// Returns the kind of scope that encloses the members of a group.
pub(crate) fn scope(cx: &TypeContext, group: GroupId) -> DeclarationScope {
    match cx.defs.groups[group.0 as usize].owner {
        Owner::Module => DeclarationScope::Module,
        Owner::Protocol(p) if cx.defs.protocol_data(p).group == group => DeclarationScope::Protocol,
        Owner::Protocol(_) => DeclarationScope::ProtocolExtension,
        Owner::Nominal(n) => match cx.defs.nominal_data(n).kind {
            NominalKind::Struct => DeclarationScope::Struct,
            NominalKind::Enum => DeclarationScope::Enum,
            NominalKind::Class => DeclarationScope::Class,
        },
    }
}

/// Reports modifiers that do not apply to a declaration.
pub(crate) fn check_modifiers(cx: &mut TypeContext, decl: &Decl, scope: DeclarationScope) {
    for (i, modifier) in decl.modifiers.iter().enumerate() {
        let found = repeated(&modifier.name, &decl.modifiers[..i]).or_else(|| misplaced(modifier, decl, scope));
        let Some(Misuse { message, instead }) = found else { continue };
        let diagnostic = Diagnostic::error(Code::WrongContext, modifier.span, message);
        let after = blank_after(cx, modifier.span);
        cx.sink.report(match instead {
            "" => diagnostic.fix(format!("remove '{}'", modifier.name), after, ""),
            _ => diagnostic.fix(format!("write '{instead}'"), modifier.span, instead),
        });
    }
}

/// Returns the span of a word together with the space that follows it.
fn blank_after(cx: &TypeContext, word: Span) -> Span {
    let longer = Span::new(word.start, word.end + 1);
    if cx.sink.source_text(longer).ends_with(' ') { longer } else { word }
}

fn repeated(word: &str, before: &[Ident]) -> Option<Misuse> {
    if before.iter().any(|m| &*m.name == word) {
        return misuse("duplicate modifier");
    }
    let levels = before.iter().any(|m| LEVELS.contains(&&*m.name));
    if LEVELS.contains(&word) && levels {
        return misuse("multiple incompatible access-level modifiers specified");
    }
    let is_opposite = |a: &str, b: &str| word == a && before.iter().any(|m| &*m.name == b);
    if is_opposite("mutating", "nonmutating") || is_opposite("nonmutating", "mutating") {
        return misuse("method must not be declared both 'mutating' and 'nonmutating'");
    }
    None
}

fn misplaced(modifier: &Ident, decl: &Decl, scope: DeclarationScope) -> Option<Misuse> {
    let word = &*modifier.name;
    let not_here = || misuse(format!("'{word}' modifier cannot be applied to this declaration"));
    let kind = &decl.kind;
    let is_variable = matches!(kind, DeclKind::Variable { .. });
    let is_init = matches!(kind, DeclKind::Init { .. });
    match word {
        "mutating" | "nonmutating" => match kind {
            DeclKind::Function(_) => misplaced_mutating(word, decl, scope),
            _ => not_here(),
        },
        "consuming" | "borrowing" | "__consuming" if !matches!(kind, DeclKind::Function(_)) => not_here(),
        "override" if !matches!(scope, DeclarationScope::Class | DeclarationScope::Protocol) => {
            misuse("'override' can only be specified on class members")
        }
        "convenience" | "required" if !is_init => not_here(),
        "convenience" => match scope {
            DeclarationScope::Struct => misuse("initializers in structs are not marked with 'convenience'"),
            DeclarationScope::Enum => misuse("initializers in enums are not marked with 'convenience'"),
            DeclarationScope::Protocol | DeclarationScope::ProtocolExtension => {
                misuse("initializers in protocols are not marked with 'convenience'")
            }
            DeclarationScope::Class | DeclarationScope::Module | DeclarationScope::Function => None,
        },
        "required" if scope != DeclarationScope::Class => {
            misuse("'required' is only allowed on initializers of classes")
        }
        "async" if matches!(kind, DeclKind::Function(_)) => {
            misuse("'async' is written after the parameters: 'func name() async'")
        }
        "lazy" | "weak" | "unowned" | "async" if !is_variable => not_here(),
        "async" if !matches!(scope, DeclarationScope::Module | DeclarationScope::Function) => {
            misuse("'async' can only be used on constants of functions and scripts")
        }
        "lazy" if scope == DeclarationScope::Module && is_constant(kind) => {
            Some(Misuse { message: "'lazy' cannot be used on a let".into(), instead: "" })
        }
        "lazy" if matches!(scope, DeclarationScope::Protocol) => {
            misuse("'lazy' cannot be used on a protocol requirement")
        }
        "indirect" => match kind {
            DeclKind::Nominal(nominal) if nominal.kind == NominalKind::Enum => None,
            DeclKind::Cases(_) => None,
            _ => not_here(),
        },
        "static" | "class" => misplaced_static(word, decl, scope),
        "final" => misplaced_final(decl, scope),
        "prefix" | "postfix" | "infix" => misplaced_fixity(word, decl),
        "optional" => misuse("'optional' can only be applied to members of an @objc protocol"),
        "open"
            if !matches!(kind, DeclKind::Nominal(n) if n.kind == NominalKind::Class)
                && scope != DeclarationScope::Class =>
        {
            Some(Misuse {
                message: "only classes and overridable class members can be declared 'open'; use 'public'".into(),
                instead: "public",
            })
        }
        _ if LEVELS.contains(&word) => misplaced_level(word, decl, scope),
        "private(set)" | "fileprivate(set)" if is_constant(kind) => {
            misuse(format!("'{word}' modifier cannot be applied to constants"))
        }
        "private(set)" | "fileprivate(set)" if is_read_only(kind) => {
            misuse(format!("'{word}' modifier cannot be applied to read-only properties"))
        }
        _ => None,
    }
}

fn misplaced_mutating(word: &str, decl: &Decl, scope: DeclarationScope) -> Option<Misuse> {
    match scope {
        DeclarationScope::Module | DeclarationScope::Function => misuse(format!("'{word}' is only valid on methods")),
        DeclarationScope::Class => misuse(format!("'{word}' is not valid on instance methods in classes")),
        _ if decl.has("static") => misuse(format!("static functions must not be declared {word}")),
        DeclarationScope::Struct
        | DeclarationScope::Enum
        | DeclarationScope::Protocol
        | DeclarationScope::ProtocolExtension => None,
    }
}

fn misplaced_static(word: &str, decl: &Decl, scope: DeclarationScope) -> Option<Misuse> {
    let (many, one) = match &decl.kind {
        DeclKind::Function(_) => ("methods", "method"),
        DeclKind::Variable { .. } => ("properties", "property"),
        DeclKind::Subscript { .. } => ("subscripts", "subscript"),
        _ => return misuse(format!("'{word}' modifier cannot be applied to this declaration")),
    };
    match scope {
        DeclarationScope::Module | DeclarationScope::Function => {
            misuse(format!("{word} {many} may only be declared on a type"))
        }
        DeclarationScope::Class if word == "class" && decl.has("static") => {
            misuse("'class' and 'static' cannot be combined")
        }
        DeclarationScope::Class if word == "class" && is_stored(&decl.kind) => Some(Misuse {
            message: "class stored properties not supported in classes; did you mean 'static'?".into(),
            instead: "static",
        }),
        DeclarationScope::Struct
        | DeclarationScope::Enum
        | DeclarationScope::Protocol
        | DeclarationScope::ProtocolExtension
            if word == "class" =>
        {
            Some(Misuse {
                message: format!(
                    "class {many} are only allowed within classes; use 'static' to declare a static {one}"
                ),
                instead: "static",
            })
        }
        _ => None,
    }
}

fn misplaced_final(decl: &Decl, scope: DeclarationScope) -> Option<Misuse> {
    let is_class = matches!(&decl.kind, DeclKind::Nominal(n) if n.kind == NominalKind::Class);
    match &decl.kind {
        _ if is_class => None,
        DeclKind::Function(_) | DeclKind::Variable { .. } | DeclKind::Subscript { .. } => match scope {
            DeclarationScope::Class if decl.has("static") => misuse("static declarations are already final"),
            DeclarationScope::Class | DeclarationScope::ProtocolExtension => None,
            _ => misuse("only classes and class members may be marked with 'final'"),
        },
        DeclKind::Nominal(_) | DeclKind::Protocol(_) => {
            misuse("only classes and class members may be marked with 'final'")
        }
        _ => misuse("'final' modifier cannot be applied to this declaration"),
    }
}

fn misplaced_fixity(word: &str, decl: &Decl) -> Option<Misuse> {
    match &decl.kind {
        DeclKind::Operator { .. } => None,
        DeclKind::Function(function) if crate::types::model::syntax_query::is_operator(&function.name.name) => None,
        DeclKind::Function(_) => misuse(format!("'{word}' requires a function with an operator identifier")),
        _ => misuse(format!("'{word}' modifier cannot be applied to this declaration")),
    }
}

fn misplaced_level(word: &str, decl: &Decl, scope: DeclarationScope) -> Option<Misuse> {
    match (&decl.kind, scope) {
        (DeclKind::Cases(_) | DeclKind::Deinit(_) | DeclKind::AssociatedType { .. } | DeclKind::Test { .. }, _) => {
            misuse(format!("'{word}' modifier cannot be applied to this declaration"))
        }
        (_, DeclarationScope::Protocol) => misuse(format!("'{word}' modifier cannot be used in protocols")),
        (_, DeclarationScope::Function) => misuse(format!("attribute '{word}' can only be used in a non-local scope")),
        (DeclKind::Extension(extension), _) if !extension.inherits.is_empty() => {
            misuse(format!("'{word}' modifier cannot be used with extensions that declare protocol conformances"))
        }
        _ => None,
    }
}

fn is_constant(kind: &DeclKind) -> bool {
    matches!(kind, DeclKind::Variable { is_let: true, .. })
}

fn computed(kind: &DeclKind) -> Option<&Accessors> {
    match kind {
        DeclKind::Variable { bindings, .. } => {
            let mut accessors = bindings.iter().filter_map(|b| b.accessors.as_ref());
            accessors.find(|a| a.get.is_some() || a.is_requirement)
        }
        DeclKind::Subscript { accessors, .. } => Some(accessors),
        _ => None,
    }
}

fn is_read_only(kind: &DeclKind) -> bool {
    computed(kind).is_some_and(|accessors| accessors.set.is_none())
}

/// Whether a declaration declares stored variables.
pub(crate) fn is_stored(kind: &DeclKind) -> bool {
    matches!(kind, DeclKind::Variable { .. }) && computed(kind).is_none()
}
