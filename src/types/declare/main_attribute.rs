//! The `@main` attribute: finds the marked type, whose `main` runs after the statements of the script.

use crate::syntax::ast::{Decl, DeclKind, Expr, ExprKind, File, Ident, Stmt, StmtKind, TryKind};
use std::rc::Rc;

/// Returns the call of `main` of the type marked `@main`, with the number of the file that declares the type.
pub(crate) fn entry(files: &[(u32, &File)]) -> Option<(u32, Stmt)> {
    files.iter().find_map(|(number, file)| {
        let marked = file.items.iter().find_map(|item| match &item.kind {
            StmtKind::Decl(decl) => call_of_main(decl),
            _ => None,
        });
        marked.map(|call| (*number, call))
    })
}

fn call_of_main(decl: &Rc<Decl>) -> Option<Stmt> {
    let at = decl.attribute("main")?.name.span;
    let DeclKind::Nominal(nominal) = &decl.kind else { return None };
    let throws = nominal.members.iter().any(|member| {
        matches!(&member.kind, DeclKind::Function(f) if &*f.name.name == "main" && f.throws && member.has("static"))
    });
    let expression = |kind| Expr { kind, span: at };
    let of = expression(ExprKind::Ident { name: nominal.name.name.clone(), generics: vec![] });
    let name = Ident { name: "main".into(), span: at };
    let main = expression(ExprKind::Member { base: Rc::new(of), name, generics: vec![] });
    let call = expression(ExprKind::Call { callee: Rc::new(main), args: vec![] });
    let call = match throws {
        true => expression(ExprKind::Try { kind: TryKind::Propagate, value: Rc::new(call) }),
        false => call,
    };
    Some(Stmt { kind: StmtKind::Expr(call), span: at })
}
