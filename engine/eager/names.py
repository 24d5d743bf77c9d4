"""How PyTorch's graph of functions looks where agrad's ops are cut otherwise: names, edges, what is saved.

agrad builds some functions of PyTorch from several rows, and the other way round. Values and gradients do not depend on
it; what a script sees when it walks the graph, prints a gradient's `grad_fn` or runs backward twice does.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DIV: Final = ("DivBackward0",)
_TWO_DIV: Final = ("DivBackward0", "DivBackward0")

GRADIENTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("AtanBackward0", "AtanhBackward0", "LogBackward0", "Log2Backward0", "Log10Backward0", "Log1PBackward0"), _DIV
    ),
    **dict.fromkeys(("SqrtBackward0", "CumprodBackward0", "XlogyBackward1"), _DIV),
    **dict.fromkeys(("HypotBackward0", "LogaddexpBackward0", "Logaddexp2Backward0"), _TWO_DIV),
    **dict.fromkeys(("XlogyBackward0", "SpecialXlog1PyBackward0"), ("MaskedFillBackward0", "DivBackward0")),
    **dict.fromkeys(("LinalgDetBackward0", "LinalgSlogdetBackward0"), ("LinalgSolveExBackward0",)),
    **dict.fromkeys(("LogitBackward0", "SincBackward0"), ("WhereBackward0",)),
    **{
        f"{name}Backward0": (f"{name}BackwardBackward0",)
        for name in ("Gelu", "Glu", "Hardswish", "LogSigmoid", "Sigmoid", "Softplus", "Tanh", "Elu")
    },
    "CeluBackward0": ("EluBackwardBackward0",),
    "CumsumBackward0": ("FlipBackward0",),
    "DivBackward0": ("DivBackward0", "MulBackward0"),
    "Exp2Backward0": ("MulBackward1",),
    "LinalgMatrixExpBackward0": ("SliceBackward0",),
    "LinalgSolveTriangularBackward0": ("LinalgSolveTriangularBackward0", "TrilBackward0"),
    "LogSoftmaxBackward0": ("LogSoftmaxBackwardDataBackward0",),
    "PowBackward1": ("WhereBackward0", "MulBackward0"),
    "SoftmaxBackward0": ("SoftmaxBackwardDataBackward0",),
    "SortBackward0": ("ScatterBackward0",),
    "UnbindBackward0": ("StackBackward0",),
}
"""For a function: the names of the functions that its gradients have under `create_graph`, one an input."""

WHOLE: Final = _words(
    "AddmmBackward0 AddmvBackward0 AddrBackward0 AngleBackward0 AsStridedBackward0 BaddbmmBackward0 "
    "BinaryCrossEntropyBackward0 BinaryCrossEntropyWithLogitsBackward0 BlockDiagBackward0 CdistBackward0 "
    "CholeskyInverseBackward0 CholeskySolveBackward0 CtcLossBackward0 DistBackward0 FftC2RBackward0 "
    "FftR2CBackward0 GluBackward0 HuberLossBackward0 LinalgCrossBackward0 LinalgLstsqBackward0 "
    "LinalgLuBackward0 MaskedScatterBackward0 MseLossBackward0 MultiMarginLossBackward0 "
    "MultilabelMarginLossBackward0 NativeBatchNormBackward0 NativeGroupNormBackward0 NllLossBackward0 "
    "PdistBackward0 PolarBackward0 RenormBackward0 ScaledDotProductFlashAttentionForCpuBackward0 "
    "SmoothL1LossBackward0 SoftMarginLossBackward0 TakeBackward0 UnfoldBackward0 ViewAsComplexBackward0 "
    "ViewAsRealBackward0"
)
"""Functions that are one in PyTorch and several rows here."""

WITHIN: Final = frozenset(("LogSoftmaxBackward0", "TBackward0"))
"""Functions that PyTorch shows although only another function of the table calls them."""

WITH_NUMBERS: Final = frozenset(("AddBackward0", "DivBackward0", "MulBackward0", "SubBackward0", "WhereBackward0"))
"""Functions that keep a place for a number among their inputs."""

NUMBER_LAST: Final = frozenset(("AddBackward0", "MulBackward0"))
"""Functions whose number comes last, on whichever side it was written."""

ONLY_VARIABLES: Final = frozenset(
    ("MaskedFillBackward0", "ScatterBackward1", "IndexFillBackward0", "CholeskyInverseBackward0", "GatherBackward0")
)
"""Functions that keep no place for a constant."""

PLACES: Final[dict[str, int]] = {
    "ClampBackward0": 3,
    "ConvolutionBackward0": 3,
    "NativeBatchNormBackward0": 3,
    "NativeGroupNormBackward0": 3,
    "NativeLayerNormBackward0": 3,
}
"""Functions that keep places for inputs that were not given."""

ALWAYS_SAVE: Final = _words(
    "AdaptiveAvgPool2DBackward0 AvgPool2DBackward0 ComplexBackward0 DivBackward0 DivBackward2 FftR2CBackward0 "
    "PowBackward0 PowBackward1 SgnBackward0 VarMeanBackward0"
)
"""Functions that save an input although agrad's rule does without."""

NEVER_SAVE: Final = frozenset(("AsStridedBackward0", "CopyBackwards", "CopySlices", "LerpBackward0", "UnfoldBackward0"))
"""Functions whose rule refers to no value, only to places."""

SAVED: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        _words(
            "Expm1Backward0 LogSoftmaxBackward0 ReciprocalBackward0 ReluBackward0 RsqrtBackward0 SigmoidBackward0 "
            "SqrtBackward0 TanhBackward0"
        ),
        ("result",),
    ),
    **dict.fromkeys(
        _words(
            "AmaxBackward0 AminBackward0 LinalgVectorNormBackward0 LogsumexpBackward0 PowBackward2 ProdBackward0 "
            "ProdBackward1 SgnBackward0"
        ),
        ("self", "result"),
    ),
    **dict.fromkeys(
        _words("KthvalueBackward0 MaxBackward0 MedianBackward1 MinBackward0 ModeBackward0 SortBackward0"), ()
    ),
    "DivBackward0": ("self if other", "other"),
    "DivBackward2": ("self", "other"),
    "ErfinvBackward0": ("self",),
    "FmodBackward1": ("other",),
    "HypotBackward0": ("self", "other", "result"),
    "LerpBackward0": (),
}
"""For functions whose rule reads other values than PyTorch saves: those that PyTorch saves."""

SAVES_INPUTS: Final = _words(
    "AddmmBackward0 CdistBackward0 DistBackward0 HuberLossBackward0 LinalgCrossBackward0 MseLossBackward0 "
    "PdistBackward0 SmoothL1LossBackward0 SoftMarginLossBackward0"
)
"""Functions of several rows here that save what they were given."""

ANCHORED: Final[dict[str, str]] = {
    "HardshrinkBackward0": "HardshrinkBackwardBackward0",
    "HardtanhBackward0": "HardtanhBackwardBackward0",
    "LeakyReluBackward0": "LeakyReluBackwardBackward0",
    "ReluBackward0": "ThresholdBackwardBackward0",
    "SoftshrinkBackward0": "SoftshrinkBackwardBackward0",
    "ThresholdBackward0": "ThresholdBackwardBackward0",
}
"""Functions whose gradient requires one itself, although it is zero almost everywhere; and that gradient's function."""

MASKED: Final = _words(
    "ClampBackward0 ClampBackward1 ClampMaxBackward0 ClampMinBackward0 HardshrinkBackward0 HardtanhBackward0 "
    "ReluBackward0 SoftshrinkBackward0 ThresholdBackward0"
)
"""Functions that choose between the gradient and zero, and so let nothing infinite through where they choose zero."""

INVERSE: Final[dict[str, str]] = {
    "LogSoftmaxBackward0": "clone",
    "ReluBackward0": "clone",
    "SigmoidBackward0": "logit",
    "SqrtBackward0": "square",
    "TanhBackward0": "atanh",
    "Expm1Backward0": "log1p",
}
"""Functions that keep their result alone: what gives back an input of the same slope, where that was overwritten."""

CPP: Final = frozenset(("CopyBackwards", "CopySlices"))
"""Functions whose name is written with that of PyTorch's C++ library."""
