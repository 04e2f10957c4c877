//! What people write who come from other languages, and how it is written here.

/// First words of a line, and what to say.
const FIRST: &[(&[&str], &str)] = &[
    (&["def", "function", "fn", "fun", "sub", "define"], "functions are declared with 'func': func f(x) { … }"),
    (
        &["const", "val", "auto", "final", "local", "my", "mut", "dim"],
        "write 'let' for a constant, 'var' for a variable",
    ),
    (
        &["int", "double", "float", "string", "bool", "char", "long", "Int", "Double", "Float", "String", "Bool"],
        "the type stands behind the name: 'let x: Double = 1'",
    ),
    (&["lambda"], "closures are written '{ x in … }'"),
    (&["elif", "elsif", "elseif"], "write 'else if'"),
    (&["print", "println", "echo", "puts"], "a call has brackets: 'print(…)'"),
    (&["foreach"], "write 'for x in xs { … }'"),
    (&["unless"], "write 'if !(…) { … }'"),
    (&["except"], "write 'do { … } catch { … }'"),
    (&["case", "default"], "'case' and 'default' can only appear inside a 'switch' statement"),
    (&["from"], "write 'import' and the name of the module"),
];

/// Words where something else was expected, and what to say.
const FOUND: &[(&str, &str)] = &[
    ("and", "'and' is written '&&'"),
    ("or", "'or' is written '||'"),
    ("not", "'not' is written '!'"),
    ("then", "a body stands in braces, without 'then'"),
    ("do", "a body stands in braces, without 'do'"),
    ("'", "texts stand in double quotes: \"…\""),
    ("#", "comments begin with '//'"),
];

/// What to say about a line that cannot be read: `line` is what stands before the place, `found` what stands there.
pub(super) fn help(line: &str, found: &str) -> Option<&'static str> {
    let first = line.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    if let Some((_, help)) = FOUND.iter().find(|(word, _)| *word == found) {
        return Some(help);
    }
    if line.starts_with('#') {
        return Some("comments begin with '//'");
    }
    if matches!(first, "for") && (line.contains(" = ") || found == "=") {
        return Some("write 'for i in 0..<n { … }'");
    }
    if matches!(first, "for" | "while" | "if") && line.contains('(') && matches!(found, "in" | ";") {
        return Some("no brackets around it: 'for x in xs { … }'");
    }
    if line.ends_with(':') && found == "=" {
        return Some("write 'let x = …', or 'x = …' for a variable that is there");
    }
    let is_declaration = line.starts_with("let ") || line.starts_with("var ");
    if is_declaration && line.ends_with('=') && found == "=" {
        return Some("'=' gives a value, '==' compares");
    }
    if is_declaration && line.contains(':') && found == "[" {
        return Some("the type of an array is written '[Element]'");
    }
    let second = line.split_whitespace().nth(1).unwrap_or("");
    let names = second.is_empty() || !second.starts_with(['=', '.', '(', '+', '-', '*', '/', '<', '>']);
    FIRST.iter().find(|(words, _)| names && words.contains(&first)).map(|(_, help)| *help)
}
