// Chooses the kernels for a nest in normal form and runs the loops around them.
//
// Problem: the fastest kernel depends on the length of the runs and on which loop is the innermost one of each side.
//
// Idea: the loops are sorted by the target's strides. run_sorted() then decides in this order:
//   1. The source has another innermost loop, and runs are short: a transpose in tiles if both loops are contiguous;
//      otherwise blocks of both loops, so that the lines shared by neighbouring rows stay in cache.
//   2. A large target: non-temporal stores of long runs, or of stages that collect short ones (stream.inl).
//   3. Runs of 64 bytes or more: rows of moves (rows.inl).
//   4. Short runs: shuffles of blocks (shuffle.inl) if there are many runs, otherwise rows.
//
// Example: a matrix of 1000 x 1000 doubles from C to Fortran order. Runs have 8 bytes; the target is contiguous along
// one loop and the source along the other, so case 1 transposes tiles. A target with gaps of 8 bytes between elements
// cannot be transposed and uses blocks of kColumnStrip rows.

constexpr std::int64_t kStripBytes = 16 * 1024;  ///< bytes of cache lines that a strip of a row may touch on each side
constexpr std::int64_t kShuffleRuns = 2 * 1024;  ///< minimum number of runs that pays for the layout of a shuffle
constexpr std::int64_t kColumnStrip = 512;       ///< rows of a block of two crossing loops
constexpr std::int64_t kShortLoop = 8;           ///< shorter loops cost more than their work

/// A nest whose loops are listed in the order in which they run, innermost first.
struct Ordered {
  std::byte* target;
  const std::byte* source;
  const std::byte* source_end;  ///< end of the source bytes of the whole copy
  std::int64_t run_bytes;
  int depth;
  KernelLoop loops[kMaximumDepth];
};

inline void exchange(KernelLoop& a, KernelLoop& b) {
  const KernelLoop saved = a;
  a = b;
  b = saved;
}

/// Calls function(target, source) for each combination of iterations of the loops `level` down to `lowest`.
template <typename Function>
void walk(const Ordered& nest, int level, int lowest, std::byte* target, const std::byte* source,
          const Function& function) {
  if (level < lowest) {
    function(target, source);
    return;
  }
  const KernelLoop& loop = nest.loops[level];
  for (std::int64_t i = 0; i < loop.count; ++i) {
    walk(nest, level - 1, lowest, target + i * loop.target, source + i * loop.source, function);
  }
}

/// Returns a loop of the nest, or a loop of one iteration if the nest has no such loop.
KernelLoop loop_or_single(const Ordered& nest, int level) {
  return level < nest.depth ? nest.loops[level] : KernelLoop{1, 0, 0};
}

/// True if the innermost loop is so short that a shuffle processes several iterations of the next one at once.
bool has_periods(const Ordered& nest) {
  return nest.depth > 1 && nest.loops[0].count * nest.run_bytes <= 64 && nest.loops[1].source >= 0;
}

bool lay_out_shuffle(Shuffle& shuffle, const Ordered& nest) {
  return lay_out_shuffle(shuffle, nest.run_bytes, nest.loops[0], loop_or_single(nest, 1), has_periods(nest));
}

void run_shuffle(const Ordered& nest, const Shuffle& shuffle) {
  walk(nest, nest.depth - 1, has_periods(nest) ? 2 : 1, nest.target, nest.source,
       [&](std::byte* target, const std::byte* source) { shuffle_row(target, source, shuffle, nest.source_end); });
}

void run_rows(const Ordered& nest) {
  const RowsFunction rows = choose_rows(nest.run_bytes);
  const KernelLoop inner = loop_or_single(nest, 0), outer = loop_or_single(nest, 1);
  walk(nest, nest.depth - 1, 2, nest.target, nest.source,
       [&](std::byte* target, const std::byte* source) { rows(target, source, nest.run_bytes, inner, outer); });
}

/// Cuts loop `level` into strips of about `length` iterations, which run just outside loop `outside`, and runs the
/// nest by `next`: first the remainder of the loop, then the whole strips.
template <typename Function>
void run_strips(Ordered nest, int level, int outside, std::int64_t length, const Function& next) {
  const KernelLoop loop = nest.loops[level];
  const std::int64_t strips = loop.count / length;
  if (strips == 0 || loop.count == length) {
    next(nest);
    return;
  }
  const std::int64_t remaining = loop.count - strips * length;
  if (remaining > 0) {
    Ordered rest = nest;
    rest.loops[level].count = remaining;
    rest.target += strips * length * loop.target;
    rest.source += strips * length * loop.source;
    next(rest);
  }
  nest.loops[level].count = length;
  for (int i = nest.depth; i > outside + 1; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[outside + 1] = KernelLoop{strips, length * loop.source, length * loop.target};
  ++nest.depth;
  next(nest);
}

std::int64_t strip_length(const KernelLoop& loop) {
  const std::int64_t stride = smaller(larger(larger(magnitude(loop.source), magnitude(loop.target)), 1), 64);
  return kStripBytes / stride;
}

/// Copies a nest whose loops cross: loop 0 is the target's innermost and loop `column` the source's. Blocks of both
/// loops keep the lines that a row shares with the next one in cache.
void run_across(Ordered nest, int column, bool shuffled) {
  const KernelLoop column_loop = nest.loops[column];
  for (int i = column; i > 1; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[1] = column_loop;
  run_strips(nest, 1, 1, kColumnStrip, [&](const Ordered& columns) {
    run_strips(columns, 0, 1, strip_length(columns.loops[0]), [&](const Ordered& blocks) {
      Shuffle shuffle;
      if (shuffled && lay_out_shuffle(shuffle, blocks)) {
        run_shuffle(blocks, shuffle);
      } else {
        run_rows(blocks);
      }
    });
  });
}

/// Copies a nest whose innermost loop is short: the first long loop becomes the row, in strips, and the short ones
/// run just outside it.
void run_short(Ordered nest) {
  int row = 1;
  while (row < nest.depth - 1 && nest.loops[row].count < 2 * kShortLoop) ++row;
  if (nest.loops[row].count < 2 * kShortLoop) {
    run_rows(nest);
    return;
  }
  const KernelLoop row_loop = nest.loops[row];
  for (int i = row; i > 0; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[0] = row_loop;
  run_strips(nest, 0, row, strip_length(row_loop), [](const Ordered& strips) { run_rows(strips); });
}

/// Returns the loop with the smallest source stride.
int innermost_of_source(const Ordered& nest) {
  int best = 0;
  for (int i = 1; i < nest.depth; ++i) {
    if (magnitude(nest.loops[i].source) < magnitude(nest.loops[best].source)) best = i;
  }
  return best;
}

bool has_many_runs(const Ordered& nest) {
  std::int64_t runs = 1;
  for (int i = 0; i < nest.depth && runs < kShuffleRuns; ++i) runs *= nest.loops[i].count;
  return runs >= kShuffleRuns;
}

/// Runs the loops in order with the best kernel. `shuffle` is null unless it is laid out for this nest.
void run_one_way(const Ordered& nest, const Shuffle* shuffle) {
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
  void prepare(const Ordered& whole, int level, std::int64_t count, bool shuffling) {
    nest_ = whole;
    nest_.depth = level + 1;
    nest_.loops[level].count = count;
    bytes_ = count * whole.loops[level].target;
    shuffled_ = count > 0 && shuffling && lay_out_shuffle(shuffle_, nest_);
  }

  void run(Stage& stage, std::byte* target, const std::byte* source) {
    nest_.target = stage.begin(target);
    nest_.source = source;
    run_one_way(nest_, shuffled_ ? &shuffle_ : nullptr);
    stage.end(bytes_);
  }

  /// Returns the number of bytes that one call of run() streams.
  std::int64_t bytes() const { return bytes_; }

 private:
  Ordered nest_;
  std::int64_t bytes_;
  Shuffle shuffle_;
  bool shuffled_;
};

/// Streams a nest whose innermost loops fill the target without gaps. Returns false and does nothing if the contiguous
/// ranges of the target are short.
bool run_streamed(const Ordered& nest) {
  const bool is_dense = nest.depth > 0 && nest.loops[0].target == nest.run_bytes;
  if (nest.run_bytes > kStageBytes || (nest.run_bytes >= kStreamedRun && !is_dense)) {
    const KernelLoop inner = loop_or_single(nest, 0), outer = loop_or_single(nest, 1);
    walk(nest, nest.depth - 1, 2, nest.target, nest.source, [&](std::byte* target, const std::byte* source) {
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
  const bool shuffling = nest.run_bytes < 64 && has_many_runs(nest);
  Stage stage;
  StagedPart part, rest;
  part.prepare(nest, level, length, shuffling);
  rest.prepare(nest, level, loop.count % length, shuffling);
  walk(nest, nest.depth - 1, level + 1, nest.target, nest.source, [&](std::byte* target, const std::byte* source) {
    for (std::int64_t i = 0; i < strips; ++i) {
      part.run(stage, target + i * length * loop.target, source + i * length * loop.source);
    }
    if (rest.bytes() > 0)
      rest.run(stage, target + strips * length * loop.target, source + strips * length * loop.source);
  });
  stage.flush();
  return true;
}

/// Copies a nest that is sorted by target stride.
void run_sorted(Ordered nest, bool streamed) {
  const int column = innermost_of_source(nest);
  if (column != 0 && nest.run_bytes < 64) {
    if (const TransposeFunction transpose = choose_transpose(nest.run_bytes, nest.loops[0], nest.loops[column])) {
      const KernelLoop row = nest.loops[0], across = nest.loops[column];
      nest.loops[column] = nest.loops[1];
      nest.loops[1] = across;
      walk(nest, nest.depth - 1, 2, nest.target, nest.source,
           [&](std::byte* to, const std::byte* from) { transpose(to, from, row, across); });
      return;
    }
    if (nest.loops[0].count > kShortLoop) {
      run_across(nest, column, has_many_runs(nest));
      return;
    }
  }
  if (streamed && run_streamed(nest)) return;
  if (nest.run_bytes >= 64) {
    run_rows(nest);
    return;
  }
  Shuffle shuffle;
  run_one_way(nest, has_many_runs(nest) && lay_out_shuffle(shuffle, nest) ? &shuffle : nullptr);
}

void execute(std::byte* target, const std::byte* source, std::int64_t run_bytes, const Loop* loops, int depth,
             bool streamed) {
  Ordered nest;
  nest.target = target;
  nest.source = source;
  nest.source_end = source + run_bytes;
  nest.run_bytes = run_bytes;
  nest.depth = depth;
  for (int i = 0; i < depth; ++i) {
    nest.loops[i] = KernelLoop{loops[i].count, loops[i].source_stride, loops[i].target_stride};
    nest.source_end += larger(nest.loops[i].source, 0) * (nest.loops[i].count - 1);
  }
  streamed = streamed && kStreams;
  if (depth == 0 && !streamed) {
    __builtin_memcpy(target, source, static_cast<std::size_t>(run_bytes));
    return;
  }
  run_sorted(nest, streamed);
}
