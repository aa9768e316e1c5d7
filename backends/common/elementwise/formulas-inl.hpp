// Functions of one number: one sequence of IEEE operations each, with fused multiply-adds, for
// equal bits on all backends. Reduction of exp and the logistic function: Cody and Waite, Software
// Manual for the Elementary Functions (1980); polynomials: Remez exchange.
//
// With k the integer nearest to x / ln 2 and r = x - k ln 2,
//
//     exp(x) = 2^k (1 + r + r^2 Q(r)) = 2^k (head + left),    |r| <= ln(2) / 2,
//
// and with e = exp(-|x|), d = 1 + e and q = 1/d, corrected for rounding,
//
//     sigmoid(x) = q for x >= 0, q e = 2^k (q head + q left) for x < 0.
//
// Intermediates do not overflow; subnormals are rounded last. Errors: docs/numerics.md.
//
// `N` is the arithmetic of numbers or of an instruction set's vectors, so this file has no guard:
// it is included in a namespace (a target's own), with TALLY_FUNCTION as the attributes.

/// x - k ln 2 in two parts, and r, their sum.
template <class V>
struct reduced_argument {
  V magic, k;  // k in the lowest bits of `magic`
  V large, small, r;
};

/// `head` is next to 1 + r.
template <class V>
struct reduced_exponent {
  V magic, k;
  V head, left;
};

/// Returns 1/d for d in [1, 2]: correctly rounded in float, nearly so in double, where a GPU's
/// division is slow. There, a parabola (error 1/99) and Newton steps whose constants centre the
/// error of known sign; slower in float (tuning/elementwise.md: reciprocal).
template <class N, class V>
TALLY_FUNCTION V reciprocal(V d) {
  using R = typename N::number;
  if constexpr (sizeof(R) == 4) {
    return N::reciprocal(d);
  } else {
    V q = N::fma(N::fma(N::set(R(32) / 99), d, N::set(R(-144) / 99)), d, N::set(R(210) / 99));
    q = N::fma(q, N::minus_product(d, q, N::set(1 + R(1) / 19602)), q);         // error 2^-14
    return N::fma(q, N::minus_product(d, q, N::set(1 + R(1) / 768476808)), q);  // error 2^-29
  }
}

/// Terms of Q from r^i on, i even. Horner in r^2 on pairs of terms, which are independent.
template <class N, int i, class c = exponential_constants<typename N::number>, class V>
TALLY_FUNCTION V polynomial(V r, V square) {
  if constexpr (i == c::degree) {
    return N::set(c::q[i]);
  } else {
    const V pair = N::fma(N::set(c::q[i + 1]), r, N::set(c::q[i]));
    if constexpr (i + 1 == c::degree) {
      return pair;
    } else {
      return N::fma(polynomial<N, i + 2, c>(r, square), square, pair);
    }
  }
}

template <class N, class V>
TALLY_FUNCTION reduced_argument<V> reduce(V number) {
  using c = exponential_constants<typename N::number>;
  const V x = N::kept_normal(number, N::set(c::speck));
  const V magic = N::fma(x, N::set(c::log2_e), N::set(c::magic));
  const V k = N::sub(magic, N::set(c::magic));
  const V large = N::fma(k, N::set(c::minus_ln2_head), x);  // exact
  const V small = N::mul(k, N::set(c::minus_ln2_tail));
  return {magic, k, large, small, N::add(large, small)};
}

template <class N, class V>
TALLY_FUNCTION reduced_exponent<V> expand(const reduced_argument<V>& e) {
  const V square = N::mul(e.r, e.r);
  const V v = N::fma(square, polynomial<N, 0>(e.r, square), e.small);
  const V head = N::add(N::set(1), e.large);
  return {e.magic, e.k, head, N::add(N::sub(e.large, N::sub(head, N::set(1))), v)};
}

template <class N, class V>
TALLY_FUNCTION reduced_exponent<V> reduce_exponent(V x) {
  return expand<N>(reduce<N>(x));
}

/// Returns 2^k, where N scales at least 2^negligible.
template <class N, class V>
TALLY_FUNCTION V power_of_two(V magic) {
  using c = exponential_constants<typename N::number>;
  if constexpr (N::has_scaling) {
    return N::template power_of_two<0>(N::at_least(magic, N::set(c::magic + c::negligible)));
  } else {
    return N::mul(N::template power_of_two<c::aside>(magic), N::set(c::back));
  }
}

/// Returns 2^k m, rounded once, NaN where x is. Pre: the sign of x is that of k.
template <class N, class V>
TALLY_FUNCTION V scaled(const reduced_exponent<V>& e, V m, V x) {
  using c = exponential_constants<typename N::number>;
  if constexpr (N::has_scaling) {
    return N::scaled(m, e.k, x);
  } else {
    // Two steps, the first exact: 2^k itself may be out of range.
    const auto negative = N::is_negative(x);
    const V almost = N::mul(m, N::select(negative, N::template power_of_two<c::aside>(e.magic),
                                         N::template power_of_two<-c::aside>(e.magic)));
    return N::keep_nan(x, N::mul(almost, N::select(negative, N::set(c::back), N::set(c::forth))));
  }
}

/// Returns x, at most as large as the numbers whose exp is 0.
template <class N, class V>
TALLY_FUNCTION V bounded(V x) {
  using c = exponential_constants<typename N::number>;
  if constexpr (N::has_scaling) {
    return N::within(x, N::set(-c::lowest));
  } else {
    return N::at_most(N::at_least(x, N::set(c::lowest)), N::set(c::highest));
  }
}
/// Returns -|x|, at most as large.
template <class N, class V>
TALLY_FUNCTION V bounded_minus_magnitude(V x) {
  using c = exponential_constants<typename N::number>;
  if constexpr (N::has_scaling) {
    return N::minus_magnitude_within(x, N::set(-c::lowest));
  } else {
    return N::at_least(N::minus_magnitude(x), N::set(c::lowest));
  }
}

/// Returns the sigmoid of x, divided by 2^k for negative x. `e` is exp(-|x|), `scale` 2^k.
template <class N, class V, class Which>
TALLY_FUNCTION V logistic(const reduced_exponent<V>& e, V scale, Which negative) {
  const V one = N::set(1);
  const V mantissa = N::add(e.head, e.left);
  const V d = N::fma(scale, mantissa, one);
  const V d_left = N::fma(scale, e.left, N::fma(scale, e.head, N::sub(one, d)));
  const V q = reciprocal<N>(d);
  // 1/(d + d_left) is q (1 + left); times head + e.left it is q (head + more).
  const V left = N::minus_product(q, d_left, N::minus_product(q, d, one));
  const V more = N::fma(mantissa, left, e.left);
  const V factor = N::select(negative, e.head, one);
  return N::fma(q, factor, N::mul(q, N::select(negative, more, left)));
}

/// Steps of exp and sigmoid of about the same length: a processor takes them of different numbers
/// at a time.
template <elementwise what, class N, class V>
TALLY_FUNCTION auto first_step(V x) {
  if constexpr (what == elementwise::exp) {
    return reduce<N>(bounded<N>(x));
  } else {
    return reduce_exponent<N>(bounded_minus_magnitude<N>(x));
  }
}

template <class N, class V>
TALLY_FUNCTION V second_step(const reduced_argument<V>& first, V x) {
  const auto e = expand<N>(first);
  return scaled<N>(e, N::add(e.head, e.left), x);
}

template <class N, class V>
TALLY_FUNCTION V second_step(const reduced_exponent<V>& e, V x) {
  using c [[maybe_unused]] = exponential_constants<typename N::number>;
  const V scale = power_of_two<N>(e.magic);
  const auto negative = N::is_negative(x);
  const V result = logistic<N>(e, scale, negative);
  if constexpr (N::has_scaling) {
    const V k = N::zero_unless(negative, e.k);
    return N::scaled(N::zero_unless(N::lt(N::set(c::vanishing), k), result), k, x);
  } else {
    return N::keep_nan(x, N::mul(result, N::select(negative, scale, N::set(1))));
  }
}

/// The function `what` of one number.
template <elementwise what, class N, class V>
TALLY_FUNCTION V of_one(V x) {
  if constexpr (what == elementwise::relu) {
    return N::keep_nan(x, N::zero_unless(N::is_positive(x), x));
  } else {
    static_assert(detail::is_exponential(what));
    return second_step<N>(first_step<what, N>(x), x);
  }
}

// --- log and tanh --------------------------------------------------------------------------------

/// Terms of P from z^i on, by Horner's rule.
template <class N, int i, class V>
TALLY_FUNCTION V logarithm_terms(V z) {
  using c = logarithm_constants<typename N::number>;
  if constexpr (i == c::degree) {
    return N::set(c::p[i]);
  } else {
    return N::fma(logarithm_terms<N, i + 1>(z), z, N::set(c::p[i]));
  }
}

/// log(x) = k ln 2 - ((h - (s (h + z P(z)) + k tail)) - f), h = f^2 / 2: the largest terms last.
template <class N, class V>
TALLY_FUNCTION V logarithm(V number) {
  using R = typename N::number;
  using c = logarithm_constants<R>;
  const auto subnormal = N::lt(number, N::set(c::min_normal));
  const V x = N::select(subnormal, N::mul(number, N::set(c::up)), number);
  const V exponent = N::exponent_of(x, c::min_mantissa);
  const V k = N::select(subnormal, N::sub(exponent, N::set(c::up_digits)), exponent);
  const V f = N::sub(N::mantissa_of(x, c::min_mantissa), N::set(1));
  const V s = N::div(f, N::add(f, N::set(2)));
  const V z = N::mul(s, s);
  const V h = N::mul(N::mul(N::set(R(0.5)), f), f);
  const V rest = N::fma(z, logarithm_terms<N, 0>(z), h);
  const V small = N::fma(s, rest, N::mul(k, N::set(c::ln2_tail)));
  const V result = N::fma(k, N::set(c::ln2_head), N::sub(f, N::sub(h, small)));
  const V zero = N::set(0);
  const V of_positive = N::select(N::lt(number, N::set(c::infinity)), result, number);
  return N::select(N::lt(zero, number), of_positive,
                   N::select(N::eq(number, zero), N::set(-c::infinity), N::set(quiet_nan<R>)));
}

/// Returns what `expand` does, of a number in [-64, 0], but `head` is next to
/// 1 + r + r^2 / 2.
template <class N, class V>
TALLY_FUNCTION reduced_exponent<V> reduce_with_square(V number) {
  using R = typename N::number;
  const auto e = reduce<N>(number);
  const V square = N::mul(e.r, e.r), half = N::mul(N::set(R(0.5)), square);
  const V cubes = polynomial<N, 0, tangent_constants<R>>(e.r, square);
  const V v = N::fma(N::mul(square, e.r), cubes, e.small);
  const V both = N::add(e.large, half);
  const V both_left = N::sub(half, N::sub(both, e.large));
  const V head = N::add(N::set(1), both);
  return {e.magic, e.k, head, N::add(N::sub(both, N::sub(head, N::set(1))), N::add(both_left, v))};
}

/// tanh(|x|) = -u / (2 + u) with u = exp(-2 |x|) - 1 = h + l, divided as in `logistic`.
template <class N, class V>
TALLY_FUNCTION V hyperbolic_tangent(V x) {
  using t = tangent_constants<typename N::number>;
  const auto e =
      reduce_with_square<N>(N::at_least(N::minus_magnitude(N::add(x, x)), N::set(t::lowest)));
  const V scale = power_of_two<N>(e.magic);
  const V one = N::set(1), two = N::set(2);
  const V h = N::fma(scale, e.head, N::set(-1));
  const V l = N::fma(scale, e.left, N::fma(scale, e.head, N::sub(N::set(-1), h)));
  const V u = N::add(h, l);
  const V d = N::add(two, u);
  const V d_left = N::add(N::add(N::sub(two, d), h), l);
  const V q = reciprocal<N>(d);
  const V left = N::minus_product(q, d_left, N::minus_product(q, d, one));
  const V minus = N::fma(q, h, N::mul(q, N::fma(u, left, l)));
  const V result = N::select(N::is_negative(x), minus, N::sub(N::set(0), minus));
  const V found = N::select(N::lt(N::magnitude(x), N::set(t::tiny)), x, result);
  if constexpr (N::has_scaling) {
    return N::known(found);  // every step has kept NaN
  } else {
    return N::keep_nan(x, found);
  }
}

// --- Short functions, of up to three numbers -----------------------------------------------------

/// The IEEE 754-2019 minimum or, if `maximum`, maximum.
template <class N, bool maximum, class V>
TALLY_FUNCTION V extreme_of(V x, V y) {
  using R = typename N::number;
  // Equal numbers differ in nothing but the sign of zeros.
  const V equal = maximum ? N::both(x, y) : N::either(x, y);
  const V first = maximum ? y : x, second = maximum ? x : y;
  return N::select(
      N::lt(first, second), x,
      N::select(N::lt(second, first), y, N::select(N::eq(x, y), equal, N::set(quiet_nan<R>))));
}

/// x^n: the product of the squares that n's digits name, from the lowest on.
template <class N, class V>
TALLY_FUNCTION V power(V x, int n) {
  V result = N::set(1), square = x;
  bool is_one = true;
  for (unsigned digits = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);
       digits > 0; digits >>= 1) {
    if (digits & 1) result = is_one ? square : N::mul(result, square), is_one = false;
    if (digits > 1) square = N::mul(square, square);
  }
  if constexpr (!std::is_integral_v<typename N::number>) {
    if (n < 0) result = N::div(N::set(1), result);
  }
  return result;
}

/// The short function `what`, with factors f in order.
template <elementwise what, class N, class Factors, class V>
TALLY_FUNCTION V of_some(const Factors& f, V x, [[maybe_unused]] V y, [[maybe_unused]] V w) {
  using R = typename N::number;
  const auto number = [](auto value) TALLY_LAMBDA { return N::set(static_cast<R>(value)); };
  if constexpr (what == elementwise::inv) {
    return N::known(N::div(number(1), x));
  } else if constexpr (what == elementwise::abs) {
    return N::known(N::magnitude(x));
  } else if constexpr (what == elementwise::sqrt) {
    return N::known(N::sqrt(x));
  } else if constexpr (what == elementwise::log) {
    return logarithm<N>(x);
  } else if constexpr (what == elementwise::tanh) {
    return hyperbolic_tangent<N>(x);
  } else if constexpr (what == elementwise::sign) {
    const V zero = number(0);
    const V found =
        N::select(N::lt(zero, x), number(1), N::select(N::lt(x, zero), number(-1), zero));
    return N::keep_nan(x, found);
  } else if constexpr (what == elementwise::add_constant) {
    return N::known(N::add(x, number(f.alpha)));
  } else if constexpr (what == elementwise::clamp) {
    return extreme_of<N, false>(extreme_of<N, true>(x, number(f.alpha)), number(f.beta));
  } else if constexpr (what == elementwise::pow) {
    return N::known(power<N>(x, static_cast<int>(f.alpha)));
  } else if constexpr (detail::is_comparison(what)) {
    const V other = what == elementwise::compare ? y : number(f.beta);
    const int code = static_cast<int>(f.alpha);
    const V less = number(code & 1), equal = number(code >> 1 & 1), greater = number(code >> 2 & 1),
            unordered = number(code >> 3 & 1);
    return N::select(
        N::lt(x, other), less,
        N::select(N::lt(other, x), greater, N::select(N::eq(x, other), equal, unordered)));
  } else if constexpr (what == elementwise::div) {
    return N::known(N::div(x, y));
  } else if constexpr (what == elementwise::minimum || what == elementwise::maximum) {
    return extreme_of<N, what == elementwise::maximum>(x, y);
  } else if constexpr (what == elementwise::where) {
    return N::known(N::select(N::eq(x, number(0)), w, y));
  } else {
    static_assert(what == elementwise::jacobi_step);
    return N::known(N::add(x, N::div(N::mul(number(f.alpha), y), w)));
  }
}
