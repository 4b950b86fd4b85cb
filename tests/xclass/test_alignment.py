import warnings

import numpy as np
import pytest

from lops_adapters.core import LopsError, LopsWarning
from lops_adapters.xclass.alignment import (
    Alignment,
    align,
    balanced,
    log_odds,
    most_confident,
    nearest_class,
)


def clouds(spread=1.0, n=240, k=3, width=8, seed=0):
    """Documents around k centres, their clouds, and class vectors near the centres."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, width)) * 2
    truth = np.arange(n) % k
    documents = centres[truth] + rng.normal(scale=spread, size=(n, width))
    return (
        np.float32(documents),
        np.float32(centres + rng.normal(scale=0.2, size=centres.shape)),
        truth,
    )


def reference(documents, classes, components):
    """The mixture as scikit-learn alone fits and applies it."""
    from sklearn.decomposition import PCA
    from sklearn.mixture import GaussianMixture

    pca = PCA(n_components=components, svd_solver="full")
    points = pca.fit_transform(documents.astype(np.float64))
    start = nearest_class(points, pca.transform(classes.astype(np.float64)))
    share = np.eye(len(classes))[start]
    means = share.T @ points / share.sum(axis=0)[:, None]
    covariance = (points - means[start]).T @ (points - means[start]) / len(points) + 1e-6 * np.eye(
        points.shape[1]
    )
    mixture = GaussianMixture(
        len(classes),
        covariance_type="tied",
        weights_init=share.mean(axis=0),
        means_init=means,
        precisions_init=np.linalg.inv(covariance),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mixture.fit(points), points


@pytest.mark.parametrize("components", [2, 5, 8])
@pytest.mark.parametrize("spread", [0.3, 1.5, 3.0])
def test_the_mixture_is_scikit_learns(components, spread):
    documents, classes, _ = clouds(spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsWarning)
        found = align(documents, classes, components=components)
    mixture, points = reference(documents, classes, components)
    posterior = mixture.predict_proba(points)
    assert (found.codes == mixture.predict(points)).all()
    assert (found.codes == posterior.argmax(axis=1)).all()
    assert (found.codes.dtype, found.confidence.dtype) == (np.int64, np.float64)
    best = posterior.max(axis=1)
    open_ones = best < 1 - 1e-9
    np.testing.assert_allclose(
        found.confidence[open_ones],
        np.log(best[open_ones] / (1 - best[open_ones])),
        rtol=1e-4,
        atol=1e-6,
    )


def test_confidence_stays_distinct_where_posteriors_saturate():
    documents, classes, _ = clouds(0.3)
    mixture, points = reference(documents, classes, 5)
    saturated = mixture.predict_proba(points).max(axis=1) == 1
    assert saturated.mean() > 0.5
    confidence = align(documents, classes, components=5).confidence[saturated]
    assert np.isfinite(confidence).all()
    assert len(np.unique(confidence)) == saturated.sum()
    assert confidence.min() > 30


def test_the_nearest_class():
    classes = np.float32([[1, 0], [0, 1], [0, 5]])
    assert nearest_class(
        np.float32([[3, 1], [1, 9], [0, 0], [1, 1], [-1, 0]]), classes
    ).tolist() == [0, 1, 0, 0, 1]


def test_a_class_without_initial_documents(monkeypatch):
    """It starts at its class vector, almost without weight, and disturbs nobody."""
    from sklearn.mixture import GaussianMixture

    documents, classes, truth = clouds(0.5)
    mean = documents.mean(axis=0, dtype=np.float64)
    nowhere = (
        mean + 5 * np.linalg.svd(documents - mean)[2][-1]
    )  # square to what tells the others apart
    starts, fit = [], GaussianMixture.fit
    monkeypatch.setattr(
        GaussianMixture,
        "fit",
        lambda self, points: (
            starts.append((self.means_init, self.weights_init)) or fit(self, points)
        ),
    )
    found = align(documents, np.concatenate([classes, [nowhere]]), components=8)
    (means, weights), *_ = starts
    np.testing.assert_allclose(np.linalg.norm(means[3]), 5, rtol=1e-5)
    np.testing.assert_allclose(weights.sum(), 1)
    assert 0 < weights[3] < 1e-9
    assert np.isfinite(found.confidence).all()
    assert (found.codes == truth).mean() > 0.98


@pytest.mark.parametrize("n", [3, 5, 12])
def test_fewer_documents_than_components(n):
    """What the directions in which documents do not vary look like must decide nothing."""
    documents, classes, truth = clouds(0.2, n=n, width=40)
    documents, classes = documents * 1000, classes * 1000  # variances of very different sizes
    found = align(documents, classes)
    assert (found.codes == truth).all()
    assert np.isfinite(found.confidence).all()
    fewer = align(documents, classes, components=n - 1)
    np.testing.assert_allclose(
        found.confidence, fewer.confidence, rtol=0.05
    )  # inverting so singular a covariance rounds much


def test_directions_without_variance_decide_nothing(monkeypatch):
    """Documents in a plane, class vectors far off it, by different lengths."""
    from sklearn.mixture import GaussianMixture

    widths, fit = [], GaussianMixture.fit
    monkeypatch.setattr(
        GaussianMixture,
        "fit",
        lambda self, points: widths.append(points.shape[1]) or fit(self, points),
    )
    rng = np.random.default_rng(0)
    flat, classes, _ = clouds(0.8, width=2, k=2, seed=4)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    wide = np.float32(np.pad(flat, ((0, 0), (0, 4))) @ turn)
    off = np.float32(np.concatenate([classes, [[50, 0, 0, 0], [0, 3, 0, 0]]], axis=1) @ turn)
    assert (align(wide, off).codes == align(flat, classes).codes).all()
    assert widths == [2, 2]


def test_documents_that_are_all_the_same():
    with pytest.raises(LopsError, match="all 4 documents have the same vector"):
        align(np.ones((4, 3), dtype=np.float32), np.eye(2, 3, dtype=np.float32))


def test_a_mixture_that_does_not_converge(monkeypatch):
    from sklearn.mixture import GaussianMixture

    fit = GaussianMixture.fit
    monkeypatch.setattr(
        GaussianMixture, "fit", lambda self, points: fit(self.set_params(max_iter=1, tol=0), points)
    )
    with pytest.warns(LopsWarning, match="did not converge"):
        align(*clouds(2.0)[:2])


def test_log_odds_of_any_class():
    odds = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    found = log_odds(np.log(odds) + 1000.0, np.array([1, 2]))
    np.testing.assert_allclose(found, np.log([0.2 / 0.8, 0.8 / 0.2]), rtol=1e-9)
    assert log_odds(np.array([[-5.0], [3.0]]), np.array([0, 0])).tolist() == [np.inf, np.inf]


def test_the_most_confident_of_each_class():
    codes = np.array([0, 0, 1, 0, 1, 0, 2, 0, 1])
    confidence = np.array([5.0, 1.0, 9.0, 4.0, 9.5, 3.0, -7.0, 2.0, 0.0])
    assert most_confident(Alignment(codes, confidence), 0.5, seed=0).tolist() == [0, 3, 4, 6]
    assert most_confident(Alignment(codes, confidence), 1.0, seed=0).tolist() == list(range(9))
    assert most_confident(Alignment(codes, confidence), 0.01, seed=0).tolist() == [0, 4, 6]
    assert most_confident(Alignment(codes[:0], confidence[:0]), 0.5, seed=0).tolist() == []


def test_fractions_are_exact():
    alignment = Alignment(np.zeros(100, dtype=np.int64), np.arange(100.0))
    for percent in range(1, 101):
        assert (
            len(most_confident(alignment, percent / 100, seed=0)) == percent
        )  # 0.29 * 100 is 28.999...


def test_ties_are_broken_by_a_seeded_hash():
    tied = Alignment(np.zeros(200, dtype=np.int64), np.full(200, np.inf))
    one, again, other = (most_confident(tied, 0.5, seed) for seed in (0, 0, 1))
    assert one.tolist() == again.tolist() != other.tolist()
    assert one.tolist() != list(range(100))
    assert 30 < (one < 100).sum() < 70


def test_class_offsets_by_hand():
    """The mean posteriors become proportional to the power of the shares; offsets only."""
    joint = np.random.default_rng(0).normal(size=(200, 3)) + np.array([1.5, 0.0, -0.5])
    shares = np.bincount(joint.argmax(axis=1)) / 200
    for power in (0.0, 0.5):
        moved = balanced(joint, power)
        offsets = moved - joint
        np.testing.assert_allclose(offsets, np.tile(offsets[0], (200, 1)))
        posterior = np.exp(moved - np.logaddexp.reduce(moved, axis=1)[:, None]).mean(axis=0)
        np.testing.assert_allclose(posterior, shares**power / (shares**power).sum(), atol=1e-6)


def test_a_class_without_documents_gets_none_by_offsets():
    joint = np.array([[0.0, -1.0, -50.0], [-1.0, 0.0, -50.0], [0.0, -2.0, -50.0]])
    assert balanced(joint, 0.0)[:, 2].tolist() == [-50.0] * 3


def test_a_large_class_gives_documents_back():
    """One class lies between the others; the offsets reach the documents and their confidence."""
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [2.2, 0.0], [0.0, 2.2]])
    documents = np.concatenate([rng.normal(size=(60, 2)) + centre for centre in centres])
    documents = np.concatenate([documents, rng.normal(size=(120, 2))]) + 4.0
    usual = align(documents, centres + 4.0)
    moved = align(documents, centres + 4.0, share_power=0.0)
    sizes = [np.bincount(found.codes, minlength=3) for found in (usual, moved)]
    assert sizes[1].max() < sizes[0].max()
    assert (moved.confidence > 0).mean() > 0.8
