//! Slopes are written as `|x, y| …` and become a generic function, instantiated for `f64` and for formulas.

/// The slope of `y = f(x)`: `slope!(|x, y| y)`.
macro_rules! slope {
    (|$x:pat_param, $y:pat_param| $body:expr) => {{
        fn slope<T: crate::native::field::Field>($x: T, $y: T) -> T {
            $body
        }
        crate::native::Rule::Slopes(crate::native::Slopes::One(slope::<f64>, slope::<crate::native::formula::Formula>))
    }};
}

/// The slopes of `z = f(x, y)`: `slopes!(|x, y, z| dx, dy)`.
macro_rules! slopes {
    (|$x:pat_param, $y:pat_param, $z:pat_param| $dx:expr, |$x2:pat_param, $y2:pat_param, $z2:pat_param| $dy:expr) => {{
        fn dx<T: crate::native::field::Field>($x: T, $y: T, $z: T) -> T {
            $dx
        }
        fn dy<T: crate::native::field::Field>($x2: T, $y2: T, $z2: T) -> T {
            $dy
        }
        use crate::native::formula::Formula;
        crate::native::Rule::Slopes(crate::native::Slopes::Two([dx::<f64>, dy::<f64>], [dx::<Formula>, dy::<Formula>]))
    }};
}

/// The slope of `y = f(x, n)` with an integer `n`: `counted!(|x, n, y| …)`.
macro_rules! counted {
    (|$x:pat_param, $n:pat_param, $y:pat_param| $body:expr) => {{
        fn slope<T: crate::native::field::Field>($x: T, $n: T::Count, $y: T) -> T {
            $body
        }
        crate::native::Rule::Slopes(crate::native::Slopes::Count(
            slope::<f64>,
            slope::<crate::native::formula::Formula>,
        ))
    }};
}

pub(super) use {counted, slope, slopes};
