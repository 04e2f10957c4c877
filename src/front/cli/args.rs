//! Command-line arguments: commands, options, and the corresponding session options.

use crate::diagnostic::{Code, Form};
use crate::front::kernelspec_location::Target;
use crate::front::units::{bytes, depth, seconds};
use crate::session::{Access, CheckNan, CompileMode, Folders, Kinks, Options, Stage, TextStyle, is_program_file};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

// This is no doc comment, because it would replace the text of `about` in the help.
#[derive(Parser, Debug)]
#[command(
    name = "dscript",
    version,
    about = "dscript: a differentiable programming language for scripts",
    long_about = "\
dscript: a differentiable programming language for scripts. Ordinary code - loops, mutation, recursion, structs,
closures - and the exact derivative of any of it.

Without arguments it starts an interactive session. A first argument that is not a command is a file, so `dscript FILE`
means `dscript run FILE`. To try it:
dscript -e \"f(x) = x^3 - 2x; print(f(3), f'(3))\"",
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    override_usage = USAGE,
    after_help = AFTER_HELP
)]
pub(super) struct Words {
    #[command(flatten)]
    pub(super) program: Program,
    #[command(flatten)]
    pub(super) settings: Settings,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

impl Words {
    /// Returns the arguments of `dscript FILE` for a file with the extension of programs, and `None` for other command
    /// lines. Building the tables of the argument parser would take a tenth of the time of a small script.
    pub(super) fn of_script(given: &[OsString]) -> Option<Words> {
        let [_, file] = given else { return None };
        let file = Path::new(file);
        let is_compiled = file.extension().is_some_and(|extension| extension == "dsc");
        if !(is_compiled || is_program_file(file)) || file.as_os_str().as_encoded_bytes().starts_with(b"-") {
            return None;
        }
        let program = Program { files: vec![file.to_owned()], ..Program::default() };
        Some(Words { program, settings: Settings::default(), command: None })
    }
}

const USAGE: &str = "\
dscript [OPTIONS]
       dscript [run] [OPTIONS] FILE... [-- ARGS...]
       dscript [run] [OPTIONS] -e CODE [-- ARGS...]
       dscript check [OPTIONS] FILE...
       dscript test [OPTIONS] [PATH...] [--filter WORD]
       dscript fmt [--check] [PATH...]
       dscript build [OPTIONS] FILE... [-o OUT]
       dscript show --stage STAGE [OPTIONS] FILE...
       dscript explain [CODE]
       dscript plot FUNCTION... [FROM..TO] [-o FILE]
       dscript new NAME
       dscript doc [NAME|WORDS]
       dscript lesson [LESSON] [--notebook]
       dscript kernel install|remove [--user|--prefix FOLDER]
       dscript completions SHELL";

const AFTER_HELP: &str = "\
Exit status: 0 success, 1 the program failed, 2 wrong usage, 3 the program did not compile, 4 a test failed, 5 it has
warnings and --deny-warnings was given or `fmt --check` found unformatted files, 70 a bug in dscript, 124 the time limit
was reached, 130 interrupted; `exit(n)` exits with n.";

/// The command.
#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Run a program (the default)
    Run {
        #[command(flatten)]
        program: Program,
    },
    /// Check a program for errors without running it
    Check {
        #[command(flatten)]
        watch: Watch,
        #[command(flatten)]
        files: Files,
    },
    /// Run the tests in files and folders: test "name" { expect(f(2), equals: 4) }
    ///
    /// Registered derivatives are compared with finite differences, as with --check-derivatives. Each test runs in
    /// isolation, after the top-level statements of its file. The output of a test is shown if it fails.
    Test {
        /// Files, and folders to search [default: the working folder]
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Run only the tests whose names contain this word
        #[arg(long, value_name = "WORD")]
        filter: Option<String>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Format programs: spacing, indentation, empty lines
    ///
    /// Line breaks are preserved, and so is the column of a comment after code. A file that cannot be parsed is left
    /// unchanged.
    Fmt {
        /// Files, and folders to search; `-` formats standard input to standard output [default: the working folder]
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Write nothing, list the files that would change, and exit with 5 if there are any
        #[arg(long)]
        check: bool,
    },
    /// Compile a program to a file that runs without being compiled again
    Build {
        /// The file to write [default: the first file with the extension .dsc]
        #[arg(short = 'o', long = "output", value_name = "OUT")]
        output: Option<PathBuf>,
        #[command(flatten)]
        files: Files,
    },
    /// Show a program at a stage of the compiler
    Show {
        /// The stage to show
        #[arg(long, value_name = "STAGE", value_parser = stage_parser())]
        stage: Stage,
        #[command(flatten)]
        files: Files,
    },
    /// Plot functions, expressions in x or equations: dscript plot 'x * sin(x)' -3..3
    Plot {
        /// Functions of one number, expressions in x or an equation in x and y, and the bounds [default: -10..10]
        #[arg(value_name = "FUNCTION", required = true)]
        words: Vec<String>,
        /// The SVG or PNG file to write; without it, the plot is printed as text
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Create a program to start from: a function, its derivative, a test
    New {
        /// The file to create; the default extension is .dscript
        #[arg(value_name = "NAME")]
        name: PathBuf,
    },
    /// Print the documentation of the library: dscript doc Array.append
    ///
    /// Without words it lists the library by topic. A name shows its documentation and its members, other words are
    /// searched for.
    Doc {
        /// A function, a type, Type.member, a topic, or words to search for
        #[arg(value_name = "NAME|WORDS")]
        words: Vec<String>,
    },
    /// Run a lesson, or list all lessons: dscript lesson 7
    Lesson {
        /// Its number or its name
        #[arg(value_name = "LESSON")]
        lesson: Option<String>,
        /// Write it as a notebook instead of running it
        #[arg(long, requires = "lesson")]
        notebook: bool,
        /// The file to write the notebook to [default: standard output]
        #[arg(short = 'o', long = "output", value_name = "FILE", requires = "notebook")]
        output: Option<PathBuf>,
    },
    /// Manage the Jupyter kernel: dscript kernel install
    Kernel {
        #[command(subcommand)]
        action: KernelAction,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print what a diagnostic means, with an example; without a code, list them all
    Explain {
        /// The code, as printed: E0209
        #[arg(value_name = "CODE", value_parser = super::super::help_pages::code)]
        code: Option<Code>,
    },
}

/// The actions on the Jupyter kernel.
#[derive(Subcommand, Debug)]
pub(super) enum KernelAction {
    /// Register dscript as a Jupyter kernel
    Install {
        #[command(flatten)]
        place: Place,
    },
    /// Remove dscript from the Jupyter kernels
    Remove {
        #[command(flatten)]
        place: Place,
    },
    /// Run the kernel for a notebook; used by Jupyter
    Run {
        /// The connection file of Jupyter
        #[arg(value_name = "CONNECTION_FILE")]
        connection: PathBuf,
    },
}

/// The location of the kernel's entry.
#[derive(Args, Debug)]
pub(super) struct Place {
    /// Only for the current user (the default)
    #[arg(long, conflicts_with = "prefix")]
    user: bool,
    /// Under this folder, such as /usr/local or a virtual environment
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
}

impl Place {
    /// Returns the folder in which the entry is written.
    pub(super) fn target(self) -> Target {
        self.prefix.map_or(Target::User, Target::Prefix)
    }
}

/// A program to run, and its arguments.
#[derive(Args, Default, Debug)]
pub(super) struct Program {
    /// Run this code and print the value of its last expression
    #[arg(short = 'e', long = "eval", value_name = "CODE", allow_hyphen_values = true, conflicts_with = "files")]
    pub(super) code: Option<String>,
    /// The program's files; several form one module, `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) watch: Watch,
    /// Arguments of the program, available in `CommandLine.arguments` after its own name
    #[arg(last = true, value_name = "ARGS")]
    pub(super) arguments: Vec<String>,
}

impl Program {
    /// Whether there is nothing to run.
    pub(super) fn is_empty(&self) -> bool {
        self.code.is_none() && self.files.is_empty()
    }
}

/// The option to repeat a command.
#[derive(Args, Clone, Copy, Default, Debug)]
pub(super) struct Watch {
    /// Rerun the command when a source file or an import changes; show only the first error
    #[arg(long)]
    pub(super) watch: bool,
}

/// The files of a program that is not run.
#[derive(Args, Debug)]
pub(super) struct Files {
    /// The program's files; several form one module, `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
}

/// The options of every command, accepted before or after its name.
#[derive(Args, Default, Debug)]
#[command(next_help_heading = "Limits and output")]
pub(crate) struct Settings {
    /// How deeply calls may nest
    #[arg(long, global = true, value_name = "N", value_parser = depth)]
    max_depth: Option<usize>,
    /// How much memory derivatives may use: a number of bytes, or 64KiB, 500MiB, 2GiB
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    max_tape: Option<u64>,
    /// How many steps the program may execute
    #[arg(long, global = true, value_name = "N")]
    max_steps: Option<u64>,
    /// How much memory the program's values may use [default: three quarters of the machine's memory]
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    max_memory: Option<u64>,
    /// How long the program may run
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Compile the program, and do not keep its compiled form for the next run [default: the folder of caches, or DSCRIPT_CACHE]
    #[arg(long, global = true)]
    no_cache: bool,
    /// Which functions are compiled to machine code [default: on, or the value of DSCRIPT_JIT]
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    jit: Option<Jit>,
    /// How many threads operations on large tensors use [default: one per processor]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The seed of random numbers [default: 0]
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,
    /// Stop if a differentiated number becomes infinite or NaN
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    check_nan: Check,
    /// Stop if a function is differentiated at a kink, where its derivative is a convention
    #[arg(long, global = true)]
    strict_kinks: bool,
    /// Compare registered derivatives and transposes with finite differences when they are used
    #[arg(long, global = true)]
    check_derivatives: bool,
    /// Do not run a program that has warnings
    #[arg(long, global = true)]
    deny_warnings: bool,
    /// Also let the program read files in this folder [default: its own folder and the working folder]
    #[arg(long, global = true, value_name = "DIR")]
    allow_read: Vec<PathBuf>,
    /// Also let the program write files in this folder [default: its own folder and the working folder]
    #[arg(long, global = true, value_name = "DIR")]
    allow_write: Vec<PathBuf>,
    /// When to color diagnostics; `auto` respects NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(super) color: Color,
    /// The format of diagnostics
    #[arg(long, global = true, value_name = "FORM", value_enum, default_value_t)]
    diagnostics: Diagnostics,
    /// Write everything to standard output, one JSON object per line: output, values, diagnostics, tests, exit status
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Show only the first error
    #[arg(long, global = true, hide = true)]
    pub(super) first_error: bool,
    /// How many columns diagnostics may use [default: 100]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(20..))]
    pub(super) width: Option<u16>,
}

/// The condition under which diagnostics are colored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// [`CompileMode`] as a value of an option.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Jit {
    /// None: the program is interpreted
    Off,
    /// Functions and loops that run for long
    On,
    /// All functions, when they are called first
    Force,
}

/// [`CheckNan`] as a value of an option.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Check {
    /// Never
    #[default]
    Off,
    /// If a derivative is not finite
    Result,
    /// At the first value or derivative that is not finite
    Always,
}

/// [`Form`] as a value of an option.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Diagnostics {
    /// With source lines, notes and help
    #[default]
    Full,
    /// One line each: FILE:LINE:COLUMN: SEVERITY: MESSAGE
    Short,
    /// One JSON object per line
    Json,
}

impl Settings {
    /// Returns the output form of diagnostics.
    pub(super) fn form(&self) -> Form {
        match self.diagnostics {
            _ if self.json => Form::Json,
            Diagnostics::Full => Form::Full,
            Diagnostics::Short => Form::Short,
            Diagnostics::Json => Form::Json,
        }
    }

    /// Whether a program may be run by its compiled form, which has no checks of derivatives.
    pub(super) fn uses_cache(&self) -> bool {
        let is_checked = self.strict_kinks || self.check_derivatives || !matches!(self.check_nan, Check::Off);
        !(self.no_cache || is_checked)
    }

    /// Returns the access of a program: files next to it, files in the working folder, and explicitly allowed folders.
    pub(super) fn access(&self, program: &str) -> Access {
        let beside = Path::new(program).parent().filter(|folder| !folder.as_os_str().is_empty());
        let own = || std::env::current_dir().into_iter().chain(beside.map(Path::to_path_buf));
        Access {
            read: Folders::only(own().chain(self.allow_read.iter().cloned())),
            write: Folders::only(own().chain(self.allow_write.iter().cloned())),
        }
    }

    /// Returns the width and the colors of the terminal; `None` if the output goes elsewhere and is not to be colored.
    fn text_style(&self) -> Option<TextStyle> {
        let is_terminal = std::io::stdout().is_terminal();
        if self.json || !is_terminal && self.color != Color::Always {
            return None;
        }
        let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let own = || console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
        let columns = given.or_else(own).unwrap_or(TextStyle::default().columns);
        Some(TextStyle { columns, is_colored: super::is_colored(self.color, is_terminal) })
    }

    /// Returns the options of a session, with defaults for absent arguments.
    pub(super) fn options(&self, arguments: Vec<String>, interrupt: Arc<AtomicBool>) -> Options {
        let default = Options::default();
        let access = self.access(arguments.first().map_or("", String::as_str));
        Options {
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            max_tape: self.max_tape.unwrap_or(default.max_tape),
            max_steps: self.max_steps.or(default.max_steps),
            max_memory: self.max_memory.or(default.max_memory),
            timeout: self.timeout.or(default.timeout),
            compiled: match self.jit {
                None => default.compiled,
                Some(Jit::Off) => CompileMode::Never,
                Some(Jit::On) => CompileMode::WhenHot,
                Some(Jit::Force) => CompileMode::Always,
            },
            threads: self.threads.or(default.threads),
            seed: self.seed.unwrap_or(default.seed),
            arguments,
            loader: Some(super::program_input::import),
            check_nan: match self.check_nan {
                Check::Off => CheckNan::Off,
                Check::Result => CheckNan::Result,
                Check::Always => CheckNan::Always,
            },
            interactive: false,
            abbreviates: default.abbreviates,
            kinks: if self.strict_kinks { Kinks::Refused } else { default.kinks },
            check_derivatives: self.check_derivatives,
            deny_warnings: self.deny_warnings,
            text_style: self.text_style(),
            progress: Some(super::super::progress_bar::step),
            reports_loops: !self.json && std::io::stderr().is_terminal(),
            access,
            interrupt,
        }
    }
}

fn stage_parser() -> impl TypedValueParser<Value = Stage> {
    PossibleValuesParser::new(Stage::ALL.iter().map(|stage| stage.name()))
        .try_map(|word| Stage::ALL.iter().copied().find(|stage| stage.name() == word).ok_or("there is no such stage"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_alone_has_the_default_options() {
        let given = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for file in ["a.dscript", "../b c/d.dscript", "kernel.dscript", "a.dsc", "a.swift"] {
            let words = Words::of_script(&given(&["dscript", file])).unwrap();
            assert_eq!(format!("{words:?}"), format!("{:?}", Words::try_parse_from(["dscript", file]).unwrap()));
        }
        for others in
            [&["dscript"][..], &["dscript", "-.dscript"], &["dscript", "a.txt"], &["dscript", "--json", "a.dscript"]]
        {
            assert!(Words::of_script(&given(others)).is_none(), "{others:?}");
        }
    }

    fn read(words: &str) -> Result<Words, clap::Error> {
        Words::try_parse_from(std::iter::once("dscript").chain(words.split_whitespace()))
    }

    #[test]
    fn the_description_is_consistent() {
        <Words as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_file_needs_no_command() {
        let words = read("a.dscript b.dscript -- 1 --two").unwrap();
        assert!(words.command.is_none());
        assert_eq!(words.program.files, ["a.dscript", "b.dscript"].map(PathBuf::from));
        assert_eq!(words.program.arguments, ["1", "--two"]);
        assert_eq!(read("a.dscript run").unwrap().program.files.len(), 2, "only the first word is a command");
    }

    #[test]
    fn settings_stand_on_either_side_of_the_command() {
        for words in [
            "--max-depth 7 --diagnostics=json run a",
            "run a --diagnostics=json --max-depth=7",
            "--max-depth=7 --diagnostics json a",
        ] {
            let words = read(words).unwrap();
            assert_eq!(words.settings.options(vec![], Arc::default()).max_depth, 7);
            assert_eq!(words.settings.form(), Form::Json);
        }
    }

    #[test]
    fn code_replaces_files() {
        assert_eq!(read("-e -1+2").unwrap().program.code.as_deref(), Some("-1+2"));
        for empty in ["", "--seed 1"] {
            assert!(read(empty).unwrap().program.is_empty(), "{empty}");
        }
        for wrong in ["-e 1 a", "check", "show a", "show --stage x a", "run --seed -1 a", "--max-depth 0 a"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
