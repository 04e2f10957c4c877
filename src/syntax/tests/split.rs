use super::*;

fn kinds(text: &str) -> Vec<(ChunkKind, String)> {
    split(text).into_iter().map(|c| (c.kind, c.name)).collect()
}

#[test]
fn declarations_are_cut() {
    let text = "#!/bin/x\n// nothing\nimport Glibc\n/// Doc.\n@inlinable\npublic func f<T>(_ x: T) -> [T]\n    where T: P {\n  if x { \"}\\(g(\"{\"))\" } // }\n}\nfunc == <T>(a: T, b: T) -> Bool\nfunc <(a: A) { }\nstruct S { let a = 1 }; let x = 1 +\n  2\nvar y: Int {\n  3\n}\nextension Array<Int>: P where Element: Q { }\ninfix operator ** : X\nprefix operator √\nprecedencegroup X { higherThan: Y }\ng(x, y) = x\n  + y\nlet (a, b) = (1, 2)\nprint(1)\n@primitive(\"sin\") func sin(_ x: Double) -> Double\n@primitive func cos(_ x: Double) -> Double\ntypealias D = Double\nfinal class C {}\nprotocol P {\n}\nprefix func √(x: Double) -> Double { x }";
    let expected = [
        (ChunkKind::Import, "Glibc"),
        (ChunkKind::Func, "f"),
        (ChunkKind::Func, "=="),
        (ChunkKind::Func, "<"),
        (ChunkKind::Type, "S"),
        (ChunkKind::Variable, "x"),
        (ChunkKind::Variable, "y"),
        (ChunkKind::Extension, "Array"),
        (ChunkKind::Operator, "**"),
        (ChunkKind::Operator, "√"),
        (ChunkKind::PrecedenceGroup, "X"),
        (ChunkKind::Func, "g"),
        (ChunkKind::Variable, "a,b"),
        (ChunkKind::Other, ""),
        (ChunkKind::Func, "sin"),
        (ChunkKind::Func, "cos"),
        (ChunkKind::TypeAlias, "D"),
        (ChunkKind::Type, "C"),
        (ChunkKind::Protocol, "P"),
        (ChunkKind::Func, "√"),
    ];
    let expected: Vec<_> = expected.iter().map(|(k, n)| (*k, n.to_string())).collect();
    assert_eq!(kinds(text), expected);
    let f = &split(text)[1];
    assert!(text[f.range.clone()].starts_with("/// Doc.") && text[f.range.clone()].ends_with("// }\n}"));
}

#[test]
fn any_text_is_cut_without_panic() {
    for text in [
        "",
        "\"",
        "{",
        "}",
        "/*",
        "@",
        "@(",
        "func",
        "let (",
        "√",
        "#\"",
        "\\",
        "`",
        "a\u{301}",
        "extension",
        "é;é",
        "\"\\(",
    ] {
        split(text);
    }
}

#[test]
fn pieces_read_apart_are_the_whole() {
    super::roomy(|| {
        for (name, text) in super::programs().filter(|p| !p.1.contains("#if")) {
            let whole: String = dump(&parse(text, 0).file);
            let mut apart = String::new();
            for chunk in split(text) {
                let parsed = parse(&text[chunk.range.clone()], chunk.range.start as u32);
                assert!(parsed.diagnostics.is_empty(), "{name}: {:?} {:?}", &text[chunk.range], parsed.diagnostics);
                apart += &dump(&parsed.file);
            }
            assert_eq!(whole, apart, "{name}");
        }
    });
}
