// Shares the numbers of small agreements between the ranks of one host.
//
// Problem: the ranks compare their views in each MPI_File_set_view. Messages for that take a third of the time of
// setting a small view, and more if several ranks share a core, as each message wakes another process.
//
// Idea: each rank writes its numbers into a slot of its own, in memory that all ranks have mapped, with a stamp that
// names the file and the call. The MPI lets the ranks wait for each other in MPI_File_set_view anyhow. Afterwards each
// rank finds the numbers of the others without waiting.
//
// Two slots for each rank and file take turns. A rank that posts call 3 has found the numbers of call 2 of all ranks,
// each of which had found those of call 1 before; so nobody reads the slot of call 1 any more, which call 3 overwrites.
// Slots are not used again for other files, since ranks with several threads may close files in different orders. After
// 1024 files there is a new board.
//
// Rank 0 makes the memory as a file without a name, which the others open through /proc. The process with that number
// on another host, or in another container, has different memory or none: a random number tells.
//
// Example: each of 4 ranks writes 144 bytes and reads 3 times 144 bytes, in about 0.3 microseconds.

#include "mpiio/agreement/agreement_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace plait::mpiio {

namespace {

constexpr std::size_t kHeaderBytes = 64;  // the key, and nothing else in its cache line

std::uint64_t to_stamp(int tag, std::uint32_t call) { return static_cast<std::uint64_t>(tag) << 32 | call; }

/// Returns nullptr if the descriptor has no such memory.
void* map_memory(int descriptor, std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

AgreementBoard::AgreementBoard(int ranks, BoardLocation& location)
    : bytes_(kHeaderBytes + static_cast<std::size_t>(ranks) * kFiles * 2 * sizeof(Slot)), rank_(0) {
  location = {};
  descriptor_ = ::memfd_create("plait-mpiio", MFD_CLOEXEC);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) return;
  if (::getrandom(&location.key, sizeof location.key, 0) != sizeof location.key) return;
  // Smallest numbers are agreed on, and other ranks know none.
  location.key &= INT64_MAX;
  set_memory(map_memory(descriptor_, bytes_));
  if (!is_usable()) return;
  *reinterpret_cast<std::int64_t*>(reinterpret_cast<std::byte*>(slots_) - kHeaderBytes) = location.key;
  location.process = ::getpid();
  location.descriptor = descriptor_;
}

AgreementBoard::AgreementBoard(int rank, int ranks, const BoardLocation& location)
    : bytes_(kHeaderBytes + static_cast<std::size_t>(ranks) * kFiles * 2 * sizeof(Slot)), rank_(rank) {
  if (location.descriptor < 0) return;
  const std::string path = "/proc/" + std::to_string(location.process) + "/fd/" + std::to_string(location.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return;
  // A smaller file has no bytes to read at the end of the map.
  void* memory = nullptr;
  if (::lseek(descriptor, 0, SEEK_END) == static_cast<off_t>(bytes_)) memory = map_memory(descriptor, bytes_);
  ::close(descriptor);
  if (memory == nullptr) return;
  if (*static_cast<std::int64_t*>(memory) == location.key)
    set_memory(memory);
  else
    ::munmap(memory, bytes_);
}

AgreementBoard::~AgreementBoard() {
  close_location();
  if (is_usable()) ::munmap(reinterpret_cast<std::byte*>(slots_) - kHeaderBytes, bytes_);
}

void AgreementBoard::set_memory(void* memory) {
  if (memory != nullptr) slots_ = reinterpret_cast<Slot*>(static_cast<std::byte*>(memory) + kHeaderBytes);
}

void AgreementBoard::close_location() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void AgreementBoard::post(int tag, std::uint32_t call, std::span<const std::int64_t, kNumbers> numbers) {
  Slot& own = slot(rank_, tag, call);
  std::copy(numbers.begin(), numbers.end(), own.numbers.begin());
  own.stamp.store(to_stamp(tag, call), std::memory_order_release);
}

const std::int64_t* AgreementBoard::find(int rank, int tag, std::uint32_t call) const {
  const Slot& other = slot(rank, tag, call);
  return other.stamp.load(std::memory_order_acquire) == to_stamp(tag, call) ? other.numbers.data() : nullptr;
}

AgreementBoard::Slot& AgreementBoard::slot(int rank, int tag, std::uint32_t call) const {
  const std::size_t file = static_cast<std::size_t>(rank) * kFiles + static_cast<std::size_t>(tag) % kFiles;
  return slots_[file * 2 + call % 2];
}

}  // namespace plait::mpiio
