//! Derivatives of operations on windows.

use super::super::{Channels, Movement};
use super::*;
use crate::tensor::{Padding, Resizing};

fn movements(spatial: usize) -> Vec<Movement> {
    let one = |stride: usize, dilation: usize, padding| Movement {
        strides: vec![stride; spatial],
        dilations: vec![dilation; spatial],
        padding,
    };
    vec![one(1, 1, Padding::Valid), one(2, 1, Padding::Same), one(1, 2, Padding::Same)]
}

fn check_convolution(channels: Channels, image: &[usize], filter: &[usize]) {
    let mut random = Random(17);
    for to in movements(image.len() - 2) {
        let (x, f) = (random.tensor(image, -1.0, 1.0), random.tensor(filter, -1.0, 1.0));
        let forward = Operation::Convolution(channels, to.clone());
        let result = forward.evaluate(vec![Rc::new(x.clone()), Rc::new(f.clone())]).unwrap();
        check(forward, &[x.clone(), f.clone()]);
        let adjoint = random.like(&result);
        let of_input = Operation::ConvolutionInput(channels, to.clone(), x.shape().clone());
        check(of_input, &[adjoint.clone(), f.clone()]);
        check(Operation::ConvolutionFilter(channels, to, f.shape().clone()), &[x, adjoint]);
    }
}

#[test]
fn convolutions() {
    check_convolution(Channels::Joined, &[2, 5, 2], &[2, 2, 3]);
    check_convolution(Channels::Joined, &[1, 5, 4, 2], &[2, 2, 2, 3]);
    check_convolution(Channels::Joined, &[1, 3, 3, 3, 1], &[2, 2, 2, 1, 2]);
    check_convolution(Channels::Separate, &[2, 5, 2], &[2, 2, 3]);
    check_convolution(Channels::Separate, &[1, 5, 4, 2], &[2, 2, 2, 2]);
}

#[test]
fn pooling() {
    let mut random = Random(18);
    for (image, size) in [(&[2, 5, 2][..], &[2][..]), (&[1, 5, 4, 2], &[2, 3]), (&[1, 3, 3, 3, 1], &[2, 2, 2])] {
        for to in movements(size.len()).into_iter().take(2) {
            let x = random.tensor(image, -1.0, 1.0);
            let average = Operation::AveragePool(size.to_vec(), to.clone());
            let result = average.evaluate(vec![Rc::new(x.clone())]).unwrap();
            check(average, std::slice::from_ref(&x));
            let adjoint = Operation::AveragePoolAdjoint(size.to_vec(), to.clone(), x.shape().clone());
            check(adjoint, &[random.like(&result)]);
            check(Operation::MaxPool(size.to_vec(), to), &[x]);
        }
    }
}

#[test]
fn resized_images() {
    let mut random = Random(19);
    for method in [Resizing::Nearest, Resizing::Bilinear] {
        for (height, width) in [(2, 5), (4, 3), (6, 1)] {
            let x = random.tensor(&[2, 4, 3, 2], -1.0, 1.0);
            check(Operation::Resize(height, width, method), std::slice::from_ref(&x));
            let adjoint = random.tensor(&[2, height, width, 2], -1.0, 1.0);
            check(Operation::ResizeAdjoint(x.shape().clone(), method), &[adjoint]);
        }
    }
}
