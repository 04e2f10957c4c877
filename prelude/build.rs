//! Build script of the standard library: it encodes the library as trees, which a session decodes on demand.

#[allow(dead_code, unused_imports, reason = "the same")]
#[path = "../src/cancel/mod.rs"]
mod cancel;
#[allow(dead_code, unused_imports, reason = "the compiler's own folders, of which only a part is needed here")]
#[path = "../src/diagnostic/mod.rs"]
mod diagnostic;
#[allow(dead_code, unused_imports, reason = "the same")]
#[path = "../src/source/mod.rs"]
mod source;
#[allow(dead_code, unused_imports, reason = "the same")]
#[path = "../src/syntax/mod.rs"]
mod syntax;

use source::SourceMap;
use std::error::Error;
use std::path::PathBuf;
use std::rc::Rc;
use syntax::ast::{AttributeArgs, Decl, DeclKind, Pattern, PatternKind, Stmt, StmtKind, TypeExprKind};
use syntax::{Library, LibraryFile, OperatorTable, Piece, PieceKind};

/// The files of the library in order, each with the module that must be imported to use its declarations.
const FILES: &[(&str, Option<&str>)] = &[
    ("core", None),
    ("integers", None),
    ("narrow", None),
    ("sequence", None),
    ("keypath", None),
    ("collection", None),
    ("operators", None),
    ("numbers", None),
    ("text", None),
    ("string", None),
    ("character", None),
    ("format", None),
    ("optional", None),
    ("array", None),
    ("slice", None),
    ("dictionary", None),
    ("set", None),
    ("random", None),
    ("range", None),
    ("lazy", None),
    ("complex", None),
    ("result", None),
    ("math", None),
    ("elementary", None),
    ("combinatorics", None),
    ("differentiation", None),
    ("differentiable_function", None),
    ("vectors", None),
    ("any_differentiable", None),
    ("calculus", None),
    ("lines", None),
    ("numerical", None),
    ("roots", None),
    ("extrema", None),
    ("integral", None),
    ("quadrature", None),
    ("singularity", None),
    ("oscillation", None),
    ("limit", None),
    ("vicinity", None),
    ("ode", None),
    ("checkpoint", None),
    ("fields", None),
    ("series", None),
    ("pointers", None),
    ("simd", None),
    ("tuples", None),
    ("io", None),
    ("display", None),
    ("plot", None),
    ("table", None),
    ("progress", None),
    ("testing", None),
    ("time", None),
    ("glibc", Some("Glibc")),
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for part in ["prelude", "src/diagnostic", "src/source", "src/syntax"] {
        println!("cargo::rerun-if-changed={part}");
    }
    let mut named = vec![];
    for (name, module) in FILES {
        let path = format!("prelude/{name}.dscript");
        let text = with_variants(&std::fs::read_to_string(root.join(&path))?);
        named.push((path, text, *module));
    }
    let files: Vec<LibraryFile<'_>> =
        named.iter().map(|(name, text, module)| LibraryFile { name, text, module: *module }).collect();
    let declarations = declarations(&files)?;
    let (mut pieces, mut trees) = (vec![], vec![]);
    for (file, declaration) in &declarations {
        let start = trees.len() as u32;
        rmp_serde::encode::write(&mut trees, declaration)?;
        pieces.push(piece(*file, declaration, (start, trees.len() as u32))?);
    }
    std::fs::write(out.join("library.trees"), trees)?;
    std::fs::write(out.join("library.index"), rmp_serde::to_vec(&Library { files, pieces })?)?;
    Ok(())
}

/// Expands the declarations `@primitive("real.…")`, one per line, to declarations about `Double`; the same declarations about
/// `Float` follow at the end, so that line numbers do not change.
fn with_variants(text: &str) -> String {
    const MARK: &str = "@primitive(\"real.";
    let (mut out, mut variants) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix(MARK) {
            out += &format!("@primitive(\"double.{}", rest.replace("Real", "Double"));
            variants += &format!("@primitive(\"float.{}", rest.replace("Real", "Float"));
        } else {
            out += line;
        }
    }
    out + &variants
}

/// Returns the top-level declarations of all files, each with the index of its file.
fn declarations(files: &[LibraryFile<'_>]) -> Result<Vec<(u32, Decl)>, Box<dyn Error>> {
    let (mut sources, mut declarations) = (SourceMap::default(), vec![]);
    for (number, file) in (0..).zip(files) {
        let id = sources.add(file.name, file.text.to_owned(), true).ok_or("the library is too long")?;
        let mut parsed = syntax::parse(file.text, sources.get(id).start);
        let mut diagnostics = parsed.diagnostics;
        diagnostics.append(&mut syntax::fold_file(&mut parsed.file, &OperatorTable::standard()));
        if !diagnostics.is_empty() {
            return Err(diagnostic::render(&diagnostics, &sources, diagnostic::Form::Short, false, 120).into());
        }
        for Stmt { kind, .. } in parsed.file.items {
            let StmtKind::Decl(declaration) = kind else { return Err("the library has a statement".into()) };
            declarations.push((number, Rc::unwrap_or_clone(declaration)));
        }
    }
    Ok(declarations)
}

/// Returns the index entry of a declaration.
fn piece(file: u32, declaration: &Decl, tree: (u32, u32)) -> Result<Piece<'_>, Box<dyn Error>> {
    let DeclKind::Extension(extension) = &declaration.kind else {
        let [own] = names(declaration)[..] else { return Err("a declaration of several names".into()) };
        // A registered derivative is found by the name of the original function.
        let name = original(declaration).unwrap_or(own);
        return Ok(Piece { file, kind: PieceKind::Declaration, name, members: vec![], tree });
    };
    let TypeExprKind::Named(path) = &extension.target.kind else { return Err("an extension of no name".into()) };
    let [(target, _)] = &path[..] else { return Err("an extension of a member".into()) };
    let kind = if extension.inherits.is_empty() { PieceKind::Members } else { PieceKind::Conformance };
    let members = extension.members.iter().flat_map(|member| names(member)).collect();
    Ok(Piece { file, kind, name: &target.name, members, tree })
}

/// Returns the name of the free function for which a derivative or transpose is registered.
fn original(declaration: &Decl) -> Option<&str> {
    let attribute = declaration.attributes.iter().find(|a| ["derivative", "transpose"].contains(&&*a.name.name))?;
    let AttributeArgs::Differentiation(arguments) = &attribute.args else { return None };
    arguments.of.as_ref().filter(|of| of.base.is_none()).map(|of| &*of.name.name)
}

/// Returns the declared names.
fn names(declaration: &Decl) -> Vec<&str> {
    match &declaration.kind {
        DeclKind::Variable { bindings, .. } => bindings.iter().filter_map(|b| bound(&b.pattern)).collect(),
        DeclKind::Function(function) => vec![&function.name.name],
        DeclKind::Init { .. } => vec!["init"],
        DeclKind::Subscript { .. } => vec!["subscript"],
        DeclKind::Nominal(nominal) => vec![&nominal.name.name],
        DeclKind::Protocol(protocol) => vec![&protocol.name.name],
        DeclKind::Formula { name, .. } | DeclKind::TypeAlias { name, .. } => vec![&name.name],
        DeclKind::Cases(cases) => cases.iter().map(|case| &*case.name.name).collect(),
        _ => vec![],
    }
}

fn bound(pattern: &Pattern) -> Option<&str> {
    match &pattern.kind {
        PatternKind::Bind { name, .. } => Some(name),
        PatternKind::Typed(inner, _) => bound(inner),
        _ => None,
    }
}
