// Copies of one run after another at constant steps: two nested loops, without any set-up.

using RowsFunction = void (*)(std::byte* target, const std::byte* source, std::int64_t run_bytes, Step inner,
                              Step outer);

/// A run of fixed length that one move, or a few whole vectors, hold.
template <int kBytes>
void fixed_rows(std::byte* target, const std::byte* source, std::int64_t, Step inner, Step outer) {
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    std::int64_t left = inner.count;
    for (; left >= 4; left -= 4) {
      __builtin_memcpy(to, from, kBytes);
      __builtin_memcpy(to + inner.target, from + inner.source, kBytes);
      __builtin_memcpy(to + 2 * inner.target, from + 2 * inner.source, kBytes);
      __builtin_memcpy(to + 3 * inner.target, from + 3 * inner.source, kBytes);
      from += 4 * inner.source;
      to += 4 * inner.target;
    }
    for (; left > 0; --left) {
      __builtin_memcpy(to, from, kBytes);
      from += inner.source;
      to += inner.target;
    }
  }
}

/// A run of kHalf + 1 to 2 * kHalf bytes: two moves that may overlap.
template <int kHalf>
void paired_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, Step inner, Step outer) {
  const std::int64_t second = run_bytes - kHalf;
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    for (std::int64_t i = 0; i < inner.count; ++i) {
      __builtin_memcpy(to, from, kHalf);
      __builtin_memcpy(to + second, from + second, kHalf);
      from += inner.source;
      to += inner.target;
    }
  }
}

/// A run of at least 64 bytes: moves of 64 bytes, the last of which may overlap the one before.
void block_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, Step inner, Step outer) {
  const std::int64_t last = run_bytes - 64;
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    for (std::int64_t i = 0; i < inner.count; ++i) {
      for (std::int64_t k = 0; k < last; k += 64) __builtin_memcpy(to + k, from + k, 64);
      __builtin_memcpy(to + last, from + last, 64);
      from += inner.source;
      to += inner.target;
    }
  }
}

void long_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, Step inner, Step outer) {
  for (std::int64_t j = 0; j < outer.count; ++j) {
    for (std::int64_t i = 0; i < inner.count; ++i) {
      __builtin_memcpy(target + j * outer.target + i * inner.target, source + j * outer.source + i * inner.source,
                       static_cast<std::size_t>(run_bytes));
    }
  }
}

/// From here on a call of memcpy costs little beside the copy itself.
constexpr std::int64_t kLongRun = 1024;

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
