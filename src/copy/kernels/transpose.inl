// Transposes copy between sides that are contiguous along different loops.
//
// A tile is transposed in registers. Example: 4 rows of 4 units of 4 bytes in the registers a0 to a3. Round 1
// interleaves a0 with a2 and a1 with a3: (00 20 01 21), (02 22 03 23), (10 30 11 31), (12 32 13 33). Round 2
// interleaves the first of these with the third and the second with the fourth: (00 10 20 30), (01 11 21 31), (02 12
// 22 32), (03 13 23 33), the columns.

/// Transposes a register tile of kBytes bytes of rows of the source by 16 bytes of columns. Each of log2(16 / kUnit)
/// rounds of `unpack` moves one bit of the row number into the column number.
template <int kBytes, int kUnit>
inline void transpose_tile(std::byte* target, std::int64_t target_stride, const std::byte* source,
                           std::int64_t source_stride) {
  using V = Vector<kBytes>;
  constexpr int kCount = 16 / kUnit;
  V a[kCount], b[kCount];
  for (int i = 0; i < kCount; ++i) a[i] = V::load(source + i * source_stride, kCount * source_stride);
  if constexpr (kCount > 1) {
    for (int round = 1; round < kCount; round *= 2) {
      for (int i = 0; i < kCount / 2; ++i) {
        V::template unpack<kUnit>(a[i], a[i + kCount / 2], b[2 * i], b[2 * i + 1]);
      }
      for (int i = 0; i < kCount; ++i) a[i] = b[i];
    }
  }
  for (int i = 0; i < kCount; ++i) a[i].store(target + i * target_stride);
}

/// Transposes loops in units of kUnit bytes: the target is contiguous along `row`, the source along `column`. At an
/// edge, a tile overlaps its neighbour and writes the same values again.
template <int kBytes, int kUnit>
void transpose_blocks(std::byte* target, const std::byte* source, KernelLoop row, KernelLoop column) {
  constexpr std::int64_t kTileRows = kBytes / kUnit, kTileColumns = 16 / kUnit;
  // Blocks of both sides fit into L2 together, and long parts of a row need few address translations.
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

using TransposeFunction = void (*)(std::byte* target, const std::byte* source, KernelLoop row, KernelLoop column);

/// Returns the kernel with the widest vectors, of at most kBytes bytes, for which the loops are long enough.
template <int kBytes>
TransposeFunction choose_transpose_for_width(std::int64_t unit, std::int64_t rows, std::int64_t columns) {
  if constexpr (kBytes < 16) {
    return nullptr;
  } else {
    if (rows * unit < kBytes || columns * unit < 16) {
      return choose_transpose_for_width<kBytes / 2>(unit, rows, columns);
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

/// Returns the kernel for these two loops, nullptr if there is none.
TransposeFunction choose_transpose(std::int64_t unit, const KernelLoop& row, const KernelLoop& column) {
  if (row.target != unit || column.source != unit) return nullptr;
  return choose_transpose_for_width<kVectorBytes>(unit, row.count, column.count);
}
