//! Prompt commands: the table of all commands, from which `:help` and completion are derived.

use super::super::{help_pages, lessons, picture};
use super::{Flow, Prompt, settings, show};
use crate::front::list_syntax::listed;
use crate::front::prompt::answer::{at, refuse};
use crate::front::prompt::function_commands;
use crate::session::explain::derivation;
use crate::session::{Explanation, Stage, Status};
use crate::source::SourceMap;
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
        summary: "this list, or what a name means; short form: ?NAME",
        run: help,
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
        summary: "the tape, entry by entry; a long loop is summarized by line",
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
        arguments: "f, f' from -3 to 3 [to FILE.svg]",
        summary: "plots functions, or expressions in x; writes an SVG file",
        run: plot,
    },
    Command {
        name: "table",
        arguments: "f, f' from -3 to 3 [step 0.5]",
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

/// Examples for new users.
const FIRST: &str = "\
f(x) = x * sin(x)          a function; f'(2) is its derivative at 2, f'' the second derivative
g(x, y) = x^2 * y          of two numbers; ∇g(1, 2) is the gradient, ∂(g, y) the partial derivative with respect to y
let xs = [1.0, 2.0, 3.0]   a variable; xs.map(f)
\\pi Tab                    a symbol by its name: π; Tab also completes names, members and commands
?gradient                  what a name means";

/// Runs a command line of the prompt.
pub(super) fn run(prompt: &mut Prompt, line: &str) -> Flow {
    let line = line.strip_prefix(':').unwrap_or(line);
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let exact = COMMANDS.iter().find(|command| command.name == word);
    let mut begun = COMMANDS.iter().filter(|command| command.name.starts_with(word));
    match exact.or_else(|| begun.next().filter(|_| begun.next().is_none())) {
        Some(command) => (command.run)(prompt, rest.trim()),
        None => prompt.print_error(&format!("there is no command ':{word}'; ':help' lists all commands")),
    }
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
        for Command { name, arguments, summary, .. } in COMMANDS {
            let call = format!(":{name} {arguments}");
            prompt.print_line(&format!("{call:<24}   {summary}"));
        }
        return Flow::Next;
    }
    if let Some(command) = COMMANDS.iter().find(|command| Some(command.name) == topic.strip_prefix(':')) {
        prompt.print_line(&format!(":{} {}   {}", command.name, command.arguments, command.summary));
        return Flow::Next;
    }
    if let Ok(code) = help_pages::code(topic) {
        prompt.print_line(help_pages::of_code(code).trim_end());
        return Flow::Next;
    }
    let topics = prompt.session.topics(topic);
    if topics.is_empty() && topic == "kinks" {
        prompt.print_line(help_pages::of_kinks().trim_end());
        return Flow::Next;
    }
    if topics.is_empty() {
        return prompt.print_error(&format!("there is no help for '{topic}'; ':help' lists all commands"));
    }
    help_pages::of_topics(&topics).iter().for_each(|line| prompt.print_line(&show::arrows(line)));
    Flow::Next
}

fn type_of(prompt: &mut Prompt, expression: &str) -> Flow {
    match prompt.session.type_of(expression) {
        Ok(Some(ty)) => prompt.print_line(&show::arrows(&ty)),
        Ok(None) => return prompt.print_error("the input is not an expression, so it has no type"),
        Err(diagnostics) => return refuse(prompt, &diagnostics),
    }
    Flow::Next
}

fn explained(prompt: &mut Prompt, rest: &str, show: fn(&Explanation, &SourceMap) -> Vec<String>) -> Flow {
    let Some((function, arguments)) = at(rest) else {
        return prompt.print_error("expected a function and a point, such as 'f at 2' or 'g at 1, 2'");
    };
    match prompt.session.explain(function, &arguments.join(", ")) {
        Ok(explained) => {
            show(&explained, prompt.session.sources()).iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => refuse(prompt, &diagnostics),
    }
}

fn explain(prompt: &mut Prompt, rest: &str) -> Flow {
    explained(prompt, rest, derivation::explain)
}

fn tape(prompt: &mut Prompt, rest: &str) -> Flow {
    explained(prompt, rest, derivation::tape)
}

/// Runs `:graph` with arguments such as `f at 2 to a.svg`: a function, a point, and optionally a file.
fn graph(prompt: &mut Prompt, rest: &str) -> Flow {
    let (rest, file) = rest.rsplit_once(" to ").map_or((rest, None), |(rest, file)| (rest, Some(file.trim())));
    let (rest, is_dot) = rest.strip_suffix(" dot").map_or((rest, false), |rest| (rest, true));
    let Some((function, arguments)) = at(rest) else {
        return prompt.print_error("expected a function and a point, such as 'f at 2' or 'g at 1, 2 to g.svg'");
    };
    let graph = match prompt.session.explain(function, &arguments.join(", ")) {
        Ok(explained) => crate::session::graph(&explained),
        Err(diagnostics) => return refuse(prompt, &diagnostics),
    };
    match file {
        None if is_dot => graph.dot().lines().for_each(|line| prompt.print_line(line)),
        None => graph.text().iter().for_each(|line| prompt.print_line(line)),
        Some(file) => {
            let path = Path::new(file);
            let written = match path.extension().is_some_and(|ending| ending == "dot" || ending == "gv") {
                true => picture::write_text(&graph.dot(), path),
                false => picture::write(&graph.svg(), path),
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
    let Some((function, arguments)) = at(rest) else {
        return prompt.print_error("expected a function and a point, such as 'f at 2' or 'g at 1, 2'");
    };
    match super::check::check(&mut prompt.session, function, &arguments) {
        Ok(lines) => {
            lines.iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => refuse(prompt, &diagnostics),
    }
}

fn nudge(prompt: &mut Prompt, rest: &str) -> Flow {
    let (rest, step) = rest.rsplit_once(" by ").unwrap_or((rest, "0.01"));
    let Some((function, arguments)) = at(rest) else {
        return prompt.print_error("expected a function, a point and a step, such as 'f at 2 by 0.01'");
    };
    let moved: Vec<String> =
        arguments.iter().enumerate().map(|(i, a)| if i == 0 { format!("{a} + {step}") } else { a.clone() }).collect();
    let before = prompt.session.explain(function, &arguments.join(", "));
    let both = before.and_then(|before| Ok((before, prompt.session.explain(function, &moved.join(", "))?)));
    match both {
        Ok((before, after)) => {
            derivation::nudge(&before, &after).iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Err(diagnostics) => refuse(prompt, &diagnostics),
    }
}

/// Runs a plot with arguments such as `f, f' from -3 to 3 to a.svg`: functions, bounds, and optionally a file.
fn plot(prompt: &mut Prompt, rest: &str) -> Flow {
    let parts =
        rest.rsplit_once(" from ").and_then(|(functions, bounds)| Some((functions, bounds.split_once(" to ")?)));
    let Some((functions, (from, to))) = parts else {
        return prompt.print_error("expected functions and bounds, such as 'f, f' from -3 to 3'");
    };
    let (to, file) = to.split_once(" to ").map_or((to, None), |(to, file)| (to, Some(file.trim())));
    let functions = listed(functions);
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    let chart = match prompt.session.curves(&functions, from, to) {
        Ok(chart) => chart,
        Err(diagnostics) => return refuse(prompt, &diagnostics),
    };
    match file {
        None => {
            chart.text().iter().for_each(|line| prompt.print_line(line));
            Flow::Next
        }
        Some(file) => saved(prompt, picture::save(&chart, Path::new(file)), file),
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
        step.lines().for_each(|line| prompt.print_line(&show::dimmed(&format!("│ {line}"), is_colored)));
        if let Flow::Leave(status) = prompt.evaluate(&step) {
            return Flow::Leave(status);
        }
    }
    Flow::Next
}

fn variables(prompt: &mut Prompt, _: &str) -> Flow {
    for shown in prompt.session.declared() {
        prompt.print_line(&show::line(&show::rounded(&shown, prompt.digits), prompt.render_style.is_colored));
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
        prompt.kept.push(text.trim_end().to_owned());
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
    let text: String = prompt.kept.iter().map(|input| format!("{input}\n")).collect();
    match std::fs::write(file, text) {
        Ok(()) => {
            prompt.print_line(&format!("{} inputs were written to '{file}'", prompt.kept.len()));
            Flow::Next
        }
        Err(error) => prompt.print_error(&format!("cannot write '{file}': {error}")),
    }
}

fn reset(prompt: &mut Prompt, _: &str) -> Flow {
    prompt.session = (prompt.make)(&prompt.options);
    prompt.kept.clear();
    Flow::Next
}

fn quit(_: &mut Prompt, _: &str) -> Flow {
    Flow::Leave(super::status::DONE)
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
