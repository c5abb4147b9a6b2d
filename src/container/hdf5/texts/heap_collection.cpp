// Collections of the global heap, the part of an HDF5 file that stores texts of any length.
//
// A collection begins with a header of 16 bytes: the signature GCOL, version 1, three bytes of zero, and its size. Its
// objects follow, each with a header of 16 bytes: its number, the number of references, four bytes of zero, and its
// size. The bytes of an object are padded to a multiple of 8. Object 0 is the free space at the end; its size includes
// its header. If less than a header is left, there is no object 0.
//
// Example: the texts "ab" and "cdefghijk". Object 1 has its header at 16 and its 2 bytes at 32, object 2 its header at
// 40 and its 9 bytes at 56. The free space begins at 72 with a header of object 0 and the size 4,096 - 72 = 4,024.

#include "container/hdf5/texts/heap_collection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errors.hpp"
#include "container/hdf5/changing/numbers.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::string_view kHeapSignature("GCOL\1\0\0\0", 8);
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kMinCollectionBytes = 4096;  ///< minimum size of a collection
/// Size at which a new collection is written. The library reads collections as a whole.
constexpr std::size_t kUsualCollectionBytes = std::size_t{64} << 10U;
constexpr std::uint32_t kMaxHeapObjects = 65'000;  ///< numbers have 16 bits

/// Writes a little-endian number of `size` bytes at an offset.
void write_number(std::vector<std::byte>& bytes, std::size_t at, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

std::size_t round_up_to_8(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

template <typename... Parts>
void HeapCollection::throw_damaged(const Parts&... why) const {
  base::throw_system_error(EIO, "cannot read texts of ", name_, ": the heap collection at offset ", offset_, ' ',
                           why..., "; copy or download the file again");
}

HeapCollection::HeapCollection(store::Store& file, std::int64_t offset, const std::string& name)
    : name_(name), offset_(offset) {
  read(file);
  list_objects();
}

void HeapCollection::read(store::Store& file) {
  const std::int64_t end = file.size();
  if (offset_ < 0 || offset_ > end - static_cast<std::int64_t>(kHeaderBytes))
    throw_damaged("is outside the file, which has ", end, " bytes");
  const std::int64_t available = end - offset_;
  bytes_.resize(static_cast<std::size_t>(std::min<std::int64_t>(available, kMinCollectionBytes)));
  file.read({{offset_, bytes_.data(), static_cast<std::int64_t>(bytes_.size())}});
  if (std::memcmp(bytes_.data(), kHeapSignature.data(), kHeapSignature.size()) != 0)
    throw_damaged("does not begin with GCOL");
  const std::uint64_t size = number_in(bytes_, kHeapSignature.size(), 8);
  if (size < kHeaderBytes || size > static_cast<std::uint64_t>(available))
    throw_damaged("states a size of ", size, " bytes, but the file has ", available, " from there on");
  // Most collections have the minimum size, so that one request has read all of them.
  const std::size_t already_read = bytes_.size();
  bytes_.resize(size);
  if (size <= already_read) return;
  const auto begin = static_cast<std::int64_t>(already_read);
  file.read({{offset_ + begin, bytes_.data() + already_read, static_cast<std::int64_t>(size) - begin}});
}

void HeapCollection::list_objects() {
  for (std::size_t at = kHeaderBytes; at + kHeaderBytes <= bytes_.size();) {
    const auto number = static_cast<std::size_t>(number_in(bytes_, at, 2));
    if (number == 0) return;
    const std::uint64_t size = number_in(bytes_, at + 8, 8);
    at += kHeaderBytes;
    if (size > bytes_.size() - at) throw_damaged("has object ", number, " with ", size, " bytes, which exceed it");
    if (number >= objects_.size()) objects_.resize(number + 1);
    objects_[number] = {at, static_cast<std::size_t>(size)};
    at += round_up_to_8(static_cast<std::size_t>(size));
  }
}

std::string_view HeapCollection::object(std::uint32_t number, std::uint32_t bytes) const {
  if (number >= objects_.size() || objects_[number].offset == 0) throw_damaged("has no object ", number);
  const Object& found = objects_[number];
  if (bytes > found.bytes)
    throw_damaged("has object ", number, " with ", found.bytes, " bytes, but a text has ", bytes);
  return {reinterpret_cast<const char*>(bytes_.data()) + found.offset, bytes};
}

NewHeapCollection::NewHeapCollection() { clear(); }

void NewHeapCollection::clear() {
  bytes_.assign(kHeaderBytes, std::byte{0});
  std::memcpy(bytes_.data(), kHeapSignature.data(), kHeapSignature.size());
  count_ = 0;
}

bool NewHeapCollection::is_full() const { return bytes_.size() >= kUsualCollectionBytes || count_ == kMaxHeapObjects; }

std::uint32_t NewHeapCollection::add(std::string_view object) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + kHeaderBytes + round_up_to_8(object.size()));
  write_number(bytes_, at, 2, ++count_);
  write_number(bytes_, at + 2, 2, 1);  // one reference
  write_number(bytes_, at + 8, 8, object.size());
  std::memcpy(bytes_.data() + at + kHeaderBytes, object.data(), object.size());
  return count_;
}

std::span<const std::byte> NewHeapCollection::finish() {
  const std::size_t used = bytes_.size();
  if (used < kMinCollectionBytes) bytes_.resize(kMinCollectionBytes);
  if (bytes_.size() - used >= kHeaderBytes) write_number(bytes_, used + 8, 8, bytes_.size() - used);
  write_number(bytes_, kHeapSignature.size(), 8, bytes_.size());
  return bytes_;
}

}  // namespace plait::container::hdf5
