//! What is declared twice: functions of one name that nothing tells apart, members of one name, parameters of one name;
//! and structs that would contain themselves.

use super::store::{Entry, FunctionKind, MemberKind, Named, Owner, Requirement, Signature, World};
use super::tree::FunctionId;
use super::ty::{NominalId, ParamId, Type};
use crate::diagnostic::{Code as DiagnosticCode, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Name;
use hashbrown::HashMap;

impl World {
    /// Where something of the top level is declared.
    pub(super) fn named_span(&self, what: Named) -> Span {
        match what {
            Named::Function(f) => self.function_data(f).span,
            Named::Global(g) => self.globals[g.0 as usize].span,
            Named::Nominal(n) => self.nominal_data(n).span,
            Named::Alias(a) => self.aliases[a.0 as usize].span,
            Named::Protocol(_) => Span::default(),
        }
    }

    pub(super) fn redeclared(&mut self, name: &str, at: Span, before: Span) {
        let message = format!("invalid redeclaration of '{name}'");
        let mut diagnostic = Diagnostic::error(DiagnosticCode::Redeclared, at, message);
        if before != Span::default() {
            diagnostic = diagnostic.also(before, format!("'{name}' is declared here"));
        }
        self.report(diagnostic);
    }

    /// Functions of the module, and those of its types, that nothing tells apart.
    pub(super) fn check_functions(&mut self, from: usize) {
        let mut seen: HashMap<(Owner, Name, bool), Vec<FunctionId>> = HashMap::new();
        for at in from..self.functions.len() {
            let f = FunctionId(at as u32);
            let data = self.function_data(f);
            let is_declared = data.decl.is_some() && data.outer.is_none() && data.requirement.is_none();
            let may_clash = matches!(data.kind, FunctionKind::Function | FunctionKind::Init { .. });
            if data.is_prelude || !is_declared || !may_clash || &*data.base_name == "_" {
                continue;
            }
            let key = (data.owner, data.base_name.clone(), data.is_static);
            self.check_parameters(f);
            let others = seen.entry(key).or_default();
            let earlier: Vec<FunctionId> = others.clone();
            others.push(f);
            if let Some(other) = earlier.into_iter().find(|other| self.cannot_be_told_apart(*other, f)) {
                let name = self.full_name(f);
                let (at, before) = (self.function_data(f).span, self.function_data(other).span);
                self.redeclared(&name, at, before);
            }
        }
    }

    fn cannot_be_told_apart(&mut self, f: FunctionId, g: FunctionId) -> bool {
        let (a, b) = (self.function_data(f), self.function_data(g));
        let hidden = |data: &super::store::FunctionData| {
            data.decl.as_ref().is_some_and(|d| d.has("private") || d.has("fileprivate"))
        };
        if a.fixity != b.fixity || (a.file != b.file && (hidden(a) || hidden(b))) {
            return false;
        }
        let (s, t) = (self.signature(f), self.signature(g));
        shape_of(&s) == shape_of(&t)
    }

    /// The parameters of a function have different names.
    fn check_parameters(&mut self, f: FunctionId) {
        let params = self.function_data(f).ast_params.clone();
        for (i, param) in params.iter().enumerate() {
            let name = &param.name;
            if &*name.name != "_"
                && let Some(before) = params[..i].iter().find(|p| p.name.name == name.name)
            {
                let (text, at, before) = (name.name.to_string(), name.span, before.name.span);
                self.redeclared(&text, at, before);
            }
        }
    }

    /// Members of one name that are not functions, or a property and a function without parameters.
    pub(super) fn check_members(&mut self, n: NominalId) {
        let mut all: Vec<(Name, bool, Span, bool)> = vec![];
        for (name, members) in &self.nominal_data(n).members {
            for member in members {
                let (span, is_function) = match &member.kind {
                    MemberKind::Stored(i) => (self.nominal_data(n).stored[*i as usize].span, false),
                    MemberKind::Computed(f, _) => (self.function_data(*f).span, false),
                    MemberKind::Case(i) => (self.nominal_data(n).cases[*i as usize].span, false),
                    MemberKind::Global(g) => (self.globals[g.0 as usize].span, false),
                    MemberKind::Nominal(m) => (self.nominal_data(*m).span, false),
                    MemberKind::Method(f) if self.function_data(*f).ast_params.is_empty() => {
                        (self.function_data(*f).span, true)
                    }
                    _ => continue,
                };
                all.push((name.clone(), member.is_static, span, is_function));
            }
        }
        all.sort_by_key(|(.., span, _)| span.start);
        for (i, (name, is_static, at, is_function)) in all.iter().enumerate() {
            let clash = all[..i]
                .iter()
                .find(|(other, s, before, f)| other == name && s == is_static && before != at && !(*f && *is_function));
            if let Some((.., before, f)) = clash {
                let name = if *is_function || *f { format!("{name}()") } else { name.to_string() };
                self.redeclared(&name, *at, *before);
            }
        }
    }

    /// A struct that contains itself has no values.
    pub(super) fn check_size(&mut self, n: NominalId) {
        for i in 0..self.nominal_data(n).stored.len() as u32 {
            let ty = self.stored_type(n, i);
            let mut on_the_way = vec![];
            if self.contains_struct(&ty, n, &mut on_the_way) {
                let (name, span) = (self.nominal_data(n).name.clone(), self.nominal_data(n).stored[i as usize].span);
                let message = format!("value type '{name}' cannot have a stored property that recursively contains it");
                self.report(
                    Diagnostic::error(DiagnosticCode::Types, span, message)
                        .help("make it optional, or an array, so that there is an end"),
                );
                return;
            }
        }
    }

    fn contains_struct(&mut self, ty: &Type, n: NominalId, on_the_way: &mut Vec<NominalId>) -> bool {
        match ty {
            Type::Nominal(m, _) if *m == n => true,
            Type::Nominal(m, args) => {
                let data = self.nominal_data(*m);
                let is_plain = data.builtin.is_none() && data.kind == crate::syntax::ast::NominalKind::Struct;
                if !is_plain || on_the_way.contains(m) {
                    return false;
                }
                on_the_way.push(*m);
                let (m, args) = (*m, args.clone());
                (0..self.nominal_data(m).stored.len() as u32).any(|i| {
                    let ty = self.stored_type(m, i);
                    let ty = self.substitute_nominal(m, &args, &ty);
                    self.contains_struct(&ty, n, on_the_way)
                })
            }
            Type::Tuple(parts) => parts.iter().any(|(_, t)| self.contains_struct(t, n, on_the_way)),
            _ => false,
        }
    }

    /// Whether two names of the top level clash: functions may share one.
    pub(super) fn clashes(entries: &[Entry], new: Entry) -> Option<Named> {
        let clash = entries.iter().find(|e| {
            let both_functions = matches!(new.what, Named::Function(_)) && matches!(e.what, Named::Function(_));
            !both_functions && (e.file == new.file || !(e.is_private || new.is_private))
        });
        clash.map(|e| e.what)
    }
}

/// What tells functions of one name apart: labels, types, and what is required of generic parameters.
#[derive(PartialEq)]
struct Apart {
    params: Vec<(Option<Name>, Type, bool)>,
    result: Type,
    requirements: Vec<Requirement>,
}

fn shape_of(signature: &Signature) -> Apart {
    let params = &signature.env.params;
    // Generic parameters by their place, whatever they are called.
    let by = |t: &Type| {
        t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| Type::Param(ParamId(u32::MAX - i as u32))))
    };
    let requirements = signature.env.requirements.iter().map(|r| r.map(&mut |t| by(t)));
    Apart {
        params: signature.params.iter().map(|p| (p.label.clone(), by(&p.ty), p.variadic)).collect(),
        result: by(&signature.result),
        requirements: requirements.collect(),
    }
}
