//! Long lists: finds the commas at which the grammar may split a long list.

/// The minimum size of a group of elements in bytes.
const GROUP: usize = 1 << 16;

/// A list that is long enough to be parsed in groups.
#[derive(Debug)]
pub(in crate::syntax) struct List {
    /// The offset of the opening bracket.
    pub open: usize,
    pub close: usize,
    /// The offsets of the commas between groups.
    pub cuts: Vec<usize>,
    /// The long lists that are nested in the list.
    pub inner: Vec<List>,
}

impl List {
    /// Returns the list and all lists nested in it.
    pub fn all(&self) -> Vec<&List> {
        let inner = self.inner.iter().flat_map(List::all);
        std::iter::once(self).chain(inner).collect()
    }
}

/// A list whose closing bracket has not been reached.
struct Open {
    list: List,
    /// The number of open brackets up to the bracket of the list.
    depth: usize,
}

/// The lists of a text while it is scanned.
#[derive(Default)]
pub(super) struct Lists {
    open: Vec<Open>,
    /// The outermost long lists.
    pub found: Vec<List>,
}

impl Lists {
    /// Notes an opening bracket, which has the nesting depth `depth`.
    pub fn opens(&mut self, at: usize, depth: usize) {
        self.open.push(Open { list: List { open: at, close: at, cuts: vec![], inner: vec![] }, depth });
    }

    /// Notes a comma inside `depth` brackets.
    pub fn comma(&mut self, at: usize, depth: usize) {
        let Some(Open { list, .. }) = self.open.last_mut().filter(|open| open.depth == depth) else { return };
        if at - list.cuts.last().copied().unwrap_or(list.open) >= GROUP {
            list.cuts.push(at);
        }
    }

    /// Notes that the `depth`-th open bracket is closed.
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
        // The comma is in brackets that are not a list, such as the brackets of a subscript.
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
