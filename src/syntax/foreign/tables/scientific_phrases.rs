//! Phrases of science and school: constants of physics, requests about matrices and numbers, formulas of spreadsheets, and
//! complex numbers with the unit `i`.

use super::Row;
use super::calculus_libraries::EIGENVALUES;
use super::functions::NO_PRIMES;

const CONSTANT: &str = "the library has no constants of nature; a constant is its number, with the unit in a comment";
const NUMBER: &str = "the library has no such constant; it is a number";
const COMPLEX: &str = "a complex number is written 'Complex(2, 3)'";
const SPREADSHEET: &str = "a formula has no '=' before it, and its cells are variables or elements of arrays";
const MATRIX: &str = "a function of a matrix is called with parentheses: 'inverse(A)'";
const DEFINED: &str = "a function is defined with parentheses: '$n($m) = …'";
const GRADIENT: &str = "a gradient is taken of a function: 'f(x, y) = x^2 + y^2', then '∇f(1, 2)'";
const DISTRIBUTION: &str = "a distribution is a value: 'BinomialDistribution(trials: 10, probability: 0.5)'";
const MIXED: &str = "a mixed number is a sum: '$i + $x / $y'";
const FACTORS: &str =
    "the library has no function for prime numbers; a factor of 'n' is found by '(2...n).first { d in n % d == 0 }'";
const FOURIER: &str = "the library has no Fourier transform; a coefficient is a sum of 'xs[k] * exp(Complex(0, -2 * π * Double(j * k) / n))'";

const NORMAL: &str = "a probability of a normal distribution is 'NormalDistribution(mean: 0.0, standardDeviation: 1).cumulativeProbability(at: 1.96)'";
const LINE: &str = "a line is fitted by 'fit({ p, x in p[0] * x + p[1] }, to: zip(xs, ys), from: [1, 0])'";
const ORDERED: &str = "the number of arrangements is a quotient";
const DOT: &str = "a product of vectors is written 'dot([1, 2], [3, 4])'";
const CROSS: &str =
    "a cross product is written 'cross(Vector([1, 0, 0]), Vector([0, 1, 0]))', after 'import TensorFlow'";
const SPREAD: &str = "the range of data is the difference of the largest and the smallest value";
const INTEREST: &str = "a factor for each period is raised to a power: '1000 * 1.05^10'";

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    ("§ standard deviation of $x", "standardDeviation($x)", ""),
    ("§ std dev of $x", "standardDeviation($x)", ""),
    ("§ variance of $x", "variance($x)", ""),
    ("§ median of $x", "median($x)", ""),
    ("§ range ( [ $a ] )", "[$a].max()! - [$a].min()!", SPREAD),
    ("§ range of [ $a ]", "[$a].max()! - [$a].min()!", SPREAD),
    (
        "§ z score of $d with mean $e and sd $c",
        "Double($d - $e) / $(c)",
        "a standard score is the distance to the mean in standard deviations",
    ),
    (
        "normalcdf ( $e , $d )",
        "(NormalDistribution(mean: 0.0, standardDeviation: 1).cumulativeProbability(at: $d) - NormalDistribution(mean: 0.0, standardDeviation: 1).cumulativeProbability(at: $e))",
        NORMAL,
    ),
    ("normcdf ( $e )", "NormalDistribution(mean: 0.0, standardDeviation: 1).cumulativeProbability(at: $e)", NORMAL),
    (
        "binompdf ( $e , $d , $c )",
        "BinomialDistribution(trials: $e, probability: $d).probability(of: $c)",
        DISTRIBUTION,
    ),
    ("poissonpdf ( $e , $d )", "PoissonDistribution(mean: $e).probability(of: $d)", DISTRIBUTION),
    ("§ linear regression $r", "", LINE),
    ("§ best fit line $r", "", LINE),
    ("§ line of best fit $r", "", LINE),
    ("§ histogram of $x", "plot(histogram: $x)", ""),
    ("permutations ( $i , $e )", "factorial($i) / factorial($i - $(e))", ORDERED),
    ("§ $x dot $y #end", "dot($x, $y)", DOT),
    ("§ [ $a ] x $y #end", "", CROSS),
    ("§ magnitude of [ $a ]", "norm([$a])", "the length of a vector is written 'norm([3, 4])'"),
    (
        "§ unit vector of [ $a ]",
        "[$a].map { x in x / norm([$a]) }",
        "a unit vector is the vector divided by its length",
    ),
    (
        "§ angle between $x and $y",
        "acos(dot($x, $y) / (norm($x) * norm($y)))",
        "the cosine of an angle is the product of the vectors divided by their lengths",
    ),
    ("§ eigenvalues of [ $a ]", "", EIGENVALUES),
    ("§ row reduce $r", "", "linear equations are solved by 'solve(A, b)'"),
    ("§ half life $r", "", "a decay is written '100 * 0.5^(t / 5)', for a half-life of 5"),
    ("§ compound interest $r", "", INTEREST),
    (
        "§ round $e to $i places",
        "round($e * 10^$i) / 10^$i",
        "'round' rounds to an integer; decimals are kept by a factor",
    ),
    (
        "§ scientific notation $e #end",
        "String(format: \"%e\", Double($e))",
        "a number is written with an exponent by a format",
    ),
    ("§ speed of light #end", "299_792_458.0 /* m/s */", CONSTANT),
    ("§ planck constant #end", "6.62607015e-34 /* J·s */", CONSTANT),
    ("§ planck's constant #end", "6.62607015e-34 /* J·s */", CONSTANT),
    ("§ gravitational constant #end", "6.6743e-11 /* m³/(kg·s²) */", CONSTANT),
    ("§ gravity #end", "9.80665 /* m/s² */", CONSTANT),
    ("§ standard gravity #end", "9.80665 /* m/s² */", CONSTANT),
    ("§ elementary charge #end", "1.602176634e-19 /* C */", CONSTANT),
    ("§ electron mass #end", "9.1093837e-31 /* kg */", CONSTANT),
    ("§ mass of electron #end", "9.1093837e-31 /* kg */", CONSTANT),
    ("§ proton mass #end", "1.67262192e-27 /* kg */", CONSTANT),
    ("§ avogadro number #end", "6.02214076e23 /* 1/mol */", CONSTANT),
    ("§ avogadro constant #end", "6.02214076e23 /* 1/mol */", CONSTANT),
    ("§ boltzmann constant #end", "1.380649e-23 /* J/K */", CONSTANT),
    ("§ gas constant #end", "8.31446261815324 /* J/(mol·K) */", CONSTANT),
    ("§ vacuum permittivity #end", "8.8541878e-12 /* F/m */", CONSTANT),
    ("<module> . constants . $n", "", CONSTANT),
    ("§ golden ratio #end", "(1 + √5) / 2", NUMBER),
    ("§ euler gamma #end", "0.5772156649015329", NUMBER),
    ("§ euler constant #end", "0.5772156649015329", NUMBER),
    ("§ EulerGamma #end", "0.5772156649015329", NUMBER),
    ("GoldenRatio", "((1 + √5) / 2)", NUMBER),
    ("§ coin flip #end", "Bool.random()", "a random value is 'Bool.random()'"),
    ("§ $i is prime", "!(2..<$i).contains { d in $i % d == 0 }", NO_PRIMES),
    ("§ $i isprime #end", "!(2..<$i).contains { d in $i % d == 0 }", NO_PRIMES),
    ("§ prime factors of $i #end", "", FACTORS),
    ("factor ( $i )", "", FACTORS),
    ("factorint ( $i )", "", FACTORS),
    ("ifactor ( $i )", "", FACTORS),
    ("FactorInteger [ $i ]", "", FACTORS),
    ("fft ( $a )", "", FOURIER),
    ("<module> . fft . fft ( $a )", "", FOURIER),
    ("rref ( $a )", "", "linear equations are solved by 'solve(A, b)'"),
    ("§ gradient of $n #end", "∇$n", GRADIENT),
    ("§ gradient of $e #end", "", GRADIENT),
    ("§ grad ( $e ) #end", "", GRADIENT),
    ("§ inverse of $x #end", "inverse($x)", MATRIX),
    ("§ determinant of $x #end", "determinant($x)", MATRIX),
    ("§ inv _ $x #end", "inverse($x)", MATRIX),
    ("§ det _ $x #end", "determinant($x)", MATRIX),
    ("§ length of $x #end", "norm($x)", "the length of a vector is written 'norm([3, 4])'"),
    ("average ( [ $a ] )", "mean([$a])", ""),
    ("average ( $e , $a )", "mean([$e, $a])", "the numbers are the elements of an array"),
    (
        "summary ( $x )",
        "[$(x).min()!, quantile($x, 0.25), median($x), mean($x), quantile($x, 0.75), $(x).max()!]",
        "the minimum, the quartiles, the mean and the maximum are functions of their own",
    ),
    ("Binomial ( $e , $d )", "BinomialDistribution(trials: $e, probability: $d)", DISTRIBUTION),
    ("Poisson ( $e )", "PoissonDistribution(mean: $e)", DISTRIBUTION),
    ("Exponential ( $e )", "ExponentialDistribution(rate: $e)", DISTRIBUTION),
    ("Uniform ( $e , $d )", "UniformDistribution(in: $e...$d)", DISTRIBUTION),
    // Spreadsheets.
    ("§ = SUM ( $n : $r", "", SPREADSHEET),
    ("§ = SUM ( $a ) #end", "[$a].sum()", SPREADSHEET),
    ("§ = AVERAGE ( $n : $r", "", SPREADSHEET),
    ("§ = AVERAGE ( $a ) #end", "mean([$a])", SPREADSHEET),
    ("§ = MAX ( $e , $a ) #end", "max($e, $a)", SPREADSHEET),
    ("§ = MIN ( $e , $a ) #end", "min($e, $a)", SPREADSHEET),
    ("§ = SQRT ( $e ) #end", "sqrt($e)", SPREADSHEET),
    ("§ = POWER ( $e , $d ) #end", "$(e)^$(d)", SPREADSHEET),
    ("§ = IF ( $c , $e , $d ) #end", "$c ? $e : $d", SPREADSHEET),
    ("§ = $n ( $m : $r", "", SPREADSHEET),
    // Definitions without parentheses, and with `:=`.
    ("§ let $n _ $m = $m $r", "$n($m) = $m $r", DEFINED),
    ("§ let $n _ $m = $i * $m $r", "$n($m) = $i * $m $r", DEFINED),
    ("§ let $n _ $m = <elementary> ( $m ) #end", "$n($m) = $elementary($m)", DEFINED),
    ("§ let $n := $e", "let $n = $e", "a definition is written with '='"),
    ("§ var $n := $e", "var $n = $e", "a definition is written with '='"),
    ("§ $i _ $x / $y #end", "$i + $x / $y", MIXED),
    // Complex numbers.
    ("exp ( i * $p )", "exp(Complex(0, $p))", COMPLEX),
    ("exp ( $p * i )", "exp(Complex(0, $p))", COMPLEX),
    ("exp ( iπ )", "exp(Complex(0, π))", COMPLEX),
    ("e ^ ( iπ )", "exp(Complex(0, π))", COMPLEX),
    ("e ^ ( i * $p )", "exp(Complex(0, $p))", COMPLEX),
    ("( $x + i )", "Complex($x, 1)", COMPLEX),
    ("( $x - i )", "Complex($x, -1)", COMPLEX),
    // Plots and roots with named intervals, as in Maple.
    (
        "plot ( $e , $n = $d .. $c )",
        "plot({ $n in $e }, $d...$c)",
        "'plot' takes a function and a range: 'plot({ x in … }, -10...10)'",
    ),
    (
        "fsolve ( $e = $d , $n = $x .. $y )",
        "solve({ $n in $e - $(d) }, near: $x)",
        "a root is sought near a point: 'solve({ x in … }, near: 1)'",
    ),
];
