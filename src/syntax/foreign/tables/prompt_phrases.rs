//! Phrases that newcomers type at the prompt: requests in words, dice, and commands of other prompts.

use super::Row;
use super::calculus_libraries::EIGENVALUES;

const CALLED: &str = "a function is called with parentheses: '$n($i)'";
const RANDOM: &str = "a random number is 'Double.random(in: 0...1)', and a random integer 'Int.random(in: 1...6)'";
const ORDER: &str = "a Taylor polynomial has an order";
const DISTRIBUTION: &str = "a distribution is a value: 'NormalDistribution(mean: 0, standardDeviation: 1)'";

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    ("§ random number #end", "Double.random(in: 0...1)", RANDOM),
    ("§ random number from $i to $z #end", "Double.random(in: $i...$z)", RANDOM),
    ("§ random number between $i and $z #end", "Double.random(in: $i...$z)", RANDOM),
    ("§ random integer from $i to $z #end", "Int.random(in: $i...$z)", RANDOM),
    ("§ random integer between $i and $z #end", "Int.random(in: $i...$z)", RANDOM),
    ("§ roll a die #end", "Int.random(in: 1...6)", RANDOM),
    ("§ roll dice #end", "Int.random(in: 1...6)", RANDOM),
    ("§ flip a coin #end", "Bool.random()", RANDOM),
    ("§ toss a coin #end", "Bool.random()", RANDOM),
    (
        "§ is $i prime",
        "!(2..<$i).contains { d in $i % d == 0 }",
        "the library has no function for prime numbers; a number is prime if no smaller one divides it",
    ),
    ("§ graph of $n #end", "plot($n)", "a function is drawn by 'plot'"),
    ("§ graph of $e #end", "plot({ x in $e }, -10...10)", "a function is drawn by 'plot'"),
    ("§ plot $n ( $k ) , $m ( $k ) #end", "plot($n, $m)", "functions are drawn by their names: 'plot($n, $m)'"),
    ("§ plot $n ( $k ) , $n ~ ' ( $k ) #end", "plot($n, $n')", "functions are drawn by their names: 'plot($n, $n')'"),
    ("§ plot $n and $m #end", "plot($n, $m)", "functions are drawn by their names: 'plot($n, $m)'"),
    ("§ show $n #end", "$n", "a value is shown by its name"),
    ("§ $n at $i #end", "$n($i)", CALLED),
    ("§ $n of $i #end", "$n($i)", CALLED),
    ("§ $e =? #end", "$e", "the value of an expression is shown without '='"),
    ("§ $e = ? #end", "$e", "the value of an expression is shown without '='"),
    ("§ let $n be $e #end", "let $n = $e", "a constant is declared with '='"),
    ("§ $n ← $e #end", "let $n = $e", "constants are declared with 'let', variables with 'var'"),
    ("§ eigenvalues of $n #end", "", EIGENVALUES),
    ("§ eigenvectors of $n #end", "", EIGENVALUES),
    ("§ taylor series of $e at $d #end", "taylor({ x in $e }, at: $d, order: 5)", ORDER),
    ("§ taylor polynomial of $e at $d #end", "taylor({ x in $e }, at: $d, order: 5)", ORDER),
    ("( $x , $y ) · ( $z , $d )", "dot([$x, $y], [$z, $d])", "a product of vectors is written 'dot([1, 2], [3, 4])'"),
    ("$n ~ ⁻ ~ ¹", "inverse($n)", "the inverse of a matrix is 'inverse(A)'"),
    (
        "P ( X $r",
        "",
        "a probability is computed from a distribution, or from the share of samples: 'xs.count { x in x > 1 }'",
    ),
    ("N ( $e , $d )", "NormalDistribution(mean: $e, standardDeviation: $d)", DISTRIBUTION),
    ("E [ X ]", "", "an expected value is the mean of samples: 'mean(xs)'"),
    ("{ $n | $r", "", "elements that satisfy a condition are selected with 'filter': 'xs.filter { x in x > 0 }'"),
    ("bye", "", "the prompt ends with 'exit' or Ctrl-D"),
    ("logout", "", "the prompt ends with 'exit' or Ctrl-D"),
    ("save", "", "':save FILE' saves the successful inputs as a program"),
    ("history", "", "earlier inputs are recalled with the arrow keys; ':save FILE' saves them"),
    ("undo", "", "a declaration is replaced by declaring the name again; ':reset' removes all"),
    ("version", "", "'dscript --version' prints the version"),
    ("hello", "", "type a formula, as in '2 + 2', a function, as in 'f(x) = x^2', or 'help'"),
];
