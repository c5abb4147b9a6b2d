#include "store/stripe/striped_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "plait/disks.hpp"
#include "plait/error.hpp"
#include "store/stripe/components.hpp"
#include "store/stripe/striped_store.hpp"

namespace plait::store::stripe {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> chosen_disks(const Name& name) {
  const auto refuse = [&name](const auto&... why) {
    throw Error(ErrorKind::kArgument, base::text(name.shown(), ": ", why...));
  };
  std::vector<std::string> chosen = name.disks.empty() ? disks() : name.disks;
  if (chosen.empty()) refuse("no disks; name them as in ", name.shown(), "?disks=/mnt/a,/mnt/b or set PLAIT_DISKS");
  if (chosen.size() > kMostDisks) refuse(chosen.size(), " disks; at most ", kMostDisks, " are supported");
  for (std::string& disk : chosen) disk = fs::absolute(disk).string();
  check_disks(chosen, name.shown());
  for (std::string& disk : chosen) {
    // As the system sees it: behind a link `..` is the folder above the one that the link leads to.
    std::error_code error;
    disk = fs::canonical(disk, error).string();
    if (error) throw posix::system_error(base::text("write ", name.shown(), " to a disk"), error.value());
    if (disk.find('\n') != std::string::npos) refuse("a disk's name has a line break in it; name another folder");
  }
  return chosen;
}

Description description_of(const Name& name, const std::string& basename, std::int64_t bytes) {
  if (fs::path(name.path).filename().string().ends_with(".npy"))
    throw Error(ErrorKind::kArgument,
                base::text(name.shown(),
                           ": a striped file holds raw elements; give it a name that does not end with "
                           ".npy"));
  if (basename.find('\n') != std::string::npos)
    throw Error(ErrorKind::kArgument, base::text(name.shown(), ": the name has a line break in it; choose another"));
  Description result;
  result.unit = name.unit == 0 ? kDefaultUnit : name.unit;
  result.bytes = bytes;
  result.id = new_id();
  for (const std::string& disk : chosen_disks(name))
    result.components.push_back(
        (fs::path(disk) / component_name(basename, result.components.size(), result.id)).string());
  return result;
}

}  // namespace

StripedFile::StripedFile(const Name& name, std::int64_t bytes, std::span<const std::byte> head, bool claimed)
    : shown_(name.shown()),
      basename_(fs::path(posix::follow_links(name.path)).filename().string()),
      description_(description_of(name, basename_, bytes)) {
  const std::string text = description_.to_text();
  file_.emplace(
      name.path, static_cast<std::int64_t>(text.size()), std::as_bytes(std::span(text)),
      posix::Replacement::Marks{.suffix = kTemporarySuffix, .on_left_behind = remove_left_behind, .claimed = claimed});
  // From here on the destructor of the description's file does not suffice.
  components_ = make_components(description_, file_->attributes(), basename_, shown_);
  try {
    if (!head.empty())
      StripedStore(description_, StripedStore::Access::kReadWrite, shown_)
          .write({{0, head.data(), static_cast<std::int64_t>(head.size())}});
  } catch (...) {
    discard();
    throw;
  }
}

StripedFile::~StripedFile() { discard(); }

Place StripedFile::place() const { return {file_->temporary_path(), description_.to_text(), {}}; }

void StripedFile::resize(std::int64_t bytes) {
  description_.bytes = bytes;
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const std::string name = base::text("the component file ", description_.components[i], " of ", shown_);
    // Also makes the file shorter, which reserving does not.
    if (::ftruncate(components_[i].number(), description_.component_bytes(i)) != 0)
      throw posix::system_error("size " + name, errno);
    posix::reserve(components_[i].number(), description_.component_bytes(i), name);
  }
  const std::string text = description_.to_text();
  file_->write_head(std::as_bytes(std::span(text)));
}

void StripedFile::commit() {
  owner_.check(shown_);
  std::set<std::string> folders;
  for (const posix::Descriptor& component : components_)
    ::sync_file_range(component.number(), 0, 0, SYNC_FILE_RANGE_WRITE);
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const std::string& path = description_.components[i];
    file_->attributes().finish(components_[i].number(), path);
    if (::fsync(components_[i].number()) != 0) throw posix::system_error("sync " + path, errno);
    folders.insert(fs::path(path).parent_path().string());
  }
  for (const std::string& folder : folders) posix::sync_folder(folder);
  stripe::commit(*file_);
  components_.clear();
}

void StripedFile::discard() noexcept {
  // A description that has its final name keeps its components, whatever failed afterwards.
  if (file_ && file_->pending() && owner_.here()) {
    remove_components(description_, basename_);
    file_->discard();
  }
  components_.clear();
}

}  // namespace plait::store::stripe
