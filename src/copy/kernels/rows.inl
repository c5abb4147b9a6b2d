// Copies of one run after another at constant steps: two nested loops, without any set-up.

using RowsFunction = void (*)(std::byte* target, const std::byte* source, std::int64_t run_bytes, Step inner, Step outer);

/// A run of fixed length: the compiler turns each copy into one or two moves.
template <int kBytes>
void fixed_rows(std::byte* target, const std::byte* source, std::int64_t, Step inner, Step outer) {
  for (std::int64_t j = 0; j < outer.count; ++j) {
    const std::byte* from = source + j * outer.source;
    std::byte* to = target + j * outer.target;
    std::int64_t left = inner.count;
    for (; left >= 4; left -= 4) {
      // All loads first: the compiler cannot know that source and target do not overlap.
      unsigned char runs[4][kBytes];
      for (int k = 0; k < 4; ++k) __builtin_memcpy(runs[k], from + k * inner.source, kBytes);
      for (int k = 0; k < 4; ++k) __builtin_memcpy(to + k * inner.target, runs[k], kBytes);
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
      unsigned char head[kHalf], tail[kHalf];
      __builtin_memcpy(head, from, kHalf);
      __builtin_memcpy(tail, from + second, kHalf);
      __builtin_memcpy(to, head, kHalf);
      __builtin_memcpy(to + second, tail, kHalf);
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
  static constexpr RowsFunction kShort[] = {
      nullptr,        fixed_rows<1>,  fixed_rows<2>,  fixed_rows<3>,  fixed_rows<4>,  fixed_rows<5>,
      fixed_rows<6>,  fixed_rows<7>,  fixed_rows<8>,  fixed_rows<9>,  fixed_rows<10>, fixed_rows<11>,
      fixed_rows<12>, fixed_rows<13>, fixed_rows<14>, fixed_rows<15>, fixed_rows<16>};
  if (run_bytes <= 16) return kShort[run_bytes];
  if (run_bytes == 24) return fixed_rows<24>;
  if (run_bytes == 32) return fixed_rows<32>;
  if (run_bytes < 32) return paired_rows<16>;
  if (run_bytes < 64) return paired_rows<32>;
  if (run_bytes < kLongRun) return block_rows;
  return long_rows;
}
