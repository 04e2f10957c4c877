//! Path completion: completes file names after `:load` and between the quotation marks of `import`.

use std::path::Path;

/// The file extension of programs.
const ENDING: &str = ".dscript";

/// Completes the path at the end of a text, and returns the offset of its last component; `None` when there is no path.
pub(super) fn complete(before: &str) -> Option<(usize, Vec<String>)> {
    let path = path(before)?;
    let (folder, part) = path.rsplit_once('/').map_or((".", path), |(folder, part)| (folder, part));
    let folder = if folder.is_empty() { "/" } else { folder };
    let mut found = entries(Path::new(folder));
    found.retain(|name| name.starts_with(part) && (!name.starts_with('.') || part.starts_with('.')));
    found.sort();
    Some((before.len() - part.len(), found))
}

/// Returns the incomplete path at the end of a text, if there is one.
fn path(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next().unwrap_or_default();
    if let Some(path) = line.trim_start().strip_prefix(":load ") {
        return Some(path.trim_start());
    }
    let (_, path) = line.trim_start().strip_prefix("import")?.split_once('"')?;
    (!path.contains('"')).then_some(path)
}

/// Returns the programs and the subfolders of a folder.
fn entries(folder: &Path) -> Vec<String> {
    let named = |entry: std::fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => Some(name + "/"),
            false => name.ends_with(ENDING).then_some(name),
        }
    };
    std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_distinguished_from_other_strings() {
        for (text, found) in [
            (":load a/b", Some("a/b")),
            ("import \"x", Some("x")),
            ("let a = 1\nimport \"", Some("")),
            ("import \"x\"", None),
            ("print(\"x", None),
            (":load", None),
        ] {
            assert_eq!(path(text), found, "{text}");
        }
    }

    #[test]
    fn programs_and_folders_are_offered() {
        let folder = std::env::temp_dir().join(format!("dscript-paths-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("more")).unwrap();
        for name in ["model.dscript", "model.csv", ".hidden.dscript"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let text = format!("import \"{}/mo", folder.display());
        let found = complete(&text);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, Some((text.len() - 2, vec!["model.dscript".to_owned(), "more/".to_owned()])));
    }
}
