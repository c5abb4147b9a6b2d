// Vectors of 16, 32 or 64 bytes with the few operations that a transpose needs. A vector consists of lanes of 16
// bytes; `unpack` interleaves units of kUnit bytes from the low (high) halves of the lanes of a and b. kVectorBytes
// is the widest vector of this instruction set, 0 if there is none.

template <int kBytes>
struct Vector;

#if defined(__x86_64__)

template <>
struct Vector<16> {
  __m128i value;

  static Vector load(const std::byte* p, std::int64_t) {
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))};
  }
  void store(std::byte* p) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), value); }

  template <int kUnit>
  static void unpack(Vector a, Vector b, Vector& low, Vector& high) {
    if constexpr (kUnit == 1) {
      low.value = _mm_unpacklo_epi8(a.value, b.value), high.value = _mm_unpackhi_epi8(a.value, b.value);
    } else if constexpr (kUnit == 2) {
      low.value = _mm_unpacklo_epi16(a.value, b.value), high.value = _mm_unpackhi_epi16(a.value, b.value);
    } else if constexpr (kUnit == 4) {
      low.value = _mm_unpacklo_epi32(a.value, b.value), high.value = _mm_unpackhi_epi32(a.value, b.value);
    } else {
      low.value = _mm_unpacklo_epi64(a.value, b.value), high.value = _mm_unpackhi_epi64(a.value, b.value);
    }
  }
};

#if defined(__AVX2__)
template <>
struct Vector<32> {
  __m256i value;

  /// Loads lane i from p + i * lane_stride.
  static Vector load(const std::byte* p, std::int64_t lane_stride) {
    return {_mm256_inserti128_si256(_mm256_castsi128_si256(Vector<16>::load(p, 0).value),
                                    Vector<16>::load(p + lane_stride, 0).value, 1)};
  }
  void store(std::byte* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), value); }

  template <int kUnit>
  static void unpack(Vector a, Vector b, Vector& low, Vector& high) {
    if constexpr (kUnit == 1) {
      low.value = _mm256_unpacklo_epi8(a.value, b.value), high.value = _mm256_unpackhi_epi8(a.value, b.value);
    } else if constexpr (kUnit == 2) {
      low.value = _mm256_unpacklo_epi16(a.value, b.value), high.value = _mm256_unpackhi_epi16(a.value, b.value);
    } else if constexpr (kUnit == 4) {
      low.value = _mm256_unpacklo_epi32(a.value, b.value), high.value = _mm256_unpackhi_epi32(a.value, b.value);
    } else {
      low.value = _mm256_unpacklo_epi64(a.value, b.value), high.value = _mm256_unpackhi_epi64(a.value, b.value);
    }
  }
};
#endif

#if defined(__AVX512VBMI__)
template <>
struct Vector<64> {
  __m512i value;

  static Vector load(const std::byte* p, std::int64_t lane_stride) {
    __m512i v = _mm512_castsi128_si512(Vector<16>::load(p, 0).value);
    v = _mm512_inserti32x4(v, Vector<16>::load(p + lane_stride, 0).value, 1);
    v = _mm512_inserti32x4(v, Vector<16>::load(p + 2 * lane_stride, 0).value, 2);
    return {_mm512_inserti32x4(v, Vector<16>::load(p + 3 * lane_stride, 0).value, 3)};
  }
  void store(std::byte* p) const { _mm512_storeu_si512(p, value); }

  template <int kUnit>
  static void unpack(Vector a, Vector b, Vector& low, Vector& high) {
    if constexpr (kUnit == 1) {
      low.value = _mm512_unpacklo_epi8(a.value, b.value), high.value = _mm512_unpackhi_epi8(a.value, b.value);
    } else if constexpr (kUnit == 2) {
      low.value = _mm512_unpacklo_epi16(a.value, b.value), high.value = _mm512_unpackhi_epi16(a.value, b.value);
    } else if constexpr (kUnit == 4) {
      low.value = _mm512_unpacklo_epi32(a.value, b.value), high.value = _mm512_unpackhi_epi32(a.value, b.value);
    } else {
      low.value = _mm512_unpacklo_epi64(a.value, b.value), high.value = _mm512_unpackhi_epi64(a.value, b.value);
    }
  }
};
#endif

#if defined(__AVX512VBMI__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

#elif defined(__aarch64__)

template <>
struct Vector<16> {
  uint8x16_t value;

  static Vector load(const std::byte* p, std::int64_t) { return {vld1q_u8(reinterpret_cast<const std::uint8_t*>(p))}; }
  void store(std::byte* p) const { vst1q_u8(reinterpret_cast<std::uint8_t*>(p), value); }

  template <int kUnit>
  static void unpack(Vector a, Vector b, Vector& low, Vector& high) {
    if constexpr (kUnit == 1) {
      low.value = vzip1q_u8(a.value, b.value), high.value = vzip2q_u8(a.value, b.value);
    } else if constexpr (kUnit == 2) {
      const uint16x8_t x = vreinterpretq_u16_u8(a.value), y = vreinterpretq_u16_u8(b.value);
      low.value = vreinterpretq_u8_u16(vzip1q_u16(x, y)), high.value = vreinterpretq_u8_u16(vzip2q_u16(x, y));
    } else if constexpr (kUnit == 4) {
      const uint32x4_t x = vreinterpretq_u32_u8(a.value), y = vreinterpretq_u32_u8(b.value);
      low.value = vreinterpretq_u8_u32(vzip1q_u32(x, y)), high.value = vreinterpretq_u8_u32(vzip2q_u32(x, y));
    } else {
      const uint64x2_t x = vreinterpretq_u64_u8(a.value), y = vreinterpretq_u64_u8(b.value);
      low.value = vreinterpretq_u8_u64(vzip1q_u64(x, y)), high.value = vreinterpretq_u8_u64(vzip2q_u64(x, y));
    }
  }
};
constexpr int kVectorBytes = 16;

#else
constexpr int kVectorBytes = 0;
#endif
