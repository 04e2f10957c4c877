//! Diagnostic codes: one entry per code, with a page in `docs/diagnostics.md`. Numbers: `E01xx` syntax, `E02xx` names and types, `E03xx`
//! differentiation, `E06xx` run time, `E09xx` input and output; `W07xx` warnings.

/// What a code means.
#[derive(Debug)]
pub struct CodeInfo {
    /// The code.
    pub code: Code,
    /// Its number, as printed.
    pub number: &'static str,
    /// One sentence on what it means.
    pub summary: &'static str,
}

macro_rules! diagnostics {
    ($($number:ident $name:ident $summary:literal;)*) => {
        /// The number of a diagnostic.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $summary] $name),* }

        /// Every diagnostic that there is, in the order of the table.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo { code: Code::$name, number: stringify!($number), summary: $summary }),*];

        impl Code {
            /// The number as printed: `E0301`.
            pub fn number(self) -> &'static str {
                match self { $(Code::$name => stringify!($number)),* }
            }
        }
    };
}

diagnostics! {
    E0100 Syntax "The text cannot be read as a program.";
    E0101 UnclosedBracket "A bracket was opened and not closed, or closed by another kind.";
    E0102 UnterminatedString "A string literal does not end.";
    E0103 TooDeep "Brackets or expressions are nested too deeply to be read.";
    E0104 InvalidLiteral "A literal cannot be read.";
    E0105 UnknownOperator "An operator that nobody declared.";
    E0106 AmbiguousProduct "A product written by juxtaposition needs brackets here.";
    E0107 ExpectedBrace "A body in braces is missing.";

    E0200 Types "A program whose types do not fit.";
    E0201 Mismatch "A value has one type where another one is needed.";
    E0202 UnknownName "No such name in scope.";
    E0203 UnknownMember "The type has no such member.";
    E0204 UnknownType "No such type in scope.";
    E0205 WrongArguments "A call has wrong, missing or extra arguments or labels.";
    E0206 NoOverload "None of the candidates takes these arguments.";
    E0207 Ambiguous "Several candidates fit equally well.";
    E0208 NotConforming "A type does not conform to a protocol that is needed.";
    E0209 Immutable "Something immutable is changed.";
    E0210 MissingReturn "A function ends without returning a value.";
    E0211 CannotInfer "A type could not be inferred.";
    E0212 OptionalNotUnwrapped "An optional value must be unwrapped first.";
    E0213 Redeclared "A name is declared twice in one scope.";
    E0214 NotExhaustive "A switch does not cover every value.";
    E0215 WrongContext "A statement stands where it has no meaning.";
    E0216 NotCallable "The value cannot be called.";
    E0217 MissingRequirement "A conformance lacks something that the protocol requires.";
    E0218 Unsupported "A construct that dscript does not have yet.";
    E0219 Uninitialized "A value is used before it was given one.";
    E0220 Inheritance "A class does not inherit as it says.";
    E0221 TooLarge "A type or a function is larger than the machine carries.";
    E0222 Import "A file that cannot be imported.";
    E0223 Inaccessible "A declaration that others keep to themselves.";
    E0224 Unhandled "An error can be thrown where it is not marked with 'try', or not handled.";
    E0225 Overlapping "A call changes one variable in two ways at once.";
    E0226 EscapingCapture "A closure that may outlive a call captures what belongs to the call.";

    E0301 NotDifferentiable "A function that must be differentiable is not.";
    E0302 NoDerivative "A function on the way has no derivative.";
    E0303 WithRespectTo "A parameter that cannot be differentiated with respect to.";
    E0304 NotLinear "A function that must be linear is not.";
    E0305 Registration "A registered derivative or transpose does not fit its original.";
    E0306 OpaqueClosure "A plain function value cannot be made differentiable.";

    E0600 Trap "The program stopped because something went wrong.";
    E0601 IndexOutOfRange "An index lies outside of its collection.";
    E0602 Overflow "An integer operation went beyond the range of its type.";
    E0603 UnexpectedNil "An optional without a value was unwrapped.";
    E0604 DivisionByZero "An integer was divided by zero.";
    E0605 PreconditionFailed "A precondition did not hold.";
    E0606 InvalidRange "A range ends before it starts.";
    E0607 InvalidConversion "A value has no counterpart in the other type.";
    E0608 Expectation "An expectation was not met.";
    E0609 Simultaneous "Something is accessed while it is modified elsewhere.";
    E0610 NotFinite "A value or a derivative became infinite or NaN.";
    E0611 WrongDerivative "A registered derivative or transpose is not that of its function.";
    E0612 Kink "A function is differentiated at a kink.";
    E0620 TapeLimit "The derivative needs more memory than allowed.";
    E0621 MemoryLimit "The program needs more memory than allowed.";
    E0630 DepthLimit "Recursion went too deep.";
    E0640 StepLimit "The program took more steps than allowed.";
    E0641 TimeLimit "The program ran longer than allowed.";
    E0650 Interrupted "The program was interrupted.";

    E0900 Input "Something could not be read or written.";
    E0901 BadRow "A row of a data file is malformed.";
    E0902 Forbidden "A file that the program may not touch.";
    E0999 Internal "A bug of dscript itself.";

    W0701 ZeroDerivative "A derivative is always zero.";
    W0702 NoDerivativeProperty "A stored property has no derivative.";
    W0703 ImmutableProperty "A stored property cannot move.";
    W0704 AffineAsLinear "An affine function is used as a linear one.";
    W0705 Unused "Something has no effect.";
    W0706 Unreachable "Code that is never executed.";
    W0707 EndlessRecursion "A function calls itself on every path.";
    W0708 NeverMutated "A variable that could be a constant.";
    W0709 UnusedVariable "A variable that nobody reads.";
    W0710 FixedCast "A cast that always succeeds, or always fails.";
    W0711 InheritedDerivative "A function inherits a derivative that was registered for another one.";
    W0712 NotLinearDerivative "A registered derivative is not linear.";
    W0713 TruncatedQuotient "A quotient of two integer literals drops its remainder.";
}
