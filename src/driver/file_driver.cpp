// Opens on all ranks the store that rank 0 has found or created.
//
// Problem: ranks open a name at different times. If another program replaces the file meanwhile, some ranks would open
// the old file and others the new one.
//
// Idea: rank 0 finds the store, keeps it open, and broadcasts its path and the identities of its files. The other ranks
// open the path and compare the identities. If they differ (ESTALE), or a component file is missing (ENOENT), all ranks
// repeat from the beginning.
// Example: rank 0 has found inode 7. Before rank 1 opens the name, a program renames inode 9 to it. Rank 1 fails with
// ESTALE on all ranks. In the second attempt rank 0 finds inode 9, and so does rank 1. If rank 0 finds the same
// identities 20 times although other ranks do not (kMaxSameAttempts), the hosts have different files under this name,
// and the error is final. With constant replacement it is final after 2,000 attempts.

#include "driver/file_driver.hpp"

#include <cerrno>
#include <exception>
#include <utility>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/broadcast.hpp"
#include "plait/error.hpp"
#include "store/url.hpp"

namespace plait::driver {

namespace {

/// The store that rank 0 has found or created, as it broadcasts it.
struct FoundStore {
  std::string array;  ///< result of Opening::encode()
  store::Location location;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, FoundStore>& found_store) {
  codec(found_store.array, found_store.location);
}

/// One rank's end of the store. On rank 0 it also owns the file that is being created.
class FileSource : public core::Source {
 public:
  FileSource(const FileDriver& driver, std::string name) : driver_(driver), name_(std::move(name)) {}

  std::shared_ptr<store::Store> store() const override { return store_; }
  void resize(collective::Collective& call, std::int64_t bytes) override;
  void check_name() const override;
  void finish(collective::Collective& call, bool syncs) override;
  void discard() noexcept override {
    if (new_file_) new_file_->discard();
  }
  bool continued() const override { return new_file_ && new_file_->continued(); }
  std::string unfinished_path() const override { return new_file_ ? new_file_->location().path : std::string(); }

  /// Finds or creates the store on rank 0, and encodes the result if there are other ranks.
  FoundStore find(Opening& opening, std::string& encoded);
  /// Opens the store on this rank. Rank 0 has an existing store open, so that its inode number cannot be reused.
  void open(const FoundStore& found, Opening& opening);
  void close_store() { store_ = nullptr; }

 private:
  const FileDriver& driver_;
  std::string name_;
  Mode mode_ = Mode::kRead;
  store::Location existing_location_;  // on rank 0, if the store existed
  std::shared_ptr<store::Store> store_;
  std::unique_ptr<store::NewFile> new_file_;
};

FoundStore FileSource::find(Opening& opening, std::string& encoded) {
  const transport::Transport& transport = opening.call().transport();
  mode_ = opening.mode();
  driver_.check_ranks(opening.name(), transport);
  FoundStore found;
  if (transport.rank() != 0) return found;
  if (opening.mode() == Mode::kWrite) {
    new_file_ = driver_.create(opening.name(), opening.make());
    found.location = new_file_->location();
  } else {
    store::OpenLocation opened = driver_.find(opening.name(), opening.mode() != Mode::kRead);
    found.location = std::move(opened.location);
    existing_location_ = found.location;
    store_ = std::move(opened.store);
    opening.inspect(store_);
  }
  if (transport.size() == 1) return found;
  found.array = opening.encode();
  encoded = base::encode(found);
  return found;
}

void FileSource::open(const FoundStore& found, Opening& opening) {
  if (!store_) store_ = driver_.open(found.location, opening.mode() != Mode::kRead);
  opening.adopt(found.array, *this);
}

void FileSource::resize(collective::Collective& call, std::int64_t bytes) {
  store::Location location;
  call.run_phase([&] {
    if (!new_file_) return;
    new_file_->resize(bytes);
    location = new_file_->location();
  });
  const std::string encoded = collective::broadcast_text(call.transport(), base::encode(location));
  location = base::decode<store::Location>(encoded, base::kAnotherRank);
  // Open the file again: an open store does not notice that it has grown.
  call.run_phase([&] { store_ = driver_.open(location, /*writable=*/true); });
}

void FileSource::check_name() const {
  bool is_replaced = false;
  try {
    is_replaced = !new_file_ && !existing_location_.files.empty() && driver_.is_replaced(name_, existing_location_);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;  // ENOENT: the name does not exist any more
    base::throw_system_error(
        ENOENT, "cannot finish ", name_,
        ": it has been removed or renamed since it was opened, so that what was written is not there; "
        "open it where it is now, and write again");
  }
  if (is_replaced)
    base::throw_system_error(
        ESTALE, "cannot finish ", name_,
        ": another file has replaced it since it was opened, so that what was written is not in it; "
        "open it again, and write again");
}

void FileSource::finish(collective::Collective& call, bool syncs) {
  if (mode_ == Mode::kRead) return;
  if (syncs) call.run_phase([&] { store_->sync(); });
  if (mode_ != Mode::kWrite) return;
  driver_.send_new(call, *store_, new_file_.get());
  call.run_phase([&] {
    if (new_file_) new_file_->commit();
  });
}

}  // namespace

ResolvedName FileDriver::locate(const std::string& name) const {
  ResolvedName found = Driver::locate(name);
  found.id.clear();
  found.path = real_path(store::parse_url(name, prefix(), base::text(prefix(), "field")).path);
  return found;
}

std::unique_ptr<core::Source> FileDriver::open(Opening& opening) const {
  collective::Collective& call = opening.call();
  std::unique_ptr<FileSource> source;
  // The error of this rank. Rank 0 broadcasts its result, or its failure, before the ranks agree; until that agreement
  // (run_phase) no rank may throw by itself, because the others would wait for it.
  std::exception_ptr failure =
      collective::caught([&] { source = std::make_unique<FileSource>(*this, opening.name()); });
  std::string last_result;  // what rank 0 found in the attempt before
  int same_results = 0;     // number of attempts in a row in which rank 0 found the same files as before
  for (int attempt = 1;; ++attempt) {
    FoundStore found;
    std::string encoded;
    if (!failure) failure = collective::caught([&] { found = source->find(opening, encoded); });
    encoded = collective::broadcast_result(call.transport(), encoded, failure);
    try {
      call.run_phase([&] {
        if (failure) std::rethrow_exception(failure);
        if (call.transport().size() > 1) found = base::decode<FoundStore>(encoded, base::kAnotherRank);
        source->open(found, opening);
      });
      return source;
    } catch (const Error& error) {
      // Repeat if the file was replaced after rank 0 had found it: other ranks have found the new file (ESTALE), or
      // miss component files of the old one (ENOENT).
      const int code = error.system_code();
      if (opening.mode() == Mode::kWrite || (code != ESTALE && code != ENOENT) || attempt == store::kMaxAttempts) throw;
      // Without a source, this rank contributes the error of its constructor to every attempt.
      const std::exception_ptr constructor_error = source ? nullptr : failure;
      failure = collective::caught([&] {
        std::string result = base::encode(found.location);
        same_results = result == last_result ? same_results + 1 : 0;
        last_result = std::move(result);
      });
      if (same_results == store::kMaxSameAttempts || (same_results > 0 && code == ENOENT)) throw;
      if (source)
        source->close_store();
      else
        failure = constructor_error;
    }
  }
}

}  // namespace plait::driver
