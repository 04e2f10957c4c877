//! Reachability: determines the registers that may hold an integer or a string that was computed from a number and may
//! become a number again.
//!
//! In: all functions of a program, since a path that loses a tangent may lead through any storage and any function
//! value. Out: for each register whether it must be followed while derivative code runs.
//!
//! Promises: a register that is not followed cannot be a part of such a path. A register that is followed may be a part
//! of such a path: boxes are distinguished by components only, function values by the banks of their parameters and
//! results.

use crate::diff::lost_tangent::links::{Link, Links, Place};
use crate::ir::{Function, FunctionId, Instruction, Op, Operator, Program, Reg, Terminator};
use crate::value::Bank;
use hashbrown::{HashMap, HashSet};

/// A register, or a storage location that several functions can access, that may hold a value whose tangent is lost.
/// Each register or location is represented by two nodes: for the value itself, and for the content of the value.
type Node = u32;

/// The banks of the parameters and the results of a function value.
pub type FunctionBanks = (Vec<Bank>, Vec<Bank>);

/// A storage location that several functions can access.
#[derive(Clone, PartialEq, Eq, Hash)]
enum SharedPlace {
    Box(Bank, u32),
    Global(Bank, u32),
    Captured(FunctionId, Bank, u32),
    Parameter(u32, u32),
    Result(u32, u32),
}

/// The registers and storage locations to which paths with lost tangents can lead.
#[derive(Default)]
pub struct Reachability {
    /// The node of the first register of each function, indexed by function.
    first: Vec<Node>,
    shared: HashMap<SharedPlace, Node>,
    /// The numbers of function values that have the same banks of parameters and results.
    kinds: HashMap<FunctionBanks, u32>,
    /// Whether each node is to be followed; empty where no tangent can be lost.
    followed: Vec<bool>,
    /// Whether paths lead through variables and instances that functions share, or through results of function values.
    is_shared: bool,
}

/// The graph of nodes and edges while it is being built.
struct ReachabilityBuilder<'p> {
    program: &'p Program,
    reachability: Reachability,
    nodes: Node,
    edges: Vec<(Node, Node)>,
    losses: Vec<Node>,
    ends: Vec<Node>,
}

impl Reachability {
    /// Analyzes all functions of a program.
    pub fn of(program: &Program) -> Reachability {
        let mut builder = ReachabilityBuilder {
            program,
            reachability: Reachability::default(),
            nodes: 0,
            edges: vec![],
            losses: vec![],
            ends: vec![],
        };
        for f in &program.functions {
            builder.reachability.first.push(builder.nodes);
            builder.nodes += 2 * f.as_ref().map_or(0, |f| f.registers.len() as u32);
        }
        let made = builder.function_values();
        for (id, f) in (0..).map(FunctionId).zip(&program.functions) {
            if let Some(f) = f.as_deref().filter(|f| !f.is_opaque) {
                crate::cancel::check();
                builder.function(id, f, made.contains(&id));
            }
        }
        builder.finish()
    }

    /// Whether no register is to be followed.
    pub fn is_empty(&self) -> bool {
        self.followed.is_empty()
    }

    /// Whether a path may lead out of a function value without results, which may throw.
    pub fn leads_out(&self) -> bool {
        self.is_shared
    }

    /// Whether the content of a register is to be followed.
    pub fn follows(&self, id: FunctionId, reg: Reg) -> bool {
        self.is_followed(self.register(id, reg))
    }

    /// Whether the content of a storage location is to be followed.
    pub fn follows_place(&self, id: FunctionId, place: Place) -> bool {
        match shared(place) {
            Err(object) => self.is_followed(self.register(id, object) + 1),
            Ok(shared) => self.shared.get(&shared).is_some_and(|node| self.is_followed(*node)),
        }
    }

    /// Whether an argument of the function values with the given banks is to be followed.
    pub fn follows_argument(&self, kind: &FunctionBanks, argument: u32) -> bool {
        let kind = self.kinds.get(kind);
        let node = kind.and_then(|kind| self.shared.get(&SharedPlace::Parameter(*kind, argument)));
        node.is_some_and(|node| self.is_followed(*node))
    }

    fn is_followed(&self, node: Node) -> bool {
        self.followed.get(node as usize) == Some(&true)
    }

    fn register(&self, id: FunctionId, reg: Reg) -> Node {
        self.first.get(id.0 as usize).map_or(Node::MAX - 1, |first| first + 2 * reg.0)
    }
}

/// Returns the storage location that functions share; for a location in a value, the register of the object.
fn shared(place: Place) -> Result<SharedPlace, Reg> {
    match place {
        Place::Value(object, _) => Err(object),
        Place::Box(_, bank, k) => Ok(SharedPlace::Box(bank, k)),
        Place::Global(bank, k) => Ok(SharedPlace::Global(bank, k)),
        Place::Captured(_, f, bank, k) => Ok(SharedPlace::Captured(f, bank, k)),
    }
}

/// Whether a path may go through a function that is called by its name. Where the registered derivative of the function
/// applies, the derivative defines the tangents; elsewhere the function is like any other.
pub fn passes(callee: &Function) -> bool {
    !callee.is_opaque
}

impl ReachabilityBuilder<'_> {
    /// Returns the functions that may be called through function values.
    fn function_values(&self) -> HashSet<FunctionId> {
        let steps = self.program.functions.iter().flatten().flat_map(|f| &f.blocks).flat_map(|b| &b.instructions);
        let closures = steps.filter_map(|step| if let Op::Closure(id) = step.op { Some(id) } else { None });
        closures.chain(self.program.dispatch.values().copied()).collect()
    }

    fn shared(&mut self, shared: SharedPlace) -> Node {
        let next = self.nodes;
        let node = *self.reachability.shared.entry(shared).or_insert(next);
        if node == next {
            self.nodes += 2;
        }
        node
    }

    fn place(&mut self, id: FunctionId, place: Place) -> [Node; 2] {
        match shared(place) {
            Err(object) => [self.reachability.register(id, object) + 1; 2],
            Ok(shared) => {
                let node = self.shared(shared);
                [node, node + 1]
            }
        }
    }

    fn kind(&mut self, kind: FunctionBanks) -> u32 {
        let next = self.reachability.kinds.len() as u32;
        *self.reachability.kinds.entry(kind).or_insert(next)
    }

    /// Adds edges for a value, and for its content, that are moved from one node to another.
    fn edge(&mut self, from: Node, to: Node) {
        self.edges.extend([(from, to), (from + 1, to + 1)]);
    }

    fn function(&mut self, id: FunctionId, f: &Function, is_value: bool) {
        let links = Links { program: self.program, f, id };
        let constants = constants(f);
        for step in f.blocks.iter().flat_map(|b| &b.instructions) {
            match &step.op {
                Op::Call(callee) => self.call(id, *callee, step),
                Op::CallValue => {
                    let bank = |r: &Reg| f.registers[r.0 as usize].bank;
                    let kind = (step.ins[1..].iter().map(bank).collect(), step.outs.iter().map(bank).collect());
                    self.call_value(id, f, kind, (&step.ins[1..], &step.outs));
                }
                Op::Operator(operator) => {
                    if let Some((kind, results)) = body_of(self.program, f, operator, step) {
                        self.call_value(id, f, kind, (&[], results));
                    }
                    links.of(step).into_iter().for_each(|link| self.link(id, f, link, &constants));
                }
                _ => {
                    for link in links.of(step) {
                        self.link(id, f, link, &constants);
                    }
                }
            }
        }
        if is_value {
            let bank = |r: &Reg| f.registers[r.0 as usize].bank;
            let kind = self.kind((f.params.iter().map(bank).collect(), f.results.clone()));
            for (k, param) in (0..).zip(&f.params).filter(|(_, r)| bank(r) != Bank::F) {
                let from = self.shared(SharedPlace::Parameter(kind, k));
                self.edge(from, self.reachability.register(id, *param));
            }
            for (k, result) in returned(f).filter(|(_, r)| bank(r) != Bank::F) {
                let to = self.shared(SharedPlace::Result(kind, k));
                self.edge(self.reachability.register(id, result), to);
            }
        }
    }

    fn link(&mut self, id: FunctionId, f: &Function, link: Link, constants: &[bool]) {
        let register = |builder: &Self, reg| builder.reachability.register(id, reg);
        match link {
            Link::Lose { number, to } => {
                if !constants[number.0 as usize] {
                    self.losses.push(register(self, to));
                }
            }
            Link::Carry { from, to } => self.edges.push((register(self, from), register(self, to))),
            Link::Content { from, to } => self.edges.push((register(self, from) + 1, register(self, to) + 1)),
            Link::Number { from, .. } => self.ends.push(register(self, from)),
            Link::Store { place, value, .. } => {
                let [there, inside] = self.place(id, place);
                self.edges.push((register(self, value), there));
                if f.registers[value.0 as usize].bank == Bank::R {
                    self.edges.push((register(self, value) + 1, inside));
                }
            }
            Link::Load { place, to, .. } => {
                let [there, inside] = self.place(id, place);
                self.edges.push((there, register(self, to)));
                if f.registers[to.0 as usize].bank == Bank::R {
                    self.edges.push((inside, register(self, to) + 1));
                }
            }
        }
    }

    fn call(&mut self, id: FunctionId, callee: FunctionId, step: &Instruction) {
        let Some(f) = self.program.function(callee).filter(|f| passes(f)) else { return };
        let is_followable = |reg: &Reg| f.registers[reg.0 as usize].bank != Bank::F;
        // The levels that enclose the level of a registered derivative record the body of the registered function, so
        // paths lead through this body.
        for rule in &f.rules {
            let Some(derivative) = self.program.function(rule.function) else { continue };
            for (from, to) in step.ins.iter().zip(&derivative.params) {
                if derivative.registers[to.0 as usize].bank != Bank::F {
                    self.edge(self.reachability.register(id, *from), self.reachability.register(rule.function, *to));
                }
            }
        }
        for (from, to) in step.ins.iter().zip(&f.params).filter(|(_, to)| is_followable(to)) {
            self.edge(self.reachability.register(id, *from), self.reachability.register(callee, *to));
        }
        for (k, from) in returned(f).filter(|(_, from)| is_followable(from)) {
            if let Some(to) = step.outs.get(k as usize) {
                self.edge(self.reachability.register(callee, from), self.reachability.register(id, *to));
            }
        }
    }

    /// Adds the edges of a function value that is called, or passed to an operator, which returns its results.
    fn call_value(&mut self, id: FunctionId, f: &Function, kind: FunctionBanks, (takes, gives): (&[Reg], &[Reg])) {
        let bank = |r: &Reg| f.registers[r.0 as usize].bank;
        let kind = self.kind(kind);
        for (k, from) in (0..).zip(takes).filter(|(_, r)| bank(r) != Bank::F) {
            let to = self.shared(SharedPlace::Parameter(kind, k));
            self.edge(self.reachability.register(id, *from), to);
        }
        for (k, to) in (0..).zip(gives).filter(|(_, r)| bank(r) != Bank::F) {
            let from = self.shared(SharedPlace::Result(kind, k));
            self.edge(from, self.reachability.register(id, *to));
        }
    }

    fn finish(mut self) -> Reachability {
        if self.losses.is_empty() || self.ends.is_empty() {
            return self.reachability;
        }
        let after_loss = reached(self.nodes, &self.edges, &self.losses);
        self.edges.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        let before_end = reached(self.nodes, &self.edges, &self.ends);
        let followed: Vec<bool> =
            after_loss.into_iter().zip(before_end).map(|(after_loss, before_end)| after_loss && before_end).collect();
        if followed.contains(&true) {
            self.reachability.followed = followed;
            let is_open = |shared: &SharedPlace| {
                matches!(shared, SharedPlace::Box(..) | SharedPlace::Global(..) | SharedPlace::Result(..))
            };
            let mut shared = self.reachability.shared.iter().filter(|(shared, _)| is_open(shared));
            self.reachability.is_shared =
                shared.any(|(_, node)| self.reachability.is_followed(*node) || self.reachability.is_followed(node + 1));
        }
        self.reachability
    }
}

/// Returns the banks of the parameters and results of the function that an operator calls, and those results of the
/// operator that are results of the function.
pub fn body_of<'s>(
    program: &Program,
    f: &Function,
    operator: &Operator,
    step: &'s Instruction,
) -> Option<(FunctionBanks, &'s [Reg])> {
    if *operator == (Operator::Recompute { traced: false }) {
        return Some(((vec![], step.outs.iter().map(|r| f.registers[r.0 as usize].bank).collect()), &step.outs));
    }
    let (at, result, throws) = match *operator {
        Operator::ValueWithDifferential { at, result, throws } | Operator::ValueWithTangent { at, result, throws } => {
            (at, result, throws)
        }
        _ => return None,
    };
    let size = |of| {
        let layout = program.shapes.layout(program.tangents.get(of).value);
        (layout.f + layout.i + layout.r) as usize
    };
    let banks = |regs: &[Reg]| regs.iter().map(|r| f.registers[r.0 as usize].bank).collect();
    let results = step.outs.get(..if throws { 2 } else { 0 } + size(result))?;
    Some(((banks(step.ins.get(..size(at))?), banks(results)), results))
}

/// Returns the results of a function that are returned somewhere, by number.
pub fn returned(f: &Function) -> impl Iterator<Item = (u32, Reg)> {
    let returns = f.blocks.iter().filter_map(|block| match &block.end {
        Some(Terminator::Return(results)) => Some(results),
        _ => None,
    });
    returns.flat_map(|results| (0..).zip(results.iter().copied()))
}

/// Returns for each register whether only constants are assigned to it.
fn constants(f: &Function) -> Vec<bool> {
    let (mut constant, mut other) = (vec![false; f.registers.len()], vec![false; f.registers.len()]);
    for step in f.blocks.iter().flat_map(|b| &b.instructions) {
        let written = if matches!(step.op, Op::ConstF(_)) { &mut constant } else { &mut other };
        step.outs.iter().for_each(|out| written[out.0 as usize] = true);
    }
    f.params.iter().for_each(|param| other[param.0 as usize] = true);
    constant.into_iter().zip(other).map(|(constant, other)| constant && !other).collect()
}

/// Returns the nodes that are reachable from the given nodes along the edges.
fn reached(nodes: Node, edges: &[(Node, Node)], from: &[Node]) -> Vec<bool> {
    let mut starts = vec![0u32; nodes as usize + 1];
    edges.iter().for_each(|(a, _)| starts[*a as usize + 1] += 1);
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    let mut next = starts.clone();
    let mut targets = vec![0; edges.len()];
    for (a, b) in edges {
        let place = &mut next[*a as usize];
        targets[*place as usize] = *b;
        *place += 1;
    }
    let mut seen = vec![false; nodes as usize];
    let mut open: Vec<Node> = from.to_vec();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut seen[node as usize], true) {
            open.extend(&targets[starts[node as usize] as usize..starts[node as usize + 1] as usize]);
        }
    }
    seen
}
