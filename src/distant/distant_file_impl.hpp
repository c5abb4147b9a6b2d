/// One rank's side of a distant file: its own file, which other ranks access through it, and the access to theirs.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/process.hpp"
#include "distant/local_file.hpp"
#include "distant/neighbours.hpp"
#include "distant/request.hpp"
#include "distant/service.hpp"
#include "distant/wire.hpp"
#include "plait/distant.hpp"

namespace plait {

class DistantFile::Impl {
 public:
  Impl(const Comm& comm, std::shared_ptr<distant::Service> service, DistantMode mode);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Opens this rank's file and those of the other ranks.  `number` is the transport's next number; `call` describes
  /// the call in the comparison of what ranks have called; `named` is true if files keep their names, so that
  /// start_sync() fails for a file that was removed; `neighbours` is true if this process also opens the files of its
  /// node.  Collective.
  void open_together(std::int64_t number, const DistantOptions& options, const std::string& call, bool named = true,
                     bool neighbours = true);
  void open_own(const DistantOptions& options, bool named = true);
  /// Returns true if the file is unlinked as soon as it is open.
  static bool unlinks_at_once(const DistantOptions& options) {
    return options.temporary && options.mode == DistantMode::kWrite;
  }
  /// Arranges that this rank's file is removed when it is closed if options.temporary is set; call it when all ranks
  /// have opened the file.  A file that was opened with mode "w" is unlinked at once instead, so that it disappears
  /// even if the rank is killed.
  void make_temporary(const DistantOptions& options);
  /// Registers this rank's file with its server under `number`.
  void publish(std::int64_t number);
  /// errors  kArgument: a rank already offers a file under this name.
  void check_free(const std::string& name);
  /// Registers the name of this rank's file in the directory of names.
  /// errors  As check_free().
  void offer_as(const std::string& name);
  /// Opens the file that a rank offers under this name.
  /// errors  kArgument: no rank does.
  void find_by_name(const std::string& name);
  void close();
  void abandon() noexcept;

  int server() const { return server_; }
  bool is_open() const { return open_ && owner_.here(); }
  const base::Owner& owner() const { return owner_; }
  /// Returns the object itself.
  /// errors  kArgument: this process is a child of the one that opened the file.
  Impl& here() {
    owner_.check("the distant file");
    return *this;
  }
  /// Returns the file of a rank if this process has opened it, else nullptr.  If the file was found by name and its
  /// owner has closed it, closes the descriptor of this process.
  std::shared_ptr<const distant::LocalFile> direct(int rank) const;

  void read(std::int64_t offset, std::byte* buffer, std::int64_t bytes, int rank);
  void write(std::int64_t offset, const std::byte* buffer, std::int64_t bytes, int rank);
  DistantRequest start_read(std::int64_t offset, std::byte* buffer, std::int64_t bytes, int rank);
  DistantRequest start_write(std::int64_t offset, const std::byte* buffer, std::int64_t bytes, int rank);
  DistantRequest start_sync(int rank);
  std::int64_t size(int rank);
  void resize(std::int64_t bytes, int rank);

  /// Begins one access to a file without any checks, for requests that consist of accesses to several files.  `done` is
  /// called once, on any thread, and must not throw.
  /// errors  An error before the access began, such as std::bad_alloc; `done` is not called then.
  void begin_here(std::function<void()> work, DistantRequest::Impl::Completion done);
  void begin_call(distant::Head head, int rank, std::span<std::byte> output, std::span<const std::byte> payload,
                  DistantRequest::Impl::Completion done);
  /// Removes this rank's file from the server; no rank may have accesses to it under way.
  void withdraw();

 private:
  /// Opens the found file itself if its owner is a rank of this node and allows it.
  void open_found();
  /// Transfers `part` bytes at offset `at` of the request, or does work without bytes, such as a sync.
  using LocalWork = std::function<void(std::int64_t at, std::int64_t part)>;

  /// Returns true if all ranks opened the file together; false if it was offered or found by name.
  bool opened_together() const { return name_.empty(); }
  /// Returns true if this handle offered the name.  Another handle of the same rank may have found the name: it has the
  /// same name_, but must not remove the name from the directory.
  bool offered() const { return !opened_together() && own_file_ != nullptr; }
  bool is_abandoned() const { return transport_->abandoned_numbers().contains(number_); }
  void finish_close();
  void abandon_together();
  /// Closes this rank's files.  Returns the error, if any.
  std::exception_ptr close_files();
  void check(int rank, std::int64_t offset, std::int64_t bytes, const void* buffer) const;
  void check_writable() const;
  void check_registered(int rank) const;
  DistantRequest start_locally(std::int64_t bytes, LocalWork work);
  DistantRequest start_remotely(const distant::Head& head, int rank, std::byte* into, const std::byte* from);
  distant::Entry ask_directory(distant::RequestKind kind, const std::string& name, const distant::Entry& entry);
  void forget_name();
  [[noreturn]] static void throw_name_taken(const std::string& name, int by);

  const base::Owner owner_;
  Comm comm_;  // keeps the transport alive
  transport::Transport* transport_;
  std::shared_ptr<distant::Service> service_;
  std::shared_ptr<distant::OutstandingRequests> outstanding_ = std::make_shared<distant::OutstandingRequests>();
  DistantMode mode_;
  int rank_;
  int ranks_;
  std::int64_t number_ = 0;
  int server_ = -1;   // the rank that serves an offered or found file
  std::string name_;  // the name of an offered or found file
  bool open_ = true;
  bool temporary_ = false;
  std::shared_ptr<const distant::LocalFile> own_file_;
  distant::FilesOfRanks direct_files_;
  distant::FoundFile found_;
};

}  // namespace plait
