//! Build script of the standard library: it encodes the library as trees, which a session decodes on demand.

#[allow(dead_code, unused_imports, reason = "the same")]
#[path = "../src/cancel/mod.rs"]
mod cancel;
#[allow(dead_code, unused_imports, reason = "the compiler's own folders, of which only a part is needed here")]
#[path = "../src/diagnostic/mod.rs"]
mod diagnostic;
mod link;
#[allow(dead_code, unused_imports, reason = "the same")]
#[path = "../src/source/mod.rs"]
mod source;
#[allow(dead_code, unused_imports, reason = "the same")]
#[path = "../src/syntax/mod.rs"]
mod syntax;

use source::{SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::rc::Rc;
use syntax::OperatorTable;
use syntax::ast::{
    AttributeArgs, Decl, DeclKind, ExtensionDecl, Ident, NominalKind, Param, Pattern, PatternKind, Requirement, Stmt,
    StmtKind, TypeExpr, TypeExprKind,
};

/// The files of the library in order, each with the module that must be imported to use its declarations.
const FILES: &[(&str, Option<&str>)] = &[
    ("core", None),
    ("integers", None),
    ("narrow", None),
    ("wide_integers", None),
    ("sequence", None),
    ("keypath", None),
    ("collection", None),
    ("operators", None),
    ("numbers", None),
    ("text", None),
    ("string", None),
    ("character", None),
    ("date_interval", None),
    ("date_style", None),
    ("emoji", None),
    ("general_category", None),
    ("format", None),
    ("foundation", None),
    ("optional", None),
    ("array", None),
    ("slice", None),
    ("dictionary", None),
    ("set", None),
    ("random", None),
    ("distributions", None),
    ("statistics", None),
    ("number_sequences", None),
    ("samples", None),
    ("range", None),
    ("conversions", None),
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
    ("sparse_matrix", None),
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
    ("coordinates", None),
    ("factorizations", None),
    ("linear_equations", None),
    ("equation_systems", None),
    ("optimization", None),
    ("minimization", None),
    ("fit", None),
    ("least_squares_search", None),
    ("trajectory", None),
    ("ode_steps", None),
    ("multiple_integrals", None),
    ("checkpoint", None),
    ("fields", None),
    ("series", None),
    ("pointers", None),
    ("simd", None),
    ("simd_operations", None),
    ("unit", None),
    ("io", None),
    ("process_info", None),
    ("mirror", None),
    ("file", None),
    ("file_manager", None),
    ("file_handle", None),
    ("json", None),
    ("codable", None),
    ("json_coder", None),
    ("data", None),
    ("json_serialization", None),
    ("regex", None),
    ("regex_builder", None),
    ("regex_composition", None),
    ("regex_matches", None),
    ("regex_references", None),
    ("ns_regular_expression", None),
    ("index_set", None),
    ("url", None),
    ("number_style", None),
    ("any_hashable", None),
    ("string_interpolation", None),
    ("sort_comparator", None),
    ("buffers", None),
    ("unsafe_pointers", None),
    ("decimal", None),
    ("measurement", None),
    ("text_folding", None),
    ("collection_difference", None),
    ("subsequence_search", None),
    ("scanner", None),
    ("display", None),
    ("curve_sampling", None),
    ("contour", None),
    ("plot", None),
    ("plot_kinds", None),
    ("table", None),
    ("data_table", None),
    ("csv", None),
    ("progress", None),
    ("testing", None),
    ("declared_tests", None),
    ("time", None),
    ("duration", None),
    ("task_queue", None),
    ("task", None),
    ("task_group", None),
    ("async_sequence", None),
    ("async_stream", None),
    ("dispatch", None),
    ("run_loop", None),
    ("plane_geometry", None),
    ("calendar", None),
    ("ns_object", None),
    ("glibc", Some("Glibc")),
    ("simd_functions", Some("simd")),
    ("xctest", Some("XCTest")),
    ("algorithms", Some("Algorithms")),
    ("synchronization", Some("Synchronization")),
    ("collections", Some("Collections")),
    ("ordered_collections", Some("Collections")),
    ("stdlib_unittest", Some("StdlibUnittest")),
    ("differentiation_unittest", Some("DifferentiationUnittest")),
    ("swift_testing", Some("Testing")),
    ("tensor_primitives", Some("TensorFlow")),
    ("tensor", Some("TensorFlow")),
    ("tensor_shape", Some("TensorFlow")),
    ("tensor_operators", Some("TensorFlow")),
    ("tensor_functions", Some("TensorFlow")),
    ("tensor_reductions", Some("TensorFlow")),
    ("tensor_views", Some("TensorFlow")),
    ("tensor_indexing", Some("TensorFlow")),
    ("tensor_linear_algebra", Some("TensorFlow")),
    ("tensor_windows", Some("TensorFlow")),
    ("tensor_resizing", Some("TensorFlow")),
    ("tensor_morphology", Some("TensorFlow")),
    ("tensor_fractional_pooling", Some("TensorFlow")),
    ("tensor_backed", Some("TensorFlow")),
    ("tensor_backed_functions", Some("TensorFlow")),
    ("linear_vector", Some("TensorFlow")),
    ("linear_matrix", Some("TensorFlow")),
    ("linear_decompositions", Some("TensorFlow")),
    ("linear_reductions", Some("TensorFlow")),
    ("ranked_tensor", Some("TensorFlow")),
    ("ranked_types", Some("TensorFlow")),
    ("tensor_einsum", Some("TensorFlow")),
    ("named_tensor", Some("TensorFlow")),
    ("named_operations", Some("TensorFlow")),
    ("shaped_array", Some("TensorFlow")),
    ("tensor_random", Some("TensorFlow")),
    ("tensor_adam", Some("TensorFlow")),
    ("tensor_bidirectional", Some("TensorFlow")),
    ("tensor_context", Some("TensorFlow")),
    ("tensor_convolution_layers", Some("TensorFlow")),
    ("keypath_iteration", Some("TensorFlow")),
    ("tensor_coding", Some("TensorFlow")),
    ("tensor_data", Some("TensorFlow")),
    ("tensor_dense", Some("TensorFlow")),
    ("tensor_dropout", Some("TensorFlow")),
    ("tensor_embedding", Some("TensorFlow")),
    ("tensor_enlarging_layers", Some("TensorFlow")),
    ("tensor_global_pooling", Some("TensorFlow")),
    ("tensor_initializers", Some("TensorFlow")),
    ("tensor_layer", Some("TensorFlow")),
    ("tensor_losses", Some("TensorFlow")),
    ("tensor_normalization", Some("TensorFlow")),
    ("tensor_optimizers", Some("TensorFlow")),
    ("tensor_pooling_layers", Some("TensorFlow")),
    ("tensor_recurrent", Some("TensorFlow")),
    ("tensor_separable_layers", Some("TensorFlow")),
    ("tensor_sequential", Some("TensorFlow")),
    ("tensor_vector_collections", Some("TensorFlow")),
    ("tensor_vectors", Some("TensorFlow")),
    ("tensor_generators", Some("TensorFlow")),
    ("tensor_uneven_epochs", Some("TensorFlow")),
    ("tensor_freezable", Some("TensorFlow")),
    ("tensor_file", Some("TensorFlow")),
    ("tensor_model_file", Some("TensorFlow")),
    ("tensor_dataset", Some("TensorFlow")),
    ("tensor_training", Some("TensorFlow")),
    ("tensor_history", Some("TensorFlow")),
    ("tensor_raw", Some("TensorFlow")),
    ("tensor_pictures", Some("TensorFlow")),
    ("tensor_any_layer", Some("TensorFlow")),
    ("differentiable_collections", Some("Differentiation")),
    ("numerics", Some("Numerics")),
];

/// Files whose declarations are repeated for each number of generic parameters in a range, with the module that declares
/// them.
const TEMPLATES: &[(&str, RangeInclusive<usize>, Option<&str>)] =
    &[("tuples", 2..=8, None), ("more_arguments", 4..=8, None), ("differentiable_zip", 2..=8, Some("Differentiation"))];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for part in ["prelude", "src/diagnostic", "src/source", "src/syntax"] {
        println!("cargo::rerun-if-changed={part}");
    }
    link::set_options(&root, &out)?;
    let mut files = vec![];
    for (name, module) in FILES {
        let path = format!("prelude/{name}.dscript");
        let text = with_variants(&std::fs::read_to_string(root.join(&path))?);
        files.push(File { path, text, module: *module });
    }
    for (name, counts, module) in TEMPLATES {
        let path = format!("prelude/{name}.template");
        let template = std::fs::read_to_string(root.join(&path))?;
        let text = counts.clone().map(|count| expanded(&template, count)).collect::<Result<_, _>>()?;
        files.push(File { path, text, module: *module });
    }
    let (mut index, mut trees) = (Index::default(), vec![]);
    for (file, declaration) in declarations(&files)? {
        let start = trees.len();
        trees = postcard::to_extend(&declaration, trees)?;
        index.add(
            &declaration,
            format!(
                "Piece {{ start: {start}, end: {}, module: {:?}, kind: PieceKind::{} }}",
                trees.len(),
                file.module,
                kind(&declaration)
            ),
        )?;
    }
    std::fs::write(out.join("library.trees"), trees)?;
    std::fs::write(out.join("library_index.rs"), index.source(&files))?;
    Ok(())
}

/// A file of the library.
struct File {
    path: String,
    text: String,
    module: Option<&'static str>,
}

/// The pieces under each name, as source text.
type Pieces = BTreeMap<String, Vec<String>>;

/// The tables of the index.
#[derive(Default)]
struct Index {
    declarations: Pieces,
    conformances: Pieces,
    members: BTreeMap<String, Pieces>,
    /// The names in the inheritance clauses of each type and protocol, and in the definitions of type aliases.
    inherited: BTreeMap<String, BTreeSet<String>>,
}

impl Index {
    /// Lists a declaration under its name, or an extension under the name of the extended type.
    fn add(&mut self, declaration: &Decl, piece: String) -> Result<(), Box<dyn Error>> {
        self.add_inherited(declaration);
        let DeclKind::Extension(extension) = &declaration.kind else {
            let [own] = names(declaration)[..] else { return Err("a declaration of several names".into()) };
            // A registered derivative is found by the name of the original function.
            let name = original(declaration).unwrap_or(own);
            self.declarations.entry(name.to_owned()).or_default().push(piece);
            return Ok(());
        };
        let TypeExprKind::Named(path) = &extension.target.kind else { return Err("an extension of no name".into()) };
        let of = path.iter().map(|(name, _)| &*name.name).collect::<Vec<_>>().join(".");
        if !extension.inherits.is_empty() {
            self.conformances.entry(of).or_default().push(piece);
            return Ok(());
        }
        let of = self.members.entry(of).or_default();
        for member in &extension.members {
            for name in names(member).into_iter().chain(original(member)) {
                let listed = of.entry(name.to_owned()).or_default();
                if listed.last() != Some(&piece) {
                    listed.push(piece.clone());
                }
            }
        }
        Ok(())
    }

    fn add_inherited(&mut self, declaration: &Decl) {
        let (of, inherits): (&str, &[TypeExpr]) = match &declaration.kind {
            DeclKind::Nominal(nominal) => (&nominal.name.name, &nominal.inherits),
            DeclKind::Protocol(protocol) => (&protocol.name.name, &protocol.inherits),
            DeclKind::TypeAlias { name, target, .. } => (&name.name, std::slice::from_ref(target)),
            DeclKind::Extension(extension) => match &extension.target.kind {
                TypeExprKind::Named(path) => match path.last() {
                    Some((name, _)) => (&name.name, &extension.inherits),
                    None => return,
                },
                _ => return,
            },
            _ => return,
        };
        let names = self.inherited.entry(of.to_owned()).or_default();
        for ty in inherits {
            collect_names(ty, names);
        }
    }

    /// Returns the names of the protocols to which a type may conform, some of them under conditions, in order.
    fn protocols(&self, of: &str) -> BTreeSet<&str> {
        let (mut all, mut waiting) = (BTreeSet::new(), vec![of]);
        while let Some(name) = waiting.pop() {
            for inherited in self.inherited.get(name).into_iter().flatten() {
                if all.insert(&**inherited) {
                    waiting.push(inherited);
                }
            }
        }
        all
    }

    /// Returns the source text of the index.
    fn source(&self, library: &[File]) -> String {
        let file = |f: &File| format!("    LibraryFile {{ name: {:?}, text: {:?} }},\n", f.path, f.text);
        let files: String = library.iter().map(file).collect();
        let members = self.members.iter().map(|(of, pieces)| format!("({of:?}, &[\n{}]),\n", table(pieces)));
        let protocols =
            self.conformances.keys().map(|of| format!("    ({of:?}, &{:?}),\n", Vec::from_iter(self.protocols(of))));
        format!(
            "/// The index of the library.\npub(crate) static LIBRARY: Library = Library {{\nfiles: &[\n{files}],\n\
             declarations: &[\n{}],\nconformances: &[\n{}],\nprotocols: &[\n{}],\nmembers: &[\n{}],\nchecksum: {},\n}};\n",
            table(&self.declarations),
            table(&self.conformances),
            protocols.collect::<String>(),
            members.collect::<String>(),
            checksum(library),
        )
    }
}

/// Returns the checksum of the texts of all files.
fn checksum(files: &[File]) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    files.iter().for_each(|file| hash.update(file.text.as_bytes()));
    hash.finalize()
}

/// Adds the names that occur in a type.
fn collect_names(ty: &TypeExpr, names: &mut BTreeSet<String>) {
    if let TypeExprKind::Named(path) = &ty.kind {
        names.extend(path.last().map(|(name, _)| name.name.to_string()));
    }
    for part in ty.parts() {
        collect_names(part, names);
    }
}

fn table(pieces: &Pieces) -> String {
    pieces.iter().map(|(name, pieces)| format!("    ({name:?}, &[{}]),\n", pieces.join(", "))).collect()
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

/// Expands a template for `count` parameters. In the text, `«N»` stands for their number and `«x#»` for `x0, x1, …`. `«+x#»` omits the
/// first, and `«x#|…»` has another separator than a comma.
fn expanded(template: &str, count: usize) -> Result<String, Box<dyn Error>> {
    let mut parts = template.split('«');
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (pattern, rest) = part.split_once('»').ok_or("a template without the end of a pattern")?;
        if pattern == "N" {
            out += &count.to_string();
        } else {
            let (item, separator) = pattern.split_once('|').unwrap_or((pattern, ", "));
            let (first, item) = item.strip_prefix('+').map_or((0, item), |item| (1, item));
            let items: Vec<String> = (first..count).map(|k| item.replace('#', &k.to_string())).collect();
            out += &items.join(separator);
        }
        out += rest;
    }
    Ok(out)
}

/// Returns the top-level declarations of all files, each with its file.
fn declarations(files: &[File]) -> Result<Vec<(&File, Decl)>, Box<dyn Error>> {
    let (mut sources, mut declarations) = (SourceMap::default(), vec![]);
    for file in files {
        let id = sources.add(&file.path, file.text.clone()).ok_or("the library is too long")?;
        let mut parsed = syntax::parse(&file.text, sources.get(id).start);
        let mut diagnostics = parsed.diagnostics;
        diagnostics.append(&mut syntax::fold_file(&mut parsed.file, &OperatorTable::library()));
        if !diagnostics.is_empty() {
            return Err(diagnostic::render(&diagnostics, &sources, diagnostic::Form::Short, false, 120, false).into());
        }
        for Stmt { kind, .. } in parsed.file.items {
            let StmtKind::Decl(declaration) = kind else { return Err("the library has a statement".into()) };
            let mut extensions = vec![];
            let rest = split(Rc::unwrap_or_clone(declaration), &[], &mut extensions);
            declarations.extend(rest.into_iter().chain(extensions).map(|part| (file, part)));
        }
    }
    Ok(declarations)
}

/// Reduces a declaration, which lies in the types `outer`, to what a program needs in any case (stored properties,
/// conformances, types), and adds an extension for each name of the other members to `extensions`: a program decodes only the
/// extensions that declare a name that it looks up. The members of nested types are split in the same way.
fn split(declaration: Decl, outer: &[Ident], extensions: &mut Vec<Decl>) -> Option<Decl> {
    let mut rest = declaration;
    let Some(target) = target(&rest, outer) else { return Some(rest) };
    let members = match &mut rest.kind {
        DeclKind::Extension(extension) => std::mem::take(&mut extension.members),
        DeclKind::Nominal(nominal) => std::mem::take(&mut nominal.members),
        _ => vec![],
    };
    let mut by_name: BTreeMap<String, Vec<Rc<Decl>>> = BTreeMap::new();
    let mut others: Vec<Rc<Decl>> = vec![];
    let is_extension = matches!(rest.kind, DeclKind::Extension(_));
    for member in members {
        // A registered derivative is found by the name of the original function.
        let name = original(&member).or(names(&member).first().copied());
        match name.filter(|_| is_found_by_name(&member, is_extension)) {
            Some(name) => by_name.entry(name.to_owned()).or_default().push(member),
            None => others.extend(split(Rc::unwrap_or_clone(member), &target.path, extensions).map(Rc::new)),
        }
    }
    let is_empty = is_extension && others.is_empty() && inherits(&rest).is_empty();
    let span = rest.span;
    match &mut rest.kind {
        DeclKind::Extension(extension) => extension.members = others,
        DeclKind::Nominal(nominal) => nominal.members = others,
        _ => {}
    }
    extensions.extend(by_name.into_values().map(|members| target.extension(members, span)));
    (!is_empty).then_some(rest)
}

/// The type that an extension extends.
struct Target {
    /// The names of the type and of the types in which it is nested, the outermost first.
    path: Vec<Ident>,
    span: Span,
    /// The conditions of the extension.
    requirements: Vec<Requirement>,
}

impl Target {
    /// Returns an extension of the type by members.
    fn extension(&self, members: Vec<Rc<Decl>>, span: Span) -> Decl {
        let kind = TypeExprKind::Named(self.path.iter().map(|name| (name.clone(), vec![])).collect());
        Decl {
            kind: DeclKind::Extension(ExtensionDecl {
                target: TypeExpr { kind, span: self.span },
                inherits: vec![],
                requirements: self.requirements.clone(),
                members,
            }),
            attributes: vec![],
            modifiers: vec![],
            span,
            documentation: None,
        }
    }
}

/// Returns the type to which the members of a declaration belong, if they can be written in extensions of the type.
fn target(declaration: &Decl, outer: &[Ident]) -> Option<Target> {
    match &declaration.kind {
        DeclKind::Extension(extension) => {
            let TypeExprKind::Named(path) = &extension.target.kind else { return None };
            let path = path.iter().map(|(name, _)| name.clone()).collect();
            Some(Target { path, span: extension.target.span, requirements: extension.requirements.clone() })
        }
        // The properties of a property wrapper decide how a wrapped property is declared.
        DeclKind::Nominal(nominal) if nominal.kind != NominalKind::Class && !is_property_wrapper(declaration) => {
            let path = outer.iter().chain([&nominal.name]).cloned().collect();
            Some(Target { path, span: nominal.name.span, requirements: vec![] })
        }
        _ => None,
    }
}

fn is_property_wrapper(declaration: &Decl) -> bool {
    declaration.attributes.iter().any(|attribute| &*attribute.name.name == "propertyWrapper")
}

/// Returns the protocols that an extension lists.
fn inherits(declaration: &Decl) -> &[TypeExpr] {
    match &declaration.kind {
        DeclKind::Extension(extension) => &extension.inherits,
        _ => &[],
    }
}

/// Whether a member is used only if its name is looked up: a function, a computed property, or in an extension an
/// initializer or a subscript. An initializer in the declaration of a type decides whether the type has a memberwise one.
fn is_found_by_name(member: &Decl, is_extension: bool) -> bool {
    match &member.kind {
        DeclKind::Function(_) => true,
        DeclKind::Init { .. } | DeclKind::Subscript { .. } => is_extension,
        DeclKind::Variable { bindings, .. } => {
            bindings.iter().all(|b| b.accessors.as_ref().is_some_and(|a| a.get.is_some()))
        }
        _ => false,
    }
}

/// Returns the name of the function of the same scope for which a derivative or transpose is registered.
fn original(declaration: &Decl) -> Option<&str> {
    let attribute = declaration.attributes.iter().find(|a| ["derivative", "transpose"].contains(&&*a.name.name))?;
    let AttributeArgs::Differentiation(arguments) = &attribute.args else { return None };
    arguments.of.as_ref().filter(|of| of.base.is_none()).map(|of| &*of.name.name)
}

/// Returns the kind of a piece, as source text.
fn kind(declaration: &Decl) -> String {
    let DeclKind::Function(function) = &declaration.kind else { return "Other".into() };
    if original(declaration).is_some() {
        return "Other".into();
    }
    let parameter = |p: &Param| {
        let label = p.label.as_ref().map(|label| &*label.name);
        format!("Parameter {{ label: {label:?}, is_required: {:?} }}", p.default.is_none() && !p.variadic)
    };
    format!("Function(&[{}])", function.params.iter().map(parameter).collect::<Vec<_>>().join(", "))
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
