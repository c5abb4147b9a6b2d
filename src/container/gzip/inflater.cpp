// Restarting zlib at the border of two deflate blocks.
//
// A block may begin at any bit of a byte. The restart point therefore has the number of bits of the last byte that
// belong to the next block; inflatePrime() passes them to zlib, and inflateSetDictionary() passes the window.
// Example: a block ends 3 bits before the end of byte 1,000 of the file. The point has compressed_offset = 1,001 and
// unused_bits = 3: byte 1,000 is read again, and its upper 3 bits (byte >> 5) are passed to zlib before byte 1,001.
//
// zlib then gets bare blocks without the member's header. It cannot verify the checksum of this member, and
// end_member() skips the 8 bytes of checksum and length. The following members are read with their headers again.

#include "container/gzip/inflater.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>

#include "base/errors.hpp"

namespace plait::container::gzip {

namespace {

constexpr std::int64_t kInputBytes = std::int64_t{64} << 10;
constexpr std::size_t kWindowBytes = std::size_t{32} << 10;
// Arguments of inflateInit2(): zlib reads whole gzip members, or deflate blocks without header and checksum.
constexpr int kWholeMembers = 16 + MAX_WBITS;
constexpr int kBareBlocks = -MAX_WBITS;
// Flags in zlib's data_type, in addition to the number of unused bits of the last byte.
constexpr int kLastBlock = 64;
constexpr int kAfterBlock = 128;

void expect_ok(int result) {
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK) base::throw_system_error(EIO, "zlib failed with code ", result);
}

const Bytef* to_bytef(const std::string& window) { return reinterpret_cast<const Bytef*>(window.data()); }

}  // namespace

Inflater::Inflater(store::Store& file, std::int64_t compressed_bytes, const RestartPoint& from, Framing framing)
    : file_(file),
      compressed_bytes_(compressed_bytes),
      framing_(framing),
      loaded_(from.compressed_offset),
      content_offset_(from.content_offset),
      zlib_verifies_(!from.is_inside_member),
      at_header_(!from.is_inside_member),
      input_(static_cast<std::size_t>(kInputBytes)) {
  int first_bits = 0;  // the unused bits of the last byte
  if (from.unused_bits > 0) {
    file_.read({{from.compressed_offset - 1, input_.data(), 1}});
    first_bits = std::to_integer<int>(input_[0]) >> (8 - from.unused_bits);
  }
  expect_ok(inflateInit2(&zlib_, zlib_verifies_ ? kWholeMembers : kBareBlocks));
  int result = Z_OK;
  if (from.unused_bits > 0) result = inflatePrime(&zlib_, from.unused_bits, first_bits);
  if (result == Z_OK && !from.window.empty())
    result = inflateSetDictionary(&zlib_, to_bytef(from.window), static_cast<uInt>(from.window.size()));
  if (result == Z_OK) return;
  inflateEnd(&zlib_);
  expect_ok(result);
}

Inflater::~Inflater() { inflateEnd(&zlib_); }

bool Inflater::load() {
  if (zlib_.avail_in > 0) return true;
  const std::int64_t bytes = std::min(kInputBytes, compressed_bytes_ - loaded_);
  if (bytes <= 0) return false;
  file_.read({{loaded_, input_.data(), bytes}});
  loaded_ += bytes;
  zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
  zlib_.avail_in = static_cast<uInt>(bytes);
  return true;
}

void Inflater::load_or_throw() {
  if (load()) return;
  base::throw_system_error(0, file_.name(), " ends at byte ", compressed_bytes_, " in the middle of ",
                           to_string(framing_), " data, after ", content_offset_,
                           " bytes of content; it is truncated; copy or download it again");
}

void Inflater::throw_damaged(const char* what) const {
  const char* why = what != nullptr ? what : zlib_.msg != nullptr ? zlib_.msg : "this is not gzip data";
  base::throw_system_error(0, file_.name(), ": the ", to_string(framing_), " data is damaged at byte ",
                           compressed_position(), ", after ", content_offset_, " bytes of content (", why,
                           "); copy or download the file again");
}

void Inflater::end_member() {
  if (framing_ == Framing::kNone) {
    if (compressed_position() != compressed_bytes_) throw_damaged("it ends there, in front of where the file says");
    ended_ = true;
    return;
  }
  if (!zlib_verifies_) {
    // zlib has read the bare blocks only. Skip the checksum and the length that follow.
    for (std::int64_t remaining = 8; remaining > 0;) {
      load_or_throw();
      const auto skipped = static_cast<uInt>(std::min<std::int64_t>(remaining, zlib_.avail_in));
      zlib_.next_in += skipped;
      zlib_.avail_in -= skipped;
      remaining -= skipped;
    }
  }
  while (load() && *zlib_.next_in == 0) {  // zeros may follow the last member
    ++zlib_.next_in;
    --zlib_.avail_in;
  }
  ended_ = zlib_.avail_in == 0;
  if (ended_) return;
  expect_ok(inflateReset2(&zlib_, kWholeMembers));
  zlib_verifies_ = true;
  at_header_ = true;
}

std::int64_t Inflater::read(std::byte* data, std::int64_t bytes, bool stop_at_blocks) {
  std::int64_t done = 0;
  while (done < bytes && !ended_) {
    // Without framing, zlib may already have consumed the input that contains the end, so that no more input is needed.
    const bool has_input = load();
    if (!has_input && framing_ == Framing::kGzip) load_or_throw();
    at_header_ = false;
    const std::int64_t max_bytes = std::min<std::int64_t>(bytes - done, std::numeric_limits<uInt>::max());
    zlib_.next_out = reinterpret_cast<Bytef*>(data + done);
    zlib_.avail_out = static_cast<uInt>(max_bytes);
    const int result = inflate(&zlib_, stop_at_blocks ? Z_BLOCK : Z_NO_FLUSH);
    const std::int64_t inflated = max_bytes - zlib_.avail_out;
    done += inflated;
    content_offset_ += inflated;
    if (result == Z_STREAM_END) {
      end_member();
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw_damaged(nullptr);
    } else if (!has_input && inflated == 0) {
      load_or_throw();
    }
    if (stop_at_blocks && can_restart()) break;
  }
  return done;
}

void Inflater::read_whole(std::byte* data, std::int64_t bytes) {
  if (read(data, bytes) < bytes) throw_damaged("it ends there, which it did not when it was opened");
}

void Inflater::skip_to(std::int64_t position) {
  if (skipped_.empty()) skipped_.resize(static_cast<std::size_t>(kInputBytes));
  while (content_offset_ < position) {
    read_whole(skipped_.data(), std::min(kInputBytes, position - content_offset_));
  }
}

bool Inflater::can_restart() const {
  if (ended_ || at_header_) return !ended_;
  return (zlib_.data_type & kAfterBlock) != 0 && (zlib_.data_type & kLastBlock) == 0;
}

RestartPoint Inflater::restart_point() {
  RestartPoint point{compressed_position(), content_offset_, 0, !at_header_, {}};
  if (at_header_) return point;
  point.unused_bits = zlib_.data_type & 7;  // zlib.h, inflate(): the low bits of data_type
  std::array<Bytef, kWindowBytes> window;
  uInt length = 0;
  expect_ok(inflateGetDictionary(&zlib_, window.data(), &length));
  point.window.assign(reinterpret_cast<const char*>(window.data()), length);
  return point;
}

}  // namespace plait::container::gzip
