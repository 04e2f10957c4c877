//! Elementary functions without branches, so that loops over them become vector instructions.
//!
//! Errors, as measured in units in the last place against correctly rounded results: `exp`, `log`, `sin`, `cos` below 1, `log1p`
//! below 1.5, `expm1` up to 2, `tanh` up to 3. Without fused multiply-add they may be twice as large. `sin` and `cos` are valid up to
//! [`Function::LARGEST_ANGLE`]; larger angles are the caller's task.

/// The functions for one type; `FUSED` states whether the processor has a fused multiply-add.
pub(super) trait Function: Copy {
    /// The largest angle that `sin` and `cos` reduce accurately.
    const LARGEST_ANGLE: Self;

    fn exp<const FUSED: bool>(self) -> Self;
    fn expm1<const FUSED: bool>(self) -> Self;
    fn log<const FUSED: bool>(self) -> Self;
    fn log1p<const FUSED: bool>(self) -> Self;
    fn sin<const FUSED: bool>(self) -> Self;
    fn cos<const FUSED: bool>(self) -> Self;
    fn tanh<const FUSED: bool>(self) -> Self;
}

/// Returns the value of a polynomial, with the coefficient of the highest power first.
macro_rules! polynomial {
    ($fma:expr, $x:expr, $first:expr $(, $next:expr)*) => {{
        let value = $first;
        $(let value = $fma(value, $x, $next);)*
        value
    }};
}

/// The functions that are the same for both types, apart from constants. The module has `MAGIC`, `fused` and `logarithm`.
macro_rules! exponentials {
    ($type:ty, mantissa $mantissa:expr, bias $bias:expr, ln2 $ln2_high:expr, $ln2_low:expr, overflow $overflow:expr,
     underflow $underflow:expr, large $large:expr, [$($coefficient:expr),*]) => {
        /// Returns `exp(r) - 1` for the small remainder `r` of `x` after division by the logarithm of 2, and the rounded quotient, to
        /// which the magic number is added: it is in the low bits of the sum.
        #[inline(always)]
        fn remainder_exp<const FUSED: bool>(x: $type) -> ($type, $type) {
            let fma = fused::<FUSED>;
            let shifted = fma(x, std::f64::consts::LOG2_E as $type, MAGIC);
            let n = shifted - MAGIC;
            let r = fma(n, -$ln2_low, fma(n, -$ln2_high, x));
            let q = polynomial!(fma, r, $($coefficient),*);
            (fma(r * r, q, r), shifted)
        }

        /// Returns the power of two whose exponent is in the low bits of a number.
        #[inline(always)]
        fn power_of_two(exponent: $type) -> $type {
            <$type>::from_bits((exponent.to_bits() << $mantissa).wrapping_add($bias << $mantissa))
        }

        /// Returns `exp(r) - 1` and two powers of two with `exp(x) = exp(r) · first · second`, where `r` is the small remainder.
        #[inline(always)]
        fn reduced_exp<const FUSED: bool>(x: $type) -> ($type, $type, $type) {
            let (p, shifted) = remainder_exp::<FUSED>(x);
            let n = shifted - MAGIC;
            let half = n * 0.5 + MAGIC;
            let other = (n - (half - MAGIC)) + MAGIC;
            (p, power_of_two(half), power_of_two(other))
        }

        #[inline(always)]
        fn exp<const FUSED: bool>(x: $type) -> $type {
            let (p, first, second) = reduced_exp::<FUSED>(x);
            let value = (1.0 + p) * first * second;
            let value = if x > $overflow { <$type>::INFINITY } else { value };
            if x < $underflow { 0.0 } else { value }
        }

        #[inline(always)]
        fn expm1<const FUSED: bool>(x: $type) -> $type {
            let (p, first, second) = reduced_exp::<FUSED>(x);
            let value = p * first * second + (first * second - 1.0);
            let value = if x > $large { (1.0 + p) * first * second } else { value };
            let value = if x > $overflow { <$type>::INFINITY } else { value };
            let value = if x < -2.0 * $large { -1.0 } else { value };
            if x == 0.0 { x } else { value }
        }

        #[inline(always)]
        fn tanh<const FUSED: bool>(x: $type) -> $type {
            let size = x.abs();
            let size = if size > $large { $large } else { size };
            // The argument is between -2 · large and 0, where one power of two is enough, and no limit is near.
            let (p, shifted) = remainder_exp::<FUSED>(-2.0 * size);
            let scale = power_of_two(shifted);
            let t = p * scale + (scale - 1.0);
            (-t / (t + 2.0)).copysign(x)
        }

        #[inline(always)]
        fn log1p<const FUSED: bool>(x: $type) -> $type {
            let u = 1.0 + x;
            let lost = if x.abs() < 1.0 { x - (u - 1.0) } else { 1.0 - (u - x) };
            let correction = if u > 0.0 { lost / u } else { 0.0 };
            let value = logarithm::<FUSED>(u, correction);
            let value = if x == <$type>::INFINITY { x } else { value };
            if x == 0.0 { x } else { value }
        }

        impl Function for $type {
            const LARGEST_ANGLE: $type = 1e6;

            #[inline(always)]
            fn exp<const FUSED: bool>(self) -> $type {
                exp::<FUSED>(self)
            }

            #[inline(always)]
            fn expm1<const FUSED: bool>(self) -> $type {
                expm1::<FUSED>(self)
            }

            #[inline(always)]
            fn log<const FUSED: bool>(self) -> $type {
                logarithm::<FUSED>(self, 0.0)
            }

            #[inline(always)]
            fn log1p<const FUSED: bool>(self) -> $type {
                log1p::<FUSED>(self)
            }

            #[inline(always)]
            fn sin<const FUSED: bool>(self) -> $type {
                let value = sine::<FUSED>(self, 0);
                if self == 0.0 { self } else { value }
            }

            #[inline(always)]
            fn cos<const FUSED: bool>(self) -> $type {
                sine::<FUSED>(self, 1)
            }

            #[inline(always)]
            fn tanh<const FUSED: bool>(self) -> $type {
                tanh::<FUSED>(self)
            }
        }
    };
}

/// The functions for `Double`.
mod double {
    use super::Function;

    const MAGIC: f64 = 6755399441055744.0;

    #[inline(always)]
    fn fused<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
        if FUSED { a.mul_add(b, c) } else { a * b + c }
    }

    exponentials!(f64, mantissa 52, bias 1023u64, ln2 0.693_147_180_559_663,
        2.823_529_056_303_157_7e-13,
        overflow 709.782_712_893_384, underflow -745.133_219_101_941_1, large 40.0,
        [2.088_606_211_072_837e-9, 2.511_129_308_928_765_2e-8, 2.755_739_112_349_004_7e-7,
         2.755_723_629_119_288_3e-6, 2.480_158_715_923_547_3e-5, 0.000_198_412_698_960_509_2,
         0.001_388_888_888_897_745, 0.008_333_333_333_316_527, 0.041_666_666_666_666_505,
         0.166_666_666_666_666_85, 0.5]);

    /// Returns `log(x) + correction`.
    #[inline(always)]
    fn logarithm<const FUSED: bool>(x: f64, correction: f64) -> f64 {
        const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
        const EXPONENT: u64 = 0x3ff0_0000_0000_0000;
        let fma = fused::<FUSED>;
        let is_small = x < f64::MIN_POSITIVE;
        let scaled = if is_small { x * 1.801_439_850_948_198_4e16 } else { x };
        let bits = scaled.to_bits().wrapping_add(EXPONENT - ROOT_HALF);
        // The exponent becomes a number without a conversion: its bits are the low bits of a number of size 2^52.
        let k = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
        let k = if is_small { k - 54.0 } else { k };
        let m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF));
        let f = m - 1.0;
        let s = f / (2.0 + f);
        let z = s * s;
        let r = z * polynomial!(
            fma,
            z,
            1.479_819_860_511_658_6e-1,
            1.531_383_769_920_937_3e-1,
            1.818_357_216_161_805e-1,
            2.222_219_843_214_978_4e-1,
            2.857_142_874_366_239e-1,
            3.999_999_999_940_942e-1,
            6.666_666_666_666_735e-1
        );
        let half_square = 0.5 * f * f;
        let low = fma(s, half_square + r, fma(k, 1.908_214_929_270_587_7e-10, correction));
        let value = k * 6.931_471_803_691_238e-1 - ((half_square - low) - f);
        let value = if x == f64::INFINITY { x } else { value };
        let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
        if x >= 0.0 { value } else { f64::NAN }
    }

    /// Returns `x` minus the nearest multiple of π/2, as the sum of two numbers, and that multiple in the low bits.
    #[inline(always)]
    fn reduced_angle<const FUSED: bool>(x: f64) -> (f64, f64, u64) {
        let fma = fused::<FUSED>;
        let shifted = fma(x, std::f64::consts::FRAC_2_PI, MAGIC);
        let n = shifted - MAGIC;
        let r = fma(n, -1.570_796_326_734_125_6, x);
        let w = n * 6.077_100_506_303_966e-11;
        let high = r - w;
        let low = fma(n, -2.022_266_248_795_950_6e-21, (r - high) - w);
        let angle = high + low;
        (angle, (high - angle) + low, shifted.to_bits())
    }

    /// Returns the sine of an angle with a number of quadrants added.
    #[inline(always)]
    fn sine<const FUSED: bool>(angle: f64, quadrants: u64) -> f64 {
        let fma = fused::<FUSED>;
        let (x, y, n) = reduced_angle::<FUSED>(angle);
        let quadrant = n.wrapping_add(quadrants);
        let z = x * x;
        let r = polynomial!(
            fma,
            z,
            1.589_690_995_211_55e-10,
            -2.505_076_025_340_686_3e-8,
            2.755_731_370_707_006_8e-6,
            -1.984_126_982_985_795e-4,
            8.333_333_333_322_49e-3
        );
        let v = z * x;
        let sine = x - fma(v, 1.666_666_666_666_663_2e-1, fma(z, fma(-v, r, 0.5 * y), -y));
        let r = z * polynomial!(
            fma,
            z,
            -1.135_964_755_778_819_5e-11,
            2.087_572_321_298_175e-9,
            -2.755_731_435_139_066_3e-7,
            2.480_158_728_947_673e-5,
            -1.388_888_888_887_411e-3,
            4.166_666_666_666_66e-2
        );
        let half = 0.5 * z;
        let w = 1.0 - half;
        let cosine = w + (((1.0 - w) - half) + fma(z, r, -(x * y)));
        let value = if quadrant & 1 == 0 { sine } else { cosine };
        f64::from_bits(value.to_bits() ^ ((quadrant & 2) << 62))
    }
}

/// The functions for `Float`.
mod single {
    use super::Function;

    const MAGIC: f32 = 12_582_912.0;

    #[inline(always)]
    fn fused<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
        if FUSED { a.mul_add(b, c) } else { a * b + c }
    }

    exponentials!(f32, mantissa 23, bias 127u32, ln2 0.693_145_75, 1.428_606_8e-6,
        overflow 88.722_84, underflow -103.972_08, large 20.0,
        [0.000_198_527_62, 0.001_393_043_6, 0.008_333_361, 0.041_666_485, 0.166_666_67, 0.5]);

    /// Returns `log(x) + correction`.
    #[inline(always)]
    fn logarithm<const FUSED: bool>(x: f32, correction: f32) -> f32 {
        const ROOT_HALF: u32 = 0x3f35_04f3;
        const EXPONENT: u32 = 0x3f80_0000;
        let fma = fused::<FUSED>;
        let is_small = x < f32::MIN_POSITIVE;
        let scaled = if is_small { x * 33_554_432.0 } else { x };
        let bits = scaled.to_bits().wrapping_add(EXPONENT - ROOT_HALF);
        let k = f32::from_bits((bits >> 23) | 0x4b00_0000) - (8_388_608.0 + 127.0);
        let k = if is_small { k - 25.0 } else { k };
        let m = f32::from_bits((bits & 0x007f_ffff).wrapping_add(ROOT_HALF));
        let f = m - 1.0;
        let s = f / (2.0 + f);
        let z = s * s;
        let r = z * polynomial!(fma, z, 0.242_790_79, 0.284_987_87, 0.400_009_72, 0.666_666_6);
        let half_square = 0.5 * f * f;
        let low = fma(s, half_square + r, fma(k, 9.058_001e-6, correction));
        let value = k * 6.931_381e-1 - ((half_square - low) - f);
        let value = if x == f32::INFINITY { x } else { value };
        let value = if x == 0.0 { f32::NEG_INFINITY } else { value };
        if x >= 0.0 { value } else { f32::NAN }
    }

    /// Returns the sine of an angle with a number of quadrants added, computed in double precision.
    #[inline(always)]
    fn sine<const FUSED: bool>(angle: f32, quadrants: u64) -> f32 {
        let wide = f64::from(angle);
        let shifted = wide * std::f64::consts::FRAC_2_PI + 6_755_399_441_055_744.0;
        let n = shifted - 6_755_399_441_055_744.0;
        let x = (wide - n * 1.570_796_326_734_125_6) - n * 6.077_100_506_506_192e-11;
        let quadrant = shifted.to_bits().wrapping_add(quadrants);
        let z = x * x;
        let w = z * z;
        let s = z * x;
        let sine = (x + s * (-0.166_666_666_416_265_24 + z * 0.008_333_329_385_889_463))
            + s * w * (-0.000_198_393_348_360_966_32 + z * 2.718_311_493_989_822e-6);
        let cosine = ((1.0 + z * -0.499_999_997_251_031) + w * 0.041_666_623_323_739_06)
            + (w * z) * (-0.001_388_676_377_460_993 + z * 2.439_044_879_627_741_7e-5);
        let value = if quadrant & 1 == 0 { sine } else { cosine };
        f64::from_bits(value.to_bits() ^ ((quadrant & 2) << 62)) as f32
    }
}
