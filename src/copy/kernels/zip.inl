// Zips: one run of each of several sources in turn, into a target without gaps.

/// Two sources of kUnit-byte elements, each without gaps.
template <int kUnit>
void zip_two(std::byte* target, const std::byte* first, const std::byte* second, std::int64_t count) {
  std::int64_t i = 0;
#if defined(__AVX512VBMI__)
  if constexpr (kUnit == 8) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    for (; i + 8 <= count; i += 8) {
      const __m512i a = _mm512_loadu_si512(first + 8 * i), b = _mm512_loadu_si512(second + 8 * i);
      _mm512_storeu_si512(target + 16 * i, _mm512_permutex2var_epi64(a, low, b));
      _mm512_storeu_si512(target + 16 * i + 64, _mm512_permutex2var_epi64(a, high, b));
    }
  }
#endif
  if constexpr (kVectorBytes > 0) {
    constexpr std::int64_t kCount = 16 / kUnit;
    for (; i + kCount <= count; i += kCount) {
      const Vector<16> a = Vector<16>::load(first + kUnit * i, 0), b = Vector<16>::load(second + kUnit * i, 0);
      Vector<16> low, high;
      Vector<16>::unpack<kUnit>(a, b, low, high);
      low.store(target + 2 * kUnit * i);
      high.store(target + 2 * kUnit * i + 16);
    }
  }
  for (; i < count; ++i) {
    __builtin_memcpy(target + 2 * kUnit * i, first + kUnit * i, kUnit);
    __builtin_memcpy(target + 2 * kUnit * i + kUnit, second + kUnit * i, kUnit);
  }
}

template <int kUnit>
void zip_any(std::byte* target, const std::byte* const* sources, int ways, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    for (int way = 0; way < ways; ++way)
      __builtin_memcpy(target + (i * ways + way) * kUnit, sources[way] + i * kUnit, kUnit);
}

/// false, doing nothing, where no kernel is for elements of this size.
bool zip(std::byte* target, const std::byte* const* sources, int ways, std::int64_t element_bytes, std::int64_t count) {
  if (ways == 2) {
    switch (element_bytes) {
      case 1: zip_two<1>(target, sources[0], sources[1], count); return true;
      case 2: zip_two<2>(target, sources[0], sources[1], count); return true;
      case 4: zip_two<4>(target, sources[0], sources[1], count); return true;
      case 8: zip_two<8>(target, sources[0], sources[1], count); return true;
      default: break;
    }
  }
  switch (element_bytes) {
    case 4: zip_any<4>(target, sources, ways, count); return true;
    case 8: zip_any<8>(target, sources, ways, count); return true;
    case 16: zip_any<16>(target, sources, ways, count); return true;
    default: return false;
  }
}
