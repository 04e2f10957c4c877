//! Functions: lowering of the parameters, the body, the results and the registered derivatives of a function.

use super::builder::{Builder, Slot, Use};
use super::call::Operand;
use super::{Key, Lowering, Origin};
use crate::ir::layout::is_small;
use crate::ir::{Function, Parameter, Program, Terminator, Trap};
use crate::types::model::declaration_info;
use crate::types::model::declaration_info::{Builtin, Declarations};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{FunctionRef, LocalId, Stmt, StmtKind};
use crate::value::Bank;

/// Lowers the function that a key denotes to a graph.
pub(super) fn lower(lowering: &mut Lowering, d: &mut dyn Declarations, program: &mut Program, key: &Key) -> Function {
    let mut builder = Builder::new(lowering, d, program, key);
    match key.origin {
        Origin::Function(f) | Origin::LocalFunction(f) | Origin::Script(f) => builder.function(f),
        Origin::NeverThrows => builder.never_throws(key),
        Origin::RegisteredTranspose { of, ref parts } => builder.registered_transpose(key, of, parts),
        Origin::Pullback { of, ref parts } => builder.pullback(of, parts),
        Origin::InoutDerivative { of, ref rule } => builder.inout_derivative_rule(key, of, rule),
        Origin::InoutDerivativeMap { of, ref rule } => builder.inout_derivative_map(of, rule),
        Origin::OpaqueProperty { ref name, is_read } => builder.opaque_property(key, name, is_read),
        Origin::CounterpartRule(ref access) => builder.counterpart_rule(key, access),
        Origin::CounterpartMap(ref access) => builder.counterpart_map(key, access),
        Origin::InstanceCreation(f) => builder.instance_creation(f),
        Origin::Thunk { like, ref to } => builder.thunk(like, to),
        Origin::Initializer(_) => builder.initializer(key),
    }
    // The trap terminates a body that is not supported, and the block after the last `return` of a body.
    builder.trap(Trap::Unreachable);
    for block in &mut builder.out.blocks {
        block.end.get_or_insert(Terminator::Trap(Trap::Unreachable));
    }
    builder.out
}

impl Builder<'_> {
    fn function(&mut self, f: typed_tree::FunctionId) {
        let declared = self.d.function(f);
        self.params = declared.generics.clone();
        self.out.name = declared.name.clone();
        self.out.span = declared.span;
        self.span = declared.span;
        self.out.is_prelude = declared.is_prelude;
        self.out.is_opaque = declared.is_opaque;
        self.result = self.concrete(&declared.result);
        self.throws = declared.throws && !matches!(self.origin, Origin::Script(_));
        self.fills_instance = declared.fills_instance;
        self.out.reads = self.reads(&FunctionRef { function: f, generics: self.generics.clone() });
        if declared.primitive.is_none()
            && let Some(body) = self.d.body(f)
        {
            self.locals = vec![Slot::Absent; body.locals.len()];
            self.body = body;
        }
        self.results(&declared);
        let regs = self.parameters(&declared);
        // The registered derivatives of a class's initializer belong to the function that allocates the instance.
        if !declared.fills_instance {
            self.rules(f, &declared);
        }
        if !self.generics.iter().all(is_small) {
            self.refuse("the generic types of this function grow without bound");
        } else if let Some(name) = &declared.primitive {
            self.primitive_body(name, &declared, regs);
        } else {
            self.body(&declared, regs);
        }
    }

    /// Declares the results of a function: the error if the function may throw, the result, and the `inout` parameters.
    pub(super) fn results(&mut self, declared: &declaration_info::Function) {
        self.out.throws = self.throws;
        if self.throws {
            self.out.results.extend([Bank::I, Bank::R]);
        }
        let result = self.result.clone();
        self.result_part(&result);
        self.out.result_len = self.out.results.len();
        for param in declared.params.iter().filter(|p| p.is_inout) {
            self.result_part(&param.ty);
        }
    }

    /// Declares the results that represent the components of a type.
    fn result_part(&mut self, ty: &Type) {
        let ty = self.concrete(ty);
        let (shape, first) = (self.shape(&ty), self.out.results.len());
        if self.has_properties(&ty)
            && let Some(tangent) = self.tangent(&ty)
        {
            self.out.result_tangents.push((first, shape, tangent));
        }
        let banks = self.banks_of(shape);
        self.out.results.extend(banks.iter());
    }

    /// Whether registers of a type may contain stored properties of a declared type. Only such properties can be
    /// omitted from the tangent vector of the type; for other types the tangent type is not computed, since that
    /// requires a search for conformances.
    fn has_properties(&mut self, ty: &Type) -> bool {
        match ty {
            Type::Tuple(fields) => fields.iter().any(|(_, ty)| self.has_properties(ty)),
            Type::Nominal(id, arguments) => match self.d.nominal(*id).builtin {
                None => true,
                Some(Builtin::Optional) => arguments.iter().any(|ty| self.has_properties(ty)),
                Some(_) => false,
            },
            _ => false,
        }
    }

    /// Allocates registers for the parameters of the lowered function.
    pub(super) fn parameters(&mut self, declared: &declaration_info::Function) -> Vec<Operand> {
        let mut all = vec![];
        for param in &declared.params {
            let shape = self.shape(&param.ty);
            let tangent = self.tangent(&param.ty);
            let banks = self.banks_of(shape);
            let regs = self.regs(&banks);
            self.dedicate(&regs, &param.name, if param.is_inout { Use::Variable } else { Use::Constant });
            self.out.parameters.push(Parameter {
                name: param.name.clone(),
                span: param.span,
                first: self.out.params.len(),
                len: regs.len(),
                tangent,
                shape,
            });
            self.out.params.extend(&regs);
            all.push(if param.is_inout { Operand::InOut(regs) } else { Operand::Value(regs) });
        }
        all
    }

    fn primitive_body(&mut self, name: &str, declared: &declaration_info::Function, params: Vec<Operand>) {
        let generics = self.generics.clone();
        let mut results = self.apply_primitive(name, declared, &generics, &params);
        for param in params {
            if let Operand::InOut(regs) = param {
                results.extend(regs);
            }
        }
        self.end(Terminator::Return(results));
    }

    fn body(&mut self, declared: &declaration_info::Function, params: Vec<Operand>) {
        if self.locals.is_empty() && self.d.body(self.owner).is_none() {
            // The function had errors, which were reported; the function is not called.
            self.trap(Trap::Unreachable);
            return;
        }
        for (i, param) in params.into_iter().enumerate() {
            let local = LocalId(i as u32);
            let (Operand::Value(regs) | Operand::InOut(regs)) = param;
            if self.body.locals.len() <= i {
                break;
            }
            if self.is_boxed(local) {
                self.bind_box(local, &regs);
            } else {
                self.locals[i] = Slot::Registers(regs);
            }
            if declared.params[i].is_inout {
                self.inouts.push(local);
            }
        }
        match self.origin {
            Origin::LocalFunction(_) => self.receive_captures_as_parameters(),
            _ => self.receive_captures(),
        }
        let body = self.body.clone();
        self.local_functions(&body.statements);
        let mut statements: &[Stmt] = &body.statements;
        // The value of a script is the value of its last expression.
        let mut last = None;
        if let (Origin::Script(_), Some((Stmt { kind: StmtKind::Expr(e), .. }, before))) =
            (&self.origin, statements.split_last())
            && !self.result.is_unit()
            && self.concrete(&e.ty) == self.result
        {
            last = Some(e);
            statements = before;
        }
        self.scopes.push(crate::ir::lower::control::exits::Scope::Block { exits: vec![] });
        let parameters: Vec<LocalId> = (0..declared.params.len().min(self.locals.len()))
            .filter(|i| !declared.params[*i].is_inout)
            .map(|i| LocalId(i as u32))
            .collect();
        self.hold_to_exit(&parameters);
        for statement in statements {
            self.statement(statement);
        }
        if !self.has_ended() {
            match last {
                Some(e) => {
                    let value = self.expr(e);
                    self.return_value(value);
                }
                None if self.result.is_unit() => self.return_value(vec![]),
                None => self.trap(Trap::Unreachable),
            }
        }
        self.scopes.pop();
    }
}
