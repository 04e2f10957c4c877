//! Lessons: short programs to read, run and change.
//!
//! A lesson begins with a description in `///` lines; its paragraphs are the steps, which are entered one after the
//! other.

use crate::session::{Completeness, Session};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

/// A lesson.
pub(super) struct Lesson {
    /// The name of the lesson, such as `newton`.
    pub(super) name: &'static str,
    /// The source text of the lesson.
    pub(super) text: &'static str,
}

macro_rules! lessons {
    ($($number:literal $name:literal)*) => {
        /// All lessons, in order.
        pub(super) const LESSONS: &[Lesson] = &[$(Lesson {
            name: $name,
            text: include_str!(concat!("../../scripts/lessons/", $number, "_", $name, ".dscript")),
        }),*];
    };
}

lessons! {
    "01" "hello_derivative"
    "02" "functions_and_plots"
    "03" "limits"
    "04" "average_to_instant"
    "05" "three_ways"
    "06" "derivative_as_function"
    "07" "rules_seen_on_the_tape"
    "08" "chain_rule_number_lines"
    "09" "higher_order"
    "10" "kinks"
    "11" "tangent_and_error"
    "12" "implicit_circle"
    "13" "inverse_functions"
    "14" "related_rates_ladder"
    "15" "newton"
    "16" "differentiate_through_newton"
    "17" "curve_sketching"
    "18" "box_and_can"
    "19" "mean_value"
    "20" "lhopital"
    "21" "riemann"
    "22" "fundamental_theorem"
    "23" "differentiate_a_parameter"
    "24" "arc_length_and_volume"
    "25" "direction_field"
    "26" "euler_vs_rk4"
    "27" "pendulum_sensitivity"
    "28" "taylor"
    "29" "partials_and_gradient"
    "30" "linear_maps"
    "31" "jacobian_hessian"
    "32" "lagrange"
    "33" "green_and_stokes"
    "34" "least_squares"
    "35" "gradient_descent_zoo"
    "36" "micrograd_by_hand"
    "37" "sigmoid_neuron"
    "38" "and_gate_perceptron"
    "39" "xor_mlp"
    "40" "podcast_speed"
}

/// Finds a lesson by its number or its name.
pub(super) fn find(word: &str) -> Option<&'static Lesson> {
    match word.parse::<usize>() {
        Ok(number) => LESSONS.get(number.checked_sub(1)?),
        Err(_) => LESSONS.iter().find(|lesson| lesson.name == word),
    }
}

/// Returns a line for each lesson: the number, the title and the course.
pub(super) fn list() -> Vec<String> {
    let width = LESSONS.iter().map(|lesson| lesson.title().width()).max().unwrap_or(0);
    let line = |(lesson, n): (&Lesson, usize)| {
        let padding = " ".repeat(width - lesson.title().width());
        format!("{n:>2}   {}{padding}   {}", lesson.title(), lesson.course())
    };
    LESSONS.iter().zip(1..).map(line).collect()
}

impl Lesson {
    /// Returns the lines of the lesson's description.
    pub(super) fn header(&self) -> Vec<&'static str> {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("///"));
        lines.map(str::trim).collect()
    }

    /// Returns the title of the lesson.
    pub(super) fn title(&self) -> &'static str {
        self.header().first().map_or(self.name, |line| line.trim_start_matches("# "))
    }

    /// Returns the course of the lesson, and its number in the course.
    fn course(&self) -> &'static str {
        self.header().get(1).copied().unwrap_or_default()
    }

    /// Returns the steps of the lesson: paragraphs that can be entered one after the other.
    pub(super) fn steps(&self) -> Vec<String> {
        let program = self.text.lines().skip_while(|line| line.starts_with("///"));
        let mut steps: Vec<String> = vec![];
        let mut step = String::new();
        for line in program.chain([""]) {
            let ends = line.trim().is_empty();
            if ends && !step.trim().is_empty() && Session::completeness(&step) == Completeness::Complete {
                steps.push(std::mem::take(&mut step).trim_end().to_owned());
            } else if !(ends && step.is_empty()) {
                step.push_str(line);
                step.push('\n');
            }
        }
        steps
    }

    /// Converts the lesson to a notebook.
    pub(super) fn notebook(&self) -> Value {
        let mut cells = vec![json!({
            "cell_type": "markdown", "id": "about", "metadata": {}, "source": self.header().join("\n"),
        })];
        for (step, n) in self.steps().into_iter().zip(1..) {
            cells.push(json!({
                "cell_type": "code", "id": format!("step-{n}"), "metadata": {}, "source": step,
                "execution_count": null, "outputs": [],
            }));
        }
        json!({
            "cells": cells,
            "metadata": {
                "kernelspec": { "display_name": "dscript", "language": "dscript", "name": "dscript" },
                "language_info": { "name": "dscript", "file_extension": ".dscript" },
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lessons_are_short_and_say_what_they_are_about() {
        for lesson in LESSONS {
            assert!(lesson.text.lines().count() <= 40, "{} is too long", lesson.name);
            let header = lesson.header();
            assert!(
                header.len() >= 4 && header[0].starts_with("# ") && header[1].contains("minutes"),
                "{}",
                lesson.name
            );
            assert!(lesson.steps().len() >= 2, "{}", lesson.name);
        }
    }

    #[test]
    fn nothing_is_lost_between_steps() {
        for lesson in LESSONS {
            let program = lesson.text.lines().skip_while(|line| line.starts_with("///"));
            let program = program.filter(|line| !line.trim().is_empty());
            let steps = lesson.steps().join("\n");
            assert!(program.eq(steps.lines().filter(|line| !line.trim().is_empty())), "{}", lesson.name);
        }
    }

    #[test]
    fn a_lesson_has_a_number_and_a_name() {
        assert_eq!(find("15").map(|lesson| lesson.name), Some("newton"));
        assert_eq!(find("newton").map(Lesson::title), Some("Newton's method"));
        assert!(find("0").is_none() && find("41").is_none() && find("x").is_none());
    }
}
