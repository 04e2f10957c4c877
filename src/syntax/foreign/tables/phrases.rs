//! Phrases: requests that newcomers type at the prompt, and calculus in words and in the notation of textbooks, such as
//! derivatives, extrema, roots, averages and units.

use super::Row;
use super::calculus_libraries::EIGENVALUES;
use super::library_functions::{INTEGRAL, ODE};

const HELP: &str = "type a formula, as in '2 + 2', a function, as in 'f(x) = x^2', or 'help'";
const SUMMED: &str = "a sum is written '(1...n).map { i in … }.sum()'";
const RECURSIVE: &str = "a recursive sequence is computed in a loop: 'var x = 1.0; for _ in 1...10 { x = cos(x) }'";
const TOGETHER: &str = "'solve' solves equations together, written as differences: 'solve({ x, y in (x + y - 3, x - y - 1) }, near: (1, 1))'";
const COMPOSED: &str = "the composition of functions is written as a closure";
const PARENTHESIZED: &str = "a function is called with parentheses: '$n($i)'";
const RANDOM: &str = "a random number is 'Double.random(in: 0...1)', and a random integer 'Int.random(in: 1...6)'";
const ORDER: &str = "a Taylor polynomial has an order";
const DISTRIBUTION: &str = "a distribution is a value: 'NormalDistribution(mean: 0, standardDeviation: 1)'";
const DERIVED: &str = "a derivative is taken of a function: 'derive { x in … }'";
const DERIVED_TWICE: &str = "a derivative is taken of a function: 'derive({ x in … }, order: 2)'";
const AT_POINT: &str = "a derivative at a point is written 'derivative(at: $d) { x in … }'";
const CALLED: &str = "a formula is evaluated by calling a function: define 'f(x) = …', then write 'f(3)'";
const ROOT: &str = "a root is sought near a point: 'solve({ x in … }, near: 1)'";
const PLOT: &str = "'plot' takes a function and a range: 'plot({ x in … }, -10...10)'";
const MAXIMUM: &str = "a maximum is sought from a point: 'maximize({ x in … }, from: 0)'";
const MINIMUM: &str = "a minimum is sought from a point: 'minimize({ x in … }, from: 0)'";
const ANTIDERIVATIVE: &str = "an integral with a variable bound is a function: 'F(x) = integral({ t in t^2 }, 0...x)'";
const ARC: &str =
    "the length of a curve is an integral of its derivative: 'integral({ x in sqrt(1 + f'(x)^2) }, 0...1)'";
const INFINITE_SUM: &str = "a finite sum is close to an infinite one: '(1...1000).map { n in 1.0 / n^2 }.sum()'";
const LIMIT: &str = "a limit is written 'limit({ x in … }, at: 0)'";
const NEWTON: &str = "Newton's method is called as 'newton({ x in … }, from: 1)'";
const RIEMANN: &str = "a sum of areas is written 'riemann({ x in … }, 0...1, n: 4, rule: .midpoint)'";
const TAYLOR: &str = "a Taylor polynomial is written 'taylor(of: { x in … }, at: 0, order: 5)'";
const IMPLICIT: &str = "a curve is drawn by ':plot x^2 + y^2 = 25'; with 'g(x, y) = x^2 + y^2 - 25', dy/dx is '-∂(g, x)(3, 4) / ∂(g, y)(3, 4)'";
const INCREASING: &str = "a function increases where its derivative is positive: 'plot($n', -10...10)' draws it";
const MEAN: &str = "the mean of a function is its integral divided by the length of the interval";
const REWRITTEN: &str = "expressions are not rewritten; 'derive' returns the derivative of a function as a formula";
const SUM: &str = "a sum is written '(1...n).map { i in … }.sum()'";
const CASES: &str = "a function of two cases is written 'condition ? a : b'";
const UNITS: &str =
    "units are converted by measurements: 'Measurement(value: 5, unit: UnitLength.kilometers).converted(to: .miles)'";
const DEGREES: &str = "units are converted by measurements: 'Measurement(value: 20, unit: UnitTemperature.celsius).converted(to: .fahrenheit)'";

/// The rows for requests in words, dice, and commands of other prompts.
pub(in crate::syntax::foreign) const REQUESTS: &[Row] = &[
    ("§ how $n $r", "", HELP),
    ("§ how do $r", "", HELP),
    ("§ what can $r", "", HELP),
    ("§ plot a $n #end", "", "a function is drawn by ':plot sin', or by 'plot({ x in x^2 }, -1...1)'"),
    ("$x . print ( )", "print($x)", ""),
    ("hello", "", HELP),
    ("§ what is $n ( $a ) #end", "$n($a)", "the value of an expression is shown when it is entered"),
    ("§ what is $n ( $a ) ? #end", "$n($a)", "the value of an expression is shown when it is entered"),
    ("§ $n prime of $x #end", "$n'($x)", "the derivative of '$n' is the function '$n''"),
    ("§ $n prime at $x #end", "$n'($x)", "the derivative of '$n' is the function '$n''"),
    ("§ $n prime ( $a ) #end", "$n'($a)", "the derivative of '$n' is the function '$n''"),
    ("§ $n o $m #end", "{ x in $n($m(x)) }", COMPOSED),
    ("$x as a fraction", "", "numbers are computed as decimal fractions; there is no type of fractions"),
    ("riemann ( $f , $e , $d , $i )", "riemann($f, $e...$d, n: $i)", RIEMANN),
    ("riemann ( $f , $e ... $d , $i )", "riemann($f, $e...$d, n: $i)", RIEMANN),
    ("<riemann> ( $f , $e , $d , $i )", "riemann($f, $e...$d, n: $i)", RIEMANN),
    ("<riemann> ( $f , $e ... $d , $i )", "riemann($f, $e...$d, n: $i)", RIEMANN),
    ("<riemann> ( $r", "", RIEMANN),
    (
        "§ <rectangles> Riemann sum of $n from $e to $d with n = $i #end",
        "riemann($n, $e...$d, n: $i, rule: .$rectangles)",
        RIEMANN,
    ),
    ("§ <rectangles> Riemann sum $r", "", RIEMANN),
    ("§ Riemann sum $r", "", RIEMANN),
    ("zeros ( $n )", "", "a root is sought near a point: 'solve($n, near: 1)'"),
    ("sum ( $n = $i to $x ) $r", "($i...$x).map { $n in $[r] }.sum()", SUMMED),
    ("Σ ( $n = $i to $x ) $r", "($i...$x).map { $n in $[r] }.sum()", SUMMED),
    ("lim ( $e , $n = $d )", "limit({ $n in $e }, at: $d)", "a limit is written 'limit({ x in … }, at: 0)'"),
    ("§ $n ~ { $m + 1 } = $r", "", RECURSIVE),
    (
        "§ integral $e from $d to $c #end",
        "integral({ x in $e }, $d...$c)",
        "an integral is written 'integral({ x in … }, 0...1)'",
    ),
    ("solve ( $e = $d , $c = $x )", "solve({ x, y in ($e - $(d), $c - $x) }, near: (1, 1))", TOGETHER),
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
    ("§ $n at $i #end", "$n($i)", PARENTHESIZED),
    ("§ $n of $i #end", "$n($i)", PARENTHESIZED),
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
];

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    ("§ plot y = $r", "plot({ x in $r }, -10...10)", PLOT),
    ("§ graph y = $r", "plot({ x in $r }, -10...10)", PLOT),
    ("( $e ) ~ ' at $d", "derivative(at: $d) { x in $e }", AT_POINT),
    ("( $e ) ~ '", "derive { x in $e }", DERIVED),
    ("D ( $e )", "derive { x in $e }", DERIVED),
    ("d / dx [ $e ]", "derive { x in $e }", DERIVED),
    ("d / dx $e at x = $d", "derivative(at: $d) { x in $e }", AT_POINT),
    ("d / dx $e at $d", "derivative(at: $d) { x in $e }", AT_POINT),
    ("∂ / ∂ ~ $n ( $e )", "derive { $n in $e }", DERIVED),
    ("d ^ 2 / dx ^ 2 ( $e )", "derive({ x in $e }, order: 2)", DERIVED_TWICE),
    ("d ^ 2 / dx ^ 2 $p", "derive({ x in $p }, order: 2)", DERIVED_TWICE),
    ("d ~ ² / dx ~ ² ( $e )", "derive({ x in $e }, order: 2)", DERIVED_TWICE),
    ("d ~ ² / dx ~ ² $p", "derive({ x in $p }, order: 2)", DERIVED_TWICE),
    ("d ~ ² ~ y / dx ~ ²", "", "the second derivative of a function 'f' is the function 'f'''; a variable has none"),
    ("§ differentiate $e", "derive { x in $e }", DERIVED),
    ("§ derivative of $e at $d", "derivative(at: $d) { x in $e }", AT_POINT),
    ("§ slope of $e at $d", "derivative(at: $d) { x in $e }", AT_POINT),
    ("§ area under $e from $d to $c", "integral({ x in $e }, $d...$c)", INTEGRAL),
    ("§ integral of $e dx from $d to $c", "integral({ x in $e }, $d...$c)", INTEGRAL),
    ("§ integral of $e from $d to $c", "integral({ x in $e }, $d...$c)", INTEGRAL),
    ("§ integral of $r", "", ANTIDERIVATIVE),
    ("§ antiderivative of $r", "", ANTIDERIVATIVE),
    ("§ ∫ $e dx #end", "", ANTIDERIVATIVE),
    ("§ taylor $e at $d order $i", "taylor(of: { x in $e }, at: $d, order: $i)", TAYLOR),
    ("§ taylor series of $e at $d #end", "taylor(of: { x in $e }, at: $d, order: 5)", TAYLOR),
    ("§ taylor series of $e around $d #end", "taylor(of: { x in $e }, at: $d, order: 5)", TAYLOR),
    ("§ maclaurin series of $e #end", "taylor(of: { x in $e }, at: 0, order: 5)", TAYLOR),
    ("§ maclaurin $r", "", TAYLOR),
    ("§ newton ~ ' ~ s method $r", "", NEWTON),
    ("§ simpson ~ ' ~ s rule $r", "", RIEMANN),
    ("§ <rectangles> riemann sum $r", "", RIEMANN),
    ("§ riemann sum $r", "", RIEMANN),
    ("§ <rectangles> rule $r", "", RIEMANN),
    ("§ arc length of y = $e from $d to $c", "integral({ x in sqrt(1 + ({ x in $e })'(x)^2) }, $d...$c)", ARC),
    ("§ arc length $r", "", ARC),
    ("§ average value of $e on [ $d , $c ]", "integral({ x in $e }, $d...$c) / ($c - $d)", MEAN),
    ("§ domain of $r", "", "the value of a function outside of its domain is 'nan'"),
    ("§ inverse of $r", "", "the inverse of a function is found by 'solve({ x in f(x) - 3 }, near: 1)'"),
    ("§ normal line $r", "", "a line with the slope '-1 / f'(1)' is perpendicular to the tangent"),
    ("§ area between $n and $m from $e to $d #end", "integral({ x in abs($n(x) - $m(x)) }, $e...$d)", INTEGRAL),
    ("§ area between $e and $d from $x to $c #end", "integral({ x in abs($(e) - $(d)) }, $x...$c)", INTEGRAL),
    ("§ area between $r", "", INTEGRAL),
    ("§ volume of revolution of $n from $d to $c #end", "π * integral({ x in $n(x)^2 }, $d...$c)", INTEGRAL),
    ("§ volume of revolution of $e from $d to $c #end", "π * integral({ x in ($e)^2 }, $d...$c)", INTEGRAL),
    ("§ volume of $r", "", INTEGRAL),
    ("§ critical points of $n", "solve($n', near: 1)", "a critical point is a root of the derivative"),
    ("§ inflection points of $n", "solve($n'', near: 1)", "an inflection point is a root of the second derivative"),
    ("§ arc length of $n from $d to $c", "integral({ x in sqrt(1 + $n'(x)^2) }, $d...$c)", ARC),
    ("§ average of $n from $d to $c", "integral($n, $d...$c) / ($c - $d)", MEAN),
    ("§ average value of $n from $d to $c", "integral($n, $d...$c) / ($c - $d)", MEAN),
    ("§ average of $n on $d .. $c", "integral($n, $d...$c) / ($c - $d)", MEAN),
    ("§ average value of $n on [ $d , $c ]", "integral($n, $d...$c) / ($c - $d)", MEAN),
    ("§ where is $n increasing", "", INCREASING),
    ("§ where is $n decreasing", "", INCREASING),
    ("§ implicit $r", "", IMPLICIT),
    ("§ ode y $r", "", ODE),
    ("§ euler y $r", "", ODE),
    ("§ y ~ ' = $r", "", ODE),
    ("§ y '' $r", "", ODE),
    ("§ y ~ ' ' $r", "", ODE),
    ("§ y ~ ' ~ ' $r", "", ODE),
    ("§ complete the square $r", "", REWRITTEN),
    ("§ partial fractions $r", "", REWRITTEN),
    ("§ newton $e #end", "newton({ x in $e }, from: 1)", NEWTON),
    ("§ bisection $e #end", "solve({ x in $e }, near: 1)", ROOT),
    ("§ limit as $n approaches $d of $e #end", "limit({ $n in $e }, at: $d)", LIMIT),
    ("§ limit as $n -> $d of $e #end", "limit({ $n in $e }, at: $d)", LIMIT),
    ("§ limit as $n → $d of $e #end", "limit({ $n in $e }, at: $d)", LIMIT),
    ("§ limit as $n $r", "", LIMIT),
    ("§ limit of $r", "", LIMIT),
    ("limit ( $e , $n -> infinity )", "limit({ $n in $e }, at: .infinity)", "infinity is written '.infinity'"),
    ("limit ( $e , $n -> ∞ )", "limit({ $n in $e }, at: .infinity)", "infinity is written '.infinity'"),
    // The numbers are of type 'Double', so that no quotient drops its remainder.
    ("§ sum from $n = $d to <infinite> of $r", "", INFINITE_SUM),
    ("§ sum $e from $n = $d to <infinite>", "", INFINITE_SUM),
    ("§ sum $e , $n = $d to <infinite>", "", INFINITE_SUM),
    ("§ sum of $e for $n = $d to <infinite>", "", INFINITE_SUM),
    ("§ sum of $e for $n = $d to $c", "stride(from: $d.0, through: $c, by: 1).map { $n in $e }.sum()", SUM),
    ("§ sum from $n = $d to $c of $e #end", "stride(from: $d.0, through: $c, by: 1).map { $n in $e }.sum()", SUM),
    ("§ sum $e from $n = $d to $c #end", "stride(from: $d.0, through: $c, by: 1).map { $n in $e }.sum()", SUM),
    ("§ sum $e , $n = $d to $c #end", "stride(from: $d.0, through: $c, by: 1).map { $n in $e }.sum()", SUM),
    ("§ sum $e , $n = $r", "", SUM),
    ("§ plot $n from $d to $c", "plot($n, $d...$c)", PLOT),
    ("§ plot $e from $d to $c", "plot({ x in $e }, $d...$c)", PLOT),
    ("§ tangent of $n at $d", "tangent($n, at: $d)", "a tangent is written 'tangent(f, at: 1)'"),
    ("d / dx <elementary> _ $p", "derive { x in $elementary($p) }", DERIVED),
    ("| ( $e , $d ) |", "norm([$e, $d])", "the length of a vector is written 'norm([3, 4])'"),
    ("‖ ( $e , $d ) ‖", "norm([$e, $d])", "the length of a vector is written 'norm([3, 4])'"),
    ("( $a ) · ( $d )", "dot([$a], [$d])", "a product of vectors is written 'dot([1, 2], [3, 4])'"),
    ("§ $n ( $a ) = #end", "", "the formula of a function follows the '=': '$n($a) = x^2'"),
    ("§ $e =? #end", "$e", "the value of an expression is shown without '='"),
    ("§ mean of $e", "mean($e)", ""),
    ("§ square root of $p", "sqrt($p)", ""),
    ("§ cube root of $p", "cbrt($p)", ""),
    ("log base $i of $p", "log($p) / log($i)", "a logarithm to another base is a quotient of logarithms"),
    ("§ $n ( $m ) = $e for $c , $d otherwise #end", "$n($m) = $c ? $e : $d", CASES),
    ("§ $n ( $m ) = $e if $c , $d otherwise #end", "$n($m) = $c ? $e : $d", CASES),
    ("§ $n ( $m ) = $e , $c #end", "", CASES),
    ("§ $n ( $m ) = { $e if $c ; $d otherwise }", "$n($m) = $c ? $e : $d", CASES),
    ("§ $n ( $m ) = { $e if $c , $d otherwise }", "$n($m) = $c ? $e : $d", CASES),
    ("§ $n ( $m ) = { $e , $c ; $d , otherwise }", "$n($m) = $c ? $e : $d", CASES),
    ("§ $n ( $m ) = { $e , $c ; $d , $x $r }", "", CASES),
    ("§ $n ( $m ) = { $e , $c ; $r", "", CASES),
    ("§ roots of $r", "", ROOT),
    ("§ solve $e #end", "solve({ x in $e }, near: 1)", ROOT),
    ("§ graph $e #end", "plot({ x in $e }, -10...10)", PLOT),
    ("§ draw $e #end", "plot({ x in $e }, -10...10)", PLOT),
    ("§ <rewriting> $r", "", REWRITTEN),
    ("§ maximum _ $r", "", MAXIMUM),
    ("§ minimum _ $r", "", MINIMUM),
    ("§ max of $r", "", MAXIMUM),
    ("§ min of $r", "", MINIMUM),
    ("§ <average> of $a", "mean([$a])", "the numbers are the elements of an array"),
    ("§ sum $n from $x to $y #end", "($x...$y).sum()", SUM),
    ("sum ( $e , $n = $x .. $y )", "($x...$y).map { $n in $[e] }.sum()", SUM),
    ("$i $n in $m", "", UNITS),
    ("$i $n to $m", "", UNITS),
    ("$i ° ~ $n in $r", "", DEGREES),
    ("$e where $n = $d", "", CALLED),
    ("< $a > · < $d >", "dot([$a], [$d])", "a product of vectors is written 'dot([1, 2], [3, 4])'"),
];
