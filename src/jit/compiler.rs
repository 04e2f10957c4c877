//! Compiler: the code generator with its settings, and compiled functions.

use super::context::offsets;
use super::convention::{self, Place};
use super::inlining::Inlined;
use super::layout::Layout;
use super::own_numbers::OwnNumbers;
use super::pages::Pages;
use super::rare::RareThunks;
use super::site::Site;
use super::translate::{Environment, Translated, translate};
use super::{Context, Helpers, Part, Program, Signature};
use crate::bytecode::Code;
use crate::value::{Bank, Slot};
use cranelift_codegen::Context as Generator;
use cranelift_codegen::FinalizedMachReloc;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlagsData, Signature as MachineSignature, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use hashbrown::HashMap;
use std::rc::Rc;

/// The largest number of instructions of a function that is compiled: compiling takes some microseconds for each.
const MAX_INSTRUCTIONS: usize = 4000;

/// The entry from Rust into machine code. It takes the context, the machine code, and the registers of references,
/// numbers and integers of its frame with the slots of the numbers, and returns the outcome.
pub type Thunk = unsafe extern "C" fn(*mut Context, *const u8, *mut u8, *mut f64, *mut i64, *mut Slot) -> i64;

/// The reason why a function was not compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The function cannot be translated.
    Function,
    /// The system refuses executable memory.
    Memory,
}

/// The machine code of a function or loop.
#[derive(Debug)]
pub struct Compiled {
    pages: Pages,
    thunk: Rc<Pages>,
    /// The sites, to which machine code refers by address.
    #[allow(clippy::vec_box, reason = "machine code contains the addresses of the sites")]
    _sites: Vec<Box<Site>>,
    /// The code from which the machine code was made, to whose tables machine code refers by address.
    _code: Box<Inlined>,
    /// The number of words in the largest record of an exit.
    pub largest_record: usize,
    /// Whether the code counts a step when it is entered.
    pub counts_step: bool,
}

impl Compiled {
    /// Returns the address of the machine code.
    pub fn start(&self) -> *const u8 {
        self.pages.start()
    }

    /// Returns the function by which Rust calls the machine code.
    #[allow(unsafe_code)]
    pub fn thunk(&self) -> Thunk {
        // SAFETY: the pages hold a function of this type, which `make_thunk` has compiled.
        unsafe { std::mem::transmute::<*const u8, Thunk>(self.thunk.start()) }
    }
}

/// The code generator.
pub struct Compiler {
    isa: OwnedTargetIsa,
    generator: Generator,
    builder: FunctionBuilderContext,
    /// The entries for functions, by the components of their arguments and results.
    thunks: HashMap<Signature, Rc<Pages>>,
    loop_thunk: Option<Rc<Pages>>,
    /// The machine code that calls functions of the machine in rare cases.
    rare: Option<RareThunks>,
    layout: Option<Layout>,
    helpers: Helpers,
}

impl std::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Compiler")
    }
}

impl Compiler {
    /// Creates the code generator for this processor; `None` where the processor is not supported.
    pub fn new(helpers: Helpers) -> Option<Compiler> {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").ok()?;
        flags.set("enable_pinned_reg", "true").ok()?;
        flags.set("is_pic", "false").ok()?;
        flags.set("unwind_info", "false").ok()?;
        flags.set("enable_verifier", if cfg!(test) { "true" } else { "false" }).ok()?;
        let isa = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
        let (generator, builder) = (Generator::new(), FunctionBuilderContext::new());
        Some(Compiler {
            isa,
            generator,
            builder,
            thunks: HashMap::new(),
            loop_thunk: None,
            rare: None,
            layout: Layout::determine(),
            helpers,
        })
    }

    /// Compiles a part of a function. `owner` identifies the function in the sites.
    ///
    /// # Errors
    /// Fails when the part cannot be translated, or there is no executable memory.
    pub fn compile(
        &mut self,
        code: &Code,
        part: Part,
        owner: usize,
        program: &Program<'_>,
    ) -> Result<Compiled, Refusal> {
        let own = Signature::of(code);
        if code.instructions.len() > MAX_INSTRUCTIONS
            || own.params.iter().chain(&own.results).any(|count| *count > super::MAX_PASSED)
        {
            return Err(Refusal::Function);
        }
        if (part == Part::Derivative || code.is_derivative) && self.layout.is_none() {
            return Err(Refusal::Function);
        }
        let convention = self.isa.default_call_conv();
        let machine_signature = match part {
            Part::Function => convention::of_function(&own, convention),
            Part::Derivative | Part::Loop(_) => convention::of_loop(convention),
        };
        let rare = self.rare_thunks()?;
        self.begin(machine_signature);
        let mut builder = FunctionBuilder::new(&mut self.generator.func, &mut self.builder);
        let inlined = match part {
            Part::Derivative => Inlined::none(code, owner),
            Part::Function | Part::Loop(_) => Inlined::of(code, owner, program.functions),
        };
        let inlined = Box::new(inlined);
        let environment =
            Environment { program, helpers: &self.helpers, layout: self.layout.as_ref(), rare: &rare, convention };
        let translated = translate(&mut builder, &inlined, part, &environment);
        let Some(Translated { sites, largest_record, counts_step }) = translated else {
            // The contexts must be emptied before they are used again.
            self.builder = FunctionBuilderContext::new();
            return Err(Refusal::Function);
        };
        builder.seal_all_blocks();
        builder.finalize(self.isa.frontend_config());
        let pages = self.finish()?;
        let thunk = match part {
            Part::Function => self.thunk(own)?,
            Part::Derivative | Part::Loop(_) => self.thunk_of_loops()?,
        };
        Ok(Compiled { pages, thunk, _sites: sites, _code: inlined, largest_record, counts_step })
    }

    fn begin(&mut self, signature: MachineSignature) {
        self.generator.clear();
        self.generator.func = Function::with_name_signature(Default::default(), signature);
    }

    /// Compiles the function that was built.
    fn finish(&mut self) -> Result<Pages, Refusal> {
        let compiled =
            self.generator.compile(&*self.isa, &mut ControlPlane::default()).map_err(|_| Refusal::Function)?;
        let relocations = compiled.buffer.relocs();
        if relocations.is_empty() {
            return Pages::of(compiled.buffer.data()).ok_or(Refusal::Memory);
        }
        // Addresses are constants, so the only relocations are those of calls of the function by itself.
        let mut code = compiled.buffer.data().to_vec();
        let is_done = relocations.iter().all(|relocation| relocate(&mut code, relocation).is_some());
        if is_done { Pages::of(&code).ok_or(Refusal::Memory) } else { Err(Refusal::Function) }
    }

    /// Returns the entry for functions with a signature.
    fn thunk(&mut self, signature: Signature) -> Result<Rc<Pages>, Refusal> {
        if let Some(known) = self.thunks.get(&signature) {
            return Ok(known.clone());
        }
        let made = Rc::new(self.make_thunk(Some(&signature))?);
        self.thunks.insert(signature, made.clone());
        Ok(made)
    }

    fn thunk_of_loops(&mut self) -> Result<Rc<Pages>, Refusal> {
        if let Some(known) = &self.loop_thunk {
            return Ok(known.clone());
        }
        let made = Rc::new(self.make_thunk(None)?);
        self.loop_thunk = Some(made.clone());
        Ok(made)
    }

    /// Returns the machine code that calls functions of the machine in rare cases.
    fn rare_thunks(&mut self) -> Result<RareThunks, Refusal> {
        if let Some(known) = &self.rare {
            return Ok(known.clone());
        }
        let (plain, modifying) = (Rc::new(self.make_rare(false)?), Rc::new(self.make_rare(true)?));
        let made = RareThunks { plain, modifying };
        self.rare = Some(made.clone());
        Ok(made)
    }

    /// Compiles a function that calls a function of the machine, whose address is in the context, with the context and two
    /// arguments, and preserves all machine registers.
    fn make_rare(&mut self, modifies_numbers: bool) -> Result<Pages, Refusal> {
        let convention = self.isa.default_call_conv();
        self.begin(convention::of_rare());
        let mut builder = FunctionBuilder::new(&mut self.generator.func, &mut self.builder);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let context = builder.ins().get_pinned_reg(types::I64);
        let &[first, second] = builder.block_params(block) else { return Err(Refusal::Function) };
        let given = [context, first, second];
        let address = builder.ins().load(types::I64, MemFlagsData::trusted(), context, offsets::STATUS);
        let signature = builder.import_signature(convention::of_helper(given.len(), convention));
        let call = builder.ins().call_indirect(signature, address, &given);
        let status = builder.inst_results(call)[0];
        let context = builder.ins().get_pinned_reg(types::I64);
        builder.ins().store(MemFlagsData::trusted(), status, context, offsets::STATUS);
        if let (true, Some(layout)) = (modifies_numbers, &self.layout) {
            OwnNumbers::look_up(&mut builder, layout, (first, 0)).store(&mut builder, context);
        }
        builder.ins().return_(&[]);
        builder.seal_all_blocks();
        builder.finalize(self.isa.frontend_config());
        self.finish()
    }

    /// Compiles an entry, for functions with a signature or for loops. It sets the pinned register, which belongs to
    /// the caller.
    fn make_thunk(&mut self, signature: Option<&Signature>) -> Result<Pages, Refusal> {
        let convention = self.isa.default_call_conv();
        self.begin(thunk_signature(convention));
        let mut builder = FunctionBuilder::new(&mut self.generator.func, &mut self.builder);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let &[context, target, references, numbers, integers, slots] = builder.block_params(block) else {
            return Err(Refusal::Function);
        };
        let flags = MemFlagsData::trusted();
        let old = builder.ins().get_pinned_reg(types::I64);
        builder.ins().set_pinned_reg(context);
        let bank = |bank| if bank == Bank::F { (numbers, types::F64) } else { (integers, types::I64) };
        let status = match signature {
            None => {
                let signature = builder.import_signature(convention::of_loop(convention));
                let call = builder.ins().call_indirect(signature, target, &[references, numbers, integers, slots]);
                builder.inst_results(call)[0]
            }
            Some(signature) => {
                let link = builder.ins().iadd_imm_s(context, i64::from(offsets::ROOT));
                let mut given = vec![link, references];
                given.extend(signature.has_slots.then_some(slots));
                for ((of, register), place) in convention::arguments(signature) {
                    let (from, kind) = bank(of);
                    let value = builder.ins().load(kind, flags, from, 8 * i32::from(register));
                    match place {
                        Place::Machine => given.push(value),
                        Place::Context(at) => {
                            builder.ins().store(flags, value, context, at);
                        }
                    }
                }
                let machine_signature = builder.import_signature(convention::of_function(signature, convention));
                let call = builder.ins().call_indirect(machine_signature, target, &given);
                let returned = builder.inst_results(call).to_vec();
                let mut next = 1;
                for ((of, register), place) in convention::results(signature) {
                    let (to, kind) = bank(of);
                    let value = match place {
                        Place::Machine => {
                            next += 1;
                            returned[next - 1]
                        }
                        Place::Context(at) => builder.ins().load(kind, flags, context, at),
                    };
                    builder.ins().store(flags, value, to, 8 * i32::from(register));
                }
                returned[0]
            }
        };
        builder.ins().set_pinned_reg(old);
        builder.ins().return_(&[status]);
        builder.seal_all_blocks();
        builder.finalize(self.isa.frontend_config());
        self.finish()
    }
}

fn thunk_signature(convention: CallConv) -> MachineSignature {
    let mut made = MachineSignature::new(convention);
    made.params.extend([AbiParam::new(types::I64); 6]);
    made.returns.push(AbiParam::new(types::I64));
    made
}

/// Completes a call of the function by itself; `None` if it is a relocation of another kind.
fn relocate(code: &mut [u8], relocation: &FinalizedMachReloc) -> Option<()> {
    let at = relocation.offset as usize;
    let word: &mut [u8; 4] = code.get_mut(at..at + 4)?.try_into().ok()?;
    let distance = relocation.addend.checked_sub(i64::from(relocation.offset))?;
    match relocation.kind {
        Reloc::X86CallPCRel4 => *word = i32::try_from(distance).ok()?.to_le_bytes(),
        // The distance is counted in instructions, in the lowest 26 bits.
        Reloc::Arm64Call => {
            let count = (i32::try_from(distance).ok()? >> 2).cast_unsigned() & 0x03ff_ffff;
            *word = (u32::from_le_bytes(*word) & 0xfc00_0000 | count).to_le_bytes();
        }
        _ => return None,
    }
    Some(())
}
