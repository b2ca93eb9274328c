"""What a reader has to know of how each part was run: the recipe, no results."""

from .baselines.neural import MAX_EPOCHS, MOST_WEIGHTS, PATIENCE, SHAPES
from .classifiers import SLISOTRON_ITERATIONS, STEP_SIZES
from .figure import ALPHA, DIMENSIONS, N_ITER, N_SAMPLES

NOTES = {
    "table1": [
        "50-25-25 splits. Every method is fitted to the training part for each of its settings; the settings with "
        "the best AUC on the validation part are fitted once more to training and validation part, and the test part "
        "is looked at once. (The paper does not say whether it fitted again.) **CSI** is the search of this library, "
        "`SingleIndexClassifierCV`, which chooses by AUC in five folds of these same two parts and averages the folds' "
        "w; **CSI, one validation part** is the same search with the validation part as its only fold, which is "
        "what the other columns have. **CSI as printed** is Algorithm 1 to the letter: start not scaled, "
        "ridge term of the wrong sign, fixed step.",
        "SLR: L1-logistic regression, λ from 2^-10 to 2^10 (liblinear). SQH: L1 squared hinge, the same grid "
        "(liblinear). SLS: least squares over an L1 ball of radius 2^-5 to 2^20, fully corrective Frank–Wolfe "
        "(`experiments/baselines`). Slisotron: stopped after "
        f"{', '.join(map(str, SLISOTRON_ITERATIONS))} iterations, whichever is best. CSI as printed: the paper's "
        f"sparsities d/4 to d/1024, η of {', '.join(f'{eta:g}' for eta in STEP_SIZES)}, λ = 0.001, T = 50. SLNN: one "
        f"hidden layer, Adam, (units, learning rate) of {', '.join(f'({n}, {rate:g})' for n, rate in SHAPES)}, the "
        f"widest with at most {MOST_WEIGHTS / 1e6:.0f} million weights, up to {MAX_EPOCHS} epochs, stopped when the "
        f"validation AUC has not risen for {PATIENCE}; the number of epochs is kept when fitting again.",
        "L2-logistic and linear SVM: the same grid as SLR. Boosting: LightGBM on the sparse matrix, the number of trees "
        "by the validation part. Null: the share of the second class. Methods without probabilities (SQH, SLS, "
        "Slisotron, CSI as printed, linear SVM) get them by Platt's sigmoid on the validation part, for accuracy and "
        "log-loss. The paper does not say whether X held counts or tf-idf weights: both are shown; link and "
        "page are published as weights only, and the counts of mac-win have another d (53614) than the paper's 7511.",
    ],
    "table2": [
        "A group is one feature in all outputs (the L2,1 norm; `RowSparse`). Settings are chosen on the validation part "
        "by MSE (atp7d) and F1, micro average (flags), and fitted again to training and validation part. Linear is "
        "scikit-learn's `MultiTaskLasso`, Logistic the same norm with logistic loss, both over 2^-10 to 2^10; for atp7d "
        "Logistic is a curve between the least and the largest price. Five groups as in the paper, or as many as the "
        "validation part prefers. The random forest is there for orientation.",
        "atp7d: 80-10-10. The paper speaks of two targets, the file has six: the first two, and all. It does not say how y "
        "was scaled: both scalings are shown. flags: 129 and 65 rows, the published split and random ones, a tenth "
        "of the 129 set aside for validation; nominal features as the 19 integers of the file or as 43 columns.",
    ],
    "table3": [
        "3000 ratings drawn at random, 300 of them for validation, all others for the test. Epinions: the 1000 users and "
        "items with the most ratings, and the users' trust as a graph. The stand-in is a 3000 × 3000 subset of Flixster "
        "**without friendships** and must not be read as the paper's Flixster. The paper binarises “at 3”, without saying "
        "on which side a 3 falls: both are shown. The mean of the training ratings, and user and item effects drawn to "
        "zero, are what any method has to beat.",
    ],
    "figure": [
        f"n = {N_SAMPLES} rows of N(0, I), w* with √d entries of N(0, 1), a logistic link, λ = {ALPHA:g}, s = 5√d, "
        f"{N_ITER} iterations. The paper names neither its three dimensions nor its step size; here d is "
        f"{', '.join(map(str, DIMENSIONS))}, CSI as printed has η = 1, and corrected CSI (this library, X as it is) finds "
        "its own. The length of w is not identified in a single-index model, so the distance of directions, "
        "‖w_t/‖w_t‖ − w*/‖w*‖‖, is shown beside the raw one.",
    ],
    "cost": [
        "Every method with the choice of its settings, on the same split, one after the other in one process and one "
        "thread: only ratios count. Grids differ in size, as they do in the paper.",
    ],
    "limits": [
        "Flixster: the paper's set, with its friendships, could not be had. A stand-in is shown under its own name.",
        "SLNN: the paper's network (TensorFlow) is replaced by scikit-learn's; its range of units and epochs is sampled.",
    ],
}
