// Zips interleave runs of several sources in a target without gaps.

#if defined(__AVX512VBMI__)
/// Stores a line, past the caches if kIsStreamed.
template <bool kIsStreamed>
inline void put_line(std::byte* to, __m512i line) {
  if constexpr (kIsStreamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), line);
  } else {
    _mm512_storeu_si512(to, line);
  }
}
#endif

/// Zips two sources of kUnit-byte elements without gaps.
template <int kUnit, bool kIsStreamed>
void zip_two(std::byte* target, const std::byte* first, const std::byte* second, std::int64_t count) {
  std::int64_t i = 0;
#if defined(__AVX512VBMI__)
  if constexpr (kUnit == 8) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    for (; i + 8 <= count; i += 8) {
      const __m512i a = _mm512_loadu_si512(first + 8 * i), b = _mm512_loadu_si512(second + 8 * i);
      put_line<kIsStreamed>(target + 16 * i, _mm512_permutex2var_epi64(a, low, b));
      put_line<kIsStreamed>(target + 16 * i + 64, _mm512_permutex2var_epi64(a, high, b));
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

/// Zips any number of sources of kUnit-byte elements, one element at a time.
template <int kUnit>
void zip_any(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    for (int s = 0; s < source_count; ++s)
      __builtin_memcpy(target + (i * source_count + s) * kUnit, sources[s] + i * kUnit, kUnit);
}

template <int kUnit>
bool zip_units(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t count,
               bool is_streamed) {
  if (source_count == 2 && is_streamed) {
    zip_two<kUnit, true>(target, sources[0], sources[1], count);
  } else if (source_count == 2) {
    zip_two<kUnit, false>(target, sources[0], sources[1], count);
  } else if constexpr (kUnit >= 4) {
    zip_any<kUnit>(target, sources, source_count, count);
  } else {
    return false;
  }
  return true;
}

/// Zips sources of elements that consist of whole lines.
void stream_lines(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t element_bytes,
                  std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    for (int s = 0; s < source_count; ++s)
      for (std::int64_t k = 0; k < element_bytes; k += kLine)
        stream_line(target + (i * source_count + s) * element_bytes + k, sources[s] + i * element_bytes + k);
}

/// Implements copy::zip(). Returns false and does nothing if there is no kernel for elements of this size.
bool zip(std::byte* target, const std::byte* const* sources, int source_count, std::int64_t element_bytes,
         std::int64_t count, bool is_streamed) {
  switch (element_bytes) {
    case 1: return zip_units<1>(target, sources, source_count, count, is_streamed);
    case 2: return zip_units<2>(target, sources, source_count, count, is_streamed);
    case 4: return zip_units<4>(target, sources, source_count, count, is_streamed);
    case 8: return zip_units<8>(target, sources, source_count, count, is_streamed);
    case 16: zip_any<16>(target, sources, source_count, count); return true;
    default:
      if (!is_streamed || element_bytes % kLine != 0) return false;
      stream_lines(target, sources, source_count, element_bytes, count);
      return true;
  }
}
