// Two-phase access by lists of runs.
//
// Problem: each rank accesses thousands of small runs of a file, between which are those of other ranks. A system call
// for each run would take much longer than copying its bytes.
//
// Idea: the range of the file that the ranks access is divided into domains, each of which one rank owns, and domains
// are divided into windows of a few MiB. In each round all ranks send to each owner the runs that they have in its
// current window. For a write they send the data as well; the owner puts the data together and writes long runs of
// bytes. For a read the owner reads large groups and sends each rank its data. Windows that no rank accesses are
// skipped: with the sizes of its messages each rank sends the number of the next window that it needs.
//
// The runs ascend, so the data of a window is contiguous in the memory of a rank, unless its memory type has holes:
// usually messages come directly from that memory, or go there.
//
// Example: two ranks write alternating pieces of 8 bytes, 1 MiB each. Rank 0 owns the first MiB of the file, rank 1 the
// second. Each sends half of its data to the other one, and both write 1 MiB by one call.

#include "mpiio/lists/list_transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "mpiio/lists/file_window.hpp"

namespace plait::mpiio {

namespace {

constexpr std::int64_t kNoWindow = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAlignment = 4096;  // bytes of a block of most file systems

std::int64_t divide_up(std::int64_t number, std::int64_t divisor) { return (number + divisor - 1) / divisor; }

/// Divides the range of an access into domains and windows. The same on all ranks.
struct Domains {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int ranks = 1;
  int owners = 0;
  std::int64_t bytes = 0;   ///< of each domain but the last one
  std::int64_t window = 0;  ///< bytes of each window of a domain but its last one

  Domains(const ListAccess& access, int rank_count) : end(access.end), ranks(rank_count) {
    constexpr std::int64_t kMinDomain = std::int64_t{64} << 10;
    constexpr std::int64_t kMinWindow = std::int64_t{64} << 10;
    constexpr std::int64_t kMaxWindow = std::int64_t{4} << 20;
    // Bytes of the current windows of all domains together: one rank may have all their data in memory.
    constexpr std::int64_t kAllWindows = std::int64_t{64} << 20;
    begin = access.begin / kAlignment * kAlignment;
    const std::int64_t range = end - begin;
    bytes = divide_up(std::max(divide_up(range, ranks), kMinDomain), kAlignment) * kAlignment;
    owners = static_cast<int>(divide_up(range, bytes));
    window = std::clamp(kAllWindows / ranks / kAlignment * kAlignment, kMinWindow, kMaxWindow);
  }
  /// Returns the rank that owns a domain. Domains are far apart, so that hosts share the work.
  int rank(int owner) const { return static_cast<int>(static_cast<std::int64_t>(owner) * ranks / owners); }
  std::int64_t begin_of_domain(int owner) const { return begin + owner * bytes; }
  std::int64_t end_of_domain(int owner) const { return std::min(end, begin_of_domain(owner) + bytes); }
  std::int64_t begin_of_window(int owner, std::int64_t number) const {
    return std::min(begin_of_domain(owner) + number * window, end_of_domain(owner));
  }
  std::int64_t end_of_window(int owner, std::int64_t number) const {
    return std::min(begin_of_window(owner, number) + window, end_of_domain(owner));
  }
};

/// The sizes of the messages of a round from one rank to another, and what all ranks must know of each other.
struct Header {
  std::int64_t pieces = 0;
  std::int64_t bytes = 0;
  std::int64_t next = kNoWindow;  ///< the next window that the rank needs
  std::int64_t error = 0;
};
constexpr int kHeaderNumbers = sizeof(Header) / sizeof(std::int64_t);

/// The part of an access that is in one domain, on the rank whose memory it reads or writes.
struct Share {
  explicit Share(const RunCursor& all) : runs(all) {}

  RunCursor runs;
  std::vector<Piece> pieces;    ///< in the current window
  std::int64_t position = 0;    ///< of the data of the window
  std::int64_t bytes = 0;       ///< of the data of the window
  std::byte* data = nullptr;    ///< of the window: in the memory of the program, or in `copy`
  std::vector<std::byte> copy;  ///< if the memory type has holes
};

/// The part of another rank's access that is in the current window of this rank.
struct Client {
  int rank = 0;
  std::vector<Piece> pieces;
  std::vector<std::byte> data;
};

/// Starts messages and waits for them.
class Messages {
 public:
  explicit Messages(MPI_Comm comm) : comm_(comm) {}
  /// Does not wait if an exception ends the access: that ends the program, and others may not send what this rank
  /// awaits.
  ~Messages() {
    if (std::uncaught_exceptions() == 0) wait();
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  template <class Item>
  void send(const Item* items, std::int64_t number, int target, int tag) {
    note(PMPI_Isend(items, bytes<Item>(number), MPI_BYTE, target, tag, comm_, &add()));
  }
  template <class Item>
  void receive(Item* items, std::int64_t number, int source, int tag) {
    note(PMPI_Irecv(items, bytes<Item>(number), MPI_BYTE, source, tag, comm_, &add()));
  }
  void wait() {
    if (requests_.empty()) return;
    note(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
  }
  bool has_failed() const { return has_failed_; }

 private:
  template <class Item>
  static int bytes(std::int64_t number) {
    return static_cast<int>(number * static_cast<std::int64_t>(sizeof(Item)));
  }
  MPI_Request& add() { return requests_.emplace_back(MPI_REQUEST_NULL); }
  void note(int code) { has_failed_ = has_failed_ || code != MPI_SUCCESS; }

  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
  bool has_failed_ = false;
};

enum Tag : int { kPieces = 1, kData = 2 };

/// An access, of which each round carries out one window of each domain.
class ListTransfer {
 public:
  ListTransfer(const ListAccess& access, int descriptor, MPI_Comm comm, int ranks);

  int run();

 private:
  void make_shares();
  void collect(int owner, std::int64_t number);
  std::int64_t next_window() const;
  /// Exchanges the sizes of messages. Returns false if any rank has failed. Collective.
  bool exchange_headers();
  void start_messages();
  void cover();
  void write();
  void read();
  void note(int error) {
    if (error_ == 0) error_ = error;
  }

  ListAccess access_;
  int descriptor_;
  MPI_Comm comm_;
  int rank_ = 0;
  Domains domains_;
  int own_ = -1;  ///< the domain of this rank; -1 for none
  int error_ = 0;
  std::int64_t next_ = 0;
  std::vector<Share> shares_;  ///< by domain
  std::vector<Header> sent_;   ///< by rank
  std::vector<Header> received_;
  std::vector<Client> clients_;
  FileWindow window_;
  Messages pieces_;  ///< lists that this rank receives
  Messages data_;    ///< data that this rank receives
  Messages outgoing_;
};

ListTransfer::ListTransfer(const ListAccess& access, int descriptor, MPI_Comm comm, int ranks)
    : access_(access),
      descriptor_(descriptor),
      comm_(comm),
      domains_(access, ranks),
      sent_(static_cast<std::size_t>(ranks)),
      received_(static_cast<std::size_t>(ranks)),
      pieces_(comm),
      data_(comm),
      outgoing_(comm) {
  PMPI_Comm_rank(comm_, &rank_);
  for (int owner = 0; owner < domains_.owners; ++owner)
    if (domains_.rank(owner) == rank_) own_ = owner;
  make_shares();
}

void ListTransfer::make_shares() {
  if (access_.runs == nullptr) return;
  const RunCursor& all = *access_.runs;
  for (int owner = 0; owner < domains_.owners; ++owner) {
    Share& share = shares_.emplace_back(all);
    share.runs.seek_offset(domains_.begin_of_domain(owner));
    if (share.runs.position() < all.position()) share.runs.seek(all.position());
  }
}

void ListTransfer::collect(int owner, std::int64_t number) {
  Share& share = shares_[static_cast<std::size_t>(owner)];
  const std::int64_t begin = domains_.begin_of_window(owner, number);
  const std::int64_t end = domains_.end_of_window(owner, number);
  RunCursor& runs = share.runs;
  share.pieces.clear();
  share.position = runs.position();
  std::int64_t piece_end = -1;
  while (!runs.is_at_end() && runs.offset() < end) {
    const std::int64_t bytes = std::min(runs.left(), end - runs.offset());
    if (runs.offset() == piece_end)
      share.pieces.back().bytes += static_cast<std::uint32_t>(bytes);
    else
      share.pieces.push_back({static_cast<std::uint32_t>(runs.offset() - begin), static_cast<std::uint32_t>(bytes)});
    piece_end = runs.offset() + bytes;
    runs.skip(bytes);
  }
  share.bytes = runs.position() - share.position;
  if (share.bytes == 0) return;
  const std::int64_t in_memory = share.position - access_.runs->position();
  share.data = access_.memory->dense();
  if (share.data != nullptr) {
    share.data += in_memory;
    return;
  }
  share.copy.resize(static_cast<std::size_t>(share.bytes));
  share.data = share.copy.data();
  if (!access_.writes) return;
  RunCursor memory = access_.memory->cursor();
  memory.seek(in_memory);
  pack(memory, share.data, share.bytes);
}

std::int64_t ListTransfer::next_window() const {
  std::int64_t next = kNoWindow;
  for (int owner = 0; owner < std::ssize(shares_); ++owner) {
    const RunCursor& runs = shares_[static_cast<std::size_t>(owner)].runs;
    if (runs.is_at_end() || runs.offset() >= domains_.end_of_domain(owner)) continue;
    next = std::min(next, (runs.offset() - domains_.begin_of_domain(owner)) / domains_.window);
  }
  return next;
}

bool ListTransfer::exchange_headers() {
  const Header common{.next = next_window(), .error = error_};
  std::ranges::fill(sent_, common);
  for (int owner = 0; owner < std::ssize(shares_); ++owner) {
    const Share& share = shares_[static_cast<std::size_t>(owner)];
    Header& header = sent_[static_cast<std::size_t>(domains_.rank(owner))];
    header.pieces = std::ssize(share.pieces);
    header.bytes = share.bytes;
  }
  if (PMPI_Alltoall(sent_.data(), kHeaderNumbers, MPI_INT64_T, received_.data(), kHeaderNumbers, MPI_INT64_T, comm_) !=
      MPI_SUCCESS) {
    note(EIO);
    return false;
  }
  next_ = kNoWindow;
  for (const Header& header : received_) {
    next_ = std::min(next_, header.next);
    if (header.error != 0) return false;
  }
  return true;
}

void ListTransfer::start_messages() {
  clients_.clear();
  for (int source = 0; source < std::ssize(received_); ++source) {
    const Header& header = received_[static_cast<std::size_t>(source)];
    if (header.pieces == 0 || source == rank_) continue;
    Client& client = clients_.emplace_back();
    client.rank = source;
    client.pieces.resize(static_cast<std::size_t>(header.pieces));
    client.data.resize(static_cast<std::size_t>(header.bytes));
    pieces_.receive(client.pieces.data(), header.pieces, source, kPieces);
    if (access_.writes) data_.receive(client.data.data(), header.bytes, source, kData);
  }
  for (int owner = 0; owner < std::ssize(shares_); ++owner) {
    Share& share = shares_[static_cast<std::size_t>(owner)];
    if (share.bytes == 0 || owner == own_) continue;
    outgoing_.send(share.pieces.data(), std::ssize(share.pieces), domains_.rank(owner), kPieces);
    if (access_.writes)
      outgoing_.send(share.data, share.bytes, domains_.rank(owner), kData);
    else
      data_.receive(share.data, share.bytes, domains_.rank(owner), kData);
  }
}

void ListTransfer::cover() {
  pieces_.wait();
  if (pieces_.has_failed()) {
    note(EIO);
    return;
  }
  for (const Client& client : clients_) window_.cover(client.pieces);
  if (own_ >= 0 && !shares_.empty()) window_.cover(shares_[static_cast<std::size_t>(own_)].pieces);
}

void ListTransfer::write() {
  data_.wait();
  if (pieces_.has_failed() || data_.has_failed()) {
    note(EIO);
    return;
  }
  // While a rank has the lock it waits for no other rank, so ranks cannot block each other.
  note(window_.begin_write(descriptor_, access_.sieves_writes));
  if (own_ >= 0 && !shares_.empty()) {
    const Share& share = shares_[static_cast<std::size_t>(own_)];
    window_.fill(share.pieces, share.data);
  }
  for (const Client& client : clients_) window_.fill(client.pieces, client.data.data());
  note(window_.end_write(descriptor_, error_ == 0));
}

void ListTransfer::read() {
  note(window_.read(descriptor_));
  for (Client& client : clients_) {
    if (!pieces_.has_failed()) window_.extract(client.pieces, client.data.data());
    outgoing_.send(client.data.data(), std::ssize(client.data), client.rank, kData);
  }
  if (own_ >= 0 && !shares_.empty()) {
    const Share& share = shares_[static_cast<std::size_t>(own_)];
    window_.extract(share.pieces, share.data);
  }
  data_.wait();
  if (access_.runs == nullptr || access_.memory->dense() != nullptr) return;
  for (const Share& share : shares_) {
    if (share.bytes == 0) continue;
    RunCursor memory = access_.memory->cursor();
    memory.seek(share.position - access_.runs->position());
    unpack(memory, share.data, share.bytes);
  }
}

int ListTransfer::run() {
  // The first byte of the range is in the first window.
  while (next_ != kNoWindow) {
    const std::int64_t number = next_;
    for (int owner = 0; owner < std::ssize(shares_); ++owner) collect(owner, number);
    if (!exchange_headers()) break;
    start_messages();
    if (own_ >= 0) {
      const std::int64_t begin = domains_.begin_of_window(own_, number);
      window_.start(begin, domains_.end_of_window(own_, number) - begin);
    }
    cover();
    if (access_.writes)
      write();
    else
      read();
    outgoing_.wait();
    if (data_.has_failed() || outgoing_.has_failed()) note(EIO);
  }
  const std::int64_t own = error_;
  std::int64_t largest = 0;
  if (PMPI_Allreduce(&own, &largest, 1, MPI_INT64_T, MPI_MAX, comm_) != MPI_SUCCESS) return EIO;
  return static_cast<int>(largest);
}

}  // namespace

int transfer_lists(const ListAccess& access, int descriptor, MPI_Comm comm) {
  if (access.begin >= access.end) return 0;
  int ranks = 1;
  PMPI_Comm_size(comm, &ranks);
  return ListTransfer(access, descriptor, comm, ranks).run();
}

}  // namespace plait::mpiio
