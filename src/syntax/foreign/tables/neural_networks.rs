//! Foreign neural networks: layers, losses, optimizers and training in PyTorch and Keras. The module before a name is optional.

use super::Row;

const LAYER: &str = "a layer is made by its type, which tells its numbers: 'Dense<Float>(inputSize: 3, outputSize: 4)'";
const PROVIDED: &str =
    "layers are types that 'import TensorFlow' provides, such as 'Dense<Float>(inputSize: 3, outputSize: 4)'";
const SIZE: &str =
    "a layer needs the size of its input: 'Dense<Float>(inputSize: 3, outputSize: 10, activation: relu)'";
const SEQUENTIAL: &str = "layers follow one another in braces: 'Sequential { Dense<Float>(inputSize: 3, outputSize: 4); Dense<Float>(inputSize: 4, outputSize: 2) }'";
const MODEL: &str = "a model is a struct of layers: 'struct Net: Layer { … }' with a method 'callAsFunction(_:)'";
const ACTIVATION: &str =
    "an activation is a function, which a layer takes: 'Dense<Float>(inputSize: 3, outputSize: 4, activation: relu)'";
const LOSS: &str = "a loss is a function: 'softmaxCrossEntropy(logits: y, labels: labels)', 'meanSquaredError(predicted: y, expected: z)'";
const OPTIMIZER: &str =
    "an optimizer is made for a model, and updates it along a gradient: 'Adam(for: model, learningRate: 0.001)'";
const STEP: &str = "a model is updated along a gradient: 'optimizer.update(&model, along: gradient)'";
const NO_RESET: &str = "gradients are values of 'gradient(at:in:)', and nothing is reset";
const FIT: &str = "a model is trained by 'fit(&model, to: data, epochs: 10, optimizer: Adam(for: model), loss: loss)'";
const ATTENTION: &str =
    "attention is 'matmul(softmax(matmul(q, transposed: false, k, transposed: true) / sqrt(d)), v)'";
const BATCHES: &str = "examples are taken in batches by 'data.inBatches(of: 32)', and by 'fit' with 'batchSize: 32'";
const PHASE: &str = "the phase of learning is 'Context.local.learningPhase'";
const SAVED: &str =
    "a model is saved by 'try model.save(\"m.safetensors\")', and loaded by 'try model.load(\"m.safetensors\")'";

pub(in crate::syntax::foreign) const ROWS: &[Row] = &[
    // Layers.
    ("nn . Linear ( $e , $d , bias = False )", "Dense<Float>(inputSize: $e, outputSize: $d, useBias: false)", PROVIDED),
    ("nn . Linear ( $e , $d )", "Dense<Float>(inputSize: $e, outputSize: $d)", PROVIDED),
    ("Linear ( $e , $d )", "Dense<Float>(inputSize: $e, outputSize: $d)", ""),
    (
        "nn . Conv2d ( $e , $d , 3 , padding = 1 )",
        "Conv2D<Float>(filterShape: (3, 3, $e, $d), padding: .same)",
        "the shape of a filter is height, width, channels of the input, channels of the result",
    ),
    (
        "nn . Conv2d ( $e , $d , $i )",
        "Conv2D<Float>(filterShape: ($i, $i, $e, $d))",
        "the shape of a filter is height, width, channels of the input, channels of the result",
    ),
    (
        "nn . Conv2d ( $e , $d , kernel_size = $i )",
        "Conv2D<Float>(filterShape: ($i, $i, $e, $d))",
        "the shape of a filter is height, width, channels of the input, channels of the result",
    ),
    (
        "nn . Conv2d ( $e , $d , kernel_size = 3 , padding = 1 )",
        "Conv2D<Float>(filterShape: (3, 3, $e, $d), padding: .same)",
        "the shape of a filter is height, width, channels of the input, channels of the result",
    ),
    (
        "Conv2D ( $n : $a )",
        "",
        "a convolution is 'Conv2D<Float>(filterShape: (3, 3, 1, 6))': height, width, channels of the input and of the result",
    ),
    ("MaxPool2D ( $i )", "MaxPool2D<Float>(poolSize: ($i, $i), strides: ($i, $i))", ""),
    ("AvgPool2D ( $i )", "AvgPool2D<Float>(poolSize: ($i, $i), strides: ($i, $i))", ""),
    ("LSTM ( inputSize : $e , hiddenSize : $d )", "LSTM<Float>(LSTMCell(inputSize: $e, hiddenSize: $d))", ""),
    ("GRU ( inputSize : $e , hiddenSize : $d )", "GRU<Float>(GRUCell(inputSize: $e, hiddenSize: $d))", ""),
    ("LayerNorm ( $e )", "LayerNorm<Float>(featureCount: $e, axis: -1)", ""),
    ("BatchNorm ( $e )", "BatchNorm<Float>(featureCount: $e)", ""),
    ("nn . utils . $n ( $a )", "", "gradients are shortened by 'fit' with 'clippingNorm: 1'"),
    (
        "nn . init . $n ( $a )",
        "",
        "the initial parameters are an argument of a layer: 'Dense<Float>(inputSize: 3, outputSize: 4, weightInitializer: heNormal())'",
    ),
    ("class $n ( nn . Module ) :", "", MODEL),
    ("$n : nn . Module", "$n: Layer", MODEL),
    ("F . dropout ( $e , $d )", "Dropout(probability: $d)($e)", ""),
    (
        "Dense ( inputSize : $e , outputSize : $d , activation : . $n )",
        "Dense<Float>(inputSize: $e, outputSize: $d, activation: $n)",
        "",
    ),
    ("$x . lr", "$x.learningRate", ""),
    ("$x . data", "$x", "a parameter is a tensor"),
    ("DataLoader ( $a )", "", BATCHES),
    ("nn . MaxPool2d ( $i )", "MaxPool2D<Float>(poolSize: ($i, $i), strides: ($i, $i))", PROVIDED),
    ("nn . MaxPool2d ( $i , $z )", "MaxPool2D<Float>(poolSize: ($i, $i), strides: ($z, $z))", PROVIDED),
    ("nn . AvgPool2d ( $i )", "AvgPool2D<Float>(poolSize: ($i, $i), strides: ($i, $i))", PROVIDED),
    ("nn . AdaptiveAvgPool2d ( 1 )", "GlobalAvgPool2D<Float>()", PROVIDED),
    ("nn . Flatten ( )", "Flatten<Float>()", PROVIDED),
    ("nn . Dropout ( $e )", "Dropout<Float>(probability: $e)", PROVIDED),
    ("nn . Dropout ( p = $e )", "Dropout<Float>(probability: $e)", PROVIDED),
    ("nn . BatchNorm1d ( $e )", "BatchNorm<Float>(featureCount: $e)", PROVIDED),
    ("nn . BatchNorm2d ( $e )", "BatchNorm<Float>(featureCount: $e)", PROVIDED),
    ("nn . LayerNorm ( $e )", "LayerNorm<Float>(featureCount: $e, axis: -1)", PROVIDED),
    ("nn . GroupNorm ( $e , $d )", "GroupNorm<Float>(featureCount: $d, groupCount: $e)", PROVIDED),
    ("nn . Embedding ( $e , $d )", "Embedding<Float>(vocabularySize: $e, embeddingSize: $d)", PROVIDED),
    ("nn . LSTM ( $e , $d )", "LSTM<Float>(LSTMCell(inputSize: $e, hiddenSize: $d))", PROVIDED),
    ("nn . GRU ( $e , $d )", "GRU<Float>(GRUCell(inputSize: $e, hiddenSize: $d))", PROVIDED),
    ("nn . RNN ( $e , $d )", "BasicRNN<Float>(BasicRNNCell(inputSize: $e, hiddenSize: $d))", PROVIDED),
    ("nn . Upsample ( scale_factor = $e )", "UpSampling2D<Float>(size: $e)", PROVIDED),
    ("nn . Identity ( )", "Function<Tensor<Float>, Tensor<Float>>(identity)", ""),
    ("nn . ReLU ( )", "Function<Tensor<Float>, Tensor<Float>>(relu)", ACTIVATION),
    ("nn . Tanh ( )", "Function<Tensor<Float>, Tensor<Float>>(tanh)", ACTIVATION),
    ("nn . Sigmoid ( )", "Function<Tensor<Float>, Tensor<Float>>(sigmoid)", ACTIVATION),
    ("nn . GELU ( )", "Function<Tensor<Float>, Tensor<Float>>(gelu)", ACTIVATION),
    ("nn . Softmax ( $a )", "", ACTIVATION),
    ("nn . MultiheadAttention ( $a )", "", ATTENTION),
    ("nn . Module", "Layer", MODEL),
    ("nn . Parameter ( $e )", "$e", "each variable of a layer is a parameter"),
    ("nn . Sequential ( $a )", "", SEQUENTIAL),
    ("Dense ( $i )", "", SIZE),
    ("Dense ( $i , activation : $e )", "", SIZE),
    ("layers . Dense ( $a )", "", SIZE),
    ("Dense ( $e , $d )", "Dense<Float>(inputSize: $e, outputSize: $d)", ""),
    ("Dense ( $e , $d , activation : $c )", "Dense<Float>(inputSize: $e, outputSize: $d, activation: $c)", ""),
    ("Dense ( $n : $e , $m : $d )", "Dense<Float>(inputSize: $e, outputSize: $d)", ""),
    ("Dense < $t > ( $i , $e )", "Dense<$t>(inputSize: $i, outputSize: $e)", ""),
    ("Dropout ( $e )", "Dropout<Float>(probability: $e)", ""),
    ("Dropout < $t > ( $e )", "Dropout<$t>(probability: $e)", ""),
    ("Embedding ( $e , $d )", "Embedding<Float>(vocabularySize: $e, embeddingSize: $d)", ""),
    ("Flatten ( )", "Flatten<Float>()", ""),
    ("Sequential ( $a )", "", SEQUENTIAL),
    // Losses.
    ("F . cross_entropy ( $e , $d )", "softmaxCrossEntropy(logits: $e, labels: $d)", ""),
    ("crossEntropy ( $e , $d )", "softmaxCrossEntropy(logits: $e, labels: $d)", ""),
    ("cross_entropy ( $e , $d )", "softmaxCrossEntropy(logits: $e, labels: $d)", ""),
    ("F . nll_loss ( $a )", "", LOSS),
    ("F . mse_loss ( $e , $d )", "meanSquaredError(predicted: $e, expected: $d)", ""),
    ("F . l1_loss ( $e , $d )", "meanAbsoluteError(predicted: $e, expected: $d)", ""),
    ("F . smooth_l1_loss ( $e , $d )", "huberLoss(predicted: $e, expected: $d, delta: 1, reduction: _mean)", ""),
    ("F . huber_loss ( $e , $d )", "huberLoss(predicted: $e, expected: $d, delta: 1, reduction: _mean)", ""),
    ("F . binary_cross_entropy_with_logits ( $e , $d )", "sigmoidCrossEntropy(logits: $e, labels: $d)", ""),
    ("mse ( $e , $d )", "meanSquaredError(predicted: $e, expected: $d)", ""),
    ("mseLoss ( $e , $d )", "meanSquaredError(predicted: $e, expected: $d)", ""),
    ("mse_loss ( $e , $d )", "meanSquaredError(predicted: $e, expected: $d)", ""),
    ("mae ( $e , $d )", "meanAbsoluteError(predicted: $e, expected: $d)", ""),
    ("meanSquaredError ( $e , $d )", "meanSquaredError(predicted: $e, expected: $d)", ""),
    ("softmaxCrossEntropy ( $e , $d )", "softmaxCrossEntropy(logits: $e, labels: $d)", ""),
    ("nn . CrossEntropyLoss ( $a )", "", LOSS),
    ("nn . MSELoss ( $a )", "", LOSS),
    ("nn . L1Loss ( $a )", "", LOSS),
    ("nn . BCEWithLogitsLoss ( $a )", "", LOSS),
    ("nn . BCELoss ( $a )", "", LOSS),
    ("CrossEntropyLoss ( $a )", "", LOSS),
    ("MSELoss ( $a )", "", LOSS),
    // Optimizers.
    ("torch . optim . <optimizer> ( $x . parameters ( ) , <rate> = $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("torch . optim . <optimizer> ( $x . parameters ( ) )", "$optimizer(for: $x)", ""),
    ("optim . <optimizer> ( $x . parameters ( ) , <rate> = $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("optim . <optimizer> ( $x . parameters ( ) )", "$optimizer(for: $x)", ""),
    ("<optimizer> ( $x . parameters ( ) , <rate> = $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("<optimizer> ( $x . parameters ( ) , <rate> : $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("<optimizer> ( $x . parameters , <rate> : $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("<optimizer> ( $x , <rate> = $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("<optimizer> ( $x , <rate> : $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("<optimizer> ( for : $x , <rate> : $e )", "$optimizer(for: $x, learningRate: $e)", ""),
    ("<optimizer> ( <rate> : $e )", "$optimizer(for: model, learningRate: $e)", OPTIMIZER),
    ("<optimizer> ( <rate> = $e )", "$optimizer(for: model, learningRate: $e)", OPTIMIZER),
    ("<optimizer> ( )", "$optimizer(for: model)", OPTIMIZER),
    ("<optimizer> ( <rate> : $e )", "", OPTIMIZER),
    ("<optimizer> ( <rate> = $e )", "", OPTIMIZER),
    ("torch . optim . $n ( $a )", "", OPTIMIZER),
    ("tf . keras . optimizers . <optimizer> ( $a )", "", OPTIMIZER),
    ("$x . step ( )", "", STEP),
    ("$x . zero_grad ( )", "", NO_RESET),
    // Training.
    ("$x . fit ( $n , $m )", "", FIT),
    ("$x . fit ( $n , $m , $a )", "", FIT),
    ("$x . compile ( $a )", "", FIT),
    ("$x . predict ( $e )", "$x($e)", ""),
    ("$x . summary ( )", "print($x.parameters)", "the parameters of a model are listed by 'parameters'"),
    ("$x . state_dict ( )", "$x.parameters", ""),
    ("$x . named_parameters ( )", "$x.parameters", ""),
    ("$x . train ( )", "Context.local.learningPhase = .training", PHASE),
    ("$x . eval ( )", "Context.local.learningPhase = .inference", PHASE),
    ("torch . save ( $x , $s )", "try $x.save($s)", SAVED),
    ("torch . save ( $x . state_dict ( ) , $s )", "try $x.save($s)", SAVED),
    ("$x . load_state_dict ( torch . load ( $s ) )", "try $x.load($s)", SAVED),
    ("torch . load ( $a )", "", SAVED),
    ("tf . keras . Sequential ( $a )", "", SEQUENTIAL),
    ("keras . Sequential ( $a )", "", SEQUENTIAL),
    ("tf . keras . layers . $n ( $a )", "", LAYER),
    ("keras . layers . $n ( $a )", "", SIZE),
];
