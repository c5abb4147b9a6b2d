// Shuffles move many short runs at once.
//
// A block is up to 64 bytes of elements. It is assembled in a register from a few loads, the bytes of each of which are
// permuted into their positions, and written by a few permuted, masked stores. The permutations are computed once for
// each copy, for any run length, strides and order; all blocks of a row share them.
//
// Loads may include bytes between the first and the last source byte of the whole copy that belong to no element.
// Stores write bytes of elements only.
//
// Example: every second element of 4 bytes is copied into a dense target. A block has 16 elements, at the source
// offsets 0, 8, ..., 120. The load at offset 0 contains the elements 0 to 7, the load at 64 the elements 8 to 15, and
// one store writes the block: 3 operations instead of 16 moves.

#if defined(__AVX512VBMI__)

constexpr int kBlockBytes = 64;
constexpr int kMaximumPieces = 16;

/// One load or store of a block: 64 bytes at `offset` from the block's position in the source or the target.
struct Piece {
  std::int64_t offset;
  /// Mask of the bytes in memory that belong to elements of the block.
  std::uint64_t memory_mask;
  /// Mask of the bytes of the register that a load fills; equal to `memory_mask` in stores.
  std::uint64_t register_mask;
  /// Load: the byte in memory for each byte of the register. Store: the byte of the register for each byte in memory.
  alignas(64) std::uint8_t index[kBlockBytes];
};

/// The loads and stores that move one block.
struct Block {
  int bytes, loads, stores;
  Piece load[kMaximumPieces], store[kMaximumPieces];
};

inline std::uint64_t low_bits(std::int64_t count) { return count >= 64 ? ~0ULL : (1ULL << count) - 1; }

/// The positions of the elements of a block on one side, in bytes from the block's position.
struct Positions {
  int count;
  std::int64_t offset[kBlockBytes];
  int order[kBlockBytes];  ///< element numbers by ascending offset
};

/// Sorts the element numbers by offset, by insertion: there are at most 64.
void sort_positions(Positions& positions) {
  for (int i = 0; i < positions.count; ++i) {
    int j = i;
    for (; j > 0 && positions.offset[positions.order[j - 1]] > positions.offset[i]; --j)
      positions.order[j] = positions.order[j - 1];
    positions.order[j] = i;
  }
}

/// Covers the positions by as few pieces of 64 bytes as possible. Returns their number, 0 if there are too many.
int cover_positions(const Positions& positions, std::int64_t run_bytes, bool is_load, Piece* pieces) {
  int count = 0;
  std::int64_t end = 0;
  for (int i = 0; i < positions.count; ++i) {
    const int element = positions.order[i];
    const std::int64_t offset = positions.offset[element];
    if (count == 0 || offset + run_bytes > end) {
      if (count == kMaximumPieces) return 0;
      Piece& new_piece = pieces[count++];
      new_piece.offset = offset;
      new_piece.memory_mask = new_piece.register_mask = 0;
      __builtin_memset(new_piece.index, 0, sizeof new_piece.index);
      end = offset + kBlockBytes;
    }
    Piece& piece = pieces[count - 1];
    const std::int64_t memory_position = offset - piece.offset;
    const std::int64_t position = element * run_bytes;
    piece.memory_mask |= low_bits(run_bytes) << memory_position;
    piece.register_mask |= low_bits(run_bytes) << position;
    for (std::int64_t k = 0; k < run_bytes; ++k) {
      if (is_load) {
        piece.index[position + k] = static_cast<std::uint8_t>(memory_position + k);
      } else {
        piece.index[memory_position + k] = static_cast<std::uint8_t>(position + k);
      }
    }
  }
  return count;
}

/// Lays out a block of inner.count x outer.count runs. Returns false if it needs too many pieces.
bool lay_out(Block& block, std::int64_t run_bytes, KernelLoop inner, KernelLoop outer) {
  Positions source, target;
  source.count = target.count = static_cast<int>(inner.count * outer.count);
  block.bytes = static_cast<int>(source.count * run_bytes);
  int element = 0;
  for (std::int64_t j = 0; j < outer.count; ++j) {
    for (std::int64_t i = 0; i < inner.count; ++i, ++element) {
      source.offset[element] = j * outer.source + i * inner.source;
      target.offset[element] = j * outer.target + i * inner.target;
    }
  }
  sort_positions(source);
  sort_positions(target);
  block.loads = cover_positions(source, run_bytes, /*is_load=*/true, block.load);
  block.stores = cover_positions(target, run_bytes, /*is_load=*/false, block.store);
  return block.loads > 0 && block.stores > 0;
}

/// Moves any block with masked loads, so that it accesses no byte outside of its elements.
void move_block(std::byte* target, const std::byte* source, const Block& block) {
  __m512i register_bytes = _mm512_setzero_si512();
  for (int i = 0; i < block.loads; ++i) {
    const Piece& piece = block.load[i];
    const __m512i loaded_bytes = _mm512_maskz_loadu_epi8(piece.memory_mask, source + piece.offset);
    register_bytes =
        _mm512_mask_permutexvar_epi8(register_bytes, piece.register_mask, _mm512_load_si512(piece.index), loaded_bytes);
  }
  for (int i = 0; i < block.stores; ++i) {
    const Piece& piece = block.store[i];
    _mm512_mask_storeu_epi8(target + piece.offset, piece.memory_mask,
                            _mm512_permutexvar_epi8(_mm512_load_si512(piece.index), register_bytes));
  }
}

/// Moves `row.count` blocks with kLoads whole loads and one store.
template <int kLoads>
void gather_blocks(std::byte* target, const std::byte* source, const Block& block, KernelLoop row) {
  // Copies all values of the block to local variables, so that they stay in registers: the compiler must assume that a
  // store to the target could change the block.
  __m512i index[kLoads];
  std::int64_t offset[kLoads];
  __mmask64 positions[kLoads];
  for (int i = 0; i < kLoads; ++i) {
    index[i] = _mm512_load_si512(block.load[i].index);
    offset[i] = block.load[i].offset;
    positions[i] = block.load[i].register_mask;
  }
  const bool is_whole = block.bytes == kBlockBytes;
  const __mmask64 memory = block.store[0].memory_mask;
  for (std::int64_t n = 0; n < row.count; ++n) {
    __m512i register_bytes = _mm512_permutexvar_epi8(index[0], _mm512_loadu_si512(source + offset[0]));
    for (int i = 1; i < kLoads; ++i) {
      register_bytes =
          _mm512_mask_permutexvar_epi8(register_bytes, positions[i], index[i], _mm512_loadu_si512(source + offset[i]));
    }
    if (is_whole) {
      _mm512_storeu_si512(target, register_bytes);
    } else {
      _mm512_mask_storeu_epi8(target, memory, register_bytes);
    }
    source += row.source;
    target += row.target;
  }
}

/// Converts a mask of bytes to a mask of words of 4 bytes.
__mmask16 to_word_mask(std::uint64_t bytes) {
  std::uint32_t words = 0;
  for (int i = 0; i < 16; ++i) words |= static_cast<std::uint32_t>(bytes >> (4 * i) & 1) << i;
  return static_cast<__mmask16>(words);
}

/// Moves `row.count` blocks with one whole load and kStores stores. Stores masked by words cost two thirds of those
/// masked by bytes.
template <int kStores, bool kIsWordAligned>
void scatter_blocks(std::byte* target, const std::byte* source, const Block& block, KernelLoop row) {
  __m512i index[kStores];
  std::int64_t offset[kStores];
  __mmask64 memory[kStores];
  for (int i = 0; i < kStores; ++i) {
    index[i] = _mm512_load_si512(block.store[i].index);
    offset[i] = block.store[i].offset;
    memory[i] = kIsWordAligned ? to_word_mask(block.store[i].memory_mask) : block.store[i].memory_mask;
  }
  for (std::int64_t n = 0; n < row.count; ++n) {
    const __m512i register_bytes = _mm512_loadu_si512(source);
    for (int i = 0; i < kStores; ++i) {
      const __m512i part = _mm512_permutexvar_epi8(index[i], register_bytes);
      if constexpr (kIsWordAligned) {
        _mm512_mask_storeu_epi32(target + offset[i], static_cast<__mmask16>(memory[i]), part);
      } else {
        _mm512_mask_storeu_epi8(target + offset[i], memory[i], part);
      }
    }
    source += row.source;
    target += row.target;
  }
}

/// Moves `row.count` blocks with whole loads.
void move_blocks(std::byte* target, const std::byte* source, const Block& block, KernelLoop row) {
  const int loads = block.loads, stores = block.stores;
  for (std::int64_t n = 0; n < row.count; ++n) {
    __m512i register_bytes = _mm512_setzero_si512();
    for (int i = 0; i < loads; ++i) {
      const Piece& piece = block.load[i];
      register_bytes = _mm512_mask_permutexvar_epi8(register_bytes, piece.register_mask, _mm512_load_si512(piece.index),
                                                    _mm512_loadu_si512(source + piece.offset));
    }
    for (int i = 0; i < stores; ++i) {
      const Piece& piece = block.store[i];
      _mm512_mask_storeu_epi8(target + piece.offset, piece.memory_mask,
                              _mm512_permutexvar_epi8(_mm512_load_si512(piece.index), register_bytes));
    }
    source += row.source;
    target += row.target;
  }
}

using BlocksFunction = void (*)(std::byte* target, const std::byte* source, const Block& block, KernelLoop row);

/// Returns true if a piece needs no permutation, because its bytes in memory equal those of the register.
bool is_identity(const Piece& piece, int bytes) {
  if (piece.offset != 0) return false;
  for (int i = 0; i < bytes; ++i) {
    if (piece.index[i] != i) return false;
  }
  return piece.memory_mask == low_bits(bytes);
}

template <bool kIsWordAligned>
BlocksFunction choose_scatter(const Block& block) {
  static constexpr BlocksFunction kScatter[] = {nullptr,
                                                scatter_blocks<1, kIsWordAligned>,
                                                scatter_blocks<2, kIsWordAligned>,
                                                scatter_blocks<3, kIsWordAligned>,
                                                scatter_blocks<4, kIsWordAligned>,
                                                scatter_blocks<5, kIsWordAligned>,
                                                scatter_blocks<6, kIsWordAligned>,
                                                scatter_blocks<7, kIsWordAligned>,
                                                scatter_blocks<8, kIsWordAligned>};
  return kScatter[block.stores];
}

/// Returns the fastest function for a block. is_word_aligned: true if runs and strides of the target are multiples of 4
/// bytes.
BlocksFunction choose_blocks(const Block& block, bool is_word_aligned) {
  static constexpr BlocksFunction kGather[] = {nullptr,          gather_blocks<1>, gather_blocks<2>,
                                               gather_blocks<3>, gather_blocks<4>, gather_blocks<5>,
                                               gather_blocks<6>, gather_blocks<7>, gather_blocks<8>};
  if (block.stores == 1 && block.loads <= 8 && is_identity(block.store[0], block.bytes)) return kGather[block.loads];
  if (block.loads == 1 && block.stores <= 8 && is_identity(block.load[0], block.bytes)) {
    return is_word_aligned ? choose_scatter<true>(block) : choose_scatter<false>(block);
  }
  return move_blocks;
}

/// Returns true if a block costs less than moving its runs one at a time. Measured on Zen 4 with both sides in L2: a
/// move of a run takes 0.24 ns (runs whose length is not a power of two need two), a load or store of a block 0.75 ns.
bool is_faster(const Block& block, std::int64_t run_bytes) {
  const bool is_one_move = run_bytes == 1 || run_bytes == 2 || run_bytes == 4 || run_bytes == 8 || run_bytes >= 16;
  const std::int64_t runs = block.bytes / run_bytes;
  return (block.loads + block.stores) * 75 < runs * (is_one_move ? 24 : 48);
}

/// The division of two loops into blocks: `row` blocks one after another, then the rest of a row, `column` times.
struct Shuffle {
  Block block, remainder;
  BlocksFunction move;
  KernelLoop row;  ///< strides between blocks
  bool has_remainder;
  std::int64_t load_end;  ///< bytes from a block's position in the source to the end of its last load
};

/// Lays out the blocks of the two innermost loops. Returns false if blocks are not faster. along_outer: the inner loop
/// is so short that a block contains all of it, so rows are along the outer loop.
bool lay_out_shuffle(Shuffle& shuffle, std::int64_t run_bytes, KernelLoop inner, KernelLoop outer, bool along_outer) {
  const std::int64_t runs_per_block = kBlockBytes / run_bytes;
  const KernelLoop row_loop = along_outer ? outer : inner;
  const std::int64_t width = along_outer ? runs_per_block / inner.count : runs_per_block;
  if (width == 0 || row_loop.count < width || row_loop.source < 0) return false;
  const KernelLoop single{1, 0, 0};
  const KernelLoop block_along{width, row_loop.source, row_loop.target};
  const KernelLoop remainder_along{row_loop.count % width, row_loop.source, row_loop.target};
  if (!lay_out(shuffle.block, run_bytes, along_outer ? inner : block_along, along_outer ? block_along : single))
    return false;
  if (!is_faster(shuffle.block, run_bytes)) return false;
  shuffle.has_remainder = remainder_along.count > 0;
  if (shuffle.has_remainder) {
    if (!lay_out(shuffle.remainder, run_bytes, along_outer ? inner : remainder_along,
                 along_outer ? remainder_along : single))
      return false;
  }
  shuffle.move = choose_blocks(shuffle.block, (run_bytes | inner.target | outer.target) % 4 == 0);
  shuffle.row = KernelLoop{row_loop.count / width, width * row_loop.source, width * row_loop.target};
  shuffle.load_end = shuffle.block.load[shuffle.block.loads - 1].offset + kBlockBytes;
  return true;
}

/// Moves one row. Blocks whose loads would pass `source_end` are moved with masked loads.
void shuffle_row(std::byte* target, const std::byte* source, const Shuffle& shuffle, const std::byte* source_end) {
  KernelLoop row = shuffle.row;
  const std::int64_t space = source_end - source - shuffle.load_end;
  while (row.count > 0 && (row.count - 1) * row.source > space) --row.count;
  shuffle.move(target, source, shuffle.block, row);
  for (std::int64_t i = row.count; i < shuffle.row.count; ++i) {
    move_block(target + i * row.target, source + i * row.source, shuffle.block);
  }
  if (shuffle.has_remainder) {
    move_block(target + shuffle.row.count * row.target, source + shuffle.row.count * row.source, shuffle.remainder);
  }
}

#else

/// This instruction set has no shuffles.
struct Shuffle {};
inline bool lay_out_shuffle(Shuffle&, std::int64_t, KernelLoop, KernelLoop, bool) { return false; }
inline void shuffle_row(std::byte*, const std::byte*, const Shuffle&, const std::byte*) {}

#endif
