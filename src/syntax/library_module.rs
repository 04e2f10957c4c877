//! Library modules: the names by which programs import the library.

/// The modules of other implementations whose declarations the library provides.
const LIBRARY: &[&str] = &[
    "Algorithms",
    "Collections",
    "CollectionsDifferentiable",
    "ComplexModule",
    "ComplexModuleDifferentiable",
    "CoreFoundation",
    "CoreGraphics",
    "Darwin",
    "DequeModule",
    "Differentiation",
    "DifferentiationUnittest",
    "Dispatch",
    "Foundation",
    "FoundationEssentials",
    "Glibc",
    "HeapModule",
    "IntegerUtilities",
    "Numerics",
    "NumericsDifferentiable",
    "Observation",
    "OrderedCollections",
    "OrderedCollectionsDifferentiable",
    "RealModule",
    "RealModuleDifferentiable",
    "RegexBuilder",
    "StdlibUnittest",
    "Swift",
    "Synchronization",
    "TensorFlow",
    "Testing",
    "XCTest",
    "_Differentiation",
    "simd",
];

/// Whether a name is the name of a library module.
pub(crate) fn is_library_module(name: &str) -> bool {
    LIBRARY.contains(&name)
}
