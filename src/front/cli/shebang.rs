//! Shebang: passes all arguments after the name of a script that begins with `#!` to the script.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Returns the arguments of the process, with `--` inserted after a script that begins with `#!`, as is the case when
/// the system starts the script.
pub(super) fn words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = given.collect();
    if let Some(at) = script(&words)
        && words.get(at + 1).is_some_and(|next| *next != "--")
    {
        words.insert(at + 1, "--".into());
    }
    words
}

/// Returns the index of the script among the arguments, if the script begins with `#!`. The script follows the options
/// and their values, and the command `run`.
fn script(words: &[OsString]) -> Option<usize> {
    for at in 1..words.len() {
        let (before, word) = (&words[at - 1], &words[at]);
        if is_option(word) || *word == "run" {
            continue;
        }
        if names_interpreter(Path::new(word)) {
            return Some(at);
        }
        let may_be_value = is_option(before) && !before.as_encoded_bytes().contains(&b'=');
        if !may_be_value {
            return None;
        }
    }
    None
}

fn is_option(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

/// Whether a file begins with `#!`.
fn names_interpreter(path: &Path) -> bool {
    let mut start = [0; 2];
    path.is_file() && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_script_is_its_own() {
        let folder = std::env::temp_dir().join(format!("dscript-interpreter-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (script, plain) = (folder.join("a.dscript"), folder.join("b.dscript"));
        std::fs::write(&script, "#!/usr/bin/env dscript\nprint(1)\n").unwrap();
        std::fs::write(&plain, "print(1)\n").unwrap();
        let read = |given: &[&str]| words(given.iter().map(OsString::from)).len() - given.len();
        let (script_name, plain_name) = (script.to_str().unwrap(), plain.to_str().unwrap());
        assert_eq!(read(&["dscript", script_name, "a", "--b"]), 1);
        assert_eq!(read(&["dscript", "--color=never", "run", script_name, "a"]), 1);
        assert_eq!(read(&["dscript", "--seed", "3", script_name, "-n"]), 1);
        for unchanged in [
            &["dscript", script_name][..],
            &["dscript", script_name, "--", "a"],
            &["dscript", plain_name, "--seed", "1"],
            &["dscript", "check", script_name, "--color=never"],
            &["dscript", "-e", "1"],
        ] {
            assert_eq!(read(unchanged), 0, "{unchanged:?}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
