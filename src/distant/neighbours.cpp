// The files of other ranks of the node, opened by this process.
//
// Problem: ranks of one node should not send each other messages to access files that each of them can open. But a
// rank must not access a file that its owner has closed: with messages, the owner would not find it.
//
// Idea: the owner describes its file by path, device, inode, process and descriptor (FileLocation). Another rank opens
// the path, or, if that leads elsewhere, /proc/PROCESS/fd/DESCRIPTOR, and accepts only the same device and inode. The
// kernel checks the permission, so that this needs no key. To invalidate the descriptors of the others, the owner has
// marks in shared memory, which are the numbers of the files that it serves. Each access loads the mark of its file.
//
// Example: rank 1 offers file -3, for which it stores -3 in its first free mark, the 5th. Rank 0 opens the file and
// remembers the 5th mark of rank 1. When rank 1 closes the file, it stores 0 there, and the accesses of rank 0 fail
// with the same error as by message. If rank 1 then offers file -4 and uses the mark again, rank 0 loads -4, which is
// not -3 either: a transport uses no number twice.

#include "distant/neighbours.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "plait/error.hpp"

namespace plait::distant {

namespace {

static_assert(sizeof(FileLocation) <= transport::Transport::kNoteBytes);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// Returns the mark of a rank of the node for a number; its `word` is null if there is none.
OpenMark find_mark(transport::Transport& transport, int node_rank, std::int64_t number) {
  for (const auto& word : transport.gates().marks(node_rank))
    if (word.load(std::memory_order_acquire) == number) return {&word, number};
  return {};
}

std::shared_ptr<const LocalFile> open_located(const FileLocation& location, int rank, OpenMark mark) {
  try {
    if (location.path[0] != '\0') return std::make_shared<const LocalFile>(location, rank, mark);
  } catch (const Error&) {  // the file is then accessed by messages
  }
  return nullptr;
}

}  // namespace

void put_mark(transport::Transport& transport, std::int64_t number) {
  // Any thread of this rank may open files. If no mark is free, files that are opened collectively are accessed
  // directly all the same, and others by messages.
  for (auto& word : transport.gates().marks(transport.node_rank())) {
    std::int64_t none = 0;
    if (word.compare_exchange_strong(none, number, std::memory_order_acq_rel)) return;
  }
}

void remove_mark(transport::Transport& transport, std::int64_t number) {
  for (auto& word : transport.gates().marks(transport.node_rank())) {
    std::int64_t known = number;
    if (word.compare_exchange_strong(known, 0, std::memory_order_acq_rel)) return;
  }
}

void write_location(transport::Transport& transport, const LocalFile* own) {
  if (transport.node_size() == 1) return;  // no other rank reads the note
  const FileLocation location = own != nullptr ? own->location() : FileLocation{};
  std::memcpy(transport.note(transport.node_rank()).data(), &location, sizeof location);
}

FilesOfRanks open_neighbours(transport::Transport& transport, std::int64_t number) {
  FilesOfRanks files;
  for (int node_rank = 0; node_rank < transport.node_size(); ++node_rank) {
    if (node_rank == transport.node_rank()) continue;
    FileLocation location;
    std::memcpy(&location, transport.note(node_rank).data(), sizeof location);
    const int rank = transport.worker_on_node(node_rank);
    if (auto file = open_located(location, rank, find_mark(transport, node_rank, number)))
      files[rank] = std::move(file);
  }
  return files;
}

std::shared_ptr<const LocalFile> open_found(transport::Transport& transport, const FileLocation& location, int rank,
                                            std::int64_t number) {
  const OpenMark mark = find_mark(transport, transport.rank_on_node(rank), number);
  return mark.word == nullptr ? nullptr : open_located(location, rank, mark);
}

void FoundFile::set(std::shared_ptr<const LocalFile> file) {
  const std::scoped_lock lock(mutex_);
  file_ = std::move(file);
}

std::shared_ptr<const LocalFile> FoundFile::get() const {
  const std::scoped_lock lock(mutex_);
  if (file_ && !file_->has_owner()) file_ = nullptr;
  return file_;
}

}  // namespace plait::distant
