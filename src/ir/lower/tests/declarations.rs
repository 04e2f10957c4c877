//! Test declarations: declarations without source text, and functions to build typed trees.

use crate::source::Span;
use crate::syntax::ast::{Name, NominalKind};
use crate::types::model::declaration_info::{
    Builtin, Declarations, EnumCase, Function, Global, Nominal, Param, Rule, Stored,
};
use crate::types::model::ty::{
    Existential, FunctionParam, FunctionType, NominalId, ParamId, ProtocolId, Strength, Type,
};
use crate::types::model::typed_tree::Ownership;
use crate::types::model::typed_tree::{
    Argument, Body, Callee, Capture, Expr, ExprKind, FunctionId, FunctionRef, GlobalId, Local, LocalId, Pattern,
    PatternKind, Place, Projection, ProjectionKind, Root, Stmt, StmtKind,
};
use std::rc::Rc;

/// Declarations that are built by functions instead of a type checker.
#[derive(Default)]
pub struct TestDeclarations {
    nominals: Vec<Rc<Nominal>>,
    functions: Vec<(Rc<Function>, Option<Rc<Body>>)>,
    globals: Vec<Rc<Global>>,
    pub witnesses: Vec<(ProtocolId, u32, Type, FunctionRef)>,
}

pub const SPAN: Span = Span { start: 0, end: 0 };
pub const T: ParamId = ParamId(0);

fn builtin(n: u32, args: &[Type]) -> Type {
    Type::Nominal(NominalId(n), args.to_vec().into())
}

pub fn double() -> Type {
    builtin(0, &[])
}

pub fn integer() -> Type {
    builtin(1, &[])
}

pub fn boolean() -> Type {
    builtin(2, &[])
}

pub fn array(of: Type) -> Type {
    builtin(3, &[of])
}

pub fn any() -> Type {
    Type::any_value()
}

pub fn function_type(params: &[Type], result: Type) -> Type {
    let param = |ty: &Type| FunctionParam { ty: ty.clone(), is_inout: false, no_derivative: false, autoclosure: false };
    Type::Function(Rc::new(FunctionType {
        params: params.iter().map(param).collect(),
        result,
        throws: false,
        strength: Strength::Open,
    }))
}

impl TestDeclarations {
    pub fn new() -> TestDeclarations {
        let mut declarations = TestDeclarations::default();
        let int = Builtin::Int { bits: 64, signed: true };
        for (name, builtin, params) in [
            ("Double", Builtin::Double, 0),
            ("Int", int, 0),
            ("Bool", Builtin::Bool, 0),
            ("Array", Builtin::Array, 1),
            ("Optional", Builtin::Optional, 1),
        ] {
            let id = declarations.nominal(name, NominalKind::Struct, &[], &[]);
            let nominal = Rc::make_mut(&mut declarations.nominals[id.0 as usize]);
            nominal.builtin = Some(builtin);
            nominal.params = (0..params).map(ParamId).collect();
        }
        declarations
    }

    fn nominal(
        &mut self,
        name: &str,
        kind: NominalKind,
        fields: &[(&str, Type)],
        cases: &[(&str, Vec<Type>)],
    ) -> NominalId {
        let stored = |(name, ty): &(&str, Type)| Stored {
            name: (*name).into(),
            ty: ty.clone(),
            is_let: false,
            ownership: Ownership::Strong,
            wrapped: None,
            no_derivative: false,
            span: SPAN,
        };
        let case = |(name, payload): &(&str, Vec<Type>)| EnumCase {
            name: (*name).into(),
            payload: payload.iter().map(|t| (None, t.clone())).collect(),
            span: SPAN,
        };
        self.nominals.push(Rc::new(Nominal {
            name: name.into(),
            kind,
            params: vec![],
            stored: fields.iter().map(stored).collect(),
            cases: cases.iter().map(case).collect(),
            builtin: None,
            is_indirect: false,
            superclass: None,
            style: None,
            is_prelude: false,
            span: SPAN,
        }));
        NominalId(self.nominals.len() as u32 - 1)
    }

    pub fn structure(&mut self, name: &str, fields: &[(&str, Type)]) -> Type {
        Type::Nominal(self.nominal(name, NominalKind::Struct, fields, &[]), Rc::from([]))
    }

    pub fn make_class(&mut self, ty: &Type) {
        if let Type::Nominal(id, _) = ty {
            Rc::make_mut(&mut self.nominals[id.0 as usize]).kind = NominalKind::Class;
        }
    }

    pub fn enumeration(&mut self, name: &str, cases: &[(&str, Vec<Type>)]) -> Type {
        Type::Nominal(self.nominal(name, NominalKind::Enum, &[], cases), Rc::from([]))
    }

    /// Returns the type that the next declared struct or enum will have, for types that contain themselves.
    pub fn next_type(&self) -> Type {
        Type::Nominal(NominalId(self.nominals.len() as u32), Rc::from([]))
    }

    /// Declares a function without a body; `inout` parameters have a `&` before the name.
    pub fn declare(&mut self, name: &str, params: &[(&str, Type)], result: Type) -> FunctionId {
        let param = |(name, ty): &(&str, Type)| Param {
            name: name.trim_start_matches('&').into(),
            ty: ty.clone(),
            is_inout: name.starts_with('&'),
            span: SPAN,
        };
        let function = Function {
            name: name.into(),
            generics: vec![],
            params: params.iter().map(param).collect(),
            result,
            throws: false,
            primitive: None,
            is_opaque: false,
            fills_instance: false,
            is_prelude: false,
            reads: None,
            span: SPAN,
        };
        self.functions.push((Rc::new(function), None));
        FunctionId(self.functions.len() as u32 - 1)
    }

    pub fn primitive(&mut self, name: &str, params: &[(&str, Type)], result: Type) -> FunctionId {
        let id = self.declare(name, params, result);
        self.edit(id).primitive = Some(name.into());
        id
    }

    pub fn edit(&mut self, id: FunctionId) -> &mut Function {
        Rc::make_mut(&mut self.functions[id.0 as usize].0)
    }

    /// Defines the body of a function. The locals after the parameters are given by a name (with the prefix `var` for a
    /// mutable local, and `&` for a captured one) and a type.
    pub fn define(&mut self, id: FunctionId, locals: &[(&str, Type)], statements: Vec<Stmt>) {
        let declared = self.functions[id.0 as usize].0.clone();
        let params = declared.params.iter().map(|p| local(&p.name, &p.ty, p.is_inout));
        let others = locals.iter().map(|(name, ty)| local(name, ty, false));
        let body = Body {
            locals: params.chain(others).collect(),
            params: declared.params.len(),
            captures: vec![],
            statements,
        };
        self.functions[id.0 as usize].1 = Some(Rc::new(body));
    }

    /// Sets the captures of a closure, each as an outer and an inner variable.
    pub fn capture(&mut self, id: FunctionId, captures: &[(u32, u32)]) {
        let body = Rc::make_mut(self.functions[id.0 as usize].1.as_mut().unwrap());
        body.captures = captures.iter().map(|(o, i)| Capture { outer: LocalId(*o), inner: LocalId(*i) }).collect();
    }

    pub fn variable(&mut self, name: &str, ty: Type, is_shared: bool) -> GlobalId {
        let (name, span) = (name.into(), SPAN);
        self.globals.push(Rc::new(Global {
            name,
            ty,
            is_let: false,
            lazy: None,
            is_shared,
            ownership: Ownership::Strong,
            span,
        }));
        GlobalId(self.globals.len() as u32 - 1)
    }

    pub fn constant(&mut self, name: &str, ty: Type, lazy: FunctionId) -> GlobalId {
        let (name, span) = (name.into(), SPAN);
        self.globals.push(Rc::new(Global {
            name,
            ty,
            is_let: true,
            lazy: Some(lazy),
            is_shared: true,
            ownership: Ownership::Strong,
            span,
        }));
        GlobalId(self.globals.len() as u32 - 1)
    }
}

fn local(name: &str, ty: &Type, is_inout: bool) -> Local {
    let captured = name.starts_with('&');
    let name = name.trim_start_matches('&');
    let mutable = is_inout || name.starts_with("var ");
    let name: Name = name.trim_start_matches("var ").into();
    Local { name, ty: ty.clone(), mutable, once: false, is_inout, captured, ownership: Ownership::Strong, span: SPAN }
}

impl Declarations for TestDeclarations {
    fn nominal(&mut self, id: NominalId) -> Rc<Nominal> {
        self.nominals[id.0 as usize].clone()
    }
    fn function(&mut self, id: FunctionId) -> Rc<Function> {
        self.functions[id.0 as usize].0.clone()
    }
    fn global(&mut self, id: GlobalId) -> Rc<Global> {
        self.globals[id.0 as usize].clone()
    }
    fn body(&mut self, id: FunctionId) -> Option<Rc<Body>> {
        self.functions[id.0 as usize].1.clone()
    }
    fn witness(&mut self, protocol: ProtocolId, requirement: u32, of: &Type, _: &[Type]) -> Option<FunctionRef> {
        let fits = |w: &&(ProtocolId, u32, Type, FunctionRef)| w.0 == protocol && w.1 == requirement && w.2 == *of;
        self.witnesses.iter().find(fits).map(|w| w.3.clone())
    }
    fn rules(&mut self, _: &FunctionRef, _: Option<u32>) -> Vec<Rule> {
        vec![]
    }
    fn unmet(&mut self, _: &FunctionRef, _: Option<u32>) -> Option<String> {
        None
    }
    fn view(&mut self, _: &FunctionRef, _: Span) -> Option<u32> {
        None
    }
    fn normalize(&mut self, ty: &Type) -> Type {
        ty.clone()
    }
    fn conforms(&mut self, _: &Type, _: ProtocolId) -> bool {
        true
    }
    fn is_value_of(&mut self, _: &Type, _: &Existential) -> bool {
        true
    }
    fn leaves_out(&mut self, _: &Type, _: &str) -> bool {
        false
    }

    fn own_vector(&mut self, _: &Type) -> Option<Type> {
        None
    }
    fn tangent_vector(&mut self, ty: &Type) -> Option<Type> {
        (*ty == double() || *ty == array(double())).then(|| ty.clone())
    }
    fn prelude_nominal(&mut self, _: &str) -> Option<NominalId> {
        None
    }
    fn override_of(&mut self, method: &FunctionRef, _: &Type) -> FunctionRef {
        method.clone()
    }
    fn overridden(&mut self, _: FunctionId) -> Option<bool> {
        None
    }
    fn requirement(&mut self, _: ProtocolId, _: u32) -> FunctionId {
        FunctionId(0)
    }
    fn prelude_function(&mut self, _: &str) -> Option<FunctionId> {
        None
    }
    fn moving(&mut self, _getter: FunctionId) -> Option<(FunctionId, Option<FunctionId>)> {
        None
    }
    fn by_own_equality(&mut self, _primitive: &str, _of: &Type) -> Option<FunctionId> {
        None
    }
    fn custom_descriptions(&mut self, _ty: &Type) -> Option<[FunctionRef; 2]> {
        None
    }
    fn deinits(&mut self, _ty: &Type) -> Vec<FunctionRef> {
        vec![]
    }
    fn sees_ends(&self) -> bool {
        false
    }
    fn type_name(&mut self, ty: &Type) -> String {
        match ty {
            Type::Nominal(id, _) => self.nominals[id.0 as usize].name.to_string(),
            _ => format!("{ty:?}"),
        }
    }
}

// Construction of typed trees

pub fn e(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: SPAN }
}

pub fn num(x: f64) -> Expr {
    e(ExprKind::Float(x), double())
}

pub fn int(n: i64) -> Expr {
    e(ExprKind::Int(n.into()), integer())
}

pub fn get(local: u32, ty: Type) -> Expr {
    e(ExprKind::Local(LocalId(local)), ty)
}

pub fn callee(f: FunctionId) -> Callee {
    Callee::Static(FunctionRef { function: f, generics: vec![] })
}

pub fn generic(f: FunctionId, generics: &[Type]) -> Callee {
    Callee::Static(FunctionRef { function: f, generics: generics.to_vec() })
}

pub fn call(f: FunctionId, args: Vec<Expr>, ty: Type) -> Expr {
    call_with(callee(f), args.into_iter().map(Argument::Value).collect(), ty)
}

pub fn call_with(callee: Callee, args: Vec<Argument>, ty: Type) -> Expr {
    e(ExprKind::Call { callee, args }, ty)
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: SPAN }
}

pub fn run(expr: Expr) -> Stmt {
    stmt(StmtKind::Expr(expr))
}

pub fn ret(expr: Expr) -> Stmt {
    stmt(StmtKind::Return(Some(expr)))
}

pub fn pattern(kind: PatternKind, ty: Type) -> Pattern {
    Pattern { kind, ty, span: SPAN }
}

pub fn bind(local: u32, ty: Type) -> Pattern {
    pattern(PatternKind::Bind(LocalId(local)), ty)
}

pub fn init(local: u32, value: Expr) -> Stmt {
    stmt(StmtKind::Let { pattern: bind(local, value.ty.clone()), value: Some(value) })
}

pub fn place(local: u32, ty: Type) -> Place {
    Place { root: Root::Local(LocalId(local)), path: vec![], ty, span: SPAN }
}

/// Appends a projection to a place.
pub fn at(mut place: Place, kind: ProjectionKind, ty: Type) -> Place {
    place.path.push(Projection { kind, ty: ty.clone(), span: SPAN });
    place.ty = ty;
    place
}

pub fn set(place: Place, value: Expr) -> Stmt {
    stmt(StmtKind::Assign { place, value })
}
