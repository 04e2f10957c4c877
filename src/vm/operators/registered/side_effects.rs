//! Side effects: determines the numbers that functions store in addition to their results.
//!
//! A registered derivative covers results only. Where its original may store numbers elsewhere — in global variables,
//! in instances, in captured variables, in parameters whose types are not differentiable — the registered function runs
//! on varied arguments, so that the stored numbers are differentiated by its body.
//!
//! Not here: the choice of the rule, and the derivatives of the results (`registered`).

use crate::bytecode::{Instruction, RuleSite};
use crate::value::slot_rewrite::{SlotChange, change_slots};
use crate::value::{Bank, Cells, Ref, References, Slot};
use crate::vm::compiler_interface::Compiler;
use crate::vm::function_table::Writes;
use crate::vm::operators::registered::RuleCall;
use crate::vm::state::machine::Machine;
use hashbrown::HashSet;

/// Whether a call of a function with the given registered derivative may store numbers in addition to its results.
pub(crate) fn any(machine: &mut Machine, compiler: &mut dyn Compiler, call: RuleCall<'_>, arguments: &Cells) -> bool {
    let RuleCall { site, rule } = call;
    let is_not_differentiable = |(counts, tangent): &(_, Option<_>)| tangent.is_none() && holds_numbers(counts);
    if site.changes && site.params.iter().any(is_not_differentiable) {
        return true;
    }
    // An error may contain values from which it was constructed.
    if site.throws && machine.original(compiler, site.function).is_ok_and(|code| !code.is_prelude) {
        return true;
    }
    match of(machine, compiler, rule.function) {
        Writes::Nothing => false,
        Writes::Something => true,
        Writes::Argument => {
            let given = functions_in(machine, site, arguments);
            given.into_iter().any(|function| of(machine, compiler, function) == Writes::Something)
        }
    }
}

fn holds_numbers(counts: &[u16; 3]) -> bool {
    counts[0] > 0 || counts[2] > 0
}

/// Returns whether a function or one of its callees stores numbers.
fn of(machine: &mut Machine, compiler: &mut dyn Compiler, function: u32) -> Writes {
    if let Some(known) = machine.writers.get(&function) {
        return *known;
    }
    let (mut open, mut met) = (vec![function], HashSet::<u32>::from_iter([function]));
    let mut writes = Writes::Nothing;
    while let Some(next) = open.pop() {
        match machine.writers.get(&next) {
            Some(Writes::Nothing) => continue,
            Some(Writes::Something) => writes = Writes::Something,
            // A function without code cannot run.
            Some(Writes::Argument) | None => {
                if let Ok(code) = machine.original(compiler, next) {
                    for instruction in &code.instructions {
                        match instruction {
                            Instruction::Call { function } => open.extend(met.insert(function.0).then_some(function.0)),
                            Instruction::NewClosure { site, .. } => {
                                let made = code.closures.get(site.0 as usize).map(|site| site.function);
                                open.extend(made.filter(|made| met.insert(*made)));
                            }
                            Instruction::CallValue { .. } if writes == Writes::Nothing => writes = Writes::Argument,
                            _ if stores(instruction) && !code.is_prelude => writes = Writes::Something,
                            _ => {}
                        }
                    }
                }
            }
        }
        if writes == Writes::Something {
            break;
        }
    }
    machine.writers.insert(function, writes);
    writes
}

/// Whether an instruction may store a number in storage that is reachable from outside of the function. Stores inside
/// of the library do not reach the program's storage.
fn stores(instruction: &Instruction) -> bool {
    use Instruction as I;
    matches!(
        instruction,
        I::StoreGlobalF { .. }
            | I::StoreGlobalR { .. }
            | I::StoreBoxF { .. }
            | I::StoreBoxR { .. }
            | I::FindMethod { .. }
    )
}

/// Returns the functions reachable from arguments and from the global variables that a function reads.
fn functions_in(machine: &Machine, site: &RuleSite, arguments: &Cells) -> HashSet<u32> {
    let mut found = Functions(HashSet::new());
    change_slots(&mut arguments.clone(), &mut found);
    let globals = site.globals.iter().filter(|(bank, _)| *bank == Bank::R);
    let globals = globals.filter_map(|(_, index)| machine.globals.r.get(*index as usize)).cloned();
    change_slots(&mut Cells::references(globals.collect::<References>()), &mut found);
    found.0
}

/// A traversal that changes no slots and collects the functions that it visits.
struct Functions(HashSet<u32>);

impl SlotChange for Functions {
    fn slot(&mut self, slot: Slot) -> Slot {
        slot
    }

    fn enters_boxes(&self) -> bool {
        true
    }

    fn object(&mut self, object: &Ref) -> Option<Vec<Slot>> {
        if let Ref::Closure(closure) = object {
            self.0.insert(closure.function);
        }
        None
    }
}
