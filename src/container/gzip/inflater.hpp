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
  /// Begins at the restart point `from`.  compressed_bytes: the size of the file.
  Inflater(store::Store& file, std::int64_t compressed_bytes, const RestartPoint& from,
           Framing framing = Framing::kGzip);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Returns the offset in the content of the next byte.
  std::int64_t position() const { return content_offset_; }
  /// Returns true at the end of the content.
  bool ended() const { return ended_; }
  /// Inflates up to `bytes` bytes to `data`, and returns their number. It is less than `bytes` if the content ends or,
  /// if `stop_at_blocks` is true, if a point follows at which inflating could restart.
  /// errors  kSystem: the data are damaged or truncated; the message has their position. Errors of the store.
  std::int64_t read(std::byte* data, std::int64_t bytes, bool stop_at_blocks = false);
  /// Inflates exactly `bytes` bytes.  errors  Those of read(); the content ends before.
  void read_whole(std::byte* data, std::int64_t bytes);
  /// Inflates the content up to an offset, which must not be before position(), and discards it.
  /// errors  Those of read_whole().
  void skip_to(std::int64_t position);
  /// Returns true if inflating could restart at the present position.
  bool can_restart() const;
  /// Returns the present state.  pre  can_restart().
  RestartPoint restart_point();

 private:
  std::int64_t compressed_position() const { return loaded_ - zlib_.avail_in; }
  /// Reads the next bytes of the file into input_ if zlib has consumed all of it. Returns false at the end of the file.
  bool load();
  /// Calls load().  errors  kSystem: the file is at its end.
  void load_or_throw();
  void begin_member();
  void end_member();
  [[noreturn]] void throw_damaged(const char* what) const;

  store::Store& file_;
  std::int64_t compressed_bytes_;
  Framing framing_;
  std::int64_t loaded_;          // number of bytes of the file that were read into input_
  std::int64_t content_offset_;  // offset in the content of the next byte
  bool zlib_verifies_ = true;    // true if zlib itself reads the header and checksum of this member
  bool at_header_ = false;       // true at the header of a member
  bool ended_ = false;
  std::vector<std::byte> input_;    // compressed bytes
  std::vector<std::byte> skipped_;  // content that skip_to() discards
  z_stream zlib_{};
};

}  // namespace plait::container::gzip
