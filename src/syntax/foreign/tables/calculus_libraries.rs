//! Calculus in other libraries: derivatives, integrals, limits and plots as functions that transform functions, and as
//! phrases.

use super::Row;
use super::library_functions::INTEGRAL;

const GRADIENT: &str = "the gradient of a function at a point is written 'gradient(at: x, in: f)'";
const LIMIT: &str = "a limit is written 'limit({ x in … }, at: 0)'";
const COMPILED: &str = "functions are compiled when they run, without a request";
const RANGE: &str = "an interval is written as a range";
const TAYLOR: &str = "a Taylor polynomial is written 'taylor(of: { $n in … }, at: $d, order: $c)'";
const MINIMUM: &str = "a minimum is sought from a point: 'minimize($n, from: 0)'";
const MAXIMUM: &str = "a maximum is sought from a point: 'maximize($n, from: 0)'";
const SUM: &str = "a sum is written '(1...n).map { i in … }.sum()'";
const DERIVATIVE_AT: &str = "a derivative at a point is written 'derivative(at: x, in: f)'";
const ROOT: &str = "a root is sought near a point: 'solve($n, near: 1)'";
const ROOT_OF: &str = "a root is sought near a point: 'solve($f, near: 1)'";
const MINIMIZED: &str = "a minimum is sought from a point: 'minimize({ x in … }, from: 0)'";
const SOLVED: &str = "a root is sought near a point: 'solve({ x in … }, near: 1)'";
const DERIVED: &str = "a derivative is taken of a function: 'derive { x in … }'";
const INTERSECTION: &str = "an intersection is a root of the difference, which is sought near a point";
const MINIMUM_FROM: &str = "a minimum is sought from a point: 'minimize($f, from: $e)'";
const CURVE: &str = "'plot' takes functions: 'plot(f, g)'";
const AT_POINT: &str = "a function is called at a point: '$n($e)'";

const ROWS_OF: &str = "a matrix is an array of rows";
const IDENTITY: &str = "the identity matrix is 'Matrix.identity($i)' after 'import TensorFlow'";
/// The sentence about eigenvalues.
pub(in crate::syntax::foreign) const EIGENVALUES: &str =
    "the eigenvalues of a symmetric matrix are 'eigh(Matrix(A)).eigenvalues' after 'import TensorFlow'";

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    // Transformations of functions.
    ("jax . <transformer> ( $f , argnums = 0 ) ( $e , $d )", "gradient(at: $e, $d, in: $f).0", GRADIENT),
    ("jax . <transformer> ( $f , argnums = 1 ) ( $e , $d )", "gradient(at: $e, $d, in: $f).1", GRADIENT),
    ("jax . <transformer> ( $f , argnums = ( 0 , 1 ) ) ( $e , $d )", "gradient(at: $e, $d, in: $f)", GRADIENT),
    ("jax . <transformer> ( $f , ( 0 , 1 ) ) ( $e , $d )", "gradient(at: $e, $d, in: $f)", GRADIENT),
    ("<transformer> ( $f , argnums = 0 ) ( $e , $d )", "gradient(at: $e, $d, in: $f).0", GRADIENT),
    ("<transformer> ( $f , argnums = 1 ) ( $e , $d )", "gradient(at: $e, $d, in: $f).1", GRADIENT),
    ("<transformer> ( $f , argnums = ( 0 , 1 ) ) ( $e , $d )", "gradient(at: $e, $d, in: $f)", GRADIENT),
    ("<transformer> ( $f , ( 0 , 1 ) ) ( $e , $d )", "gradient(at: $e, $d, in: $f)", GRADIENT),
    ("<transformer> ( $f ) ( $e )", "gradient(at: $e, in: $f)", GRADIENT),
    ("<transformer> ( $f ) ( $e , $d )", "gradient(at: $e, $d, in: $f)", GRADIENT),
    ("<transformer> ( <transformer> ( $n ) ) ( $e )", "$n''($e)", "the second derivative of '$n' is '$n'''"),
    ("<valued> ( $f ) ( $e )", "valueWithGradient(at: $e, in: $f)", ""),
    ("<valued> ( $f ) ( $e , $d )", "valueWithGradient(at: $e, $d, in: $f)", ""),
    ("<jacobian> ( $f ) ( $e )", "jacobian(at: $e, in: $f)", ""),
    ("<jacobian> ( $f ) ( $e )", "derivative(at: $e, in: $f)", ""),
    ("<jacobian> ( $f , $e )", "jacobian(at: $e, in: $f)", ""),
    ("jax . hessian ( $f ) ( $e )", "hessian(at: $e, in: $f)", ""),
    ("jit ( $f )", "$f", COMPILED),
    ("<differentiator> . gradient ( $f , [ $a ] )", "gradient(at: [$a], in: $f)", GRADIENT),
    ("<differentiator> . gradient ( $f , [ $a ] )", "gradient(at: $a, in: $f)", GRADIENT),
    ("<differentiator> . gradient ( $f , $e )", "gradient(at: $e, in: $f)", GRADIENT),
    ("<differentiator> . gradient ( $f , $e , $d )", "gradient(at: $e, $d, in: $f)", GRADIENT),
    ("<differentiator> . jacobian ( $f , $e )", "jacobian(at: $e, in: $f)", ""),
    ("<differentiator> . hessian ( $f , $e )", "hessian(at: $e, in: $f)", ""),
    ("Enzyme . autodiff ( $r", "", GRADIENT),
    ("d ( $e ) / dx", "derive { x in $e }", DERIVED),
    ("d ( $e ) / dt", "derive { t in $e }", DERIVED),
    ("differentiate ( $e , $n )", "derive { $n in $e }", DERIVED),
    ("diff ( $n )", "$n'", "the derivative of '$n' is the function '$n''"),
    // Values at points.
    ("$n ~ ' ~ ( $m ) at $k = $e", "$n'($e)", "a function is called at a point: '$n'($e)'"),
    ("$n ~ ' ~ at $e", "$n'($e)", "a function is called at a point: '$n'($e)'"),
    ("$n ( $m ) at $k = $e", "$n($e)", AT_POINT),
    ("tangent line to $n at $e", "tangent($n, at: $e)", ""),
    ("tangent to $n at $e", "tangent($n, at: $e)", ""),
    // Integrals, limits and series.
    ("scipy . integrate . quad ( $f , $e , $d )", "integral($f, $e...$d)", RANGE),
    ("integrate . quad ( $f , $e , $d )", "integral($f, $e...$d)", RANGE),
    ("quad ( lambda $n : $e , $d , $c )", "integral({ $n in $e }, $d...$c)", INTEGRAL),
    ("quadgk ( $n -> $e , $d , $c )", "integral({ $n in $e }, $d...$c)", INTEGRAL),
    ("quadgk ( $f , $e , $d )", "integral($f, $e...$d)", RANGE),
    ("int ( $f , $e , $d )", "integral($f, $e...$d)", RANGE),
    ("int ( $e , x , $d , $c )", "integral({ x in $e }, $d...$c)", INTEGRAL),
    ("int ( $e , $d , $c )", "integral({ x in $e }, $d...$c)", INTEGRAL),
    ("integrate ( $e , $d , $c )", "integral({ x in $e }, $d...$c)", INTEGRAL),
    ("integral from $e to $d of $r", "integral({ x in $r }, $e...$d)", INTEGRAL),
    ("integral of $c from $e to $d", "integral({ x in $c }, $e...$d)", INTEGRAL),
    ("limit ( $e , $n -> $d )", "limit({ $n in $e }, at: $d)", LIMIT),
    ("limit ( $e , $n = $d )", "limit({ $n in $e }, at: $d)", LIMIT),
    ("lim ( $e , $n -> $d )", "limit({ $n in $e }, at: $d)", LIMIT),
    ("lim ( $n → $e , $d )", "limit({ $n in $d }, at: $e)", LIMIT),
    ("lim ( $n -> $e , $d )", "limit({ $n in $d }, at: $e)", LIMIT),
    ("lim ( $n , $d )", "limit($n, at: $d)", ""),
    ("lim ( $e , $d )", "limit({ x in $e }, at: $d)", LIMIT),
    ("limit of $e as $n -> $d", "limit({ $n in $e }, at: $d)", LIMIT),
    ("limit of $e as $n approaches $d", "limit({ $n in $e }, at: $d)", LIMIT),
    ("taylor ( $e , $n , $d , $c )", "taylor(of: { $n in $e }, at: $d, order: $c)", TAYLOR),
    ("series ( $e , $n , $d , $c )", "taylor(of: { $n in $e }, at: $d, order: $c)", TAYLOR),
    ("sum ( $e to $d )", "($e...$d).sum()", "a range with its end is written '$e...$d'"),
    ("Σ ( $e )", "sum($e)", SUM),
    ("Σ $r", "", SUM),
    ("sum_ $r", "", SUM),
    // Minima and maxima.
    ("§ minimize $n #end", "", MINIMUM),
    ("§ min $n #end", "", MINIMUM),
    ("§ minimum of $n #end", "", MINIMUM),
    ("§ minimum of $e #end", "minimize({ x in $e }, from: 0)", "a minimum is sought from a point"),
    ("§ minimum of $n $r", "", MINIMUM),
    ("§ maximize $n #end", "", MAXIMUM),
    ("§ max $n #end", "", MAXIMUM),
    ("§ maximum of $n #end", "", MAXIMUM),
    ("§ maximum of $e #end", "maximize({ x in $e }, from: 0)", "a maximum is sought from a point"),
    ("§ maximum of $n $r", "", MAXIMUM),
    // Phrases about functions.
    ("§ slope of $n at $e #end", "derivative(at: $e, in: $n)", DERIVATIVE_AT),
    ("§ area under $n from $e to $d #end", "integral($n, $e...$d)", INTEGRAL),
    ("§ integrate $n from $e to $d #end", "integral($n, $e...$d)", INTEGRAL),
    ("§ limit $n ( $m ) as $k -> $d #end", "limit($n, at: $d)", LIMIT),
    ("§ limit of $n at $d #end", "limit($n, at: $d)", LIMIT),
    ("§ zeros of $n #end", "", ROOT),
    ("§ roots of $n #end", "", ROOT),
    ("§ max of $n $r", "", MAXIMUM),
    ("§ min of $n $r", "", MINIMUM),
    ("§ intersection of $n and $m #end", "solve({ x in $n(x) - $m(x) }, near: 1)", INTERSECTION),
    ("intersect ( $n , $m )", "solve({ x in $n(x) - $m(x) }, near: 1)", INTERSECTION),
    ("solve ( $n = $m )", "solve({ x in $n(x) - $m(x) }, near: 1)", INTERSECTION),
    ("§ solve $n ( $m ) = $d", "solve({ $m in $n($m) - $(d) }, near: 1)", ROOT),
    ("d / dx $n #end", "$n'", "the derivative of '$n' is the function '$n''"),
    ("$n . diff ( $m )", "$n'", "the derivative of '$n' is the function '$n''"),
    ("$n . diff", "$n'", "the derivative of '$n' is the function '$n''"),
    ("$n . gradient ( at : $e )", "gradient(at: $e, in: $n)", GRADIENT),
    ("$n . derivative ( at : $e )", "derivative(at: $e, in: $n)", DERIVATIVE_AT),
    ("sympy . diff ( $n )", "$n'", "the derivative of '$n' is the function '$n''"),
    ("scipy . optimize . minimize ( $f , $e )", "minimize($f, from: $e)", MINIMUM_FROM),
    ("scipy . optimize . minimize ( $f , x0 = $e )", "minimize($f, from: $e)", MINIMUM_FROM),
    ("scipy . optimize . brentq ( $f , $e , $d )", "solve($f, near: ($e + $d) / 2)", ROOT_OF),
    ("scipy . optimize . newton ( $f , $e )", "solve($f, near: $e)", ROOT_OF),
    ("scipy . optimize . fsolve ( $f , $e )", "solve($f, near: $e)", ROOT_OF),
    // Functions of R, Julia and MATLAB that take functions.
    ("integrate ( function ( $n ) $c , $e , $d )", "integral({ $n in $c }, $e...$d)", INTEGRAL),
    ("integrate ( $e , ( $n , $d , $c ) )", "integral({ $n in $e }, $d...$c)", INTEGRAL),
    ("optimize ( function ( $n ) $c , c ( $e , $d ) )", "minimize({ $n in $c }, from: $e)", MINIMIZED),
    ("optimize ( $n -> $c , $e , $d )", "minimize({ $n in $c }, from: $e)", MINIMIZED),
    ("optimize ( $f , c ( $e , $d ) )", "minimize($f, from: $e)", MINIMIZED),
    ("uniroot ( function ( $n ) $c , c ( $e , $d ) )", "solve({ $n in $c }, near: $d)", SOLVED),
    ("uniroot ( $f , c ( $e , $d ) )", "solve($f, near: $d)", SOLVED),
    ("uniroot ( $r", "", SOLVED),
    ("optimize ( $r", "", MINIMIZED),
    ("find_zero ( $n -> $c , $d )", "solve({ $n in $c }, near: $d)", SOLVED),
    ("find_zero ( $f , $d )", "solve($f, near: $d)", SOLVED),
    ("solve ( $e , x )", "solve({ x in $e }, near: 1)", SOLVED),
    ("sapply ( $e : $d , function ( $n ) $c )", "($e...$d).map { $n in $c }", ""),
    ("sapply ( $e : $d , $f )", "($e...$d).map($f)", ""),
    ("sapply ( $e , function ( $n ) $c )", "$(e).map { $n in $c }", ""),
    ("sapply ( $e , $f )", "$(e).map($f)", ""),
    ("arrayfun ( $f , $e : $d )", "($e...$d).map($f)", ""),
    ("arrayfun ( $f , $e )", "$(e).map($f)", ""),
    ("D ( expression ( $e ) , $s )", "derive { x in $e }", DERIVED),
    ("diff ( $e )", "derive { x in $e }", DERIVED),
    ("int ( $e , x )", "", "an integral has bounds: 'integral({ x in … }, 0...1)'"),
    ("fplot ( @ ~ $n , [ $e , $d ] )", "plot($n, $e...$d)", RANGE),
    ("fplot ( @ ~ $n )", "plot($n)", ""),
    ("ezplot ( $s )", "", "'plot' takes a function: 'plot({ x in … })'"),
    ("syms $r", "", "variables need no declaration: define a function, as in 'f(x) = x^2'"),
    // Tables and plots.
    ("§ table of $n from $e to $d #end", "table($n, $e...$d)", RANGE),
    ("§ table $n #end", "table($n, 0...10)", RANGE),
    ("§ graph $n #end", "plot($n)", CURVE),
    ("§ draw $n #end", "plot($n)", CURVE),
    ("§ plot $n , $m #end", "plot($n, $m)", CURVE),
    ("§ plot $n and $m #end", "plot($n, $m)", CURVE),
    ("§ graph $n and $m #end", "plot($n, $m)", CURVE),
    ("curve ( $f , $e , $d )", "plot($f, $e...$d)", RANGE),
    ("plot ( $f , [ $e , $d ] )", "plot($f, $e...$d)", RANGE),
    ("plot $e from $d to $c", "plot({ x in $e }, $d...$c)", RANGE),
    ("fplot ( $f )", "plot($f)", ""),
    ("fplot ( $f , [ $e , $d ] )", "plot($f, $e...$d)", RANGE),
    ("ezplot ( $f )", "plot($f)", ""),
    // Arrays and matrices.
    ("$x . argmax ( )", "$x.indexOfMaximum()!", ""),
    ("$x . argmin ( )", "$x.indexOfMinimum()!", ""),
    ("<module> . zeros ( ( $e , $d ) )", "Array(repeating: Array(repeating: 0.0, count: $d), count: $e)", ROWS_OF),
    ("<module> . ones ( ( $e , $d ) )", "Array(repeating: Array(repeating: 1.0, count: $d), count: $e)", ROWS_OF),
    ("§ <module> . eye ( $i ) #end", "import TensorFlow; Matrix.identity($i)", IDENTITY),
    ("§ eye ( $i ) #end", "import TensorFlow; Matrix.identity($i)", IDENTITY),
    ("§ let $n = eye ( $i ) #end", "import TensorFlow; let $n = Matrix.identity($i)", IDENTITY),
    ("eye ( $i )", "", IDENTITY),
    ("identity ( $i )", "", IDENTITY),
    ("<module> . linalg . eig $r", "", EIGENVALUES),
    ("<module> . linalg . eigvals $r", "", EIGENVALUES),
    ("eig ( $r", "", EIGENVALUES),
    ("eigvals ( $r", "", EIGENVALUES),
];
