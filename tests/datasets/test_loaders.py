import re

import numpy as np
import pytest
from scipy import sparse

from singleindex.datasets import (
    TEXT_SETS,
    load_atp,
    load_epinions,
    load_epinions_cut,
    load_flags,
    load_flixster_standin,
    load_text,
)
from singleindex.datasets._files import find_file
from singleindex.datasets._loaders import ATP, FLAGS

# n, d, rows of class 1, as the READMEs of the data give them.
TEXT_SIZES = {
    "link": (1051, 1840, 230),
    "page": (1051, 3000, 230),
    "ath-rel": (1427, 17785, 628),
    "aut-mot": (1986, 16347, 996),
    "cryp-ele": (1975, 22293, 984),
    "mac-win": (1946, 7511, 985),
}
EMPTY_ROWS = {"link": 5, "page": 5, "ath-rel": 43, "aut-mot": 82, "cryp-ele": 57, "mac-win": 0}


# --- text ----------------------------------------------------------------------------------


def test_text_sets_are_those_of_the_paper():
    assert set(TEXT_SETS) == set(TEXT_SIZES)


@pytest.mark.parametrize("name", TEXT_SETS)
def test_text_matches_the_readme(paper_data, name):
    bunch = paper_data(load_text, name)
    n, d, n_ones = TEXT_SIZES[name]
    assert sparse.isspmatrix_csr(bunch.data)
    assert bunch.data.shape == (n, d)
    assert bunch.data.dtype == np.float64
    assert bunch.target.shape == (n,)
    assert bunch.target.dtype == np.int64
    np.testing.assert_array_equal(np.bincount(bunch.target), [n - n_ones, n_ones])
    assert len(bunch.target_names) == 2
    assert bunch.DESCR


@pytest.mark.parametrize("name", TEXT_SETS)
def test_tfidf_rows_have_length_one_or_are_empty(paper_data, name):
    X = paper_data(load_text, name).data
    lengths = np.sqrt(X.multiply(X).sum(axis=1)).A1
    assert np.count_nonzero(lengths == 0) == EMPTY_ROWS[name]
    np.testing.assert_allclose(lengths[lengths > 0], 1.0, rtol=1e-6)


def test_counts_share_the_words_of_tfidf(paper_data):
    counts, tfidf = (paper_data(load_text, "ath-rel", weighting=w) for w in ("counts", "tfidf"))
    np.testing.assert_array_equal(counts.feature_names, tfidf.feature_names)
    np.testing.assert_array_equal(counts.data.indices, tfidf.data.indices)
    np.testing.assert_array_equal(counts.data.data, np.round(counts.data.data))
    assert counts.data.data.min() == 1
    assert set(counts.split) == {"train", "test"}


def test_counts_of_mac_win_are_said_not_to_be_the_paper_s(paper_data):
    bunch = paper_data(load_text, "mac-win", weighting="counts")
    assert bunch.data.shape == (1946, 53614)
    np.testing.assert_array_equal(np.bincount(bunch.target), [961, 985])
    assert "not the 7511 of the paper" in bunch.DESCR


@pytest.mark.parametrize("name", ["link", "page"])
def test_webkb_has_no_counts(name):
    with pytest.raises(ValueError, match="use weighting='tfidf'"):
        load_text(name, weighting="counts")


def test_unknown_text_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="'ath-rel'"):
        load_text("rel-ath")
    with pytest.raises(ValueError, match="'tfidf', 'counts'"):
        load_text("ath-rel", weighting="binary")


# --- multi-output --------------------------------------------------------------------------


def read_by_hand(source, name):
    """Read the names and the numbers of an ARFF file without scipy's reader, which the loaders use."""
    head, _, body = find_file(source, name).read_text().partition("@data")
    words = re.findall(r"^@attribute\s+(\S+)", head, re.MULTILINE)
    rows = [line.split(",") for line in body.splitlines() if line.strip()]
    return [word.strip("\"'") for word in words], np.array(rows, dtype=float)


@pytest.mark.parametrize(("name", "n"), [("atp7d", 296), ("atp1d", 337)])
def test_atp_matches_the_readme_and_the_file(paper_data, name, n):
    bunch = paper_data(load_atp, name)
    assert bunch.data.shape == (n, 411)
    assert bunch.target.shape == (n, 6)
    assert all(target.startswith("LBL") for target in bunch.target_names)
    names, table = read_by_hand(ATP, f"{name}.arff")
    assert [*bunch.feature_names, *bunch.target_names] == names
    np.testing.assert_array_equal(np.hstack([bunch.data, bunch.target]), table)


def test_atp_knows_two_names():
    with pytest.raises(ValueError, match="'atp7d', 'atp1d'"):
        load_atp("atp30d")


@pytest.mark.parametrize(
    ("split", "n", "file"),
    [
        (None, 194, "flags.arff"),
        ("train", 129, "flags-train.arff"),
        ("test", 65, "flags-test.arff"),
    ],
)
def test_flags_match_the_readme_and_the_file(paper_data, split, n, file):
    bunch = paper_data(load_flags, split)
    assert bunch.data.shape == (n, 43)
    assert bunch.raw_data.shape == (n, 19)
    assert bunch.target.shape == (n, 7)
    assert bunch.target_names == ["red", "green", "blue", "yellow", "white", "black", "orange"]
    names, table = read_by_hand(FLAGS, file)
    assert [*bunch.raw_feature_names, *bunch.target_names] == names
    np.testing.assert_array_equal(np.hstack([bunch.raw_data, bunch.target]), table)


def test_flags_groups_are_the_original_features(paper_data):
    bunch = paper_data(load_flags)
    assert bunch.groups.shape == bunch.feature_names.shape == (43,)
    np.testing.assert_array_equal(np.unique(bunch.groups), np.arange(19))
    origin = [name.partition("=")[0] for name in bunch.feature_names]
    np.testing.assert_array_equal(origin, bunch.raw_feature_names[bunch.groups])


def test_flags_one_hot_columns_say_what_the_codes_say(paper_data):
    bunch = paper_data(load_flags)
    for j, name in enumerate(bunch.feature_names):
        raw = bunch.raw_data[:, bunch.groups[j]]
        _, is_category, category = name.partition("=")
        np.testing.assert_array_equal(bunch.data[:, j], raw == float(category) if is_category else raw)
    wide = np.bincount(bunch.groups)[bunch.groups] > 1
    np.testing.assert_array_equal(bunch.data[:, wide].sum(axis=1), np.full(194, 4.0))


def test_flags_split_is_named():
    with pytest.raises(ValueError, match="'train', 'test'"):
        load_flags("validation")


# --- matrix completion ---------------------------------------------------------------------


def test_epinions_matches_the_readme(paper_data):
    bunch = paper_data(load_epinions)
    assert bunch.data.shape == (664824, 2)
    assert np.unique(bunch.data[:, 0]).size == 40163
    assert np.unique(bunch.data[:, 1]).size == 139738
    np.testing.assert_array_equal(np.unique(bunch.target), [1, 2, 3, 4, 5])
    assert bunch.trust.shape == (487183, 2)
    assert np.unique(bunch.trust[:, 0]).size == 33960
    assert np.unique(bunch.trust).size == 49288
    assert min(bunch.data.min(), bunch.trust.min()) == 0
    assert (bunch.data < bunch.shape).all()
    assert bunch.trust.max() < bunch.shape[0]
    assert np.unique(bunch.data @ [bunch.shape[1], 1]).size == 664824


def test_epinions_cut_keeps_the_most_active(paper_data):
    whole, cut = paper_data(load_epinions), paper_data(load_epinions_cut)
    assert cut.shape == (1000, 1000)
    assert cut.pairs.shape == (34445, 2)
    assert np.unique(cut.pairs[:, 0]).size == 990
    assert np.count_nonzero(cut.target > 3) == 22150
    counts = np.bincount(whole.data[:, 0], minlength=whole.shape[0])
    assert counts[cut.user_ids].min() >= np.sort(counts)[-1000]
    graph = cut.row_graph
    assert graph.nnz == 2 * 29943
    assert (graph != graph.T).nnz == 0
    assert not graph.diagonal().any()
    assert (graph.data == 1).all()
    # Each rating is one of the whole set.
    whole_ratings = set(zip(*whole.data.T.tolist(), whole.target.tolist(), strict=True))
    users, items = cut.user_ids[cut.pairs[:, 0]], cut.item_ids[cut.pairs[:, 1]]
    assert whole_ratings.issuperset(zip(users.tolist(), items.tolist(), cut.target.tolist(), strict=True))


@pytest.mark.parametrize("size", [0, 2.5])
def test_epinions_cut_refuses_sizes_that_are_none(size):
    with pytest.raises(ValueError, match="n_users must be an integer"):
        load_epinions_cut(size)


def test_flixster_standin_matches_the_readme_and_says_what_it_is(paper_data):
    bunch = paper_data(load_flixster_standin)
    assert bunch.data.shape == (26173, 2)
    assert np.count_nonzero(bunch.split == "train") == 23556
    assert np.count_nonzero(bunch.split == "test") == 2617
    np.testing.assert_array_equal(np.unique(bunch.target), np.arange(1, 11) / 2)
    assert bunch.user_graph.shape == (29677, 2)
    assert bunch.item_graph.shape == (25459, 2)
    assert (bunch.data < bunch.shape).all()
    assert "not the paper's" in bunch.DESCR
    assert "no friendships" in bunch.DESCR


# --- files ---------------------------------------------------------------------------------

MISSING = [
    (load_text, ("ath-rel",), "20news/alt.atheism.bydate.jsonl.gz", "qwone.com"),
    (load_text, ("mac-win", "counts"), "20news/comp.sys.mac.hardware.18828.jsonl.gz", "qwone"),
    (load_text, ("link",), "webkb_course/WebKB.mat", "github.com/ChuanbinZhang"),
    (load_text, ("mac-win",), "mac_win/text1.mat", "github.com/edche"),
    (load_atp, (), "atp/atp7d.arff", "github.com/tsoumakas/mulan"),
    (load_flags, ("test",), "flags/flags-test.arff", "github.com/tsoumakas/mulan"),
    (load_epinions, (), "epinions/ratings_data.txt.gz", "trustlet.org"),
    (load_epinions_cut, (), "epinions/ratings_data.txt.gz", "trustlet.org"),
    (load_flixster_standin, (), "flixster_monti3000/ratings.csv.gz", "riannevdberg/gc-mc"),
]


@pytest.mark.parametrize(("loader", "args", "file", "published"), MISSING)
def test_a_missing_file_is_named_with_its_source_and_place(
    loader, args, file, published, tmp_path, monkeypatch
):
    monkeypatch.setattr("singleindex.datasets._files.shared_folders", list)
    monkeypatch.setenv("SINGLEINDEX_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError) as caught:
        loader(*args)
    message = str(caught.value)
    assert file in message
    assert published in message
    assert str(tmp_path) in message
    assert f"$SINGLEINDEX_DATA/{file}" in message
    assert f"shared/data/{file}" in message


def test_the_variable_comes_before_the_folders(tmp_path, monkeypatch):
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "flags.arff").write_text("own")
    monkeypatch.setenv("SINGLEINDEX_DATA", str(tmp_path))
    assert find_file(FLAGS, "flags.arff").read_text() == "own"


def test_shared_data_beside_a_parent_is_found(tmp_path, monkeypatch):
    folder = tmp_path / "shared" / "data" / "flags"
    checkout = tmp_path / "checkout" / "examples"
    folder.mkdir(parents=True)
    checkout.mkdir(parents=True)
    (folder / "flags.arff").write_text("beside")
    monkeypatch.chdir(checkout)
    monkeypatch.delenv("SINGLEINDEX_DATA", raising=False)
    assert find_file(FLAGS, "flags.arff").read_text() == "beside"
    # Also where the variable names a folder that does not have the file.
    monkeypatch.setenv("SINGLEINDEX_DATA", str(tmp_path))
    assert find_file(FLAGS, "flags.arff").read_text() == "beside"
