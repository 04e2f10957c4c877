//! Convolutions, pooling, and resized images.

use super::super::NativeFunction;
use super::super::context::{Failure, internal};
use super::{Call, one, pair, returned, shape, size, sizes};
use crate::native::tensor::{Channels, Movement, Operation};
use crate::tensor::{Padding, Resizing};
use smallvec::smallvec;

pub(in super::super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "tensor.convolution", call: |c| convolution(c, Channels::Joined) },
    NativeFunction { name: "tensor.depthwiseConvolution", call: |c| convolution(c, Channels::Separate) },
    NativeFunction { name: "tensor.transposedConvolution", call: transposed_convolution },
    NativeFunction { name: "tensor.maxPool", call: |c| pool(c, Operation::MaxPool) },
    NativeFunction { name: "tensor.averagePool", call: |c| pool(c, Operation::AveragePool) },
    NativeFunction { name: "tensor.resize", call: resize },
];

/// Reads whether the result is as large as the image.
fn padding(c: Call<'_, '_>) -> Padding {
    if c.integer() != 0 { Padding::Same } else { Padding::Valid }
}

/// Reads strides, dilations and padding.
fn movement(c: Call<'_, '_>) -> Result<Movement, Failure> {
    Ok(Movement { strides: sizes(c)?, dilations: sizes(c)?, padding: padding(c) })
}

fn convolution(c: Call<'_, '_>, channels: Channels) -> Result<(), Failure> {
    let (x, filter) = pair(c)?;
    let to = movement(c)?;
    returned(c, Operation::Convolution(channels, to), smallvec![x, filter])
}

fn transposed_convolution(c: Call<'_, '_>) -> Result<(), Failure> {
    let ((x, filter), shape) = (pair(c)?, shape(c)?);
    let to = movement(c)?;
    returned(c, Operation::ConvolutionInput(Channels::Joined, to, shape), smallvec![x, filter])
}

fn pool(c: Call<'_, '_>, operation: fn(Vec<usize>, Movement) -> Operation) -> Result<(), Failure> {
    let (x, size, strides) = (c.tensor()?, sizes(c)?, sizes(c)?);
    let to = Movement { strides, dilations: Vec::new(), padding: padding(c) };
    returned(c, operation(size, to), smallvec![x])
}

/// Resizes images. The methods: 0 the nearest pixel, 1 bilinear interpolation.
fn resize(c: Call<'_, '_>) -> Result<(), Failure> {
    let (height, width) = (size(c.integer())?, size(c.integer())?);
    let method = match c.integer() {
        0 => Resizing::Nearest,
        1 => Resizing::Bilinear,
        _ => return Err(internal()),
    };
    one(c, Operation::Resize(height, width, method))
}
