/// One rank's side of a shared file.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "collective/collective.hpp"
#include "core/file/unclosed.hpp"
#include "distant/request.hpp"
#include "distant/service.hpp"
#include "distant/shared/choice.hpp"
#include "distant/shared/parts.hpp"
#include "distant/shared/transfer.hpp"
#include "plait/shared_file.hpp"
#include "store/posix/replacement.hpp"

namespace plait {

class SharedFile::Impl {
 public:
  /// `number` is the transport's next number.
  Impl(const SharedFileOptions& options, const Comm& comm, std::int64_t number);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void open();
  /// Arranges a report if the program ends without closing an atomic file, which appears only when it is closed.
  void watch_new() {
    if (options_.mode == SharedFileMode::kWrite && options_.atomic && rank_ == 0) watch_.begin(options_.path);
  }
  [[noreturn]] static void fail_open(const std::string& message, const Comm& comm, int system_code);

  bool is_open() const { return open_ && owner_.here(); }
  const base::Owner& owner() const { return owner_; }
  /// Returns the object itself.
  /// errors  kArgument: this process is a child of the one that opened the file.
  Impl& here() {
    owner_.check(options_.path);
    return *this;
  }
  bool is_striped() const { return !one_; }
  const Comm& comm() const { return comm_; }
  const distant::shared::Parts& parts() const { return parts_; }
  std::int64_t unit() const { return unit_; }
  int server(int component) const;
  /// Reads into the extent's buffer `into`, or writes from its buffer `from`.
  void access(const distant::shared::Extent& extent, bool writes);
  DistantRequest start(const distant::shared::Extent& extent, bool writes);
  std::int64_t size();
  void resize(std::int64_t bytes);
  void fail_call(const std::string& message, int system_code);
  void sync();
  void read_only() { read_only_ = true; }
  void close();
  void abandon() noexcept;

 private:
  // open.cpp: phases of the call that opens
  bool make_one(collective::Collective& call);
  void open_one(collective::Collective& call, const std::string& path);
  /// Checks that each rank has opened the file with this identity.
  /// errors  kSystem, ESTALE: a rank has opened another file.
  void expect_one(collective::Collective& call, const store::Identity& file);
  void make_striped(collective::Collective& call);
  void open_existing(collective::Collective& call);
  void open_chosen(collective::Collective& call, const distant::shared::NameView& view);
  void open_rounds(collective::Collective& call, const std::vector<std::string>& own_paths, bool named);
  void find_end(collective::Collective& call);
  void warn_of_missing_space();
  std::string call_text() const;
  std::string component_path(int component) const;
  // commit.cpp: phases of the call that opens or closes
  void commit(collective::Collective& call);
  void commit_one(collective::Collective& call);
  void commit_striped(collective::Collective& call);

  /// Returns the transfer for a read or a write, or nullptr if there are no bytes to move.
  std::shared_ptr<distant::shared::Transfer> transfer(const distant::shared::Extent& extent, bool writes);
  void check_open() const;
  void check_not_abandoned() const;
  void check_writable(std::int64_t end) const;
  bool is_abandoned() const;
  /// Closes the files, and removes new ones that were not committed.
  void discard() noexcept;

  const base::Owner owner_;
  SharedFileOptions options_;
  Comm comm_;  // keeps the transport alive
  transport::Transport* transport_;
  std::shared_ptr<distant::Service> service_;
  std::shared_ptr<distant::OutstandingRequests> outstanding_ = std::make_shared<distant::OutstandingRequests>();
  int rank_;
  std::int64_t number_;
  bool open_ = false;
  bool one_ = false;  // the bytes are in one ordinary file
  std::atomic<bool> read_only_{false};
  std::string id_;
  std::int64_t unit_ = 0;
  distant::shared::Parts parts_;
  distant::shared::KnownEnd known_end_;
  // one rank of each node, which sync() asks to sync an ordinary file
  std::vector<int> syncing_ranks_;
  std::unique_ptr<store::posix::Replacement> new_one_;  // on rank 0, until the new file has its name or is discarded
  core::NewFileWatch watch_;                            // watches an atomic file, on rank 0
  std::string new_component_path_;  // of this rank, which discard() removes unless it has been committed
};

}  // namespace plait
