// The chunks of one file of a trace.
//
// A complete trace that one writer has written ends with an index, which is read if its checksum and its positions
// are correct. All other files are scanned. Chunks begin at multiples of 1 KiB, and a chunk is recognised by its
// magic, its position and its size.
//
// Example: 64 KiB of a file are overwritten by other data. The scan tests each of its 64 units, counts those that are
// not zero as unrecognised bytes, and continues with the next chunk that is plausible.

#include "trace/formats/binary/part.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "plait/error.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::uint64_t kUnitBytes = PLAIT_TRACE_UNIT;

bool is_plausible(const plait_chunk& chunk, std::uint64_t position) {
  return std::memcmp(chunk.magic, PLAIT_CHUNK_MAGIC, sizeof chunk.magic) == 0 && chunk.position == position &&
         chunk.size >= kUnitBytes && chunk.size % kUnitBytes == 0 &&
         (chunk.size <= PLAIT_TRACE_LARGEST || chunk.kind == PLAIT_CHUNK_INDEX) && chunk.kind >= PLAIT_CHUNK_EVENTS &&
         chunk.kind <= PLAIT_CHUNK_ACCOUNT;
}

}  // namespace

std::uint64_t compute_checksum(const void* bytes, std::size_t count, std::uint64_t initial) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) initial = (initial ^ at[i]) * 0x100000001b3U;
  return initial;
}

bool is_header(std::string_view head) { return head.starts_with(std::string_view(PLAIT_TRACE_MAGIC, 8)); }

Part::Part(std::string name, std::unique_ptr<Blob> blob) : name_(std::move(name)), blob_(std::move(blob)) {
  const std::size_t bytes_read = blob_->read(0, &header_, sizeof header_);
  if (bytes_read < sizeof header_.magic || std::memcmp(header_.magic, PLAIT_TRACE_MAGIC, sizeof header_.magic) != 0)
    base::throw_argument_error(name_, " is not a binary trace of Plait: its first bytes are not those of one");
  if (bytes_read < sizeof header_)
    base::throw_argument_error("the binary trace ", name_, " is cut off within its header, after ", bytes_read,
                               " bytes of ", sizeof header_);
  if (header_.version != PLAIT_TRACE_VERSION)
    base::throw_argument_error("the binary trace ", name_, " has version ", header_.version,
                               "; this Plait reads version ", int{PLAIT_TRACE_VERSION});
  if (!is_written() || !read_index()) scan_chunks();
}

std::string Part::host() const { return {header_.host, ::strnlen(header_.host, sizeof header_.host)}; }

std::uint64_t Part::missing_bytes() const noexcept {
  const std::uint64_t size = blob_->size();
  // A larger number is damage, because no file has that size.
  return !is_written() && header_.next > size && header_.next < (std::uint64_t{1} << 62) ? header_.next - size : 0;
}

bool Part::read_chunk(std::uint64_t position, plait_chunk& chunk) const {
  return blob_->read(position, &chunk, sizeof chunk) == sizeof chunk && is_plausible(chunk, position);
}

std::int64_t Part::time_shift(const Part& first) const noexcept {
  // Computed modulo 2^64: the times of a damaged header may have any value, and signed ones must not overflow.
  const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return static_cast<std::int64_t>(number(header_.real) - number(first.header_.real) - number(header_.monotonic));
}

// Reads the index. Accepts it only if its entries are contiguous from the header to the index itself.
bool Part::read_index() {
  const std::uint64_t size = blob_->size();
  Trailer trailer;
  if (size < PLAIT_TRACE_HEADER + kUnitBytes || size % kUnitBytes != 0) return false;
  blob_->read(size - sizeof trailer, &trailer, sizeof trailer);
  plait_chunk chunk;
  if (std::memcmp(trailer.magic, kTrailerMagic, sizeof trailer.magic) != 0 || trailer.position >= size ||
      !this->read_chunk(trailer.position, chunk) || chunk.kind != PLAIT_CHUNK_INDEX ||
      chunk.position + chunk.size != size || chunk.used > chunk.size - sizeof chunk ||
      chunk.used != trailer.entries * sizeof(plait_index_entry))
    return false;
  std::vector<ChunkEntry> entries_found;
  entries_found.reserve(trailer.entries);
  std::array<plait_index_entry, 512> entries;
  std::uint64_t checksum = compute_checksum(nullptr, 0);
  std::uint64_t next = PLAIT_TRACE_HEADER;
  for (std::uint32_t entries_read = 0; entries_read < trailer.entries;) {
    const std::size_t count = std::min<std::size_t>(entries.size(), trailer.entries - entries_read);
    blob_->read(trailer.position + sizeof chunk + entries_read * sizeof entries[0], entries.data(),
                count * sizeof entries[0]);
    checksum = compute_checksum(entries.data(), count * sizeof entries[0], checksum);
    for (std::size_t i = 0; i < count; ++i) {
      const plait_index_entry& entry = entries[i];
      if (entry.position != next || entry.size < kUnitBytes) return false;
      next += entry.size;
      entries_found.push_back({entry.position, entry.size, entry.kind, entry.first, entry.last});
    }
    entries_read += static_cast<std::uint32_t>(count);
  }
  if (checksum != trailer.checksum || next != trailer.position) return false;
  chunks_ = std::move(entries_found);
  has_end_ = true;
  return true;
}

void Part::scan_chunks() {
  const std::uint64_t size = blob_->size();
  std::array<char, kUnitBytes> unit;
  for (std::uint64_t position = PLAIT_TRACE_HEADER; position < size;) {
    plait_chunk chunk{};
    blob_->read(position, &chunk, sizeof chunk);
    if (is_plausible(chunk, position)) {
      chunks_.push_back({position, chunk.size, chunk.kind, chunk.first, chunk.last});
      position += chunk.size;
      continue;
    }
    const std::size_t bytes_read = blob_->read(position, unit.data(), unit.size());
    if (std::any_of(unit.begin(), unit.begin() + static_cast<std::ptrdiff_t>(bytes_read),
                    [](char c) { return c != 0; })) {
      if (unrecognised_bytes_ == 0) first_unrecognised_ = position;
      unrecognised_bytes_ += bytes_read;
    }
    position += kUnitBytes;  // chunks begin at multiples of the unit, so this finds the next whole chunk
  }
  has_end_ = !chunks_.empty() && chunks_.back().kind == PLAIT_CHUNK_INDEX &&
             chunks_.back().position + chunks_.back().size <= size;
}

std::vector<Sibling> find_siblings(const std::string& path, std::uint64_t family) {
  namespace fs = std::filesystem;
  std::vector<Sibling> siblings;
  std::error_code error;
  const fs::path trace_path(path);
  const std::string prefix = trace_path.filename().string() + ".";
  const fs::path folder = trace_path.parent_path().empty() ? fs::path(".") : trace_path.parent_path();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->path().filename().string().starts_with(prefix) || !it->is_regular_file(ignored)) continue;
    try {
      plait_trace_header header{};
      auto blob = open_blob(it->path().string());
      if (blob->read(0, &header, sizeof header) == sizeof header &&
          std::memcmp(header.magic, PLAIT_TRACE_MAGIC, sizeof header.magic) == 0 && header.family == family)
        siblings.push_back({it->path().string(), std::move(blob)});
    } catch (const Error&) {  // a file of another user that this process may not read
    }
  }
  std::ranges::sort(siblings, {}, &Sibling::path);
  return siblings;
}

}  // namespace plait::trace::binary
