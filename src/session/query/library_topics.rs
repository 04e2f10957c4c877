//! Library topics: the order in which the library is presented, and the files of the prelude that belong to each topic.

/// A topic of the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryTopic {
    /// The title of the topic.
    pub title: &'static str,
    /// The names of the prelude files with the declarations of the topic.
    pub files: &'static [&'static str],
}

/// All topics. Every file of the prelude belongs to one topic.
pub const TOPICS: &[LibraryTopic] = &[
    LibraryTopic { title: "Functions of numbers", files: &["math", "elementary", "combinatorics", "numerics"] },
    LibraryTopic {
        title: "Derivatives",
        files: &[
            "operators",
            "calculus",
            "sparse_matrix",
            "fields",
            "series",
            "vectors",
            "checkpoint",
            "differentiation",
            "differentiable_function",
            "any_differentiable",
            "differentiable_collections",
        ],
    },
    LibraryTopic {
        title: "Numerical methods",
        files: &[
            "roots",
            "extrema",
            "integral",
            "limit",
            "ode",
            "lines",
            "numerical",
            "vicinity",
            "quadrature",
            "singularity",
            "oscillation",
            "equation_systems",
            "minimization",
            "optimization",
            "fit",
            "least_squares_search",
            "trajectory",
            "ode_steps",
            "multiple_integrals",
            "coordinates",
        ],
    },
    LibraryTopic { title: "Linear equations", files: &["linear_equations", "factorizations"] },
    LibraryTopic { title: "Statistics", files: &["statistics", "number_sequences", "samples"] },
    LibraryTopic {
        title: "Plots, tables and pictures",
        files: &["plot", "plot_kinds", "curve_sampling", "contour", "table", "display"],
    },
    LibraryTopic {
        title: "Numbers",
        files: &["numbers", "integers", "narrow", "wide_integers", "complex", "decimal", "measurement"],
    },
    LibraryTopic { title: "Random numbers", files: &["random", "distributions"] },
    LibraryTopic {
        title: "Arrays and sequences",
        files: &[
            "array",
            "sequence",
            "collection",
            "slice",
            "lazy",
            "collection_difference",
            "subsequence_search",
            "sort_comparator",
            "buffers",
            "unsafe_pointers",
        ],
    },
    LibraryTopic { title: "Dictionaries and sets", files: &["dictionary", "set", "any_hashable"] },
    LibraryTopic { title: "Ranges", files: &["range"] },
    LibraryTopic {
        title: "Text",
        files: &[
            "string",
            "text",
            "character",
            "emoji",
            "general_category",
            "format",
            "number_style",
            "string_interpolation",
            "foundation",
            "ns_object",
            "text_folding",
            "scanner",
        ],
    },
    LibraryTopic {
        title: "Tasks",
        files: &[
            "task",
            "task_group",
            "async_sequence",
            "async_stream",
            "duration",
            "dispatch",
            "synchronization",
            "run_loop",
            "task_queue",
        ],
    },
    LibraryTopic { title: "Input and output", files: &["io", "process_info", "mirror", "progress", "time"] },
    LibraryTopic {
        title: "Files and data",
        files: &[
            "file",
            "file_manager",
            "file_handle",
            "csv",
            "data_table",
            "json",
            "codable",
            "json_coder",
            "data",
            "json_serialization",
            "regex",
            "regex_builder",
            "regex_composition",
            "regex_matches",
            "regex_references",
            "ns_regular_expression",
            "index_set",
            "url",
            "calendar",
            "date_interval",
            "date_style",
        ],
    },
    LibraryTopic {
        title: "Algorithms and further collections",
        files: &["algorithms", "collections", "ordered_collections"],
    },
    LibraryTopic {
        title: "Tests",
        files: &["testing", "declared_tests", "xctest", "stdlib_unittest", "differentiation_unittest", "swift_testing"],
    },
    LibraryTopic { title: "Optionals, results and errors", files: &["optional", "result"] },
    LibraryTopic {
        title: "Vectors of fixed size",
        files: &["simd", "simd_operations", "simd_functions", "plane_geometry"],
    },
    LibraryTopic {
        title: "Tensors (import TensorFlow)",
        files: &[
            "tensor",
            "tensor_shape",
            "shaped_array",
            "tensor_operators",
            "tensor_functions",
            "tensor_reductions",
            "tensor_views",
            "tensor_indexing",
            "tensor_linear_algebra",
            "tensor_einsum",
            "tensor_windows",
            "tensor_resizing",
            "tensor_morphology",
            "tensor_fractional_pooling",
            "tensor_random",
            "tensor_primitives",
        ],
    },
    LibraryTopic {
        title: "Vectors and matrices (import TensorFlow)",
        files: &[
            "linear_vector",
            "linear_matrix",
            "linear_reductions",
            "linear_decompositions",
            "tensor_backed",
            "tensor_backed_functions",
        ],
    },
    LibraryTopic { title: "Tensors of a fixed rank (import TensorFlow)", files: &["ranked_types", "ranked_tensor"] },
    LibraryTopic {
        title: "Tensors with named dimensions (import TensorFlow)",
        files: &["named_tensor", "named_operations"],
    },
    LibraryTopic {
        title: "Layers, losses and optimizers (import TensorFlow)",
        files: &[
            "tensor_adam",
            "tensor_generators",
            "tensor_uneven_epochs",
            "tensor_freezable",
            "tensor_bidirectional",
            "tensor_context",
            "tensor_convolution_layers",
            "keypath_iteration",
            "tensor_coding",
            "tensor_data",
            "tensor_dense",
            "tensor_dropout",
            "tensor_embedding",
            "tensor_enlarging_layers",
            "tensor_global_pooling",
            "tensor_initializers",
            "tensor_any_layer",
            "tensor_raw",
            "tensor_pictures",
            "tensor_layer",
            "tensor_losses",
            "tensor_normalization",
            "tensor_optimizers",
            "tensor_pooling_layers",
            "tensor_recurrent",
            "tensor_separable_layers",
            "tensor_sequential",
            "tensor_vector_collections",
            "tensor_vectors",
        ],
    },
    LibraryTopic {
        title: "Data, training and files of models (import TensorFlow)",
        files: &["tensor_dataset", "tensor_training", "tensor_history", "tensor_model_file", "tensor_file"],
    },
    LibraryTopic { title: "Foundations", files: &["core", "unit", "conversions", "keypath", "pointers"] },
    LibraryTopic { title: "Functions of the C library (import Glibc)", files: &["glibc"] },
];

/// Returns the index of the topic of a file; files without a topic belong to the foundations.
pub(crate) fn topic_of(file: &str) -> usize {
    let of_file = |topic: &LibraryTopic| topic.files.contains(&file);
    let foundations = || TOPICS.iter().position(|topic| topic.title == "Foundations").unwrap_or(0);
    TOPICS.iter().position(of_file).unwrap_or_else(foundations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_prelude_has_a_topic() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prelude");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|ending| ending == "dscript"))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let mut listed: Vec<&str> = TOPICS.iter().flat_map(|topic| topic.files.iter().copied()).collect();
        listed.sort_unstable();
        assert_eq!(listed, names, "a file of the prelude belongs to one topic in src/session/query/library_topics.rs");
    }
}
