//! Registered initializer: calls of class initializers that have a registered derivative.
//!
//! An initializer of a class fills an instance that it receives, which may be an instance of a subclass; the registered
//! derivative of the initializer returns a new instance. Therefore the derivative belongs to a function that creates
//! the instance and fills it; an initializer that another initializer calls is differentiated through its body.

use crate::ir::graph::Op;
use crate::ir::lower::Origin;
use crate::ir::lower::builder::{Builder, Value};
use crate::ir::lower::call::{Operand, Thrown, changed};
use crate::ir::lower::dispatch::Target;
use crate::types::model::declaration_info::Function;
use crate::types::model::typed_tree;
use crate::types::model::typed_tree::{Argument, ExprKind, FunctionRef};
use std::rc::Rc;

impl Builder<'_> {
    /// Returns the declaration of a function with the parameters that its registered derivatives take.
    pub(crate) fn original(&mut self, f: typed_tree::FunctionId) -> Rc<Function> {
        let declared = self.d.function(f);
        if !declared.fills_instance {
            return declared;
        }
        let params = declared.params.iter().skip(1).cloned().collect();
        Rc::new(Function { params, ..(*declared).clone() })
    }

    /// Replaces the target of a call by the creation of an instance if the target is an initializer with a registered derivative that
    /// fills a new instance.
    pub(crate) fn or_instance_creation(&mut self, target: Target, args: &[Argument]) -> Target {
        match target {
            Target::Static(f) if self.has_registered_creation(&f, args) => Target::InstanceCreation(f),
            other => other,
        }
    }

    fn has_registered_creation(&mut self, f: &FunctionRef, args: &[Argument]) -> bool {
        let is_new = matches!(args.first(), Some(Argument::Value(own)) if matches!(own.kind, ExprKind::Struct { .. }));
        if !is_new || !self.d.function(f.function).fills_instance {
            return false;
        }
        let view = self.d.view(f, self.span);
        !self.d.rules(f, view).is_empty()
    }

    pub(crate) fn call_instance_creation(&mut self, f: &FunctionRef, operands: Vec<Operand>) -> (Value, Thrown) {
        let declared = self.original(f.function);
        let result = self.of_function(&declared, &f.generics, &declared.result);
        let view = self.d.view(f, self.span);
        let id = self.lowering.request(self.program, Origin::InstanceCreation(f.function), f.generics.clone(), view);
        let banks = self.banks(&result);
        self.invoke(Op::Call(id), &[], operands, &banks, declared.throws)
    }

    /// Builds the body of an [`Origin::InstanceCreation`]: allocates an instance and calls the initializer to fill it.
    pub(crate) fn instance_creation(&mut self, f: typed_tree::FunctionId) {
        let filling = self.d.function(f);
        let Some(class) = filling.params.first().map(|own| own.ty.clone()) else { return };
        let declared = self.original(f);
        self.params = declared.generics.clone();
        self.name_like(&declared);
        self.result = self.concrete(&declared.result);
        self.throws = declared.throws;
        self.results(&declared);
        let mut operands = self.parameters(&declared);
        self.rules(f, &declared);
        let changed = changed(&operands);
        let shape = self.shape(&class);
        let instance = self.instance(shape, &[]);
        operands.insert(0, Operand::Value(instance));
        let target = Target::Static(FunctionRef { function: f, generics: self.generics.clone() });
        let mut results = self.call_and_propagate(&target, operands);
        results.extend(changed);
        self.return_value(results);
    }
}
