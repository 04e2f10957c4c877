//! Formatter tests: examples of the formatted style.

use crate::syntax::format::formatted;
use crate::syntax::tests::roomy;

#[track_caller]
fn becomes(text: &str, expected: &str) {
    let once = formatted(text, 0).unwrap_or_else(|d| panic!("{text:?}: {d:?}"));
    assert_eq!(once, expected);
    assert_eq!(formatted(&once, 0).as_deref(), Ok(expected), "written twice");
}

#[test]
fn blanks_stand_between_what_is_apart() {
    becomes("let  x=1 ;let y = [ 1,2 , 3 ]", "let x = 1; let y = [1, 2, 3]\n");
    becomes("f(x)=x ^ 2*sin( x )-2x+ -x", "f(x) = x^2 * sin(x) - 2x + -x\n");
    becomes("for i in 0 ..< n { print( i ) }", "for i in 0..<n { print(i) }\n");
    becomes("let r = 2 * i ..< n, s = a[1...]", "let r = 2 * i ..< n, s = a[1...]\n");
    becomes("let a = b ?c :d", "let a = b ? c : d\n");
    becomes("let d : [String : Int] = [ : ]", "let d: [String: Int] = [:]\n");
    becomes("xs.map{$0+1}.filter( {$0>2} )", "xs.map { $0 + 1 }.filter({ $0 > 2 })\n");
    becomes("func f<T : P>( _ x : T )->T{ x }", "func f<T: P>(_ x: T) -> T { x }\n");
    becomes("func + <T>(a: T, b: T) -> T {a}", "func + <T>(a: T, b: T) -> T { a }\n");
    becomes(
        "let v = ∇g(1,2), w = ∇{ x in x*x }(3), p = f''( 2 )",
        "let v = ∇g(1, 2), w = ∇{ x in x * x }(3), p = f''(2)\n",
    );
    becomes("if(a){b}else if c{d}", "if (a) { b } else if c { d }\n");
    becomes("test  \"x\"{expect(1==1)}", "test \"x\" { expect(1 == 1) }\n");
}

#[test]
fn lines_are_indented_by_what_is_open() {
    becomes(
        "if a {\nb(\nc,\nd)\n}\nelse {\ne\n}",
        "if a {\n    b(\n        c,\n        d\n    )\n} else {\n    e\n}\n",
    );
    becomes("switch x {\n  case 1:\n  a\n  default: b\n}", "switch x {\ncase 1:\n    a\ndefault: b\n}\n");
    becomes("let x = a\n+ b\n.c", "let x = a\n    + b\n    .c\n");
    becomes("guard let a,\nlet b else {\nreturn\n}", "guard let a,\n    let b else {\n    return\n}\n");
    becomes("xs\n.map {\n$0\n}\n.sum()", "xs\n    .map {\n        $0\n    }\n    .sum()\n");
    becomes("struct P<\nA,\nB\n> {\nlet a: A\n}", "struct P<\n    A,\n    B\n> {\n    let a: A\n}\n");
    becomes("let p: P<\nInt, Int, > = q", "let p: P<\n    Int, Int,\n> = q\n");
    becomes("struct P<A, B , > {}", "struct P<A, B,> {}\n");
}

#[test]
fn blocks_and_lists_are_broken_completely() {
    becomes(
        "func f(_ y: Int) -> Int {\nif y > 2 { return y } else {\nreturn 0 }\n}",
        "func f(_ y: Int) -> Int {\n    if y > 2 { return y } else {\n        return 0\n    }\n}\n",
    );
    becomes("func g() { let a = 1\nprint(a) }", "func g() {\n    let a = 1\n    print(a)\n}\n");
    becomes("let h = { x in\nx + 1 }", "let h = { x in\n    x + 1\n}\n");
    becomes("let h = { x in let y = x\nreturn y }", "let h = { x in\n    let y = x\n    return y\n}\n");
    becomes("if a { b\n} else { c\n}", "if a {\n    b\n} else {\n    c\n}\n");
    becomes("for x in xs { a(x)\nb(x) }", "for x in xs {\n    a(x)\n    b(x)\n}\n");
    becomes("let xs = [\n1, 2,\n3, 4]", "let xs = [\n    1, 2,\n    3, 4\n]\n");
    // A line break that is only inside nested brackets breaks nothing else.
    becomes("let xs = [1, 2,\n3]", "let xs = [1, 2,\n    3]\n");
    becomes("f { g(1,\n2) }", "f { g(1,\n    2) }\n");
    becomes("f { // why\na }", "f {  // why\n    a\n}\n");
}

#[test]
fn one_empty_line_is_enough() {
    becomes("\n\na\n\n\n\nb\n\n", "a\n\nb\n");
    becomes("f {\n\na\n\n}", "f {\n    a\n}\n");
    becomes("", "");
    becomes("\n \n", "");
}

#[test]
fn comments_stay() {
    becomes("a // b\r\n//c \n", "a  // b\n//c \n");
    becomes("let q  = n // 2", "let q = n // 2\n");
    becomes("let q = n//2", "let q = n//2\n");
    becomes("let q = f(n) // 2", "let q = f(n)  // 2\n");
    becomes("a          // one\nbb         // two\n", "a          // one\nbb         // two\n");
    becomes("f {\n// in\na // after\n// last\n}", "f {\n    // in\n    a  // after\n    // last\n}\n");
    becomes("a /* x */ + /* y /* z */ */ b", "a /* x */ + /* y /* z */ */ b\n");
    becomes("#!/usr/bin/env dscript\nlet x=1", "#!/usr/bin/env dscript\nlet x = 1\n");
    becomes(
        "#if os(macOS)\n  let   a\n#else\nlet b=1\n#endif\n",
        "#if os(macOS)\n  let   a\n#else\nlet b = 1\n#endif\n",
    );
}

#[test]
fn texts_are_copied() {
    becomes("let s = \"\"\"\n   a\n  b  \n  \"\"\"", "let s = \"\"\"\n   a\n  b  \n  \"\"\"\n");
    becomes("print(\"a  \\( x+1 )\",#\"\\ \"#)", "print(\"a  \\( x+1 )\", #\"\\ \"#)\n");
}

#[test]
fn what_cannot_be_read_is_refused() {
    for text in ["let = 1", "(", "\"a", "/* a", "}"] {
        assert!(formatted(text, 0).is_err(), "{text}");
    }
}

#[test]
fn deep_and_long_texts_take_little() {
    roomy(|| {
        let deep = format!("{}1{}", "[".repeat(250), "]".repeat(250));
        assert_eq!(formatted(&deep, 0), Ok(format!("{deep}\n")));
        let chain = format!("let x = {}", "1 + ".repeat(1500) + "1");
        assert_eq!(formatted(&chain, 0), Ok(format!("{chain}\n")));
        let nested = "if a {\n".repeat(200) + &"}\n".repeat(200);
        assert!(formatted(&nested, 0).is_ok_and(|text| text.lines().count() == 400));
    });
}
