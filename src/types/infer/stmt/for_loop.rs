//! `for` loops: the sequence, its iteration, and the pattern for its elements.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::generics::associated_type;
use crate::types::generics::existential;
use crate::types::generics::unification;
use crate::types::infer::{Infer, LabelKind};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{Callee, Iteration, Stmt, StmtKind};
use crate::types::names::name_lookup;

impl Infer<'_> {
    pub(crate) fn for_loop(
        &mut self,
        label: Option<&ast::Ident>,
        pattern: &ast::Pattern,
        sequence: &ast::Expr,
        filter: Option<&ast::Expr>,
        body: &ast::Block,
        span: Span,
    ) -> Stmt {
        let start = (self.pending.len(), self.cx.vars.var_count());
        let element = match &pattern.kind {
            ast::PatternKind::Typed(_, ty) => Some(self.resolve(ty)),
            _ => None,
        };
        let expected = match (&element, &sequence.kind) {
            (Some(element), ast::ExprKind::Array(_)) => {
                Some(name_lookup::applied(self.cx, "Array", std::slice::from_ref(element)))
            }
            _ => None,
        };
        let sequence = self.expr(sequence, expected.as_ref());
        if let Some(element) = element {
            self.hint_element(&sequence.ty, &element, start.0, sequence.span);
        }
        self.resolve_statement(start);
        let sequence = self.decided(sequence);
        let sequence = self.unwrapped(sequence);
        let ty = unification::resolved(self.cx, &sequence.ty.clone());
        let (iteration, element) = self.iteration(&ty, sequence.span);
        let kind = self.labeled(label, LabelKind::Loop, |infer, label| {
            infer.in_scope(|infer| {
                let pattern = infer.pattern(pattern, &element, false);
                let filter = filter.map(|f| {
                    let start = (infer.pending.len(), infer.cx.vars.var_count());
                    let value = infer.condition_value(f);
                    infer.resolve_statement(start);
                    value
                });
                let body = infer.block(body);
                StmtKind::For { label, pattern, sequence, iteration, filter, body }
            })
        });
        Stmt { kind, span }
    }

    /// Gives the literals in a sequence the types that the declared type of the elements determines: in
    /// `for x: Float in stride(from: 0, to: 1, by: 0.5)`, all three numbers are of type `Float`.
    fn hint_element(&mut self, sequence: &Type, declared: &Type, from: usize, span: Span) {
        self.progress(from);
        if let Some(element) = associated_type::associated_type(self.cx, sequence, "Element") {
            unification::try_unify(self.cx, &element, declared, span);
        }
    }

    /// Returns the way in which a loop iterates over a sequence, and the type of the elements.
    fn iteration(&mut self, ty: &Type, span: Span) -> (Iteration, Type) {
        let int = name_lookup::simple(self.cx, "Int");
        if let Type::Nominal(n, args) = ty {
            let name = self.cx.defs.nominal_data(*n).name.clone();
            let is_prelude = self.cx.defs.nominal_data(*n).is_prelude;
            match (&*name, args.first()) {
                ("Range", Some(of)) if is_prelude && *of == int => return (Iteration::Range, int),
                ("ClosedRange", Some(of)) if is_prelude && *of == int => return (Iteration::ClosedRange, int),
                ("Array", Some(of)) if is_prelude => return (Iteration::Array, of.clone()),
                _ => {}
            }
        }
        if *ty == Type::Error {
            self.failed = true;
            return (Iteration::Array, Type::Error);
        }
        let sequence = name_lookup::protocol(self.cx, "Sequence");
        let iterator_protocol = name_lookup::protocol(self.cx, "IteratorProtocol");
        if !existential::can_erase(self.cx, ty, sequence) {
            if let Some(diagnostic) = self.uncountable_range(ty, "Sequence", span) {
                self.error(diagnostic);
                return (Iteration::Array, Type::Error);
            }
            let message = format!("for-in loop requires '{}' to conform to 'Sequence'", self.show(ty));
            let mut diagnostic = Diagnostic::error(Code::NotConforming, span, message);
            if self.show(ty) == "Int" {
                diagnostic = diagnostic.fix("iterate over the integers below it", span.before(), "0..<");
            } else if name_lookup::is_optional(self.cx, ty) {
                diagnostic = diagnostic.fix("iterate over an empty array if it is 'nil'", span.after(), " ?? []");
            }
            if self.show(ty).starts_with("Tensor<") {
                diagnostic = diagnostic
                    .fix("iterate over its parts along the first axis", span.after(), ".unstacked()")
                    .fix("iterate over its numbers", span.after(), ".scalars");
            }
            diagnostic = self.with_array_parameter(diagnostic, span);
            self.error(diagnostic);
            return (Iteration::Array, Type::Error);
        }
        let requirement = |infer: &mut Self, p, name: &str| {
            infer.cx.defs.protocol_data(p).requirements.iter().position(|r| &*r.name == name).map(|i| i as u32)
        };
        let (Some(make), Some(next)) =
            (requirement(self, sequence, "makeIterator"), requirement(self, iterator_protocol, "next"))
        else {
            return (Iteration::Array, Type::Error);
        };
        let iterator = associated_type::associated_type(self.cx, ty, "Iterator").unwrap_or(Type::Error);
        let element = associated_type::associated_type(self.cx, &iterator, "Element").unwrap_or(Type::Error);
        let make =
            Callee::Requirement { protocol: sequence, requirement: make, self_type: ty.clone(), generics: vec![] };
        let next = Callee::Requirement {
            protocol: iterator_protocol,
            requirement: next,
            self_type: iterator.clone(),
            generics: vec![],
        };
        (Iteration::Iterator { make, iterator, next }, element)
    }
}
