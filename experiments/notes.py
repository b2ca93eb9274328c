"""What a reader has to know of how each part was run: the recipe, no results."""

from . import completion, multi_output
from .baselines.neural import MAX_EPOCHS, MOST_WEIGHTS, PATIENCE, SHAPES
from .classifiers import N_FOLDS, N_LEVELS, SLISOTRON_ITERATIONS, STEP_SIZES, WEAKEST
from .figure import ALPHA, CORRELATION, DIMENSIONS, N_ITER, N_SAMPLES, PENALTY
from .table3 import N_KNOWN


def listed(values) -> str:
    return ", ".join(f"{value:g}" for value in values)


SHAPE_NAMES = ", ".join(f"({n}, {rate:g})" for n, rate in SHAPES)
TABLE1 = f"""
50-25-25 splits. Every method is fitted to the training part for each of its settings; the settings with
the best AUC on the validation part are fitted once more to training and validation part, and the test
part is looked at once. (The paper does not say whether it fitted again.) **CSI** is the search of this
library, `SingleIndexClassifierCV(dense=True)`, which may take as many features as is best, by AUC in
{N_FOLDS} folds of these same two parts; **CSI (default)** takes many only where they win beyond doubt,
**CSI (at most d/4)** has the paper's sparsities, d/4 to d/1024. **CSI as printed** is Algorithm 1 to the
letter: start not scaled, ridge term of the wrong sign, fixed step.

SLR: L1-logistic regression (liblinear). SQH: L1 squared hinge (liblinear). SLS: least squares with an L1
penalty (scikit-learn), whose solutions are those of the paper's L1 balls. All three have {N_LEVELS}
levels in the scale of the data, from the penalty at which w is zero to {WEAKEST:g} of it, or to the end
of the paper's grid, 2^-10, where that is weaker. Slisotron: stopped after {listed(SLISOTRON_ITERATIONS)}
iterations, whichever is best. CSI as printed: the paper's sparsities d/4 to d/1024, η of
{listed(STEP_SIZES)}, λ = 0.001, T = 50. SLNN: one hidden layer, Adam, (units, learning rate) of
{SHAPE_NAMES}, the widest with at most {MOST_WEIGHTS / 1e6:.0f}
million weights, up to {MAX_EPOCHS} epochs, stopped when the validation AUC has not risen for {PATIENCE};
the number of epochs is kept when fitting again.

L2-logistic and linear SVM: the paper's grid, 2^-10 to 2^10. Boosting: LightGBM on the sparse matrix, the
number of trees by the validation part. Null: the share of the second class. Methods without probabilities
(SQH, SLS, Slisotron, CSI as printed, linear SVM), and SLNN, whose early stopping by AUC leaves its own at
random, get them by Platt's sigmoid on the validation part, for accuracy and log-loss. The paper does not
say whether X held counts or tf-idf weights: both are shown; link and page are published as weights only,
and the counts of mac-win have another d (53614) than the paper's 7511.
"""

TABLE2 = f"""
A group is one feature in all outputs (the L2,1 norm; `RowSparse`). The paper chooses settings on a
validation part, which has 13 rows in flags; here every method chooses in the same {multi_output.N_FOLDS}
folds of training and validation part, and is fitted again to both. Linear is scikit-learn's
`MultiTaskLasso`, Logistic the same norm with logistic loss, both over {len(multi_output.LEVELS)} levels
in the scale of the data, from the penalty at which nothing is in use to {multi_output.LEVELS[-1]:g} of
it, ended where {multi_output.PATIENCE} levels have brought nothing, chosen by MSE (atp7d) and by F1,
micro average (flags); for atp7d Logistic is a curve between the least and the largest price. CSI has
{multi_output.N_GROUPS} groups as in the paper, by hard thresholding, or as many as the default search
prefers; chosen by MSE and, for flags, log-loss. The random forest is there for orientation.

atp7d: 80-10-10. The paper speaks of two targets, the file has six: the first two, and all. It does not
say how y was scaled: the same predictions are measured with y standardised and with y from −1 to 1, both
over the rows that are not for the test. flags: 129 and 65 rows, the published split (where only the folds
differ between seeds) and random ones; nominal features as the 19 integers of the file or as 43 columns.
"""

TABLE3 = f"""
{N_KNOWN} ratings drawn at random to learn from, all others for the test. The paper sets 300 of them aside
to choose settings by; here every method chooses in {completion.N_FOLDS} folds of all {N_KNOWN}. Epinions:
the 1000 users and items with the most ratings, and the users' trust as a graph. The stand-in is a 3000 ×
3000 subset of Flixster **without friendships**, with nearest-neighbour graphs in their place, and must
not be read as the paper's Flixster. The paper binarises “at 3”, without saying on which side a 3 falls:
both are shown.

LS is the paper's least squares with the graph's atomic norm, CSI without effects the same with a learned
link: the paper's comparison. LS with effects and CSI, the default of this library, have an effect of each
user and item beside. The mean of the known ratings, and user and item effects drawn to zero, are what any
method has to beat.
"""

FEATURES = f"""
The splits of Table 1, tf-idf weights, training and validation part to learn from. CSI: the search of
this library with so many features at most, by AUC in {N_FOLDS} folds. SLR: the last w with no more
features along a path of {N_LEVELS} levels in the scale of the data.
"""

FIGURE = f"""
n = {N_SAMPLES} rows, w⋆ with √d entries of N(0, 1), a logistic link, λ = {ALPHA:g}, s = 5√d, {N_ITER}
iterations; independent columns of N(0, 1), as in the paper, and columns with one common factor,
correlation {CORRELATION:g}. The paper names neither its three dimensions nor its step size; here d is
{listed(DIMENSIONS)}, CSI as printed has η = 1, and the steps of this library (X as it is) find their own:
corrected gradient steps, and exact ones, regressions on the working response. With s atoms an exact fit
first takes the support from a soft path, all of it before t = 0. “Soft” has a penalty of {PENALTY:g} of
the largest in place of s, and the same solution for both steps; the first exact step is at t = 0, and
where steps change nothing any more the last one is carried on. The length of w is not identified in a
single-index model, so the distance of directions, ‖w_t/‖w_t‖ − w⋆/‖w⋆‖‖, is shown beside the raw one.
"""

COST = """
Every method with the choice of its settings, on the same split, one after the other in one process and
one thread: only ratios count. Grids differ in size, as they do in the paper. One fit:
`SingleIndexClassifier` with its defaults, and a network of 50 units that is stopped by the validation
part.
"""

LIMITS = """
Flixster: the paper's set, with its friendships, could not be had. A stand-in is shown under its own name.

SLNN: the paper's network (TensorFlow) is replaced by scikit-learn's; its range of units and epochs is
sampled.
"""

NOTES = {
    name: [" ".join(part.split()) for part in text.strip().split("\n\n")]
    for name, text in (
        ("table1", TABLE1),
        ("table2", TABLE2),
        ("table3", TABLE3),
        ("features", FEATURES),
        ("figure", FIGURE),
        ("cost", COST),
        ("limits", LIMITS),
    )
}
