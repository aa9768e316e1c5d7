"""A Python program against an installed Tally, through the C interface: client.py LIBRARY."""
import ctypes
import sys

FLOAT64, GRADE_EXACT = 8, 1


class CallOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("grade", ctypes.c_int), ("wait", ctypes.c_int),
                ("conjugate", ctypes.c_int), ("reserved", ctypes.c_int)]


tally = ctypes.CDLL(sys.argv[1])
vector = [ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t]
tally.tally_dot.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *vector, *vector, ctypes.c_int, ctypes.c_void_p,
                            ctypes.c_void_p]
tally.tally_last_error.restype = ctypes.c_char_p

x = (ctypes.c_double * 3)(1e17, -1e17, 1)
ones = (ctypes.c_double * 3)(1, 1, 1)
result = ctypes.c_double()
options = CallOptions(ctypes.sizeof(CallOptions), GRADE_EXACT)
for given, expected in (None, 0), (ctypes.byref(options), 1):
    status = tally.tally_dot(None, 3, FLOAT64, x, 1, FLOAT64, ones, 1, FLOAT64, ctypes.byref(result), given)
    if status != 0:
        sys.exit(tally.tally_last_error().decode())
    if result.value != expected:
        sys.exit(f"the sum is {result.value} and should be {expected}")
executor = (ctypes.c_uint64 * 8)()
tally.tally_executor_named.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
if tally.tally_executor_named(executor, b"abacus") == 0:
    sys.exit("there is an abacus")
print(tally.tally_last_error().decode())
