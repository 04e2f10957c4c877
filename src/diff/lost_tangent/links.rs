//! Links: the effects of a step on a path that loses a tangent. A step begins the path, continues it, or ends it in a
//! number.

use crate::diff::dependence_transfer;
use crate::diff::dependence_transfer::{DependenceTransfer, NativeTransfer};
use crate::ir::{Function, FunctionId, Instruction, Op, Operator, Program, Reg};
use crate::value::Bank;
use crate::value::origins::Storage;
use crate::value::shape::ShapeId;

/// One effect of a step on a path that may lose a tangent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Link {
    /// A number, or an object with numbers, becomes an integer or a string.
    Lose { number: Reg, to: Reg },
    /// An integer or a string is computed from another integer or string.
    Carry { from: Reg, to: Reg },
    /// A number is computed from an integer or a string.
    Number { from: Reg, to: Reg },
    /// An integer or a string, or an object that contains integers or strings, is stored.
    Store { place: Place, component: u32, value: Reg, replaces: bool },
    /// An integer or a string, or an object that contains integers or strings, is loaded.
    Load { place: Place, component: u32, to: Reg },
    /// An object receives the content of another object, together with the origins of the content.
    Content { from: Reg, to: Reg },
}

/// A storage location of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A storage location in a value: in an array, a record, a dictionary.
    Value(Reg, Storage),
    /// A component of a box.
    Box(Reg, Bank, u32),
    /// A component of the global variables.
    Global(Bank, u32),
    /// A captured component of the function objects of a function; in the function that runs, the object has no
    /// register.
    Captured(Option<Reg>, FunctionId, Bank, u32),
}

impl Place {
    /// Returns the register of the object, and the storage in the object.
    pub fn storage(self) -> (Option<Reg>, Storage) {
        match self {
            Place::Value(object, storage) => (Some(object), storage),
            Place::Box(object, ..) => (Some(object), Storage::Object),
            Place::Global(..) => (None, Storage::Global),
            Place::Captured(None, ..) => (None, Storage::Captured),
            Place::Captured(object, ..) => (object, Storage::Object),
        }
    }
}

/// The links of the steps of a function.
pub struct Links<'a> {
    pub program: &'a Program,
    pub f: &'a Function,
    pub id: FunctionId,
}

impl Links<'_> {
    fn bank(&self, reg: Reg) -> Bank {
        self.f.registers[reg.0 as usize].bank
    }

    /// Returns the links of a step that is not a call.
    pub fn of(&self, step: &Instruction) -> Vec<Link> {
        let mut links = vec![];
        let value = |k: usize| Place::Value(step.ins[k], Storage::Object);
        match &step.op {
            Op::Copy | Op::Take | Op::AssertDifferentiable { .. } => self.moved(step.ins[0], step.outs[0], &mut links),
            Op::Primitive(id) => self.primitive(dependence_transfer::primitive(*id), step, &mut links),
            Op::Native { name, shapes } => self.native(name, shapes, step, &mut links),
            Op::AppendText => {
                links.extend(step.ins.iter().map(|from| Link::Carry { from: *from, to: step.outs[0] }));
            }
            Op::NewRecord => self.stored(&step.ins, |_, _| Place::Value(step.outs[0], Storage::Object), &mut links),
            Op::NewBox => self.stored(&step.ins, |bank, k| Place::Box(step.outs[0], bank, k), &mut links),
            Op::Closure(id) => {
                self.stored(&step.ins, |bank, k| Place::Captured(Some(step.outs[0]), *id, bank, k), &mut links);
            }
            Op::Append(_) => {
                self.moved(step.ins[0], step.outs[0], &mut links);
                self.stored(&step.ins[1..], |_, _| Place::Value(step.outs[0], Storage::Object), &mut links);
            }
            Op::StoreElement { offset, .. } => {
                self.moved(step.ins[0], step.outs[0], &mut links);
                let place = Place::Value(step.outs[0], Storage::Object);
                self.store((place, u32::from(*offset)), step.ins[2], false, &mut links);
            }
            Op::StoreRecord { index, .. } => {
                self.moved(step.ins[0], step.outs[0], &mut links);
                let place = Place::Value(step.outs[0], Storage::Object);
                self.store((place, u32::from(*index)), step.ins[1], true, &mut links);
            }
            Op::StoreBox { bank, index } => {
                let index = u32::from(*index);
                self.store((Place::Box(step.ins[0], *bank, index), index), step.ins[1], true, &mut links);
            }
            Op::StoreGlobal { bank, index } => {
                self.store((Place::Global(*bank, *index), *index), step.ins[0], true, &mut links);
            }
            Op::LoadElement { offset, .. } | Op::TakeElement { offset, .. } => {
                self.load((value(0), u32::from(*offset)), step, &mut links);
            }
            Op::LoadRecord { index, .. } | Op::TakeRecord { index } => {
                self.load((value(0), u32::from(*index)), step, &mut links);
            }
            Op::LoadBox { bank, index } => {
                let index = u32::from(*index);
                self.load((Place::Box(step.ins[0], *bank, index), index), step, &mut links);
            }
            Op::TakeBox { index } => {
                let index = u32::from(*index);
                self.load((Place::Box(step.ins[0], Bank::R, index), index), step, &mut links);
            }
            Op::LoadGlobal { bank, index } => self.load((Place::Global(*bank, *index), *index), step, &mut links),
            Op::TakeGlobal { index } => self.load((Place::Global(Bank::R, *index), *index), step, &mut links),
            Op::Capture { bank, index } => {
                let index = u32::from(*index);
                self.load((Place::Captured(None, self.id, *bank, index), index), step, &mut links);
            }
            Op::Operator(Operator::NoDerivative { .. } | Operator::WithDerivative { .. }) => {
                step.ins.iter().zip(&step.outs).for_each(|(from, to)| self.moved(*from, *to, &mut links));
            }
            _ => {}
        }
        links
    }

    /// Adds the links of a step that moves the content of one register to another.
    fn moved(&self, from: Reg, to: Reg, links: &mut Vec<Link>) {
        if self.bank(to) != Bank::F {
            links.push(Link::Carry { from, to });
        }
        if self.bank(to) == Bank::R {
            links.push(Link::Content { from, to });
        }
    }

    fn primitive(&self, transfer: DependenceTransfer, step: &Instruction, links: &mut Vec<Link>) {
        let to = step.outs[0];
        let yields_number = self.bank(to) == Bank::F;
        for &from in &step.ins {
            let is_number = self.bank(from) == Bank::F;
            match transfer {
                DependenceTransfer::Flat => {}
                DependenceTransfer::Lose | DependenceTransfer::Carry | DependenceTransfer::Smooth
                    if yields_number && !is_number =>
                {
                    links.push(Link::Number { from, to });
                }
                DependenceTransfer::Lose if is_number && !yields_number => links.push(Link::Lose { number: from, to }),
                DependenceTransfer::Lose | DependenceTransfer::Carry if !is_number => {
                    links.push(Link::Carry { from, to })
                }
                DependenceTransfer::Lose | DependenceTransfer::Carry | DependenceTransfer::Smooth => {}
            }
        }
    }

    /// Adds the links of components that are stored together, each as a component of its bank.
    fn stored(&self, components: &[Reg], place: impl Fn(Bank, u32) -> Place, links: &mut Vec<Link>) {
        let mut next = [0; 3];
        for reg in components {
            let bank = self.bank(*reg);
            let component = next[bank as usize];
            next[bank as usize] += 1;
            self.store((place(bank, component), component), *reg, false, links);
        }
    }

    fn store(&self, (place, component): (Place, u32), value: Reg, replaces: bool, links: &mut Vec<Link>) {
        if self.bank(value) != Bank::F {
            links.push(Link::Store { place, component, value, replaces });
        }
    }

    fn load(&self, (place, component): (Place, u32), step: &Instruction, links: &mut Vec<Link>) {
        if self.bank(step.outs[0]) != Bank::F {
            links.push(Link::Load { place, component, to: step.outs[0] });
        }
    }

    fn native(&self, name: &str, shapes: &[ShapeId], step: &Instruction, links: &mut Vec<Link>) {
        match dependence_transfer::native(name) {
            NativeTransfer::Lose => {
                let objects = step.ins.iter().filter(|r| self.bank(**r) == Bank::R);
                for (number, to) in objects.flat_map(|number| step.outs.iter().map(move |to| (*number, *to))) {
                    links.push(Link::Lose { number, to });
                }
                self.made_of_all(step, false, links);
            }
            NativeTransfer::Carry if !dependence_transfer::selects(name) => {
                let has_text = step.ins.iter().any(|r| self.bank(*r) == Bank::R);
                self.made_of_all(step, has_text, links);
            }
            NativeTransfer::Container => {
                if let Some((_, takes, gives)) = CONTAINERS.iter().find(|(known, ..)| *known == name) {
                    self.container((takes, gives), shapes, step, links);
                }
            }
            NativeTransfer::Carry | NativeTransfer::Nothing | NativeTransfer::Unknown => {}
        }
    }

    /// Adds the links of a step whose results depend on all operands, except for integers that only select a part of a
    /// string.
    fn made_of_all(&self, step: &Instruction, integers_select: bool, links: &mut Vec<Link>) {
        for &to in &step.outs {
            for &from in &step.ins {
                match (self.bank(from), self.bank(to)) {
                    (Bank::F, Bank::F) => {}
                    (Bank::F, _) => links.push(Link::Lose { number: from, to }),
                    (Bank::I, _) if integers_select => {}
                    (Bank::I | Bank::R, Bank::F) => links.push(Link::Number { from, to }),
                    (Bank::I, Bank::I) => links.push(Link::Carry { from, to }),
                    (Bank::I, Bank::R) => self.into(from, to, links),
                    (Bank::R, Bank::I) => self.out_of(from, to, links),
                    (Bank::R, Bank::R) => {
                        links.push(Link::Content { from, to });
                        self.out_of(from, to, links);
                        self.into(from, to, links);
                    }
                }
            }
        }
    }

    /// Adds the link of a string, or of the content of an object, that becomes another string or an integer.
    fn out_of(&self, from: Reg, to: Reg, links: &mut Vec<Link>) {
        links.push(Link::Carry { from, to });
        links.push(Link::Load { place: Place::Value(from, Storage::Whole), component: 0, to });
    }

    /// Adds the link of a string or an integer that becomes another string, or an object that contains several strings
    /// or integers.
    fn into(&self, from: Reg, to: Reg, links: &mut Vec<Link>) {
        links.push(Link::Carry { from, to });
        let place = Place::Value(to, Storage::Whole);
        links.push(Link::Store { place, component: 0, value: from, replaces: false });
    }

    /// Adds the links of a library function on containers, by the pattern of its operands and results.
    fn container(&self, (takes, gives): (&str, &str), shapes: &[ShapeId], step: &Instruction, links: &mut Vec<Link>) {
        let (ins, outs) = (self.parts(takes, shapes, &step.ins), self.parts(gives, shapes, &step.outs));
        let containers = |parts: &[(char, Vec<Reg>)]| -> Vec<Reg> {
            parts.iter().filter(|(what, _)| *what == 'C').flat_map(|(_, regs)| regs.clone()).collect()
        };
        let (from, to) = (containers(&ins), containers(&outs));
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
            links.push(Link::Content { from, to });
        }
        for (what, regs) in &ins {
            if let (Some(storage), Some(object)) = (storage(*what), to.last()) {
                self.components(
                    *what,
                    regs,
                    |component, value| {
                        let place = Place::Value(*object, storage);
                        Link::Store { place, component, value, replaces: false }
                    },
                    links,
                );
            }
        }
        for (what, regs) in &outs {
            // A container that is changed retains its former content.
            if let (Some(storage), Some(object)) = (storage(*what), to.last().or(from.first())) {
                self.components(
                    *what,
                    regs,
                    |component, to| Link::Load { place: Place::Value(*object, storage), component, to },
                    links,
                );
            }
        }
    }

    fn components(&self, what: char, regs: &[Reg], link: impl Fn(u32, Reg) -> Link, links: &mut Vec<Link>) {
        let mut next = [0; 3];
        for reg in regs {
            let bank = self.bank(*reg);
            // A value of any type may be returned as a part of an operand.
            let component = if what == 'A' { 0 } else { next[bank as usize] };
            next[bank as usize] += 1;
            if bank != Bank::F {
                links.push(link(component, *reg));
            }
        }
    }

    /// Returns the registers of each part of a pattern, as the function [`parts`] does.
    fn parts(&self, pattern: &str, shapes: &[ShapeId], regs: &[Reg]) -> Vec<(char, Vec<Reg>)> {
        parts(self.program, pattern, shapes, regs)
    }
}

/// Returns the registers of each part of the operands or results of a library function on containers.
fn parts(program: &Program, pattern: &str, shapes: &[ShapeId], regs: &[Reg]) -> Vec<(char, Vec<Reg>)> {
    let size = |shape: Option<&ShapeId>| {
        let layout = shape.map(|shape| program.shapes.layout(*shape)).unwrap_or_default();
        (layout.f + layout.i + layout.r) as usize
    };
    let mut rest = regs.iter().copied();
    let part = |what| {
        let count = match what {
            'E' | 'K' | 'A' => size(shapes.first()),
            'V' => size(shapes.get(1)),
            _ => 1,
        };
        (what, rest.by_ref().take(count).collect())
    };
    pattern.chars().map(part).collect()
}

/// Returns the operands of a library function on containers, without integers that only select: an index, a count, a
/// key to search for.
pub fn carried(program: &Program, f: &Function, (name, shapes): (&str, &[ShapeId]), ins: &[Reg]) -> Vec<Reg> {
    let Some((_, takes, gives)) = CONTAINERS.iter().find(|(known, ..)| *known == name) else { return ins.to_vec() };
    let looks_for_key = gives.contains('V');
    let selects = |what: char, reg: &Reg| {
        f.registers[reg.0 as usize].bank == Bank::I && (what == 'n' || what == 'K' && looks_for_key)
    };
    let parts = parts(program, takes, shapes, ins).into_iter();
    parts.flat_map(|(what, regs)| regs.into_iter().filter(move |reg| !selects(what, reg))).collect()
}

/// Returns the storage that holds a part of the operands or results of a library function.
fn storage(what: char) -> Option<Storage> {
    match what {
        'E' | 'A' => Some(Storage::Object),
        'K' => Some(Storage::Keys),
        'V' => Some(Storage::Values),
        _ => None,
    }
}

/// The patterns of the operands and results of library functions on containers: a container, an element, a key, a
/// value, a value of any type, and `n` for an index or a count.
const CONTAINERS: &[(&str, &str, &str)] = &[
    ("array.concat", "CC", "C"),
    ("array.appendContents", "CC", "C"),
    ("array.repeating", "En", "C"),
    ("array.removeLast", "C", "EC"),
    ("array.remove", "Cn", "EC"),
    ("array.insert", "CEn", "C"),
    ("array.slice", "Cnn", "C"),
    ("array.reversed", "C", "C"),
    ("array.sorted", "Cn", "Cn"),
    ("array.swap", "Cnn", "C"),
    ("array.reserve", "Cn", "C"),
    ("dictionary.keys", "C", "C"),
    ("dictionary.values", "C", "C"),
    ("dictionary.get", "CK", "nV"),
    ("dictionary.take", "CK", "nVC"),
    ("dictionary.set", "CKnV", "C"),
    ("dictionary.takeAt", "Cn", "VC"),
    ("dictionary.keyAt", "Cn", "K"),
    ("dictionary.keyThere", "Cn", "K"),
    ("dictionary.valueAt", "Cn", "V"),
    ("dictionary.valueThere", "Cn", "V"),
    ("dictionary.add", "CnKV", "C"),
    ("dictionary.replaceAt", "CnV", "C"),
    ("dictionary.removeAt", "Cn", "C"),
    ("set.elements", "C", "C"),
    ("set.keyAt", "Cn", "K"),
    ("set.keyThere", "Cn", "K"),
    ("set.add", "CnK", "C"),
    ("set.insert", "CK", "C"),
    ("set.remove", "CK", "C"),
    ("set.removeAt", "Cn", "C"),
    ("any.box", "A", "C"),
    ("any.as", "C", "nA"),
];
