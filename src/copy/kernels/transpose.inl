// Transposes: the loop along which the target is contiguous is not the one along which the source is.

/// One register tile of kBytes bytes of rows of the source by 16 bytes of columns.  Each of log2(16 / kUnit) rounds of
/// `unpack` moves one bit of the row number into the column number.
template <int kBytes, int kUnit>
inline void transpose_tile(std::byte* target, std::int64_t target_step, const std::byte* source,
                           std::int64_t source_step) {
  using V = Vector<kBytes>;
  constexpr int kCount = 16 / kUnit;
  V a[kCount], b[kCount];
  for (int i = 0; i < kCount; ++i) a[i] = V::load(source + i * source_step, kCount * source_step);
  if constexpr (kCount > 1) {
    for (int round = 1; round < kCount; round *= 2) {
      for (int i = 0; i < kCount / 2; ++i) {
        V::template unpack<kUnit>(a[i], a[i + kCount / 2], b[2 * i], b[2 * i + 1]);
      }
      for (int i = 0; i < kCount; ++i) a[i] = b[i];
    }
  }
  for (int i = 0; i < kCount; ++i) a[i].store(target + i * target_step);
}

/// Along `row` the target is contiguous, along `column` the source; both in units of kUnit bytes.  Edges are met by a
/// tile that overlaps its neighbour and writes the same values once more.
template <int kBytes, int kUnit>
void transpose_blocks(std::byte* target, const std::byte* source, Step row, Step column) {
  constexpr std::int64_t kTileRows = kBytes / kUnit, kTileColumns = 16 / kUnit;
  // A block at each end fits L2 together, and long pieces of a row spare the translation of addresses.
  constexpr std::int64_t kBlockRows = 512 / kUnit, kBlockColumns = 512 / kUnit;
  static_assert(kBlockRows % kTileRows == 0);
  for (std::int64_t c0 = 0; c0 < column.count; c0 += kBlockColumns) {
    const std::int64_t c1 = smaller(c0 + kBlockColumns, column.count);
    for (std::int64_t r0 = 0; r0 < row.count; r0 += kBlockRows) {
      const std::int64_t r1 = smaller(r0 + kBlockRows, row.count);
      for (std::int64_t r = r0; r < r1; r += kTileRows) {
        const std::int64_t tile_row = smaller(r, row.count - kTileRows);
        for (std::int64_t c = c0; c < c1; c += kTileColumns) {
          const std::int64_t tile_column = smaller(c, column.count - kTileColumns);
          transpose_tile<kBytes, kUnit>(target + tile_row * kUnit + tile_column * column.target, column.target,
                                        source + tile_row * row.source + tile_column * kUnit, row.source);
        }
      }
    }
  }
}

using TransposeFunction = void (*)(std::byte* target, const std::byte* source, Step row, Step column);

template <int kBytes>
TransposeFunction choose_transpose_of(std::int64_t unit, std::int64_t rows, std::int64_t columns) {
  if constexpr (kBytes < 16) {
    return nullptr;
  } else {
    if (rows * unit < kBytes || columns * unit < 16) {
      return choose_transpose_of<kBytes / 2>(unit, rows, columns);
    }
    switch (unit) {
      case 1: return transpose_blocks<kBytes, 1>;
      case 2: return transpose_blocks<kBytes, 2>;
      case 4: return transpose_blocks<kBytes, 4>;
      case 8: return transpose_blocks<kBytes, 8>;
      case 16: return transpose_blocks<kBytes, 16>;
      default: return nullptr;
    }
  }
}

/// The kernel for these two loops, nullptr where there is none.
TransposeFunction choose_transpose(std::int64_t unit, const Step& row, const Step& column) {
  if (row.target != unit || column.source != unit) return nullptr;
  return choose_transpose_of<kVectorBytes>(unit, row.count, column.count);
}
