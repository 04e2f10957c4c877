//! A session that people type into: what a text declared, and what is left of it when it stops half-way.

use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::model::tables::{Code, Entry, FunctionKind, MemberKind, Named, Owner, World};
use crate::types::model::tree::{FunctionId, GlobalId};
use crate::types::model::ty::{NominalId, ProtocolId, Type};
use hashbrown::HashMap;

/// The names of a session before a text was entered; by default, before anything was.
#[derive(Default)]
pub struct Names {
    module: HashMap<Name, Vec<Entry>>,
    nominals: usize,
    protocols: usize,
    functions: usize,
    globals: usize,
}

/// Something that a text declared.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name, with labels where a function has any.
    pub name: String,
    /// What it is.
    pub what: What,
    /// Where its name stands.
    pub span: Span,
}

/// What a declared name stands for.
#[derive(Clone, Debug)]
pub enum What {
    /// A function, and its type.
    Function(String),
    /// A variable: which one, and its type.
    Variable {
        /// Where its value is.
        global: GlobalId,
        /// What its value is.
        ty: Type,
    },
    /// A type or protocol; the word that declares it.
    Type(&'static str),
}

impl World {
    /// The names that can be seen now.
    pub fn names(&self) -> Names {
        Names {
            module: self.module.clone(),
            nominals: self.nominals.len(),
            protocols: self.protocols.len(),
            functions: self.functions.len(),
            globals: self.globals.len(),
        }
    }

    /// What was declared at the top level since then, in the order of the text.
    pub fn declared_since(&mut self, before: &Names) -> Vec<Declared> {
        let mut out = vec![];
        for i in before.functions..self.functions.len() {
            out.extend(self.declared_function(FunctionId(i as u32)));
        }
        for i in before.globals..self.globals.len() {
            out.extend(self.declared_variable(GlobalId(i as u32)));
        }
        for (i, data) in self.nominals.iter().enumerate().skip(before.nominals) {
            let is_seen = !data.is_prelude && self.is_entered(&data.name, Named::Nominal(NominalId(i as u32)));
            let what = What::Type(match data.kind {
                NominalKind::Struct => "struct",
                NominalKind::Enum => "enum",
                NominalKind::Class => "class",
            });
            out.extend(is_seen.then(|| Declared { name: data.name.to_string(), what, span: data.span }));
        }
        for (i, data) in self.protocols.iter().enumerate().skip(before.protocols) {
            if self.is_entered(&data.name, Named::Protocol(ProtocolId(i as u32))) {
                out.push(Declared { name: data.name.to_string(), what: What::Type("protocol"), span: data.span });
            }
        }
        out.sort_by_key(|declared| declared.span.start);
        out
    }

    fn declared_function(&mut self, f: FunctionId) -> Option<Declared> {
        let data = self.function_data(f);
        let is_seen = data.owner == Owner::Module && data.kind == FunctionKind::Function && !data.is_prelude;
        if !is_seen || data.decl.is_none() || data.outer.is_some() || &*data.base_name == "_" {
            return None;
        }
        if data.base_name.starts_with('_') || !self.is_entered(&data.base_name, Named::Function(f)) {
            return None;
        }
        let span = data.span;
        let signature = self.signature(f);
        let labelled = signature.params.iter().any(|p| p.label.is_some());
        let name = if labelled { self.full_name(f) } else { self.function_data(f).base_name.to_string() };
        let params: Vec<String> = signature.params.iter().map(|p| self.show(&p.ty)).collect();
        let throws = if signature.throws { " throws" } else { "" };
        let ty = format!("({}){throws} -> {}", params.join(", "), self.show(&signature.result));
        Some(Declared { name, what: What::Function(ty), span })
    }

    fn declared_variable(&mut self, global: GlobalId) -> Option<Declared> {
        let data = &self.globals[global.0 as usize];
        if data.is_prelude || data.owner != Owner::Module || data.name.starts_with('_') {
            return None;
        }
        if !self.is_entered(&data.name, Named::Global(global)) {
            return None;
        }
        let (name, span) = (data.name.to_string(), data.span);
        let ty = self.global_type(global);
        Some(Declared { name, what: What::Variable { global, ty }, span })
    }

    fn is_entered(&self, name: &str, what: Named) -> bool {
        self.module.get(name).is_some_and(|entries| entries.iter().any(|entry| entry.what == what))
    }

    /// Forgets the names that were declared since then.
    pub fn take_back(&mut self, before: Names) {
        self.module = before.module;
    }

    /// Takes back names of a script that stopped at a place. Variables that had their values by then stay, and so does
    /// everything else if no function uses a variable that has none.
    pub fn keep_until(&mut self, before: &Names, script: FunctionId, stopped: u32) {
        let limit = match &self.function_data(script).code {
            Code::Script(items) => items
                .iter()
                .map(|(_, item)| item.span)
                .find(|span| span.start <= stopped && stopped <= span.end)
                .map_or(0, |span| span.start),
            _ => 0,
        };
        let lost: Vec<usize> =
            (before.globals..self.globals.len()).filter(|i| self.globals[*i].span.start >= limit).collect();
        if lost.iter().any(|i| self.globals[*i].is_shared) {
            self.module.clone_from(&before.module);
            return;
        }
        for i in lost {
            let name = self.globals[i].name.clone();
            match before.module.get(&name) {
                Some(entries) => self.module.insert(name, entries.clone()),
                None => self.module.remove(&name),
            };
        }
    }

    /// A type as the prompt writes it; a closure that is kept in a variable still has the names of its parameters.
    pub fn show_variable(&self, global: GlobalId, ty: &Type) -> String {
        let shown = self.show(ty);
        let (Some(names), Type::Function(function)) = (self.closure_names.get(&global), ty) else { return shown };
        let params = names.iter().zip(&function.params).map(|(name, p)| format!("{name}: {}", self.show(&p.ty)));
        let throws = if function.throws { " throws" } else { "" };
        format!("({}){throws} -> {}", params.collect::<Vec<_>>().join(", "), self.show(&function.result))
    }

    /// Every name that stands for something at the top level.
    pub fn top_names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.module.iter().filter(|(_, entries)| !entries.is_empty()).map(|(name, _)| name.to_string()).collect();
        names.extend(self.library_names());
        names.retain(|name| !name.starts_with('_'));
        names.sort();
        names.dedup();
        names
    }

    /// Where things of a name are declared: at the top level, or for `Type.member` in a type.
    pub fn places_of(&mut self, name: &str) -> Vec<Span> {
        let Some((owner, member)) = name.rsplit_once('.') else {
            let entries = self.entries(name, 0);
            return entries.iter().map(|entry| self.entry_span(entry)).collect();
        };
        let Some(Named::Nominal(n)) = self.type_entry(owner, 0) else { return vec![] };
        let own = self.nominal_data(n).name.clone();
        self.load_all_members(&own);
        let data = self.nominal_data(n);
        let members = data.members.get(member).into_iter().flatten();
        let place = |kind: &MemberKind| match kind {
            MemberKind::Stored(i) => Some(data.stored[*i as usize].span),
            MemberKind::Case(i) => Some(data.cases[*i as usize].span),
            MemberKind::Computed(f, _) | MemberKind::Method(f) | MemberKind::Init(f) | MemberKind::Subscript(f, _) => {
                Some(self.function_data(*f).span)
            }
            MemberKind::Global(g) => Some(self.globals[g.0 as usize].span),
            MemberKind::Nominal(n) => Some(self.nominal_data(*n).span),
            MemberKind::Alias(a) => Some(self.aliases[a.0 as usize].span),
            MemberKind::Requirement(_) | MemberKind::AssociatedType => None,
        };
        members.filter_map(|member| place(&member.kind)).collect()
    }

    /// At the prompt a function takes the place of an earlier one that is called in the same way.
    pub(crate) fn replace_functions(&mut self, first: usize) {
        if !self.is_interactive {
            return;
        }
        for f in (first..self.functions.len()).map(|i| FunctionId(i as u32)) {
            let name = self.function_data(f).base_name.clone();
            let Some(entries) = self.module.get(&name).filter(|all| all.iter().any(|e| e.what == Named::Function(f)))
            else {
                continue;
            };
            let earlier = entries.iter().filter_map(|entry| match entry.what {
                Named::Function(g) if (g.0 as usize) < first => Some(g),
                _ => None,
            });
            let earlier: Vec<FunctionId> = earlier.collect();
            for g in earlier {
                if self.is_called_like(f, g)
                    && let Some(entries) = self.module.get_mut(&name)
                {
                    entries.retain(|entry| entry.what != Named::Function(g));
                }
            }
        }
    }

    /// Whether two functions have the same labels and take the same types.
    fn is_called_like(&mut self, f: FunctionId, g: FunctionId) -> bool {
        let generics = |data: &crate::types::model::tables::FunctionData| data.generics.params.len();
        let count = generics(self.function_data(f));
        if count != generics(self.function_data(g)) {
            return false;
        }
        let (f, g) = (self.signature(f), self.signature(g));
        f.params.len() == g.params.len()
            && f.params.iter().zip(&g.params).all(|(a, b)| a.label == b.label && (count > 0 || a.ty == b.ty))
    }

    /// What the parameters of the module's own functions are called, by the name of the function.
    pub fn parameters_of_functions(&mut self) -> Vec<(String, Vec<String>)> {
        let mut names: Vec<String> = self.module.keys().map(ToString::to_string).collect();
        names.sort_unstable();
        let with_parameters = names.into_iter().map(|name| (self.names_of_parameters(&name), name));
        with_parameters.filter(|(parameters, _)| !parameters.is_empty()).map(|(p, name)| (name, p)).collect()
    }

    /// The labels of a function's parameters, as far as they are known.
    pub fn labels_of_parameters(&mut self, function: &str) -> Vec<Option<String>> {
        let entries = self.entries(function, 0);
        let function =
            entries.iter().find_map(|entry| if let Named::Function(f) = entry.what { Some(f) } else { None });
        let Some(function) = function else { return vec![] };
        self.signature(function).params.iter().map(|p| p.label.as_ref().map(ToString::to_string)).collect()
    }

    /// What the parameters of a function of the top level are called, or of a closure that a variable keeps.
    pub fn names_of_parameters(&mut self, function: &str) -> Vec<String> {
        for entry in self.entries(function, 0) {
            match entry.what {
                Named::Function(f) => {
                    return self.signature(f).params.iter().map(|p| p.name.to_string()).collect();
                }
                Named::Global(g) => {
                    let names = self.closure_names.get(&g);
                    return names.into_iter().flatten().map(ToString::to_string).collect();
                }
                Named::Nominal(_) | Named::Protocol(_) | Named::Alias(_) => {}
            }
        }
        vec![]
    }
}
