//! Long lists: finds the commas at which the grammar may split a long list.

/// A group has so many bytes at least.
const GROUP: usize = 1 << 16;

/// A list that is long enough to be read in groups.
#[derive(Debug)]
pub(in crate::syntax) struct List {
    /// Where its brackets stand.
    pub open: usize,
    pub close: usize,
    /// The commas between two groups.
    pub cuts: Vec<usize>,
    /// Those inside of it.
    pub inner: Vec<List>,
}

impl List {
    /// The list, and those inside of it.
    pub fn all(&self) -> Vec<&List> {
        let inner = self.inner.iter().flat_map(List::all);
        std::iter::once(self).chain(inner).collect()
    }
}

/// A list that has not ended.
struct Open {
    list: List,
    /// How many brackets are open in it.
    depth: usize,
}

/// The lists of a text, while it is scanned.
#[derive(Default)]
pub(super) struct Lists {
    open: Vec<Open>,
    /// Those that are in no other one.
    pub found: Vec<List>,
}

impl Lists {
    /// A bracket opens, the `depth`-th of those that are open.
    pub fn opens(&mut self, at: usize, depth: usize) {
        self.open.push(Open { list: List { open: at, close: at, cuts: vec![], inner: vec![] }, depth });
    }

    /// A comma inside of so many brackets.
    pub fn comma(&mut self, at: usize, depth: usize) {
        let Some(Open { list, .. }) = self.open.last_mut().filter(|open| open.depth == depth) else { return };
        if at - list.cuts.last().copied().unwrap_or(list.open) >= GROUP {
            list.cuts.push(at);
        }
    }

    /// The `depth`-th bracket closes.
    pub fn closes(&mut self, at: usize, depth: usize) {
        let Some(Open { mut list, .. }) = self.open.pop_if(|open| open.depth == depth) else { return };
        list.close = at;
        let around = self.open.last_mut().map_or(&mut self.found, |open| &mut open.list.inner);
        if list.cuts.is_empty() {
            around.append(&mut list.inner);
        } else {
            around.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_at_their_own_commas() {
        let mut lists = Lists::default();
        lists.opens(0, 1);
        lists.opens(1, 2);
        lists.comma(GROUP, 2);
        lists.comma(GROUP + 1, 2);
        lists.comma(GROUP + 2, 2);
        lists.closes(GROUP + 3, 2);
        // Of a subscript, say.
        lists.comma(GROUP + 5, 2);
        lists.comma(2 * GROUP, 1);
        lists.closes(2 * GROUP + 1, 1);
        let [outer] = &lists.found[..] else { panic!("{:?}", lists.found) };
        assert_eq!((outer.open, outer.close, &outer.cuts[..]), (0, 2 * GROUP + 1, &[2 * GROUP][..]));
        assert_eq!(outer.all().len(), 2);
        assert_eq!((outer.inner[0].open, &outer.inner[0].cuts[..]), (1, &[GROUP + 1][..]));
    }

    #[test]
    fn what_is_short_is_none_but_what_is_in_it_may_be() {
        let mut lists = Lists::default();
        lists.opens(0, 1);
        lists.opens(1, 2);
        lists.comma(GROUP + 1, 2);
        lists.closes(GROUP + 2, 2);
        lists.closes(GROUP + 3, 1);
        assert_eq!(lists.found.len(), 1);
        assert_eq!(lists.found[0].open, 1);
    }
}
