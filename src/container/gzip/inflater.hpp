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

/// Inflates consecutive members (RFC 1952). Zeros may follow the last member, as the program `gzip` permits.
/// threads  One thread at a time.
class Inflater {
 public:
  /// compressed_bytes: the size of the file.
  Inflater(store::Store& file, std::int64_t compressed_bytes, const RestartPoint& from,
           Framing framing = Framing::kGzip);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Returns the offset in the content of the next byte.
  std::int64_t position() const { return content_offset_; }
  /// Returns true at the end of the content.
  bool ended() const { return ended_; }
  /// Inflates up to `bytes` bytes to `data`. Stops before if the content ends or, if `stop_at_blocks` is true, where
  /// inflating could restart. Returns the number of bytes.
  /// errors  kSystem: the data are damaged or truncated; the message has their position. Errors of the store.
  std::int64_t read(std::byte* data, std::int64_t bytes, bool stop_at_blocks = false);
  /// Inflates `bytes` bytes.  errors  Those of read(); the content ends before.
  void read_whole(std::byte* data, std::int64_t bytes);
  /// Inflates up to this offset of the content, which must not be before position().  errors  Those of read_whole().
  void skip_to(std::int64_t position);
  /// Returns true if inflating could restart here.
  bool can_restart() const;
  RestartPoint restart_point();

 private:
  std::int64_t compressed_position() const { return loaded_ - zlib_.avail_in; }
  /// Reads the next bytes of the file if the input is empty. Returns false at the end of the file.
  bool load();
  /// Reads the next bytes of the file if the input is empty.  errors  kSystem: the file is at its end.
  void expect_more();
  void begin_member();
  void end_member();
  [[noreturn]] void damaged(const char* what) const;

  store::Store& file_;
  std::int64_t compressed_bytes_;
  Framing framing_;
  std::int64_t loaded_;          // offset of the next bytes to read from the file
  std::int64_t content_offset_;  // offset in the content
  bool checked_ = true;          // true if zlib itself reads the header and checksum of this member
  bool at_header_ = false;       // true at the header of a member
  bool ended_ = false;
  std::vector<std::byte> input_;
  std::vector<std::byte> skipped_;
  z_stream zlib_{};
};

}  // namespace plait::container::gzip
