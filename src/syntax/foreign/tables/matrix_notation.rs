//! Notations of matrices and lists of MATLAB, Julia, R and Mathematica, and functions of matrices.

use super::Row;
use super::calculus_libraries::EIGENVALUES;
use super::expressions::MODULUS;
use super::library_functions::EACH;

const EACH_ROW: &str = "a matrix is an array of rows; 'map' applies a function to each row";
const EACH_COLUMN: &str = "a matrix is an array of rows; a column is built with 'map'";
const IMAGINARY: &str = "the imaginary unit is written 'Complex.i'";
const IDENTITY: &str = "the identity matrix is 'Matrix.identity(3)' after 'import TensorFlow'";
const ALMOST_EQUAL: &str = "numbers are compared within a tolerance by '≈'";
const TEXT: &str = "a text is repeated with 'String(repeating:count:)'";

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    // The last elements.
    ("$n ~ ( end , : )", "$n.last!", EACH_ROW),
    ("$n ~ ( : , end )", "$n.map { row in row.last! }", EACH_COLUMN),
    ("$n ~ ( end , end )", "$n.last!.last!", EACH_ROW),
    ("$n ~ [ end : - 1 : 1 ]", "Array($n.reversed())", "the elements in reverse order are 'reversed()'"),
    ("$n ~ [ end : - 1 : begin ]", "Array($n.reversed())", "the elements in reverse order are 'reversed()'"),
    ("$n / @ $m", "$m.map($n)", EACH),
    ("$i : $z %>% $n", "$n($i...$z)", "a function is called as '$n($i...$z)'"),
    // Functions of matrices.
    ("[ $n , $m ] = eig ( $r", "", EIGENVALUES),
    ("lu ( $n )", "", "linear equations are solved by 'solve(A, b)', and 'determinant(A)' is the determinant"),
    (
        "kron ( $x , $y )",
        "$x.flatMap { r in $y.map { s in r.flatMap { a in s.map { b in a * b } } } }",
        "the elements of a Kronecker product are built with 'map'",
    ),
    ("§ I ( $i ) #end", "import TensorFlow; Matrix.identity($i)", IDENTITY),
    ("I ( $i )", "", IDENTITY),
    ("mean ( $n )", "$n.map { row in mean(row) }", EACH_ROW),
    ("sum ( $n , 2 )", "$n.map { row in row.sum() }", EACH_ROW),
    ("sum ( $n , axis = 1 )", "$n.map { row in row.sum() }", EACH_ROW),
    ("sum ( $n , 1 )", "$n[0].indices.map { j in $n.map { row in row[j] }.sum() }", EACH_COLUMN),
    ("sum ( $n , axis = 0 )", "$n[0].indices.map { j in $n.map { row in row[j] }.sum() }", EACH_COLUMN),
    ("mean ( $n , 2 )", "$n.map { row in mean(row) }", EACH_ROW),
    ("mean ( $n , 1 )", "$n[0].indices.map { j in mean($n.map { row in row[j] }) }", EACH_COLUMN),
    ("mean ( $n , axis = 0 )", "$n[0].indices.map { j in mean($n.map { row in row[j] }) }", EACH_COLUMN),
    ("mean ( $n , axis = 1 )", "$n.map { row in mean(row) }", EACH_ROW),
    ("max ( $n , [ ] , 2 )", "$n.map { row in row.max()! }", EACH_ROW),
    ("min ( $n , [ ] , 2 )", "$n.map { row in row.min()! }", EACH_ROW),
    ("quantile ( $n )", "[0, 0.25, 0.5, 0.75, 1].map { p in quantile($n, p) }", "a quantile belongs to a probability"),
    // Complex numbers and functions of numbers.
    ("im", "Complex<Double>.i", IMAGINARY),
    ("I", "Complex<Double>.i", IMAGINARY),
    ("isapprox ( $e , $d )", "$e ≈ $d", ALMOST_EQUAL),
    ("isclose ( $e , $d )", "$e ≈ $d", ALMOST_EQUAL),
    ("atan ( $e , $d )", "atan2($e, $d)", "the angle of a point is 'atan2(y, x)'"),
    ("fld ( $i , $x )", "Int(floor($i.0 / $x))", "a quotient is rounded down with 'floor'"),
    ("fld ( $e , $x )", "Int(floor(Double($e) / $x))", "a quotient is rounded down with 'floor'"),
    ("cld ( $e , $x )", "Int(ceil(Double($e) / $x))", "a quotient is rounded up with 'ceil'"),
    ("mod1 ( $e , $d )", "(($(e) - 1) % $(d) + $(d)) % $(d) + 1", MODULUS),
    ("∏ ( $e )", "product($e)", ""),
    ("∫ ( $f , $e , $d )", "integral($f, $e...$d)", "an interval is written as a range"),
    ("Polynomial ( $r", "", "a polynomial is a function: define 'p(x) = x^2 + 2x + 3'"),
    ("Plot [ $e , { $n , $d , $i Pi } ]", "plot({ $n in $e }, $d...$i * π)", ""),
    ("Plot [ $e , { $n , - $i Pi , $z Pi } ]", "plot({ $n in $e }, -$i * π...$z * π)", ""),
    ("Series [ $e , { $n , $d , $i } ]", "taylor({ $n in $e }, at: $d, order: $i)", ""),
    ("series ( $e , $n , $d , $i )", "taylor({ $n in $e }, at: $d, order: $i)", ""),
    (
        "Sum [ $e , { $n , $d , Infinity } ]",
        "",
        "a finite sum is close to an infinite one: '(1...1000).map { n in 1.0 / n^2 }.sum()'",
    ),
    ("Minimize [ $e , $n ]", "minimize({ $n in $e }, from: 0)", "a minimum is sought from a point"),
    ("Maximize [ $e , $n ]", "maximize({ $n in $e }, from: 0)", "a maximum is sought from a point"),
    ("§ % $r", "ans $r", "the last value at the prompt is called 'ans'"),
    // Statistics, sequences and plots.
    ("range ( $n )", "$n.max()! - $n.min()!", "the range of data is the difference of its extremes"),
    ("iqr ( $n )", "quantile($n, 0.75) - quantile($n, 0.25)", "the range between the quartiles is a difference"),
    ("normalize ( $n )", "$n.map { x in x / norm($n) }", "a vector of length 1 is divided by its norm"),
    ("zscore ( $n )", "$n.map { x in (x - mean($n)) / standardDeviation($n) }", "values are standardized with 'map'"),
    (
        "mode ( $e )",
        "Dictionary(grouping: $e) { x in x }.max { a, b in a.value.count < b.value.count }!.key",
        "the most frequent value belongs to the largest group",
    ),
    (
        "fibonacci ( $i )",
        "(0 ..< $i).reduce((0, 1)) { p, _ in (p.1, p.0 + p.1) }.0",
        "each number is the sum of two others",
    ),
    ("digits ( $i )", "String($i).compactMap { c in Int(String(c)) }", "the digits are the characters of the number"),
    ("§ permutations ( $e ) #end", "import Algorithms; $(e).permutations()", "permutations need 'import Algorithms'"),
    (
        "§ combinations ( $e , $d ) #end",
        "import Algorithms; $(e).combinations(ofCount: $d)",
        "combinations need 'import Algorithms'",
    ),
    ("format ( $s , $e )", "String(format: $s, $e)", ""),
    ("dot ( $n , $m )", "$n.map { row in dot(row, $m) }", "a matrix is an array of rows; 'map' multiplies each row"),
    ("plot ( $n , $m )", "plot($n, $n.map($m))", "points are drawn by their coordinates, 'plot(xs, ys)'"),
    ("plot ( $n )", "plot(contours: $n, -5...5, -5...5)", "a function of two variables is drawn by its contours"),
    ("pie ( $r", "", "shares are drawn as bars: 'Plot().bars(xs, ys)'"),
    ("subplot ( $r", "", "each plot is a picture of its own; several curves are arguments of one: 'plot(f, g, 0...1)'"),
    ("animate ( $r", "", "each plot is one picture; a loop saves several: 'plot(f).save(\"1.svg\")'"),
    // Texts and values of R, Rust and JavaScript.
    ("$n ^ $i", "String(repeating: $n, count: $i)", TEXT),
    ("$s ^ $i", "String(repeating: $s, count: $i)", TEXT),
    ("print ( paste ( $a ) )", "print($a)", ""),
    ("paste ( $e , $d , sep = $s )", "[$e, $d].joined(separator: $s)", "texts are joined with 'joined(separator:)'"),
    ("plot ( $n , type = $s )", "plot($n)", "values are drawn as they are: 'plot(xs)', 'plot(xs, ys)'"),
    ("plot ( $n , $m , type = $s )", "plot($n, $m)", "values are drawn as they are: 'plot(xs)', 'plot(xs, ys)'"),
    (
        "table ( $e )",
        "Dictionary(grouping: $e) { x in x }.mapValues { xs in xs.count }",
        "values are counted in groups",
    ),
    ("t . test ( $r", "", "the library has no tests of hypotheses; 'mean' and 'standardDeviation' describe data"),
    ("toc", "", "a running time is measured by 'ContinuousClock().measure { … }'"),
    ("Math . max ( ... $n )", "$n.max()!", "the greatest element is returned by a method"),
    ("Math . min ( ... $n )", "$n.min()!", "the least element is returned by a method"),
    ("String :: from ( $s )", "$s", "a string literal is a 'String'"),
    ("§ impl $n for $m $r", "", "a conformance is declared by an extension: 'extension $m: $n { … }'"),
    ("§ impl $n $r", "", "methods are declared in the type, or in an extension: 'extension $n { … }'"),
    ("§ from $n . $m import $r", "-", "nothing needs to be imported: the library is always available"),
    ("§ $x , $y #end", "($x, $y)", "several values are a tuple: '(a, b)'"),
    ("§ $x , $y , $z #end", "($x, $y, $z)", "several values are a tuple: '(a, b)'"),
    ("§ $n , $m = $m , $n #end", "", "variables are exchanged with 'swap(&$n, &$m)', or '($n, $m) = ($m, $n)'"),
];
