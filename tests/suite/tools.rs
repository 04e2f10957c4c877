//! Tests of `dscript test`, `dscript fmt` and file access: the output, the written files and the unchanged ones.

use crate::harness::folder::{Folder, ended, said};
use crate::harness::{self, dscript, files, root};
use std::fs;

const GOOD: &str = "var n = 0\nprint(\"begins\")\n\
    test \"first\" { n += 1; expect(n, equals: 1) }\ntest \"second\" { n += 1; expect(n, equals: 1) }\n";
const BAD: &str = "test \"trap\" {\n    print(\"here\")\n    let a = [1], i = 3\n    print(a[i])\n}\n\
    test \"values\" { expect(1 + 1, equals: 3, \"a sum\") }\ntest \"fine\" { expect(true) }\n\
    test \"thrown\" { throw Oops() }\nstruct Oops: Error {}\ntest \"leaves\" { exit(7) }\n";

/// Removes times from the output.
fn plain(stdout: &str) -> String {
    let line = |line: &str| line.split("   ").next().unwrap_or_default().to_owned() + "\n";
    stdout
        .lines()
        .map(|text| if let Some(rest) = text.strip_prefix("  ") { "  ".to_owned() + &line(rest) } else { line(text) })
        .collect()
}

#[test]
fn a_failed_expectation_shows_the_variables_in_it() {
    let program = "f(x) = x^2\nlet a = 2.0\n\
                   test \"t\" { let b = 3.0; expect(f(a) + b, equals: 5) }\n\
                   test \"u\" { let xs = [1, 2]; expect(xs.map { x in x + 1 }.count > 2 && a > 0) }\n\
                   test \"v\" { let y = 2.0; expect(y, equals: 3) }\n";
    let finished = Folder::new("variables").with("a.dscript", program).run(&["test", "a.dscript"]);
    for message in [
        "expected 5.0, found 7.0 (a = 2.0, b = 3.0)\n",
        "this does not hold (xs = [1, 2], a = 2.0)\n",
        "expected 3.0, found 2.0\n",
    ] {
        assert!(finished.stderr.contains(message), "{message}: {}", finished.stderr);
    }
}

#[test]
fn each_test_runs_in_isolation() {
    let folder = Folder::new("own").with("a.dscript", GOOD);
    let finished = folder.run(&["test", "a.dscript"]);
    assert_eq!(plain(&finished.stdout), "a.dscript\n  ✔ first\n  ✔ second\n2 passed, 0 failed\n");
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""));
    assert!(finished.stdout.contains(" ms\n"), "the running time: {}", finished.stdout);
    ended(&folder.run(&["a.dscript"]), 0, "begins\n");
}

#[test]
fn skipped_tests_are_counted_apart() {
    let testing = "import Testing\n@Test(.disabled(\"later\")) func a() {}\n@Test func b() { #expect(1 == 1) }\n\
                   @Test(.disabled()) func c() {}\n";
    let cases =
        "import XCTest\nfinal class D: XCTestCase {\n    func testE() throws { throw XCTSkip(\"no disk\") }\n}\n";
    let folder = Folder::new("skipped").with("a.swift", testing).with("d.swift", cases);
    let finished = folder.run(&["test"]);
    let expected = "a.swift\n  – a skipped: later\n  ✔ b\n  – c skipped\nd.swift\n  – D: testE skipped: no disk\n\
                    1 passed, 0 failed, 3 skipped\n";
    assert_eq!(plain(&finished.stdout), expected);
    assert_eq!(finished.status, Some(0));
    let json = folder.run(&["test", "--json"]).stdout;
    assert!(json.contains(r#""passed":1,"failed":0,"skipped":3,"leftOut":0"#), "{json}");
}

#[test]
fn a_failure_does_not_stop_the_next_test() {
    let finished = Folder::new("failures").with("a.dscript", BAD).run(&["test"]);
    let expected = "a.dscript\n  ✘ trap\n  ✘ values\n  ✔ fine\n  ✘ thrown\n  ✘ leaves\n1 passed, 4 failed\n";
    assert_eq!(plain(&finished.stdout), expected);
    assert_eq!(finished.status, Some(4));
    for words in [
        "a.dscript:4:11",
        "output:\n  | here\n",
        "a sum: expected 3, found 2",
        "a.dscript:6:17",
        "expect(1 + 1, equals: 3, \"a sum\")",
        "uncaught error: Oops()",
        "the test ended the program with exit(7)",
    ] {
        said(&finished, words);
    }
}

#[test]
fn statements_that_fail_fail_all_tests_of_their_file() {
    let text = "let a: [Int] = []\nprint(a[0])\ntest \"one\" {}\ntest \"two\" {}\n";
    let finished = Folder::new("before").with("a.dscript", text).run(&["test"]);
    assert!(finished.stdout.contains("1 more, for the same reason"), "{}", finished.stdout);
    assert_eq!(finished.status, Some(4));
    said(&finished, "the top-level statements of the file failed before its tests started");
}

#[test]
fn tests_are_found_and_filtered() {
    let folder = Folder::new("found")
        .with("b.dscript", GOOD)
        .with("a.swift", "test \"third\" {}\n")
        .with("c.txt", "test \"no\" {}");
    fs::create_dir_all(folder.0.join("inner/.hidden")).unwrap();
    fs::write(folder.0.join("inner/d.dscript"), "import \"../b.dscript\"\ntest \"fourth\" { expect(n, equals: 0) }\n")
        .unwrap();
    fs::write(folder.0.join("inner/.hidden/e.dscript"), "test \"no\" {}\n").unwrap();
    let all = "a.swift\n  ✔ third\nb.dscript\n  ✔ first\n  ✔ second\ninner/d.dscript\n  ✔ fourth\n4 passed, 0 failed\n";
    assert_eq!(plain(&folder.run(&["test"]).stdout), all);
    assert_eq!(plain(&folder.run(&["test", "inner"]).stdout), "inner/d.dscript\n  ✔ fourth\n1 passed, 0 failed\n");
    let some = "b.dscript\n  ✔ first\n1 passed, 0 failed, 3 left out\n";
    assert_eq!(plain(&folder.run(&["test", "--filter", "irs"]).stdout), some);
    ended(&folder.run(&["test", "--filter", "nothing"]), 0, "no tests, 4 left out\n");
    ended(&folder.run(&["test", "nowhere"]), 2, "");
}

#[test]
fn tests_of_a_package_import_its_modules() {
    let folder = Folder::new("package")
        .with("Package.swift", "// swift-tools-version:6.0\nimport PackageDescription\n")
        .with(
            "Sources/Sorting/Quick.swift",
            "import Base\nfunc quick(_ xs: [Int]) -> [Int] { xs.sorted(by: ordered) }\n",
        )
        .with("Sources/Sorting/Inner/Slow.swift", "func slow(_ xs: [Int]) -> [Int] { quick(xs) }\n")
        .with("Sources/Base/Order.swift", "func ordered(_ a: Int, _ b: Int) -> Bool { a < b }\n")
        .with(
            "Tests/SortingTests/SortingTests.swift",
            "import XCTest\n@testable import Sorting\nclass SortingTests: XCTestCase {\n  func testBoth() {
                XCTAssertEqual(quick([2, 1]), Sorting.slow([1, 2]))\n  }\n}\n",
        );
    let all = "Tests/SortingTests/SortingTests.swift\n  ✔ SortingTests: testBoth\n1 passed, 0 failed\n";
    assert_eq!(plain(&folder.run(&["test", "Tests"]).stdout), all);
    assert_eq!(plain(&folder.run(&["test"]).stdout), all);
    let ran = folder.run(&["Tests/SortingTests/SortingTests.swift"]);
    ended(&ran, 0, "SortingTests\n  ✔ testBoth\n1 passed, 0 failed\n");
    // The files of a folder of tests are one module.
    let folder = folder
        .with("Tests/SortingTests/Helpers.swift", "func sorted(_ xs: [Int]) -> Bool { xs == xs.sorted() }\n")
        .with("Tests/LinuxMain.swift", "import XCTest\nimport SortingTests\nXCTMain([])\n")
        .with(
            "Tests/SortingTests/MoreTests.swift",
            "import XCTest\nimport Sorting\nfinal class MoreTests: XCTestCase {\n  func testMore() {
                XCTAssertTrue(sorted(quick([2, 1])))\n  }\n}\n",
        );
    let more = "Tests/SortingTests/MoreTests.swift\n  ✔ MoreTests: testMore\n";
    assert_eq!(
        plain(&folder.run(&["test", "Tests/SortingTests/MoreTests.swift"]).stdout),
        format!("{more}1 passed, 0 failed\n")
    );
    assert_eq!(plain(&folder.run(&["test"]).stdout).lines().count(), 5);
    // A file of one module may have the name of another one, and imports have several forms.
    let folder = folder
        .with("Sources/Sorting/Base.swift", "@_exported import Base // ordered\nimport func Base.ordered\n")
        .with("Sources/Sorting/Quick.swift", "func quick(_ xs: [Int]) -> [Int] { xs.sorted(by: ordered) }\n");
    assert_eq!(plain(&folder.run(&["test"]).stdout).lines().count(), 5);
    // The program of an executable module is not part of the module, and an error in one file stops its tests only.
    let folder = folder.with("Sources/Sorting/main.swift", "print(\"the program\")\n").with(
        "Tests/SortingTests/BrokenTests.swift",
        "import XCTest\nclass B: XCTestCase { func testB() { oops() } }\n",
    );
    let finished = folder.run(&["test"]);
    assert_eq!(plain(&finished.stdout).lines().count(), 5, "{}", finished.stdout);
    assert!(finished.stderr.contains("cannot find 'oops'"), "{}", finished.stderr);
    // A given file of the module stands for the module.
    let given = folder.run(&[
        "Sources/Base/Order.swift",
        "Sources/Sorting/Quick.swift",
        "Sources/Sorting/Inner/Slow.swift",
        "Tests/SortingTests/SortingTests.swift",
    ]);
    ended(&given, 0, "SortingTests\n  ✔ testBoth\n1 passed, 0 failed\n");
    let missing = Folder::new("no-package").with("a.swift", "@testable import Sorting\n").run(&["a.swift"]);
    assert!(missing.stderr.contains("no such module 'Sorting'"), "{}", missing.stderr);
}

#[test]
fn test_cases_inherit_from_test_cases_in_other_files() {
    let base =
        "import XCTest\nclass Common: XCTestCase {\n  func testShared() {}\n  func testOther() { XCTFail() }\n}\n";
    let more = "import \"Base.swift\"\nfinal class More: Common {\n  func testOwn() { XCTAssertEqual(1, 1) }\n\
                  override func testOther() {}\n}\n";
    let folder = Folder::new("bases").with("Base.swift", base).with("More.swift", more);
    let all = "More.swift\n  ✔ More: testShared\n  ✔ More: testOwn\n  ✔ More: testOther\n3 passed, 0 failed\n";
    assert_eq!(plain(&folder.run(&["test", "More.swift"]).stdout), all);
    let both = folder.run(&["Base.swift", "More.swift"]);
    assert!(both.stdout.ends_with("4 passed, 1 failed\n"), "{}", both.stdout);
}

#[test]
fn files_that_do_not_compile_are_reported_and_the_others_run() {
    let folder = Folder::new("broken").with("a.dscript", "test \"a\" { oops }\n").with("b.dscript", GOOD);
    let finished = folder.run(&["test"]);
    assert_eq!(plain(&finished.stdout), "b.dscript\n  ✔ first\n  ✔ second\n2 passed, 0 failed\n");
    assert_eq!(finished.status, Some(3));
    said(&finished, "cannot find 'oops' in scope");
    ended(&folder.run(&["check", "a.dscript"]), 3, "");
    ended(&folder.run(&["a.dscript"]), 0, "");
}

#[test]
fn tests_in_another_notation_are_errors() {
    for program in
        ["test(\"add\") { expect(1 == 2) }\n", "test add { expect(1 == 2) }\n", "test 'add' { expect(true) }\n"]
    {
        let finished = Folder::new("notation").with("a.dscript", program).run(&["test", "a.dscript"]);
        assert_eq!(finished.status, Some(3), "{program}");
        assert!(finished.stderr.contains("test \"add\" {"), "{program}: {}", finished.stderr);
    }
}

#[test]
fn tests_of_a_file_have_unique_names() {
    let folder = Folder::new("names").with("a.dscript", "test \"one\" {}\ntest \"one\" {}\n");
    let finished = folder.run(&["test"]);
    ended(&finished, 3, "");
    said(&finished, "invalid redeclaration of 'test \"one\"'");
}

#[test]
fn registered_derivatives_are_compared() {
    let text = "func own(_ x: Double) -> Double { x * x }\n@derivative(of: own)\n\
        func _(_ x: Double) -> (value: Double, pullback: (Double) -> Double) { (value: x * x, pullback: { v in 3 * x * v }) }\n\
        test \"slope\" { expect(gradient(at: 2, in: own) > 0) }\n";
    let finished = Folder::new("derivatives").with("a.dscript", text).run(&["test"]);
    assert_eq!(finished.status, Some(4));
    said(&finished, "E0611");
}

#[test]
fn each_test_has_a_separate_time_limit() {
    let text = "test \"long\" { while true {} }\ntest \"short\" {}\n";
    let finished = Folder::new("time").with("a.dscript", text).run(&["test", "--timeout", "2"]);
    assert_eq!(plain(&finished.stdout), "a.dscript\n  ✘ long\n  ✔ short\n1 passed, 1 failed\n");
    assert_eq!(finished.status, Some(4));
}

#[test]
fn programs_are_formatted_in_one_style() {
    let folder = Folder::new("fmt")
        .with("a.dscript", "let  x=1\n")
        .with("b.dscript", "let y = 2\n")
        .with("c.dscript", "let = 3\n");
    ended(&folder.run(&["fmt", "--check", "a.dscript", "b.dscript"]), 5, "a.dscript\n");
    assert_eq!(fs::read_to_string(folder.0.join("a.dscript")).unwrap(), "let  x=1\n", "--check writes nothing");
    let finished = folder.run(&["fmt"]);
    ended(&finished, 3, "");
    said(&finished, "c.dscript:1:5");
    let now = |name: &str| fs::read_to_string(folder.0.join(name)).unwrap();
    assert_eq!([now("a.dscript"), now("b.dscript"), now("c.dscript")], ["let x = 1\n", "let y = 2\n", "let = 3\n"]);
    ended(&folder.run(&["fmt", "--check", "a.dscript", "b.dscript"]), 0, "");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3, "no other file remains");
}

#[test]
fn standard_input_is_formatted() {
    ended(&dscript(&["fmt", "-"], b"f(x)=x*2", root()), 0, "f(x) = x * 2\n");
    ended(&dscript(&["fmt", "-"], b"f(", root()), 3, "");
}

#[cfg(unix)]
#[test]
fn formatting_preserves_links_and_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("links").with("a.dscript", "let  x=1\n");
    let file = folder.0.join("a.dscript");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o754)).unwrap();
    std::os::unix::fs::symlink("a.dscript", folder.0.join("link.dscript")).unwrap();
    ended(&folder.run(&["fmt", "link.dscript"]), 0, "");
    assert!(folder.0.join("link.dscript").is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "let x = 1\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o754);
}

#[test]
fn a_new_program_passes_its_test_and_is_formatted() {
    let folder = Folder::new("new");
    ended(
        &folder.run(&["new", "wave"]),
        0,
        "created wave.dscript; run it with 'dscript wave.dscript', test it with 'dscript test wave.dscript'\n",
    );
    ended(&folder.run(&["wave.dscript"]), 0, "f(2) is 4.0, and its derivative there 10.0\n");
    assert_eq!(folder.run(&["test"]).status, Some(0));
    ended(&folder.run(&["fmt", "--check"]), 0, "");
    fs::write(folder.0.join("wave.dscript"), "mine").unwrap();
    let again = folder.run(&["new", "wave"]);
    ended(&again, 2, "");
    said(&again, "it already exists");
    assert_eq!(fs::read_to_string(folder.0.join("wave.dscript")).unwrap(), "mine");
    ended(&folder.run(&["new", "nowhere/wave"]), 2, "");
}

/// Returns the kinds of lines, with the member `wanted` of each.
fn kinds(stdout: &str, wanted: &str) -> Vec<String> {
    let line = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        if object[wanted].is_null() { kind } else { format!("{kind} {}", object[wanted]) }
    };
    stdout.lines().map(line).collect()
}

#[test]
fn all_output_is_written_as_json() {
    let folder =
        Folder::new("json").with("a.dscript", "print(1, \"ü\")\nlet a = [1]\nprint(a[3])\n").with("b.dscript", GOOD);
    let value = folder.run(&["--json", "-e", "print(1); 2.5"]);
    let lines = "{\"kind\":\"start\",\"schema\":1,\"version\":\"0.1.0\"}\n{\"kind\":\"output\",\"text\":\"1\\n\"}\n\
        {\"kind\":\"value\",\"type\":\"Double\",\"text\":\"2.5\"}\n{\"kind\":\"exit\",\"code\":0}\n";
    ended(&value, 0, lines);
    let run = folder.run(&["run", "--json", "a.dscript"]);
    assert_eq!(kinds(&run.stdout, "code"), ["start", "output", "diagnostic \"E0601\"", "exit 1"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(1), ""));
    assert_eq!(kinds(&folder.run(&["check", "--json", "a.dscript"]).stdout, "code"), ["start", "exit 0"]);
    let test = folder.run(&["test", "--json"]);
    assert_eq!(kinds(&test.stdout, "passed"), ["start", "test true", "test true", "summary 2", "exit"]);
    let missing = folder.run(&["run", "--json", "none.dscript"]);
    assert_eq!(kinds(&missing.stdout, "code"), ["start", "exit 2"]);
}

#[test]
fn inaccessible_files_are_not_touched() {
    let read = "print(readLines(CommandLine.arguments[1]).count)\n";
    let folder =
        Folder::new("reach").with("a.dscript", "print(readLines(\"near.txt\").count)\n").with("near.txt", "x\n");
    let folder = folder.with("secret.txt", "x\ny\n");
    fs::create_dir_all(folder.0.join("inner")).unwrap();
    fs::write(folder.0.join("inner/read.dscript"), read).unwrap();
    fs::write(folder.0.join("inner/own.txt"), "x\n").unwrap();
    fs::write(folder.0.join("inner/import.dscript"), "import \"../a.dscript\"\n").unwrap();
    let inner = |arguments: &[&str]| dscript(arguments, b"", &folder.0.join("inner"));
    // The working folder, and the program's folder.
    ended(&folder.run(&["a.dscript"]), 0, "1\n");
    ended(&folder.run(&["inner/read.dscript", "--", "secret.txt"]), 0, "2\n");
    ended(&folder.run(&["inner/read.dscript", "--", "inner/own.txt"]), 0, "1\n");
    for path in ["../secret.txt", "/etc/passwd", "./../secret.txt", "../none.txt"] {
        let finished = inner(&["read.dscript", "--", path]);
        ended(&finished, 1, "");
        said(&finished, &format!("cannot read '{path}': it is outside the folders"));
        said(&finished, "--allow-read=");
    }
    ended(&inner(&["read.dscript", "--allow-read=..", "--", "../secret.txt"]), 0, "2\n");
    // Code on the command line has no folder.
    ended(&inner(&["-e", "print(readLines(\"own.txt\").count)"]), 0, "1\n");
    ended(&inner(&["-e", "readLines(\"../secret.txt\").count"]), 1, "");
    // Imports are subject to the same rule.
    let import = inner(&["import.dscript"]);
    ended(&import, 3, "");
    said(&import, "cannot import '../a.dscript'");
    ended(&inner(&["check", "--allow-read=..", "import.dscript"]), 0, "");
    // So is writing to files.
    let finished = inner(&["-e", "write(\"a\", to: \"../new.txt\")"]);
    ended(&finished, 1, "");
    said(&finished, "--allow-write=..");
    assert!(!folder.0.join("new.txt").exists());
    ended(&inner(&["-e", "write(\"a\", to: \"../new.txt\")", "--allow-write", ".."]), 0, "");
    ended(&inner(&["-e", "write(\"a\", to: \"new.txt\")"]), 0, "");
}

#[test]
fn files_are_written_read_and_removed() {
    let program = r#"
try write("a\nb\n", to: "new.txt")
try append("c", to: "new.txt")
append("d", to: "other.txt")
print(try readText("new.txt").count, try readLines("new.txt"), readText("other.txt"))
try createDirectory("deep/deeper")
try write(["x", "y"], to: "deep/lines.txt")
print(try listDirectory("deep"), isDirectory("deep/deeper"), fileExists("deep/lines.txt"))
let table = Table([Column("name", ["Ann"]), Column("n", [2.0])])
writeCSV(table, to: "table.csv")
print(readCSV("table.csv").text("name"), readText("table.csv"), terminator: "")
struct User: Codable, Equatable { var name: String }
try writeJSON([User(name: "Bo")], to: "users.json")
print(readJSON("users.json")[0]["name"], try readJSON("users.json", as: [User].self))
try write("[{\"name\": 1}]", to: "users.json")
do { print(try readJSON("users.json", as: [User].self)) } catch { print(error) }
do { try removeFile("deep") } catch { print("not empty") }
for name in ["deep/lines.txt", "deep/deeper", "deep", "new.txt", "other.txt", "table.csv", "users.json"] { removeFile(name) }
print(listDirectory())
try "x".write(toFile: "y", atomically: true, encoding: .utf8)
print(try String(contentsOfFile: "y"))
"#;
    let folder = Folder::new("written").with("a.dscript", program);
    let expected = "5 [\"a\", \"b\", \"c\"] d\n[\"deeper\", \"lines.txt\"] true true\n[\"Ann\"] name,n\nAnn,2\n\"Bo\" \
                    [User(name: \"Bo\")]\nusers.json: [0].name: expected a string, found a number\nnot empty\n[\"a.dscript\"]\nx\n";
    ended(&folder.run(&["a.dscript"]), 0, expected);
    // What lies outside of the folders is not changed, whether the error is caught or not.
    fs::create_dir_all(folder.0.join("inner")).unwrap();
    let inner = |code: &str| dscript(&["-e", code], b"", &folder.0.join("inner"));
    for call in [
        "removeFile(\"../a.dscript\")",
        "append(\"x\", to: \"../a.dscript\")",
        "createDirectory(\"../new\")",
        "listDirectory(\"..\")",
        "readJSON(\"../a.dscript\")",
        "writeCSV(Table([]), to: \"../new\")",
    ] {
        let stopped = inner(call);
        ended(&stopped, 1, "");
        said(&stopped, "E0902");
        let caught = inner(&format!("do {{ _ = try {call} }} catch {{ print(error) }}"));
        assert!(caught.stdout.contains("it is outside the folders"), "{call}: {}", caught.stdout);
    }
    assert_eq!(fs::read_to_string(folder.0.join("a.dscript")).unwrap(), program);
    assert!(!folder.0.join("new").exists());
}

#[test]
fn the_file_manager_copies_moves_and_removes() {
    let program = r#"
import Foundation
let (manager, folder) = (FileManager.default, URL(fileURLWithPath: "made", isDirectory: false))
try manager.createDirectory(at: folder.appendingPathComponent("inner"), withIntermediateDirectories: true, attributes: nil)
let file = folder.appendingPathComponent("a.bin")
try Data([0, 255, 10]).write(to: file, options: .atomic)
try "né".write(to: folder.appendingPathComponent("inner/b.txt"), atomically: true, encoding: .utf16)
print(Array(try Data(contentsOf: file)), try String(contentsOf: folder.appendingPathComponent("inner/b.txt"), encoding: .utf16))
try manager.copyItem(at: folder, to: URL(fileURLWithPath: "copy"))
try manager.moveItem(atPath: "copy/a.bin", toPath: "copy/c.bin")
print(try manager.subpathsOfDirectory(atPath: "copy"), manager.contentsEqual(atPath: "made/a.bin", andPath: "copy/c.bin"))
print(try manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map { $0.lastPathComponent })
var isFolder: ObjCBool = false
print(manager.fileExists(atPath: "made", isDirectory: &isFolder), isFolder.boolValue, manager.contents(atPath: "none") as Any)
print(manager.createFile(atPath: "made/d", contents: Data("x".utf8)), try String(contentsOf: URL(filePath: "made/d")))
do { try Data().write(to: file, options: .withoutOverwriting) } catch { print(error) }
do { try manager.copyItem(atPath: "made/d", toPath: "made/a.bin") } catch { print(error) }
do { print(try Data(contentsOf: URL(fileURLWithPath: "none"))) } catch { print(error) }
do { print(try String(contentsOf: file)) } catch { print(error) }
try manager.removeItem(at: folder)
try manager.removeItem(atPath: "copy")
print(try manager.contentsOfDirectory(atPath: "."))
"#;
    let folder = Folder::new("managed").with("a.dscript", program);
    let expected = "[0, 255, 10] né\n[\"c.bin\", \"inner\", \"inner/b.txt\"] true\n[\"a.bin\", \"inner\"]\ntrue true nil\n\
                    true x\nmade/a.bin: the file exists\nmade/a.bin: the file exists\n\
                    cannot read 'none': No such file or directory\n\
                    made/a.bin: the content is not text in the given encoding\n[\"a.dscript\"]\n";
    ended(&folder.run(&["a.dscript"]), 0, expected);
}

#[test]
fn file_handles_read_and_write_parts() {
    let program = r#"
import Foundation
FileHandle.standardError.write("warn\n".data(using: .utf8)!)
FileHandle.standardOutput.write(Data("out\n".utf8))
FileManager.default.createFile(atPath: "a.bin", contents: Data([1, 2, 3]))
let handle = try FileHandle(forUpdating: URL(fileURLWithPath: "a.bin"))
try handle.seekToEnd()
try handle.write(contentsOf: [4, 5])
handle.seek(toFileOffset: 1)
handle.write(Data([9, 9]))
print(Array(handle.readDataToEndOfFile()), handle.offsetInFile)
try handle.truncate(atOffset: 4)
try handle.close()
let reader = FileHandle(forReadingAtPath: "a.bin")!
print(Array(reader.readData(ofLength: 2)), Array(try reader.readToEnd()!), try reader.read(upToCount: 1) as Any)
print(FileHandle(forReadingAtPath: "none") == nil)
print(String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: Unicode.UTF8.self).split(separator: "\n"))
do { try FileHandle.standardInput.write(contentsOf: [1]) } catch { print(error) }
"#;
    let folder = Folder::new("handles").with("a.dscript", program);
    let finished = dscript(&["a.dscript"], b"a\nb", &folder.0);
    let expected = "out\n[4, 5] 5\n[1, 9] [9, 4] nil\ntrue\n[\"a\", \"b\"]\nstandard input: it cannot be written\n";
    ended(&finished, 0, expected);
    said(&finished, "warn");
}

#[cfg(unix)]
#[test]
fn links_do_not_bypass_access_checks() {
    let folder = Folder::new("link-out").with("secret.txt", "x\n");
    fs::create_dir_all(folder.0.join("inner")).unwrap();
    std::os::unix::fs::symlink("../secret.txt", folder.0.join("inner/link.txt")).unwrap();
    let finished = dscript(&["-e", "readLines(\"link.txt\").count"], b"", &folder.0.join("inner"));
    ended(&finished, 1, "");
    said(&finished, "E0902");
    // A link may lead to a file that does not exist, through other links and folders.
    let outside = folder.0.join("new.txt");
    let links = [
        ("dangling", "../new.txt"),
        ("chain", "dangling"),
        ("absolute", outside.to_str().unwrap()),
        ("up", ".."),
        ("picture.svg", "../new.txt"),
    ];
    for (link, target) in links {
        std::os::unix::fs::symlink(target, folder.0.join("inner").join(link)).unwrap();
    }
    let drawn = "plot(sin, -1...1).save(\"picture.svg\")".to_owned();
    let written = ["dangling", "chain", "absolute", "up/new.txt", "up/inner/../new.txt"];
    for text in written.iter().map(|path| format!("write(\"x\", to: \"{path}\")")).chain([drawn]) {
        let finished = dscript(&["-e", &text], b"", &folder.0.join("inner"));
        ended(&finished, 1, "");
        said(&finished, "E0902");
        assert!(!outside.exists(), "{text}");
    }
    let import = "import \"up/secret.txt\"";
    said(&dscript(&["-e", import], b"", &folder.0.join("inner")), "it is outside the program's folders");
    // Compiled programs are restricted to the same folders.
    fs::write(folder.0.join("inner/built.dscript"), "write(\"x\", to: \"chain\")\n").unwrap();
    ended(&dscript(&["build", "built.dscript"], b"", &folder.0.join("inner")), 0, "");
    ended(&dscript(&["built.dsc"], b"", &folder.0.join("inner")), 1, "");
    assert!(!outside.exists());
}

#[test]
fn long_loops_report_their_progress() {
    let text = "for _ in progress(0..<1000, \"waiting\") {\n    let from = clock()\n    while clock() - from < 0.0025 {}\n}\nprint(\"done\")\n";
    let folder = Folder::new("progress").with("a.dscript", text);
    let finished = folder.run(&["--json", "a.dscript"]);
    let lines: Vec<&str> = finished.stdout.lines().filter(|line| line.contains("\"kind\":\"progress\"")).collect();
    let seconds = |line: &&str| serde_json::from_str::<serde_json::Value>(line).unwrap()["seconds"].as_f64().unwrap();
    let times: Vec<f64> = lines.iter().map(seconds).collect();
    assert!(!times.is_empty() && times.windows(2).all(|pair| pair[1] - pair[0] > 0.9), "a line a second: {times:?}");
    assert!(
        lines.iter().all(|line| line.contains("\"label\":\"waiting\",\"done\":") && line.contains("\"total\":1000"))
    );
    // The output is not a terminal.
    let plain = folder.run(&["a.dscript"]);
    ended(&plain, 0, "done\n");
    assert_eq!(plain.stderr, "");
}

/// A command that runs with `--watch` in a folder, with its standard output and standard error in files.
struct Watching {
    child: std::process::Child,
    folder: Folder,
}

impl Watching {
    fn new(folder: Folder, arguments: &[&str]) -> Watching {
        let file = |name: &str| fs::File::create(folder.0.join(name)).unwrap();
        let child = harness::command()
            .args(arguments)
            .current_dir(&folder.0)
            .stdin(std::process::Stdio::null())
            .stdout(file("out.txt"))
            .stderr(file("err.txt"))
            .spawn()
            .unwrap();
        Watching { child, folder }
    }

    /// Waits until one of the outputs satisfies a predicate.
    #[track_caller]
    fn until(&self, name: &str, is_wanted: impl Fn(&str) -> bool) {
        let start = std::time::Instant::now();
        loop {
            let text = fs::read_to_string(self.folder.0.join(name)).unwrap_or_default();
            if is_wanted(&text) {
                return;
            }
            assert!(start.elapsed() < harness::DEADLINE, "{name}: {text}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    fn save(&self, name: &str, text: &str) {
        // Like an editor: the new file is written under another name and then renamed.
        fs::write(self.folder.0.join("new.tmp"), text).unwrap();
        fs::rename(self.folder.0.join("new.tmp"), self.folder.0.join(name)).unwrap();
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_saved_file_runs_again() {
    let folder = Folder::new("watch")
        .with("a.dscript", "import \"b.dscript\"\nprint(nope, nada)\n")
        .with("b.dscript", "let b = 1\n");
    let watching = Watching::new(folder, &["run", "--watch", "a.dscript"]);
    watching.until("err.txt", |text| text.contains("exited with 3; waiting"));
    watching.until("err.txt", |text| text.contains("'nope'") && !text.contains("'nada'"));
    watching.save("a.dscript", "import \"b.dscript\"\nprint(\"b is\", b)\n");
    watching.until("out.txt", |text| text == "b is 1\n");
    watching.until("err.txt", |text| text.contains("exited with 0; waiting"));
    watching.save("b.dscript", "let b = 2\nprint(\"runs\")\nwhile true {}\n");
    std::thread::sleep(std::time::Duration::from_millis(300));
    // A running program is killed.
    watching.save("b.dscript", "let b = 3\n");
    watching.until("out.txt", |text| text.ends_with("b is 3\n"));
}

#[test]
fn watched_commands_need_files() {
    let folder = Folder::new("watch-nothing");
    let finished = folder.run(&["run", "--watch", "-e", "1"]);
    ended(&finished, 2, "");
    said(&finished, "--watch needs a file");
    ended(&folder.run(&["run", "--watch", "-"]), 2, "");
}

/// Every program of the repository has the standard style; `dscript fmt scripts prelude tests/run` formats them.
#[test]
fn the_repository_is_formatted() {
    ended(&dscript(&["fmt", "--check", "scripts", "prelude", "tests/run"], b"", root()), 0, "");
    assert!(files(&root().join("prelude"), &["dscript"]).len() > 30);
}
