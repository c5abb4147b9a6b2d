/// Contiguous pieces of an object, each of which is read by one request.
#pragma once

#include <cstdint>
#include <vector>

#include "store/http/request.hpp"
#include "store/store.hpp"

namespace plait::store::web {

/// Bytes `begin` to `begin + bytes` of an object, or its last `-begin` bytes if `begin` is negative.
struct Piece {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
  std::vector<ReadSegment> segments{};  ///< destinations in the order of their offsets

  /// Returns the value of a header `Range`.
  std::string range() const;
};

/// Divides ranges into pieces. Ranges with at most kMaxGap bytes between them share a piece, because a request costs
/// more than these bytes; a piece has about http::piece_bytes(), so that several connections share a long range.
std::vector<Piece> make_pieces(std::vector<ReadSegment> ranges);

inline constexpr std::int64_t kMaxGap = std::int64_t{64} << 10;

/// Distributes the body of a response to the segments of a piece.
class PieceSink : public http::Sink {
 public:
  explicit PieceSink(Piece piece) : piece_(std::move(piece)) {}
  const Piece& piece() const { return piece_; }
  /// Returns the size of the whole object; -1 if the server has not stated it.
  std::int64_t object_bytes() const { return object_bytes_; }
  /// Returns true if the server has answered with the whole object, which is too large to be read for a piece.
  bool has_ignored_range() const { return has_ignored_range_; }
  /// Returns true if the piece is in the object.
  bool is_inside() const { return begin_ >= 0 && begin_ + piece_.bytes <= object_bytes_; }

  bool begin(const http::Response& head) override;
  bool receive(std::span<const std::byte> bytes) override;
  bool complete() const override { return at_ >= end_; }

 private:
  bool begin_whole(const http::Response& head);

  Piece piece_;
  std::int64_t object_bytes_ = -1;
  std::int64_t begin_ = -1;  // offset of the piece from the beginning of the object
  std::int64_t at_ = 0;      // offset of the next byte of the body
  std::int64_t end_ = 0;     // end of the expected bytes
  std::size_t segment_ = 0;  // first segment that is not complete
  bool has_ignored_range_ = false;
};

/// Collects the body of a response in memory, and abandons one that is too long.
class WholeSink : public http::Sink {
 public:
  explicit WholeSink(std::int64_t max_bytes) : max_bytes_(max_bytes) {}
  std::vector<std::byte>& content() { return content_; }

  bool begin(const http::Response& head) override;
  bool receive(std::span<const std::byte> bytes) override {
    if (std::ssize(bytes) > max_bytes_ - std::ssize(content_)) return false;
    content_.insert(content_.end(), bytes.begin(), bytes.end());
    return true;
  }
  bool complete() const override { return announced_ < 0 || std::ssize(content_) == announced_; }

 private:
  std::int64_t max_bytes_;
  std::vector<std::byte> content_;
  std::int64_t announced_ = -1;
};

}  // namespace plait::store::web
