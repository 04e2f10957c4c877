//! Calculus in words and in the notation of textbooks: derivatives, extrema, roots, averages and units.

use super::Row;
use super::library_functions::{INTEGRAL, ODE};

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
