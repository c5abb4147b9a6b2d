// Driver of arrays on the ranks' own disks, which are opened as shared files.

#include "driver/distant/distant_driver.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/broadcast.hpp"
#include "container/format_registry.hpp"
#include "core/comm/internals.hpp"
#include "core/file/unclosed.hpp"
#include "distant/service.hpp"
#include "distant/shared/folder.hpp"
#include "driver/distant/array_store.hpp"
#include "driver/distant/distant_name.hpp"

namespace plait::driver::distant {

namespace {

/// Returns the bytes of a stripe of a new array. Stripes of large arrays have the size of a window (the part of a
/// transfer that is in memory at one time), so that each window is one message to one disk. Stripes of smaller arrays
/// are shorter, so that each disk has several of them.
/// Example: 8 MiB on 4 ranks have 4 stripes a disk: 8 MiB / 4 / 4 = 512 KiB. 1 GiB would have 64 MiB, limited to 1 MiB.
std::int64_t choose_unit(std::int64_t bytes, int ranks) {
  constexpr std::int64_t kMinUnit = std::int64_t{64} << 10;
  constexpr std::int64_t kMaxUnit = std::int64_t{1} << 20;
  constexpr std::int64_t kStripesPerDisk = 4;
  const auto stripe_bytes = static_cast<std::uint64_t>(bytes / ranks / kStripesPerDisk);
  return std::clamp(static_cast<std::int64_t>(std::bit_floor(stripe_bytes)), kMinUnit, kMaxUnit);
}

SharedFileMode to_shared_mode(Mode mode) {
  return mode == Mode::kRead    ? SharedFileMode::kRead
         : mode == Mode::kWrite ? SharedFileMode::kWrite
                                : SharedFileMode::kReadWrite;
}

/// One rank's end of the shared file that stores an array.
class ArraySource : public core::Source {
 public:
  ArraySource(std::shared_ptr<ArrayStore> store, bool is_writable)
      : store_(std::move(store)), is_writable_(is_writable) {}

  std::shared_ptr<store::Store> store() const override { return store_; }
  // A shared file grows when data is written.
  void resize(collective::Collective& /*call*/, std::int64_t /*bytes*/) override {}
  void finish(collective::Collective& call, bool /*syncs*/) override {
    call.run_phase([&] {
      // SharedFile::sync() on one rank syncs the disks of all ranks.
      if (is_writable_ && call.transport().rank() == 0) store_->sync();
    });
    store_->close();
  }

 private:
  std::shared_ptr<ArrayStore> store_;
  bool is_writable_;
};

/// The driver of `distant:NAME`. All ranks open the shared file with the path that rank 0 has resolved.
class DistantDriver : public CollectiveDriver {
 public:
  std::string_view prefix() const override { return kScheme; }
  Contents contents() const override { return Contents::kHeader; }
  ResolvedName locate(const std::string& url) const override;
  std::vector<std::string> sibling_files(const std::string& path) const override;

 protected:
  std::unique_ptr<core::Source> open_together(const Opening& opening, std::int64_t bytes) const override;
};

ResolvedName DistantDriver::locate(const std::string& url) const {
  const std::string path = resolve_path(parse_name(url));
  ResolvedName resolved;
  resolved.kind = "an array on the ranks' own disks";
  resolved.name = url;
  resolved.path = real_path(path);
  for (const plait::distant::shared::Part& part : plait::distant::shared::find_parts(path))
    if (!part.what.description) resolved.components.push_back(component_file(part.path));
  if (resolved.components.empty()) base::append_parts(resolved.kind, ", in one ", container::kHeaderName, " file");
  return resolved;
}

std::vector<std::string> DistantDriver::sibling_files(const std::string& path) const {
  std::vector<std::string> result;
  for (plait::distant::shared::Part& part : plait::distant::shared::find_parts(path))
    result.push_back(std::move(part.path));
  return result;
}

std::unique_ptr<core::Source> DistantDriver::open_together(const Opening& opening, std::int64_t bytes) const {
  // Shared files need a transport even on a communicator of one rank.
  transport::Transport& transport = core::get_transport(opening.comm());
  Name name;
  std::string path;
  opening.call().run_phase([&] {
    name = parse_name(opening.name());
    path = resolve_path(name);
  });
  // Use the path of rank 0: ranks may have different working directories and settings.
  path = collective::broadcast_text(transport, path);
  const bool is_new = opening.mode() == Mode::kWrite;
  SharedFileOptions file_options;
  file_options.path = path;
  file_options.mode = to_shared_mode(opening.mode());
  file_options.striped = name.striped;
  if (is_new) {
    file_options.persistent = true;
    file_options.atomic = true;
    file_options.unit = name.unit != 0 ? name.unit : choose_unit(bytes, transport.size());
    file_options.expected = bytes;
  }
  // If the program does not close the array, the File that owns this shared file warns; no second warning is needed.
  const core::SilentScope without_warning;
  SharedFile file = SharedFile::open(file_options, opening.comm());
  if (is_new) {
    file.resize(bytes);
  } else if (name.unit != 0 && file.is_striped() && file.unit() != name.unit) {
    base::throw_argument_error("distant:", path, " has stripes of ", file.unit(), " bytes, but unit=", name.unit,
                               " was given; leave it out or correct it");
  }
  return std::make_unique<ArraySource>(std::make_shared<ArrayStore>(std::move(file), "distant:" + path),
                                       opening.mode() != Mode::kRead);
}

}  // namespace

const CollectiveDriver& driver() {
  static const DistantDriver kDriver;
  return kDriver;
}

}  // namespace plait::driver::distant
