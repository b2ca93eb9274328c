"""The host's part of an iteration on a GPU, with a stand-in for the device."""

import struct
import sys

import numpy as np
import pytest
from gpu_stand_in import StandIn

from singleindex.design import Visit
from singleindex.design.gpu import as_gpu_design, kernels
from singleindex.design.gpu.arrays import cupy
from singleindex.link import MonotoneCurve

KERNELS = ["make_links", "sweep", "add_parts", "finish", "visit_rows"]
CURVE = MonotoneCurve([-1.0, 0.5, 2.0], [0.0, 0.25, 1.0])


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", StandIn())
    caches = cupy, kernels.kernel, kernels._sweep_kernel, kernels.n_multiprocessors
    for one in caches:
        one.cache_clear()
    yield sys.modules["cupy"]
    for one in caches:
        one.cache_clear()


def make_design(cp, n=100, d=64):
    room = cp.empty(n * d * 4 + 16, dtype=np.uint8)
    begin = -room.ctypes.data % 16  # numpy does not align as the device does
    return as_gpu_design(room[begin : begin + n * d * 4].view(np.float32).reshape(n, d))


def test_an_iteration_is_recorded_once_for_each_turn(stand_in):
    design, y = make_design(stand_in), np.zeros(100)
    W = [*np.eye(2, 64)]
    visits = [Visit(W[k], W[1 - k], link=CURVE, n_bins=16) for k in (0, 1)]
    design.sweep(Visit(W[1], W[1], link=CURVE, n_bins=16), y)
    assert stand_in.calls == KERNELS
    for k in range(7):
        design.sweep(visits[k % 2], y)
    graphs = design.iteration_of([y], [None], 16).graphs
    assert sorted(graphs) == [(0, True), (1, True)]
    assert all(graph.kernels == KERNELS for graph in graphs.values())
    assert sum(graph.n_launched for graph in graphs.values()) == 7


def test_links_with_more_points_than_there_is_room_for_are_recorded_anew(stand_in):
    design, y, w = make_design(stand_in), np.zeros(100), np.ones(64)
    x = np.linspace(0, 1, 3001)
    bent = MonotoneCurve(x, x**2)
    for _ in range(3):
        design.sweep(Visit(w, w, link=CURVE, n_bins=16), y)
    iteration = design.iteration_of([y], [None], 16)
    before = dict(iteration.graphs)
    design.sweep(Visit(w, w, link=bent, n_bins=16), y)
    assert iteration.outbox.n_points >= 3001
    assert not {*before.values()} & {*iteration.graphs.values()}


def test_coefficients_and_links_are_sent_as_the_kernels_read_them(stand_in):
    design, y = make_design(stand_in), np.zeros(100)
    w = np.random.default_rng(0).standard_normal(64)
    design.sweep(Visit(w, w, 0.1, 0.2, 0.3, CURVE, n_bins=16, exponent=-4), y)
    outbox = design.iteration_of([y], [None], 16).outbox
    assert np.array_equal(outbox.models.w[0], w)
    sent = np.asarray(outbox.sent)
    corners, points, cells, n_corners, n_cells, _, centre = struct.unpack_from("<QQQiidd", sent)
    assert (n_corners, centre) == (3, 0.1)
    begin = points - outbox.sent.data.ptr
    x, y_of = sent[begin:].view(np.float64)[:3], sent[begin + 8 * outbox.n_points :].view(np.float64)[:3]
    assert np.array_equal(x, CURVE.x)
    assert np.array_equal(y_of, CURVE.y)
    end = outbox.sent.data.ptr + len(sent)
    assert points + 16 * outbox.n_points <= corners
    assert corners + 32 * outbox.n_points <= cells
    assert cells + 4 * n_cells <= end
    assert struct.unpack_from("<dddd", sent, outbox.of_asked) == (-4.0, 0.1, 0.2, 0.3)


def test_what_comes_back_is_a_sweep(stand_in):
    design, y, w = make_design(stand_in), np.zeros(100), np.ones(64)
    visit = Visit(w, w, link=CURVE, n_bins=8)
    inbox = design.iteration_of([y], [None], 8).inbox
    room = np.asarray(inbox.room)
    struct.pack_into("<5d", room, 0, 0.5, -1.0, 0.6, -1.0, -2.0)
    room[inbox.ends[0] : inbox.ends[1]].view(np.float64)[:] = 1.0
    inbox.gradient[0] = np.arange(64)
    sweep = design.sweep(visit, y)
    assert sweep.residual == 0.5
    assert np.array_equal(sweep.gradient, np.arange(64))
    assert np.array_equal(sweep.sums, np.full(9, 4.0))
    # From −1 to 0.6 in widths of a half: bins −2 to 1.
    assert (sweep.bins.exponent, sweep.bins.first, len(sweep.bins.sums)) == (-1, -2.0, 4)


def test_sums_that_are_not_finite_are_refused_and_the_next_iteration_is_sound(stand_in):
    design, y, w = make_design(stand_in), np.zeros(100), np.ones(64)
    inbox = design.iteration_of([y], [None], 8).inbox
    inbox.gradient[0, 3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        design.sweep(Visit(w, w, link=CURVE, n_bins=8), y)
    inbox.gradient[0, 3] = 0.0
    assert np.isfinite(design.sweep(Visit(w, w, link=CURVE, n_bins=8), y).gradient).all()
