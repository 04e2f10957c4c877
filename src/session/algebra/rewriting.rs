//! Rewriting: the e-graph of a formula is filled with equivalent forms, and the shortest is extracted.
//!
//! The limits are numbers of iterations and nodes, not times, so that the result is deterministic.

use super::alternatives::{RULES, Rule};
use super::cost::weight;
use super::extraction::extracted;
use super::node::{Form, Graph, Node, NormalForm, add};
use super::sum::Sum;
use egg::{
    Applier, Id, PatternAst, RecExpr, Rewrite, Runner, SearchMatches, Searcher, SimpleScheduler, Subst, Symbol, Var,
};
use std::time::Duration;

/// The maximum number of rounds, in each of which every rule is applied to every class.
const ITERATIONS: usize = 5;

/// The maximum number of nodes.
const NODES: usize = 700;

/// The maximum cost of a formula that is rewritten.
const MAX_WEIGHT: u32 = 4000;

/// Returns the shortest form of a sum.
pub(super) fn shortest(sum: &Sum) -> RecExpr<Node> {
    let mut graph = Graph::new(NormalForm::default());
    let root = add(&mut graph, sum);
    graph.rebuild();
    if weight(sum) > MAX_WEIGHT {
        return extracted(&graph, root);
    }
    let rewrite = |rule: &'static Rule| Rewrite::new(rule.name, rule, rule).ok();
    let rules: Vec<Rewrite<Node, NormalForm>> = RULES.iter().filter_map(rewrite).collect();
    let runner = Runner::<_, _, ()>::new(NormalForm::default())
        .with_egraph(graph)
        .with_iter_limit(ITERATIONS)
        .with_node_limit(NODES)
        .with_time_limit(Duration::MAX)
        .with_scheduler(SimpleScheduler);
    let graph = runner.run(&rules).egraph;
    extracted(&graph, root)
}

impl Searcher<Node, NormalForm> for &'static Rule {
    /// Finds every class once for each of its normal forms.
    fn search_eclass_with_limit(&self, graph: &Graph, class: Id, _: usize) -> Option<SearchMatches<'_, Node>> {
        let is_found = !self.new_forms(graph, class).is_empty();
        is_found.then(|| SearchMatches { eclass: class, substs: vec![Subst::default()], ast: None })
    }

    fn vars(&self) -> Vec<Var> {
        vec![]
    }
}

impl Applier<Node, NormalForm> for &'static Rule {
    fn apply_one(&self, graph: &mut Graph, class: Id, _: &Subst, _: Option<&PatternAst<Node>>, _: Symbol) -> Vec<Id> {
        let mut changed = vec![];
        for form in self.new_forms(graph, class) {
            for other in (self.forms)(&form.sum).iter().filter(|other| other.is_valid()) {
                let id = add(graph, other);
                if graph.union(class, id) {
                    changed.push(class);
                }
            }
            graph.analysis.done.insert((self.name, form.number));
        }
        changed
    }
}

impl Rule {
    /// Returns the normal forms of a class to which the rule was not applied yet.
    fn new_forms(&self, graph: &Graph, class: Id) -> Vec<Form> {
        let is_new =
            |form: &&Form| form.sum.as_constant().is_none() && !graph.analysis.done.contains(&(self.name, form.number));
        graph[class].data.iter().filter(is_new).cloned().collect()
    }
}
