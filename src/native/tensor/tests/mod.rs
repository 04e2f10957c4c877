//! Tests of the derivatives of all operations.
