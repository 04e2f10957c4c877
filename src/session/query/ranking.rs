//! Ranking: the order of completions, by the frequency of names in programs.

/// The members that programs use most, the most frequent first.
const MEMBERS: &[&str] = &[
    "count",
    "map",
    "append",
    "isEmpty",
    "filter",
    "reduce",
    "sum",
    "mean",
    "sorted",
    "first",
    "last",
    "contains",
    "enumerated",
    "reversed",
    "min",
    "max",
    "indices",
    "joined",
    "prefix",
    "suffix",
    "dropFirst",
    "dropLast",
    "remove",
    "removeLast",
    "removeFirst",
    "insert",
    "sort",
    "reverse",
    "keys",
    "values",
    "forEach",
    "flatMap",
    "compactMap",
    "firstIndex",
    "allSatisfy",
    "shuffled",
    "split",
    "uppercased",
    "lowercased",
    "hasPrefix",
    "hasSuffix",
    "trimmed",
    "rounded",
    "squareRoot",
    "magnitude",
    "description",
    "move",
];

/// The functions and types of the library that programs use most, the most frequent first.
const NAMES: &[&str] = &[
    "print",
    "sin",
    "cos",
    "exp",
    "log",
    "sqrt",
    "abs",
    "tan",
    "max",
    "min",
    "gradient",
    "derivative",
    "plot",
    "table",
    "integral",
    "solve",
    "minimize",
    "limit",
    "ode",
    "valueWithGradient",
    "Double",
    "Int",
    "String",
    "Array",
    "zip",
    "stride",
    "pow",
    "derive",
    "explain",
];

/// Returns the rank of a member.
pub fn rank_of_member(name: &str) -> usize {
    rank(name, MEMBERS)
}

/// Returns the rank of a name of the library.
pub(crate) fn rank_of_name(name: &str) -> usize {
    rank(name, NAMES)
}

fn rank(name: &str, names: &[&str]) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len())
}
