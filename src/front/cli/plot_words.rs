//! Plot words: formulas and bounds on the command line that begin with a minus sign, such as `-x` and `-1..4`.

use std::ffi::OsString;

/// The options of one letter that `dscript plot` understands, which are no formulas.
const OPTIONS: [&str; 3] = ["-o", "-h", "-V"];

/// Puts a blank before each formula of `dscript plot` that begins with a minus sign, so that the formula is not parsed
/// as an option.
pub(super) fn words(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let command = words.iter().skip(1).position(|word| word == "plot").map(|at| at + 1);
    // Before the command there are only options.
    let command = command.filter(|at| words[1..*at].iter().all(|word| word.to_string_lossy().starts_with('-')));
    for word in words.iter_mut().skip(command.unwrap_or(usize::MAX).saturating_add(1)) {
        let text = word.to_string_lossy();
        let is_option = text.starts_with("--") || OPTIONS.contains(&&*text) || text == "-";
        if text.starts_with('-') && !is_option {
            *word = format!(" {text}").into();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> String {
        let found = words(line.split(' ').map(OsString::from));
        found.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn formulas_are_no_options() {
        assert_eq!(read("dscript plot -x -1..4 -o a.svg --seed 1"), "dscript|plot| -x| -1..4|-o|a.svg|--seed|1");
        assert_eq!(read("dscript --color=never plot -x"), "dscript|--color=never|plot| -x");
        assert_eq!(read("dscript a.dscript plot -x"), "dscript|a.dscript|plot|-x");
        assert_eq!(read("dscript"), "dscript");
    }
}
