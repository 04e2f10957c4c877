//! Candidates: the functions to which the name in a call may refer, and how well each of them fits.

use crate::source::Span;
use crate::syntax::ast::{Fixity, Ident, Name};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::existential;
use crate::types::generics::signature;
use crate::types::generics::unification;
use crate::types::generics::unmet_requirement;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot, match_args};
use crate::types::infer::call::specificity::Fit;
use crate::types::model::declaration_tables::{MemberKind, Owner, Requirement, RequirementKind, SignatureParam};
use crate::types::model::ty::{NominalId, ParamId, ProtocolId, Type};
use crate::types::model::type_vars::Clause;
use crate::types::model::type_vars::ConformanceConstraint;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionId, FunctionRef};
use crate::types::names::dynamic_self;
use crate::types::names::members;
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// A function to which a call may refer.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) target: Target,
    /// The generic arguments of the environment in which the candidate is declared: the generic arguments of the type,
    /// or `Self` of a protocol.
    pub(crate) prefix: Rc<[Type]>,
    /// The receiver on which a candidate that is a method is called.
    pub(crate) receiver: Option<Rc<Expr>>,
    /// The distance of the declaration: 0 for a declaration of the program, 1 for a declaration of the prelude; higher
    /// for an inherited or default implementation.
    pub(crate) tier: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Function(FunctionId),
    Requirement(ProtocolId, u32),
    /// A case of an enum, which is called to create a value.
    Case(NominalId, u32),
}

/// A candidate whose generic parameters are replaced by fresh type variables.
pub(crate) struct Instance {
    pub(crate) callee: Option<Callee>,
    pub(crate) generics: Vec<Type>,
    pub(crate) params: Vec<SignatureParam>,
    pub(crate) self_type: Option<Type>,
    pub(crate) self_inout: bool,
    pub(crate) result: Type,
    pub(crate) throws: bool,
    /// The number of requirements on the generic arguments.
    pub(crate) requirement_count: u32,
    /// The first requirement on a generic argument that is not satisfied, with its index.
    pub(crate) missing: Option<(usize, Requirement)>,
}

impl Infer<'_> {
    /// Returns the result type of a candidate, in which the generic parameters of the type that declares it are replaced.
    pub(crate) fn result_on_receiver(&mut self, candidate: &Candidate) -> Type {
        let result = self.candidate_result(candidate);
        let Target::Function(f) = candidate.target else { return result };
        let params = signature::signature(self.cx, f).env.params.clone();
        let of = |param| candidate.prefix.get(params.iter().position(|known| *known == param)?).cloned();
        result.substitute(&of)
    }

    /// Creates fresh type variables for the generic parameters of a candidate, and imposes the requirements on them.
    pub(crate) fn instantiate(&mut self, candidate: &Candidate, span: Span) -> Instance {
        let function = match &candidate.target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(n, case) => return self.instantiate_case(*n, *case, candidate),
        };
        let signature = signature::signature(self.cx, function);
        let params = &signature.env.params;
        let mut generics: Vec<Type> = candidate.prefix.to_vec();
        generics.truncate(params.len());
        while generics.len() < params.len() {
            let fresh = self.cx.vars.fresh();
            generics.push(fresh);
        }
        let by = |t: &Type| t.substitute(&|p| params.iter().position(|q| *q == p).map(|i| generics[i].clone()));
        let mut missing = None;
        for (index, requirement) in signature.env.requirements.iter().enumerate() {
            let requirement = requirement.map(&mut |t| by(t));
            let holds = match &requirement {
                Requirement::Conforms(t, p) => {
                    // A requirement is called on the value in the existential, which conforms.
                    let is_opened = matches!(candidate.target, Target::Requirement(..))
                        && candidate.prefix.first() == Some(t)
                        && matches!(unification::shallow(self.cx, t), Type::Existential(_));
                    if is_opened {
                        existential::can_erase(self.cx, t, *p)
                    } else {
                        unification::require_by(
                            self.cx,
                            t,
                            ConformanceConstraint { protocol: *p, span, by: Some(function) },
                        )
                    }
                }
                Requirement::Same(a, b) => unification::unify_by(self.cx, a, b, span, Some(Clause { function, index })),
                Requirement::Superclass(a, b) => self.can_convert(a, b),
            };
            if !holds {
                missing = missing.or(Some((index, requirement)));
            }
        }
        let own = candidate.prefix.len();
        let callee = match &candidate.target {
            Target::Requirement(p, r) => Callee::Requirement {
                protocol: *p,
                requirement: *r,
                self_type: generics.first().cloned().unwrap_or(Type::Error),
                generics: generics[own.min(generics.len())..].to_vec(),
            },
            _ => self.known_callee(candidate, FunctionRef { function, generics: generics.clone() }),
        };
        let mut result = by(&signature.result);
        if superclass::fills_instance(self.cx, function)
            && let Some(receiver) = &candidate.receiver
        {
            // An inherited initializer returns the instance that it received.
            let failable = name_lookup::is_optional(self.cx, &result);
            result = receiver.ty.clone();
            if failable {
                result = name_lookup::applied(self.cx, "Optional", &[result]);
            }
        }
        if let Some(receiver) = &candidate.receiver {
            // A member of `super` whose result type is `Self` returns an instance of the class of `self`.
            let of = if let ExprKind::Super(own) = &receiver.kind { own } else { &**receiver };
            if let Some(own) = dynamic_self::result_for_receiver(self.cx, function, &of.ty, &result) {
                result = own;
            }
        }
        Instance {
            callee: Some(callee),
            params: signature.params.iter().map(|p| SignatureParam { ty: by(&p.ty), ..p.clone() }).collect(),
            self_type: signature.self_type.as_ref().map(by),
            self_inout: signature.self_inout,
            result,
            throws: signature.throws,
            requirement_count: signature.env.requirements.len() as u32,
            generics,
            missing,
        }
    }

    /// Returns the callee of a candidate. A method of a class is dispatched dynamically, unless it is called on
    /// `super`, and so is an initializer to which another initializer delegates.
    fn known_callee(&self, candidate: &Candidate, function: FunctionRef) -> Callee {
        let is_dynamic = candidate.receiver.as_ref().is_some_and(|receiver| match &receiver.kind {
            ExprKind::Super(_) => false,
            // The type that a generic parameter stands for may be a subclass of its bound.
            ExprKind::Metatype => {
                matches!(&receiver.ty, Type::Metatype(of) if matches!(**of, Type::Param(_) | Type::Associated(..)))
            }
            // The receiver is a new instance of a class that is given by its name.
            ExprKind::Struct { .. } => !superclass::fills_instance(self.cx, function.function),
            _ => true,
        });
        match self.cx.defs.function_data(function.function).owner {
            Owner::Nominal(class) if is_dynamic && superclass::is_overridable(self.cx, function.function) => {
                Callee::Class { class, function }
            }
            _ => Callee::Static(function),
        }
    }

    fn instantiate_case(&mut self, n: NominalId, case: u32, candidate: &Candidate) -> Instance {
        let args = candidate.prefix.to_vec();
        let mut params = stored_property::case_params(self.cx, n, case);
        for param in &mut params {
            param.ty = conformances::substitute_nominal(self.cx, n, &args, &param.ty);
        }
        Instance {
            callee: None,
            generics: args.clone(),
            params,
            self_type: None,
            self_inout: false,
            result: Type::Nominal(n, args.into()),
            throws: false,
            requirement_count: 0,
            missing: None,
        }
    }

    /// Whether a call of a candidate may throw an error.
    pub(crate) fn candidate_throws(&mut self, candidate: &Candidate) -> bool {
        match candidate.target {
            Target::Function(f) => signature::signature(self.cx, f).throws,
            Target::Requirement(p, r) => {
                let f = self.cx.defs.protocol_data(p).requirements[r as usize].function;
                signature::signature(self.cx, f).throws
            }
            Target::Case(..) => false,
        }
    }

    /// Returns the parameters of a candidate without creating fresh type variables, to match argument labels.
    pub(crate) fn candidate_params(&mut self, candidate: &Candidate) -> Vec<SignatureParam> {
        match &candidate.target {
            Target::Function(f) => signature::signature(self.cx, *f).params.clone(),
            Target::Requirement(p, r) => {
                let f = self.cx.defs.protocol_data(*p).requirements[*r as usize].function;
                signature::signature(self.cx, f).params.clone()
            }
            Target::Case(..) => self.instantiate_case_params(candidate),
        }
    }

    fn instantiate_case_params(&mut self, candidate: &Candidate) -> Vec<SignatureParam> {
        match candidate.target {
            Target::Case(n, case) => self.instantiate_case(n, case, candidate).params,
            Target::Function(_) | Target::Requirement(..) => vec![],
        }
    }

    /// Returns a score for how well a candidate fits the arguments, as far as these are known: smaller is better,
    /// `None` if the candidate does not fit.
    pub(crate) fn try_candidate(
        &mut self,
        candidate: &Candidate,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Option<u32> {
        self.rate(candidate, args, expected, span).map(|fit| fit.score)
    }

    /// Returns the score of a candidate like `try_candidate`, and also how many arguments have to be converted.
    pub(crate) fn rate(
        &mut self,
        candidate: &Candidate,
        args: &[ArgNode],
        expected: Option<&Type>,
        span: Span,
    ) -> Option<Fit> {
        crate::cancel::check();
        let params = self.candidate_params(candidate);
        let slots = match_args(&params, args).ok()?;
        let snapshot = self.cx.vars.snapshot();
        let instance = self.instantiate(candidate, span);
        let (mut score, mut conversions) = (candidate.tier * 1000, 0);
        let mut fits = instance.missing.is_none();
        if let (Some(receiver), Some(own)) = (&candidate.receiver, &instance.self_type) {
            let ty = receiver.ty.clone();
            fits = fits && (unification::unify(self.cx, &ty, own, span) || self.can_convert(&ty, own));
        }
        let mut given: Vec<(usize, Type, &SignatureParam)> = vec![];
        for (slot, param) in slots.iter().zip(&instance.params) {
            match slot {
                Slot::Arg(i) => given.push((*i, self.param_value_type(param), param)),
                Slot::Whole(i) => given.push((*i, param.ty.clone(), param)),
                Slot::Variadic(all) => {
                    // A variadic parameter is worse than separate parameters.
                    score += if all.is_empty() { 4 } else { 1 };
                    let wanted = self.param_value_type(param);
                    given.extend(all.iter().map(|i| (*i, wanted.clone(), param)));
                }
                Slot::Default => {
                    score += 3;
                    self.take_default(param.default, &param.ty, &instance, span);
                }
            }
        }
        if self.widens {
            given.iter().for_each(|(i, wanted, _)| self.widen_variable(&args[*i], wanted, span));
        }
        // Literals follow the arguments that determine their types; an optional argument precedes the other arguments,
        // since it makes their common type optional.
        given.sort_by_key(|(i, wanted, _)| {
            (self.is_open_literal(&args[*i]), !self.is_optional_for_variable(&args[*i], wanted))
        });
        for (i, wanted, param) in given {
            let may_convert = self.may_become_optional(&args[i], &wanted);
            match self.arg_fits(&args[i], &wanted, param.is_inout, span).filter(|_| fits) {
                Some(cost) => {
                    score += cost;
                    conversions += u32::from(cost > 1 || may_convert);
                }
                None => {
                    fits = false;
                    break;
                }
            }
        }
        if fits && let Some(expected) = expected {
            let result = instance.result.clone();
            if !(unification::try_unify(self.cx, &result, expected, span) || self.can_convert(&result, expected)) {
                fits = false;
            }
        }
        fits = fits && (self.forgives || self.meets_clauses(candidate, &instance));
        let generic = instance.generics.len().saturating_sub(candidate.prefix.len()) as u32;
        if generic > 0 {
            // Of two generic functions, the function with more requirements is better.
            score += generic.min(9) * 10 + 9u32.saturating_sub(instance.requirement_count);
        }
        self.cx.vars.rollback(snapshot);
        fits.then_some(Fit { score, conversions })
    }

    /// Whether an argument whose type is not known may have to be converted to an optional.
    fn may_become_optional(&mut self, arg: &ArgNode, wanted: &Type) -> bool {
        let Some(ready) = &arg.ready else { return false };
        matches!(unification::shallow(self.cx, &ready.ty), Type::Var(_)) && name_lookup::is_optional(self.cx, wanted)
    }

    /// Whether the requirements on associated types of generic parameters hold, as far as the arguments determine the
    /// associated types: `where S.Element: Numeric`, `where S.Element == Int`.
    fn meets_clauses(&mut self, candidate: &Candidate, instance: &Instance) -> bool {
        let Target::Function(f) = candidate.target else { return true };
        let env = signature::signature(self.cx, f).env.clone();
        let by = |p: ParamId| env.params.iter().position(|q| *q == p).map(|i| instance.generics[i].clone());
        env.requirements.iter().all(|requirement| match requirement {
            Requirement::Conforms(Type::Associated(..), _) => {
                let put = requirement.map(&mut |ty| ty.substitute(&by));
                unmet_requirement::is_met(self.cx, &put)
            }
            Requirement::Same(a, b) if [a, b].iter().any(|ty| matches!(ty, Type::Associated(..))) => {
                let [a, b] = [a, b].map(|ty| unification::resolved(self.cx, &ty.substitute(&by)));
                unification::unifies(self.cx, &a, &b)
            }
            _ => true,
        })
    }

    /// Returns the type that a single argument must have: the element of a variadic parameter, the result of an
    /// autoclosure.
    pub(crate) fn param_value_type(&mut self, param: &SignatureParam) -> Type {
        let ty = param.ty.clone();
        if param.variadic
            && let Type::Nominal(_, args) = &ty
        {
            return args.first().cloned().unwrap_or(Type::Error);
        }
        if param.autoclosure
            && let Type::Function(f) = unification::shallow(self.cx, &ty)
        {
            return f.result.clone();
        }
        ty
    }

    /// Returns the members named `name` that can be called on a value of a type, or with `is_static` on the type.
    pub(crate) fn method_candidates(
        &mut self,
        of: &Type,
        name: &str,
        is_static: bool,
        receiver: Option<&Rc<Expr>>,
    ) -> Vec<Candidate> {
        let mut out = vec![];
        for (member, prefix, distance) in members::members(self.cx, of, name, is_static, self.file) {
            let target = match member {
                MemberKind::Method(f) | MemberKind::Init(f) => Target::Function(f),
                MemberKind::Requirement(r) => {
                    let Some(p) = prefix.1 else { continue };
                    let kind = self.cx.defs.protocol_data(p).requirements[r as usize].kind;
                    if !matches!(kind, RequirementKind::Method | RequirementKind::Init) {
                        continue;
                    }
                    Target::Requirement(p, r)
                }
                MemberKind::Case(case) => match unification::shallow(self.cx, of) {
                    Type::Nominal(n, _) => Target::Case(n, case),
                    _ => continue,
                },
                _ => continue,
            };
            let user = match &target {
                Target::Function(f) => !self.cx.defs.function_data(*f).is_prelude,
                Target::Requirement(..) | Target::Case(..) => true,
            };
            let tier = distance * 2 + u32::from(!user);
            let receiver = match is_static {
                true => self.static_receiver(&target, of, receiver),
                false => receiver.cloned(),
            };
            out.push(Candidate { target, prefix: prefix.0.clone(), receiver, tier });
        }
        self.rank_faster_versions(&mut out);
        out
    }

    /// Returns the argument for the `self` of a static member or an initializer: the type, or the instance that the
    /// initializer initializes.
    pub(crate) fn static_receiver(&mut self, target: &Target, of: &Type, on: Option<&Rc<Expr>>) -> Option<Rc<Expr>> {
        let f = match target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(..) => return None,
        };
        let on_type = on.filter(|e| matches!(unification::shallow(self.cx, &e.ty), Type::Metatype(_)));
        if superclass::fills_instance(self.cx, f) {
            return Some(match (on_type, on) {
                (Some(metatype), _) if !matches!(metatype.kind, ExprKind::Metatype) => self.new_instance(metatype, of),
                (None, Some(instance)) => instance.clone(),
                _ => {
                    let kind = ExprKind::Struct { fields: vec![] };
                    Rc::new(Expr { kind, ty: of.clone(), span: Span::default() })
                }
            });
        }
        if !signature::belongs_to_type(self.cx, f) {
            return None;
        }
        let named =
            || Expr { kind: ExprKind::Metatype, ty: Type::Metatype(Rc::new(of.clone())), span: Span::default() };
        Some(on_type.cloned().unwrap_or_else(|| Rc::new(named())))
    }

    /// Creates an uninitialized instance of the class that a metatype represents at run time.
    fn new_instance(&mut self, metatype: &Rc<Expr>, of: &Type) -> Rc<Expr> {
        let Some(function) = prelude::library_function(self.cx, "_new") else { return metatype.clone() };
        let callee = Callee::Static(FunctionRef { function, generics: vec![of.clone()] });
        let kind = ExprKind::Call { callee, args: vec![Argument::Value((**metatype).clone())] };
        Rc::new(Expr { kind, ty: of.clone(), span: metatype.span })
    }

    /// Returns the name of a candidate as it is used in messages.
    pub(crate) fn candidate_name(&mut self, candidate: &Candidate) -> String {
        match &candidate.target {
            Target::Function(f) => self.cx.defs.full_name(*f),
            Target::Requirement(p, r) => {
                let f = self.cx.defs.protocol_data(*p).requirements[*r as usize].function;
                self.cx.defs.full_name(f)
            }
            Target::Case(n, case) => {
                let (n, case) = (*n, *case);
                let payload = stored_property::case_payload(self.cx, n, case);
                let labels: Vec<Option<Name>> = payload.into_iter().map(|(label, _)| label).collect();
                let name = self.cx.defs.nominal_data(n).cases[case as usize].name.clone();
                if labels.is_empty() { name.to_string() } else { format!("{name}({})", Self::label_text(&labels)) }
            }
        }
    }

    /// Whether a candidate is a function of the library whose first argument is required and has an internal label, so
    /// that programs do not call it.
    pub(crate) fn is_internal(&mut self, candidate: &Candidate) -> bool {
        let Target::Function(f) = candidate.target else { return false };
        let is_internal = |label: &str| label.len() > 1 && label.starts_with('_');
        self.cx.defs.function_data(f).is_prelude
            && self.cx.defs.full_name(f).split(['(', ':']).nth(1).is_some_and(is_internal)
            && signature::signature(self.cx, f).params.first().is_some_and(|first| first.default.is_none())
    }

    pub(crate) fn candidate_span(&mut self, candidate: &Candidate) -> Option<Span> {
        match &candidate.target {
            Target::Function(f) if !self.cx.defs.function_data(*f).is_prelude => {
                Some(self.cx.defs.function_data(*f).span)
            }
            _ => None,
        }
    }

    pub(crate) fn label_text(labels: &[Option<Name>]) -> String {
        labels.iter().map(|l| l.as_ref().map_or("_:".to_string(), |l| format!("{l}:"))).collect()
    }

    /// Returns the candidates of an operator: local operators, members of the types, and functions.
    pub(crate) fn operator_candidates(&mut self, op: &Ident, types: &[Type], count: usize) -> Vec<Candidate> {
        let mut out: Vec<Candidate> = vec![];
        let wanted = self.fixity_of(op, count);
        let mut candidates = self.local_operators(&op.name);
        for ty in types {
            candidates.extend(self.method_candidates(ty, &op.name, true, None));
        }
        candidates.extend(self.function_candidates(&op.name));
        for candidate in candidates {
            self.push_operator(candidate, wanted, count, &mut out);
        }
        self.accessible(out)
    }

    fn fixity_of(&self, op: &Ident, count: usize) -> Option<Fixity> {
        match count {
            1 if self.postfix.contains(&op.span) => Some(Fixity::Postfix),
            1 => Some(Fixity::Prefix),
            _ => None,
        }
    }

    /// Returns the candidates of a range operator between literals whose types are not known.
    pub(crate) fn range_candidates(&mut self, op: &Ident, count: usize) -> Vec<Candidate> {
        let comparable = name_lookup::protocol(self.cx, "Comparable");
        prelude::load_extensions(self.cx, "Comparable");
        prelude::load_members(self.cx, "Comparable", &op.name);
        let members = self.cx.defs.protocol_data(comparable).members.get(&op.name).cloned().unwrap_or_default();
        let mut out = vec![];
        for member in members {
            if let MemberKind::Method(f) = member.kind {
                let candidate =
                    Candidate { target: Target::Function(f), prefix: Rc::from([]), receiver: None, tier: 1 };
                let fixity = self.fixity_of(op, count);
                self.push_operator(candidate, fixity, count, &mut out);
            }
        }
        out
    }

    fn push_operator(&mut self, candidate: Candidate, fixity: Option<Fixity>, count: usize, out: &mut Vec<Candidate>) {
        let function = match &candidate.target {
            Target::Function(f) => *f,
            Target::Requirement(p, r) => self.cx.defs.protocol_data(*p).requirements[*r as usize].function,
            Target::Case(..) => return,
        };
        let declared = self.cx.defs.function_data(function).fixity;
        let fits = fixity == declared;
        let params = signature::signature(self.cx, function).params.len();
        let known = out.iter().any(|c| {
            let same = match (&c.target, &candidate.target) {
                (Target::Function(a), Target::Function(b)) => a == b,
                (Target::Requirement(p, r), Target::Requirement(q, s)) => p == q && r == s,
                _ => false,
            };
            // If the type variables can make both types equal, the two candidates may be one and are listed once.
            same && self.may_be_equal(&c.prefix, &candidate.prefix)
        });
        if fits && params == count && !known {
            out.push(candidate);
        }
    }

    fn may_be_equal(&mut self, a: &[Type], b: &[Type]) -> bool {
        let snapshot = self.cx.vars.snapshot();
        let equal =
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| unification::unify(self.cx, a, b, Span::default()));
        self.cx.vars.rollback(snapshot);
        equal
    }
}
