//! Specificity of candidates: overloads that take the type that a literal has by default are preferred, and of two generic
//! functions that fit, the function with the more specific parameter types, such as `f([T])` to `f(T)`.

use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::ExprKind as Ast;
use crate::types::conform::conformances;
use crate::types::generics::signature;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, Slot, match_args};
use crate::types::infer::call::candidates::{Candidate, Target};
use crate::types::model::declaration_info::Builtin;
use crate::types::model::declaration_tables::{Requirement, Signature};
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::FunctionId;
use crate::types::names::name_lookup;
use std::rc::Rc;

/// The degree to which a candidate fits the arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Fit {
    /// The score of the candidate; a smaller score is better.
    pub(crate) score: u32,
    /// The number of arguments that must be converted to the type of the parameter.
    pub(crate) conversions: u32,
}

/// The types of a generic function's parameters that receive the arguments of a call.
struct ParameterTypes {
    /// The type of each parameter that receives an argument.
    types: Vec<Type>,
    signature: Rc<Signature>,
    /// The number of generic parameters that belong to the environment of the function.
    outer: usize,
}

/// The generic parameters of a function, with the types that were found for these parameters so far.
struct ParameterMatch<'s> {
    general: &'s Signature,
    special: &'s Signature,
    /// The number of generic parameters that belong to the environment of the function.
    outer: usize,
    found: Vec<Option<Type>>,
}

impl Infer<'_> {
    /// Returns the cost of another type for a collection literal than its type by default. The elements of a literal decide
    /// between most types, but a set accepts all elements that an array accepts, and its requirement `Hashable` would
    /// make it more specific.
    pub(crate) fn cost_of_collection(&mut self, arg: &ast::Expr, ty: &Type) -> u32 {
        let (usual, is_empty) = match &arg.kind {
            Ast::Array(items) => ("Array", items.is_empty()),
            Ast::Dictionary(items) => ("Dictionary", items.is_empty()),
            _ => return 0,
        };
        let Type::Nominal(n, _) = ty else { return 0 };
        if *n == name_lookup::library_nominal(self.cx, usual) {
            0
        } else if *n == name_lookup::library_nominal(self.cx, "Set") {
            2
        } else {
            u32::from(is_empty)
        }
    }

    /// Returns the cost of a type for a key path that is not inferred yet: the most specific class is preferred, and a
    /// class to a function.
    pub(crate) fn key_path_cost(&mut self, path: &[ast::KeyPathPart], ty: &Type, span: Span) -> Option<u32> {
        match ty {
            Type::Function(f) => (f.params.len() == 1).then_some(6),
            Type::Nominal(n, of) => match &*self.cx.defs.nominal_data(*n).name {
                "ReferenceWritableKeyPath" => Some(1),
                "WritableKeyPath" => of.first().is_some_and(|root| self.may_write(root, path, span)).then_some(2),
                "KeyPath" => Some(3),
                name => name.ends_with("KeyPath").then_some(4),
            },
            _ => matches!(ty, Type::Var(_) | Type::Existential(_)).then_some(4),
        }
    }

    /// Returns the cost of a type for a literal of a number or a text.
    pub(crate) fn literal_cost(&mut self, literal: Literal, ty: &Type) -> u32 {
        let Type::Nominal(n, _) = ty else { return 6 };
        match (literal, self.cx.defs.nominal_data(*n).builtin) {
            (Literal::Int, Some(Builtin::Int { bits: 64, signed: true }))
            | (Literal::Float, Some(Builtin::Double))
            | (Literal::Text | Literal::Words, Some(Builtin::String)) => 0,
            (Literal::Int, Some(Builtin::Double)) => 2,
            (_, Some(Builtin::Float)) => 4,
            _ => 6,
        }
    }

    /// Gives members of library types that are faster versions of members of protocols, such as `prefix` of strings, the rank of
    /// the members that they replace: an extension of a protocol in the program is chosen before both.
    pub(crate) fn rank_faster_versions(&mut self, candidates: &mut [Candidate]) {
        let is_own = |infer: &Self, candidate: &Candidate| match candidate.target {
            Target::Function(f) => !infer.cx.defs.function_data(f).is_prelude,
            Target::Requirement(..) | Target::Case(..) => false,
        };
        let is_requirement = |candidate: &Candidate| matches!(candidate.target, Target::Requirement(..));
        let nearest = candidates.iter().map(|candidate| candidate.tier).min();
        if !candidates.iter().any(|candidate| Some(candidate.tier) > nearest && is_own(self, candidate))
            || candidates.iter().any(is_requirement)
        {
            return;
        }
        for k in (0..candidates.len()).rev() {
            if is_own(self, &candidates[k]) {
                continue;
            }
            let labels = self.labels_of(&candidates[k]);
            let mut is_replaced = |at: &usize| {
                let other = &candidates[*at];
                other.tier > candidates[k].tier && !is_own(self, other) && self.labels_of(other) == labels
            };
            let replaced = (0..candidates.len()).filter(|at| is_replaced(at)).min_by_key(|at| candidates[*at].tier);
            if let Some(at) = replaced {
                candidates[k].tier = candidates[at].tier;
                candidates[at].tier += 1;
            }
        }
    }

    fn labels_of(&mut self, candidate: &Candidate) -> Vec<Option<ast::Name>> {
        self.candidate_params(candidate).iter().map(|param| param.label.clone()).collect()
    }

    /// Removes every generic candidate for which another candidate fits as well with more specific parameter types.
    pub(crate) fn without_more_general<'c>(
        &mut self,
        fitting: Vec<(Fit, &'c Candidate)>,
        args: &[ArgNode],
    ) -> Vec<(Fit, &'c Candidate)> {
        let types: Vec<Option<ParameterTypes>> =
            fitting.iter().map(|(_, candidate)| self.parameter_types_of(candidate, args)).collect();
        let is_more_general = |infer: &mut Self, k: usize| {
            let Some(general) = &types[k] else { return false };
            let (fit, candidate) = fitting[k];
            fitting.iter().zip(&types).enumerate().any(|(j, ((other_fit, other), special))| {
                j != k
                    && other_fit.conversions <= fit.conversions
                    && other.tier <= candidate.tier
                    && special
                        .as_ref()
                        .is_some_and(|special| infer.covers(general, special) && !infer.covers(special, general))
            })
        };
        let kept: Vec<bool> = (0..fitting.len()).map(|k| !is_more_general(self, k)).collect();
        fitting.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(found, _)| found).collect()
    }

    /// Whether a generic candidate accepts all arguments that another candidate accepts.
    fn covers(&mut self, general: &ParameterTypes, special: &ParameterTypes) -> bool {
        if general.outer != special.outer || general.types.len() != special.types.len() {
            return false;
        }
        let found = vec![None; general.signature.env.params.len()];
        let outer = general.outer;
        let mut bindings = ParameterMatch { general: &general.signature, special: &special.signature, outer, found };
        general.types.iter().zip(&special.types).all(|(a, b)| bindings.cover(a, b))
            && general.signature.env.requirements.iter().all(|requirement| self.is_implied(requirement, &bindings))
    }

    /// Returns the types of the parameters of a generic candidate that receive the arguments; `None` for other
    /// candidates.
    fn parameter_types_of(&mut self, candidate: &Candidate, args: &[ArgNode]) -> Option<ParameterTypes> {
        let Target::Function(f) = &candidate.target else { return None };
        let (signature, outer) = (signature::signature(self.cx, *f), candidate.prefix.len());
        if signature.env.params.len() <= outer {
            return None;
        }
        Some(ParameterTypes { types: self.parameter_types(*f, args)?, signature, outer })
    }

    /// Returns the types of the parameters that receive the arguments; `None` if an argument is variadic.
    fn parameter_types(&mut self, f: FunctionId, args: &[ArgNode]) -> Option<Vec<Type>> {
        let params = signature::signature(self.cx, f).params.clone();
        let slots = match_args(&params, args).ok()?;
        let mut types = vec![];
        for (slot, param) in slots.iter().zip(&params) {
            match slot {
                Slot::Arg(_) => types.push(self.param_value_type(param)),
                Slot::Default => {}
                Slot::Variadic(_) | Slot::Whole(_) => return None,
            }
        }
        Some(types)
    }

    /// Whether a requirement of the more general function holds for the type that was found for its generic parameter.
    fn is_implied(&mut self, requirement: &Requirement, bindings: &ParameterMatch) -> bool {
        let Requirement::Conforms(Type::Param(p), protocol) = requirement else { return false };
        let Some(k) = bindings.general.env.params.iter().position(|q| q == p) else { return false };
        match &bindings.found[k] {
            _ if k < bindings.outer => true,
            Some(Type::Nominal(n, _)) => conformances::find_conformance(self.cx, *n, *protocol).is_some(),
            Some(own @ Type::Param(_)) => bindings.special.env.requirements.iter().any(|known| match known {
                Requirement::Conforms(of, q) => {
                    of == own && (q == protocol || conformances::refined(self.cx, *q).contains(protocol))
                }
                _ => false,
            }),
            None => true,
            Some(_) => false,
        }
    }
}

impl ParameterMatch<'_> {
    /// Whether a substitution of its generic parameters makes the more general type equal to the more special type.
    /// Extends the substitution.
    fn cover(&mut self, general: &Type, special: &Type) -> bool {
        match (general, special) {
            (Type::Param(p), _) => match self.general.env.params.iter().position(|q| q == p) {
                Some(k) if k < self.outer => {
                    matches!(special, Type::Param(q) if self.special.env.params.get(k) == Some(q))
                }
                Some(k) => self.found[k].get_or_insert_with(|| special.clone()) == special,
                None => general == special,
            },
            (Type::Nominal(n, xs), Type::Nominal(m, ys)) => {
                n == m && xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| self.cover(x, y))
            }
            (Type::Tuple(xs), Type::Tuple(ys)) => {
                xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|((_, x), (_, y))| self.cover(x, y))
            }
            (Type::Function(f), Type::Function(g)) => {
                f.params.len() == g.params.len()
                    && f.params.iter().zip(&g.params).all(|(x, y)| self.cover(&x.ty, &y.ty))
                    && self.cover(&f.result, &g.result)
            }
            (Type::Metatype(x), Type::Metatype(y)) => self.cover(x, y),
            _ => general == special,
        }
    }
}
