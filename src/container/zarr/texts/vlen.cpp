// A chunk of texts consists of the number of texts in 4 bytes, then each text with its length in 4 bytes before it. The
// numbers are little-endian.
//
// Example: ("ab", "") is 2 0 0 0, 2 0 0 0, a b, 0 0 0 0.

#include "container/zarr/texts/vlen.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "codec/damaged.hpp"
#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

namespace {

constexpr std::size_t kLengthBytes = 4;

std::uint32_t length_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + at, kLengthBytes);
  return length;
}

}  // namespace

std::vector<std::string_view> decode_texts(std::span<const std::byte> bytes, std::size_t count,
                                           const std::string& what) {
  if (bytes.size() < kLengthBytes) codec::throw_damaged(what, "it has ", bytes.size(), " bytes, too few for texts");
  if (const std::uint32_t stated = length_at(bytes, 0); stated != count)
    codec::throw_damaged(what, "it has ", stated, " texts, but a chunk has ", count);
  std::vector<std::string_view> texts;
  texts.reserve(std::min(count, bytes.size() / kLengthBytes));
  std::size_t at = kLengthBytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes.size() - at < kLengthBytes) codec::throw_damaged(what, "it ends before text ", i, " of ", count);
    const std::uint32_t length = length_at(bytes, at);
    at += kLengthBytes;
    if (length > bytes.size() - at)
      codec::throw_damaged(what, "text ", i, " has ", length, " bytes, but the chunk ends after ", bytes.size() - at);
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at, length);
    at += length;
  }
  return texts;
}

std::vector<std::byte> encode_texts(std::span<const std::string_view> texts, const std::string& what) {
  std::size_t bytes = kLengthBytes;
  for (const std::string_view text : texts) bytes += kLengthBytes + text.size();
  if (std::cmp_greater(bytes, kMaxCompressed))
    base::throw_argument_error("cannot write ", what, ": its texts have ", bytes,
                               " bytes in all, but at most 2 GiB are supported; give smaller chunks");
  std::vector<std::byte> encoded(bytes);
  std::size_t at = 0;
  const auto put_length = [&](std::size_t length) {
    const auto number = static_cast<std::uint32_t>(length);
    std::memcpy(encoded.data() + at, &number, kLengthBytes);
    at += kLengthBytes;
  };
  put_length(texts.size());
  for (const std::string_view text : texts) {
    put_length(text.size());
    std::memcpy(encoded.data() + at, text.data(), text.size());
    at += text.size();
  }
  return encoded;
}

}  // namespace plait::container::zarr
