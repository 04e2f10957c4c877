//! Source location literals: `#line`, `#column`, `#file`, `#function` and `#call`, which denote their location in the
//! source. As default arguments they denote the location of the call.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, StringPart};
use crate::types::infer::{FrameKind, Infer};
use crate::types::model::syntax_query::is_operator;
use crate::types::model::tables::{Code, FunctionKind};
use crate::types::model::tree::{Expr, FunctionId};
use crate::types::model::ty::Type;

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
            "function" => self.around_here().map_or_else(|| MODULE.into(), |f| self.name_of(f).into()),
            _ => return None,
        };
        Some(self.string(&[StringPart::Text(text)], expected, span))
    }

    /// Returns the function that contains the current code, apart from closures.
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
