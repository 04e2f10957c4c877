//! Array operations: operators and functions that other languages apply to the elements of arrays.

use super::Row;
use super::library_functions::EACH;

const DOTTED: &str = "operators on the elements of arrays have a dot";
pub(super) const MATRIX: &str = "matrices have operators after 'import TensorFlow': 'Matrix([[1, 2], [3, 4]])'";
const ELEMENTWISE: &str = "operators are not applied to the elements of arrays; use 'map'";

pub(super) const ROWS: &[Row] = &[
    ("$n ~ [ $m > $e ]", "$n.filter { x in x > $e }", "elements are selected with 'filter'"),
    ("$n ~ [ $m < $e ]", "$n.filter { x in x < $e }", "elements are selected with 'filter'"),
    ("$x - $y", "$x .- $y", DOTTED),
    ("$x + $y", "$x .+ $y", DOTTED),
    ("$x / $y", "$x ./ $y", DOTTED),
    ("$i * $n + $z", "$n.map { x in $i * x + $z }", ELEMENTWISE),
    ("$i * $n - $z", "$n.map { x in $i * x - $z }", ELEMENTWISE),
    ("$z + $i * $n", "$n.map { x in $z + $i * x }", ELEMENTWISE),
    ("$z - $i * $n", "$n.map { x in $z - $i * x }", ELEMENTWISE),
    ("$i ~ $n + $z", "$n.map { x in $(i)x + $z }", ELEMENTWISE),
    ("$i ~ $n - $z", "$n.map { x in $(i)x - $z }", ELEMENTWISE),
    ("<elementary> ( - $n )", "$n.map { x in $elementary(-x) }", ELEMENTWISE),
    ("<elementary> ( - $n / $i )", "$n.map { x in $elementary(-x / $i) }", ELEMENTWISE),
    ("<elementary> ( $n / $i )", "$n.map { x in $elementary(x / $i) }", ELEMENTWISE),
    ("<elementary> ( $i * $n )", "$n.map { x in $elementary($i * x) }", ELEMENTWISE),
    ("<elementary> ( $i ~ $n )", "$n.map { x in $elementary($i * x) }", ELEMENTWISE),
    ("<elementary> ( - $i * $n )", "$n.map { x in $elementary(-$i * x) }", ELEMENTWISE),
    ("$i * $n", "$n.map { x in $i * x }", ELEMENTWISE),
    ("$n * $i", "$n.map { x in x * $i }", ELEMENTWISE),
    ("§ $n ^ - $i #end", "import TensorFlow; Matrix($n)^-$i", MATRIX),
    ("§ $i ~ $n #end", "import TensorFlow; $i * Matrix($n)", MATRIX),
    ("§ $n ^ $i #end", "import TensorFlow; Matrix($n)^$i", MATRIX),
    ("§ $n ~ ' #end", "import TensorFlow; Matrix($n)'", MATRIX),
    ("§ $n * $m #end", "import TensorFlow; Matrix($n) * Matrix($m)", MATRIX),
    ("$i ~ $n", "$n.map { x in $(i)x }", ELEMENTWISE),
    ("§ let $m = $n ^ $i #end", "import TensorFlow; let $m = Matrix($n)^$i", MATRIX),
    ("§ $m = $n ^ $i #end", "import TensorFlow; $m = Matrix($n)^$i", MATRIX),
    ("$n ^ $i", "", MATRIX),
    ("$x ^ $y", "$x.map { x in x^$y }", ELEMENTWISE),
    ("$x ** $y", "$x.map { x in x^$y }", ELEMENTWISE),
    ("- ~ $n", "$n.map { x in -x }", ELEMENTWISE),
    ("$x > $y", "$x.map { x in x > $y }", ELEMENTWISE),
    ("$x < $y", "$x.map { x in x < $y }", ELEMENTWISE),
    ("<elementary> ( $x )", "$x.map($elementary)", EACH),
    ("$x ⋅ $y", "dot($x, $y)", "a product of vectors is written 'dot($x, $y)'"),
    (
        "[ $e ] * $i",
        "Array(repeating: $e, count: $i)",
        "an array of equal elements is written 'Array(repeating:count:)'",
    ),
    ("$n . T", "", MATRIX),
    ("$n ~ '", "", MATRIX),
    ("$n * $m", "", MATRIX),
    ("$n * $m", "$n .* $m", DOTTED),
    ("$n * [ $a ]", "", MATRIX),
    ("[ $a ] * $x", "", "elements are multiplied with '.*'; an array is repeated with 'Array(repeating:count:)'"),
    ("$n += $i", "", "an element is added with '$n.append($i)', a number to all elements with '$n = $n .+ $i'"),
    ("let ( $n , $m ) = [ $e , $d ]", "let ($n, $m) = ($e, $d)", "several variables are declared with a tuple"),
];
