// New striped files: several component files appear under one name at once.
//
// Problem: the component files are on different disks, so that no single rename makes all of them appear. After a kill
// none of them may remain forever.
//
// Idea: this order of operations.
//    1. write a temporary description that lists the component files; the process holds a lock on it
//    2. make the component files under their final names, which contain a random id
//    3. write the elements; then sync the component files and their folders
//    4. sync the description and rename it to the final name (driver::commit)
// A kill before step 4 leaves the temporary description. The next new file of the same name finds it without a lock,
// and removes the component files that it lists (StripeDriver::release_leftover). After step 4 both the description and
// the component files are complete.

#include "driver/stripe/new_striped_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "driver/replacing.hpp"
#include "plait/disks.hpp"
#include "plait/error.hpp"
#include "store/posix/replacement.hpp"
#include "store/stripe/components.hpp"
#include "store/stripe/stripe_description.hpp"
#include "store/stripe/stripe_name.hpp"
#include "store/stripe/striped_store.hpp"

namespace plait::driver::stripe {

namespace fs = std::filesystem;
namespace posix = store::posix;
using store::stripe::Description;
using store::stripe::Name;
using store::stripe::StripedStore;

namespace {

/// Returns the folders for the component files: those of the name, or else of PLAIT_DISKS, as absolute paths without
/// links.
std::vector<std::string> find_disks(const Name& name) {
  const auto fail = [&name](const auto&... why) { base::throw_argument_error(name.display_name(), ": ", why...); };
  std::vector<std::string> paths = name.disks.empty() ? disks() : name.disks;
  if (paths.empty())
    fail("no disks are given; write them as in ", name.display_name(), "?disks=/mnt/a,/mnt/b, or set PLAIT_DISKS");
  if (paths.size() > store::stripe::kMaxDisks)
    fail(paths.size(), " disks; at most ", store::stripe::kMaxDisks, " are supported");
  for (std::string& disk : paths) disk = fs::absolute(disk).string();
  store::stripe::check_disks(paths, name.display_name());
  for (std::string& disk : paths) {
    // Let the system resolve the path: `..` after a link is the folder above the target of the link.
    std::error_code error;
    disk = fs::canonical(disk, error).string();
    if (error) throw posix::system_error(base::text("write ", name.display_name(), " to a disk"), error.value());
    if (disk.find('\n') != std::string::npos) fail("the name of a disk contains a line break; use another folder");
  }
  return paths;
}

Description make_description(const Name& name, const std::string& basename, std::int64_t bytes) {
  if (fs::path(name.path).filename().string().ends_with(".npy"))
    base::throw_argument_error(name.display_name(),
                               ": a striped file holds raw elements; give it a name that does not end with "
                               ".npy");
  if (basename.find('\n') != std::string::npos)
    base::throw_argument_error(name.display_name(), ": the name contains a line break; choose another name");
  Description result;
  result.unit = name.unit == 0 ? store::stripe::kDefaultUnit : name.unit;
  result.bytes = bytes;
  result.id = store::stripe::new_id();
  for (const std::string& disk : find_disks(name))
    result.components.push_back(
        (fs::path(disk) / store::stripe::component_name(basename, result.components.size(), result.id)).string());
  return result;
}

/// A new striped file. Its component files have their final names from the start. A temporary description lists them
/// before they are made and until it is renamed, so that the next new file of the same name can remove the component
/// files that a killed process has left.
class NewStripedFile : public store::NewFile {
 public:
  NewStripedFile(const Name& name, const store::NewFileOptions& options);
  ~NewStripedFile() override { NewStripedFile::discard(); }

  store::Location location() const override { return {file_->temporary_path(), description_.to_text(), {}}; }
  void resize(std::int64_t bytes) override;
  void commit() override;
  void discard() noexcept override;
  bool continued() const override { return continued_; }

 private:
  /// Opens the component files of an unfinished striped file to continue it, if it has the same size and disks.
  /// Otherwise removes them. Returns true if it continues the file.
  bool continue_leftover();

  base::Owner owner_;
  std::string display_name_;
  std::string basename_;  // basename of the file to which the name refers
  Description description_;
  std::optional<posix::Replacement> file_;  // the file with the description
  std::vector<posix::Descriptor> components_;
  bool keeps_unfinished_ = false;
  bool durable_ = true;
  bool continued_ = false;
};

NewStripedFile::NewStripedFile(const Name& name, const store::NewFileOptions& options)
    : display_name_(name.display_name()),
      basename_(fs::path(posix::follow_links(name.path)).filename().string()),
      description_(make_description(name, basename_, options.bytes)),
      keeps_unfinished_(options.keeps_unfinished),
      durable_(options.durable) {
  const std::string text = description_.to_text();
  const posix::ReplacementOptions replacement_options{.suffix = store::stripe::kTemporarySuffix,
                                                      .on_leftover = release_leftover,
                                                      .claimed = options.claimed,
                                                      .keeps_unfinished = keeps_unfinished_,
                                                      .continues = options.continues,
                                                      .durable = durable_};
  if (options.continues) {
    file_.emplace(name.path, -1, std::span<const std::byte>(), replacement_options);
    if (file_->continued() && continue_leftover()) return;
    file_->resize(static_cast<std::int64_t>(text.size()));
    file_->write_head(std::as_bytes(std::span(text)));
  } else {
    file_.emplace(name.path, static_cast<std::int64_t>(text.size()), std::as_bytes(std::span(text)),
                  replacement_options);
  }
  // From here on discard() must also remove the components.
  components_ = store::stripe::make_components(description_, file_->attributes(), basename_, display_name_);
  try {
    if (!options.head.empty())
      StripedStore(description_, StripedStore::Access::kReadWrite, display_name_)
          .write({{0, options.head.data(), static_cast<std::int64_t>(options.head.size())}});
  } catch (...) {
    discard();
    throw;
  }
}

bool NewStripedFile::continue_leftover() {
  std::optional<Description> leftover;
  try {
    leftover = store::stripe::find_description(file_->temporary_path());
  } catch (const Error&) {  // the description was incomplete when its program was killed
  }
  if (!leftover) return false;
  const auto list_folders = [](const Description& description) {
    std::vector<fs::path> folders;
    for (const std::string& component : description.components) folders.push_back(fs::path(component).parent_path());
    return folders;
  };
  bool is_same = leftover->unit == description_.unit && leftover->bytes == description_.bytes &&
                 list_folders(*leftover) == list_folders(description_);
  for (std::size_t i = 0; is_same && i < leftover->components.size(); ++i) {
    components_.emplace_back(::open(leftover->components[i].c_str(), O_RDWR | O_CLOEXEC));
    struct stat status{};
    is_same = components_.back().number() >= 0 && ::fstat(components_.back().number(), &status) == 0 &&
              status.st_size == leftover->component_bytes(i);
  }
  if (is_same) {
    description_ = std::move(*leftover);
    return continued_ = true;
  }
  components_.clear();
  store::stripe::remove_components(*leftover, basename_);
  return false;
}

void NewStripedFile::resize(std::int64_t bytes) {
  description_.bytes = bytes;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const std::string name = base::text("the component file ", description_.components[i], " of ", display_name_);
    // ftruncate also makes the file shorter, which reserve() does not.
    if (::ftruncate(components_[i].number(), description_.component_bytes(i)) != 0)
      throw posix::system_error("size " + name, errno);
    posix::reserve(components_[i].number(), description_.component_bytes(i), name);
  }
  const std::string text = description_.to_text();
  file_->write_head(std::as_bytes(std::span(text)));
}

void NewStripedFile::commit() {
  owner_.check(display_name_);
  std::set<std::string> folders;
  for (const posix::Descriptor& component : components_)
    if (durable_) ::sync_file_range(component.number(), 0, 0, SYNC_FILE_RANGE_WRITE);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const std::string& path = description_.components[i];
    file_->attributes().finish(components_[i].number(), path);
    if (!durable_) continue;
    posix::sync_open(components_[i].number(), path);
    folders.insert(fs::path(path).parent_path().string());
  }
  for (const std::string& folder : folders) posix::sync_folder(folder);
  driver::commit(*file_);
  components_.clear();
}

void NewStripedFile::discard() noexcept {
  // Once the description has its final name (not pending), its components must stay, whatever error has followed.
  if (file_ && file_->pending() && owner_.here()) {
    if (!keeps_unfinished_) store::stripe::remove_components(description_, basename_);
    file_->discard();
  }
  components_.clear();
}

}  // namespace

std::unique_ptr<store::NewFile> make_new_file(const std::string& url, const store::NewFileOptions& options) {
  return std::make_unique<NewStripedFile>(store::stripe::parse_name(url), options);
}

}  // namespace plait::driver::stripe
