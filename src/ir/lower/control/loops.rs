//! Loops: lowering of loops, whose conditions are tested before the loop and at its end, so that an iteration needs one
//! jump.

use crate::ir::graph::{BlockId, Op, Reg};
use crate::ir::lower::builder::{Builder, Use, Value};
use crate::ir::lower::call::Operand;
use crate::ir::lower::control::exits::Scope;
use crate::ir::lower::control::pattern::bound_by;
use crate::ir::lower::dispatch::Target;
use crate::ir::lower::effects::may_write;
use crate::ir::lower::place::{Location, stride};
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{
    Argument, Callee, Condition, Expr, ExprKind, FunctionRef, Iteration, LabelId, Pattern, Stmt,
};
use crate::value::Bank;
use crate::value::shape::{Shape, ShapeId};

/// The parts of a `for` loop that are applied to each element.
pub(crate) struct ForParts<'t> {
    pub pattern: &'t Pattern,
    pub filter: Option<&'t Expr>,
    pub body: &'t [Stmt],
}

/// The collections over which a `for` loop steps without calling an iterator.
enum DirectCollection {
    Array(ShapeId),
    Text,
}

/// The size of a loop's condition up to which the condition is lowered twice.
const MAX_DUPLICATED_SIZE: usize = 12;

impl Builder<'_> {
    pub(crate) fn while_loop(&mut self, label: LabelId, conditions: &[Condition], body: &[Stmt]) {
        let (start, test, after) = (self.block(), self.block(), self.block());
        let twice = size(conditions) <= MAX_DUPLICATED_SIZE;
        if twice {
            self.conditions(conditions, after);
            self.jump(start);
        } else {
            self.jump(test);
            self.switch_to_block(test);
            self.conditions(conditions, after);
            self.jump(start);
        }
        self.switch_to_block(start);
        self.scopes.push(Scope::Labeled { label, after, next: Some(test) });
        self.block_with(&bound_by(conditions), body);
        self.scopes.pop();
        self.jump(test);
        if twice {
            self.switch_to_block(test);
            self.conditions(conditions, after);
            self.jump(start);
        }
        self.switch_to_block(after);
    }

    pub(crate) fn repeat_loop(&mut self, label: LabelId, body: &[Stmt], condition: &Expr) {
        let (start, test, after) = (self.block(), self.block(), self.block());
        self.jump(start);
        self.switch_to_block(start);
        self.scopes.push(Scope::Labeled { label, after, next: Some(test) });
        self.block_of(body);
        self.scopes.pop();
        self.jump(test);
        self.switch_to_block(test);
        self.condition(condition, start, after);
        self.switch_to_block(after);
    }

    pub(crate) fn for_loop(&mut self, label: LabelId, sequence: &Expr, iteration: &Iteration, parts: &ForParts<'_>) {
        match iteration {
            Iteration::Range => self.for_range(label, sequence, parts, false),
            Iteration::ClosedRange => self.for_range(label, sequence, parts, true),
            Iteration::Array => {
                let value = self.expr(sequence);
                let zero = self.int(0);
                let shape = self.shape(&sequence.ty);
                self.for_array(label, value, zero, shape, parts);
            }
            Iteration::Iterator { make, iterator, next } => {
                let value = self.expr(sequence);
                self.for_iterator(label, value, make, iterator, next, parts);
            }
        }
    }

    /// Lowers the body of a `for` loop, with the element bound to the pattern; the body ends in the block `next`.
    fn loop_iteration(&mut self, label: LabelId, element: &[Reg], parts: &ForParts<'_>, next: BlockId, after: BlockId) {
        self.scopes.push(Scope::Labeled { label, after, next: Some(next) });
        self.matches(parts.pattern, element, next);
        if let Some(filter) = parts.filter {
            let chosen = self.block();
            self.condition(filter, chosen, next);
            self.switch_to_block(chosen);
        }
        self.block_with(&parts.pattern.bound(), parts.body);
        self.scopes.pop();
        self.jump(next);
        self.switch_to_block(next);
    }

    /// Creates a counter that only the loop changes. All other code treats it as constant.
    fn counter(&mut self, from: Reg) -> Reg {
        let counter = self.value(Op::Copy, Bank::I, &[from]);
        self.dedicate(&[counter], "", Use::Constant);
        counter
    }

    /// Returns the bounds of a range. For a range expression the bounds are the operands, and the operator is called
    /// only for an invalid range, to report the error; literals are compared here.
    fn bounds(&mut self, range: &Expr, closed: bool) -> (Value, Option<FunctionRef>) {
        let operator = if closed { "..." } else { "..<" };
        if let ExprKind::Call { callee, args } = &range.kind {
            let called = self.resolve(callee);
            if let (Some(Target::Static(f)), [Argument::Value(lower), Argument::Value(upper)]) = (called, &args[..]) {
                let declared = self.d.function(f.function);
                if declared.is_prelude && declared.name.ends_with(operator) {
                    let is_valid = matches!((&lower.kind, &upper.kind), (ExprKind::Int(a), ExprKind::Int(b)) if a <= b);
                    return (self.exprs([lower, upper]).concat(), (!is_valid).then_some(f));
                }
            }
        }
        (self.expr(range), None)
    }

    fn for_range(&mut self, label: LabelId, range: &Expr, parts: &ForParts<'_>, closed: bool) {
        let (span, range_span) = (self.span, range.span);
        let (range, operator) = self.bounds(range, closed);
        self.span = span;
        let upper = self.keep(vec![range[1]])[0];
        self.make_permanent(&[upper]);
        let counter = self.counter(range[0]);
        let one = self.int(1);
        let (start, next, empty, after) = (self.block(), self.block(), self.block(), self.block());
        let any = self.primitive(if closed { "int.le" } else { "int.lt" }, &[counter, upper]);
        self.branch(any, start, empty);
        self.switch_to_block(empty);
        if let Some(operator) = operator {
            self.span = range_span;
            self.call_function(&operator, vec![Operand::Value(vec![counter]), Operand::Value(vec![upper])]);
            self.span = span;
        }
        self.jump(after);
        self.switch_to_block(start);
        self.loop_iteration(label, &[counter], parts, next, after);
        self.span = span;
        if closed {
            // The upper bound may be the greatest integer: the counter is compared before it is incremented.
            let advance = self.block();
            let more = self.primitive("int.lt", &[counter, upper]);
            self.branch(more, advance, after);
            self.switch_to_block(advance);
            self.increase(counter, one);
            self.jump(start);
        } else {
            self.increase(counter, one);
            let more = self.primitive("int.lt", &[counter, upper]);
            self.branch(more, start, after);
        }
        self.switch_to_block(after);
    }

    fn increase(&mut self, counter: Reg, one: Reg) {
        match crate::native::primitive("int.add") {
            Some(add) => self.emit(Op::Primitive(add), &[counter], &[counter, one]),
            None => self.refuse("there is no primitive `int.add`"),
        }
    }

    /// Iterates over the elements of an array, beginning at the index `first`.
    fn for_array(&mut self, label: LabelId, array: Value, first: Reg, shape: ShapeId, parts: &ForParts<'_>) {
        let span = self.span;
        let Shape::Array(element) = *self.program.shapes.get(shape) else {
            self.refuse("a loop over this type is not supported");
            return;
        };
        // The loop iterates over the original elements, even if the body changes the variable.
        let array = self.keep(array);
        self.make_permanent(&array);
        let banks = self.banks_of(element);
        let count = self.value(Op::Count, Bank::I, &array);
        self.make_permanent(&[count]);
        let counter = self.counter(first);
        let one = self.int(1);
        let (start, next, after) = (self.block(), self.block(), self.block());
        let any = self.primitive("int.lt", &[counter, count]);
        self.branch(any, start, after);
        self.switch_to_block(start);
        let at = Location::Element {
            array: Box::new(Location::Registers(array)),
            index: counter,
            stride: stride(&banks),
            cells: crate::ir::layout::cells(&banks),
        };
        let value = self.load(&at);
        self.make_permanent(&value);
        self.loop_iteration(label, &value, parts, next, after);
        self.span = span;
        self.increase(counter, one);
        let more = self.primitive("int.lt", &[counter, count]);
        self.branch(more, start, after);
        self.switch_to_block(after);
    }

    /// Iterates over the characters of a string, beginning at the string index `first`.
    fn for_text(&mut self, label: LabelId, text: Value, first: Reg, parts: &ForParts<'_>) {
        let span = self.span;
        let text = self.keep(text);
        self.make_permanent(&text);
        let size = self.value(Op::Native { name: "text.size", shapes: vec![] }, Bank::I, &text);
        self.make_permanent(&[size]);
        let place = self.counter(first);
        let (start, next, after) = (self.block(), self.block(), self.block());
        let any = self.primitive("int.lt", &[place, size]);
        self.branch(any, start, after);
        self.switch_to_block(start);
        let character = self.regs(&[Bank::R]);
        let after_character = self.regs(&[Bank::I]);
        let step = Op::Native { name: "text.next", shapes: vec![] };
        self.emit(step, &[character[0], after_character[0]], &[text[0], place]);
        self.make_permanent(&character);
        self.emit(Op::Copy, &[place], &after_character);
        self.loop_iteration(label, &character, parts, next, after);
        self.span = span;
        let more = self.primitive("int.lt", &[place, size]);
        self.branch(more, start, after);
        self.switch_to_block(after);
    }

    /// Returns the collection over which an iterator of the prelude steps, if the iterator consists of an array or a
    /// string and an index: a call of its `next` would cost several times as much as a direct loop.
    fn stepped_through(&mut self, iterator: &Type) -> Option<DirectCollection> {
        let Type::Nominal(id, _) = self.concrete(iterator) else { return None };
        let nominal = self.d.nominal(id);
        if !nominal.is_prelude {
            return None;
        }
        let name = nominal.name.clone();
        let shape = self.shape(iterator);
        match (&*name, self.program.shapes.get(shape)) {
            ("StringIterator", _) => Some(DirectCollection::Text),
            ("ArrayIterator", Shape::Struct { fields, .. }) => {
                fields.first().map(|(_, array)| DirectCollection::Array(*array))
            }
            _ => None,
        }
    }

    fn for_iterator(
        &mut self,
        label: LabelId,
        sequence: Value,
        make: &Callee,
        iterator: &Type,
        next: &Callee,
        parts: &ForParts<'_>,
    ) {
        let (Some(make), Some(advance)) = (self.resolve(make), self.resolve(next)) else {
            self.refuse("a loop over a sequence of unknown type is not supported");
            return;
        };
        let state = self.call_and_propagate(&make, vec![Operand::Value(sequence)]);
        match (self.stepped_through(iterator), &state[..]) {
            (Some(DirectCollection::Array(array)), [elements, position]) => {
                return self.for_array(label, vec![*elements], *position, array, parts);
            }
            (Some(DirectCollection::Text), [text, place]) => return self.for_text(label, vec![*text], *place, parts),
            _ => {}
        }
        let banks = self.banks(iterator);
        let regs = self.regs(&banks);
        self.dedicate(&regs, "", Use::Variable);
        self.assign(&regs, &state);
        let (start, body, after) = (self.block(), self.block(), self.block());
        self.jump(start);
        self.switch_to_block(start);
        let element = self.call_and_propagate(&advance, vec![Operand::InOut(regs)]);
        self.make_permanent(&element);
        self.branch(element[0], body, after);
        self.switch_to_block(body);
        let next = self.block();
        self.loop_iteration(label, &element[1..], parts, next, after);
        self.jump(start);
        self.switch_to_block(after);
    }
}

/// Returns the size of the code of conditions; conditions with patterns or closures count as too large to be lowered
/// twice.
fn size(conditions: &[Condition]) -> usize {
    conditions
        .iter()
        .map(|condition| match condition {
            Condition::Bool(e) => weight(e),
            Condition::Match { .. } => MAX_DUPLICATED_SIZE + 1,
        })
        .sum()
}

fn weight(e: &Expr) -> usize {
    let args = |args: &[Argument]| -> usize {
        args.iter()
            .map(|a| match a {
                Argument::Value(e) => weight(e),
                Argument::InOut(_) => MAX_DUPLICATED_SIZE,
            })
            .sum()
    };
    match &e.kind {
        _ if may_write(e) => MAX_DUPLICATED_SIZE + 1,
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Local(_) | ExprKind::Global(_) => 1,
        ExprKind::Field { base, .. } | ExprKind::Element { base, .. } => 1 + weight(base),
        ExprKind::Call { args: given, .. } => 1 + args(given),
        ExprKind::Ternary { condition, then, otherwise } => 1 + weight(condition) + weight(then) + weight(otherwise),
        _ => MAX_DUPLICATED_SIZE + 1,
    }
}
