// Joins concatenate runs of any length and write whole lines by non-temporal stores.
//
// Example: the target begins at byte 60 of a line, and two runs have 10 and 100 bytes. The first line gets 4 bytes of
// run 0 and is stored in part. The second line consists of 6 bytes of run 0 and 58 of run 1 and is streamed. The last
// 42 bytes are stored in part by flush().

/// The line of the target that is being assembled.
class JoinedLine {
 public:
  explicit JoinedLine(std::byte* target)
      : begin_(offset_in_line(target)), end_(begin_), line_address_(target - begin_) {}

  bool empty() const { return end_ == 0; }
  std::int64_t free_bytes() const { return kLine - end_; }

  /// Appends 1 to free_bytes() bytes. Writes the line when it is full.
  void append(const std::byte* from, std::int64_t bytes) {
#if defined(__AVX512VBMI__)
    const __mmask64 mask = (~std::uint64_t{0} >> (kLine - bytes)) << end_;
    line_ = _mm512_mask_loadu_epi8(line_, mask, from - end_);
#else
    __builtin_memcpy(line_ + end_, from, static_cast<std::size_t>(bytes));
#endif
    end_ += bytes;
    if (end_ < kLine) return;
    if (begin_ > 0) {
      flush();
    } else {
#if defined(__AVX512VBMI__)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(line_address_), line_);
#else
      stream_line(line_address_, line_);
#endif
    }
    line_address_ += kLine;
    begin_ = end_ = 0;
  }

  /// Writes a whole line of a run directly. The current line must be empty.
  void write_line(const std::byte* from) {
    stream_line(line_address_, from);
    line_address_ += kLine;
  }

  /// Stores the bytes of an incomplete line.
  void flush() {
    if (end_ == begin_) return;
#if defined(__AVX512VBMI__)
    const __mmask64 mask = (~std::uint64_t{0} >> (kLine - end_ + begin_)) << begin_;
    _mm512_mask_storeu_epi8(line_address_, mask, line_);
#else
    __builtin_memcpy(line_address_ + begin_, line_ + begin_, static_cast<std::size_t>(end_ - begin_));
#endif
  }

 private:
#if defined(__AVX512VBMI__)
  __m512i line_ = _mm512_setzero_si512();
#else
  alignas(64) std::byte line_[kLine];
#endif
  std::int64_t begin_;       // offset in the line at which the target begins
  std::int64_t end_;         // offset in the line after the last appended byte
  std::byte* line_address_;  // multiple of kLine
};

void join(std::byte* target, const Run* runs, std::int64_t count) {
  JoinedLine line(target);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* from = runs[i].from;
    const std::byte* const end = from + runs[i].bytes;
    if (!line.empty()) {
      const std::int64_t head = smaller(line.free_bytes(), end - from);
      line.append(from, head);
      from += head;
    }
    for (; end - from >= kLine; from += kLine) line.write_line(from);
    if (from < end) line.append(from, end - from);
  }
  line.flush();
}
