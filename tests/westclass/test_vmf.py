import numpy as np
import pytest
from scipy.special import ive

from lops_adapters.core import LopsError
from lops_adapters.westclass.vmf import VonMisesFisher, fit


def direction(width, seed=0):
    vector = np.random.default_rng(seed).normal(size=width)
    return vector / np.linalg.norm(vector)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mean_cosine(width, kappa):
    return ive(width / 2, kappa) / ive(width / 2 - 1, kappa)


@pytest.mark.parametrize(
    ("width", "kappa", "about"),
    [
        (100, 50, 0.415),
        (100, 100, 0.62),
        (100, 200, 0.785),
        (100, 1000, 0.95),
        (2, 3, 0.81),
        (3, 3, 0.67),
        (3, 400, 0.9975),
    ],
)
def test_moments_are_those_of_the_distribution(width, kappa, about):
    mean, n = direction(width), 20_000
    sample = VonMisesFisher(mean, kappa).sample(n, np.random.default_rng(1))
    assert sample.shape == (n, width)
    assert sample.dtype == np.float64
    np.testing.assert_allclose(np.linalg.norm(sample, axis=1), 1, atol=1e-9)
    cosine = sample @ mean
    expected = mean_cosine(width, kappa)
    assert expected == pytest.approx(about, abs=0.005)
    assert cosine.mean() == pytest.approx(expected, abs=4 * cosine.std() / n**0.5)
    second = 1 - (width - 1) / kappa * expected
    assert (cosine**2).mean() == pytest.approx(second, abs=4 * (cosine**2).std() / n**0.5)


@pytest.mark.parametrize(("width", "kappa"), [(3, 5), (10, 20), (100, 200)])
def test_around_the_mean_no_direction_is_preferred(width, kappa):
    mean, n = direction(width), 40_000
    sample = VonMisesFisher(mean, kappa).sample(n, np.random.default_rng(2))
    tangent = unit(sample - np.outer(sample @ mean, mean))
    plane = np.linalg.svd(mean[None])[2][
        1:
    ]  # an orthonormal basis of what is orthogonal to the mean
    inside = tangent @ plane.T
    np.testing.assert_allclose(inside.mean(axis=0), 0, atol=5 / (n * (width - 1)) ** 0.5)
    np.testing.assert_allclose(
        inside.T @ inside / n,
        np.eye(width - 1) / (width - 1),
        atol=5 * 2**0.5 / (width - 1) / n**0.5,
    )


@pytest.mark.parametrize("kappa", [1e-6, 1e7, 1e9, 1e10])
@pytest.mark.parametrize("width", [2, 3, 100])
def test_extreme_concentrations(width, kappa):
    mean = direction(width)
    sample = VonMisesFisher(mean, kappa).sample(4000, np.random.default_rng(3))
    assert np.isfinite(sample).all()
    away = ((sample - np.outer(sample @ mean, mean)) ** 2).sum(axis=1).mean()
    assert away == pytest.approx(
        (width - 1) / max(kappa, width), rel=0.1
    )  # of a tangent plane, or of the whole sphere


def test_fit_is_the_closed_form():
    vectors = unit(np.random.default_rng(5).normal(0.3, 1, (7, 100)))
    total = vectors.sum(axis=0)
    r = np.linalg.norm(total) / 7
    found = fit(vectors)
    np.testing.assert_allclose(found.mean, total / np.linalg.norm(total))
    assert found.kappa == pytest.approx((r * 100 - r**3) / (1 - r**2))
    assert fit(np.array([[1.0, 0], [0, 1.0]])).kappa == pytest.approx(0.5**0.5 * 1.5 / 0.5)


@pytest.mark.parametrize("scale", [1, 1 + 1e-4, 1 - 1e-4])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_one_direction_is_a_point_whatever_the_rounding(count, scale):
    vector = (direction(100) * scale).astype(np.float32)
    found = fit(np.tile(vector, (count, 1)))
    assert found.kappa == 1e10
    assert np.linalg.norm(found.mean) == pytest.approx(1, abs=1e-15)


def test_the_closer_the_larger_up_to_the_point():
    first, second = np.eye(100)[:2]
    gaps = (1e-1, 1e-3, 1e-4, 6e-5, 3e-5, 1e-5, 1e-6, 0)
    kappas = [
        fit(unit(np.stack([first + gap * second, first - gap * second]))).kappa for gap in gaps
    ]
    assert kappas == sorted(kappas)
    assert kappas[-1] == 1e10
    assert kappas[2] < 1e10


def test_vectors_that_cancel_out():
    with pytest.raises(LopsError, match=r"seeds \(2\) cancel out"):
        fit(np.array([[1.0, 0], [-1, 0]]), "seeds")
