// The choice of kernels for a nest in normal form, and the loops around them.

constexpr std::int64_t kStripBytes = 16 * 1024;     ///< of cache lines, at each end, that a strip of a row may touch
constexpr std::int64_t kShuffleBytes = 4 * 1024;    ///< copies below this do not repay laying out a shuffle
constexpr std::int64_t kColumnStrip = 512;          ///< rows of a block of two loops that run across each other
constexpr std::int64_t kShortLoop = 8;              ///< loops below this cost more than their work

/// A nest whose loops run in the order in which they are given, innermost first.
struct Ordered {
  std::byte* target;
  const std::byte* source;
  const std::byte* source_end;  ///< just past the last source byte of the whole copy
  std::int64_t run_bytes;
  int depth;
  Step loops[kMaximumDepth];
};

inline void exchange(Step& a, Step& b) {
  const Step kept = a;
  a = b;
  b = kept;
}

template <typename Function>
void walk(const Ordered& nest, int level, int lowest, std::byte* target, const std::byte* source,
          const Function& function) {
  if (level < lowest) {
    function(target, source);
    return;
  }
  const Step& loop = nest.loops[level];
  for (std::int64_t i = 0; i < loop.count; ++i) {
    walk(nest, level - 1, lowest, target + i * loop.target, source + i * loop.source, function);
  }
}

Step loop_or_once(const Ordered& nest, int level) { return level < nest.depth ? nest.loops[level] : Step{1, 0, 0}; }

/// Whether the innermost loop is so short that a shuffle takes several of it at once.
bool has_periods(const Ordered& nest) {
  return nest.depth > 1 && nest.loops[0].count * nest.run_bytes <= 64 && nest.loops[1].source >= 0;
}

/// Runs the loops in the given order.
void run_in_order(const Ordered& nest, bool shuffled) {
  Shuffle shuffle;
  const bool periods = has_periods(nest);
  if (shuffled && lay_out_shuffle(shuffle, nest.run_bytes, nest.loops[0], loop_or_once(nest, 1), periods)) {
    walk(nest, nest.depth - 1, periods ? 2 : 1, nest.target, nest.source,
         [&](std::byte* target, const std::byte* source) { shuffle_row(target, source, shuffle, nest.source_end); });
    return;
  }
  const RowsFunction rows = choose_rows(nest.run_bytes);
  const Step inner = loop_or_once(nest, 0), outer = loop_or_once(nest, 1);
  walk(nest, nest.depth - 1, 2, nest.target, nest.source, [&](std::byte* target, const std::byte* source) {
    rows(target, source, nest.run_bytes, inner, outer);
  });
}

/// Cuts loop `level` into strips of about `length` steps, which run just outside loop `outside`, and runs the nest by
/// `next`: first the whole strips, then what is left over.
template <typename Function>
void run_strips(Ordered nest, int level, int outside, std::int64_t length, const Function& next) {
  const Step loop = nest.loops[level];
  const std::int64_t strips = loop.count / length;
  if (strips == 0 || loop.count == length) {
    next(nest);
    return;
  }
  const std::int64_t left = loop.count - strips * length;
  if (left > 0) {
    Ordered rest = nest;
    rest.loops[level].count = left;
    rest.target += strips * length * loop.target;
    rest.source += strips * length * loop.source;
    next(rest);
  }
  nest.loops[level].count = length;
  for (int i = nest.depth; i > outside + 1; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[outside + 1] = Step{strips, length * loop.source, length * loop.target};
  ++nest.depth;
  next(nest);
}

std::int64_t strip_length(const Step& loop) {
  const std::int64_t step = smaller(larger(larger(magnitude(loop.source), magnitude(loop.target)), 1), 64);
  return kStripBytes / step;
}

/// Two loops run across each other: loop 0 is the target's innermost and loop `column` the source's.  Blocks of both
/// keep the lines that one row shares with the next in cache.
void run_across(Ordered nest, int column, bool shuffled) {
  const Step kept = nest.loops[column];
  for (int i = column; i > 1; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[1] = kept;
  run_strips(nest, 1, 1, kColumnStrip, [&](const Ordered& columns) {
    run_strips(columns, 0, 1, strip_length(columns.loops[0]),
               [&](const Ordered& blocks) { run_in_order(blocks, shuffled); });
  });
}

/// The innermost loop is short: the first long one becomes the row, in strips, and the short ones run just outside it.
void run_short(Ordered nest) {
  int row = 1;
  while (row < nest.depth - 1 && nest.loops[row].count < 2 * kShortLoop) ++row;
  if (nest.loops[row].count < 2 * kShortLoop) {
    run_in_order(nest, false);
    return;
  }
  const Step kept = nest.loops[row];
  for (int i = row; i > 0; --i) nest.loops[i] = nest.loops[i - 1];
  nest.loops[0] = kept;
  run_strips(nest, 0, row, strip_length(kept), [](const Ordered& strips) { run_in_order(strips, false); });
}

/// The loop with the smallest source step.
int innermost_of_source(const Ordered& nest) {
  int best = 0;
  for (int i = 1; i < nest.depth; ++i) {
    if (magnitude(nest.loops[i].source) < magnitude(nest.loops[best].source)) best = i;
  }
  return best;
}

bool worth_shuffling(const Ordered& nest) {
  std::int64_t bytes = nest.run_bytes;
  for (int i = 0; i < nest.depth && bytes < kShuffleBytes; ++i) bytes *= nest.loops[i].count;
  if (bytes < kShuffleBytes) return false;
  Shuffle shuffle;
  return lay_out_shuffle(shuffle, nest.run_bytes, nest.loops[0], loop_or_once(nest, 1), has_periods(nest));
}

void execute(std::byte* target, const std::byte* source, std::int64_t run_bytes, const Loop* loops, int depth) {
  Ordered nest;
  nest.target = target;
  nest.source = source;
  nest.source_end = source + run_bytes;
  nest.run_bytes = run_bytes;
  nest.depth = depth;
  for (int i = 0; i < depth; ++i) {
    nest.loops[i] = Step{loops[i].count, loops[i].source_step, loops[i].target_step};
    nest.source_end += larger(nest.loops[i].source, 0) * (nest.loops[i].count - 1);
  }
  if (depth == 0) {
    __builtin_memcpy(target, source, static_cast<std::size_t>(run_bytes));
    return;
  }
  if (run_bytes >= 64) {
    run_in_order(nest, false);
    return;
  }
  const int column = innermost_of_source(nest);
  if (column != 0) {
    if (const TransposeFunction transpose = choose_transpose(run_bytes, nest.loops[0], nest.loops[column])) {
      const Step row = nest.loops[0], across = nest.loops[column];
      nest.loops[column] = nest.loops[1];
      nest.loops[1] = across;
      walk(nest, nest.depth - 1, 2, target, source,
           [&](std::byte* to, const std::byte* from) { transpose(to, from, row, across); });
      return;
    }
  }
  const bool shuffled = worth_shuffling(nest);
  if (column != 0 && nest.loops[0].count > kShortLoop) {
    run_across(nest, column, shuffled);
  } else if (!shuffled && nest.depth > 1 && nest.loops[0].count < kShortLoop) {
    run_short(nest);
  } else {
    run_in_order(nest, shuffled);
  }
}
