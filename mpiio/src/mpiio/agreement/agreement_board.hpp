/// Memory in which the ranks of one host see each other's numbers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plait::mpiio {

/// How other processes find the memory of a board.
struct BoardLocation {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;  ///< negative if there is no memory
  std::int64_t key = 0;          ///< random; also in the first bytes of the memory
};

/// A board has a slot of each rank for each of many files. A rank posts its numbers in its own slot, where the others
/// find them without a message.
/// threads  Several may call the functions at once, each for other files.
class AgreementBoard {
 public:
  static constexpr std::size_t kNumbers = 17;
  static constexpr int kMaxRanks = 16;  ///< reading the slots of more ranks takes longer than a few messages
  static constexpr int kFiles = 1024;   ///< by their tags, which count the files of a communicator from 1

  /// True if the file with this tag and the next ones have a new board. The first file of a communicator has none, as
  /// making a board would delay it, and there may be no other.
  static bool begins_at(int tag) { return tag == 2 || (tag > 2 && tag % kFiles == 0); }

  /// Makes memory of zeros for so many ranks, and stores its location; without memory nothing is at that location.
  AgreementBoard(int ranks, BoardLocation& location);
  /// Maps memory that another rank has made.
  AgreementBoard(int rank, int ranks, const BoardLocation& location);
  ~AgreementBoard();
  AgreementBoard(const AgreementBoard&) = delete;
  AgreementBoard& operator=(const AgreementBoard&) = delete;

  /// True if there is memory, which the functions below use.
  bool is_usable() const { return slots_ != nullptr; }
  /// Closes the descriptor of the rank that has made the memory. No other rank can map it from then on.
  void close_location();

  /// Posts the numbers of this rank for a file. The caller has found the previous numbers of the file on all ranks.
  /// call  number of the call, from 1
  void post(int tag, std::uint32_t call, std::span<const std::int64_t, kNumbers> numbers);
  /// Returns the numbers that a rank has posted; nullptr if it has not posted them yet. They stay until this rank posts
  /// numbers for the file again.
  const std::int64_t* find(int rank, int tag, std::uint32_t call) const;

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> stamp;  ///< tag and call of the numbers
    std::array<std::int64_t, kNumbers> numbers;
  };

  Slot& slot(int rank, int tag, std::uint32_t call) const;
  void set_memory(void* memory);

  Slot* slots_ = nullptr;
  std::size_t bytes_;
  int rank_;
  int descriptor_ = -1;
};

}  // namespace plait::mpiio
