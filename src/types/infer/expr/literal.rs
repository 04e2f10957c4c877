//! Literals: numbers, strings, arrays, dictionaries, tuples.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ast::{ExprKind as Ast, Ident, StringPart};
use crate::types::conform::conformances;
use crate::types::conform::superclass;
use crate::types::generics::associated_type;
use crate::types::generics::unification;
use crate::types::infer::Infer;
use crate::types::infer::call::arguments::{ArgNode, waits};
use crate::types::infer::expr::is_nil;
use crate::types::model::declaration_info::Builtin;
use crate::types::model::prelude_index::PRELUDE_FILE;
use crate::types::model::ty::Type;
use crate::types::model::type_vars::Literal;
use crate::types::model::typed_tree::{Argument, Callee, Expr, ExprKind, FunctionRef};
use crate::types::names::name_lookup;
use crate::types::names::prelude;
use std::rc::Rc;

/// The values of a collection literal, and their common type.
struct JoinedValues {
    ty: Type,
    values: Vec<Expr>,
    /// Whether no type is expected, so that the values determine the common type.
    is_open: bool,
    /// The type variable of the literal's values, if it is bound only when all values are inferred.
    variable: Option<Type>,
    /// Whether a value of the type `Any` is expected, so that values that have no type in common are of the type `Any`.
    is_any: bool,
}

impl JoinedValues {
    fn new(infer: &mut Infer, ty: Type, wanted: Option<&Type>) -> JoinedValues {
        let is_open = matches!(unification::shallow(infer.cx, &ty), Type::Var(_));
        JoinedValues { ty, values: vec![], is_open, variable: None, is_any: wanted == Some(&Type::any_value()) }
    }
}

impl Infer<'_> {
    pub(crate) fn literal_type(&mut self, literal: Literal, expected: Option<&Type>) -> Type {
        if let Some(mut ty) = expected.and_then(|t| self.known(t)) {
            while let Some(inner) = name_lookup::optional_payload(self.cx, &ty) {
                ty = unification::shallow(self.cx, &inner);
            }
            if !matches!(ty, Type::Var(_) | Type::Associated(..)) && unification::accepts_literal(self.cx, &ty, literal)
            {
                unification::constrain_by_literal(self.cx, &ty, literal);
                return ty;
            }
        }
        self.cx.vars.fresh_literal(literal)
    }

    pub(crate) fn int_literal(&mut self, value: Option<u128>, expected: Option<&Type>, span: Span) -> Expr {
        let ty = self.literal_type(Literal::Int, expected);
        match value.and_then(|v| i128::try_from(v).ok()) {
            Some(value) => Expr { kind: ExprKind::Int(value), ty, span },
            None => self.too_large(&ty, span),
        }
    }

    /// Returns the value of an integer literal that is larger than the largest `Int128` as a floating-point number, if
    /// the literal is one; otherwise reports the literal.
    fn too_large(&mut self, ty: &Type, span: Span) -> Expr {
        let digits = self.cx.sink.source_text(span).replace('_', "");
        let is_decimal = digits.bytes().all(|c| c.is_ascii_digit());
        let known = unification::shallow(self.cx, ty);
        let is = |infer: &Self, name: &str| matches!(known, Type::Nominal(n, _) if &*infer.cx.defs.nominal_data(n).name == name);
        let value = match is_decimal {
            true if is(self, "Double") => digits.parse::<f64>().ok(),
            true if is(self, "Float") => digits.parse::<f32>().ok().map(f64::from),
            _ => None,
        };
        if let Some(value) = value.filter(|value| value.is_finite()) {
            return Expr { kind: ExprKind::Float(value), ty: known, span };
        }
        let error = Diagnostic::error(Code::InvalidLiteral, span, "integer literal is too large");
        let error = if is_decimal && is(self, "UInt128") {
            error.fix("write it as text", span, format!("UInt128(\"{digits}\")!"))
        } else {
            error.help("the largest integer literal is 2^127 - 1; 'UInt128(…)' parses a larger number from a string")
        };
        self.error(error);
        self.error_expr(span)
    }

    pub(crate) fn string(&mut self, parts: &[StringPart], expected: Option<&Type>, span: Span) -> Expr {
        if let [] | [StringPart::Text(_)] = parts {
            let text: Rc<str> = match parts {
                [StringPart::Text(text)] => text.clone(),
                _ => "".into(),
            };
            let is_one = crate::types::model::syntax_query::characters(&text) == 1;
            let ty = self.literal_type(if is_one { Literal::Text } else { Literal::Words }, expected);
            return Expr { kind: ExprKind::Text(text), ty, span };
        }
        if self.file != PRELUDE_FILE
            && let Some(custom) = self.custom_interpolation(parts, expected, span)
        {
            return custom;
        }
        let string = name_lookup::simple(self.cx, "String");
        let mut out = vec![];
        for part in parts {
            match part {
                StringPart::Text(text) => {
                    out.push(Expr { kind: ExprKind::Text(text.clone()), ty: string.clone(), span });
                }
                StringPart::Interpolation(args) => {
                    let Some(arg) = self.interpolated(args, span) else { continue };
                    let value = self.expr(&arg.value, None);
                    out.push(self.described(value));
                }
            }
        }
        Expr { kind: ExprKind::Interpolation(out), ty: string, span }
    }

    /// Returns the value in an interpolation; reports any label or further arguments.
    fn interpolated<'a>(&mut self, args: &'a [ast::Arg], span: Span) -> Option<&'a ast::Arg> {
        let wrong = |at, message: String| Diagnostic::error(Code::WrongArguments, at, message);
        let Some(first) = args.first() else {
            self.error(wrong(span, "missing argument in interpolation".into()).help("write a value, as in '\\(x)'"));
            return None;
        };
        if let Some(label) = &first.label {
            let message = format!("extraneous argument label '{}:' in interpolation", label.name);
            let written = Span::new(label.span.start, first.value.span.start);
            self.error(wrong(label.span, message).fix("remove it", written, ""));
        }
        if let Some(extra) = args.get(1) {
            let (at, message) = match &extra.label {
                Some(label) => (label.span, format!("extra argument '{}' in interpolation", label.name)),
                None => (extra.value.span, "extra argument in interpolation".to_string()),
            };
            let help = "an interpolation contains one value; to format a number, use 'String(format: \"%.2f\", x)'";
            self.error(wrong(at, message).help(help));
        }
        Some(first)
    }

    /// Creates a call that returns the string that `print` would write for a value.
    fn described(&mut self, value: Expr) -> Expr {
        let (string, span, ty) = (name_lookup::simple(self.cx, "String"), value.span, value.ty.clone());
        let Some(function) = prelude::library_function(self.cx, "_describe") else { return self.error_expr(span) };
        let callee = Callee::Static(FunctionRef { function, generics: vec![ty] });
        Expr { kind: ExprKind::Call { callee, args: vec![Argument::Value(value)] }, ty: string, span }
    }

    pub(crate) fn array(&mut self, items: &[ast::Expr], expected: Option<&Type>, span: Span) -> Expr {
        let mut wanted = expected.and_then(|t| self.known(t));
        while let Some(inner) = wanted.as_ref().and_then(|t| name_lookup::optional_payload(self.cx, t)) {
            wanted = self.known(&inner);
        }
        let array = name_lookup::library_nominal(self.cx, "Array");
        let (element, literal_of) = match &wanted {
            Some(ty) if items.is_empty() && *ty == Type::any_value() => (Type::any_value(), None),
            Some(Type::Nominal(n, args)) if *n == array => (args[0].clone(), None),
            Some(ty @ (Type::Nominal(..) | Type::Param(_))) => {
                let protocol = name_lookup::protocol(self.cx, "ExpressibleByArrayLiteral");
                if conformances::conforms_to(self.cx, ty, protocol) {
                    let element =
                        associated_type::associated_type(self.cx, ty, "ArrayLiteralElement").unwrap_or(Type::Error);
                    (element, Some(ty.clone()))
                } else {
                    (self.cx.vars.fresh(), None)
                }
            }
            _ => (self.cx.vars.fresh(), None),
        };
        if items.iter().any(is_nil) {
            self.becomes_optional(&element, span);
        }
        if items.iter().all(is_nil) {
            self.note_empty_literal(&element);
        }
        self.take_optional_components(&element, items, span);
        let mut joined = JoinedValues::new(self, element, wanted.as_ref());
        items.iter().for_each(|item| self.join_value(&mut joined, item));
        let (element, values) = self.joined_values(joined, span);
        let ty = name_lookup::applied(self.cx, "Array", &[element]);
        let value = Expr { kind: ExprKind::Array(values), ty, span };
        match literal_of {
            Some(of) => self.made_from_literal(&of, "arrayLiteral", value, span),
            None => value,
        }
    }

    /// Infers the next value of a collection literal. If the values so far are `Int`s and the next value is a `Double`,
    /// all values become `Double`s, unless a type is expected.
    fn join_value(&mut self, joined: &mut JoinedValues, item: &ast::Expr) {
        if let Some(value) = self.wrapped_element(&joined.ty, item) {
            joined.values.push(value);
            return;
        }
        if joined.is_open && !joined.is_any && self.refuses_beside_numbers(&joined.ty, item) {
            return;
        }
        let is_first = joined.variable.is_none() && self.is_open_element(&joined.ty);
        let beside = match joined.is_open {
            _ if joined.is_any && matches!(item.kind, Ast::Array(_) | Ast::Dictionary(_)) => Some(Type::any_value()),
            true => self.expected_beside(&joined.ty, item),
            false if is_first && !waits(item) => None,
            false => Some(joined.ty.clone()),
        };
        let value = self.expr(item, beside.as_ref());
        if is_first && self.may_be_joined(&value.ty) {
            self.take_first_type(joined, &value.ty);
        }
        let common = match joined.is_open && self.widens_common(&joined.ty, &value.ty) {
            true => Some(name_lookup::simple(self.cx, "Double")),
            false => {
                let common = joined.variable.as_ref().and_then(|_| self.joined_type(&joined.ty, &value.ty));
                common.or_else(|| self.any_beside(joined, &value))
            }
        };
        if let Some(common) = common {
            joined.ty = common;
            let earlier = std::mem::take(&mut joined.values);
            joined.values = earlier.into_iter().map(|value| self.converted_to(value, &joined.ty)).collect();
        }
        joined.values.push(self.coerce(value, &joined.ty));
    }

    /// Returns `Any`, or an optional of it, if a value has no type in common with the values before it in a literal that
    /// is converted to `Any`.
    fn any_beside(&mut self, joined: &JoinedValues, value: &Expr) -> Option<Type> {
        if !joined.is_any || matches!(value.kind, ExprKind::Nil) {
            return None;
        }
        let snapshot = self.cx.vars.snapshot();
        let payload = name_lookup::optional_payload(self.cx, &joined.ty);
        let is_equal = [Some(&joined.ty), payload.as_ref()].into_iter().flatten().any(|ty| {
            unification::try_unify(self.cx, ty, &value.ty, value.span)
                || self.can_widen(&value.ty, ty)
                || self.needs_widening(&value.ty, ty)
        });
        self.cx.vars.rollback(snapshot);
        let any = Type::any_value();
        let common = if payload.is_some() { name_lookup::applied(self.cx, "Optional", &[any]) } else { any };
        (!is_equal && joined.ty != common).then_some(common)
    }

    /// Converts an earlier value of a collection literal to a new common type. The type of a `nil` does not matter.
    fn converted_to(&mut self, value: Expr, common: &Type) -> Expr {
        match value.kind {
            ExprKind::Nil => Expr { ty: common.clone(), ..value },
            _ => self.coerce(value, common),
        }
    }

    /// Whether nothing is known about the type of a literal's values, apart from their being optional.
    fn is_open_element(&mut self, ty: &Type) -> bool {
        let payload = name_lookup::optional_payload(self.cx, ty);
        self.is_undetermined(payload.as_ref().unwrap_or(ty))
    }

    /// Takes the type of the first value, apart from `nil`s, as the common type of a literal whose type is not expected.
    fn take_first_type(&mut self, joined: &mut JoinedValues, first: &Type) {
        let ty = match name_lookup::is_optional(self.cx, &joined.ty) && !name_lookup::is_optional(self.cx, first) {
            true => name_lookup::applied(self.cx, "Optional", std::slice::from_ref(first)),
            false => first.clone(),
        };
        joined.variable = Some(std::mem::replace(&mut joined.ty, ty));
    }

    /// Returns the common type and the values of a collection literal, and binds the type variable of the values.
    fn joined_values(&mut self, joined: JoinedValues, span: Span) -> (Type, Vec<Expr>) {
        if let Some(variable) = &joined.variable {
            self.unify_or_report(variable, &joined.ty, span);
        }
        (joined.ty, joined.values)
    }

    /// Whether a further value may change the common type of values that have a given type.
    fn may_be_joined(&mut self, ty: &Type) -> bool {
        match unification::shallow(self.cx, ty) {
            Type::Nominal(n, args) => {
                superclass::is_class(self.cx, n)
                    || self.cx.defs.nominal_data(n).builtin == Some(Builtin::Optional)
                        && args.iter().any(|payload| self.may_be_joined(payload))
            }
            Type::Tuple(parts) => parts.iter().any(|(_, part)| self.may_be_joined(part)),
            Type::Function(_) => true,
            _ => false,
        }
    }

    /// Reports a string or a truth value among the numbers of a collection literal whose type is not stated.
    fn refuses_beside_numbers(&mut self, ty: &Type, item: &ast::Expr) -> bool {
        let found = match &item.kind {
            Ast::String(_) => "String",
            Ast::Bool(_) => "Bool",
            _ => return false,
        };
        if !self.is_int(ty) && !self.is_double(ty) && !self.is_number_literal(ty) {
            return false;
        }
        let message = format!("the values of a literal have one type: this is a '{found}', and the others are numbers");
        let help = "to collect values of different types, state the type: '[Any]', or '[String: Any]' for a dictionary";
        self.error(Diagnostic::error(Code::Mismatch, item.span, message).help(help));
        true
    }

    /// Makes the element type of a literal that contains `nil` an optional.
    fn becomes_optional(&mut self, element: &Type, span: Span) {
        if let Type::Var(_) = unification::shallow(self.cx, element) {
            let payload = self.cx.vars.fresh();
            let optional = name_lookup::applied(self.cx, "Optional", &[payload]);
            unification::unify(self.cx, element, &optional, span);
        }
    }

    /// Makes the components of a literal's tuples that are `nil` in one of the tuples optionals: `[(1, 2), (3, nil)]`.
    fn take_optional_components(&mut self, element: &Type, items: &[ast::Expr], span: Span) {
        let components = |item: &'_ ast::Expr| match &item.kind {
            Ast::Tuple(parts) => Some(parts.iter().map(|(label, part)| (label.clone(), is_nil(part))).collect()),
            _ => None,
        };
        let Some(tuples) = items.iter().map(components).collect::<Option<Vec<Vec<_>>>>() else { return };
        let Some(first) = tuples.first().filter(|first| tuples.iter().all(|other| other.len() == first.len())) else {
            return;
        };
        let is_optional = |k: usize| tuples.iter().any(|tuple| tuple[k].1);
        if !matches!(unification::shallow(self.cx, element), Type::Var(_)) || !(0..first.len()).any(is_optional) {
            return;
        }
        let mut parts = vec![];
        for (k, (label, _)) in first.iter().enumerate() {
            let mut ty = self.cx.vars.fresh();
            if is_optional(k) {
                ty = name_lookup::applied(self.cx, "Optional", &[ty]);
            }
            parts.push((label.as_ref().map(|label| label.name.clone()), ty));
        }
        unification::unify(self.cx, element, &Type::Tuple(parts.into()), span);
    }

    /// Infers `true` or `false`: a `Bool`, or a value of the expected type if this type can be written as such a
    /// literal.
    pub(crate) fn bool_literal(&mut self, value: bool, expected: Option<&Type>, span: Span) -> Expr {
        let literal = Expr { kind: ExprKind::Bool(value), ty: self.bool_type(), span };
        let mut wanted = expected.and_then(|t| self.known(t));
        while let Some(inner) = wanted.as_ref().and_then(|t| name_lookup::optional_payload(self.cx, t)) {
            wanted = self.known(&inner);
        }
        match wanted.filter(|t| *t != literal.ty) {
            Some(of) => self.literal_of("ExpressibleByBooleanLiteral", &of, literal.clone()).unwrap_or(literal),
            None => literal,
        }
    }

    /// Creates a value of a type that conforms to a literal protocol from the literal.
    pub(crate) fn literal_of(&mut self, protocol: &'static str, of: &Type, literal: Expr) -> Option<Expr> {
        let protocol = name_lookup::protocol(self.cx, protocol);
        if !matches!(of, Type::Nominal(..) | Type::Param(_)) || !conformances::conforms_to(self.cx, of, protocol) {
            return None;
        }
        let (ty, span) = (of.clone(), literal.span);
        let callee = Callee::Requirement { protocol, requirement: 0, self_type: ty.clone(), generics: vec![] };
        Some(Expr { kind: ExprKind::Call { callee, args: vec![Argument::Value(literal)] }, ty, span })
    }

    /// Creates a value of a type from a collection literal.
    fn made_from_literal(&mut self, of: &Type, label: &str, value: Expr, span: Span) -> Expr {
        let label: ast::Name = label.into();
        let ast = ast::Expr { kind: Ast::Nil, span };
        let (ast, ready) = (Rc::new(ast), Some(Rc::new(value)));
        let arg = ArgNode { label: Some(label), label_span: None, ast, trailing: false, ready, is_whole: true, span };
        self.call_init(of, None, vec![arg], Some(of), span)
    }

    pub(crate) fn dictionary(&mut self, items: &[(ast::Expr, ast::Expr)], expected: Option<&Type>, span: Span) -> Expr {
        let mut wanted = expected.and_then(|t| self.known(t));
        while let Some(inner) = wanted.as_ref().and_then(|t| name_lookup::optional_payload(self.cx, t)) {
            wanted = self.known(&inner);
        }
        let dictionary = name_lookup::library_nominal(self.cx, "Dictionary");
        let (key, value) = match &wanted {
            Some(Type::Nominal(n, args)) if *n == dictionary => (args[0].clone(), args[1].clone()),
            Some(ty @ (Type::Nominal(..) | Type::Param(_))) => {
                let protocol = name_lookup::protocol(self.cx, "ExpressibleByDictionaryLiteral");
                if conformances::conforms_to(self.cx, ty, protocol) {
                    return self.literal_of_pairs(items, &ty.clone(), protocol, span);
                }
                (self.cx.vars.fresh(), self.cx.vars.fresh())
            }
            _ => (self.cx.vars.fresh(), self.cx.vars.fresh()),
        };
        let hashable = name_lookup::protocol(self.cx, "Hashable");
        unification::require(self.cx, &key, hashable, span);
        if items.iter().any(|(_, v)| is_nil(v)) {
            self.becomes_optional(&value, span);
        }
        if items.iter().all(|(_, v)| is_nil(v)) {
            self.note_empty_literal(&value);
        }
        if items.is_empty() {
            self.note_empty_literal(&key);
        }
        let mut joined = JoinedValues::new(self, value, wanted.as_ref());
        let mut keys = vec![];
        for (k, v) in items {
            let k = self.expr(k, Some(&key));
            keys.push(self.coerce(k, &key));
            self.join_value(&mut joined, v);
        }
        let (value, values) = self.joined_values(joined, span);
        let values = keys.into_iter().zip(values).collect();
        let ty = name_lookup::applied(self.cx, "Dictionary", &[key, value]);
        Expr { kind: ExprKind::Dictionary(values), ty, span }
    }

    /// Creates a value of a type from a dictionary literal, which passes the pairs in their order.
    fn literal_of_pairs(
        &mut self,
        items: &[(ast::Expr, ast::Expr)],
        of: &Type,
        protocol: crate::types::model::ty::ProtocolId,
        span: Span,
    ) -> Expr {
        let [key, value] = ["Key", "Value"].map(|name| {
            let ty = Type::Associated(Rc::new(of.clone()), protocol, name.into());
            associated_type::normalize_type(self.cx, &ty)
        });
        let pair = Type::Tuple([(None, key.clone()), (None, value.clone())].into());
        let mut pairs = vec![];
        for (k, v) in items {
            let k = self.expr(k, Some(&key));
            let k = self.coerce(k, &key);
            let v = self.expr(v, Some(&value));
            let v = self.coerce(v, &value);
            let span = k.span;
            pairs.push(Expr { kind: ExprKind::Tuple(vec![k, v]), ty: pair.clone(), span });
        }
        let ty = name_lookup::applied(self.cx, "Array", &[pair]);
        let pairs = Expr { kind: ExprKind::Array(pairs), ty, span };
        self.made_from_literal(of, "dictionaryLiteral", pairs, span)
    }

    /// Infers the creation of a tuple by the name of its type: `Point(x: 1, y: 2)`, `Void()`.
    pub(crate) fn created_tuple(&mut self, ty: &Type, args: &[ArgNode], span: Span) -> Option<Expr> {
        let Type::Tuple(types) = ty else { return None };
        let is_created = args.len() >= 2 || args.is_empty() && types.is_empty();
        if !is_created || args.iter().any(|arg| arg.trailing) {
            return None;
        }
        let label = |arg: &ArgNode| {
            let span = arg.label_span.unwrap_or(arg.span);
            arg.label.as_ref().map(|name| Ident { name: name.clone(), span })
        };
        let parts = args.iter().map(|arg| (label(arg), (*arg.ast).clone())).collect();
        let value = self.expr(&ast::Expr { kind: Ast::Tuple(parts), span }, Some(ty));
        Some(self.coerce(value, ty))
    }

    pub(crate) fn tuple(&mut self, parts: &[(Option<Ident>, ast::Expr)], expected: Option<&Type>, span: Span) -> Expr {
        let wanted = match expected.and_then(|t| self.known(t)) {
            Some(Type::Tuple(types)) if types.len() == parts.len() => Some(types),
            _ => None,
        };
        let labels = parts.iter().filter_map(|(label, _)| label.as_ref());
        if let Some(repeated) =
            labels.clone().enumerate().find(|(i, l)| labels.clone().take(*i).any(|k| k.name == l.name))
        {
            return self.fail(Code::Mismatch, repeated.1.span, "cannot create a tuple with a duplicate element label");
        }
        let mut values = vec![];
        let mut types = vec![];
        for (i, (label, part)) in parts.iter().enumerate() {
            let want = wanted.as_ref().map(|w| w[i].1.clone());
            let value = self.expr(part, want.as_ref());
            let value = match &want {
                // The tuple may be one of several values that have another type in common.
                Some(want) if self.joined_type(&value.ty, want).is_none() => self.coerce(value, want),
                _ => value,
            };
            types.push((label.as_ref().map(|l| l.name.clone()), value.ty.clone()));
            values.push(value);
        }
        Expr { kind: ExprKind::Tuple(values), ty: Type::Tuple(types.into()), span }
    }
}
