// The processes of a job find each other through a file that all of them map.
//
// Problem: processes start in any order and may be killed at any time. A job may be started again while the file of a
// killed earlier start still exists. No process is special, and no server runs.
//
// Idea: all processes open JOB.plait-job in the user's folder. Byte 0 of the file is locked by the process that changes
// it (FileLock), byte 1 + r by rank r until its process ends. The system releases the locks of a killed process. A file
// without any lock on bytes 1 and up is a leftover, and is initialized again.
//
// Example with 3 ranks: rank 2 comes first, finds no locks, initializes the file, and locks byte 3. Rank 0 sees that
// lock, maps the file, registers itself, and locks byte 1. Both wait for `state`. Rank 1 registers as the third,
// removes the file's name and sets the state to kComplete. If rank 0 is killed while it waits, rank 2 finds byte 1
// unlocked although rank 0 is registered, and sets the state to kFailed with an error for all.

#include "transport/local/rendezvous.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "base/files/allot.hpp"
#include "base/files/folder.hpp"
#include "base/host/host.hpp"
#include "base/host/meeting_files.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "plait/error.hpp"

namespace plait::transport::local {

using base::text;

namespace {

constexpr std::string_view kSuffix = ".plait-job";
constexpr std::string_view kAnyVersionMagic = "plait-job ";  // beginning of the files of all versions
constexpr std::array<char, 16> kMagic{'p', 'l', 'a', 'i', 't', '-', 'j', 'o', 'b', ' ', '1'};
/// Descriptors that a rank needs in addition to those for the other ranks.
constexpr std::int64_t kOwnDescriptors = 64;
/// Flags with which opening never blocks, whatever kind of file has the name.
constexpr int kOpenFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/// The locks: the first byte of the file is for the process that changes it, each further byte for one rank.
constexpr base::host::LockRange kChangeLock{0, 1};
constexpr base::host::LockRange kAllRanks{1, 0};  // length 0: to the end
constexpr base::host::LockRange rank_lock(int rank) { return {1 + rank, 1}; }

[[noreturn]] void fail_system(const std::string& what, int code) {
  base::throw_system_error(code, what, ": ", std::strerror(code));
}

/// Returns true if the file belongs to a job, of any version of Plait; the folder may also hold other files.  An empty
/// file counts, because another process may just be creating it.
bool is_job_file(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::array<char, kAnyVersionMagic.size()> begin{};
  const ssize_t read = ::pread(file, begin.data(), begin.size(), 0);
  return read == 0 || std::string_view(begin.data(), begin.size()) == kAnyVersionMagic;
}

/// Detects processes that have ended.
class ProcessLiveness : public Liveness {
 public:
  explicit ProcessLiveness(std::vector<std::shared_ptr<const base::ProcessWatch>> watches)
      : watches_(std::move(watches)) {}
  void check() override {
    for (std::size_t rank = 0; rank < watches_.size(); ++rank)
      if (watches_[rank] && watches_[rank]->ended()) shared_memory::throw_ended(static_cast<int>(rank));
  }

 private:
  std::vector<std::shared_ptr<const base::ProcessWatch>> watches_;  // by rank
};

enum State : std::uint32_t { kWaiting, kComplete, kFailed };

}  // namespace

/// All members but the magic, the size and the host are zero at first.
struct Rendezvous::Header {
  std::array<char, 16> magic;
  std::int64_t size;
  std::array<char, 64> host;
  std::atomic<std::uint32_t> state;
  std::int32_t arrived;  // number of registered ranks; protected by kChangeLock
  std::int32_t kind;     // kind of the failure; `code` and `failure` belong to it
  std::int32_t code;
  std::array<char, 512> failure;
};

/// The entry of a rank, after the header.
struct alignas(64) Rendezvous::Entry {
  bool is_registered;
  shared_memory::ProcessIdentity process;
};

/// Holds kChangeLock, the lock on the first byte of the open file, with which a process may change the file.
class Rendezvous::FileLock {
 public:
  explicit FileLock(const Rendezvous& rendezvous) : file_(rendezvous.file_.number()) {
    constexpr std::chrono::milliseconds kMaxNap{50};
    const auto begin = Clock::now();
    auto nap = std::chrono::milliseconds(1);  // the lock is usually held for some microseconds
    while (!base::host::take_lock(file_, kChangeLock)) {
      if (errno != EAGAIN && errno != EACCES && errno != EINTR)
        fail_system(
            text("cannot lock ", rendezvous.path_, "; name a folder on a file system that has locks by PLAIT_MEET"),
            errno);
      base::check_interruption();
      if (rendezvous.is_late() && Clock::now() - begin > kLateTimeout) fail_stuck(rendezvous);
      std::this_thread::sleep_for(nap);
      nap = std::min(2 * nap, kMaxNap);
    }
  }
  ~FileLock() { base::host::release_lock(file_, kChangeLock); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  /// Minimum time to wait for the lock, even if the timeout of this rank has elapsed: the rank still needs the lock to
  /// notify the others.
  static constexpr std::chrono::milliseconds kLateTimeout{500};
  [[noreturn]] static void fail_stuck(const Rendezvous& rendezvous) {
    const int process = base::host::find_locking_process(rendezvous.file_.number(), kChangeLock);
    base::throw_system_error(ETIMEDOUT, "rank ", rendezvous.job_.rank, " of the job ", rendezvous.job_.name,
                             " could not read ", rendezvous.path_, " within ", rendezvous.timeout_.count(),
                             " s: ", process != 0 ? text("process ", process) : std::string("some rank of the job"),
                             " holds its lock, and may be stopped; let it go on, or end it");
  }

  int file_;
};

Rendezvous::Entry& Rendezvous::entry(int rank) const {
  return reinterpret_cast<Entry*>(memory_ + (sizeof(Header) + 63) / 64 * 64)[rank];
}

Rendezvous::Rendezvous(const Job& job, Seconds timeout)
    : job_(job), path_(text(base::host::meeting_folder(), '/', job.name, kSuffix)), timeout_(timeout) {
  // The file has the header, an entry for each rank, and the control block of a group.
  const std::size_t control_offset =
      (sizeof(Header) + 63) / 64 * 64 + sizeof(Entry) * static_cast<std::size_t>(job.size);
  bytes_ = control_offset + static_cast<std::size_t>(shared_memory::control_bytes(job.size));
  try {
    // An attempt is repeated if the other processes have just met or ended, and removed the file.
    constexpr int kAttempts = 1000;
    for (int attempt = 0; memory_ == nullptr; ++attempt) {
      if (attempt == kAttempts) fail_system(text("cannot enter ", path_), EAGAIN);
      file_ = base::Descriptor(::open(path_.c_str(), kOpenFlags | O_CREAT, 0600));
      if (file_.number() < 0) fail_system(text("cannot make ", path_), errno);
      const FileLock lock(*this);
      if (!base::host::leads_to(path_, file_.number())) continue;
      if (base::host::is_locked(file_.number(), kAllRanks)) {
        if (!has_own_version())
          fail_system(text(path_, " is of another version of Plait, or of something else"), EPROTO);
        map_file();
      } else {
        initialize_file();
      }
      register_rank();
    }
    wait_for_all_ranks();
    for (int rank = 0; rank < job.size; ++rank) processes_.push_back(entry(rank).process);
    group_.emplace(memory_ + control_offset, job.rank, job.size,
                   std::make_unique<ProcessLiveness>(shared_memory::watch(processes_)));
  } catch (...) {
    if (memory_ != nullptr) ::munmap(memory_, bytes_);
    remove_unused_file();
    throw;
  }
}

void Rendezvous::remove_unused_file() const noexcept {
  // Remove the file only if no process holds any lock. Otherwise the last of these processes removes it.
  const int file = file_.number();
  if (file >= 0 && is_job_file(file) && base::host::take_lock(file) && base::host::leads_to(path_, file))
    ::unlink(path_.c_str());
}

Rendezvous::~Rendezvous() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

/// Returns true if a process of this version of Plait has initialized the file.
bool Rendezvous::has_own_version() const {
  std::array<char, kMagic.size()> found{};
  return ::pread(file_.number(), found.data(), found.size(), 0) == static_cast<ssize_t>(found.size()) &&
         found == kMagic;
}

void Rendezvous::map_file() {
  // If the other ranks have another PLAIT_SIZE, the file may be shorter; register_rank() then reads only the header.
  void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (memory == MAP_FAILED) fail_system(text("cannot map ", path_), errno);
  memory_ = static_cast<std::byte*>(memory);
}

/// Makes the file a file of this job, without any registered rank, and maps it.
void Rendezvous::initialize_file() {
  if (!is_job_file(file_.number()))
    fail_system(text(path_,
                     " is there, and is not of a job; remove it, give the job another name by PLAIT_JOB, or name "
                     "another folder by PLAIT_MEET"),
                EEXIST);
  if (::ftruncate(file_.number(), 0) != 0) fail_system(text("cannot write ", path_), errno);
  // Write the magic first: if this process is killed here, the next one recognizes the file as a leftover.
  if (::pwrite(file_.number(), kMagic.data(), kMagic.size(), 0) != static_cast<ssize_t>(kMagic.size()))
    fail_system(text("cannot write ", path_), errno);
  if (const int code = base::allot(file_.number(), 0, static_cast<std::int64_t>(bytes_)); code != 0)
    fail_system(text("cannot write ", path_), code);
  map_file();
  header().size = job_.size;
  base::host::boot_id().copy(header().host.data(), header().host.size() - 1);
}

void Rendezvous::register_rank() {
  Header& shared = header();
  if (shared.state.load(std::memory_order_acquire) == kFailed) throw_recorded_failure();
  if (shared.size != job_.size)
    fail(ErrorKind::kArgument, 0,
         text("rank ", job_.rank, " of the job ", job_.name, " says that it has ", job_.size, " ranks, and others say ",
              shared.size, "; give all of them the same PLAIT_SIZE"));
  if (base::host::boot_id() != shared.host.data())
    fail(ErrorKind::kArgument, 0,
         text("rank ", job_.rank, " of the job ", job_.name,
              " runs on another host than others; processes without MPI work together on one host, so start those of "
              "several hosts with mpiexec"));
  // For each rank: one descriptor detects its end, and one is for its connection if files are distant.
  const std::int64_t max_open_files = base::allow_descriptors(kOwnDescriptors + std::int64_t{2} * job_.size);
  if (max_open_files < kOwnDescriptors + job_.size)
    fail(ErrorKind::kSystem, EMFILE,
         text("rank ", job_.rank, " of the job ", job_.name, " may open ", max_open_files, " files, and needs ",
              kOwnDescriptors + job_.size, " where there are ", job_.size,
              " ranks; allow more (ulimit -n, or ulimit -Hn), or start fewer ranks"));
  Entry& own = entry(job_.rank);
  if (own.is_registered && base::host::is_locked(file_.number(), rank_lock(job_.rank)))
    fail(ErrorKind::kSystem, EADDRINUSE,
         text("two processes say that they are rank ", job_.rank, " of the job ", job_.name, ": ", own.process.number,
              " and ", ::getpid(), "; give each its own PLAIT_RANK, and another program another PLAIT_JOB"));
  check_for_ended();
  if (!base::host::take_lock(file_.number(), rank_lock(job_.rank))) fail_system(text("cannot lock ", path_), errno);
  own.process = shared_memory::this_process_identity();
  if (!std::exchange(own.is_registered, true)) ++shared.arrived;
  if (shared.arrived < job_.size) return;
  ::unlink(path_.c_str());
  shared.state.store(kComplete, std::memory_order_release);
  wake_all(shared.state);
}

/// Fails, for all ranks, if a registered rank does not hold its lock any more.
void Rendezvous::check_for_ended() {
  for (int rank = 0; rank < job_.size; ++rank)
    if (entry(rank).is_registered && rank != job_.rank && !base::host::is_locked(file_.number(), rank_lock(rank)))
      fail(ErrorKind::kSystem, EOWNERDEAD,
           text("rank ", rank, " of the job ", job_.name, " (process ", entry(rank).process.number,
                ") has ended, or given up, before all ", job_.size, " ranks had come"));
}

std::string Rendezvous::missing_ranks_text() const {
  constexpr int kMaxNamed = 8;
  std::string missing;
  int count = 0;
  for (int rank = 0; rank < job_.size; ++rank)
    if (!entry(rank).is_registered && ++count <= kMaxNamed) missing += text(count == 1 ? "" : ", ", rank);
  if (count > kMaxNamed) missing += text(" and ", count - kMaxNamed, " more");
  return text(
      count == 1 ? "rank " : "ranks ", missing, " of the job ", job_.name, " (", job_.size,
      count == 1 ? " ranks) has" : " ranks) have", " not come within ", timeout_.count(),
      " s; every rank asks for the communicator of the job (plait.world() in Python), and a program that a rank "
      "starts is none of them");
}

bool Rendezvous::is_late() const { return Clock::now() - begin_ >= timeout_; }

void Rendezvous::wait_for_all_ranks() {
  constexpr std::chrono::milliseconds kCheckInterval{250};
  std::atomic<std::uint32_t>& state = header().state;
  auto last_check = begin_;
  while (state.load(std::memory_order_acquire) == kWaiting) {
    sleep_on(state, kWaiting, base::kBetweenInterruptions);
    base::check_interruption();
    const auto now = Clock::now();
    const bool late = is_late();
    if (now - last_check < kCheckInterval && !late) continue;
    last_check = now;
    const FileLock lock(*this);
    if (state.load(std::memory_order_acquire) != kWaiting) break;
    check_for_ended();
    if (late) fail(ErrorKind::kSystem, ETIMEDOUT, missing_ranks_text());
  }
  if (state.load(std::memory_order_acquire) == kFailed) throw_recorded_failure();
}

void Rendezvous::fail(ErrorKind kind, int code, std::string_view text) {
  Header& shared = header();
  if (shared.state.load(std::memory_order_acquire) == kWaiting) {
    shared.kind = static_cast<std::int32_t>(kind);
    shared.code = code;
    const std::size_t length = text.copy(shared.failure.data(), shared.failure.size() - 1);
    shared.failure[length] = '\0';
    shared.state.store(kFailed, std::memory_order_release);
    wake_all(shared.state);
    ::unlink(path_.c_str());  // the name is free for the next attempt
  }
  throw Error(kind, std::string(text), code);
}

void Rendezvous::throw_recorded_failure() const {
  const Header& shared = header();
  throw Error(static_cast<ErrorKind>(shared.kind), shared.failure.data(), shared.code);
}

void remove_leftovers() {
  const std::string folder = base::host::meeting_folder();
  std::error_code ignored;
  for (const std::string& name : base::names_in(folder, ignored)) {
    if (!name.ends_with(kSuffix)) continue;
    const std::string path = text(folder, '/', name);
    const base::Descriptor file(::open(path.c_str(), kOpenFlags));
    // The lock covers the whole file: a process that is just creating it holds the first byte.
    if (file.number() >= 0 && is_job_file(file.number()) && base::host::take_lock(file.number()) &&
        base::host::leads_to(path, file.number()))
      ::unlink(path.c_str());
  }
}

}  // namespace plait::transport::local
