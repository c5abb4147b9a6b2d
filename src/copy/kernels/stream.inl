// Streamed copies: whole lines of the target are written by non-temporal stores, so that no line is read before it is
// written. Short runs are first collected in a small stage, which stays in cache.
//
// Example: a piece of 100 bytes begins at byte 40 of a line. It is assembled at offset 40 of the stage. The two lines
// up to byte 128 are complete, so 88 bytes are streamed, and the last 12 bytes wait in the stage for the next piece.

constexpr std::int64_t kLine = 64;
constexpr std::int64_t kStageBytes = 8 * 1024;
constexpr std::int64_t kMinStreamedRun = 512;  ///< shorter runs followed by gaps leave too many partial lines

#if defined(__x86_64__)
constexpr bool kHasStreamingStores = true;

/// Writes one line to an address that is a multiple of kLine.
inline void stream_line(std::byte* to, const std::byte* from) {
#if defined(__AVX512VBMI__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  for (int i = 0; i < 64; i += 32) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
  }
#else
  for (int i = 0; i < 64; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#endif
}
#else
constexpr bool kHasStreamingStores = false;
inline void stream_line(std::byte* to, const std::byte* from) { __builtin_memcpy(to, from, kLine); }
#endif

inline std::int64_t offset_in_line(const std::byte* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(kLine));
}

/// Copies bytes. Whole lines of the target are streamed, the parts of lines at both ends are stored.
void stream_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const std::int64_t head = smaller((kLine - offset_in_line(to)) % kLine, bytes);
  if (head > 0) __builtin_memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t done = head;
  for (; done + kLine <= bytes; done += kLine) stream_line(to + done, from + done);
  if (done < bytes) __builtin_memcpy(to + done, from + done, static_cast<std::size_t>(bytes - done));
}

void streamed_rows(std::byte* target, const std::byte* source, std::int64_t run_bytes, KernelLoop inner,
                   KernelLoop outer) {
  for (std::int64_t j = 0; j < outer.count; ++j) {
    for (std::int64_t i = 0; i < inner.count; ++i) {
      stream_bytes(target + j * outer.target + i * inner.target, source + j * outer.source + i * inner.source,
                   run_bytes);
    }
  }
}

/// Collects pieces of the target that are then streamed. The last, partial line of a piece waits in the stage for the
/// piece that continues it.
class Stage {
 public:
  /// Stores the bytes of the partial line that still waits.
  void flush() {
    if (pending_bytes_ > 0) {
      __builtin_memcpy(pending_target_, bytes_ + offset_in_line(pending_target_),
                       static_cast<std::size_t>(pending_bytes_));
    }
    pending_bytes_ = 0;
  }

  /// Returns the address at which a piece of at most kStageBytes bytes for `target` is assembled.
  std::byte* begin(std::byte* target) {
    if (pending_target_ + pending_bytes_ != target) flush();
    if (pending_bytes_ == 0) pending_target_ = target;
    return bytes_ + offset_in_line(target);
  }

  /// Ends a piece, and streams its complete lines.
  void end(std::int64_t piece_bytes) {
    pending_bytes_ += piece_bytes;
    const std::int64_t first = offset_in_line(pending_target_);
    const std::int64_t complete_bytes = (first + pending_bytes_) / kLine * kLine - first;
    if (complete_bytes <= 0) return;
    stream_bytes(pending_target_, bytes_ + first, complete_bytes);
    pending_target_ += complete_bytes;
    pending_bytes_ -= complete_bytes;
    // Moves the partial line to the beginning of the stage, by 16 bytes at a time.
    const std::byte* partial_line = bytes_ + first + complete_bytes;
    for (std::int64_t i = 0; i < pending_bytes_; i += 16) __builtin_memcpy(bytes_ + i, partial_line + i, 16);
  }

 private:
  alignas(64) std::byte bytes_[kStageBytes + 2 * kLine];  ///< byte i belongs at offset i % kLine of a line
  std::byte* pending_target_ = nullptr;                   ///< target of the waiting bytes
  std::int64_t pending_bytes_ = 0;
};
