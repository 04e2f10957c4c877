//! Diagnostic pages: for each code its meaning, an example and a remedy, taken from `docs/diagnostics.md`.

use super::Code;

const PAGES: &str = include_str!("../../docs/diagnostics.md");

impl Code {
    /// Returns the page of the code, in Markdown, including its heading.
    pub fn page(self) -> &'static str {
        let heading = format!("### {}: ", self.number());
        let Some(from) = PAGES.find(&heading) else { return "" };
        let page = &PAGES[from + "### ".len()..];
        let end = page.find("\n#").unwrap_or(page.len());
        page[..end].trim_end()
    }
}
