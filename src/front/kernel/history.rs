//! History: stores the executed cells, and searches in them.

use serde_json::{Value, json};

/// The executed cells of this session.
#[derive(Default)]
pub(super) struct History {
    entries: Vec<Entry>,
}

struct Entry {
    count: u64,
    input: String,
    output: Option<String>,
}

/// The number of the only session that is stored.
const SESSION: i64 = 1;

impl History {
    pub(super) fn add(&mut self, count: u64, input: &str, output: Option<String>) {
        self.entries.push(Entry { count, input: input.to_owned(), output });
    }

    /// Returns the reply to a request for the history.
    pub(super) fn answer(&self, request: &Value) -> Value {
        let number = |name: &str| request.get(name).and_then(Value::as_i64);
        let found: Vec<&Entry> = match request.get("hist_access_type").and_then(Value::as_str) {
            Some("range") => self.range(number("session"), number("start"), number("stop")),
            Some("search") => {
                let pattern = request.get("pattern").and_then(Value::as_str).unwrap_or("*");
                let is_unique = request.get("unique").and_then(Value::as_bool).unwrap_or(false);
                last(self.search(pattern, is_unique), number("n"))
            }
            _ => last(self.entries.iter().collect(), number("n")),
        };
        let with_output = request.get("output").and_then(Value::as_bool).unwrap_or(false);
        let entries: Vec<Value> = found.into_iter().map(|entry| entry.listed(with_output)).collect();
        json!({ "status": "ok", "history": entries })
    }

    fn range(&self, session: Option<i64>, start: Option<i64>, stop: Option<i64>) -> Vec<&Entry> {
        if !matches!(session, None | Some(0 | SESSION)) {
            return vec![];
        }
        let (start, stop) = (start.unwrap_or(0), stop.unwrap_or(i64::MAX));
        self.entries.iter().filter(|entry| (start..stop).contains(&(entry.count as i64))).collect()
    }

    fn search(&self, pattern: &str, is_unique: bool) -> Vec<&Entry> {
        let mut found: Vec<&Entry> = self.entries.iter().filter(|entry| fits(pattern, &entry.input)).collect();
        if is_unique {
            // The last of several equal inputs remains in the result.
            let is_last = |at: usize| !found[at + 1..].iter().any(|later| later.input == found[at].input);
            found = (0..found.len()).filter(|at| is_last(*at)).map(|at| found[at]).collect();
        }
        found
    }
}

impl Entry {
    fn listed(&self, with_output: bool) -> Value {
        match with_output {
            true => json!([SESSION, self.count, [self.input, self.output]]),
            false => json!([SESSION, self.count, self.input]),
        }
    }
}

fn last(mut entries: Vec<&Entry>, n: Option<i64>) -> Vec<&Entry> {
    let n = n.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(0));
    entries.split_off(entries.len().saturating_sub(n))
}

/// Whether a text matches a pattern, in which `*` matches any text and `?` one character.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The index of the last star in the pattern, and the index in the text up to which the star matches.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, t) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replies(request: Value) -> Vec<String> {
        let mut history = History::default();
        for (count, input) in ["1 + 1", "sin(1)", "1 + 1"].iter().enumerate() {
            history.add(count as u64 + 1, input, None);
        }
        let answer = history.answer(&request);
        answer["history"].as_array().unwrap().iter().map(|entry| format!("{} {}", entry[1], entry[2])).collect()
    }

    #[test]
    fn cells_are_found_again() {
        assert_eq!(replies(json!({"hist_access_type": "tail", "n": 2})), ["2 \"sin(1)\"", "3 \"1 + 1\""]);
        assert_eq!(replies(json!({"hist_access_type": "range", "start": 1, "stop": 2})), ["1 \"1 + 1\""]);
        assert_eq!(replies(json!({"hist_access_type": "search", "pattern": "1*"})).len(), 2);
        let unique = json!({"hist_access_type": "search", "pattern": "1*", "unique": true});
        assert_eq!(replies(unique), ["3 \"1 + 1\""]);
        assert_eq!(replies(json!({})).len(), 3);
    }

    #[test]
    fn stars_match_anything() {
        for (pattern, text, is) in
            [("*", "", true), ("a*c", "abbc", true), ("a?c", "abc", true), ("*b", "abc", false), ("", "a", false)]
        {
            assert_eq!(fits(pattern, text), is, "{pattern} {text}");
        }
    }
}
