//! Word classes: classes of foreign words that the patterns share, with their counterparts in dscript.

/// All word classes: the name of each class, and its words with their counterparts.
const CLASSES: &[(&str, &[(&str, &str)])] = &[
    ("module", MODULES),
    ("package", PACKAGES),
    ("upper", UPPERCASE),
    ("tex", TEX),
    (
        "calculus",
        &[
            ("limit", ""),
            ("derivative", ""),
            ("integral", ""),
            ("gradient", ""),
            ("solve", ""),
            ("plot", ""),
            ("table", ""),
        ],
    ),
    (
        "interval",
        &[("xlim", ""), ("range", ""), ("in", ""), ("over", ""), ("domain", ""), ("xRange", ""), ("interval", "")],
    ),
    ("rewriting", &[("simplify", ""), ("factor", ""), ("factorize", ""), ("expand", "")]),
    (
        "rectangles",
        &[("left", ""), ("right", ""), ("midpoint", ""), ("trapezoidal", ""), ("trapezoid", ""), ("simpson", "")],
    ),
    ("infinite", &[("inf", ""), ("infinity", ""), ("Infinity", ""), ("∞", ""), ("oo", "")]),
    ("riemann", &[("riemannSum", ""), ("riemann_sum", ""), ("RiemannSum", ""), ("leftRiemannSum", "")]),
    ("optimum", &[("maximize", ""), ("minimize", ""), ("maximise", ""), ("minimise", ""), ("max", ""), ("min", "")]),
    (
        "method",
        &[
            ("solve", ""),
            ("plot", ""),
            ("integral", ""),
            ("limit", ""),
            ("minimize", ""),
            ("maximize", ""),
            ("table", ""),
        ],
    ),
    (
        "shell",
        &[("ls", ""), ("pwd", ""), ("cd", ""), ("cat", ""), ("pip", ""), ("git", ""), ("dir", ""), ("python", "")],
    ),
    ("average", &[("average", ""), ("mean", "")]),
    ("arrays", &[("np", ""), ("numpy", ""), ("jnp", ""), ("torch", ""), ("tf", ""), ("F", "")]),
    ("axis", &[("axis", ""), ("dim", "")]),
    ("keep", &[("keepdims", ""), ("keepdim", "")]),
    ("reduction", REDUCTIONS),
    ("reducing", &[("sum", ""), ("mean", ""), ("max", ""), ("min", "")]),
    ("accumulation", &[("cumsum", "cumulativeSum"), ("cumprod", "cumulativeProduct")]),
    ("place", &[("argmax", ""), ("argmin", "")]),
    (
        "optimizer",
        &[
            ("SGD", ""),
            ("Adam", ""),
            ("AdamW", ""),
            ("RMSProp", ""),
            ("RMSprop", "RMSProp"),
            ("AdaGrad", ""),
            ("Adagrad", "AdaGrad"),
            ("AdaDelta", ""),
            ("RAdam", ""),
        ],
    ),
    ("rate", &[("lr", ""), ("learning_rate", ""), ("learningRate", "")]),
    ("trapezoids", &[("trapz", ""), ("trapezoid", ""), ("simps", "")]),
    ("pandas", &[("pd", ""), ("pandas", ""), ("pl", "")]),
    ("trig", &[("sin", ""), ("cos", ""), ("tan", ""), ("sinh", ""), ("cosh", ""), ("tanh", "")]),
    ("derivative", &[("dy", ""), ("dx", ""), ("dz", ""), ("du", "")]),
    ("differential", &[("dt", ""), ("dx", "")]),
    ("currency", &[("€", ""), ("£", ""), ("¥", ""), ("$", "")]),
    ("degree", &[("C", ""), ("F", ""), ("K", "")]),
    ("unit", UNITS),
    ("per", &[("s", ""), ("h", ""), ("min", ""), ("m", ""), ("cm", ""), ("l", ""), ("kg", ""), ("mol", "")]),
    ("imaginary", &[("i", ""), ("j", ""), ("im", "")]),
    ("declarer", &[("int", ""), ("double", ""), ("float", ""), ("long", ""), ("auto", ""), ("bool", ""), ("char", "")]),
    ("value", &[("Int", ""), ("Double", ""), ("Float", ""), ("String", ""), ("Bool", "")]),
    ("constant", &[("const", ""), ("val", ""), ("final", ""), ("local", ""), ("my", ""), ("constexpr", "")]),
    ("function", &[("def", ""), ("function", ""), ("fn", ""), ("fun", ""), ("proc", ""), ("sub", ""), ("define", "")]),
    ("print", PRINT),
    ("catch", &[("except", ""), ("catch", ""), ("rescue", "")]),
    ("loopword", &[("of", ""), ("from", ""), ("over", ""), ("∈", ""), ("←", "")]),
    ("elseif", &[("elif", ""), ("elsif", ""), ("elseif", "")]),
    (
        "nothing",
        &[
            ("None", ""),
            ("null", ""),
            ("nothing", ""),
            ("undefined", ""),
            ("NULL", ""),
            ("nullptr", ""),
            ("missing", ""),
            ("NA", ""),
            ("NaT", ""),
        ],
    ),
    ("format", &[("printf", ""), ("fprintf", "")]),
    ("elementary", ELEMENTARY),
    ("transformer", &[("grad", "")]),
    ("valued", &[("value_and_grad", ""), ("withgradient", "")]),
    ("jacobian", &[("jacfwd", ""), ("jacrev", ""), ("jacobian", "")]),
    ("differentiator", &[("ForwardDiff", ""), ("ReverseDiff", ""), ("Zygote", ""), ("Enzyme", ""), ("Flux", "")]),
];

/// Reductions of tensors along axes.
const REDUCTIONS: &[(&str, &str)] = &[
    ("sum", ""),
    ("mean", ""),
    ("max", ""),
    ("min", ""),
    ("amax", "max"),
    ("amin", "min"),
    ("prod", "product"),
    ("std", "standardDeviation"),
    ("var", "variance"),
    ("logsumexp", "logSumExp"),
    ("reduce_sum", "sum"),
    ("reduce_mean", "mean"),
    ("reduce_max", "max"),
    ("reduce_min", "min"),
    ("reduce_prod", "product"),
];

/// Units of measurement.
const UNITS: &[(&str, &str)] = &[
    ("km", ""),
    ("m", ""),
    ("cm", ""),
    ("mm", ""),
    ("kg", ""),
    ("g", ""),
    ("mg", ""),
    ("s", ""),
    ("ms", ""),
    ("min", ""),
    ("h", ""),
    ("N", ""),
    ("J", ""),
    ("W", ""),
    ("kW", ""),
    ("kWh", ""),
    ("V", ""),
    ("A", ""),
    ("Hz", ""),
    ("Pa", ""),
    ("K", ""),
    ("mol", ""),
    ("l", ""),
    ("L", ""),
    ("ml", ""),
    ("USD", ""),
    ("EUR", ""),
    ("dollars", ""),
    ("euros", ""),
];

/// Modules of other languages whose functions are part of the library.
const MODULES: &[(&str, &str)] = &[
    ("math", ""),
    ("Math", ""),
    ("cmath", ""),
    ("np", ""),
    ("numpy", ""),
    ("jnp", ""),
    ("torch", ""),
    ("tf", ""),
    ("scipy", ""),
    ("sp", ""),
    ("sympy", ""),
    ("jax", ""),
    ("lax", ""),
    ("nn", ""),
    ("F", ""),
    ("plt", ""),
    ("sns", ""),
    ("pd", ""),
    ("linalg", ""),
    ("optimize", ""),
    ("integrate", ""),
    ("interpolate", ""),
    ("special", ""),
    ("stats", ""),
    ("fft", ""),
    ("functional", ""),
    ("itertools", ""),
    ("functools", ""),
    ("collections", ""),
    ("tree_util", ""),
    ("std", ""),
    ("statistics", ""),
    ("builtins", ""),
];

/// Modules and packages that programs in other languages import.
const PACKAGES: &[(&str, &str)] = &[
    ("math", ""),
    ("cmath", ""),
    ("numpy", ""),
    ("scipy", ""),
    ("jax", ""),
    ("torch", ""),
    ("random", ""),
    ("statistics", ""),
    ("matplotlib", ""),
    ("pandas", ""),
    ("os", ""),
    ("sys", ""),
    ("time", ""),
    ("re", ""),
    ("json", ""),
];

/// Functions that other systems write with uppercase letters.
const UPPERCASE: &[(&str, &str)] = &[
    ("Sin", "sin"),
    ("Cos", "cos"),
    ("Tan", "tan"),
    ("ArcSin", "asin"),
    ("ArcCos", "acos"),
    ("ArcTan", "atan"),
    ("Sinh", "sinh"),
    ("Cosh", "cosh"),
    ("Tanh", "tanh"),
    ("Exp", "exp"),
    ("Log", "log"),
    ("Sqrt", "sqrt"),
    ("Abs", "abs"),
    ("Max", "max"),
    ("Min", "min"),
    ("Floor", "floor"),
    ("Round", "round"),
    ("Gamma", "tgamma"),
    ("Erf", "erf"),
    ("Print", "print"),
    ("SIN", "sin"),
    ("COS", "cos"),
    ("TAN", "tan"),
    ("EXP", "exp"),
    ("LN", "log"),
    ("SQRT", "sqrt"),
    ("ABS", "abs"),
    ("MAX", "max"),
    ("MIN", "min"),
    ("POWER", "pow"),
    ("PRINT", "print"),
];

/// Functions of numbers that other languages also apply to arrays.
const ELEMENTARY: &[(&str, &str)] = &[
    ("sin", ""),
    ("cos", ""),
    ("tan", ""),
    ("asin", ""),
    ("acos", ""),
    ("atan", ""),
    ("sinh", ""),
    ("cosh", ""),
    ("tanh", ""),
    ("exp", ""),
    ("log", ""),
    ("log2", ""),
    ("log10", ""),
    ("sqrt", ""),
    ("abs", ""),
    ("floor", ""),
    ("ceil", ""),
    ("round", ""),
];

/// Commands of LaTeX.
const TEX: &[(&str, &str)] = &[
    ("sin", "sin"),
    ("cos", "cos"),
    ("tan", "tan"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("sinh", "sinh"),
    ("cosh", "cosh"),
    ("tanh", "tanh"),
    ("exp", "exp"),
    ("ln", "log"),
    ("log", "log"),
    ("max", "max"),
    ("min", "min"),
    ("sqrt", "sqrt"),
];

/// Functions that print a line.
const PRINT: &[(&str, &str)] = &[
    ("print", ""),
    ("puts", ""),
    ("echo", ""),
    ("println", ""),
    ("disp", ""),
    ("display", ""),
    ("say", ""),
    ("printf", ""),
    ("PRINT", ""),
    ("Print", ""),
];

/// Types of other languages.
const TYPES: &[(&str, &str)] = &[
    ("float", "Double"),
    ("double", "Double"),
    ("real", "Double"),
    ("Real", "Double"),
    ("number", "Double"),
    ("Number", "Double"),
    ("f64", "Double"),
    ("f32", "Float"),
    ("Float64", "Double"),
    ("Float32", "Float"),
    ("float64", "Double"),
    ("float32", "Float"),
    ("Float80", "Double"),
    ("Float16", "Float"),
    ("int", "Int"),
    ("integer", "Int"),
    ("Integer", "Int"),
    ("long", "Int"),
    ("short", "Int"),
    ("int32", "Int32"),
    ("int64", "Int64"),
    ("uint8", "UInt8"),
    ("i32", "Int"),
    ("i64", "Int"),
    ("isize", "Int"),
    ("usize", "Int"),
    ("u32", "UInt"),
    ("u64", "UInt"),
    ("u8", "UInt8"),
    ("unsigned", "UInt"),
    ("string", "String"),
    ("str", "String"),
    ("bool", "Bool"),
    ("boolean", "Bool"),
    ("Boolean", "Bool"),
    ("char", "Character"),
    ("void", "Void"),
    ("Unit", "Void"),
    ("any", "Any"),
    ("object", "Any"),
    ("Object", "Any"),
    ("complex", "Complex<Double>"),
    ("list", "Array"),
    ("List", "Array"),
    ("vector", "Array"),
    ("Vec", "Array"),
    ("Vector", "[Double]"),
    ("ArrayList", "Array"),
    ("dict", "Dictionary"),
    ("Dict", "Dictionary"),
    ("Map", "Dictionary"),
    ("HashMap", "Dictionary"),
    ("map", "Dictionary"),
];

/// Returns the foreign words of a word class such as `trig`.
pub(super) fn class(name: &str) -> Vec<&'static str> {
    let class = CLASSES.iter().find(|(class, _)| *class == name);
    class.map_or(vec![], |(_, words)| words.iter().map(|(word, _)| *word).collect())
}

/// Returns the counterpart of a word of a class, or the word itself if it has no counterpart.
pub(super) fn word_here(class: &str, word: &str) -> String {
    let words = CLASSES.iter().find(|(name, _)| *name == class).map_or(&[][..], |(_, words)| words);
    let here = words.iter().find(|(foreign, _)| *foreign == word).map(|(_, here)| *here);
    here.filter(|here| !here.is_empty()).unwrap_or(word).to_owned()
}

/// Writes a type of another language as a type of dscript.
pub(super) fn type_here(foreign: &str) -> String {
    let foreign = foreign.trim();
    if let Some(of) = foreign.strip_suffix("[]") {
        return format!("[{}]", type_here(of));
    }
    if let Some(of) = foreign.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let (of, _) = of.split_once(';').unwrap_or((of, ""));
        return format!("[{}]", type_here(of));
    }
    if let Some((name, arguments)) = foreign.split_once('<').and_then(|(n, rest)| Some((n, rest.strip_suffix('>')?))) {
        let arguments: Vec<String> = arguments.split(',').map(type_here).collect();
        let name = TYPES.iter().find(|(foreign, _)| *foreign == name).map_or(name, |(_, here)| *here);
        return match name {
            "Array" => format!("[{}]", arguments.join(", ")),
            "Dictionary" => format!("[{}]", arguments.join(": ")),
            here => format!("{here}<{}>", arguments.join(", ")),
        };
    }
    let here = TYPES.iter().find(|(name, _)| *name == foreign).map(|(_, here)| *here);
    match here {
        Some("Array") => "[Double]".to_owned(),
        Some(here) => here.to_owned(),
        None => foreign.to_owned(),
    }
}

/// Whether a class contains a word.
pub(super) fn is_in_class(word: &str) -> bool {
    CLASSES.iter().any(|(_, words)| words.iter().any(|(foreign, _)| *foreign == word))
}

/// Names with a meaning in mathematics or in other languages that no row of the tables mentions.
const KNOWN: &[&str] = &[
    "acot", "acoth", "acsc", "acsch", "add", "apply", "argmax", "argmin", "asec", "asech", "assoc", "cond", "conj",
    "cot", "coth", "cross", "csc", "csch", "cumprod", "cumsum", "curl", "diag", "eval", "even", "expand", "expm",
    "fact", "fold", "floor", "frac", "geom", "grad", "head", "imag", "inner", "kron", "lerp", "line", "load", "logb",
    "logn", "lower", "mean", "median", "mode", "mult", "norm", "normal", "outer", "prod", "product", "quotient",
    "rand", "rank", "real", "roots", "save", "scan", "sech", "sinc", "sinpi", "solver", "span", "star", "step", "std",
    "sub", "subs", "table", "tail", "take", "trace", "trim", "unit", "upper", "vars", "vec", "where", "with", "zero",
    "zeros", "Matrix", "Vector", "Tensor",
];

/// Whether a name has a meaning in mathematics or in other languages.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
        || TYPES.iter().any(|(foreign, _)| *foreign == name)
        || MODULES.iter().any(|(module, _)| *module == name)
}
