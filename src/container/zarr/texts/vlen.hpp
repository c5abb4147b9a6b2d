/// The encoding of chunks of texts: the codecs vlen-utf8 and vlen-bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::zarr {

/// Decodes the texts of a chunk, which refer to `bytes`.
/// count: number of texts. what: describes the chunk in errors.
/// errors  kSystem: the chunk has another number of texts, or a text exceeds it.
std::vector<std::string_view> decode_texts(std::span<const std::byte> bytes, std::size_t count,
                                           const std::string& what);

/// Encodes the texts of a chunk.
/// errors  kArgument: they need more than kMaxCompressed bytes.
std::vector<std::byte> encode_texts(std::span<const std::string_view> texts, const std::string& what);

}  // namespace plait::container::zarr
