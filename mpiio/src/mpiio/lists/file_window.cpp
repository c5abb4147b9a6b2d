// Reads and writes the covered bytes of a window by few large calls.
//
// Problem: each of many small pieces would take a system call, which costs more than copying a thousand bytes.
//
// Idea: one bit for each byte says whether it is covered, so that pieces may come in any order and may overlap. Covered
// bytes with less than 16 KiB between them are one group, which is read by one call. A write takes one call for each
// run of covered bytes, or, if runs and holes have less than 1 KiB on average, one call for a whole group, which is
// read before. ROMIO does the same. Meanwhile the window is locked against other such writes, by Plait or by ROMIO's
// data sieving: those of another communicator may be in the same holes at the same time. Runs are written one by one
// without a lock, with Open MPI, and if the hint romio_ds_write forbids data sieving.
//
// Example: pieces of 8 bytes at 0, 8, 24 and 100000 are two groups, from 0 to 32 with a hole of 8 bytes, and from
// 100000 to 100008. They are read by two calls and written by three. If there are 100 pieces at distances of 16 bytes,
// their group of 1592 bytes is read and written by one call each.

#include "mpiio/lists/file_window.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "mpiio/lists/host_memory.hpp"

namespace plait::mpiio {

namespace {

constexpr std::int64_t kBits = 64;
constexpr std::int64_t kMaxHole = std::int64_t{16} << 10;

/// Reads bytes; those after the end of the file become 0.
int read_all(int descriptor, std::byte* target, std::int64_t bytes, std::int64_t offset) {
  while (bytes > 0) {
    const ::ssize_t done = ::pread(descriptor, target, static_cast<std::size_t>(bytes), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) {
      std::fill_n(target, bytes, std::byte{});
      return 0;
    }
    target += done;
    bytes -= done;
    offset += done;
  }
  return 0;
}

int write_all(int descriptor, const std::byte* source, std::int64_t bytes, std::int64_t offset) {
  while (bytes > 0) {
    const ::ssize_t done = ::pwrite(descriptor, source, static_cast<std::size_t>(bytes), offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return EIO;
    source += done;
    bytes -= done;
    offset += done;
  }
  return 0;
}

}  // namespace

void FileWindow::start(std::int64_t begin, std::int64_t bytes) {
  begin_ = begin;
  groups_.clear();
  if (std::ssize(data_) < bytes) data_.resize(static_cast<std::size_t>(bytes));
  bits_.assign(static_cast<std::size_t>((bytes + kBits - 1) / kBits), 0);
}

void FileWindow::cover(std::span<const Piece> pieces) {
  constexpr std::uint64_t kAll = ~std::uint64_t{};
  for (const Piece& piece : pieces) {
    const std::uint64_t end = std::uint64_t{piece.offset} + piece.bytes;
    std::size_t word = piece.offset / kBits;
    const std::size_t last = (end - 1) / kBits;
    const std::uint64_t from = kAll << piece.offset % kBits;
    const std::uint64_t to = kAll >> (kBits - 1 - (end - 1) % kBits);
    if (word == last) {
      bits_[word] |= from & to;
      continue;
    }
    bits_[word] |= from;
    while (++word < last) bits_[word] = kAll;
    bits_[last] |= to;
  }
}

void FileWindow::find_groups() {
  std::int64_t empty_bits = 0;
  for (std::size_t word = 0; word < bits_.size(); ++word) {
    const std::uint64_t bits = bits_[word];
    if (bits == 0) {
      empty_bits += kBits;
      continue;
    }
    const std::int64_t base = static_cast<std::int64_t>(word) * kBits;
    if (groups_.empty() || empty_bits >= kMaxHole) groups_.push_back({.begin = base + std::countr_zero(bits)});
    Group& group = groups_.back();
    group.end = base + kBits - std::countl_zero(bits);
    // A run begins at each covered byte after a byte that is not covered.
    group.runs += std::popcount(bits & ~(bits << 1 | (word > 0 ? bits_[word - 1] >> (kBits - 1) : 0)));
    empty_bits = 0;
  }
}

int FileWindow::read(int descriptor) {
  find_groups();
  for (const Group& group : groups_)
    if (const int error =
            read_all(descriptor, data_.data() + group.begin, group.end - group.begin, begin_ + group.begin);
        error != 0)
      return error;
  return 0;
}

std::int64_t FileWindow::find(std::int64_t from, bool is_covered) const {
  const std::uint64_t inverted = is_covered ? 0 : ~std::uint64_t{};
  for (auto word = static_cast<std::size_t>(from / kBits); word < bits_.size(); ++word, from = 0) {
    const std::uint64_t bits = (bits_[word] ^ inverted) & ~std::uint64_t{} << from % kBits;
    if (bits != 0) return static_cast<std::int64_t>(word) * kBits + std::countr_zero(bits);
  }
  return std::ssize(bits_) * kBits;
}

int FileWindow::begin_write(int descriptor, bool sieves) {
  find_groups();
  if (groups_.empty()) return 0;
  if (has_locks_ && sieves) lock_ = FileLock(descriptor, begin_ + groups_.front().begin, begin_ + groups_.back().end);
  has_locks_ = lock_.is_held();
  for (const Group& group : groups_) {
    if (!is_sieved(group)) continue;
    const int error = read_all(descriptor, data_.data() + group.begin, group.end - group.begin, begin_ + group.begin);
    if (error != 0) return error;
  }
  return 0;
}

int FileWindow::end_write(int descriptor, bool writes) {
  int error = 0;
  for (const Group& group : groups_) {
    if (!writes || error != 0) break;
    for (std::int64_t begin = group.begin; begin < group.end && error == 0;) {
      const std::int64_t end = is_sieved(group) ? group.end : find(begin, false);
      error = write_all(descriptor, data_.data() + begin, end - begin, begin_ + begin);
      begin = end == group.end ? end : find(end, true);
    }
  }
  lock_ = FileLock();
  return error;
}

void FileWindow::fill(std::span<const Piece> pieces, const std::byte* source) {
  for (const Piece& piece : pieces) {
    copy_piece(data_.data() + piece.offset, source, piece.bytes);
    source += piece.bytes;
  }
}

void FileWindow::extract(std::span<const Piece> pieces, std::byte* target) const {
  for (const Piece& piece : pieces) {
    copy_piece(target, data_.data() + piece.offset, piece.bytes);
    target += piece.bytes;
  }
}

}  // namespace plait::mpiio
