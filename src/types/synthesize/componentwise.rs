//! Component-wise members: the operations that a struct declares by a conformance to `VectorProtocol`,
//! `ElementaryFunctions` or `PointwiseMultiplicative`, and that its stored properties have, too.

use crate::syntax::ast::{Name, NominalKind};
use crate::types::conform::conformances;
use crate::types::generics::associated_type;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::declaration_tables::{Member, MemberKind, Named};
use crate::types::model::ty::{NominalId, Type};
use crate::types::model::type_context::TypeContext;
use crate::types::names::name_lookup;
use crate::types::names::type_expr;
use crate::types::nominal::stored_property;
use std::rc::Rc;

/// The elementary functions of one argument.
const FUNCTIONS: [&str; 16] = [
    "exp",
    "expMinusOne",
    "cosh",
    "sinh",
    "tanh",
    "cos",
    "sin",
    "tan",
    "acosh",
    "asinh",
    "atanh",
    "acos",
    "asin",
    "atan",
    "sqrt",
    "log",
];

/// Returns the key of a member that may be synthesized component by component.
pub(super) fn key(name: &str, is_static: bool) -> Option<&'static str> {
    let key = match (name, is_static) {
        ("adding", false) => "adding",
        ("subtracting", false) => "subtracting",
        ("reciprocal", false) => "reciprocal",
        (".*", true) => ".*",
        ("_maximum", true) => "_maximum",
        ("pow", true) => "pow",
        ("root", true) => "root",
        (_, true) => FUNCTIONS.into_iter().find(|function| *function == name)?,
        _ => return None,
    };
    Some(key)
}

/// Returns the protocol that requires a member that may be synthesized component by component.
pub(super) fn requiring_protocol(key: &str) -> Option<&'static str> {
    match key {
        "adding" | "subtracting" | "scaled" => Some("VectorProtocol"),
        "reciprocal" | ".*" | "one" | "_maximum" => Some("PointwiseMultiplicative"),
        "pow" | "root" => Some("ElementaryFunctions"),
        _ => FUNCTIONS.contains(&key).then_some("ElementaryFunctions"),
    }
}

/// A stored property.
struct Component {
    name: Name,
    ty: Type,
    /// Whether the property is a `Double` or a `Float`, which have operators instead of the methods of vectors.
    is_number: bool,
}

/// Returns the text of a member that is computed component by component.
pub(super) fn member_text(cx: &mut TypeContext, n: NominalId, key: &str) -> Option<String> {
    let components = components_with(cx, n, key)?;
    match key {
        "adding" => scalar_method(cx, &components, key, "+"),
        "subtracting" => scalar_method(cx, &components, key, "-"),
        "scaled" => scalar_method(cx, &components, key, "*"),
        "one" => Some(format!("static var one: Self {{ {} }}", memberwise(&components, |_| ".one".into()))),
        "reciprocal" => {
            let value = memberwise(&components, |c| format!("self.{}.reciprocal", c.name));
            Some(format!("var reciprocal: Self {{ {value} }}"))
        }
        ".*" => {
            let value = memberwise(&components, |c| format!("lhs.{0} .* rhs.{0}", c.name));
            Some(format!("static func .* (lhs: Self, rhs: Self) -> Self {{ {value} }}"))
        }
        "_maximum" => {
            let value = memberwise(&components, |c| format!("_maximumOf(lhs.{0}, rhs.{0})", c.name));
            Some(format!("static func _maximum(_ lhs: Self, _ rhs: Self) -> Self {{ {value} }}"))
        }
        _ => Some(elementary_functions(cx, &components, key)),
    }
}

/// Returns the stored properties of a struct of the program if it declares the conformance that requires a member, all
/// stored properties have the operation, and no extension of a protocol declares the member.
fn components_with(cx: &mut TypeContext, n: NominalId, key: &str) -> Option<Vec<Component>> {
    let data = cx.defs.nominal_data(n);
    if data.is_prelude || data.kind != NominalKind::Struct {
        return None;
    }
    let (protocol, file) = (requiring_protocol(key)?, data.file);
    let Some(Named::Protocol(p)) = name_lookup::type_entry(cx, protocol, file) else { return None };
    conformances::declares(cx, n, protocol)?;
    if conformances::declares(cx, n, "_PointwiseVector").is_some() || has_default(cx, n, key) {
        return None;
    }
    let mut components = vec![];
    for i in 0..cx.defs.nominal_data(n).stored.len() {
        let ty = stored_property::stored_type(cx, n, i as u32);
        let is_number = matches!(&ty, Type::Nominal(n, _)
            if matches!(cx.defs.nominal_data(*n).builtin, Some(Builtin::Double | Builtin::Float)));
        let has_operators = is_number && protocol == "VectorProtocol";
        if !has_operators && !conformances::conforms_to(cx, &ty, p) {
            return None;
        }
        components.push(Component { name: cx.defs.nominal_data(n).stored[i].name.clone(), ty, is_number });
    }
    Some(components)
}

/// Whether an extension of a protocol of the program declares a member for the types that conform to it.
fn has_default(cx: &mut TypeContext, n: NominalId, key: &str) -> bool {
    let own = cx.defs.declared_type(n);
    let is_default = |member: &Member| !matches!(member.kind, MemberKind::Requirement(_));
    conformances::protocols_of(cx, &own).iter().any(|p| {
        let data = cx.defs.protocol_data(*p);
        !data.is_prelude && data.members.get(key).is_some_and(|all| all.iter().any(is_default))
    })
}

/// Returns the text of a value whose components are given by `part`.
fn memberwise(components: &[Component], part: impl Fn(&Component) -> String) -> String {
    let parts: Vec<String> = components.iter().map(|c| format!("{}: {}", c.name, part(c))).collect();
    format!("Self._memberwise({})", parts.join(", "))
}

/// Returns the text of a method that applies an operation with a scalar to each component, if the components have the
/// same type of scalars.
fn scalar_method(cx: &mut TypeContext, components: &[Component], key: &str, operator: &str) -> Option<String> {
    let scalar = common_scalar(cx, components)?;
    let scalar = type_expr::name_for(cx, scalar);
    let (label, argument) = if key == "scaled" { ("by", "by: scalar") } else { ("_", "scalar") };
    let value = memberwise(components, |c| match c.is_number {
        true => format!("self.{} {operator} scalar", c.name),
        false => format!("self.{}.{key}({argument})", c.name),
    });
    Some(format!("func {key}({label} scalar: {scalar}) -> Self {{ {value} }}"))
}

/// Whether the scalars of a type that conforms to `VectorProtocol` are `Double`s.
pub(super) fn has_double_scalars(cx: &mut TypeContext, n: NominalId) -> bool {
    let double = name_lookup::simple(cx, "Double");
    components_with(cx, n, "scaled")
        .is_some_and(|components| common_scalar(cx, &components).is_some_and(|scalar| scalar == double))
}

fn common_scalar(cx: &mut TypeContext, components: &[Component]) -> Option<Type> {
    let vector = name_lookup::protocol(cx, "VectorProtocol");
    let mut common: Option<Type> = None;
    for component in components {
        let scalar = match component.is_number {
            true => component.ty.clone(),
            false => {
                let scalar = Type::Associated(Rc::new(component.ty.clone()), vector, "VectorSpaceScalar".into());
                associated_type::normalize_type(cx, &scalar)
            }
        };
        if common.as_ref().is_some_and(|common| *common != scalar) {
            return None;
        }
        common = Some(scalar);
    }
    common
}

/// Returns the text of the elementary functions with a given name.
fn elementary_functions(cx: &mut TypeContext, components: &[Component], key: &str) -> String {
    let types: Vec<String> = components.iter().map(|c| type_expr::name_for(cx, c.ty.clone())).collect();
    let function = |parameters: &str, arguments: &dyn Fn(&Name) -> String| {
        let parts: Vec<String> = components
            .iter()
            .zip(&types)
            .map(|(c, ty)| format!("{}: {ty}.{key}({})", c.name, arguments(&c.name)))
            .collect();
        format!("static func {key}({parameters}) -> Self {{ Self._memberwise({}) }}\n", parts.join(", "))
    };
    let of_one = |name: &Name| format!("x.{name}");
    match key {
        "log" => function("_ x: Self", &of_one) + &function("onePlus x: Self", &|name| format!("onePlus: x.{name}")),
        "pow" => {
            function("_ x: Self, _ y: Self", &|name| format!("x.{name}, y.{name}"))
                + &function("_ x: Self, _ n: Int", &|name| format!("x.{name}, n"))
        }
        "root" => function("_ x: Self, _ n: Int", &|name| format!("x.{name}, n")),
        _ => function("_ x: Self", &of_one),
    }
}
