/// Inflating a gzipped file from a restart point on.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/gzip/index.hpp"
#include "store/store.hpp"

namespace plait::container::gzip {

/// Members follow each other, with zeros behind the last one perhaps, as in `gzip` and RFC 1952.
/// threads  One thread at a time.
class Inflater {
 public:
  /// `packed`: bytes of the file.
  Inflater(store::Store& file, std::int64_t packed, const RestartPoint& from, Framing framing = Framing::kGzip);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Bytes of the content before what comes next.
  std::int64_t position() const { return unpacked_; }
  /// Whether the content is at its end.
  bool ended() const { return ended_; }
  /// Inflates to `data` until `bytes` are there, the content ends or, if `stop_at_blocks`, inflating could begin anew
  /// here; returns how many there are.
  /// errors  kSystem: damaged or truncated data, and where; the store's own errors.
  std::int64_t read(std::byte* data, std::int64_t bytes, bool stop_at_blocks = false);
  /// The same without stopping; that the content ends is an error, too.
  void read_whole(std::byte* data, std::int64_t bytes);
  /// Inflates up to this position of the content, which is not before its own.  errors  As read_whole().
  void skip_to(std::int64_t position);
  /// Whether inflating could begin anew here, and the state that it takes.
  bool can_restart() const;
  RestartPoint restart_point();

 private:
  std::int64_t packed_position() const { return loaded_ - zlib_.avail_in; }
  /// Loads the next bytes of the file if there are none; returns whether there are any.
  bool load();
  /// errors  kSystem: the file is at its end.
  void expect_more();
  void begin_member();
  void end_member();
  [[noreturn]] void damaged(const char* what) const;

  store::Store& file_;
  std::int64_t packed_;
  Framing framing_;
  std::int64_t loaded_;     // bytes of the file before what is loaded next
  std::int64_t unpacked_;   // of the content
  bool checked_ = true;     // zlib reads header and check sums of this member itself
  bool at_header_ = false;  // of a member
  bool ended_ = false;
  std::vector<std::byte> input_;
  std::vector<std::byte> skipped_;
  z_stream zlib_{};
};

}  // namespace plait::container::gzip
