//! Own numbers: the numbers of an array that has one owner, as values of machine code.

use super::context::offsets;
use super::layout::{INLINE, Layout};
use crate::value::Bank;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

const FLAGS: MemFlagsData = MemFlagsData::trusted();

/// The numbers of an array that has one owner and no slots; otherwise there are none, and there is no room.
#[derive(Clone, Copy)]
pub struct OwnNumbers {
    /// The address of the array.
    pub object: Value,
    /// The address of the first number.
    pub first: Value,
    /// The number of numbers.
    pub count: Value,
    /// The number of numbers for which memory is allocated.
    pub room: Value,
    /// The address where the number of numbers is stored.
    pub counter: Value,
}

impl OwnNumbers {
    /// The number of fields.
    pub const FIELDS: usize = 5;

    /// Makes it from its fields.
    pub fn of([object, first, count, room, counter]: [Value; OwnNumbers::FIELDS]) -> OwnNumbers {
        OwnNumbers { object, first, count, room, counter }
    }

    /// Returns the fields.
    pub fn fields(&self) -> [Value; OwnNumbers::FIELDS] {
        let OwnNumbers { object, first, count, room, counter } = *self;
        [object, first, count, room, counter]
    }

    /// Looks into the array of a reference, which is at an address and an offset.
    pub fn look_up(builder: &mut FunctionBuilder<'_>, layout: &Layout, (base, at): (Value, i32)) -> OwnNumbers {
        let vector = layout.vectors[Bank::F as usize];
        let of_bank = layout.cells + layout.banks[Bank::F as usize];
        let tag = builder.ins().load(types::I8, FLAGS, base, at + layout.tag);
        let is_array = builder.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(layout.tags.cells));
        let object = builder.ins().load(types::I64, FLAGS, base, at + layout.object);
        let nothing = builder.ins().iconst(types::I64, layout.nothing as i64);
        let object = builder.ins().select(is_array, object, nothing);
        let owners = builder.ins().load(types::I64, FLAGS, object, layout.owners);
        let weak = builder.ins().load(types::I64, FLAGS, object, layout.weak);
        let slots = builder.ins().load(types::I64, FLAGS, object, layout.cells + layout.slots);
        let (owners, weak) = (builder.ins().bxor_imm_s(owners, 1), builder.ins().bxor_imm_s(weak, 1));
        let obstacles = builder.ins().bor(owners, weak);
        let obstacles = builder.ins().bor(obstacles, slots);
        let capacity = builder.ins().load(types::I64, FLAGS, object, of_bank + vector.capacity);
        let is_long = builder.ins().icmp_imm_s(IntCC::UnsignedGreaterThan, capacity, INLINE);
        let address = builder.ins().load(types::I64, FLAGS, object, of_bank + vector.address);
        let inline = builder.ins().iadd_imm_s(object, i64::from(of_bank + vector.inline));
        let first = builder.ins().select(is_long, address, inline);
        let count = builder.ins().load(types::I64, FLAGS, object, of_bank + vector.count);
        let count = builder.ins().select(is_long, count, capacity);
        let few = builder.ins().iconst(types::I64, INLINE);
        let room = builder.ins().select(is_long, capacity, few);
        let none = builder.ins().iconst(types::I64, 0);
        let (count, room) = (builder.ins().select(obstacles, none, count), builder.ins().select(obstacles, none, room));
        let long = builder.ins().iadd_imm_s(object, i64::from(of_bank + vector.count));
        let short = builder.ins().iadd_imm_s(object, i64::from(of_bank + vector.capacity));
        let counter = builder.ins().select(is_long, long, short);
        OwnNumbers { object, first, count, room, counter }
    }

    /// Stores the fields in the context, in place of the operands of a step.
    pub fn store(&self, builder: &mut FunctionBuilder<'_>, context: Value) {
        for (k, field) in self.fields().into_iter().enumerate() {
            builder.ins().store(FLAGS, field, context, offsets::PASSED + 8 * k as i32);
        }
    }

    /// Loads the fields from the context.
    pub fn load(builder: &mut FunctionBuilder<'_>, context: Value) -> OwnNumbers {
        let at = |k: usize| offsets::PASSED + 8 * k as i32;
        OwnNumbers::of(std::array::from_fn(|k| builder.ins().load(types::I64, FLAGS, context, at(k))))
    }
}
