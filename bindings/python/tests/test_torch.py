"""PyTorch's tensors, operators and mode, on the CPU and, if there is one, a GPU."""
import numpy
import pytest

import tally
from contract import same

torch = pytest.importorskip("torch")
tally_torch = pytest.importorskip("tally.torch")
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() and "cuda" in tally.executors() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def tensor(device, *shape, dtype=torch.float64, **options):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(7)).to(device).requires_grad_(
        options.get("requires_grad", False))


def numbers(x):
    return x.detach().cpu().resolve_conj().resolve_neg().numpy()


def test_tensors(device):
    x, A = tensor(device, 5000), tensor(device, 30, 40, 50)
    s = tally.sum(x)
    assert isinstance(s, torch.Tensor) and s.device.type == device and s.shape == () and same(numbers(s), tally.sum(numbers(x)))
    assert same(numbers(tally.dot(x, x.flip(0))), tally.dot(numbers(x), numbers(x)[::-1]))
    for laid in (A, A.permute(2, 0, 1).contiguous().permute(1, 2, 0), A[:, 1:], A[..., ::2]):
        for axis in (None, 0, 1, 2, (0, 1), (0, 2)):
            for f in (tally.sum, tally.mean, tally.nrm2, tally.max, tally.argmax):
                assert same(numbers(f(laid, axis)), f(numbers(laid), axis))
        assert same(numbers(tally.sum(laid, exact=True)), tally.sum(numbers(laid), exact=True))
    assert same(numbers(tally.sum(x[:1].expand(500))), tally.sum(numpy.full(500, numbers(x)[0])))
    assert same(numbers(tally.multi_dot(A[0].T, A[0, :, 0])), tally.multi_dot(numbers(A[0]).T, numbers(A[0, :, 0])))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "complex64",
                                   "uint64"])
def test_types(device, dtype):
    x = (tensor("cpu", 3000) * 3).abs().to(getattr(torch, dtype)).to(device)
    host = tally.sum(numbers(x)) if dtype != "bfloat16" else tally.sum(numbers(x.float()))
    assert same(numbers(tally.sum(x)), host)


def test_bits_that_dlpack_does_not_tell(device):
    z = tensor(device, 3000, dtype=torch.complex128)
    assert same(numbers(tally.sum(z.conj())), tally.sum(numbers(z).conj()))
    assert z.conj().imag.is_neg() and same(numbers(tally.sum(z.conj().imag)), tally.sum(-numbers(z).imag))
    with pytest.raises(RuntimeError, match="requires a gradient"):
        tally.sum(tensor(device, 3, requires_grad=True))


@pytest.mark.filterwarnings("ignore")  # PyTorch's, of layouts in beta
def test_tensors_without_strided_elements_are_refused(device):
    x = tensor(device, 4, 4)
    sparse = {"sparse_coo": x.to_sparse(), "sparse_csr": x.to_sparse_csr(), "sparse_csc": x.to_sparse_csc(),
              "sparse_bsr": x.to_sparse_bsr((2, 2))}
    fake = torch._subclasses.fake_tensor.FakeTensorMode()
    refused = [(each, f"tally: a tensor of layout torch.{name}; pass x.to_dense") for name, each in sparse.items()]
    refused += [(x.to("meta"), "without elements in memory"), (fake.from_tensor(x), "without elements in memory"),
                (torch.nested.nested_tensor([x[0], x[0, :2]]), "each of x.unbind")]
    if device == "cpu":
        refused.append((torch.quantize_per_tensor(x.float(), .1, 0, torch.qint8), "x.dequantize"))
    refused.append((x.view(torch.uint8).view(torch.bits8), "does not share: .*[Bb]its? types"))
    for each, text in refused:
        for call in (lambda: tally.sum(each), lambda: tally.add(x, each), lambda: tally.add(x, x, out=each)):
            with pytest.raises(TypeError, match=text):
                call()
    with pytest.raises(TypeError, match="torch.func"):
        torch.vmap(lambda row: tally.sum(row))(x)
    assert tally.sum(torch.empty(0, device=device)) == 0


def test_results_and_places(device):
    x = tensor(device, 30, 40)
    out = torch.empty(40, dtype=torch.float64, device=device)
    assert tally.sum(x, 0, out=out) is out and same(numbers(out), tally.sum(numbers(x), 0))
    y = x.clone()
    assert tally.axpy(2, x, y) is y and same(numbers(y), tally.add(2 * numbers(x), numbers(x)))
    assert same(numbers(tally.exp(x)), tally.exp(numbers(x)))
    assert same(numbers(tally.bincount(torch.arange(5, device=device))), numpy.ones(5, int))
    assert same(numbers(tally.histogram(x[0], [-1., 0, 1])[0]), tally.histogram(numbers(x[0]), [-1., 0, 1])[0])
    assert same(tally.exact_sum(x).round(), tally.sum(numbers(x), exact=True))
    for bad in (torch.empty(41, dtype=torch.float64, device=device), torch.empty(40, device=device)):
        with pytest.raises(ValueError, match="out"):
            tally.sum(x, 0, out=bad)
    if device == "cuda":
        with pytest.raises(ValueError, match="device 0.*host memory"):
            tally.dot(x[0], numpy.zeros(40))
        with pytest.raises(ValueError, match="simd can't read"):
            tally.sum(x, backend="simd")


def test_products(device):
    X, Y, v, w = tensor(device, 30, 40), tensor(device, 40, 30).T, tensor(device, 40), tensor(device, 30)
    assert same(numbers(tally.batched_dot(X, Y)), tally.batched_dot(numbers(X), numbers(Y)))
    assert same(numbers(tally.batched_dot(X, X)), tally.batched_dot(numbers(X), numbers(X)))
    assert same(numbers(tally.gemv(2, X, v)), tally.gemv(2, numbers(X), numbers(v)))
    assert tally.gemv(2, Y.T, w, 3, v) is v and same(numbers(tally.gemv(1, Y, v)), tally.gemv(1, numbers(Y), numbers(v)))
    y, host = w.clone(), numbers(w).copy()
    for factors in (numbers(v), v, v.repeat_interleave(2)[::2]):
        tally.multi_axpy(factors, X.T, .5, y)
        tally.multi_axpy(numbers(v), numbers(X).T, .5, host)
        assert same(numbers(y), host)


def test_segments(device):
    x = tensor(device, 1000)
    for offsets in ([0, 10, 10, 300, 1000], [0, 1000]):
        for dtype in (torch.int64, torch.int32):
            o = torch.tensor(offsets, dtype=dtype, device=device)
            assert same(numbers(tally.segmented_sum(x, o)), tally.segmented_sum(numbers(x), offsets))
    empty = tally.segmented_sum(x[:0], torch.tensor([0], device=device))
    assert empty.shape == (0,) and empty.device.type == device
    for bad in ([1, 1000], [0, 999], [0, 20, 10, 1000], [0, 2**31 - 1, -2**31, 1000], [0, 1001, 1000], [0, -1, 1000]):
        with pytest.raises(ValueError, match="offset"):
            tally.segmented_sum(x, torch.tensor(bad, dtype=torch.int32, device=device))


def test_csr_of_tensors(device):
    sparse = pytest.importorskip("scipy.sparse")
    A = sparse.random(500, 300, .1, "csr", rng=numpy.random.default_rng(1))
    arrays = [torch.from_numpy(a).to(device) for a in (A.data, A.indices, A.indptr)]
    x = tensor(device, 300)
    m = tally.csr(tuple(arrays), A.shape)
    assert same(numbers(m @ x), tally.csr(A) @ numbers(x))
    X = tensor(device, 5, 300).T
    assert same(numbers(m @ X), tally.csr(A) @ numbers(X)) and same(numbers(m.T @ tensor(device, 500, 3)),
                                                                   tally.csr(A).T @ numbers(tensor(device, 500, 3)))


def test_gradients(device):
    x, y = tensor(device, 40, requires_grad=True), tensor(device, 40, requires_grad=True)
    A = tensor(device, 3, 4, 5, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(tally_torch.dot, (x, y))
    assert check(lambda A: tally_torch.sum(A, [0, 2], True), (A,)) and check(lambda A: tally_torch.mean(A, -1), (A,))
    assert check(lambda A: tally_torch.nrm2(A, 1), (A,)) and check(tally_torch.sum, (A,))
    assert check(tally_torch.mv, (tensor(device, 5, 40, requires_grad=True), x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_forward_gradients(device, dtype):
    """Of both kinds of forward mode, of one tangent or all, beside and below the backward mode; and in PyTorch's mode."""
    x, y, A = (tensor(device, *shape, dtype=dtype) for shape in ((7,), (7,), (3, 7)))
    cases = ((tally_torch.sum, torch.sum, (A,)), (lambda A: tally_torch.sum(A, -1, True), lambda A: A.sum(-1, True), (A,)),
             (lambda A: tally_torch.mean(A, 1), lambda A: A.mean(1), (A,)), (tally_torch.dot, torch.dot, (x, y)),
             (tally_torch.mv, torch.mv, (A, x)), (lambda A: tally_torch.nrm2(A, 1), lambda A: torch.linalg.vector_norm(A, 2, 1), (A,)))
    level = torch.autograd.forward_ad
    for ours, peer, operands in cases:
        tangents = tuple(torch.flip(operand, [0]) + 1 for operand in operands)
        for a, b in zip(torch.func.jvp(ours, operands, tangents), torch.func.jvp(peer, operands, tangents)):
            assert a.dtype == b.dtype and torch.allclose(a, b)
        with level.dual_level():
            first = (level.make_dual(operands[0], tangents[0]), *operands[1:])
            expected = level.unpack_dual(peer(*first)).tangent
            assert torch.allclose(level.unpack_dual(ours(*first)).tangent, expected)
            with tally_torch.sums():
                assert torch.allclose(level.unpack_dual(peer(*first)).tangent, expected)
        leaves = [operand.clone().requires_grad_() for operand in operands]
        assert torch.autograd.gradcheck(ours, leaves, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(ours, leaves)
    with level.dual_level(), pytest.raises(RuntimeError, match="requires a gradient"):
        tally.sum(level.make_dual(x, y))


def test_gradients_of_norms(device):
    for numbers in ([numpy.nan, 1], [0, 0], [3, 4], [numpy.inf, 1]):
        x = [torch.tensor(numbers, dtype=torch.float64, device=device, requires_grad=True) for _ in range(2)]
        tally_torch.nrm2(x[0]).backward()
        torch.linalg.vector_norm(x[1]).backward()
        assert torch.equal(x[0].grad.isnan(), x[1].grad.isnan()) and torch.allclose(x[0].grad, x[1].grad, equal_nan=True)


def test_written_tensors_are_counted(device):
    """A gradient that needs what was overwritten since is an error, not that of other numbers."""
    ones = torch.ones(3, dtype=torch.float64, device=device)
    writes = (lambda y: tally.scal(5., y), lambda y: tally.axpy(1., ones, y), lambda y: tally.fill(0., y), lambda y: tally.add(ones, ones, y),
              lambda y: tally.sum(torch.stack([ones, ones]), 0, out=y), lambda y: tally.mean(torch.stack([ones, ones]), 0, out=y),
              lambda y: tally.scatter_add(ones, torch.arange(3, device=device), y), lambda y: tally.scal(5., y[:2]))
    for write in writes:
        w, y = ones.clone().requires_grad_(), ones.clone()
        loss = (w * y).sum()
        write(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    tally.add(y, tally.sum(ones.expand(3, 3), 0))
    assert ones._version == 0 and y._version == 1


def test_integers_of_16_and_32_bits(device):
    for dtype in (torch.int16, torch.uint16, torch.uint32):
        x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=dtype, device=device)
        for laid in (x, x.T, x[:, ::2], x[:1].expand(4, 3)):
            result = tally.sum(laid, 0)
            assert result.dtype == torch.int64 and same(numbers(result), tally.sum(numpy.ascontiguousarray(numbers(laid)), 0))
        assert tally.mean(x) == 3.5 and tally.max(x) == 6
    with pytest.raises(ValueError, match="written"):
        tally.scal(2, x)


def test_types_of_pytorch(device):
    x = tensor(device, 30, dtype=torch.float32)
    assert tally.sum(x, dtype=torch.float64).dtype == torch.float64
    assert same(tally.sum(numbers(x), dtype=torch.float64), tally.sum(numbers(x), dtype="f8"))
    for wrong in (torch.quint8, torch.float8_e5m2):
        with pytest.raises(TypeError):
            tally.sum(x, dtype=wrong)
    large = torch.full((2,), 2**63, dtype=torch.uint64, device=device)
    assert tally.mean(large) == tally_torch.mean(large) == 2.0**63
    assert tally_torch.mean(large).dtype == tally_torch.mean(torch.tensor([1, 2])).dtype == torch.float64


def test_histograms_of_several_dimensions(device):
    x, w = tensor(device, 30, 40), tensor(device, 30, 40)
    for weights in (None, w):
        counts, edges = tally.histogram(x, 7, weights=weights)
        host = tally.histogram(numbers(x), 7, weights=None if weights is None else numbers(w))
        assert counts.device.type == device and same(numbers(counts), host[0]) and same(edges, host[1])
    assert same(numbers(tally.bincount(torch.tensor([0, 1, 1], device=device), torch.tensor([1, 2, 3], device=device))), numpy.array([1., 5]))


def test_opcheck(device):
    x, A = tensor(device, 40, requires_grad=True), tensor(device, 5, 40, requires_grad=True)
    for op, inputs in ((tally_torch._dot, (x, x.detach())), (tally_torch._mv, (A, x)), (tally_torch._sum, (A, [0], False, False)),
                       (tally_torch._nrm2, (A, [1], True, True)), (tally_torch._sum, (A, [-1], False, False)),
                       (tally_torch._nrm2, (A, [-2, -1], True, False)), (tally_torch._sum, (x.detach().to(torch.uint64), [0], True, False))):
        torch.library.opcheck(op, inputs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_mode(device, dtype):
    """A row's result does not depend on the batch."""
    x = tensor(device, 64, 4096, dtype=torch.float32).to(dtype)

    def rms_norm(x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)

    with tally_torch.sums():
        all_rows, one_row = rms_norm(x), rms_norm(x[5:6])
        total, norm = x.sum(), torch.linalg.vector_norm(x, dim=0)
        product, row = torch.dot(x[0], x[1]), torch.mv(x, x[0])
    assert torch.equal(all_rows[5:6], one_row) and total.dtype == dtype
    assert torch.equal(total, tally.sum(x).to(dtype)) and torch.equal(norm, tally.nrm2(x, 0).to(dtype))
    assert torch.equal(product, tally.dot(x[0], x[1]).to(dtype)) and torch.equal(row, tally.multi_dot(x, x[0]).to(dtype))
    w = x.clone().requires_grad_()
    with tally_torch.sums():
        w.sum(0).mean().backward()
    assert torch.equal(w.grad, torch.full_like(x, 1 / 4096))
    with tally_torch.sums():
        assert x.to(torch.int32).sum().dtype == torch.int64


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_mode_leaves_sparse_tensors_to_pytorch(device):
    x = torch.eye(3, device=device)
    with tally_torch.sums():
        for sparse in (x.to_sparse(), x.to_sparse_csr()):
            assert sparse.sum() == 3 and torch.equal(torch.mv(sparse, x[0]), x[0])


def test_compile(device):
    @torch.compile(fullgraph=True, backend="inductor" if device == "cuda" else "aot_eager")
    def f(x, y):
        return tally_torch.dot(x, y) + tally_torch.sum(x * 2) + tally_torch.nrm2(y)

    x, y = tensor(device, 4096, requires_grad=True), tensor(device, 4096)
    z = f(x, y)
    z.backward()
    assert torch.equal(x.grad, y + 2)
    assert same(numbers(z), numbers(tally.dot(x.detach(), y) + tally.sum(x.detach() * 2) + tally.nrm2(y)))


# --- What PyTorch refuses or does itself ---

REDUCTIONS = {"sum": lambda x, dim: x.sum(dim), "mean": lambda x, dim: x.mean(dim),
              "nrm2": lambda x, dim: torch.linalg.vector_norm(x, 2, dim)}


def outcome(call):
    """A tensor's type and numbers, or an exception's type and text."""
    try:
        x = call()
    except Exception as e:
        return type(e), str(e)
    return x.dtype, x.shape, numpy.asarray(x.detach()).tolist()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes(name):
    """Axes that a tensor has not, and those named twice, are refused as by PyTorch; all others mean the same."""
    peer, ours = REDUCTIONS[name], getattr(tally_torch, name)
    f = torch.compile(ours, backend="eager")
    for shape in (), (4,), (2, 3), (2, 3, 4):
        x = torch.ones(shape).requires_grad_()
        d = len(shape)
        dims = [*range(-d - 3, d + 4), 2**40, [], [0, 0], [0, -1], [-1, d - 1], [0, d], [-d - 1, 0], *([[0, d - 1]] if d > 1 else [])]
        for dim in dims:
            expected = outcome(lambda: peer(x, dim))
            assert outcome(lambda: ours(x, dim)) == expected, dim
            with tally_torch.sums():
                assert outcome(lambda: peer(x, dim)) == expected, dim
    for dim in (2, -3, (0, 7)):
        with pytest.raises(IndexError, match="out of range"):
            f(torch.ones(2, 3), dim)


@pytest.mark.parametrize("given", [torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_mode_types(given):
    """A call with dtype= has PyTorch's type and number, or its error; sums here are exact."""
    x = (torch.arange(6) + (.5 if not given.is_complex else .5j)).to(given).reshape(2, 3)
    calls = [lambda dtype, f=f: f(x, dtype=dtype) for f in (torch.sum, torch.mean, torch.linalg.vector_norm)]
    others = [lambda dtype: torch.dot(x[0], x[1].to(dtype or given)), lambda dtype: torch.mv(x, x[1].to(dtype or given))]
    for call in calls + others:
        for dtype in (None, torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
                      torch.complex64, torch.complex128):
            expected = outcome(lambda: call(dtype))
            with tally_torch.sums():
                result = outcome(lambda: call(dtype))
            if isinstance(expected[-1], str):
                assert result == expected, dtype
            else:
                assert result[:2] == expected[:2] and numpy.allclose(result[2], expected[2], rtol=2e-3), dtype


def test_sums_of_converted_elements():
    x = torch.arange(6.) + .6
    with tally_torch.sums():
        assert torch.equal(torch.sum(x, dtype=torch.int64), torch.tensor(15))
        assert torch.equal(torch.linalg.vector_norm(torch.tensor([3 + 4j, 12j], dtype=torch.complex128)),
                           torch.tensor(13., dtype=torch.float64))
