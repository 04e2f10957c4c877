//! Source location literals: `#line`, `#column`, `#file`, `#function`, `#call` and `#operands`, which denote their
//! source location or, as default arguments, that of the call.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, StringPart};
use crate::syntax::variable_words;
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::declaration_tables::{Code, Entry, FunctionKind, Named};
use crate::types::model::syntax_query::is_operator;
use crate::types::model::ty::Type;
use crate::types::model::type_context::TypeContext;
use crate::types::model::typed_tree::{Expr, FunctionId};
use crate::types::names::name_lookup;
use hashbrown::HashSet;

/// The name of the code outside of any function: the name that Swift uses for the module of a script.
const MODULE: &str = "main";

impl Infer<'_> {
    /// Infers the source location literal `#name`; `None` for other names.
    pub(crate) fn here(&mut self, name: &str, expected: Option<&Type>, span: Span) -> Option<Expr> {
        let text = match name {
            "line" | "column" => {
                let (line, column) = self.cx.sink.line_and_column(span);
                let number = if name == "line" { line } else { column };
                return Some(self.int_literal(Some(number as u128), expected, span));
            }
            "file" | "filePath" => self.cx.sink.text_name(span),
            "fileID" => {
                let path = self.cx.sink.text_name(span);
                let file = path.rsplit('/').next().unwrap_or(&path);
                format!("{MODULE}/{file}").into()
            }
            // The literal `#call` is the source text of the call, for legends and messages.
            "call" => self.cx.sink.source_text(span).into(),
            // The literal `#operands` lists the variables in the call with their values, for messages.
            "operands" => return Some(self.operands(expected, span)),
            "function" => self.around_here().map_or_else(|| MODULE.into(), |f| self.name_of(f).into()),
            _ => return None,
        };
        Some(self.string(&[StringPart::Text(text)], expected, span))
    }

    /// Returns the names and values of the variables in the source text at a span: `[("a", a), ("b", b)]`.
    fn operands(&mut self, expected: Option<&Type>, span: Span) -> Expr {
        let text = self.cx.sink.source_text(span);
        let mut names = variable_words(&text);
        names.retain(|name| self.is_variable(name));
        let mut known = HashSet::new();
        names.retain(|name| known.insert(*name));
        let element = |name: &str| {
            let label = Ast::String(vec![StringPart::Text(name.into())]);
            let value = Ast::Ident { name: name.into(), generics: vec![] };
            let part = |kind| (None, ast::Expr { kind, span });
            ast::Expr { kind: Ast::Tuple(vec![part(label), part(value)]), span }
        };
        let list = ast::Expr { kind: Ast::Array(names.into_iter().map(element).collect()), span };
        self.expr(&list, expected)
    }

    /// Whether a name denotes a variable of the program.
    fn is_variable(&mut self, name: &str) -> bool {
        let is_global = |entry: &Entry, cx: &TypeContext| match entry.what {
            Named::Global(g) => !cx.defs.globals[g.0 as usize].is_prelude,
            _ => false,
        };
        self.find_local_quiet(name)
            || name_lookup::entries(self.cx, name, self.file).first().is_some_and(|entry| is_global(entry, self.cx))
    }

    /// Returns the enclosing function, apart from closures.
    fn around_here(&self) -> Option<FunctionId> {
        let is_declared = |f: &&usize| matches!(self.frames[**f].kind, FrameKind::Function | FrameKind::LocalFunction);
        let path = self.path();
        path.iter().rev().find(is_declared).and_then(|f| self.frames[*f].function)
    }

    fn name_of(&self, f: FunctionId) -> String {
        let data = self.cx.defs.function_data(f);
        let is_accessor = matches!(data.kind, FunctionKind::Getter | FunctionKind::Setter);
        match (&*data.base_name, is_accessor) {
            ("subscript", true) => {
                let skipped = usize::from(data.kind == FunctionKind::Setter);
                let labels = data.ast_params.iter().skip(skipped);
                let labels: String =
                    labels.map(|p| p.label.as_ref().map_or("_:".to_string(), |l| format!("{}:", l.name))).collect();
                format!("subscript({labels})")
            }
            (operator, _) if is_operator(operator) => format!("{operator}({})", "_:".repeat(data.ast_params.len())),
            _ => self.cx.defs.full_name(f),
        }
    }

    /// Infers a default argument that is a source location literal, with the location of the call.
    pub(crate) fn call_site_default(&mut self, default: FunctionId, wanted: &Type, span: Span) -> Option<Expr> {
        let Code::Expression(value) = &self.cx.defs.function_data(default).code else { return None };
        let ast::Expr { kind: Ast::Hash { name, args }, .. } = &**value else { return None };
        let name = name.name.clone();
        if !args.is_empty() {
            return None;
        }
        let value = self.here(&name, Some(wanted), span)?;
        Some(self.coerce(value, wanted))
    }
}
