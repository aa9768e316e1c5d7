// Fixed data and the bits of their dot products, reductions and exponentials under order 1. These
// never change: other bits are another order. The data come from integers, so that compiler flags
// of this file don't matter.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace golden {

/// Upper bits of a linear congruential generator.
class generator {
 public:
  explicit generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 11;  // 53 bits
  }

 private:
  std::uint64_t state_;
};

/// Random sign and fraction, and one of `span` exponents from 2^lowest up; assembled from bits, so
/// that flushing changes nothing.
inline double assembled(generator& random, int lowest, int span) {
  const std::uint64_t bits = random();
  const std::uint64_t exponent = static_cast<std::uint64_t>(1023 + lowest) + random() % span;
  return std::bit_cast<double>((bits & 0x000fffffffffffffu) | (exponent << 52) |
                               (random() & 1) << 63);
}

inline std::vector<double> doubles(std::size_t n, std::uint64_t seed, int lowest = -8,
                                   int span = 8) {
  generator random(seed);
  std::vector<double> v(n);
  for (double& e : v) e = assembled(random, lowest, span);
  return v;
}

inline std::vector<float> floats(std::size_t n, std::uint64_t seed) {
  generator random(seed);
  std::vector<float> v(n);
  for (float& e : v) {
    const auto bits = static_cast<std::uint32_t>(random());
    e = std::bit_cast<float>((bits & 0x807fffffu) | (119 + bits % 7) << 23);
  }
  return v;
}

struct row {
  std::size_t n;
  std::uint64_t f64;  ///< doubles(n, 1) . doubles(n, 2)
  std::uint64_t
      subnormal;      ///< doubles(n, 3, -520, 8) . doubles(n, 4, -550, 8): products below 2^-1022
  std::uint32_t f32;  ///< floats(n, 5) . floats(n, 6)
};

inline constexpr row rows[] = {
    {1, 0xbf46b1ea6ce91189, 0x800000000000966c, 0xbd93ba4a},
    {64, 0xbfe1cc7b01c8a53a, 0x0000000000077dd0, 0xbd577edc},
    {100, 0xbfe0a0be167988a8, 0x000000000003ec5b, 0xbd3185dc},
    {1000, 0xc012ea947b2baef4, 0x00000000005ad220, 0x3dd0ba64},
    {1024, 0xc011d06d19c0a3da, 0x0000000000651ee9, 0x3ddbf33c},
    {1025, 0xc011d142f9eaa875, 0x0000000000652133, 0x3dd4e78d},
    {5000, 0xbff521ab93875cde, 0x000000000063062f, 0x405d813e},
    {100003, 0xc034c005a891888b, 0x0000000001e8a4d9, 0xc01ba97f},
};

/// The same products as a matrix row of n terms times a vector.
inline constexpr row matrix_rows[] = {
    {1, 0xbf46b1ea6ce91189, 0x800000000000966c, 0xbd93ba4a},
    {3, 0x3f639afcbda43fb4, 0x800000000000e832, 0xbd8867ee},
    {5, 0xbf71f0dfae0276c8, 0x8000000000024228, 0xbd9e8cbe},
    {8, 0xbf870d9b8dfb91b5, 0x800000000003168a, 0xbd6fa074},
    {9, 0xbf88745053d120c3, 0x80000000000314e5, 0xbd6fd9ce},
    {17, 0x3f70f4721d83508f, 0x8000000000001375, 0x3cd5389e},
    {64, 0xbfe1cc7b01c8a53a, 0x0000000000077dd0, 0xbd577edf},
    {100, 0xbfe0a0be167988a6, 0x000000000003ec5b, 0xbd3185e2},
    {127, 0xbfb553fd17de6690, 0x000000000007b347, 0xbd36ddcd},
    {128, 0xbfb9a358dbc291ac, 0x000000000007ba4e, 0xbae4e420},
    {129, 0xbfcb7fa7faba13a2, 0x000000000007b424, 0xbab98380},
    {1000, 0xc012ea947b2baef4, 0x00000000005ad220, 0x3dd0ba64},
    {5000, 0xbff521ab93875cde, 0x000000000063062f, 0x405d813e},
    {100003, 0xc034c005a891888b, 0x0000000001e8a4d9, 0xc01ba97f},
};

/// Segments of n elements, doubles(n, 1) and floats(n, 5), behind three others and an empty one.
struct segment_row {
  std::size_t n;
  std::uint64_t f64;
  std::uint32_t f32;
};

inline constexpr segment_row segment_rows[] = {
    {1, 0xbfad8aedf5887fa0, 0x3eaeca5f},   {9, 0x3f918c817a710500, 0x3f063995},
    {100, 0xc00eede44ec640dc, 0x3f8497a3}, {128, 0xc013e81c61ef4322, 0x402f347c},
    {129, 0xc011f3570a889a53, 0x40336036}, {5000, 0xc0237d65c9d6815a, 0x41578aac},
};

/// csr_from_coo of n entries in one place, doubles(n, 1) and floats(n, 5), in both grades.
struct assembly_row {
  std::size_t n;
  std::uint64_t f64, exact_f64;
  std::uint32_t f32, exact_f32;
};

inline constexpr assembly_row assembly_rows[] = {
    {2, 0x3fc4ddaf3c401282, 0x3fc4ddaf3c401282, 0x3eccfc82, 0x3eccfc82},
    {3, 0x3fcdba9a8f8f0cd6, 0x3fcdba9a8f8f0cd6, 0x3ea5b320, 0x3ea5b320},
    {100, 0xc00eede44ec640dd, 0xc00eede44ec640dc, 0x3f8497a2, 0x3f8497a1},
    {5000, 0xc0237d65c9d68147, 0xc0237d65c9d6815a, 0x41578aa9, 0x41578aaa},
};

/// multi_axpy of k vectors with beta = 0.1: the last element of doubles(64, 91) with factors
/// doubles(k, 90) and vectors doubles(64, j); of bfloat16 with beta = 0 and floats(64, j).
struct multi_axpy_row {
  std::size_t k;
  std::uint64_t f64;
  std::uint16_t bf16;
};

inline constexpr multi_axpy_row multi_axpy_rows[] = {
    {1, 0xbfb1639b119e33a2, 0x3a2f},
    {2, 0xbfb175de5592f4a7, 0xba45},
    {8, 0xbfb0d75cab91b22a, 0xbd0f},
    {33, 0xbfa60104ba50536b, 0x3e33},
};

/// Reductions of the same data; `far`: the norm of doubles(n, 3, -520, 8), whose squares underflow.
struct reduction_row {
  std::size_t n;
  std::uint64_t sum, asum, nrm2;  ///< of doubles(n, 1)
  std::uint64_t far;
  std::uint32_t sum32, asum32, nrm2_32;  ///< of floats(n, 5)
};

inline constexpr reduction_row reduction_rows[] = {
    {1, 0xbfad8aedf5887fa0, 0x3fad8aedf5887fa0, 0x3fad8aedf5887fa0, 0x1fd39f6b00dba4ff, 0x3eaeca5f,
     0x3eaeca5f, 0x3eaeca5f},
    {64, 0xc0157a4af0399f90, 0x402b390003e2fb14, 0x4005439b38d556f1, 0x2003cd60c6117569, 0x3f08e870,
     0x40f1eca4, 0x3fb85cab},
    {100, 0xc00eede44ec640dc, 0x40345a1af37e6716, 0x400a6e4c0be874dc, 0x200d30195336710d,
     0x3f8497a0, 0x4122f1f1, 0x3fcf9648},
    {1000, 0xc0279f5ea49ea012, 0x4067dffba3722aca, 0x402410036e3130ac, 0x20240fb6b9e2ff47,
     0x3cf8f200, 0x42d6e706, 0x40ab1d93},
    {1024, 0xc02793bce0de0f71, 0x406849002ce196e7, 0x40242c2893b2a2d3, 0x20244aec49b2e0ef,
     0xbf6eae88, 0x42da27ff, 0x40ac0a49},
    {1025, 0xc02756aae7639a8b, 0x40684cd14c793e35, 0x40242c850404f290, 0x20244b2c5e3d90f7,
     0xbf71fb25, 0x42da2e98, 0x40ac0a6a},
    {5000, 0xc0237d65c9d6815a, 0x408d4663da98621b, 0x403616ebc9865003, 0x2035e108558f7aee,
     0x41578aac, 0x440320da, 0x413bac82},
    {100003, 0xc0335ce90904bfeb, 0x40d23b67d4dc7dc4, 0x4058a0b5330aa4b7, 0x2058a2d2fc2bd952,
     0x4138deca, 0x46254b01, 0x42523b71},
};

/// Norms of x = doubles(n, 1) with weights doubles(n, 2): wrms_norm, with the mask doubles(n, 3),
/// and the exact weighted_nrm2.
struct norm_row {
  std::size_t n;
  std::uint64_t wrms, masked, exact_root;
};

inline constexpr norm_row norm_rows[] = {
    {1, 0x3f46b1ea6ce91189, 0x0, 0x3f46b1ea6ce91189},
    {100, 0x3fac4245c613677e, 0x3f925537785cef07, 0x3fe1a96b9bcc20af},
    {1025, 0x3fb466cf817a21d6, 0x3fadab3973d87e6d, 0x4004695c32a1cb00},
    {5000, 0x3fb7e8cc75694371, 0x3fb14a04706fc515, 0x401a6a974c1fb3dd},
};

/// log and tanh, likewise (docs/numerics.md).
template <class R, class Bits>
struct logarithm_row {
  R x;
  Bits log, tanh;
};

inline constexpr logarithm_row<double, std::uint64_t> logarithm_rows[] = {
    {0x1.999999999999ap-4, 0xc0026bb1bbb55515, 0x3fb983d7795f413a},
    {0x1p+0, 0x0000000000000000, 0x3fe85efab514f394},
    {0x1.8p+0, 0x3fd9f323ecbf984c, 0x3fecf6f9786df577},
    {0x1.6a09e667f3bccp-1, 0xbfd62e42fefa39f1, 0x3fe37bc6a2932386},
    {0x1.6a09e667f3bcdp-1, 0xbfd62e42fefa39ee, 0x3fe37bc6a2932386},
    {0x1.5bf0a8b145769p+1, 0x3ff0000000000000, 0x3fefb8f76b1e2ab6},
    {0x1.7e43c8800759cp+996, 0x4085963447f87fb5, 0x3ff0000000000000},
    {0x0.0000000000001p-1022, 0xc0874385446d71c3, 0x0000000000000001},
    {0x0.03739a252b281p-1022, 0xc086459f44103e87, 0x00003739a252b281},
    {0x1.677b3b67c0de5p+0, 0x3fd5ba1ef9574474, 0x3fec5c40a5d2911a},
    {0x1.6868a6b3e38cdp-1, 0xbfd6783027b4f1de, 0x3fe36b555c4fc7d8},
    {0x1.fffffffffffffp-1, 0xbca0000000000000, 0x3fe85efab514f394},
    {0x1.6c7f203a9ed03p-3, 0xbffb9e1cec67f353, 0x3fc68b237af30699},
    {0x1.12e0be826d695p-30, 0xc034b927f32bffb8, 0x3e112e0be826d695},
    {0x1.3333333333333p-2, 0xbff34378fcbda721, 0x3fd2a4dda7d914fa},
    {0x1.28p+4, 0x400757982e7c3941, 0x3feffffffffffffe},
    {0x1.38p+4, 0x4007c368a8c97f5a, 0x3ff0000000000000},
    {0x1.199999999999ap-1, 0xbfe3217b0fd2b116, 0x3fe00442f6419203},
};

inline constexpr logarithm_row<float, std::uint32_t> logarithm_rows_of_float[] = {
    {0x1.99999ap-4f, 0xc0135d8e, 0x3dcc1ebc},   {0x1p+0f, 0x00000000, 0x3f42f7d6},
    {0x1.8p+0f, 0x3ecf991f, 0x3f67b7cc},        {0x1.6a09e6p-1f, 0xbeb17219, 0x3f1bde35},
    {0x1.6a09e8p-1f, 0xbeb17216, 0x3f1bde36},   {0x1.5bf0a8p+1f, 0x3f800000, 0x3f7dc7bb},
    {0x1.2ced32p+126f, 0x42aeff18, 0x3f800000}, {0x1p-149f, 0xc2ce8ed0, 0x00000001},
    {0x1.a2238p-132f, 0xc2b60274, 0x00034447},  {0x1.fffffep-1f, 0xb3800000, 0x3f42f7d5},
    {0x1p-13f, 0xc1102cb3, 0x39000000},         {0x1.fffffep-14f, 0xc1102cb4, 0x38ffffff},
    {0x1.333334p-2f, 0xbf9a1bc8, 0x3e9526ee},   {0x1.1p+3f, 0x4008f6d8, 0x3f7fffff},
    {0x1.3p+3f, 0x4010152a, 0x3f800000},        {0x1.19999ap-1f, 0xbf190bd8, 0x3f002218},
};

/// exp and sigmoid, whose formula is part of order 1 (docs/numerics.md).
template <class R, class Bits>
struct exponential_row {
  R x;
  Bits exp, sigmoid;
};

inline constexpr exponential_row<double, std::uint64_t> exponential_rows[] = {
    {0x1.999999999999ap-4, 0x3ff1aec7b35a00d4, 0x3fe0cca12729afb8},
    {-0x1.999999999999ap-4, 0x3fecf46d99d52b3a, 0x3fde66bdb1aca090},
    {0x1p+0, 0x4005bf0a8b145769, 0x3fe764d4f5d5a2bd},
    {-0x1p+0, 0x3fd78b56362cef38, 0x3fd136561454ba86},
    {0x1.8p-30, 0x3ff0000000600000, 0x3fe0000000300000},
    {0x1.48p+4, 0x41c7d6c4f0bcdd5c, 0x3fefffffff542e28},
    {-0x1.48p+4, 0x3e157a3afeed00ab, 0x3e157a3afe79aea9},
    {0x1.91p+6, 0x48f8c39b9134bac4, 0x3ff0000000000000},
    {-0x1.5e4p+9, 0x00c4ff475c68ca02, 0x00c4ff475c68ca02},
    {0x1.62ep+9, 0x7feef85a11e73f2d, 0x3ff0000000000000},
    {-0x1.748p+9, 0x0000000000000001, 0x0000000000000000},
    {-0x1.427c94c1edff9p+9, 0x05c6a18e577a6aaa, 0x05c6a18e577a6aa9},
    {-0x1.c81740b74bfd6p+6, 0x35a6a0a36e6f2d02, 0x35a6a0a36e6f2d02},
    {0x1.62e42fefa39efp-2, 0x3ff6a09e667f3bcc, 0x3fe2bec333018867},
    {-0x1.62e42fefa39fp-2, 0x3fe6a09e667f3bcc, 0x3fda827999fcef32},
    {0x1.0a2b23f3bab73p+0, 0x4006a09e667f3bcc, 0x3fe7a437c56e26f9},
    {-0x1.624p+9, 0x000e6cf6d08897ac, 0x000e6cf6d08897ac},
    {-0x1.ep+1, 0x3f981509354f0d29, 0x3f978761313f225a},
    {0x1.24p+5, 0x433940b4acc4e544, 0x3fefffffffffffff},
    {0x1.56e1fc2f8f359p-997, 0x3ff0000000000000, 0x3fe0000000000000},
};

inline constexpr exponential_row<float, std::uint32_t> exponential_rows_of_float[] = {
    {0x1.99999ap-4f, 0x3f8d763e, 0x3f066509},  {-0x1.99999ap-4f, 0x3f67a36d, 0x3ef335ee},
    {0x1p+0f, 0x402df854, 0x3f3b26a8},         {-0x1p+0f, 0x3ebc5ab2, 0x3e89b2b1},
    {0x1.8p-14f, 0x3f800300, 0x3f000180},      {0x1.5p+3f, 0x470ddb81, 0x3f7ffe32},
    {-0x1.5p+3f, 0x37e6fe13, 0x37e6fc72},      {0x1.92p+5f, 0x63b47241, 0x3f800000},
    {-0x1.42p+6f, 0x0568d103, 0x0568d103},     {0x1.62p+6f, 0x7f4cdcc4, 0x3f800000},
    {-0x1.9cp+6f, 0x00000001, 0x00000001},     {0x1.62e43p-2f, 0x3fb504f3, 0x3f15f61a},
    {-0x1.62e432p-2f, 0x3f3504f3, 0x3ed413cd}, {0x1.0a2b24p+0f, 0x403504f3, 0x3f3d21be},
    {-0x1.5fp+6f, 0x0054a77c, 0x0054a77c},     {-0x1.ep+1f, 0x3cc0a84a, 0x3cbc3b09},
    {0x1.08p+4f, 0x4b5f8d5f, 0x3f7fffff},      {0x1.4484cp-100f, 0x3f800000, 0x3f000000},
};

}  // namespace golden
