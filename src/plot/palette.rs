//! Palette: the colors of drawings on light and dark backgrounds and on terminals.

use super::Color;

/// A color on a light and on a dark background, as hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Paint {
    /// The name of the color's class in SVG.
    pub(super) name: String,
    pub(super) light: String,
    pub(super) dark: String,
}

/// The colors of a drawing apart from its series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Background,
    Text,
    Grid,
    Axis,
    /// The color of a value or an adjoint in a computation graph.
    Value,
    Adjoint,
    /// The color of an input node in a computation graph.
    Input,
}

impl Role {
    pub(super) fn paint(self) -> Paint {
        let (name, light, dark) = match self {
            Role::Background => ("b", "ffffff", "16191d"),
            Role::Text => ("t", "1f2328", "e6e8ea"),
            Role::Grid => ("g", "e3e6e9", "2b3138"),
            Role::Axis => ("a", "6a737d", "98a1ab"),
            Role::Value => ("v", "00694d", "4fd6ab"),
            Role::Adjoint => ("d", "b04a00", "ffa366"),
            Role::Input => ("i", "e8f1fa", "1d3347"),
        };
        Paint { name: name.into(), light: light.into(), dark: dark.into() }
    }
}

/// Distinct colors on a light background, on a dark one, and of a terminal with 256 colors, which is readable on both.
/// Readers with color vision deficiency can distinguish them (after Okabe and Ito, 2008).
const DISTINCT: [(&str, &str, u8); 6] = [
    ("0072b2", "56b4f0", 33),
    ("d55e00", "ff9248", 208),
    ("009e73", "2fd3a2", 35),
    ("c0569a", "f39acb", 170),
    ("a67c00", "f0c13b", 178),
    ("5b4fc7", "a99cff", 99),
];

/// The ramp from low to high values: evenly spaced samples of viridis (van der Walt and Smith, 2015), also for a
/// terminal.
const RAMP: [([u8; 3], u8); 9] = [
    ([68, 1, 84], 53),
    ([71, 44, 122], 54),
    ([59, 81, 139], 60),
    ([44, 113, 142], 24),
    ([33, 144, 141], 30),
    ([39, 173, 129], 36),
    ([92, 200, 99], 77),
    ([170, 220, 50], 149),
    ([253, 231, 37], 220),
];

impl Color {
    /// Returns the color of a drawing.
    pub(super) fn paint(self) -> Paint {
        match self {
            Color::Distinct(n) => {
                let (light, dark, _) = DISTINCT[n % DISTINCT.len()];
                Paint { name: (n % DISTINCT.len()).to_string(), light: light.into(), dark: dark.into() }
            }
            Color::Ramp(part) => {
                // The ends of the ramp would vanish on one of the backgrounds.
                let [light, dark] = [ramp(0.78 * part), ramp(0.35 + 0.65 * part)];
                Paint { name: format!("r{:.0}", 100.0 * part.clamp(0.0, 1.0)), light, dark }
            }
        }
    }

    /// Returns the color of a terminal with 256 colors.
    pub(super) fn ansi(self) -> u8 {
        match self {
            Color::Distinct(n) => DISTINCT[n % DISTINCT.len()].2,
            Color::Ramp(part) => RAMP[(part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64).round() as usize].1,
        }
    }
}

/// Returns a color of the ramp.
pub(super) fn ramp(part: f64) -> String {
    let at = part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let k = (at.floor() as usize).min(RAMP.len() - 2);
    let rest = at - k as f64;
    let mixed = |c: usize| f64::from(RAMP[k].0[c]) * (1.0 - rest) + f64::from(RAMP[k + 1].0[c]) * rest;
    format!("{:02x}{:02x}{:02x}", mixed(0).round() as u8, mixed(1).round() as u8, mixed(2).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the contrast of two colors by WCAG 2.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let channel = |k: usize| {
                let c = f64::from(u8::from_str_radix(&hex[k..k + 2], 16).unwrap()) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4) + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn series_and_text_are_visible_on_both_backgrounds() {
        let back = Role::Background.paint();
        for n in 0..DISTINCT.len() {
            let paint = Color::Distinct(n).paint();
            assert!(contrast(&paint.light, &back.light) > 3.0, "{n} on light");
            assert!(contrast(&paint.dark, &back.dark) > 6.0, "{n} on dark");
        }
        for role in [Role::Text, Role::Axis, Role::Value, Role::Adjoint] {
            let paint = role.paint();
            assert!(contrast(&paint.light, &back.light) > 4.5 && contrast(&paint.dark, &back.dark) > 4.5, "{role:?}");
        }
    }

    #[test]
    fn the_ramp_is_continuous() {
        assert_eq!((ramp(0.0), ramp(1.0), ramp(7.0)), ("440154".into(), "fde725".into(), "fde725".into()));
        assert_eq!(ramp(0.5), "21908d");
    }
}
