//! The table of primitives: value, slopes, transpose, domain, kink, documentation; and the native library.
