// Chooses the kernels for a nest in normal form and runs the loops around them.
//
// Problem: the fastest kernel depends on the length of the runs and on which loop is the innermost one of each side.
//
// Idea: the loops are sorted by the target's strides. run_sorted() then decides in this order:
//   1. The source's innermost loop (smallest stride) is another one than the target's, and runs are short: a transpose
//      in tiles if both loops are contiguous; otherwise blocks of both loops, so that the cache lines shared by
//      neighbouring rows stay in cache.
//   2. A large target: non-temporal stores of long runs, or of a stage, a buffer that collects short ones (stream.inl).
//   3. Runs of 64 bytes or more: rows of moves (rows.inl).
//   4. Short runs: shuffles of blocks (shuffle.inl) if there are many runs, otherwise rows.
//
// Example: a matrix of 1000 x 1000 doubles from C to Fortran order. Runs have 8 bytes; the target is contiguous along
// one loop and the source along the other, so case 1 transposes tiles. A target with gaps of 8 bytes between elements
// cannot be transposed and uses blocks of kColumnStrip rows.

constexpr std::int64_t kStripBytes = 16 * 1024;  ///< bytes of cache lines that a strip of a row may touch on each side
constexpr std::int64_t kMinShuffleRuns = 2 * 1024;  ///< minimum number of runs that pays for the layout of a shuffle
constexpr std::int64_t kColumnStrip = 512;          ///< rows of a block of two crossing loops
constexpr std::int64_t kShortLoop = 8;              ///< shorter loops cost more than their work

/// A nest whose loops are listed in the order in which they run, innermost first.
struct OrderedNest {
  std::byte* target;
  const std::byte* source;
  const std::byte* source_end;  ///< end of the source bytes of the whole copy
  std::int64_t run_bytes;
  int depth;
  KernelLoop loops[kMaximumDepth];
};

/// Calls function(target, source), with the addresses of both sides, for each combination of iterations of the loops
/// `level` down to `lowest`.
template <typename Function>
void for_each_iteration(const OrderedNest& nest, int level, int lowest, std::byte* target, const std::byte* source,
                        const Function& function) {
  if (level < lowest) {
    function(target, source);
    return;
  }
  const KernelLoop& loop = nest.loops[level];
  for (std::int64_t i = 0; i < loop.count; ++i) {
    for_each_iteration(nest, level - 1, lowest, target + i * loop.target, source + i * loop.source, function);
  }
}

/// Returns a loop of the nest, or a loop of one iteration if the nest has no such loop.
KernelLoop loop_or_single(const OrderedNest& nest, int level) {
  return level < nest.depth ? nest.loops[level] : KernelLoop{1, 0, 0};
}

/// Returns true if the innermost loop is so short that a shuffle processes several iterations of the next one at once.
bool spans_outer_loop(const OrderedNest& nest) {
  return nest.depth > 1 && nest.loops[0].count * nest.run_bytes <= 64 && nest.loops[1].source >= 0;
}

/// Lays out the shuffle for a nest. Returns false if a shuffle is not faster.
bool lay_out_shuffle(Shuffle& shuffle, const OrderedNest& nest) {
  return lay_out_shuffle(shuffle, nest.run_bytes, nest.loops[0], loop_or_single(nest, 1), spans_outer_loop(nest));
}

void run_shuffle(const OrderedNest& nest, const Shuffle& shuffle) {
  for_each_iteration(
      nest, nest.depth - 1, spans_outer_loop(nest) ? 2 : 1, nest.target, nest.source,
      [&](std::byte* target, const std::byte* source) { shuffle_row(target, source, shuffle, nest.source_end); });
}

void run_rows(const OrderedNest& nest) {
  const RowsFunction rows = choose_rows(nest.run_bytes);
  const KernelLoop inner = loop_or_single(nest, 0), outer = loop_or_single(nest, 1);
  for_each_iteration(
      nest, nest.depth - 1, 2, nest.target, nest.source,
      [&](std::byte* target, const std::byte* source) { rows(target, source, nest.run_bytes, inner, outer); });
}

/// Cuts loop `level` into strips of about `length` iterations, which run just outside loop `outer_level`, and runs the
/// nest by `run`: first the remainder of the loop, then the whole strips.
template <typename Function>
void run_strips(OrderedNest nest, int level, int outer_level, std::int64_t length, const Function& run) {
  const KernelLoop loop = nest.loops[level];
  const std::int64_t strips = loop.count / length;
  if (strips == 0 || loop.count == length) {
    run(nest);
    return;
  }
  const std::int64_t remaining = loop.count - strips * length;
  if (remaining > 0) {
    OrderedNest remainder = nest;
    remainder.loops[level].count = remaining;
    remainder.target += strips * length * loop.target;
    remainder.source += strips * length * loop.source;
    run(remainder);
  }
  nest.loops[level].count = length;
  for (int i = nest.depth; i > outer_level + 1; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[outer_level + 1] = KernelLoop{strips, length * loop.source, length * loop.target};
  ++nest.depth;
  run(nest);
}

/// Returns the number of iterations of a loop that touch kStripBytes of cache lines.
std::int64_t strip_length(const KernelLoop& loop) {
  const std::int64_t stride = smaller(larger(larger(magnitude(loop.source), magnitude(loop.target)), 1), 64);
  return kStripBytes / stride;
}

/// Copies a nest whose loops cross: loop 0 is the target's innermost and loop `column` the source's. Blocks of both
/// loops keep the lines that a row shares with the next one in cache.
void run_crossing(OrderedNest nest, int column, bool is_shuffled) {
  const KernelLoop column_loop = nest.loops[column];
  for (int i = column; i > 1; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[1] = column_loop;
  run_strips(nest, 1, 1, kColumnStrip, [&](const OrderedNest& columns) {
    run_strips(columns, 0, 1, strip_length(columns.loops[0]), [&](const OrderedNest& blocks) {
      Shuffle shuffle;
      if (is_shuffled && lay_out_shuffle(shuffle, blocks)) {
        run_shuffle(blocks, shuffle);
      } else {
        run_rows(blocks);
      }
    });
  });
}

/// Copies a nest whose innermost loop is short: the first long loop becomes the row, in strips, and the short ones
/// run just outside it.
void run_short(OrderedNest nest) {
  int row = 1;
  while (row < nest.depth - 1 && nest.loops[row].count < 2 * kShortLoop) ++row;
  if (nest.loops[row].count < 2 * kShortLoop) {
    run_rows(nest);
    return;
  }
  const KernelLoop row_loop = nest.loops[row];
  for (int i = row; i > 0; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[0] = row_loop;
  run_strips(nest, 0, row, strip_length(row_loop), [](const OrderedNest& strips) { run_rows(strips); });
}

/// Returns the loop with the smallest source stride.
int innermost_of_source(const OrderedNest& nest) {
  int best = 0;
  for (int i = 1; i < nest.depth; ++i) {
    if (magnitude(nest.loops[i].source) < magnitude(nest.loops[best].source)) best = i;
  }
  return best;
}

bool has_many_runs(const OrderedNest& nest) {
  std::int64_t runs = 1;
  for (int i = 0; i < nest.depth && runs < kMinShuffleRuns; ++i) runs *= nest.loops[i].count;
  return runs >= kMinShuffleRuns;
}

/// Runs the loops in order with the best kernel. `shuffle` is null unless it is laid out for this nest.
void run_best_kernel(const OrderedNest& nest, const Shuffle* shuffle) {
  if (shuffle != nullptr) {
    run_shuffle(nest, *shuffle);
  } else if (nest.depth > 1 && nest.loops[0].count < kShortLoop) {
    run_short(nest);
  } else {
    run_rows(nest);
  }
}

/// A part of a nest that fills a stage: the innermost loops, of which the outermost is cut to `count` iterations, with
/// the best kernel for them.
class StagedPart {
 public:
  void prepare(const OrderedNest& nest, int level, std::int64_t count, bool may_shuffle) {
    nest_ = nest;
    nest_.depth = level + 1;
    nest_.loops[level].count = count;
    bytes_ = count * nest.loops[level].target;
    is_shuffled_ = count > 0 && may_shuffle && lay_out_shuffle(shuffle_, nest_);
  }

  void run(Stage& stage, std::byte* target, const std::byte* source) {
    nest_.target = stage.begin(target);
    nest_.source = source;
    run_best_kernel(nest_, is_shuffled_ ? &shuffle_ : nullptr);
    stage.end(bytes_);
  }

  /// Returns the number of bytes that one call of run() streams.
  std::int64_t bytes() const { return bytes_; }

 private:
  OrderedNest nest_;
  std::int64_t bytes_;
  Shuffle shuffle_;
  bool is_shuffled_;
};

/// Streams a nest whose innermost loops fill the target without gaps. Returns false and does nothing if the contiguous
/// ranges of the target are short.
bool run_streamed(const OrderedNest& nest) {
  const bool is_dense = nest.depth > 0 && nest.loops[0].target == nest.run_bytes;
  if (nest.run_bytes > kStageBytes || (nest.run_bytes >= kMinStreamedRun && !is_dense)) {
    const KernelLoop inner = loop_or_single(nest, 0), outer = loop_or_single(nest, 1);
    for_each_iteration(nest, nest.depth - 1, 2, nest.target, nest.source,
                       [&](std::byte* target, const std::byte* source) {
                         streamed_rows(target, source, nest.run_bytes, inner, outer);
                       });
    return true;
  }
  std::int64_t bytes = nest.run_bytes;
  int level = -1;
  while (level + 1 < nest.depth && nest.loops[level + 1].target == bytes && bytes * 2 <= kStageBytes) {
    bytes *= nest.loops[++level].count;
  }
  if (level < 0 || bytes < kStageBytes / 4) return false;
  const KernelLoop loop = nest.loops[level];
  const std::int64_t length = smaller(kStageBytes / loop.target, loop.count), strips = loop.count / length;
  const bool may_shuffle = nest.run_bytes < 64 && has_many_runs(nest);
  Stage stage;
  StagedPart part, remainder;
  part.prepare(nest, level, length, may_shuffle);
  remainder.prepare(nest, level, loop.count % length, may_shuffle);
  for_each_iteration(
      nest, nest.depth - 1, level + 1, nest.target, nest.source, [&](std::byte* target, const std::byte* source) {
        for (std::int64_t i = 0; i < strips; ++i) {
          part.run(stage, target + i * length * loop.target, source + i * length * loop.source);
        }
        if (remainder.bytes() > 0)
          remainder.run(stage, target + strips * length * loop.target, source + strips * length * loop.source);
      });
  stage.flush();
  return true;
}

/// Copies a nest that is sorted by target stride.
void run_sorted(OrderedNest nest, bool is_streamed) {
  const int column = innermost_of_source(nest);
  if (column != 0 && nest.run_bytes < 64) {
    if (const TransposeFunction transpose = choose_transpose(nest.run_bytes, nest.loops[0], nest.loops[column])) {
      const KernelLoop row = nest.loops[0], column_loop = nest.loops[column];
      nest.loops[column] = nest.loops[1];
      nest.loops[1] = column_loop;
      for_each_iteration(nest, nest.depth - 1, 2, nest.target, nest.source,
                         [&](std::byte* to, const std::byte* from) { transpose(to, from, row, column_loop); });
      return;
    }
    if (nest.loops[0].count > kShortLoop) {
      run_crossing(nest, column, has_many_runs(nest));
      return;
    }
  }
  if (is_streamed && run_streamed(nest)) return;
  if (nest.run_bytes >= 64) {
    run_rows(nest);
    return;
  }
  Shuffle shuffle;
  run_best_kernel(nest, has_many_runs(nest) && lay_out_shuffle(shuffle, nest) ? &shuffle : nullptr);
}

void execute(std::byte* target, const std::byte* source, std::int64_t run_bytes, const Loop* loops, int depth,
             bool is_streamed) {
  OrderedNest nest;
  nest.target = target;
  nest.source = source;
  nest.source_end = source + run_bytes;
  nest.run_bytes = run_bytes;
  nest.depth = depth;
  for (int i = 0; i < depth; ++i) {
    nest.loops[i] = KernelLoop{loops[i].count, loops[i].source_stride, loops[i].target_stride};
    nest.source_end += larger(nest.loops[i].source, 0) * (nest.loops[i].count - 1);
  }
  is_streamed = is_streamed && kHasStreamingStores;
  if (depth == 0 && !is_streamed) {
    __builtin_memcpy(target, source, static_cast<std::size_t>(run_bytes));
    return;
  }
  run_sorted(nest, is_streamed);
}
