#include "container/zarr/chunks/shard_index.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::container::zarr {

namespace {

constexpr std::size_t kNumberBytes = 8;

template <typename... Parts>
[[noreturn]] void throw_damaged(const std::string& file, const Parts&... why) {
  base::throw_system_error(EIO, "cannot read the shard ", file, ": ", why..., "; copy or download it again");
}

std::uint64_t number_at(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) number |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

}  // namespace

std::vector<ShardEntry> parse_index(const Shards& shards, std::span<const std::byte> encoded, std::int64_t file_bytes,
                                    const std::string& file) {
  std::vector<std::byte> plain(2 * kNumberBytes * static_cast<std::size_t>(shards.count));
  shards.index.decode(encoded, plain, base::text("the index of the shard ", file));
  std::vector<ShardEntry> entries(static_cast<std::size_t>(shards.count));
  const auto all = static_cast<std::uint64_t>(file_bytes);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ShardEntry& entry = entries[i];
    entry.offset = number_at(std::span(plain).subspan(2 * kNumberBytes * i));
    entry.bytes = number_at(std::span(plain).subspan(2 * kNumberBytes * i + kNumberBytes));
    if (!entry.exists() && entry.bytes == ShardEntry::kNone) continue;
    if (!entry.exists() || entry.offset > all || entry.bytes > all - entry.offset)
      throw_damaged(file, "its index has chunk ", i, " at offset ", entry.offset, " with ", entry.bytes,
                    " bytes, but the file has ", file_bytes);
  }
  return entries;
}

std::vector<std::byte> encode_index(const Shards& shards, std::span<const ShardEntry> entries) {
  std::vector<std::byte> plain;
  plain.reserve(2 * kNumberBytes * entries.size());
  for (const ShardEntry& entry : entries)
    for (const std::uint64_t number : {entry.offset, entry.bytes})
      for (std::size_t i = 0; i < kNumberBytes; ++i) plain.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
  const std::span<const std::byte> encoded = shards.index.encode(plain);
  return {encoded.begin(), encoded.end()};
}

std::optional<ShardIndex> read_index(const Shards& shards, store::ObjectStore& objects, const std::string& object) {
  std::vector<std::byte> encoded(static_cast<std::size_t>(shards.index_bytes));
  const std::int64_t begin = shards.index_at_end ? -shards.index_bytes : 0;
  store::GetResult got = objects.get(object, {{begin, encoded.data(), shards.index_bytes}}, {.identity = true});
  if (got.status == store::GetStatus::kMissing) return std::nullopt;
  const std::string name = objects.object_location(object);
  if (!got.found())
    throw_damaged(name, "it has ", got.bytes, " bytes, less than its index, which has ", shards.index_bytes);
  return ShardIndex{parse_index(shards, encoded, got.bytes, name), got.bytes, std::move(got.identity)};
}

}  // namespace plait::container::zarr
