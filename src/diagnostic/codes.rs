//! Diagnostic codes: one entry per code, with a page in `docs/diagnostics.md`. The ranges of numbers are `E01xx`
//! syntax, `E02xx` names and types, `E03xx` differentiation, `E06xx` run time, `E09xx` input and output; `W07xx`
//! warnings.

/// The table entry of a diagnostic code.
#[derive(Debug)]
pub struct CodeInfo {
    /// The code that the entry describes.
    pub code: Code,
    /// The number of the code as printed.
    pub number: &'static str,
    /// The meaning of the code, in one sentence.
    pub summary: &'static str,
}

macro_rules! diagnostics {
    ($($number:ident $name:ident $summary:literal;)*) => {
        /// The code of a diagnostic.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $summary] $name),* }

        /// All diagnostic codes, in the order of the table.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: Code::$name, number: stringify!($number), summary: $summary }),*];

        impl Code {
            /// Returns the number of the code as printed: `E0301`.
            pub fn number(self) -> &'static str {
                match self { $(Code::$name => stringify!($number)),* }
            }
        }
    };
}

diagnostics! {
    E0100 Syntax "The program cannot be parsed.";
    E0101 UnclosedBracket "A bracket is unclosed or mismatched.";
    E0102 UnterminatedString "A string literal is not terminated.";
    E0103 TooDeep "Brackets or expressions are nested too deeply.";
    E0104 InvalidLiteral "A literal is invalid.";
    E0105 UnknownOperator "An operator is not declared.";
    E0106 AmbiguousProduct "A product written by juxtaposition needs parentheses here.";
    E0107 ExpectedBrace "A body in braces is missing.";

    E0200 Types "The program breaks a rule of the type system.";
    E0201 Mismatch "A value does not have the expected type.";
    E0202 UnknownName "A name is not in scope.";
    E0203 UnknownMember "The type has no such member.";
    E0204 UnknownType "A type is not in scope.";
    E0205 WrongArguments "A call has wrong, missing or extra arguments or labels.";
    E0206 NoOverload "No candidate accepts these arguments.";
    E0207 Ambiguous "Several candidates match equally well.";
    E0208 NotConforming "A type does not conform to a required protocol.";
    E0209 Immutable "An immutable value is modified.";
    E0210 MissingReturn "A function ends without returning a value.";
    E0211 CannotInfer "A type could not be inferred.";
    E0212 OptionalNotUnwrapped "An optional value must be unwrapped first.";
    E0213 Redeclared "A name is declared twice in one scope.";
    E0214 NotExhaustive "A switch does not cover every value.";
    E0215 WrongContext "A statement, declaration or modifier is not allowed here.";
    E0216 NotCallable "The value cannot be called.";
    E0217 MissingRequirement "A type lacks a member that a protocol requires.";
    E0218 Unsupported "The construct is not supported yet.";
    E0219 Uninitialized "A variable is used before it is initialized.";
    E0220 Inheritance "A class breaks a rule of inheritance.";
    E0221 TooLarge "A type or a function is too large.";
    E0222 Import "A file cannot be imported.";
    E0223 Inaccessible "A declaration is inaccessible.";
    E0224 Unhandled "A call that can throw is not marked with 'try', or its error is not handled.";
    E0225 Overlapping "A call has overlapping accesses to a variable.";
    E0226 EscapingCapture "An escaping closure captures an 'inout' parameter.";
    E0227 KnownShapes "The shapes of tensors are known not to fit an operation.";
    E0228 Unavailable "A declaration is unavailable or deprecated.";

    E0301 NotDifferentiable "A function that must be differentiable is not.";
    E0302 NoDerivative "A function that is called has no derivative.";
    E0303 WithRespectTo "A function cannot be differentiated with respect to a parameter.";
    E0304 NotLinear "A function that must be linear is not.";
    E0305 Registration "A registered derivative or transpose does not match its original.";
    E0306 OpaqueClosure "A plain function value cannot be made differentiable.";

    E0600 Trap "The program was stopped by an error.";
    E0601 IndexOutOfRange "An index is out of range.";
    E0602 Overflow "An integer operation overflowed.";
    E0603 UnexpectedNil "An optional was unwrapped when it was 'nil'.";
    E0604 DivisionByZero "An integer was divided by zero.";
    E0605 PreconditionFailed "A precondition failed.";
    E0606 InvalidRange "A range ends before it starts.";
    E0607 InvalidConversion "A value cannot be converted to the other type.";
    E0608 Expectation "An expectation was not met.";
    E0609 Simultaneous "A variable is accessed while it is being modified.";
    E0610 NotFinite "A value or a derivative became infinite or NaN.";
    E0611 WrongDerivative "A registered derivative or transpose is incorrect.";
    E0612 Kink "A function is differentiated at a kink.";
    E0613 Shapes "The shapes of tensors do not fit an operation.";
    E0620 TapeLimit "The derivative needs more memory than allowed.";
    E0621 MemoryLimit "The program needs more memory than allowed.";
    E0630 DepthLimit "Calls are nested too deeply.";
    E0640 StepLimit "The program took more steps than allowed.";
    E0641 TimeLimit "The program ran longer than allowed.";
    E0650 Interrupted "The program was interrupted.";

    E0900 Input "A file or stream could not be read or written.";
    E0901 BadRow "A row of a data file is malformed.";
    E0902 Forbidden "The program is not allowed to access a file.";
    E0999 Internal "dscript itself has a bug.";

    W0701 ZeroDerivative "A derivative is always zero.";
    W0702 NoDerivativeProperty "A stored property has no derivative.";
    W0703 ImmutableProperty "An immutable stored property has no derivative.";
    W0704 AffineAsLinear "An affine function is used as a linear one.";
    W0705 Unused "A result is unused, or code has no effect.";
    W0706 Unreachable "Code is never executed.";
    W0707 EndlessRecursion "A function calls itself on every path.";
    W0708 NeverMutated "A variable could be a constant.";
    W0709 UnusedVariable "A variable is never read.";
    W0710 FixedCast "A cast always succeeds or always fails.";
    W0711 InheritedDerivative "A function inherits a derivative that was registered for another function.";
    W0712 NotLinearDerivative "A registered derivative is not linear.";
    W0713 TruncatedQuotient "A quotient of integers drops the remainder.";
    W0714 OtherMeaning "A notation of another language has another meaning here.";
}
