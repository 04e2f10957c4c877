//! Foreign library functions: plots, tables, files, dates, regular expressions and numerical methods of other
//! libraries.

use super::Row;
use super::functions::SEED;

pub(in crate::syntax::foreign) const ODE: &str =
    "a differential equation is solved by 'ode({ t, y in -y }, from: 1, over: 0...1)'";
/// The sentence about a line through data.
pub(in crate::syntax::foreign) const FIT_LINE: &str =
    "a line is fitted by 'fit({ p, x in p[0] * x + p[1] }, to: zip(xs, ys), from: [1, 0])' to arrays 'xs' and 'ys'";
const ROOT: &str = "a root is sought near a point: 'solve({ x in … }, near: 1)'";
const MINIMUM: &str = "a minimum is sought from a point: 'minimize({ x in … }, from: 0)'";
/// The sentence about integrals.
pub(in crate::syntax::foreign) const INTEGRAL: &str = "an integral is written 'integral({ x in … }, 0...1)'";
const CURVE: &str = "a curve through data is fitted by 'fit(model, to: data, from: start)'";
const CASES: &str = "cases are written 'condition ? value : other'";
/// The sentence about arguments without parentheses.
pub(in crate::syntax::foreign) const PARENTHESES: &str = "the argument of a function is in parentheses";
const ARRAY: &str = "the numbers are the elements of an array";
const SUMMARY: &str = "data are described by 'mean(xs)', 'median(xs)', 'standardDeviation(xs)', 'quantile(xs, 0.25)' and 'plot(histogram: xs)'";
const COUNTED: &str = "Dictionary(grouping: $x, by: { x in x }).mapValues { xs in xs.count }";
const RANGE: &str = "an interval is written as a range";
const BARS: &str = "bars are drawn by 'Plot().bars([1, 2, 3], [4, 1, 2])'";
const SURFACE: &str = "a function of two variables is drawn by 'plot(contours: f, 0...1, 0...1)' or 'plot(heatMap: …)'";
const FACTOR: &str = "a statement with a picture shows it; 'plot(…).save(\"name.svg\")' writes it to a file";
const REGEX: &str = "matches are found with 'text.matches(of: try Regex(#\"[0-9]+\"#))'";
const COMPONENT: &str = "the parts of a date are its components";
const COLUMN: &str = "the value of a name is written in square brackets: '[\"$n\"]'";
const NUMBER_OF_ROWS: &str = "the number of rows of a table is its property 'rows'";
const NUMBERS_OF_COLUMN: &str = "the name of a column is written in square brackets directly after the table";
const ROWS_OF_TABLE: &str = "the rows of a table are its 'records'";

/// Calls whose arguments are converted to the wrong types, so that the error is about a conversion.
pub(in crate::syntax::foreign) const CONVERTED: &[Row] = &[
    ("$x . line ( $f )", "$x.curve($f)", "a function is drawn by 'curve'"),
    ("plot ( { $n in ( $e , $d ) } , $c )", "plot(parametric: { $n in ($e, $d) }, $c)", PARAMETRIC),
    ("solve ( $f , $e ... $d )", "", "a root is sought near a point, not in a range: 'solve(f, near: $e)'"),
    ("norm ( $n )", "norm([$n.0, $n.1])", NORM),
    ("§ norm ( ∇ $n ( $x , $y ) ) #end", "let g = ∇$n($x, $y); norm([g.0, g.1])", NORM),
    ("from : [ $e , $d ]", "from: ($e, $d)", PAIR),
    ("near : [ $e , $d ]", "near: ($e, $d)", PAIR),
    ("$x ~ [ $i ]", "$x.row(at: $i)", "a row of a table is returned by 'row(at:)'"),
    ("$x . contains ( $e )", "$x[$e] != nil", "a dictionary contains a key if its value is not 'nil'"),
    ("$n ~ ( [ $a ] )", "[$a].map($n)", EACH),
    ("norm ( $n )", "norm(Array($n.joined()))", "the norm of a matrix is that of all its elements"),
    ("$n ~ ( $m )", "$m.map($n)", EACH),
];

const PARAMETRIC: &str = "a curve with two coordinates is drawn by 'plot(parametric:)'";
const NORM: &str = "'norm' takes an array of numbers: 'norm([p.0, p.1])'";
const PAIR: &str = "a function of two parameters begins at a pair of numbers";
/// The sentence about calls with an array in the place of a number.
pub(in crate::syntax::foreign) const EACH: &str = "a function is applied to each element of an array by 'map'";

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    // Calculus with an expression in the place of a function.
    ("integrate ( $e , $n , $d , $c )", "integral({ $n in $e }, $d...$c)", "'integral' takes a function and a range"),
    ("integral ( $e , $n , $d , $c )", "integral({ $n in $e }, $d...$c)", "'integral' takes a function and a range"),
    ("integral ( $f , $e , $d )", "integral($f, $e...$d)", RANGE),
    ("integral ( $e , $d , $c )", "integral({ x in $e }, $d...$c)", "'integral' takes a function and a range"),
    ("plot ( $e , $n , $d , $c )", "plot({ $n in $e }, $d...$c)", "'plot' takes a function and a range"),
    ("sum ( $e , $n , $d , $c )", "($d...$c).map { $n in $[e] }.sum()", ""),
    ("sum ( $n -> $e , $i : $z )", "($i...$z).map { $n in $[e] }.sum()", ""),
    ("solve ( $e = 0 , $n )", "solve({ $n in $e }, near: 1)", ROOT),
    ("solve ( $e == 0 )", "solve({ x in $e }, near: 1)", ROOT),
    ("solve ( $e = 0 )", "solve({ x in $e }, near: 1)", ROOT),
    ("solve ( $e == $d )", "solve({ x in $e - $(d) }, near: 1)", ROOT),
    ("solve ( $e = $d )", "solve({ x in $e - $(d) }, near: 1)", ROOT),
    ("minimize ( $e )", "minimize({ x in $e }, from: 0)", "'minimize' takes a function and a starting point"),
    ("diff ( $n , $m )", "$n'", "the derivative of '$n' is the function '$n''"),
    ("D ( $n , $i )", "$n'($i)", "the derivative of '$n' is the function '$n''"),
    ("grad ( $n ) ( $e , $a )", "∇$n($e, $a)", "the gradient of '$n' is the function '∇$n'"),
    ("grad ( $n )", "∇$n", "the gradient of '$n' is the function '∇$n'"),
    ("∇ ~ $n ~ ( [ $a ] )", "∇$n($a)", "the arguments of a gradient are those of the function"),
    ("∇ ~ $n ~ ( ( $a ) )", "∇$n($a)", "the arguments of a gradient are those of the function"),
    ("hessian ( $f , at : $e )", "hessian(at: $e, in: $f)", "the point precedes the function"),
    ("jacobian ( $f , at : $e )", "jacobian(at: $e, in: $f)", "the point precedes the function"),
    ("root ( $f , $e )", "solve($f, near: $e)", ROOT),
    ("roots ( $n )", "", ROOT),
    ("roots ( $r", "", ROOT),
    ("minimum ( $f , $e ... $d )", "", "a minimum is sought from a point: 'minimize($f, from: $e)'"),
    ("trapz ( $f , $e , $d , $r", "", "an integral is written 'integral($f, $e...$d)'"),
    ("§ dy / dx = $r", "ode({ x, y in $r }, from: 1, over: 0...1)", ODE),
    ("§ dy / dt = $r", "ode({ t, y in $r }, from: 1, over: 0...1)", ODE),
    ("§ dx / dt = $r", "ode({ t, x in $r }, from: 1, over: 0...1)", ODE),
    ("§ $n ' = $r", "ode({ t, $n in $r }, from: 1, over: 0...1)", ODE),
    ("§ $n ' = $r", "", ODE),
    ("§ <derivative> / <differential> = $r", "", ODE),
    ("ode ( $n ' $r", "", ODE),
    ("ode45 ( $r", "", ODE),
    ("dsolve ( $r", "", ODE),
    ("linregress ( $r", "", FIT_LINE),
    ("linearRegression ( $r", "", FIT_LINE),
    ("lm ( $r", "", FIT_LINE),
    ("fit ( $n , $m )", "", FIT_LINE),
    ("cross ( $r", "", "a cross product needs 'import TensorFlow': 'Vector([1, 0, 0]) × Vector([0, 1, 0])'"),
    // Statistics.
    ("rnorm ( $e , mean = $d , sd = $c )", "NormalDistribution(mean: $d, standardDeviation: $c).sample($e)", ""),
    ("rpois ( $e , $d )", "PoissonDistribution(mean: $d).sample($e)", ""),
    ("rexp ( $e , $d )", "ExponentialDistribution(rate: $d).sample($e)", ""),
    ("runif ( $e , $d , $c )", "UniformDistribution($d...$c).sample($e)", ""),
    ("dnorm ( $e , $d , $c )", "NormalDistribution(mean: $d, standardDeviation: $c).density(at: $e)", ""),
    ("pnorm ( $e , $d , $c )", "NormalDistribution(mean: $d, standardDeviation: $c).cumulativeProbability(at: $e)", ""),
    ("dpois ( $e , $d )", "PoissonDistribution(mean: $d).probability(of: $e)", ""),
    ("dbinom ( $e , $d , $c )", "BinomialDistribution(trials: $d, probability: $c).probability(of: $e)", ""),
    (
        "qnorm ( $e )",
        "solve({ x in NormalDistribution(mean: 0, standardDeviation: 1).cumulativeProbability(at: x) - $(e) }, near: 0)",
        "a quantile of a distribution is a root",
    ),
    ("summary ( $n )", "", SUMMARY),
    ("describe ( $n )", "", SUMMARY),
    ("boxplot ( $r", "", SUMMARY),
    ("weightedMean ( $x , $y )", "zip($x, $y).map { x, w in x * w }.sum() / $y.sum()", ""),
    ("movingAverage ( $x , $e )", "(0...$x.count - $e).map { i in mean($x[i ..< i + $e]) }", ""),
    ("frequencies ( $x )", COUNTED, ""),
    ("Counter ( $x )", COUNTED, ""),
    ("$x . average", "mean($x)", ""),
    ("$x . average ( )", "mean($x)", ""),
    ("mean ( $e , $d , $c )", "mean([$e, $d, $c])", ARRAY),
    ("sum ( $e , $d , $c )", "[$e, $d, $c].sum()", ARRAY),
    ("mean ( $e , $d )", "mean([$e, $d])", ARRAY),
    ("rep ( $e , $d )", "Array(repeating: $e, count: $d)", ""),
    ("rev ( $e )", "$(e).reversed()", ""),
    ("head ( $e )", "$(e).prefix(5)", ""),
    ("tail ( $e )", "$(e).suffix(5)", ""),
    ("nrow ( $e )", "$(e).rows", ""),
    ("nrow ( $e )", "$(e).count", ""),
    ("paste0 ( $e , $d )", "$e + String($d)", ""),
    ("strsplit ( $e , $d )", "$(e).split(separator: $d)", ""),
    ("seq ( $e , $d , length . out = $c )", "linspace($e, $d, $c)", ""),
    ("range ( $e , $d , length = $c )", "linspace($e, $d, $c)", ""),
    ("range ( $e , stop = $d , length = $c )", "linspace($e, $d, $c)", ""),
    ("which . max ( $e )", "$(e).indexOfMaximum()!", ""),
    ("which . min ( $e )", "$(e).indexOfMinimum()!", ""),
    ("findmax ( $x )", "($x.max()!, $x.indexOfMaximum()!)", ""),
    ("findmin ( $x )", "($x.min()!, $x.indexOfMinimum()!)", ""),
    ("as . numeric ( $e )", "Double($e)!", ""),
    ("as . numeric ( $e )", "Double($e)", ""),
    ("as . integer ( $e )", "Int($e)!", ""),
    ("as . integer ( $e )", "Int($e)", ""),
    ("as . character ( $e )", "String($e)", ""),
    ("is . na ( $e )", "$(e).isNaN", ""),
    ("Sys . time ( )", "Date()", ""),
    ("set . seed ( $e )", "", SEED),
    ("read . csv ( $e )", "try readCSV($e)", ""),
    ("read . csv ( $e )", "readCSV($e)", ""),
    ("matrix ( $r", "", "a matrix is an array of rows: '[[1, 2], [3, 4]]'"),
    ("outer ( $e , $d )", "$(e).map { x in $(d).map { y in x * y } }", ""),
    (
        "rand ( $e , $d )",
        "(0 ..< $e).map { _ in (0 ..< $d).map { _ in Double.random(in: 0..<1) } }",
        "a matrix is an array of rows",
    ),
    ("floor ( Int , $e )", "Int(floor($e))", "a value is converted by its type: 'Int(…)'"),
    ("ceil ( Int , $e )", "Int(ceil($e))", "a value is converted by its type: 'Int(…)'"),
    // Numerical methods.
    ("riemannSum ( $r", "", INTEGRAL),
    ("trapezoid ( $r", "", INTEGRAL),
    ("simpson ( $r", "", INTEGRAL),
    ("romberg ( $r", "", INTEGRAL),
    ("bisect ( $r", "", ROOT),
    ("bisection ( $r", "", ROOT),
    ("brentq ( $r", "", ROOT),
    ("solve ( $f )", "", ROOT),
    ("newtonMethod ( $f , $e )", "newton($f, from: $e)", ""),
    ("newtonRaphson ( $f , $e )", "newton($f, from: $e)", ""),
    ("gradientDescent ( $f , from : $e )", "minimize($f, from: $e)", MINIMUM),
    ("gradientDescent ( $r", "", MINIMUM),
    ("optim ( $r", "", MINIMUM),
    ("minimize ( $f , in : $r", "", MINIMUM),
    ("maximize ( $f )", "", "a maximum is sought from a point: 'maximize({ x in … }, from: 0)'"),
    (
        "intersection ( $n , $m )",
        "solve({ x in $n(x) - $m(x) }, near: 1)",
        "curves meet where their difference is zero",
    ),
    ("maclaurin ( $f , $e )", "taylor(of: $f, at: 0, order: $e)", ""),
    ("spline ( $r", "", CURVE),
    ("linreg ( $r", "", FIT_LINE),
    ("LinReg ( $r", "", FIT_LINE),
    ("linearFit ( $r", "", FIT_LINE),
    ("linear_regression ( $r", "", FIT_LINE),
    ("regression ( $r", "", FIT_LINE),
    ("bestFit ( $r", "", FIT_LINE),
    ("fitLine ( $r", "", FIT_LINE),
    ("curve ( $e , $d , $c )", "plot({ x in $e }, $d...$c)", "'plot' takes a function and a range"),
    ("sum ( $e for $n in $i : $z )", "($i...$z).map { $n in $[e] }.sum()", ""),
    ("ForwardDiff . gradient ( $n -> $e , $d )", "gradient(at: $d) { $n in $e }", ""),
    ("Zygote . gradient ( $n -> $e , $d )", "gradient(at: $d) { $n in $e }", ""),
    ("ForwardDiff . derivative ( $n -> $e , $d )", "derivative(at: $d) { $n in $e }", ""),
    ("piecewise ( $r", "", CASES),
    ("cases ( $r", "", CASES),
    // Complex numbers.
    ("arg ( $e )", "$(e).phase", ""),
    ("conj ( $e )", "$(e).conjugate", ""),
    ("$x . imag", "$x.imaginary", ""),
    ("$x . im", "$x.imaginary", ""),
    ("$x . re", "$x.real", ""),
    // Functions without parentheses or spaces.
    ("sinx", "sin(x)", PARENTHESES),
    ("cosx", "cos(x)", PARENTHESES),
    ("tanx", "tan(x)", PARENTHESES),
    ("expx", "exp(x)", PARENTHESES),
    ("lnx", "log(x)", PARENTHESES),
    ("logx", "log(x)", PARENTHESES),
    ("sqrtx", "sqrt(x)", PARENTHESES),
    // Plots.
    ("plot ( bar : $r", "", BARS),
    ("plot ( bars : $r", "", BARS),
    ("bar ( $r", "", BARS),
    ("barChart ( $r", "", BARS),
    ("barplot ( $r", "", BARS),
    ("surface ( $r", "", SURFACE),
    ("surf ( $r", "", SURFACE),
    ("plot3d ( $r", "", SURFACE),
    ("plot3 ( $r", "", SURFACE),
    ("heatmap ( $e )", "plot(heatMap: $e)", ""),
    ("imshow ( $e )", "plot(heatMap: $e)", ""),
    ("polar ( $f )", "plot(polar: $f)", ""),
    ("slopefield ( $f , $e , $d )", "plot(slopes: $f, $e, $d)", ""),
    ("slopeField ( $f , $e , $d )", "plot(slopes: $f, $e, $d)", ""),
    ("directionField ( $f , $e , $d )", "plot(slopes: $f, $e, $d)", ""),
    ("quiver ( $f , $e , $d )", "plot(field: $f, $e, $d)", ""),
    ("euler ( $r", "", ODE),
    ("rk4 ( $r", "", ODE),
    ("polar ( $f , $e )", "plot(polar: $f, $e)", ""),
    ("parametric ( $f , $e )", "plot(parametric: $f, $e)", ""),
    ("vectorField ( $f , $e , $d )", "plot(field: $f, $e, $d)", ""),
    ("implicit ( $f , $e , $d )", "plot(implicit: $f, $e, $d)", ""),
    ("contour ( $f , $e , $d )", "plot(contours: $f, $e, $d)", ""),
    ("errorBars ( $e , $d , $c )", "Plot().errorBars($e, $d, errors: $c)", ""),
    ("errorbar ( $e , $d , $c )", "Plot().errorBars($e, $d, errors: $c)", ""),
    ("plot ( $a , title : $s )", "plot($a).titled($s)", "a title is added with 'titled'"),
    ("plot ( $a , title = $s )", "plot($a).titled($s)", "a title is added with 'titled'"),
    ("plot ( $a , color : $r", "", "the colors of a plot are chosen by the library"),
    ("plot ( $a , color = $r", "", "the colors of a plot are chosen by the library"),
    (
        "plot ( $e , $d , xlabel : $s , ylabel : $c )",
        "plot($e, $d).labels(x: $s, y: $c)",
        "the axes are labeled with 'labels'",
    ),
    ("plot ( $e , $d , y : $c )", "plot($e, $d).yRange($c)", "the range of the other axis is set with 'yRange'"),
    (
        "plot ( $e , $d , ylim : ( $x , $y ) )",
        "plot($e, $d).yRange($x...$y)",
        "the range of the axis is set with 'yRange'",
    ),
    ("plot ( $f , from : $e , to : $d )", "plot($f, $e...$d)", RANGE),
    ("$x . title ( $s )", "$x.titled($s)", ""),
    ("$x . show ( )", "$x", "a picture is shown when it is the value of a statement; 'show' is not needed"),
    ("savefig ( $r", "", FACTOR),
    ("figure ( )", "", FACTOR),
    // Files, tables and JSON.
    ("read_csv ( $e )", "readCSV($e)", ""),
    ("open ( $s ) . read ( )", "readText($s)", ""),
    ("open ( $s ) . readlines ( )", "readLines($s)", ""),
    ("read ( $s )", "readText($s)", ""),
    ("for $n in $x . rows {", "for $n in $x.records {", ROWS_OF_TABLE),
    ("for $n in $x {", "for $n in $x.records {", ROWS_OF_TABLE),
    ("$x . rows . count", "$x.rows", "'rows' is the number of rows"),
    ("len ( $n )", "$n.count", ""),
    ("len ( $n )", "$n.rows", ""),
    ("$x . head ( )", "$x.prefix(5)", ""),
    ("$x . head ( $e )", "$x.prefix($e)", ""),
    ("$x . tail ( )", "$x.suffix(5)", ""),
    ("$x . tail ( $e )", "$x.suffix($e)", ""),
    ("$x . sort ( $s )", "$x.sorted(by: $s)", ""),
    ("$x . sort_values ( $s )", "$x.sorted(by: $s)", ""),
    ("$x . groupby ( $s )", "$x.grouped(by: $s)", ""),
    ("$x . describe ( )", "$x.summary", ""),
    ("JSON . parse ( $e )", "try JSON(parsing: $e)", ""),
    ("JSON . stringify ( $e )", "try JSON(encoding: $e).text()", ""),
    ("json . dumps ( $e )", "try JSON(encoding: $e).text()", ""),
    // Regular expressions.
    ("re . findall ( $r", "", REGEX),
    ("re . search ( $r", "", REGEX),
    ("$x =~ $s", "$x.contains(try Regex($s))", "a pattern is searched with a 'Regex'"),
    ("$x . match ( $s )", "$x.firstMatch(of: try Regex($s))", "a pattern is searched with a 'Regex'"),
    // Dates.
    ("new Date ( )", "Date()", "instances are created without 'new'"),
    ("Date . now ( )", "Date()", ""),
    ("today ( )", "Date()", ""),
    ("today", "Date()", ""),
    (
        "<module> . date ( $e , $d , $c )",
        "Calendar.current.date(from: DateComponents(year: $e, month: $d, day: $c))!",
        "a date is made of its components by a calendar",
    ),
    (
        "datetime . date ( $e , $d , $c )",
        "Calendar.current.date(from: DateComponents(year: $e, month: $d, day: $c))!",
        "a date is made of its components by a calendar",
    ),
    ("$x . year", "$x.components.year!", COMPONENT),
    ("$x . month", "$x.components.month!", COMPONENT),
    ("$x . day", "$x.components.day!", COMPONENT),
    ("$x . hour", "$x.components.hour!", COMPONENT),
    ("$x . weekday", "$x.components.weekday!", COMPONENT),
    ("$x . addingDays ( $e )", "$x.adding($e, .day)", ""),
    ("$x . format ( $s )", "$x.formatted($s)", ""),
    ("$x . strftime ( $s )", "$x.formatted($s)", ""),
    // Random numbers.
    ("random ( )", "Double.random(in: 0..<1)", ""),
    ("Int . random ( $e , $d )", "Int.random(in: $e...$d)", RANGE),
    ("Double . random ( $e , $d )", "Double.random(in: $e...$d)", RANGE),
    // Texts.
    ("format ( $e , $s )", "", "a format is written 'String(format: \"%.2f\", $e)'"),
];

/// Members of values that are accessed by a name: columns of tables, members of dictionaries. Tried after all others.
pub(in crate::syntax::foreign) const NAMED: &[Row] = &[
    ("$x . rows . count", "$x.rows", NUMBER_OF_ROWS),
    ("$x . count", "$x.rows", NUMBER_OF_ROWS),
    ("$x . length", "$x.rows", NUMBER_OF_ROWS),
    ("$x . size", "$x.rows", NUMBER_OF_ROWS),
    ("len ( $x )", "$x.rows", NUMBER_OF_ROWS),
    ("$x . shape", "($x.rows, $x.columns.count)", "a table has 'rows' and 'columns'"),
    ("$x . column ( $s )", "$x[$s]", NUMBERS_OF_COLUMN),
    ("$x . columns [ $s ]", "$x[$s]", NUMBERS_OF_COLUMN),
    ("$x . rows [ $e ]", "$x.row(at: $e)", "a row of a table is returned by 'row(at:)'"),
    ("$x . $n", "$x[\"$n\"]", COLUMN),
];
