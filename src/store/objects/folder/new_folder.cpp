#include "store/objects/folder/new_folder.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/folder_replacement.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"

namespace plait::store::folder {

namespace {

namespace fs = std::filesystem;
using posix::PosixStore;

class NewFolder : public NewObjects {
 public:
  NewFolder(NewObjectsRequest request, const NewFileOptions& options)
      : request_(std::move(request)),
        folder_(request_.target, request_.root, request_.array, options),
        durable_(options.durable) {
    if (folder_.continued() && !has_all({}) && !lift()) folder_.clear();
    if (folder_.continued()) return;
    for (const auto& [name, text] : request_.metadata) write(name, std::as_bytes(std::span(text)));
  }

  const std::string& location() const override { return folder_.temporary_path(); }
  bool continued() const override { return folder_.continued(); }
  void commit(base::FunctionRef<bool()> replaces) override {
    std::set<std::string> folders;
    for (const auto& [name, text] : request_.metadata) folders.insert(full_path(name).parent_path().string());
    for (const std::string& folder : folders)
      if (durable_) posix::sync_folder(folder);
    folder_.commit(replaces());
  }
  void discard() noexcept override { folder_.discard(); }

 private:
  fs::path full_path(const fs::path& name) const { return fs::path(folder_.temporary_path()) / name; }

  /// Returns true if an earlier program has left the same array in the same groups.
  bool has_all(const fs::path& below) const {
    return std::ranges::all_of(request_.metadata, [&](const auto& object) {
      return has(below / object.first, std::as_bytes(std::span(object.second)));
    });
  }
  /// Continues an earlier array that was begun when some of the groups around it did not exist, so that its unfinished
  /// folder contains them. The array is moved out of these groups. The metadata is moved last, so that the next program
  /// finds the array again if this one is killed.
  /// Example: an earlier program began data.zarr with the array g/a, so that its folder has zarr.json, g/zarr.json and
  /// g/a/zarr.json. Meanwhile another program has made the group data.zarr/g. The array a is now the target, and the
  /// contents of g/a are moved up.
  bool lift() {
    const fs::path whole = fs::path(request_.array).relative_path();
    for (auto from = whole.begin(); from != whole.end(); ++from) {
      fs::path below;
      for (auto part = from; part != whole.end(); ++part)
        if (has_all(below /= *part)) return lift_from(below);
    }
    return false;
  }
  bool lift_from(const fs::path& below) {
    std::error_code error;
    const auto go_up = [&](const fs::path& name) {
      if (!error) fs::rename(full_path(below / name), full_path(name), error);
    };
    std::vector<fs::path> names;
    for (fs::directory_iterator at(full_path(below), error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename());
    const fs::path last = fs::path(request_.metadata.front().first).filename();
    for (const fs::path& name : names)
      if (name != last) go_up(name);
    go_up(last);
    if (error || !has_all({})) return false;
    fs::remove_all(full_path(*below.begin()), error);
    return !error;
  }
  bool has(const fs::path& name, std::span<const std::byte> content) const {
    std::error_code missing;
    const std::string path = full_path(name).string();
    if (fs::file_size(path, missing) != content.size() || missing) return false;
    std::vector<std::byte> found(content.size());
    PosixStore(path, PosixStore::Access::kRead).read({{0, found.data(), static_cast<std::int64_t>(found.size())}});
    return std::ranges::equal(found, content);
  }
  void write(const std::string& name, std::span<const std::byte> bytes) {
    const fs::path path = full_path(name);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) throw posix::system_error(base::text("make a folder of ", request_.target), error.value());
    PosixStore file(path.string(), posix::open_file(path.string(), O_RDWR | O_CREAT | O_EXCL));
    file.write({{0, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
    if (durable_) file.sync();
  }

  NewObjectsRequest request_;
  posix::FolderReplacement folder_;
  bool durable_;
};

}  // namespace

std::unique_ptr<NewObjects> make_new_folder(NewObjectsRequest request, const NewFileOptions& options) {
  return std::make_unique<NewFolder>(std::move(request), options);
}

}  // namespace plait::store::folder
