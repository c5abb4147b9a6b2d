#include "driver/file_driver.hpp"

#include <cerrno>
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

/// The record that rank 0 broadcasts.
struct Findings {
  std::string array;  ///< as Opening::encode()
  store::Location location;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Findings>& findings) {
  codec(findings.array, findings.location);
}

/// One rank's end of the store; rank 0 holds a new file, too.
class FileSource : public core::Source {
 public:
  FileSource(const FileDriver& driver, std::string name) : driver_(driver), name_(std::move(name)) {}

  std::shared_ptr<store::Store> store() const override { return store_; }
  void resize(collective::Collective& call, std::int64_t bytes) override;
  void check_name() const override;
  void finish(collective::Collective& call, bool written) override;
  void discard() noexcept override {
    if (made_) made_->discard();
  }
  bool continued() const override { return made_ && made_->continued(); }
  std::string unfinished_path() const override { return made_ ? made_->location().path : std::string(); }

  /// Finds or makes the store on rank 0, and broadcasts the findings.  Collective.
  Findings look(Opening& opening);
  /// Everyone opens it; rank 0 has an existing one open, so that nothing else can be taken for it.  Collective.
  void open(const Findings& found, Opening& opening);
  void drop() { store_ = nullptr; }

 private:
  const FileDriver& driver_;
  std::string name_;
  store::Location found_;  // on rank 0, of one that is there
  std::shared_ptr<store::Store> store_;
  std::unique_ptr<store::NewFile> made_;
};

Findings FileSource::look(Opening& opening) {
  collective::Collective& call = opening.call();
  const bool alone = call.transport().size() == 1;
  Findings found;
  std::string encoded;
  call.step([&] {
    driver_.check_ranks(opening.name(), call.transport());
    if (call.transport().rank() != 0) return;
    if (opening.mode() == Mode::kWrite) {
      made_ = driver_.create(opening.name(), opening.make());
      found.location = made_->location();
    } else {
      store::Found there = driver_.find(opening.name(), opening.mode() == Mode::kReadWrite);
      found.location = std::move(there.location);
      found_ = found.location;
      store_ = std::move(there.store);
      opening.inspect(store_);
    }
    found.array = opening.encode();
    if (!alone) encoded = base::encode(found);
  });
  if (alone) return found;
  return base::decode<Findings>(collective::broadcast_text(call.transport(), encoded), base::kAnotherRank);
}

void FileSource::open(const Findings& found, Opening& opening) {
  opening.call().step([&] {
    if (!store_) store_ = driver_.open(found.location, opening.mode() != Mode::kRead);
    opening.adopt(found.array, *this);
  });
}

void FileSource::resize(collective::Collective& call, std::int64_t bytes) {
  store::Location location;
  call.step([&] {
    if (!made_) return;
    made_->resize(bytes);
    location = made_->location();
  });
  const std::string encoded = collective::broadcast_text(call.transport(), base::encode(location));
  location = base::decode<store::Location>(encoded, base::kAnotherRank);
  // A store that is open does not see that its file has grown.
  call.step([&] { store_ = driver_.open(location, true); });
}

void FileSource::check_name() const {
  bool replaced = false;
  try {
    replaced = !made_ && !found_.files.empty() && driver_.is_replaced(name_, found_);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
    base::throw_system_error(
        ENOENT, "cannot finish ", name_,
        ": it has been removed or renamed since it was opened, so that what was written is not there; "
        "open it where it is now, and write again");
  }
  if (replaced)
    base::throw_system_error(
        ESTALE, "cannot finish ", name_,
        ": another file has replaced it since it was opened, so that what was written is not in it; "
        "open it again, and write again");
}

void FileSource::finish(collective::Collective& call, bool written) {
  call.step([&] {
    if (written) store_->sync();
  });
  call.step([&] {
    if (made_) made_->commit();
  });
}

}  // namespace

Located FileDriver::locate(const std::string& name) const {
  Located found = Driver::locate(name);
  found.id.clear();
  found.path = real_path(store::parse_url(name, prefix(), base::text(prefix(), "field")).path);
  return found;
}

std::unique_ptr<core::Source> FileDriver::open(Opening& opening) const {
  auto source = std::make_unique<FileSource>(*this, opening.name());
  std::string before;
  int same = 0;  // how often rank 0 has seen the same though others did not
  for (int attempt = 1;; ++attempt) {
    const Findings found = source->look(opening);
    try {
      source->open(found, opening);
      return source;
    } catch (const Error& error) {
      // A file that was replaced since rank 0 looked: others have met the new one, or nothing where components were.
      const int code = error.system_code();
      if (opening.mode() == Mode::kWrite || (code != ESTALE && code != ENOENT) || attempt == store::kMostAttempts)
        throw;
      std::string now = base::encode(found.location);
      same = now == before ? same + 1 : 0;
      if (same == store::kMostSameAttempts || (same > 0 && code == ENOENT)) throw;
      before = std::move(now);
      source->drop();
    }
  }
}

}  // namespace plait::driver
