// An index of restart points, made while the file is inflated once.
//
// Problem: a gzipped file can be inflated only from its beginning, so that a read at an offset of 1 GiB would inflate 1
// GiB. Inflating can also restart at the border of two deflate blocks, given a copy of the 32 KiB of content before
// that border, the window. But an index with a window for each MiB would grow without limit with the size of the file.
//
// Idea: restart points are at least `spacing` bytes of content apart. When there are kMaxPoints of them and another one
// is due, every second one is removed and the spacing doubles.
//
// Example: 300 MiB of content. Up to 128 MiB points are about 1 MiB apart and 128 in number. Then 64 remain, 2 MiB
// apart, and at 256 MiB there are 128 again. Then 64 remain, 4 MiB apart, and at the end there are about 75. A read
// inflates at most about 4 MiB of content that it does not need.

#include "container/gzip/index.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/gzip/inflater.hpp"

namespace plait::container::gzip {

namespace {

/// Maximum ratio of deflate: a byte of input yields at most this many bytes.
constexpr std::size_t kMaxInflation = 1032;

/// Removes every second point.
void thin_out(std::vector<RestartPoint>& points) {
  std::size_t remaining = 0;
  for (std::size_t i = 0; i < points.size(); i += 2) {
    if (i != remaining) points[remaining] = std::move(points[i]);
    ++remaining;
  }
  points.resize(remaining);
}

/// Deflates an encoded index. It consists mostly of windows, pieces of content that compresses well.
std::string deflate_text(const std::string& text) {
  uLongf length = compressBound(text.size());
  std::string result(length, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &length,
                               reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_SPEED);
  if (status != Z_OK) throw std::bad_alloc();
  result.resize(length);
  return result;
}

std::string inflate_text(std::string_view compressed, std::size_t bytes) {
  std::string result(bytes, '\0');
  uLongf length = bytes;
  const int status = uncompress(reinterpret_cast<Bytef*>(result.data()), &length,
                                reinterpret_cast<const Bytef*>(compressed.data()), compressed.size());
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK || length != bytes)
    base::throw_system_error(EIO, "another rank sent a damaged index of the gzipped file");
  return result;
}

}  // namespace

std::string_view to_string(Framing framing) { return framing == Framing::kGzip ? "gzip" : "deflate"; }

const RestartPoint& Index::find_point(std::int64_t offset) const {
  const auto after = std::ranges::upper_bound(points, offset, {}, &RestartPoint::content_offset);
  return after == points.begin() ? *after : *(after - 1);
}

std::string Index::to_text() const {
  const std::string plain = base::encode(*this);
  return base::encode(plain.size()) + deflate_text(plain);
}

Index Index::parse(std::string_view text) {
  base::Decoder decoder(text, base::kAnotherRank);
  std::size_t bytes = 0;
  decoder(bytes);
  const std::string_view compressed = text.substr(sizeof bytes);
  if (bytes / kMaxInflation > compressed.size()) decoder.fail("it states more than deflate can hold");
  auto index = base::decode<Index>(inflate_text(compressed, bytes), base::kAnotherRank);
  if (index.points.empty()) decoder.fail("an index has no restart point");
  return index;
}

namespace {

/// Inflates the whole file and makes its index. Calls `on_content` with each piece of the content and the position
/// after the piece.
template <typename OnContent>
Index build_index(store::Store& file, Framing framing, const OnContent& on_content) {
  Index index;
  index.compressed_bytes = file.size();
  index.framing = framing;
  index.points.emplace_back().is_inside_member = framing == Framing::kNone;
  Inflater inflater(file, index.compressed_bytes, index.points.front(), framing);
  std::vector<std::byte> content(std::size_t{64} << 10);
  std::int64_t spacing = kMinSpacing;
  while (!inflater.ended()) {
    const std::int64_t length = inflater.read(content.data(), static_cast<std::int64_t>(content.size()), true);
    on_content(std::span(content).first(static_cast<std::size_t>(length)), inflater.position());
    if (inflater.position() - index.points.back().content_offset < spacing || !inflater.can_restart()) continue;
    if (index.points.size() == kMaxPoints) {
      thin_out(index.points);
      spacing *= 2;
      continue;
    }
    index.points.push_back(inflater.restart_point());
  }
  index.content_bytes = inflater.position();
  return index;
}

}  // namespace

Index make_index(store::Store& file) {
  return build_index(file, Framing::kGzip, [](std::span<const std::byte>, std::int64_t) {});
}

Index make_index(store::Store& file, const StreamEnd& expected) {
  uLong sum = crc32(0, nullptr, 0);
  const auto throw_wrong = [&](const auto&... why) {
    base::throw_system_error(EIO, file.name(), ": its content ", why..., "; copy or download the file again");
  };
  Index index = build_index(file, Framing::kNone, [&](std::span<const std::byte> piece, std::int64_t position) {
    if (position > expected.content_bytes)
      throw_wrong("has more than the ", expected.content_bytes, " bytes that the file says");
    sum = crc32(sum, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
  });
  if (index.content_bytes != expected.content_bytes)
    throw_wrong("has ", index.content_bytes, " bytes, but the file says ", expected.content_bytes);
  if (sum != expected.check_sum) throw_wrong("has another check sum than the file says");
  return index;
}

}  // namespace plait::container::gzip
