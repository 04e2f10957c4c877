//! Numerical languages: functions and notations of R, MATLAB and Mathematica, and optimization under conditions.

use super::Row;
use super::calculus_functions::OF_FUNCTIONS;
use super::library_functions::EACH;

const DRAWN: &str = "a function is drawn over a range";
const FUNCTION: &str = "a function with statements is declared with 'func $n(x: Double) -> Double { … }'";
const PARAMETER: &str =
    "an element of an array is written in square brackets, and the parameters of a formula are names: '$n($m) = …'";
const MINIMIZED: &str = "a minimum is sought from a point: 'minimize({ x in … }, from: 0)'";
const SOLVED: &str = "a root is sought near a point: 'solve({ x in … }, near: 1)'";
const ITEMS: &str =
    "a plot is one value; items are added by methods, as in 'plot(xs, ys).titled(\"t\").labels(x: \"x\", y: \"y\")'";
const STATIONARY: &str = "a zero of the gradient is sought near a point: 'solve(∇$n, near: (1, 1))'";
const CONSTRAINED: &str = "an optimum where 'g' is 0 is a zero of the gradient of 'L(x, y, λ) = f(x, y) - λ * g(x, y)', \
                           which is found by 'solve(∇L, near: (1, 1, 1))'";

/// The rows for declarations of functions.
pub(in crate::syntax::foreign) const DECLARATIONS: &[Row] = &[
    ("§ $n = ( $m ) -> $e #end", "$n($m) = $e", "a function with one expression is written '$n($m) = …'"),
    ("§ $n = ( $m , $k ) -> $e #end", "$n($m, $k) = $e", "a function with one expression is written '$n($m, $k) = …'"),
    ("§ $n ( $a ) = return $e #end", "$n($a) = $e", "a formula is its expression, without 'return'"),
    ("§ $n ( $m ) { $e } #end", "$n($m) = $e", "a function with one expression is written '$n($m) = …'"),
    ("§ $n ( $m , $k ) { $e } #end", "$n($m, $k) = $e", "a function with one expression is written '$n($m, $k) = …'"),
    (
        "§ $n ( $m ) ( $k ) = $e #end",
        "$n($m) = { $k in $e }",
        "a formula has one list of parameters; it may return a closure",
    ),
    ("§ $n ( end + 1 ) = $e #end", "$n.append($e)", "an element is added with 'append'"),
    ("§ $n ( $m + 1 ) = $e #end", "$n[$m] = $e", "an element is written in square brackets, and indices count from 0"),
    ("§ $n ( $m + $i ) = $r", "", PARAMETER),
    ("§ $n ( $m - $i ) = $r", "", PARAMETER),
    (
        "§ $n <- c ( $a ) #end",
        "let $n = [$a]",
        "constants are declared with 'let', and arrays are written in square brackets",
    ),
    ("§ $n <- function ( $a ) { $e } #end", "$n($a) = $e", "a function with one expression is written '$n($a) = …'"),
    ("§ $n = function ( $a ) { $e } #end", "$n($a) = $e", "a function with one expression is written '$n($a) = …'"),
    ("§ $n <- function ( $m ) { $r", "", FUNCTION),
    ("§ $n = function ( $m ) { $r", "", FUNCTION),
    ("§ $n <- function ( $m ) { ↵ $r", "", FUNCTION),
    ("§ $n = function ( $m ) { ↵ $r", "", FUNCTION),
];

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    ("$n ( c ( $a ) )", "[$a].map($n)", "an array is written in square brackets"),
    // Numerical methods.
    ("optimise ( function ( $n ) $c , c ( $e , $d ) )", "minimize({ $n in $c }, from: $e)", MINIMIZED),
    ("optimise ( $f , c ( $e , $d ) )", "minimize($f, from: $e)", MINIMIZED),
    ("optimise ( $r", "", MINIMIZED),
    ("optim ( $r", "", MINIMIZED),
    ("uniroot ( $n , lower = $e , upper = $d )", "solve($n, near: ($e + $d) / 2)", SOLVED),
    // Drawings.
    ("curve ( $n , from = $e , to = $d )", "plot($n, $e...$d)", DRAWN),
    ("curve ( $c , from = $e , to = $d )", "plot({ x in $c }, $e...$d)", DRAWN),
    ("abline ( $r", "", ITEMS),
    ("legend ( $r", "", ITEMS),
    // Values.
    ("runif ( $i )", "(1...$i).map { _ in Double.random(in: 0..<1) }", ""),
    ("runif ( $i , $e , $d )", "(1...$i).map { _ in Double.random(in: $e...$d) }", ""),
    ("gsub ( $s , $r", "", "a part of a text is replaced by 'text.replacingOccurrences(of: \"a\", with: \"b\")'"),
    ("rm ( $a )", "", "variables are not removed; a new declaration replaces an earlier one"),
    ("ls ( )", "", "the variables of the session are listed by ':vars'"),
    ("options ( digits = $i )", "", "the number of digits is set by ':set digits $i' at the prompt"),
    ("diag ( $i )", "", "the identity matrix is 'Matrix.identity($i)' after 'import TensorFlow'"),
    ("coef ( $n )", "$n.parameters", ""),
    ("coefficients ( $n )", "$n.parameters", ""),
    ("residuals ( $n )", "$n.residuals", ""),
    ("predict ( $n , $r", "", "the fitted parameters are '$n.parameters'; the model is called with them"),
    // Optimization.
    ("solve ( ∇ ~ $n = 0 )", "", STATIONARY),
    ("solve ( ∇ ~ $n == 0 )", "", STATIONARY),
    ("solve ( ∇ ~ $n )", "", STATIONARY),
    ("∇ ~ $n ( $a ) = 0", "", STATIONARY),
    ("∇ ~ $n = 0", "", STATIONARY),
    ("grad $n ( $a ) = 0", "", STATIONARY),
    ("grad $n = 0", "", STATIONARY),
    ("grad ( $n ) = 0", "", STATIONARY),
    ("<optimum> ( $n , subject to $r", "", CONSTRAINED),
    ("<optimum> ( $n , subjectTo $r", "", CONSTRAINED),
    ("<optimum> ( $n , subject_to $r", "", CONSTRAINED),
    ("<optimum> ( $n , constraint $r", "", CONSTRAINED),
    ("<optimum> ( $n , constraints $r", "", CONSTRAINED),
    ("<optimum> $n subject to $r", "", CONSTRAINED),
    ("<optimum> $n ( $a ) subject to $r", "", CONSTRAINED),
    ("<optimum> $n such that $r", "", CONSTRAINED),
    ("<optimum> $n s . t . $r", "", CONSTRAINED),
    // MATLAB.
    ("fminbnd ( $f , $e , $d )", "minimize($f, from: ($e + $d) / 2)", MINIMIZED),
    ("§ $n = [ $n $i ] #end", "$n.append($i)", "an element is added with 'append'"),
    ("§ $n = [ $n , $i ] #end", "$n.append($i)", "an element is added with 'append'"),
    ("$n ~ ( $i : $d )", "$n[$[i] ..< $d]", "a part of an array is written with a range; indices count from 0"),
    ("$x \\ $y", "solve($x, $y)", "linear equations are solved by 'solve(A, b)'"),
    ("$x ~ \\ ~ $y", "solve($x, $y)", "linear equations are solved by 'solve(A, b)'"),
    (
        "$x ~ \\ ~ $y",
        "",
        "linear equations are solved by 'solve(A, b)', with the matrix [[Double]] and the right side [Double]",
    ),
    ("$x . ~ '", "", "a transposed matrix is 'Matrix($x)'', after 'import TensorFlow'"),
    ("plot ( $e , $d , $s )", "plot($e, $d)", "a curve is drawn without a style"),
    ("plt . plot ( $e , $d , $s )", "plot($e, $d)", "a curve is drawn without a style"),
    (
        "§ function [ $a ] = $n ( $r",
        "",
        "a function with several results returns a tuple: 'func $n(x: Double) -> (Double, Double) { … }'",
    ),
    ("true & $x", "true && $x", "'&' is written '&&'"),
    ("$x & true", "$x && true", "'&' is written '&&'"),
    ("true & false", "true && false", "'&' is written '&&'"),
    ("eps", "Double.ulpOfOne", ""),
    ("format long", "", "the number of digits is set by ':set digits 16' at the prompt"),
    ("format short", "", "the number of digits is set by ':set digits 5' at the prompt"),
    (
        "struct ( $s , $r",
        "",
        "a type with members is declared: 'struct S { var a = 1.0, b = 2.0 }', and created by 'S()'",
    ),
    (
        "§ $n = { $i , $r",
        "",
        "values of several types are in a tuple, '(1, \"a\")', or in an array: 'let c: [Any] = [1, \"a\"]'",
    ),
    // Mathematica.
    (
        "Manipulate [ $r",
        "",
        "several functions are drawn in one plot: 'plot({ x in sin(x) }, { x in sin(2x) }, 0...5)'",
    ),
    ("Random [ ]", "Double.random(in: 0..<1)", ""),
    ("RandomReal [ ]", "Double.random(in: 0..<1)", ""),
    ("$n ( $i .. $d )", "($i...$d).map($n)", EACH),
    // Arguments that combine functions.
    ("<method> ( $n + $m , $a )", "$method({ x in $n(x) + $m(x) }, $a)", OF_FUNCTIONS),
    ("<method> ( $n - $m , $a )", "$method({ x in $n(x) - $m(x) }, $a)", OF_FUNCTIONS),
    ("<method> ( $n * $m , $a )", "$method({ x in $n(x) * $m(x) }, $a)", OF_FUNCTIONS),
    ("<method> ( $n / $m , $a )", "$method({ x in $n(x) / $m(x) }, $a)", OF_FUNCTIONS),
];

/// The rows for arrays and ranges whose elements a function takes.
pub(in crate::syntax::foreign) const APPLIED: &[Row] = &[
    ("$n ~ ' ( [ $a ] )", "[$a].map($n')", EACH),
    ("$n ~ ' ( $m )", "$m.map($n')", EACH),
    ("$n ( $i ... $d )", "($i...$d).map($n)", EACH),
    ("$n ( $i ..< $d )", "($i..<$d).map($n)", EACH),
    ("$n ( stride ( $a ) )", "stride($a).map($n)", EACH),
];
