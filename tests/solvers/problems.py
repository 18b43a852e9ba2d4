"""Initial value problems with closed solutions."""

import numpy as np
import scipy.sparse as sp


class Linear:
    """y' = A y + b(t), with the exact solution given."""

    def __init__(self, matrix, exact, forcing=None):
        self.matrix = np.array(matrix, dtype=float)
        self.size = len(self.matrix)
        self.exact, self.forcing = exact, forcing or (lambda t: 0.0)

    def slope(self, t, y):
        return self.matrix @ y + self.forcing(t)

    def slope_jacobian(self, t, y):
        return full(self.matrix)



def full(matrix):
    """CSC with every entry stored, zeros too: a fixed pattern."""
    n = len(matrix)
    rows, columns = np.tile(np.arange(n), n), np.repeat(np.arange(n), n)
    return sp.csc_matrix((matrix.T.ravel(), (rows, columns)), shape=(n, n))


def decay():
    return Linear([[-1.0]], lambda t: np.exp([-t]))


def oscillator():
    return Linear([[0, 1], [-1, 0]], lambda t: np.array([np.cos(t), -np.sin(t)]))


def stiff():
    """A slow cosine, and a part that falls onto it within a millisecond."""
    return Linear([[-1000.0, 0.0], [1.0, -1.0]],
                  lambda t: np.array([np.cos(t), 0.5 * (np.cos(t) + np.sin(t) - np.exp(-t))]),
                  lambda t: np.array([1000.0 * np.cos(t) - np.sin(t), 0.0]))


class Chain:
    """n masses between walls by springs and dampers; mode 1 is set free."""

    def __init__(self, n):
        e = np.ones(n)
        self.laplace = sp.diags([e[1:], -2 * e, e[1:]], [-1, 0, 1])
        k, d = 100.0, 1.0
        eye = sp.identity(n)
        matrix = sp.bmat([[None, eye], [k * self.laplace, d * self.laplace]], format="csc")
        self.matrix = (matrix + sp.csc_matrix((2 * n, 2 * n))).tocsc()
        pattern = abs(self.matrix) + sp.identity(2 * n)
        self.stored = pattern.tocsc()
        self.stored.sort_indices()
        self.size = 2 * n
        self.shape = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
        self.rate = 4 * np.sin(np.pi / (2 * (n + 1))) ** 2  # eigenvalue of -laplace
        self.k, self.d = k, d

    def start(self):
        return np.concatenate([self.shape, 0 * self.shape])

    def exact(self, t):
        w2, damping = self.k * self.rate, 0.5 * self.d * self.rate
        w = np.sqrt(w2 - damping**2)
        decay = np.exp(-damping * t)
        q = decay * (np.cos(w * t) + damping / w * np.sin(w * t))
        v = -decay * w2 / w * np.sin(w * t)
        return np.concatenate([q * self.shape, v * self.shape])

    def slope(self, t, y):
        return self.matrix @ y

    def _jacobian(self, c):
        wanted = (c * sp.identity(self.size) - self.matrix).tocsc()
        result = self.stored.copy()
        columns = np.repeat(np.arange(self.size), np.diff(result.indptr))
        result.data = np.asarray(wanted[result.indices, columns]).ravel()
        return result

    def slope_jacobian(self, t, y):
        result = self._jacobian(0.0)
        result.data = -result.data
        return result



def make(name, problem, y0, t_end, rtol=1e-6, atol=1e-9, **options):
    from blocks.solvers import METHODS

    cls = METHODS[name]
    if cls.fixed_step:
        options.setdefault("step", 0.01)
    return cls(problem, 0.0, y0, t_end=t_end, rtol=rtol, atol=atol, **options)


def run(method, t_end, keep=True):
    """Accepted steps to ``t_end``; the last entry is the failure, if there is one."""
    steps = []
    while method.t < t_end:
        step = method.advance(t_end)
        if keep or step.failure:
            steps.append(step)
        if step.failure:
            break
    return steps
