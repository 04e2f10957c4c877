//! Host: the streams, files, clock and random numbers that a program may use.

use crate::plot::TextStyle;
use std::io::{BufRead, Write};
use std::time::Instant;

/// The streams of a program, and the screen for its pictures.
pub struct Streams {
    /// The stream that receives the output of `print`.
    pub output: Box<dyn Write>,
    /// The stream that receives the output of `printError`.
    pub error: Box<dyn Write>,
    /// The stream from which `readLine` reads.
    pub input: Box<dyn BufRead>,
    /// The screen on which pictures are shown.
    pub screen: Box<dyn Screen>,
}

impl Streams {
    /// Creates streams without input whose output is discarded.
    pub fn silent() -> Streams {
        Streams {
            output: Box::new(std::io::sink()),
            error: Box::new(std::io::sink()),
            input: Box::new(std::io::empty()),
            screen: Box::new(()),
        }
    }
}

/// The request of a program to explain the next sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplainRequest {
    /// The view that is requested: an explanation, a tape, a graph.
    pub view: View,
    /// The source text of the differentiated function.
    pub function: String,
    /// The rendered forms of the explanation, in the order of the forms of a picture.
    pub forms: Vec<String>,
}

/// A view of a sweep in which the sweep is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// A list of values, partial derivatives, and how adjoints are computed.
    Explanation,
    /// A table with one row for each tape node.
    Tape,
    /// A graph of the operations and the values that pass between them.
    Graph,
}

/// The media type of a text for a terminal, which may have colors and fits the width of the terminal.
pub const TERMINAL_TEXT: &str = "text/x-terminal";

/// A picture, in the forms that a front end may choose from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Display {
    /// The media types and contents of the forms. The plain text is first: it is always present.
    pub forms: Vec<(String, String)>,
    /// The name under which the picture can be replaced.
    pub id: Option<String>,
    /// Whether the picture replaces the picture with the same name.
    pub is_update: bool,
}

/// The media types of a picture's forms, in the order of the arguments of `display`.
const FORMS: [&str; 6] = ["text/plain", "image/svg+xml", "text/html", "text/latex", "application/json", TERMINAL_TEXT];

impl Display {
    /// Creates a picture from its forms: text, SVG, HTML, LaTeX, JSON and text for a terminal. Empty forms are left
    /// out, except the first.
    pub fn of(forms: impl IntoIterator<Item = String>) -> Display {
        let forms = FORMS.iter().zip(forms).filter(|(media, form)| **media == FORMS[0] || !form.is_empty());
        let forms = forms.map(|(media, form)| ((*media).to_owned(), form)).collect();
        Display { forms, ..Display::default() }
    }

    /// Returns the text for a terminal; if there is none, the plain text.
    pub fn terminal_text(&self) -> &str {
        let of_terminal = self.forms.iter().find(|(media, _)| media == TERMINAL_TEXT);
        of_terminal.or(self.forms.first()).map_or("", |(_, text)| text)
    }
}

/// An output device for pictures.
pub trait Screen {
    /// Shows a picture.
    fn show(&mut self, display: &Display);

    /// Removes the displayed output; if `wait` is set, only when there is new output.
    fn clear(&mut self, wait: bool);
}

/// A screen that discards all pictures.
impl Screen for () {
    fn show(&mut self, _: &Display) {}

    fn clear(&mut self, _: bool) {}
}

/// The host of a program: streams, arguments, the clock and random numbers.
pub struct Host {
    /// The streams for input, output and pictures.
    pub streams: Streams,
    /// The arguments of the script.
    pub arguments: Vec<String>,
    /// The generator of random numbers.
    pub random: Random,
    /// The time at which the program started.
    pub started: Instant,
    /// The maximum size of an object in bytes.
    pub largest: u64,
    /// The requests to explain the next sweeps, the innermost last.
    pub pending_explanations: Vec<ExplainRequest>,
    /// A callback for the progress of loops.
    pub progress: Option<fn(&ProgressReport<'_>)>,
    /// The files that the program may access.
    pub access: super::Access,
    /// The number of elements that the tangent vectors of arrays must have to contain every element that was read.
    pub read_count: usize,
    /// The terminal on which pictures appear, if any.
    pub text_style: Option<TextStyle>,
    /// Whether the running code is run an additional time and must have no side effects.
    pub is_rehearsal: bool,
    /// The compiled regular expressions.
    pub expressions: super::data::Expressions,
    /// The reason why the running test is skipped, which may be empty; `None` if it is not skipped.
    pub skip_reason: Option<String>,
}

/// A report on the progress of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgressReport<'a> {
    /// The label of the loop.
    pub label: &'a str,
    /// The number of completed iterations; `None` when the loop ends.
    pub done: Option<u64>,
    /// The total number of iterations, if it is known.
    pub total: Option<u64>,
}

impl Host {
    /// Creates a host without input, arguments and output.
    pub fn silent() -> Host {
        Host {
            streams: Streams::silent(),
            arguments: vec![],
            random: Random::seeded(0),
            started: Instant::now(),
            largest: 1 << 40,
            pending_explanations: vec![],
            progress: None,
            access: super::Access::default(),
            read_count: 0,
            text_style: None,
            is_rehearsal: false,
            expressions: super::data::Expressions::default(),
            skip_reason: None,
        }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// A generator of random numbers, which depend on the seed alone and not on the version of dscript.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

impl Random {
    /// Creates a generator from a seed.
    pub fn seeded(seed: u64) -> Random {
        let mut state = seed;
        Random([(); 4].map(|()| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }))
    }

    /// Returns 64 random bits and advances the generator.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a random number in `0..<1`.
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns a random integer in `low...high`, uniformly distributed.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        let span = (high as u64).wrapping_sub(low as u64).wrapping_add(1);
        if span == 0 {
            return self.bits() as i64;
        }
        // The first 2^64 mod span of the 2^64 values are rejected, so that the number of the remaining values is
        // divisible by span.
        let skip = span.wrapping_neg() % span;
        loop {
            let product = u128::from(self.bits()) * u128::from(span);
            if product as u64 >= skip {
                return low.wrapping_add((product >> 64) as u64 as i64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_stream_of_a_seed_does_not_change() {
        let mut random = Random::seeded(0);
        assert_eq!([random.bits(), random.bits()], [5987356902031041503, 7051070477665621255]);
        assert!((0..1000).all(|_| (-3..=3).contains(&random.integer(-3, 3))));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.number())));
    }
}
