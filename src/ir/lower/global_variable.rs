//! Global variables: assigns registers of the script to global variables that no other code uses, and global storage to
//! all others.

use super::builder::{Builder, Use};
use super::place::Location;
use super::{Key, Lowering, Origin};
use crate::ir::{Op, Program, Terminator};
use crate::types::model::declaration_info::Declarations;
use crate::types::model::ty::Type;
use crate::types::model::typed_tree::{FunctionRef, GlobalId};
use crate::value::Bank;
use std::rc::Rc;

/// The storage of a global variable.
#[derive(Clone, Debug)]
pub(in crate::ir) struct Storage {
    /// The components of the global variable: bank and index.
    cells: Vec<(Bank, u32)>,
    /// The integer that states whether a lazy global variable is initialized.
    ready: Option<u32>,
}

impl Lowering {
    /// Returns the components of a global variable in global storage, each by its bank and index.
    pub fn storage(&self, global: GlobalId) -> Option<&[(Bank, u32)]> {
        self.globals.get(&global).map(|storage| &storage.cells[..])
    }

    /// Allocates the storage of a global variable that no statement declares.
    pub fn allocate(&mut self, d: &mut dyn Declarations, program: &mut Program, (global, ty): (GlobalId, &Type)) {
        let shape = self.layouts.shape(d, &mut program.shapes, ty);
        let mut next = |bank: Bank| {
            let count = &mut program.globals[bank as usize];
            *count += 1;
            *count - 1
        };
        let banks = self.layouts.components(&program.shapes, shape);
        let cells = banks.iter().map(|bank| (*bank, next(*bank))).collect();
        self.globals.insert(global, Storage { cells, ready: None });
    }
}

impl Builder<'_> {
    /// Whether a global variable is stored in registers of the function that is lowered.
    pub fn lives_in_script(&mut self, global: GlobalId) -> bool {
        let declared = self.d.global(global);
        matches!(self.origin, Origin::Script(_))
            && !self.lowering.interactive
            && !declared.is_shared
            && declared.lazy.is_none()
            && !self.outlives_script(&declared.ty)
    }

    /// Whether a global variable must be retained after the end of the script, because the program could observe the
    /// end of its lifetime.
    fn outlives_script(&mut self, ty: &Type) -> bool {
        self.d.sees_ends() && self.banks(ty).contains(&Bank::R)
    }

    /// Returns the place of a global variable, after adding its initialization if the variable is lazy.
    pub fn global(&mut self, global: GlobalId) -> Location {
        let ownership = self.d.global(global).ownership;
        self.initialized_global(global).kept(ownership)
    }

    fn initialized_global(&mut self, global: GlobalId) -> Location {
        if self.lives_in_script(global) {
            if let Some(regs) = self.script_globals.get(&global) {
                return Location::Registers(regs.clone());
            }
            let declared = self.d.global(global);
            let banks = self.banks(&declared.ty);
            let regs = self.regs(&banks);
            self.zero_at_entry(&regs);
            self.dedicate(&regs, &declared.name, Use::Variable);
            self.script_globals.insert(global, regs.clone());
            return Location::Registers(regs);
        }
        let at = self.global_storage(global);
        if let Some(ready) = self.lowering.globals[&global].ready {
            self.ensure(global, ready);
        }
        at
    }

    /// Returns the place of a global variable in global storage.
    pub fn global_storage(&mut self, global: GlobalId) -> Location {
        if let Some(storage) = self.lowering.globals.get(&global) {
            let cells = storage.cells.clone();
            return Location::Global { cells, stored: self.stored_global(global) };
        }
        let declared = self.d.global(global);
        let banks = self.banks(&declared.ty);
        let mut next = |bank: Bank| {
            let count = &mut self.program.globals[bank as usize];
            *count += 1;
            *count - 1
        };
        let cells: Vec<_> = banks.iter().map(|bank| (*bank, next(*bank))).collect();
        let ready = declared.lazy.map(|_| next(Bank::I));
        if let [cell] = cells[..] {
            self.program.global_names.insert(cell, declared.name.clone());
        }
        self.lowering.globals.insert(global, Storage { cells: cells.clone(), ready });
        Location::Global { cells, stored: self.stored_global(global) }
    }

    /// Computes the initial value of a lazy global variable if the variable is not initialized.
    fn ensure(&mut self, global: GlobalId, ready: u32) {
        let is_initialized = self.value(Op::LoadGlobal { bank: Bank::I, index: ready }, Bank::I, &[]);
        let (missing, initialized) = (self.block(), self.block());
        self.branch(is_initialized, initialized, missing);
        self.switch_to_block(missing);
        let id = self.lowering.request(self.program, Origin::Initializer(global), vec![], None);
        self.emit(Op::Call(id), &[], &[]);
        self.jump(initialized);
        self.switch_to_block(initialized);
    }

    /// Builds the body of an [`Origin::Initializer`], which computes the initial value of a lazy global variable.
    pub fn initializer(&mut self, key: &Key) {
        let Origin::Initializer(global) = key.origin else { return };
        let declared = self.d.global(global);
        self.out.name = Rc::from(format!("initial value of {}", declared.name));
        self.out.span = declared.span;
        self.span = declared.span;
        let at = self.global_storage(global);
        if let (Some(initial), Some(ready)) = (declared.lazy, self.lowering.globals[&global].ready) {
            self.out.is_prelude = self.d.function(initial).is_prelude;
            let value = self.call_function(&FunctionRef { function: initial, generics: vec![] }, vec![]);
            self.store(&at, &value);
            let one = self.int(1);
            self.emit(Op::StoreGlobal { bank: Bank::I, index: ready }, &[], &[one]);
        }
        self.end(Terminator::Return(vec![]));
    }
}
