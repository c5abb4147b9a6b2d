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

/// Returns the stripe unit of a new array. Stripes of large arrays have the size of a window, so that each window is
/// one message to one disk. Stripes of smaller arrays are shorter, so that each disk has several of them.
/// Example: 8 MiB on 4 ranks have 4 stripes a disk: 8 MiB / 4 / 4 = 512 KiB. 1 GiB would have 64 MiB, limited to 1 MiB.
std::int64_t unit_for(std::int64_t bytes, int ranks) {
  constexpr std::int64_t kMin = std::int64_t{64} << 10;
  constexpr std::int64_t kMax = std::int64_t{1} << 20;
  constexpr std::int64_t kStripesADisk = 4;
  const auto share = static_cast<std::uint64_t>(bytes / ranks / kStripesADisk);
  return std::clamp(static_cast<std::int64_t>(std::bit_floor(share)), kMin, kMax);
}

SharedFileMode to_shared_mode(Mode mode) {
  return mode == Mode::kRead    ? SharedFileMode::kRead
         : mode == Mode::kWrite ? SharedFileMode::kWrite
                                : SharedFileMode::kReadWrite;
}

/// One rank's end of the shared file that stores an array.
class ArraySource : public core::Source {
 public:
  ArraySource(std::shared_ptr<ArrayStore> store, bool writable) : store_(std::move(store)), writable_(writable) {}

  std::shared_ptr<store::Store> store() const override { return store_; }
  // A shared file grows when data is written.
  void resize(collective::Collective& /*call*/, std::int64_t /*bytes*/) override {}
  void finish(collective::Collective& call, bool /*syncs*/) override {
    call.run_phase([&] {
      // SharedFile::sync() on one rank syncs the disks of all ranks.
      if (writable_ && call.transport().rank() == 0) store_->sync();
    });
    store_->close();
  }

 private:
  std::shared_ptr<ArrayStore> store_;
  bool writable_;
};

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
  ResolvedName found;
  found.kind = "an array on the ranks' own disks";
  found.name = url;
  found.path = real_path(path);
  for (const plait::distant::shared::Part& part : plait::distant::shared::find_parts(path))
    if (!part.what.description) found.components.push_back(component_file(part.path));
  if (found.components.empty()) base::append_parts(found.kind, ", in one ", container::kHeaderName, " file");
  return found;
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
    file_options.unit = name.unit != 0 ? name.unit : unit_for(bytes, transport.size());
    file_options.expected = bytes;
  }
  const core::SilentScope by_the_array;  // the File of the array itself reports that it was not closed
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
