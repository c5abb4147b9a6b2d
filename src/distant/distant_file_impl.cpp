// Accesses to the files of other ranks: directly if this process can open the file, else by messages to their rank.
//
// Opening: each rank registers its own file with its server under a number that is the same on all ranks. Other ranks
// of the node open the file themselves if they can (neighbours.cpp), and need no messages to access it.
// Access: a request is divided into pieces, of 1 MiB for direct files and of 256 KiB for messages. A read of 5 MiB from
// another node is therefore 20 messages, at most 16 of them under way. Small direct reads from the page cache complete
// at once.
// Names: rank FNV-1a(name) mod P stores the entry of a name in its part of the directory, so that every rank can
// compute which rank to ask.

#include "distant/distant_file_impl.hpp"

#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "collective/collective.hpp"
#include "core/comm/giving_up.hpp"
#include "core/comm/internals.hpp"
#include "distant/request.hpp"
#include "distant/service.hpp"
#include "distant/stretch.hpp"
#include "plait/error.hpp"

namespace plait {

namespace {

using base::text;
using distant::LocalFile;
using distant::RequestKind;

/// Maximum number of pieces of a request under way: enough for a disk and a network to work at once.
constexpr int kAhead = 16;
/// Bytes of a piece of a direct access, which needs no buffer, and the maximum number of such pieces under way.
constexpr std::int64_t kLocalPiece = std::int64_t{1} << 20;
constexpr int kLocalAhead = 4;

}  // namespace

DistantFile::Impl::Impl(const Comm& comm, std::shared_ptr<distant::Service> service, DistantMode mode)
    : comm_(comm),
      transport_(&core::get_transport(comm)),
      service_(std::move(service)),
      mode_(mode),
      rank_(transport_->rank()),
      ranks_(transport_->size()) {}

DistantFile::Impl::~Impl() {
  outstanding_->wait_for_all();
  if (open_) {
    if (offered()) forget_name();
    withdraw();
    if (own_file_ && temporary_) collective::caught([this] { own_file_->remove(); });
  }
}

void DistantFile::Impl::open_together(std::int64_t number, const DistantOptions& options, const std::string& call,
                                      bool named, bool neighbours) {
  collective::Collective opening(
      *transport_, [&] { return call; },
      [&] {
        const bool keeps_name = named && !unlinks_at_once(options);
        open_own(options, keeps_name);
        publish(number);
        distant::write_location(*transport_, own_file_.get());
      });
  if (neighbours) direct_files_.merge(distant::open_neighbours(*transport_, number_));
  opening.end_phase(nullptr);  // from here on other calls may overwrite the notes
}

void DistantFile::Impl::open_own(const DistantOptions& options, bool named) {
  if (options.path.empty()) return;
  own_file_ = std::make_shared<const LocalFile>(options.path, options.mode, rank_, true, named);
  direct_files_[rank_] = own_file_;
}

void DistantFile::Impl::make_temporary(const DistantOptions& options) {
  temporary_ = options.temporary;
  if (own_file_ && unlinks_at_once(options))
    temporary_ = collective::caught([this] { own_file_->remove(); }) != nullptr;
}

void DistantFile::Impl::publish(std::int64_t number) {
  number_ = number;
  if (!own_file_) return;
  service_->server().add(number_, own_file_);
  distant::put_mark(*transport_, number_);
}

void DistantFile::Impl::withdraw() {
  open_ = false;
  if (!own_file_) return;
  service_->server().remove(number_);
  distant::remove_mark(*transport_, number_);
}

void DistantFile::Impl::close() {
  if (!open_) base::throw_argument_error("the distant file has been closed already");
  opened_together() ? distant::in_turn(comm_, [this] { finish_close(); }) : finish_close();
}

void DistantFile::Impl::abandon() noexcept {
  if (!open_) return;
  collective::caught([this] { opened_together() ? abandon_together() : finish_close(); });
}

/// Waits for the accesses of this rank, and closes its files; of a file that was opened together, when all ranks do.
void DistantFile::Impl::finish_close() {
  outstanding_->wait_for_all_or_interrupt();
  std::exception_ptr agreement_error;
  std::optional<collective::Collective> closing;
  if (opened_together()) {
    agreement_error = collective::caught([&] {
      if (is_abandoned())
        base::throw_system_error(ECANCELED, "the distant file was abandoned by a rank; open it again");
      // Each rank has waited for its own accesses, so after this agreement no rank accesses the files.
      closing.emplace(*transport_, [this] { return text("close the distant file of number ", number_); }, [] {});
    });
  } else if (offered()) {
    forget_name();
  }
  const std::exception_ptr error = close_files();
  const std::exception_ptr failure = collective::caught([&] {
    if (agreement_error) std::rethrow_exception(agreement_error);
    if (closing) {
      closing->end_phase(error);
    } else if (error) {
      std::rethrow_exception(error);
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// Closes this rank's files without the other ranks, and reports that to them.
void DistantFile::Impl::abandon_together() {
  collective::caught([this] { outstanding_->cancel_all_and_wait(); });
  outstanding_->wait_for_all();
  const Error error(ErrorKind::kSystem, text("rank ", rank_, " has abandoned the distant file"), ECANCELED);
  collective::caught([&] { core::give_up(comm_, number_, error); });
  close_files();
}

std::exception_ptr DistantFile::Impl::close_files() {
  open_ = false;
  std::exception_ptr error;
  if (own_file_) {
    withdraw();
    if (temporary_) error = collective::caught([this] { own_file_->remove(); });
  }
  direct_files_.clear();
  own_file_ = nullptr;
  found_.set(nullptr);
  return error;
}

void DistantFile::Impl::check(int rank, std::int64_t offset, std::int64_t bytes, const void* buffer) const {
  if (!open_) base::throw_argument_error("the distant file has been closed; open another one");
  if (server_ >= 0 ? rank != server_ : rank < 0 || rank >= ranks_) {
    if (server_ >= 0)
      base::throw_argument_error("the file \"", name_, "\" is owned by rank ", server_, ", but rank ", rank,
                                 " was named");
    base::throw_argument_error("rank ", rank, " was named, but the communicator has the ranks 0 to ", ranks_ - 1);
  }
  distant::check_stretch(offset, bytes, buffer);
}

void DistantFile::Impl::check_writable() const {
  if (mode_ == DistantMode::kRead)
    base::throw_argument_error("the distant file was opened to read only; open it in mode \"r+\" or \"w\"");
}

std::shared_ptr<const LocalFile> DistantFile::Impl::direct(int rank) const {
  if (opened_together() || own_file_) {
    const auto known = direct_files_.find(rank);
    return known == direct_files_.end() ? nullptr : known->second;
  }
  if (!open_ || rank != server_) return nullptr;
  // Without a mark, this rank's own file is the one that its server knows, as for the messages of other ranks.
  auto file = found_.get();
  return file || server_ != rank_ ? file : service_->server().find_file(number_);
}

void DistantFile::Impl::check_registered(int rank) const {
  if (rank == rank_ && !direct(rank)) distant::throw_no_file(rank);
}

void DistantFile::Impl::begin_here(std::function<void()> work, DistantRequest::Impl::Completion done) {
  service_->server().disks().run([work = std::move(work), done = std::move(done)] {
    const std::exception_ptr error = collective::caught(work);
    if (!error) return done(nullptr);
    const transport::CallFailure failure = distant::to_call_failure(error);
    done(&failure);
  });
}

void DistantFile::Impl::begin_call(distant::Head head, int rank, std::span<std::byte> output,
                                   std::span<const std::byte> payload, DistantRequest::Impl::Completion done) {
  head.file = number_;
  transport::Call call;
  call.to = rank;
  call.head = distant::packed(head);
  call.payload = payload;
  call.output = output;
  call.request = done.request();
  call.done = std::move(done);
  service_->active()->call(std::move(call));
}

DistantRequest DistantFile::Impl::start_locally(std::int64_t bytes, LocalWork work) {
  auto request = base::make_owned<DistantRequest::Impl>(outstanding_, std::weak_ptr<transport::ActiveMessages>());
  request->start(
      bytes, kLocalPiece, kLocalAhead,
      [this, work = std::move(work)](std::int64_t at, std::int64_t part, DistantRequest::Impl::Completion done) {
        begin_here([work, at, part] { work(at, part); }, std::move(done));
      });
  return DistantRequest(std::move(request));
}

DistantRequest DistantFile::Impl::start_remotely(const distant::Head& head, int rank, std::byte* into,
                                                 const std::byte* from) {
  auto request = base::make_owned<DistantRequest::Impl>(outstanding_, service_->active());
  const std::int64_t bytes = into != nullptr || from != nullptr ? head.bytes : 0;
  request->start(
      bytes, distant::kPieceBytes, kAhead,
      [this, head, rank, into, from](std::int64_t at, std::int64_t part, DistantRequest::Impl::Completion done) {
        distant::Head piece = head;
        if (head.kind == RequestKind::kRead || head.kind == RequestKind::kWrite) {
          piece.offset += at;
          piece.bytes = part;
        }
        const auto length = static_cast<std::size_t>(part);
        begin_call(piece, rank, into == nullptr ? std::span<std::byte>() : std::span(into + at, length),
                   from == nullptr ? std::span<const std::byte>() : std::span(from + at, length), std::move(done));
      });
  return DistantRequest(std::move(request));
}

DistantRequest DistantFile::Impl::start_read(std::int64_t offset, std::byte* buffer, std::int64_t bytes, int rank) {
  check(rank, offset, bytes, buffer);
  if (bytes == 0) return DistantRequest(base::make_owned<DistantRequest::Impl>());
  check_registered(rank);
  const auto file = direct(rank);
  if (!file) return start_remotely({RequestKind::kRead, number_, offset, bytes}, rank, buffer, nullptr);
  // Copy data from the page cache at once: handing a small access to a thread would take longer.
  if (bytes <= kLocalPiece && file->read_cached(offset, {buffer, static_cast<std::size_t>(bytes)}))
    return DistantRequest(base::make_owned<DistantRequest::Impl>());
  return start_locally(bytes, [file, offset, buffer](std::int64_t at, std::int64_t part) {
    file->read(offset + at, {buffer + at, static_cast<std::size_t>(part)});
  });
}

DistantRequest DistantFile::Impl::start_write(std::int64_t offset, const std::byte* buffer, std::int64_t bytes,
                                              int rank) {
  check(rank, offset, bytes, buffer);
  check_writable();
  if (bytes == 0) return DistantRequest(base::make_owned<DistantRequest::Impl>());
  check_registered(rank);
  const auto file = direct(rank);
  if (!file) return start_remotely({RequestKind::kWrite, number_, offset, bytes}, rank, nullptr, buffer);
  return start_locally(bytes, [file, offset, buffer](std::int64_t at, std::int64_t part) {
    file->write(offset + at, {buffer + at, static_cast<std::size_t>(part)});
  });
}

DistantRequest DistantFile::Impl::start_sync(int rank) {
  check(rank, 0, 0, nullptr);
  check_registered(rank);
  const auto file = direct(rank);
  if (!file) return start_remotely({RequestKind::kSync, number_, 0, 0}, rank, nullptr, nullptr);
  return start_locally(0, [file](std::int64_t, std::int64_t) { file->sync(); });
}

void DistantFile::Impl::read(std::int64_t offset, std::byte* buffer, std::int64_t bytes, int rank) {
  const auto file = bytes == 0 ? nullptr : direct(rank);
  if (!file) return start_read(offset, buffer, bytes, rank).wait();
  check(rank, offset, bytes, buffer);
  file->read(offset, {buffer, static_cast<std::size_t>(bytes)});
}

void DistantFile::Impl::write(std::int64_t offset, const std::byte* buffer, std::int64_t bytes, int rank) {
  const auto file = bytes == 0 ? nullptr : direct(rank);
  if (!file) return start_write(offset, buffer, bytes, rank).wait();
  check(rank, offset, bytes, buffer);
  check_writable();
  file->write(offset, {buffer, static_cast<std::size_t>(bytes)});
}

std::int64_t DistantFile::Impl::size(int rank) {
  check(rank, 0, 0, nullptr);
  check_registered(rank);
  if (const auto file = direct(rank)) return file->size();
  std::int64_t result = 0;
  start_remotely({RequestKind::kSize, number_, 0, sizeof result}, rank, reinterpret_cast<std::byte*>(&result), nullptr)
      .wait();
  return result;
}

void DistantFile::Impl::resize(std::int64_t bytes, int rank) {
  check(rank, 0, 0, nullptr);
  check_writable();
  check_registered(rank);
  if (bytes < 0) base::throw_argument_error("a file cannot have ", bytes, " bytes; pass 0 or more");
  if (const auto file = direct(rank)) return file->resize(bytes);
  start_remotely({RequestKind::kResize, number_, 0, bytes}, rank, nullptr, nullptr).wait();
}

/// Sends a request to the rank that stores this name in the directory.
distant::Entry DistantFile::Impl::ask_directory(RequestKind kind, const std::string& name,
                                                const distant::Entry& entry) {
  if (name.empty() || name.size() > distant::kMaxNameBytes)
    base::throw_argument_error("a name of ", name.size(), " bytes was given; pass 1 to ", distant::kMaxNameBytes);
  // FNV-1a, because all ranks must compute the same hash; std::hash may differ between C++ libraries.
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  const auto directory_rank = static_cast<int>(hash % static_cast<std::uint64_t>(ranks_));
  distant::Server& server = service_->server();
  if (directory_rank == rank_) {
    if (kind == RequestKind::kRegister) return server.register_name(name, entry);
    if (kind == RequestKind::kFind) return server.find_name(name);
    server.forget_name(name, entry);
    return {};
  }
  distant::Entry found;
  auto request = base::make_owned<DistantRequest::Impl>(outstanding_, service_->active());
  request->start(0, 1, 1, [&](std::int64_t, std::int64_t, DistantRequest::Impl::Completion done) {
    transport::Call call;
    call.to = directory_rank;
    call.head = distant::packed({kind, entry.file, entry.rank, 0});
    call.payload = std::as_bytes(std::span(name));
    if (kind != RequestKind::kForget) call.output = std::as_writable_bytes(std::span(&found, 1));
    call.request = done.request();
    call.done = std::move(done);
    service_->active()->call(std::move(call));
  });
  request->wait();
  return found;
}

void DistantFile::Impl::throw_name_taken(const std::string& name, int by) {
  base::throw_argument_error("rank ", by, " offers a file as \"", name,
                             "\" already; choose another name, or close that");
}

void DistantFile::Impl::check_free(const std::string& name) {
  const distant::Entry current_owner = ask_directory(RequestKind::kFind, name, {});
  if (current_owner.rank >= 0) throw_name_taken(name, static_cast<int>(current_owner.rank));
}

void DistantFile::Impl::offer_as(const std::string& name) {
  const distant::Entry offered_file{rank_, number_};
  const distant::Entry current_owner = ask_directory(RequestKind::kRegister, name, offered_file);
  if (current_owner != offered_file) throw_name_taken(name, static_cast<int>(current_owner.rank));
  name_ = name;
  server_ = rank_;
}

void DistantFile::Impl::find_by_name(const std::string& name) {
  const distant::Entry found = ask_directory(RequestKind::kFind, name, {});
  if (found.rank < 0)
    base::throw_argument_error("no rank has offered a file as \"", name, "\"; offer it before other ranks find it");
  name_ = name;
  server_ = static_cast<int>(found.rank);
  number_ = found.file;
  open_found();
}

void DistantFile::Impl::open_found() {
  distant::FileLocation location;
  if (server_ == rank_) {
    // The handle that offered the file owns `file`; another descriptor has a mark, and fails when the file is closed.
    const auto file = service_->server().find_file(number_);
    if (!file) return;
    location = file->location();
  } else {
    if (transport_->rank_on_node(server_) < 0) return;
    const distant::Head head{RequestKind::kLocate, number_, 0, sizeof location};
    try {
      start_remotely(head, server_, reinterpret_cast<std::byte*>(&location), nullptr).wait();
    } catch (const Error& error) {
      if (error.system_code() == EINTR) throw;
      return;  // the owner has closed the file, or has ended: accesses by messages report that
    }
  }
  found_.set(distant::open_found(*transport_, location, server_, number_));
}

void DistantFile::Impl::forget_name() {
  const base::UninterruptedScope uninterrupted;  // this also runs in destructors, and its error is not reported
  collective::caught([this] { ask_directory(RequestKind::kForget, name_, {rank_, number_}); });
}

}  // namespace plait
