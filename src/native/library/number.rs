//! Numbers out of texts, out of the clock and out of chance.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext};

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "double.parse", call: |c| parse(c, |x| x) },
    NativeFunction { name: "float.parse", call: |c| parse(c, |x| f64::from(x as f32)) },
    NativeFunction { name: "int.parse", call: parse_integer },
    NativeFunction { name: "number.bits", call: bits },
    NativeFunction { name: "number.ofBits", call: of_bits },
    NativeFunction { name: "random.double", call: random_number },
    NativeFunction { name: "random.int", call: random_integer },
    NativeFunction { name: "time.clock", call: clock },
    NativeFunction { name: "time.now", call: now },
];

fn parse(c: Call<'_, '_>, round: fn(f64) -> f64) -> Result<(), Failure> {
    let number = c.text()?.parse::<f64>().ok();
    c.give_integer(i64::from(number.is_some()))?;
    c.give_number(number.map_or(0.0, round))
}

fn parse_integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = c.text()?.parse::<i64>().ok();
    c.give_integer(i64::from(number.is_some()))?;
    c.give_integer(number.unwrap_or(0))
}

fn bits(c: Call<'_, '_>) -> Result<(), Failure> {
    let bits = c.number().to_bits();
    c.give_integer(bits as i64)
}

fn of_bits(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = f64::from_bits(c.integer() as u64);
    c.give_number(number)
}

fn random_number(c: Call<'_, '_>) -> Result<(), Failure> {
    let number = c.host.random.number();
    c.give_number(number)
}

fn random_integer(c: Call<'_, '_>) -> Result<(), Failure> {
    let (low, high) = (c.integer(), c.integer());
    if low > high {
        let message = format!("there is no integer from {low} to {high}");
        return Err(Failure::new(FailureKind::InvalidRange, message));
    }
    let number = c.host.random.integer(low, high);
    c.give_integer(number)
}

fn clock(c: Call<'_, '_>) -> Result<(), Failure> {
    let seconds = c.host.started.elapsed().as_secs_f64();
    c.give_number(seconds)
}

/// Seconds since the beginning of 1970; before it, fewer than none.
fn now(c: Call<'_, '_>) -> Result<(), Failure> {
    let seconds = match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => since.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    };
    c.give_number(seconds)
}
