//! Convolutions, pooling and resizing, and their adjoints.

use super::*;
use crate::tensor::window::Geometry;

/// A random choice of a convolution over one to three axes.
struct Case {
    input: Shape,
    kernel: Vec<usize>,
    strides: Vec<usize>,
    dilations: Vec<usize>,
    padding: Padding,
}

impl Case {
    fn new(random: &mut Random) -> Case {
        let spatial = random.below(3) + 1;
        let mut sizes = vec![random.below(3)];
        sizes.extend((0..spatial).map(|_| random.below(7)));
        sizes.push(random.below(4));
        let mut list = |bound: usize| (0..spatial).map(|_| random.below(bound) + 1).collect::<Vec<_>>();
        let (kernel, strides, dilations) = (list(3), list(3), list(2));
        let padding = if random.flag() { Padding::Same } else { Padding::Valid };
        Case { input: Shape::from(sizes.as_slice()), kernel, strides, dilations, padding }
    }

    fn window(&self) -> Window<'_> {
        Window { strides: &self.strides, dilations: &self.dilations, padding: self.padding }
    }

    /// The index in the input for an index of the result and of the kernel, by the formulas for the padding.
    fn place(&self, output: &[usize], kernel: &[usize]) -> Option<Vec<usize>> {
        let mut place = vec![output[0]];
        for axis in 0..self.kernel.len() {
            let (size, stride) = (self.input[axis + 1], self.strides[axis]);
            let reach = (self.kernel[axis] - 1) * self.dilations[axis] + 1;
            let total = (size.div_ceil(stride).max(1) - 1) * stride + reach;
            let before = if self.padding == Padding::Same { total.saturating_sub(size) / 2 } else { 0 };
            let at = output[axis + 1] * stride + kernel[axis] * self.dilations[axis];
            place.push(at.checked_sub(before).filter(|&at| at < size)?);
        }
        Some(place)
    }
}

#[test]
fn convolutions_equal_loops_and_have_adjoints() {
    let mut random = Random(41);
    let mut done = 0;
    while done < 200 {
        let mut case = Case::new(&mut random);
        let channels = *case.input.last().unwrap();
        let outputs = random.below(4) + [0, 4, 12][done % 3];
        // Wide lines, in which many windows are computed together.
        if random.below(4) == 0 {
            let last = case.input.rank() - 2;
            case.input = case.input.with_size(last, 12 + random.below(20));
        }
        let filter_shape: Shape = case.kernel.iter().copied().chain([channels, outputs]).collect();
        let (x, filter) = (random.tensor(&case.input), random.tensor(&filter_shape));
        let Ok(y) = x.convolution(&filter, &case.window()) else { continue };
        done += 1;
        let places = indices(&Shape::from(case.kernel.as_slice()));
        for index in indices(&y.shape) {
            let mut sum = 0.0;
            for kernel in &places {
                let Some(place) = case.place(&index, kernel) else { continue };
                for channel in 0..channels {
                    let from = [&place[..], &[channel]].concat();
                    sum += at(&x, &from) * at(&filter, &[&kernel[..], &[channel, index[index.len() - 1]]].concat());
                }
            }
            assert_close(&[at(&y, &index)], &[sum]);
        }
        let adjoint = random.tensor(&y.shape);
        let back = adjoint.convolution_input_adjoint(&filter, &case.input, &case.window()).unwrap();
        assert_adjoint(inner(&y, &adjoint), inner(&x, &back));
        let partial = x.convolution_filter_adjoint(&adjoint, &filter_shape, &case.window()).unwrap();
        assert_adjoint(inner(&y, &adjoint), inner(&filter, &partial));
        let narrow = |t: &Tensor| t.cast(ScalarKind::F32).unwrap();
        let single = narrow(&x).convolution(&narrow(&filter), &case.window()).unwrap();
        assert!(dense(&single).iter().zip(dense(&y)).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}

#[test]
fn depthwise_convolutions_equal_loops_and_have_adjoints() {
    let mut random = Random(42);
    let mut done = 0;
    while done < 150 {
        let case = Case::new(&mut random);
        let channels = *case.input.last().unwrap();
        let multiplier = random.below(3) + 1;
        let filter_shape: Shape = case.kernel.iter().copied().chain([channels, multiplier]).collect();
        let (x, filter) = (random.tensor(&case.input), random.tensor(&filter_shape));
        let Ok(y) = x.depthwise_convolution(&filter, &case.window()) else { continue };
        done += 1;
        let places = indices(&Shape::from(case.kernel.as_slice()));
        for index in indices(&y.shape) {
            let output = index[index.len() - 1];
            let own = [output / multiplier, output % multiplier];
            let products = places.iter().filter_map(|kernel| {
                let place = case.place(&index, kernel)?;
                Some(at(&x, &[&place[..], &own[..1]].concat()) * at(&filter, &[&kernel[..], &own[..]].concat()))
            });
            assert_close(&[at(&y, &index)], &[products.sum()]);
        }
        let adjoint = random.tensor(&y.shape);
        let back = adjoint.depthwise_input_adjoint(&filter, &case.input, &case.window()).unwrap();
        assert_adjoint(inner(&y, &adjoint), inner(&x, &back));
        let partial = x.depthwise_filter_adjoint(&adjoint, &filter_shape, &case.window()).unwrap();
        assert_adjoint(inner(&y, &adjoint), inner(&filter, &partial));
    }
}

#[test]
fn pooling_equals_loops_and_has_adjoints() {
    let mut random = Random(43);
    let mut done = 0;
    while done < 200 {
        let mut case = Case::new(&mut random);
        // More channels than are added together.
        if random.below(4) == 0 {
            case.input = case.input.with_size(case.input.rank() - 1, 7 + random.below(12));
        }
        let x = random.tensor(&case.input);
        let Ok((largest, positions)) = x.max_pool(&case.kernel, &case.window()) else { continue };
        // A dilated window can lie outside of the image.
        if dense(&positions).contains(&-1.0) {
            continue;
        }
        done += 1;
        let mean = x.average_pool(&case.kernel, &case.window()).unwrap();
        let places = indices(&Shape::from(case.kernel.as_slice()));
        for index in indices(&largest.shape) {
            let own = &index[index.len() - 1..];
            let inside = places.iter().filter_map(|kernel| case.place(&index, kernel));
            let values: Vec<f64> = inside.map(|place| at(&x, &[&place[..], own].concat())).collect();
            assert_eq!(at(&largest, &index), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            assert_close(&[at(&mean, &index)], &[values.iter().sum::<f64>() / values.len() as f64]);
        }
        assert_eq!(dense(&x.gather_flat(&positions).unwrap()), dense(&largest));
        let adjoint = random.tensor(&largest.shape);
        let back = adjoint.scatter_add_flat(&case.input, &positions).unwrap();
        assert_adjoint(inner(&largest, &adjoint), inner(&x, &back));
        let back = adjoint.average_pool_adjoint(&case.input, &case.kernel, &case.window()).unwrap();
        assert_adjoint(inner(&mean, &adjoint), inner(&x, &back));
    }
}

#[test]
fn images_are_resized() {
    let x = tensor(&[1, 1, 4, 1], &[0.0, 1.0, 2.0, 3.0]);
    assert_eq!(dense(&x.resize(1, 2, Resizing::Nearest).unwrap()), [1.0, 3.0]);
    assert_eq!(dense(&x.resize(1, 2, Resizing::Bilinear).unwrap()), [0.5, 2.5]);
    assert_eq!(dense(&x.resize(1, 8, Resizing::Bilinear).unwrap()), [0.0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.0]);
    let mut random = Random(44);
    for _ in 0..50 {
        let shape = Shape::from([random.below(3), random.below(4) + 1, random.below(4) + 1, random.below(3)]);
        let x = random.tensor(&shape);
        let (height, width) = (random.below(6), random.below(6));
        for method in [Resizing::Nearest, Resizing::Bilinear] {
            let y = x.resize(height, width, method).unwrap();
            let adjoint = random.tensor(&y.shape);
            assert_adjoint(inner(&y, &adjoint), inner(&x, &adjoint.resize_adjoint(&shape, method).unwrap()));
        }
    }
    assert!(vector(&[1.0]).resize(1, 1, Resizing::Nearest).is_err());
    assert!(vector(&[1.0]).resize_adjoint(&Shape::from([1, 1, 1, 1]), Resizing::Nearest).is_err());
}

#[test]
fn wrong_windows_are_errors() {
    let x = tensor(&[1, 2, 2, 1], &[1.0; 4]);
    let window = |strides, padding| Window { strides, dilations: &[], padding };
    let filter = |shape: &[usize]| Tensor::ones(ScalarKind::F64, Shape::from(shape)).unwrap();
    let error = x.convolution(&filter(&[4, 4, 1, 1]), &window(&[], Padding::Valid)).unwrap_err();
    assert!(error.to_string().starts_with("a window of 4 does not fit into 2 scalars"), "{error}");
    let error = x.max_pool(&[3, 3], &window(&[], Padding::Valid)).unwrap_err();
    assert!(error.to_string().starts_with("a window of 3 does not fit into 2 scalars"), "{error}");
    assert!(x.convolution(&filter(&[1, 1, 2, 1]), &window(&[], Padding::Valid)).is_err());
    assert!(x.convolution(&filter(&[1, 1]), &window(&[], Padding::Valid)).is_err());
    assert!(x.convolution(&filter(&[1, 1, 1, 1]), &window(&[0, 1], Padding::Same)).is_err());
    assert!(x.convolution(&filter(&[1, 1, 1, 1]), &window(&[1], Padding::Same)).is_err());
    assert!(x.convolution(&filter(&[0, 1, 1, 1]), &window(&[], Padding::Same)).is_err());
    assert!(x.max_pool(&[usize::MAX, 1], &window(&[], Padding::Same)).is_err());
    assert!(Geometry::new("test", &Shape::from([1, 2]), &[], &window(&[], Padding::Same)).is_err());
    assert!(x.depthwise_convolution(&filter(&[1, 1, 2, 1]), &window(&[], Padding::Valid)).is_err());
    assert!(
        x.convolution_input_adjoint(&filter(&[1, 1, 1, 1]), &Shape::from([1, 9, 9, 1]), &window(&[], Padding::Same))
            .is_err()
    );
}
