"""Results of NumPy, SciPy and scikit-learn, a line each: a name and a hash of the bits."""
import hashlib
import warnings

import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg as sparse

warnings.filterwarnings("ignore")
random = np.random.default_rng(0)
n = 1_000_003
x, y = random.standard_normal(n), random.standard_normal(n)
A, v, w = random.standard_normal((2000, 1500)), random.standard_normal(1500), random.standard_normal(2000)
S = random.standard_normal((300, 300))
S = S + S.T + 100 * np.eye(300)
line = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(100, 100))
P = scipy.sparse.kronsum(line, line, "csr")
b = random.standard_normal(10000)
X = random.standard_normal((3000, 40))
t = X[:, 0] * 2 - X[:, 3] + random.standard_normal(3000)


def solve(method, tolerance, **more):
    try:
        return method(P, b, rtol=tolerance, **more)[0]
    except TypeError:  # SciPy before 1.12
        return method(P, b, tol=tolerance, **more)[0]


def rosenbrock(z):
    return float(np.sum(100 * (z[1:] - z[:-1]**2)**2 + (1 - z[:-1])**2))


def minimum(method):
    return scipy.optimize.minimize(rosenbrock, np.zeros(30), method=method, options={"maxiter": 100}).x


results = {
    "x@y": lambda: x @ y, "x@y,float32": lambda: x.astype("f4") @ y.astype("f4"), "x@y,strided": lambda: x[::2] @ y[::2],
    "x@y,n=100": lambda: x[:100] @ y[:100], "norm": lambda: scipy.linalg.norm(x),
    "convolve": lambda: np.convolve(x[:5000], y[:300]),
    "A@v": lambda: A @ v, "w@A": lambda: w @ A, "A.T@w": lambda: np.asfortranarray(A).T @ w,
    "cg": lambda: solve(sparse.cg, 1e-8), "bicgstab": lambda: solve(sparse.bicgstab, 1e-8),
    "minres": lambda: solve(sparse.minres, 1e-8), "gmres": lambda: solve(sparse.gmres, 1e-6, restart=30),
    "lsqr": lambda: sparse.lsqr(P, b)[0], "minimize,CG": lambda: minimum("CG"), "BFGS": lambda: minimum("BFGS"),
    "L-BFGS-B": lambda: minimum("L-BFGS-B"),
    "A@B": lambda: A @ A[:1500, :600], "solve": lambda: np.linalg.solve(S, v[:300]),
    "lstsq": lambda: np.linalg.lstsq(X, t, rcond=None)[0], "qr": lambda: np.linalg.qr(X)[1],
    "svd": lambda: np.linalg.svd(X)[1], "eigh": lambda: np.linalg.eigh(S)[0], "cholesky": lambda: np.linalg.cholesky(S),
}
try:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Lasso, LogisticRegression, Ridge
    results |= {
        "Lasso": lambda: Lasso(.01).fit(X, t).coef_, "Ridge": lambda: Ridge().fit(X, t).coef_,
        "LogisticRegression": lambda: LogisticRegression().fit(X, t > 0).coef_,
        "PCA": lambda: PCA(5).fit(X).components_}
except ImportError:
    pass
for name, f in results.items():
    print(name, hashlib.sha256(np.ascontiguousarray(f()).tobytes()).hexdigest()[:12])
