//! Sparsity: computes the matrix of a linear map with few sweeps, if most of its entries are always zero.
//!
//! The pattern, which lists the entries that may differ from zero, follows from the operands of the nodes. Two columns that
//! have no row in common are computed by one sweep, whose seed is the sum of both unit vectors; the same applies to two
//! rows in the other direction. A greedy coloring of the columns, or of the rows, determines which of them share a sweep:
//! a band matrix takes as many sweeps as it has diagonals, whatever its size.

use super::LinearMap;
use super::known_pattern::KnownPattern;
use super::lanes::{self, LANES};
use crate::tape::levels::Direction;
use crate::tape::wide_node::WideKind;
use std::ops::Range;
use std::rc::Rc;

/// The number of columns in a word of a set.
const WORD: usize = u64::BITS as usize;

/// A set of columns, whose number of words determines of how many columns one pass over the tape finds the rows.
type Columns<const N: usize> = [u64; N];

/// The matrix of a linear map: one row per result, one column per number of the input.
#[derive(Debug)]
pub enum Matrix {
    /// All entries, by row.
    Dense(Vec<Vec<f64>>),
    /// The entries that may differ from zero.
    Sparse(SparseMatrix),
}

/// A matrix as a list of the entries that may differ from zero.
#[derive(Debug, PartialEq)]
pub struct SparseMatrix {
    /// The numbers of rows and columns.
    pub size: [usize; 2],
    /// The columns of the entries of each row, in order.
    pub columns: Rc<Groups>,
    /// The values of the entries, in the order of `columns`.
    pub values: Vec<f64>,
}

/// Groups of numbers, one after the other.
#[derive(Debug, PartialEq)]
pub struct Groups {
    /// The ends of the groups among `members`.
    ends: Vec<usize>,
    /// The members of all groups.
    pub members: Vec<u32>,
}

impl Groups {
    /// Creates groups without members, which can be added up to a number of groups.
    fn with_capacity(groups: usize) -> Groups {
        Groups { ends: Vec::with_capacity(groups), members: vec![] }
    }

    /// Ends a group: the members that follow belong to the next one.
    fn end_group(&mut self) {
        self.ends.push(self.members.len());
    }

    /// Returns the number of groups.
    fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the place of a group among the members.
    fn place(&self, group: usize) -> Range<usize> {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        start..self.ends[group]
    }

    /// Returns the members of a group.
    fn of(&self, group: usize) -> &[u32] {
        &self.members[self.place(group)]
    }

    /// Returns the groups in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.count()).map(|group| self.of(group))
    }

    /// Returns for each member, which are numbers below `count`, the groups in which it is.
    fn transposed(&self, count: usize) -> Groups {
        let mut counts = vec![0; count];
        self.members.iter().for_each(|member| counts[*member as usize] += 1);
        let ends: Vec<usize> = counts
            .iter()
            .scan(0, |end, count| {
                *end += count;
                Some(*end)
            })
            .collect();
        let mut next: Vec<usize> = ends.iter().zip(&counts).map(|(end, count)| end - count).collect();
        let mut members = vec![0; self.members.len()];
        for (group, own) in self.iter().enumerate() {
            for member in own {
                let at = &mut next[*member as usize];
                members[*at] = group as u32;
                *at += 1;
            }
        }
        Groups { ends, members }
    }
}

impl Matrix {
    /// Returns the rows of the matrix.
    pub fn into_rows(self) -> Vec<Vec<f64>> {
        match self {
            Matrix::Dense(rows) => rows,
            Matrix::Sparse(SparseMatrix { size: [_, width], columns, values }) => {
                let row = |row: usize| {
                    let mut numbers = vec![0.0; width];
                    let place = columns.place(row);
                    columns.members[place.clone()]
                        .iter()
                        .zip(&values[place])
                        .for_each(|(column, value)| numbers[*column as usize] = *value);
                    numbers
                };
                (0..columns.count()).map(row).collect()
            }
        }
    }

    /// Returns the entries that may differ from zero; all entries of a dense matrix.
    pub fn into_sparse(self, size: [usize; 2]) -> SparseMatrix {
        match self {
            Matrix::Dense(rows) => {
                let mut columns = Groups::with_capacity(rows.len());
                for _ in &rows {
                    columns.members.extend(0..size[1] as u32);
                    columns.end_group();
                }
                SparseMatrix { size, columns: Rc::new(columns), values: rows.concat() }
            }
            Matrix::Sparse(matrix) => matrix,
        }
    }
}

/// Computes the matrix of the differential to which a linear map belongs. `sparse` requests the list of the entries
/// that may differ from zero; otherwise the list is returned only where it takes fewer sweeps. `known` is the pattern of the
/// last matrix. `None` when `stop` reports that the user cancels, or when an entry is not finite: a sweep of one seed
/// decides what such an entry is. No level may be live, and the map must be [plain](lanes::is_plain).
pub fn matrix(map: &LinearMap, sparse: bool, known: &mut KnownPattern, stop: &dyn Fn() -> bool) -> Option<Matrix> {
    let [down, across] = size(map);
    let shorter = down.min(across);
    if (sparse || shorter > LANES)
        && let Some(pattern) = known.of(map, sparse, stop)
    {
        let values = pattern.values(map, stop)?;
        let columns = Rc::clone(&pattern.columns);
        return Some(Matrix::Sparse(SparseMatrix { size: [down, across], columns, values }));
    }
    let reverse = down <= across;
    let units = (0..shorter as u32).collect::<Vec<u32>>();
    let direction = if reverse { Direction::Reverse } else { Direction::Forward };
    let products = products(map, direction, &units, stop)?;
    let rows =
        if reverse { products } else { (0..down).map(|i| products.iter().map(|column| column[i]).collect()).collect() };
    Some(Matrix::Dense(rows))
}

/// Returns the numbers of rows and columns of the matrix of a differential.
pub fn size(map: &LinearMap) -> [usize; 2] {
    [map.outputs.len(), map.tape.leaves() as usize]
}

/// Returns the product of the map with the sum of the unit vectors of each color. `colors` are the colors of the
/// components of the seeds.
fn products(map: &LinearMap, direction: Direction, colors: &[u32], stop: &dyn Fn() -> bool) -> Option<Vec<Vec<f64>>> {
    let map = LinearMap { transposed: direction == Direction::Reverse, ..map.clone() };
    let count = colors.iter().max().map_or(0, |last| *last as usize + 1);
    let mut products = vec![];
    for first in (0..count).step_by(LANES) {
        let mut seeds = vec![vec![0.0; colors.len()]; LANES.min(count - first)];
        for (k, color) in colors.iter().enumerate() {
            if let Some(seed) = (*color as usize).checked_sub(first).and_then(|lane| seeds.get_mut(lane)) {
                seed[k] = 1.0;
            }
        }
        let results = lanes::apply(&map, &seeds, stop);
        if results.len() < seeds.len() || results.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        products.extend(results);
    }
    Some(products)
}

/// The entries of a matrix that may differ from zero.
#[derive(Debug)]
struct Pattern {
    /// The columns of the entries of each row, in order.
    columns: Groups,
    /// The rows of the entries of each column, in order.
    rows: Groups,
}

impl Pattern {
    /// Finds the pattern of a map; `None` if it has more than `most` entries, or when the user cancels.
    fn of(map: &LinearMap, most: usize, stop: &dyn Fn() -> bool) -> Option<Pattern> {
        let [_, across] = size(map);
        let columns = match across.div_ceil(WORD) {
            0 | 1 => columns_of_rows::<1>(map, most, stop),
            2 => columns_of_rows::<2>(map, most, stop),
            3 | 4 => columns_of_rows::<4>(map, most, stop),
            _ => columns_of_rows::<8>(map, most, stop),
        }?;
        let rows = columns.transposed(across);
        Some(Pattern { columns, rows })
    }

    /// Colors the columns or the rows, whichever takes fewer colors; `None` if there are more than `most`.
    fn coloring(&self, most: usize) -> Option<(Direction, Vec<u32>)> {
        let by_row = color(&self.columns, &self.rows, most);
        let fewest = by_row.as_ref().map_or(most, |(count, _)| count.saturating_sub(1));
        match color(&self.rows, &self.columns, fewest) {
            Some((_, colors)) => Some((Direction::Forward, colors)),
            None => by_row.map(|(_, colors)| (Direction::Reverse, colors)),
        }
    }
}

/// A pattern, and the columns or rows that are computed together.
#[derive(Debug)]
pub(super) struct ColoredPattern {
    /// The columns of the entries of each row, in order.
    columns: Rc<Groups>,
    /// The direction of the sweeps.
    direction: Direction,
    /// The colors of the columns or rows.
    colors: Vec<u32>,
}

impl ColoredPattern {
    /// Finds the pattern of a map and a coloring; `None` where the matrix has so many entries or colors that it should not be
    /// treated as sparse, or when the user cancels.
    pub(super) fn of(map: &LinearMap, sparse: bool, stop: &dyn Fn() -> bool) -> Option<ColoredPattern> {
        let [down, across] = size(map);
        let (entries, colors) =
            if sparse { (usize::MAX, usize::MAX) } else { (down * across / 4, down.min(across) / 2) };
        let pattern = Pattern::of(map, entries, stop)?;
        let (direction, colors) = pattern.coloring(colors)?;
        Some(ColoredPattern { columns: Rc::new(pattern.columns), direction, colors })
    }

    /// Returns the values of the entries, row by row.
    fn values(&self, map: &LinearMap, stop: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        let ColoredPattern { columns, direction, colors } = self;
        let products = products(map, *direction, colors, stop)?;
        let mut values = Vec::with_capacity(columns.members.len());
        for (row, columns) in columns.iter().enumerate() {
            match direction {
                Direction::Reverse => {
                    let product = &products[colors[row] as usize];
                    values.extend(columns.iter().map(|column| product[*column as usize]));
                }
                Direction::Forward => {
                    values.extend(columns.iter().map(|column| products[colors[*column as usize] as usize][row]));
                }
            }
        }
        Some(values)
    }
}

/// Returns the columns of each row; `None` if there are more than `most`, or when the user cancels.
fn columns_of_rows<const N: usize>(map: &LinearMap, most: usize, stop: &dyn Fn() -> bool) -> Option<Groups> {
    let [down, across] = size(map);
    // The set of columns of each row, for each pass.
    let (mut found, mut entries) = (Vec::with_capacity(across.div_ceil(N * WORD) * down), 0);
    let mut sets = vec![[0u64; N]; map.tape.len() + 1];
    for first in (0..across).step_by(N * WORD) {
        if first > 0 {
            sets.fill([0; N]);
        }
        for (bit, column) in (first..across.min(first + N * WORD)).enumerate() {
            sets[column + 1][bit / WORD] = 1 << (bit % WORD);
        }
        spread(map, &mut sets);
        if stop() {
            return None;
        }
        found.extend(map.outputs.iter().map(|node| sets[*node as usize]));
        entries += found[found.len() - down..].iter().flatten().map(|set| set.count_ones() as usize).sum::<usize>();
        if entries > most {
            return None;
        }
    }
    let mut columns = Groups { ends: Vec::with_capacity(down), members: Vec::with_capacity(entries) };
    for row in 0..down {
        let words = found.iter().skip(row).step_by(down.max(1)).flatten();
        for (word, set) in words.enumerate() {
            let mut set = *set;
            while set != 0 {
                columns.members.push((word * WORD) as u32 + set.trailing_zeros());
                set &= set - 1;
            }
        }
        columns.end_group();
    }
    Some(columns)
}

/// Computes for each node the set of the columns on which the node depends, given the sets of the leaves.
fn spread<const N: usize>(map: &LinearMap, sets: &mut [Columns<N>]) {
    let union = |a: Columns<N>, b: Columns<N>| std::array::from_fn(|word| a[word] | b[word]);
    for (first, nodes, wide) in lanes::parts(map) {
        for (k, node) in nodes.iter().enumerate() {
            // A missing operand is represented by the node itself, whose set is still empty.
            sets[first as usize + k] = union(sets[node.a as usize], sets[node.b as usize]);
        }
        if let Some(WideKind::Sum(operands)) = wide.map(|k| &map.tape.wide()[k].kind) {
            let of_operand = |(node, ..): &(u32, f64, _)| sets[*node as usize];
            sets[first as usize] = operands.iter().map(of_operand).fold([0; N], union);
        }
    }
}

/// Assigns colors to the members of groups so that no two members of a group have the same color: each member receives
/// the first color that is free. `groups` are the groups of each member, and `members` the members of each group.
/// Returns the number of colors and the color of each member; `None` if there are more than `most`.
fn color(groups: &Groups, members: &Groups, most: usize) -> Option<(usize, Vec<u32>)> {
    if members.iter().any(|group| group.len() > most) {
        return None;
    }
    let mut colors: Vec<Option<u32>> = vec![None; groups.count()];
    // The last member that could not have each color.
    let mut refused: Vec<Option<usize>> = vec![];
    for (member, own) in groups.iter().enumerate() {
        for other in own.iter().flat_map(|group| members.of(*group as usize)) {
            if let Some(color) = colors[*other as usize] {
                refused[color as usize] = Some(member);
            }
        }
        let free = refused.iter().position(|last| *last != Some(member)).unwrap_or(refused.len());
        if free == most {
            return None;
        }
        if free == refused.len() {
            refused.push(None);
        }
        colors[member] = Some(free as u32);
    }
    let count = refused.len();
    Some((count, colors.into_iter().map(Option::unwrap_or_default).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(members: &[Vec<u32>]) -> Groups {
        let mut groups = Groups::with_capacity(members.len());
        for own in members {
            groups.members.extend(own);
            groups.end_group();
        }
        groups
    }

    /// The columns of the rows of a band matrix.
    fn band(n: u32, width: u32) -> Groups {
        let near = |k: u32| (k.saturating_sub(width)..n.min(k + width + 1)).collect();
        groups(&(0..n).map(near).collect::<Vec<_>>())
    }

    #[test]
    fn a_band_matrix_has_as_many_colors_as_diagonals() {
        for (n, width) in [(1, 0), (10, 0), (10, 1), (1000, 2), (3, 5)] {
            let rows = band(n, width);
            let columns = rows.transposed(n as usize);
            assert_eq!(rows, columns);
            let (count, _) = color(&rows, &columns, usize::MAX).expect("there is no limit");
            assert_eq!(count, (2 * width as usize + 1).min(n as usize));
        }
    }

    #[test]
    fn members_of_a_group_have_different_colors() {
        let members = groups(&[vec![0, 3, 4], vec![1, 3], vec![1, 2, 4], vec![]]);
        let groups = members.transposed(5);
        let (count, colors) = color(&groups, &members, 5).expect("there are at most 5 colors");
        for group in members.iter() {
            let distinct: std::collections::BTreeSet<u32> = group.iter().map(|m: &u32| colors[*m as usize]).collect();
            assert_eq!(distinct.len(), group.len());
        }
        assert_eq!(count, 3);
        assert!(color(&groups, &members, 2).is_none());
        assert_eq!(groups.transposed(4), members);
    }
}
