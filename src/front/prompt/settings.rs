//! Settings: the options that `:set NAME VALUE` changes. The list, completion and error messages are derived from one
//! table.

use super::{Flow, Prompt};
use crate::front::help_pages;
use crate::front::units::{bytes, depth, seconds};
use crate::session::{CheckNan, CompileMode, Kinks, closest, in_bytes};
use std::num::NonZeroUsize;

/// A setting of the prompt.
struct Setting {
    name: &'static str,
    /// The possible values of the setting.
    values: &'static str,
    /// A short description of the setting.
    meaning: &'static str,
    /// The function that returns the value of the setting as a string.
    shown: fn(&Prompt) -> String,
    /// The function that changes the value of the setting, or returns an error message.
    change: fn(&mut Prompt, &str) -> Result<(), String>,
}

const SETTINGS: &[Setting] = &[
    Setting {
        name: "digits",
        values: "1 to 17, all",
        meaning: "how many significant digits of a number are shown",
        shown: |prompt| prompt.digits.map_or("all".into(), |digits| digits.to_string()),
        change: |prompt, word| {
            prompt.digits = match word {
                "all" => None,
                _ => Some(number(word).ok().filter(|n| (1..=17).contains(n)).ok_or("a number of digits was expected")?
                    as usize),
            };
            Ok(())
        },
    },
    Setting {
        name: "abbreviate",
        values: "on, off",
        meaning: "whether long values are abbreviated",
        shown: |prompt| switch(prompt.options.abbreviates),
        change: |prompt, word| switched(word).map(|is_on| prompt.options.abbreviates = is_on),
    },
    Setting {
        name: "color",
        values: "on, off",
        meaning: "whether output is colored",
        shown: |prompt| switch(prompt.render_style.is_colored),
        change: |prompt, word| switched(word).map(|is_on| prompt.render_style.is_colored = is_on),
    },
    Setting {
        name: "kinks",
        values: "noted, ignored, refused",
        meaning: "what happens when a function is differentiated at a kink",
        shown: |prompt| named(KINKS, prompt.options.kinks),
        change: |prompt, word| chosen(KINKS, word).map(|kinks| prompt.options.kinks = kinks),
    },
    Setting {
        name: "check-nan",
        values: "off, result, always",
        meaning: "whether infinite or NaN derivatives stop the program",
        shown: |prompt| named(CHECKS, prompt.options.check_nan),
        change: |prompt, word| chosen(CHECKS, word).map(|check| prompt.options.check_nan = check),
    },
    Setting {
        name: "check-derivatives",
        values: "on, off",
        meaning: "whether registered derivatives are compared with finite differences",
        shown: |prompt| switch(prompt.options.check_derivatives),
        change: |prompt, word| switched(word).map(|is_on| prompt.options.check_derivatives = is_on),
    },
    Setting {
        name: "deny-warnings",
        values: "on, off",
        meaning: "whether inputs with warnings are rejected",
        shown: |prompt| switch(prompt.options.deny_warnings),
        change: |prompt, word| switched(word).map(|is_on| prompt.options.deny_warnings = is_on),
    },
    Setting {
        name: "seed",
        values: "an integer",
        meaning: "the seed of random numbers; setting it restarts them",
        shown: |prompt| prompt.options.seed.to_string(),
        change: |prompt, word| {
            prompt.options.seed = number(word)?;
            prompt.session.seed(prompt.options.seed);
            Ok(())
        },
    },
    Setting {
        name: "timeout",
        values: "seconds, none",
        meaning: "how long an input may run",
        shown: |prompt| prompt.options.timeout.map_or(none(), |time| format!("{} s", time.as_secs_f64())),
        change: |prompt, word| {
            prompt.options.timeout = optional(word, |word| seconds(word.trim_end_matches('s').trim_end()))?;
            Ok(())
        },
    },
    Setting {
        name: "max-steps",
        values: "an integer, none",
        meaning: "how many steps an input may execute",
        shown: |prompt| prompt.options.max_steps.map_or(none(), |steps| steps.to_string()),
        change: |prompt, word| optional(word, number).map(|steps| prompt.options.max_steps = steps),
    },
    Setting {
        name: "max-depth",
        values: "an integer",
        meaning: "how deeply calls may nest",
        shown: |prompt| prompt.options.max_depth.to_string(),
        change: |prompt, word| depth(word).map(|depth| prompt.options.max_depth = depth),
    },
    Setting {
        name: "max-tape",
        values: "500MiB, 2GiB",
        meaning: "how much memory derivatives may use",
        shown: |prompt| in_bytes(prompt.options.max_tape),
        change: |prompt, word| bytes(word).map(|bytes| prompt.options.max_tape = bytes),
    },
    Setting {
        name: "max-memory",
        values: "500MiB, 2GiB, none",
        meaning: "how much memory values may use",
        shown: |prompt| prompt.options.max_memory.map_or(none(), in_bytes),
        change: |prompt, word| optional(word, bytes).map(|bytes| prompt.options.max_memory = bytes),
    },
    Setting {
        name: "jit",
        values: "off, on, force",
        meaning: "which functions are compiled to machine code: none, those that run for long, or all",
        shown: |prompt| named(&CompileMode::NAMES, prompt.options.compiled),
        change: |prompt, word| chosen(&CompileMode::NAMES, word).map(|mode| prompt.options.compiled = mode),
    },
    Setting {
        name: "threads",
        values: "an integer, none",
        meaning: "how many threads operations on large tensors use; none: one per processor",
        shown: |prompt| prompt.options.threads.map_or(none(), |threads| threads.to_string()),
        change: |prompt, word| optional(word, threads).map(|threads| prompt.options.threads = threads),
    },
];

const KINKS: &[(&str, Kinks)] = &[("noted", Kinks::Noted), ("ignored", Kinks::Ignored), ("refused", Kinks::Refused)];

const CHECKS: &[(&str, CheckNan)] =
    &[("off", CheckNan::Off), ("result", CheckNan::Result), ("always", CheckNan::Always)];

/// Returns the names of all settings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.name)
}

/// Runs the command `:set` with `NAME VALUE` or `NAME`, or prints the list of settings.
pub(super) fn set(prompt: &mut Prompt, rest: &str) -> Flow {
    if rest.is_empty() {
        SETTINGS.iter().for_each(|setting| prompt.print_line(&line(prompt, setting)));
        return Flow::Next;
    }
    let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
        let close = help_pages::suggestion(closest(name, names()));
        return prompt.print_error(&format!("there is no setting '{name}'{close}':set' lists all settings"));
    };
    let value = value.trim().trim_start_matches('=').trim_start();
    if value.is_empty() {
        prompt.print_line(&line(prompt, setting));
        return Flow::Next;
    }
    if let Err(why) = (setting.change)(prompt, value) {
        return prompt.print_error(&format!("'{name}' cannot be set to '{value}': {why} ({})", setting.values));
    }
    prompt.session.adjust(&prompt.options);
    prompt.print_line(&format!("{name} = {}", (setting.shown)(prompt)));
    Flow::Next
}

fn line(prompt: &Prompt, Setting { name, values, meaning, shown, .. }: &Setting) -> String {
    format!("  {name:<17} = {:<10} {meaning} ({values})", shown(prompt))
}

fn none() -> String {
    "none".into()
}

fn switch(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.into()
}

fn switched(word: &str) -> Result<bool, String> {
    chosen(&[("on", true), ("off", false)], word)
}

fn chosen<T: Copy>(known: &[(&str, T)], word: &str) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| "there is no such value".into())
}

fn named<T: Copy + PartialEq>(known: &[(&str, T)], value: T) -> String {
    known.iter().find(|(_, own)| *own == value).map_or_else(none, |(name, _)| (*name).to_owned())
}

fn number(word: &str) -> Result<u64, String> {
    word.replace('_', "").parse().map_err(|_| "expected an integer".into())
}

fn threads(word: &str) -> Result<NonZeroUsize, String> {
    word.parse().map_err(|_| "expected an integer above 0".into())
}

fn optional<T>(word: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if word == "none" { Ok(None) } else { read(word).map(Some) }
}
