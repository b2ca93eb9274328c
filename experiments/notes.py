"""What a reader has to know of how each part was run: the recipe, no results."""

from . import completion, multi_output
from .baselines.neural import MAX_EPOCHS, MOST_WEIGHTS, PATIENCE, SHAPES
from .classifiers import GRID, N_FOLDS, SLISOTRON_ITERATIONS, STEP_SIZES
from .figure import ALPHA, DIMENSIONS, N_ITER, N_SAMPLES
from .table3 import N_KNOWN


def listed(values) -> str:
    return ", ".join(f"{value:g}" for value in values)


TABLE1 = f"""
50-25-25 splits. Every method is fitted to the training part for each of its settings; the settings with
the best AUC on the validation part are fitted once more to training and validation part, and the test
part is looked at once. (The paper does not say whether it fitted again.) **CSI** is the search of this
library, `SingleIndexClassifierCV`, with its defaults, by AUC in {N_FOLDS} folds of these same two parts;
**CSI (one validation part)** is a search with the validation part as its only fold, which is what the other
columns have, over column scales of {listed(GRID["scale_power"])} and ridges of {listed(GRID["alpha"])}.
**CSI as printed** is Algorithm 1 to the letter: start not scaled,
ridge term of the wrong sign, fixed step.

SLR: L1-logistic regression, λ from 2^-10 to 2^10 (liblinear). SQH: L1 squared hinge, the same grid
(liblinear). SLS: least squares over an L1 ball of radius 2^-5 to 2^20, by a fully corrective Frank–Wolfe
method (`experiments/baselines`). Slisotron: stopped after {listed(SLISOTRON_ITERATIONS)} iterations,
whichever is best. CSI as printed: the paper's sparsities d/4 to d/1024, η of {listed(STEP_SIZES)}, λ =
0.001, T = 50. SLNN: one hidden layer, Adam, (units, learning rate) of
{", ".join(f"({n}, {rate:g})" for n, rate in SHAPES)}, the widest with at most {MOST_WEIGHTS / 1e6:.0f}
million weights, up to {MAX_EPOCHS} epochs, stopped when the validation AUC has not risen for {PATIENCE};
the number of epochs is kept when fitting again.

L2-logistic and linear SVM: the same grid as SLR. Boosting: LightGBM on the sparse matrix, the number of
trees by the validation part. Null: the share of the second class. Methods without probabilities (SQH,
SLS, Slisotron, CSI as printed, linear SVM), and SLNN, whose early stopping by AUC leaves its own at
random, get them by Platt's sigmoid on the validation part, for accuracy and log-loss. The paper does not
say whether X held counts or tf-idf weights: both are shown; link and page are published as weights only,
and the counts of mac-win have another d (53614) than the paper's 7511.
"""

TABLE2 = f"""
A group is one feature in all outputs (the L2,1 norm; `RowSparse`). The paper chooses settings on a
validation part, which has 13 rows in flags; here every method chooses in the same {multi_output.N_FOLDS}
folds of training and validation part, and is fitted again to both. Linear is scikit-learn's
`MultiTaskLasso`, Logistic the same norm with logistic loss, both over 2^-10 to 2^10, chosen by MSE
(atp7d) and by F1, micro average (flags); for atp7d Logistic is a curve between the least and the largest
price. CSI has {multi_output.N_GROUPS} groups as in the paper, by hard thresholding, or as many as the
default search prefers; chosen by MSE and, for flags, log-loss. The random forest is there for
orientation.

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

FIGURE = f"""
n = {N_SAMPLES} rows of N(0, I), w⋆ with √d entries of N(0, 1), a logistic link, λ = {ALPHA:g}, s = 5√d,
{N_ITER} iterations. The paper names neither its three dimensions nor its step size; here d is
{listed(DIMENSIONS)}, CSI as printed has η = 1, and corrected CSI (this library, X as it is) finds its
own. The length of w is not identified in a single-index model, so the distance of directions, ‖w_t/‖w_t‖
− w⋆/‖w⋆‖‖, is shown beside the raw one.
"""

COST = """
Every method with the choice of its settings, on the same split, one after the other in one process and
one thread: only ratios count. Grids differ in size, as they do in the paper.
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
        ("figure", FIGURE),
        ("cost", COST),
        ("limits", LIMITS),
    )
}
