//! Prompt commands: the table of all commands, from which `:help` and completion are derived.

use super::super::{help_pages, lessons, picture_file};
use super::{Flow, Prompt, settings, symbol_names, value_display};
use crate::front::plot_request::PlotRequest;
use crate::front::prompt::diagnostics::print_diagnostics;
use crate::front::prompt::function_commands;
use crate::front::prompt::saved_inputs::SavedInputs;
use crate::session::explain::derivation;
use crate::session::{Point, Stage, Status, View, closest};
use std::path::Path;
use std::time::Instant;

/// A command of the prompt.
struct Command {
    name: &'static str,
    /// The arguments of the command, as shown in the help.
    arguments: &'static str,
    /// A short description of the command.
    summary: &'static str,
    run: fn(&mut Prompt, &str) -> Flow,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "help",
        arguments: "[NAME]",
        summary: "this list, or what a name or a command means; short form: ?NAME",
        run: help,
    },
    Command {
        name: "doc",
        arguments: "[NAME or WORDS]",
        summary: "the library by topic; a name with its members, or a search",
        run: doc,
    },
    Command {
        name: "type",
        arguments: "EXPRESSION",
        summary: "the type of an expression, without evaluating it",
        run: type_of,
    },
    Command {
        name: "explain",
        arguments: "f at 2",
        summary: "how the derivative is computed: values, partial derivatives, adjoints",
        run: explain,
    },
    Command {
        name: "derive",
        arguments: "f [tex]",
        summary: "the derivative as a formula; of f', the second one; 'tex' for LaTeX",
        run: function_commands::derive,
    },
    Command {
        name: "diff",
        arguments: "f [at 2]",
        summary: "which parameters it is differentiable in, or why not; the derivative at a point",
        run: function_commands::diff,
    },
    Command {
        name: "tape",
        arguments: "f at 2",
        summary: "the recorded operations; a long loop is summarized by line",
        run: tape,
    },
    Command {
        name: "graph",
        arguments: "f at 2 [dot] [to FILE.svg]",
        summary: "the graph of operations, values and adjoints; 'dot' for Graphviz",
        run: graph,
    },
    Command {
        name: "check",
        arguments: "f at 2",
        summary: "the derivative in forward and reverse mode, and by finite differences",
        run: check,
    },
    Command {
        name: "nudge",
        arguments: "f at 2 by 0.01",
        summary: "every intermediate value before and after a small change",
        run: nudge,
    },
    Command {
        name: "plot",
        arguments: "f, f' [from -3 to 3] [to FILE.svg]",
        summary: "plots functions, expressions in x, equations or arrays; writes an SVG file",
        run: plot,
    },
    Command {
        name: "table",
        arguments: "f, f' [from -3 to 3] [step 0.5]",
        summary: "a table of values of functions, or of expressions in x",
        run: function_commands::table,
    },
    Command {
        name: "show",
        arguments: "STAGE f",
        summary: "a function at a stage of the compiler; ':show' lists the stages",
        run: function_commands::show,
    },
    Command {
        name: "lesson",
        arguments: "[7]",
        summary: "runs a lesson step by step; its declarations remain available",
        run: lesson,
    },
    Command {
        name: "set",
        arguments: "[NAME VALUE]",
        summary: "changes a setting; ':set' lists all settings with their values",
        run: settings::set,
    },
    Command { name: "vars", arguments: "", summary: "the declarations of this session", run: variables },
    Command { name: "time", arguments: "INPUT", summary: "runs the input, and shows how long it took", run: time },
    Command { name: "load", arguments: "FILE", summary: "runs the contents of a file", run: load },
    Command { name: "save", arguments: "FILE", summary: "saves the successful inputs as a program", run: save },
    Command { name: "reset", arguments: "", summary: "removes all declarations", run: reset },
    Command { name: "quit", arguments: "", summary: "quits the session; so does Ctrl-D", run: quit },
];

/// Names of commands in other interactive programs, and the commands that correspond to them.
const FOREIGN_NAMES: &[(&str, &str)] = &[
    ("browse", "vars"),
    ("bye", "quit"),
    ("clear", "reset"),
    ("disasm", "show code"),
    ("env", "vars"),
    ("exit", "quit"),
    ("nan", "set check-nan"),
    ("open", "load"),
    ("run", "load"),
    ("who", "vars"),
    ("write", "save"),
];

/// Words that are functions and not commands, with calls of them.
const FUNCTIONS: &[(&str, &str)] = &[
    ("differentiate", "'f'(2)', or ':derive f' for the formula"),
    ("gradient", "'∇f(1, 2)'"),
    ("integral", "'integral(f, 0...1)'"),
    ("integrate", "'integral(f, 0...1)'"),
    ("limit", "'limit(f, at: 0)'"),
    ("maximize", "'maximize(f, from: 0)'"),
    ("minimize", "'minimize(f, from: 0)'"),
    ("root", "'solve(f, near: 1)'"),
    ("solve", "'solve(f, near: 1)'"),
    ("undo", "a definition again: it replaces the former one"),
];

/// Examples for new users.
const FIRST: &str = "\
f(x) = x * sin(x)          a function; f'(2) is its derivative at 2, f'' the second derivative
g(x, y) = x^2 * y          of two numbers; ∇g(1, 2) is the gradient, ∂(g, y) the partial derivative with respect to y
let xs = [1.0, 2.0, 3.0]   a variable; xs.map(f)
\\pi Tab                    a symbol by its name: π; ?symbols lists them; Tab also completes names, members and commands
?gradient                  what a name means; ?csv searches the library, and :doc lists it by topic
ans                        the last value; x = 3 declares a variable";

/// Runs a command line of the prompt.
pub(super) fn run(prompt: &mut Prompt, line: &str) -> Flow {
    let line = line.strip_prefix(':').unwrap_or(line);
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let exact = COMMANDS.iter().find(|command| command.name == word);
    let begun: Vec<&Command> = COMMANDS.iter().filter(|command| command.name.starts_with(word)).collect();
    if let (Some(command), _) | (None, &[command]) = (exact, begun.as_slice()) {
        return (command.run)(prompt, rest.trim());
    }
    if !begun.is_empty() {
        let names: Vec<String> = begun.iter().map(|command| format!("':{}'", command.name)).collect();
        return prompt.print_error(&format!("several commands begin with ':{word}': {}", names.join(", ")));
    }
    if let Some((_, call)) = FUNCTIONS.iter().find(|(name, _)| *name == word) {
        return prompt.print_error(&format!("there is no command ':{word}'; write {call}"));
    }
    let foreign = FOREIGN_NAMES.iter().find(|(name, _)| *name == word).map(|(_, own)| (*own).to_owned());
    let close = foreign.or_else(|| closest(word, COMMANDS.iter().map(|command| command.name)));
    let close = help_pages::suggestion(close.map(|close| format!(":{close}")));
    prompt.print_error(&format!("there is no command ':{word}'{close}':help' lists all commands"))
}

/// Completes a command or its first argument at the end of a line; `None` when the line is not a command.
pub(super) fn complete(before: &str) -> Option<(usize, Vec<String>)> {
    let line = before.trim_start().strip_prefix(':')?;
    let (word, known) = match line.split_once(char::is_whitespace) {
        None => (line, COMMANDS.iter().map(|command| command.name).collect()),
        Some((command, word)) if !word.contains(char::is_whitespace) => (word, arguments(command)?),
        Some(_) => return None,
    };
    let start = before.len() - word.len();
    let names = known.into_iter().filter(|name| name.starts_with(word));
    Some((start, names.map(|name| format!("{name} ")).collect()))
}

/// Returns the possible first arguments of a command, if they are known.
fn arguments(command: &str) -> Option<Vec<&'static str>> {
    match command {
        "show" => Some(Stage::ALL.iter().map(|stage| stage.name()).collect()),
        "set" => Some(settings::names().collect()),
        _ => None,
    }
}

/// Prints the list of commands, or the documentation of a name.
pub(super) fn help(prompt: &mut Prompt, topic: &str) -> Flow {
    if topic.is_empty() {
        prompt.print_line(FIRST);
        prompt.print_line("");
        for command in COMMANDS {
            prompt.print_line(&line(command));
        }
        return Flow::Next;
    }
    let command = |name: &str| COMMANDS.iter().find(|command| command.name == name);
    if let Some(command) = topic.strip_prefix(':').and_then(command) {
        return described(prompt, command);
    }
    if let Ok(code) = help_pages::code(topic) {
        prompt.print_line(help_pages::of_code(code).trim_end());
        return Flow::Next;
    }
    if let Some(item) =
        prompt.session.declared().into_iter().find(|item| item.name.as_deref() == Some(topic) && item.value.is_some())
    {
        prompt.print_line(&value_display::line(&prompt.displayed(&item), prompt.render_style.is_colored));
        let documented = prompt.session.topics(topic).into_iter().filter(|topic| !topic.text.is_empty());
        documented
            .flat_map(|topic| topic.text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>())
            .for_each(|line| prompt.print_line(&line));
        return Flow::Next;
    }
    // A command and a function may have a common name: `:plot`, `plot(f, 0...1)`.
    let own = command(topic);
    if let Some(command) = own {
        described(prompt, command);
    }
    if prompt.session.topics(topic).is_empty() {
        if own.is_some() {
            return Flow::Next;
        }
        if topic == "kinks" {
            prompt.print_line(help_pages::of_kinks().trim_end());
            return Flow::Next;
        }
        if topic == "symbols" || topic == "unicode" {
            symbol_names::list().iter().for_each(|line| prompt.print_line(line));
            return Flow::Next;
        }
    }
    doc(prompt, topic)
}

/// Formats a command with its description.
fn line(Command { name, arguments, summary, .. }: &Command) -> String {
    let call = format!(":{name} {arguments}");
    format!("{call:<24}   {summary}")
}

fn described(prompt: &mut Prompt, command: &Command) -> Flow {
    prompt.print_line(line(command).trim_end());
    Flow::Next
}

/// Prints the documentation of a name, the declarations of the library that contain some words, or the list of topics.
fn doc(prompt: &mut Prompt, words: &str) -> Flow {
    let Some(lines) = help_pages::documentation(&mut prompt.session, words) else {
        let similar = help_pages::suggestion(prompt.session.similar_name(words));
        return prompt.print_error(&format!(
            "there is no help for '{words}'{similar}':help' lists all commands, ':doc' the library"
        ));
    };
    lines.iter().for_each(|line| prompt.print_line(&value_display::arrows(line)));
    Flow::Next
}

fn type_of(prompt: &mut Prompt, expression: &str) -> Flow {
    match prompt.session.type_of(expression) {
        Ok(Some(ty)) => prompt.print_line(&value_display::arrows(&ty)),
        Ok(None) => return prompt.print_error("the input is not an expression, so it has no type"),
        Err(diagnostics) => return print_diagnostics(prompt, &diagnostics),
    }
    Flow::Next
}

fn explained(prompt: &mut Prompt, rest: &str, view: View) -> Flow {
    let Some(point) = Point::parse(rest) else { return no_point(prompt, rest) };
    match prompt.session.explain(&point) {
        Ok(explained) => prompt.show_view(&explained, view),
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Reports that a command has no point.
fn no_point(prompt: &mut Prompt, rest: &str) -> Flow {
    let example = match rest.split_once(char::is_whitespace) {
        _ if rest.is_empty() => "f at 2".to_owned(),
        // The point follows the function without `at`.
        Some((function, point)) if point.trim().parse::<f64>().is_ok() => format!("{function} at {}", point.trim()),
        _ => format!("{rest} at 2"),
    };
    prompt.print_error(&format!("expected a function or an expression, and a point, such as '{example}'"))
}

fn explain(prompt: &mut Prompt, rest: &str) -> Flow {
    explained(prompt, rest, View::Explanation)
}

fn tape(prompt: &mut Prompt, rest: &str) -> Flow {
    explained(prompt, rest, View::Tape)
}

/// Runs `:graph` with arguments such as `f at 2 to a.svg`: a function, a point, and optionally a file.
fn graph(prompt: &mut Prompt, rest: &str) -> Flow {
    let (rest, file) = rest.rsplit_once(" to ").map_or((rest, None), |(rest, file)| (rest, Some(file.trim())));
    let (rest, is_dot) = rest.strip_suffix(" dot").map_or((rest, false), |rest| (rest, true));
    let Some(point) = Point::parse(rest) else { return no_point(prompt, rest) };
    let explained = match prompt.session.explain(&point) {
        Ok(explained) => explained,
        Err(diagnostics) => return print_diagnostics(prompt, &diagnostics),
    };
    let graph = crate::session::graph(&explained);
    match file {
        None if is_dot => graph.dot().lines().for_each(|line| prompt.print_line(line)),
        None => return prompt.show_view(&explained, View::Graph),
        Some(file) => {
            let path = Path::new(file);
            let written = match path.extension().is_some_and(|ending| ending == "dot" || ending == "gv") {
                true => picture_file::write_text(&graph.dot(), path),
                false => picture_file::write(&graph.svg(), path),
            };
            return saved(prompt, written, file);
        }
    }
    Flow::Next
}

fn saved(prompt: &mut Prompt, result: Result<(), String>, file: &str) -> Flow {
    match result {
        Ok(()) => {
            prompt.print_line(&format!("the picture was written to '{file}'"));
            Flow::Next
        }
        Err(error) => prompt.print_error(&error),
    }
}

fn check(prompt: &mut Prompt, rest: &str) -> Flow {
    let Some(point) = Point::parse(rest) else { return no_point(prompt, rest) };
    match super::check_command::check(&mut prompt.session, &point) {
        Ok(lines) => {
            lines.iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Runs `f at 1, 2 by 0.01`: a function, a point, and a step for each number or for the first numbers.
fn nudge(prompt: &mut Prompt, rest: &str) -> Flow {
    let (point, steps) = rest.rsplit_once(" by ").unwrap_or((rest, "0.01"));
    let Some(point) = Point::parse(point).map(|point| point.within(rest)) else {
        return prompt.print_error("expected a function, a point and a step, such as 'f at 2 by 0.01'");
    };
    let before = prompt.session.explain(&point);
    let both = before.and_then(|before| Ok((before, prompt.session.explain_moved(&point, steps)?)));
    match both {
        Ok((before, after)) => {
            let lines = derivation::nudge(&before, &after, prompt.session.sources());
            lines.iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Runs `f, f' from -3 to 3 to a.svg`: functions, and optionally bounds and a file.
fn plot(prompt: &mut Prompt, rest: &str) -> Flow {
    let request = PlotRequest::parse(rest);
    if request.subjects.is_empty() {
        return prompt.print_error("expected a function, such as 'sin', 'x^2' or 'f, f' from -3 to 3'");
    }
    match (prompt.session.plot(&request.subjects(), request.bounds()), &request.file) {
        (Ok(display), None) => prompt.show_display(&display),
        (Ok(display), Some(file)) => saved(prompt, picture_file::save(&display, Path::new(file)), file),
        (Err(diagnostics), _) => print_diagnostics(prompt, &diagnostics),
    }
}

/// Enters the steps of a lesson, and prints each step before its result.
fn lesson(prompt: &mut Prompt, word: &str) -> Flow {
    if word.is_empty() {
        lessons::list().iter().for_each(|line| prompt.print_line(line));
        return Flow::Next;
    }
    let Some(lesson) = lessons::find(word) else {
        return prompt.print_error(&format!("there is no lesson '{word}'; ':lesson' lists all lessons"));
    };
    let is_colored = prompt.render_style.is_colored;
    lesson.header().iter().for_each(|line| prompt.print_line(line));
    for step in lesson.steps() {
        prompt.print_line("");
        step.lines().for_each(|line| prompt.print_line(&value_display::dimmed(&format!("│ {line}"), is_colored)));
        if let Flow::Leave(status) = prompt.evaluate(&step) {
            return Flow::Leave(status);
        }
    }
    Flow::Next
}

fn variables(prompt: &mut Prompt, _: &str) -> Flow {
    for shown in prompt.session.declared() {
        prompt.print_line(&value_display::line(&prompt.displayed(&shown), prompt.render_style.is_colored));
    }
    Flow::Next
}

fn time(prompt: &mut Prompt, input: &str) -> Flow {
    let start = Instant::now();
    let flow = prompt.evaluate(input);
    let seconds = start.elapsed().as_secs_f64();
    prompt.print_line(&match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    });
    flow
}

fn load(prompt: &mut Prompt, file: &str) -> Flow {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return prompt.print_error(&format!("cannot read '{file}': {error}")),
    };
    let answer = prompt.session.enter(file, &text);
    if answer.status == Status::Done {
        prompt.kept.add(text.trim_end(), &answer.shown, false);
    }
    prompt.show(&answer)
}

fn save(prompt: &mut Prompt, file: &str) -> Flow {
    if file.is_empty() {
        return prompt.print_error("expected the name of a file, such as ':save session.dscript'");
    }
    if Path::new(file).exists() {
        return prompt.print_error(&format!("'{file}' already exists; choose another file"));
    }
    match std::fs::write(file, prompt.kept.program()) {
        Ok(()) => {
            prompt.print_line(&format!("{} inputs were written to '{file}'", prompt.kept.count()));
            Flow::Next
        }
        Err(error) => prompt.print_error(&format!("cannot write '{file}': {error}")),
    }
}

fn reset(prompt: &mut Prompt, _: &str) -> Flow {
    prompt.session = (prompt.make)(&prompt.options);
    prompt.kept = SavedInputs::default();
    Flow::Next
}

fn quit(_: &mut Prompt, _: &str) -> Flow {
    Flow::Leave(super::exit_status::DONE)
}

#[cfg(test)]
mod tests {
    use super::COMMANDS;

    #[test]
    fn every_command_is_described() {
        let page = include_str!("../../../docs/prompt.md");
        for command in COMMANDS {
            assert!(
                page.contains(&format!("`:{}", command.name)),
                "docs/prompt.md does not describe ':{}'",
                command.name
            );
        }
    }
}
