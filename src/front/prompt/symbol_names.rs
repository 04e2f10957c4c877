//! Symbol names: completes `\alpha` and similar names to characters that keyboards lack.

/// The symbol names, and the characters that they represent.
pub(super) const SYMBOLS: &[(&str, &str)] = &[
    ("alpha", "α"),
    ("approx", "≈"),
    ("beta", "β"),
    ("cbrt", "∛"),
    ("cdot", "·"),
    ("chi", "χ"),
    ("cubed", "³"),
    ("Delta", "Δ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("eta", "η"),
    ("Gamma", "Γ"),
    ("gamma", "γ"),
    ("geq", "≥"),
    ("infty", "∞"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("Lambda", "Λ"),
    ("lambda", "λ"),
    ("leq", "≤"),
    ("mu", "μ"),
    ("nabla", "∇"),
    ("neq", "≠"),
    ("nu", "ν"),
    ("Omega", "Ω"),
    ("omega", "ω"),
    ("partial", "∂"),
    ("Phi", "Φ"),
    ("phi", "φ"),
    ("pi", "π"),
    ("prime", "′"),
    ("Psi", "Ψ"),
    ("psi", "ψ"),
    ("rho", "ρ"),
    ("Sigma", "Σ"),
    ("sigma", "σ"),
    ("sqrt", "√"),
    ("squared", "²"),
    ("tau", "τ"),
    ("Theta", "Θ"),
    ("theta", "θ"),
    ("times", "×"),
    ("xi", "ξ"),
    ("Xi", "Ξ"),
    ("zeta", "ζ"),
];

/// Returns the lines of a list of all symbols with their names.
pub(super) fn list() -> Vec<String> {
    const COLUMNS: usize = 5;
    let row = |row: &[(&str, &str)]| {
        row.iter().map(|(name, symbol)| format!("{symbol}  \\{name:<12}")).collect::<String>().trim_end().to_owned()
    };
    let first = "Tab after a name that begins with a backslash inserts the symbol:".to_owned();
    std::iter::once(first).chain(SYMBOLS.chunks(COLUMNS).map(row)).collect()
}

/// Returns the symbol for the name at the end of a line, and the offset of its backslash; for an incomplete name, all
/// symbols whose names begin with it.
pub(super) fn complete(line: &str) -> Option<(usize, Vec<(&'static str, &'static str)>)> {
    let start = line.rfind('\\')?;
    let name = &line[start + 1..];
    if !name.chars().all(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let exact: Vec<_> = SYMBOLS.iter().copied().filter(|(known, _)| *known == name).collect();
    let begun = SYMBOLS.iter().copied().filter(|(known, _)| known.starts_with(name));
    Some((start, if exact.is_empty() { begun.collect() } else { exact }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_its_symbol() {
        assert_eq!(complete("2 * \\alpha"), Some((4, vec![("alpha", "α")])));
        assert_eq!(complete("\\eta"), Some((0, vec![("eta", "η")])));
        assert_eq!(complete("\\la"), Some((0, vec![("lambda", "λ")])));
        assert_eq!(complete("\"a\\n b"), None);
    }
}
