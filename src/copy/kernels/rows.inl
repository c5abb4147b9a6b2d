// Copies one run after another at constant strides: two nested loops, without any set-up.
//
// A run whose length is not a power of two is copied by two overlapping moves. Example: 13 bytes are copied by 8 bytes
// from offset 0 and 8 bytes from offset 5; bytes 5 to 7 are written twice with the same values.

using RowsFunction = void (*)(std::byte* target, const std::byte* source, std::int64_t run_bytes, KernelLoop inner,
                              KernelLoop outer);

/// Copies kBytes bytes, by moves (a load and a store) of 16 bytes. On Zen 4 wider moves halve the rate for a target out
/// of cache, and are no faster in cache.
template <int kBytes>
inline void move_run(std::byte* to, const std::byte* from) {
  if constexpr (kBytes > 16 && kVectorBytes > 0) {
    static_assert(kBytes % 16 == 0);
    for (int i = 0; i < kBytes; i += 16) Vector<16>::load(from + i, 0).store(to + i);
  } else {
    __builtin_memcpy(to, from, kBytes);
  }
}

/// Copies runs of a fixed length that fits into one move, or a few whole vectors.
template <int kBytes>
void fixed_rows(std::byte* target, const std::byte* source, std::int64_t, KernelLoop inner, KernelLoop outer) {
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    std::int64_t remaining = inner.count;
    for (; remaining >= 4; remaining -= 4) {
      move_run<kBytes>(to, from);
      move_run<kBytes>(to + inner.target, from + inner.source);
      move_run<kBytes>(to + 2 * inner.target, from + 2 * inner.source);
      move_run<kBytes>(to + 3 * inner.target, from + 3 * inner.source);
      from += 4 * inner.source;
      to += 4 * inner.target;
    }
    for (; remaining > 0; --remaining) {
      move_run<kBytes>(to, from);
      from += inner.source;
      to += inner.target;
    }
  }
}

/// Copies runs of kHalf + 1 to 2 * kHalf bytes by two moves that may overlap.
template <int kHalf>
void paired_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, KernelLoop inner,
                 KernelLoop outer) {
  const std::int64_t second = run_bytes - kHalf;
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    for (std::int64_t i = 0; i < inner.count; ++i) {
      move_run<kHalf>(to, from);
      move_run<kHalf>(to + second, from + second);
      from += inner.source;
      to += inner.target;
    }
  }
}

/// Copies runs of at least 64 bytes by moves of 64 bytes. The last one may overlap the one before.
void block_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, KernelLoop inner,
                KernelLoop outer) {
  const std::int64_t last = run_bytes - 64;
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    for (std::int64_t i = 0; i < inner.count; ++i) {
      for (std::int64_t k = 0; k < last; k += 64) move_run<64>(to + k, from + k);
      move_run<64>(to + last, from + last);
      from += inner.source;
      to += inner.target;
    }
  }
}

/// Copies long runs by memcpy.
void long_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, KernelLoop inner, KernelLoop outer) {
  for (std::int64_t j = 0; j < outer.count; ++j) {
    for (std::int64_t i = 0; i < inner.count; ++i) {
      __builtin_memcpy(target + j * outer.target + i * inner.target, source + j * outer.source + i * inner.source,
                       static_cast<std::size_t>(run_bytes));
    }
  }
}

/// Length from which the call of memcpy costs little compared to the copy.
constexpr std::int64_t kLongRun = 1024;

/// Returns the fastest function for runs of this length.
RowsFunction choose_rows(std::int64_t run_bytes) {
  switch (run_bytes) {
    case 1: return fixed_rows<1>;
    case 2: return fixed_rows<2>;
    case 3: return paired_rows<2>;
    case 4: return fixed_rows<4>;
    case 8: return fixed_rows<8>;
    case 16: return fixed_rows<16>;
    case 32: return fixed_rows<32>;
    case 64: return fixed_rows<64>;
    case 128: return fixed_rows<128>;
    default: break;
  }
  if (run_bytes < 8) return paired_rows<4>;
  if (run_bytes < 16) return paired_rows<8>;
  if (run_bytes < 32) return paired_rows<16>;
  if (run_bytes < 64) return paired_rows<32>;
  if (run_bytes < kLongRun) return block_rows;
  return long_rows;
}
