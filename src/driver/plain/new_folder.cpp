#include "driver/plain/new_folder.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/folder_replacement.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"

namespace plait::driver::plain {

namespace {

namespace fs = std::filesystem;
using store::posix::PosixStore;

class NewPlainFolder : public store::NewFile {
 public:
  NewPlainFolder(container::NewFolder wanted, std::string_view path, const store::NewFileOptions& options)
      : wanted_(std::move(wanted)), folder_(wanted_.target, std::string(path), options) {
    if (folder_.continued() && !has(options.head)) folder_.clear();
    if (folder_.continued()) return;
    for (const auto& [name, content] : wanted_.others)
      write(name, std::as_bytes(std::span(content.data(), content.size())));
    write(wanted_.file, options.head);
  }

  store::Location location() const override { return {path_of(wanted_.file).string(), {}, {}}; }
  void resize(std::int64_t /*bytes*/) override {
    throw Error(ErrorKind::kArgument, base::text(wanted_.target, " is a folder, which does not become longer"));
  }
  void commit() override {
    std::set<std::string> folders;
    for (const auto& other : wanted_.others) folders.insert(path_of(other.first).parent_path().string());
    folders.insert(path_of(wanted_.file).parent_path().string());
    for (const std::string& one : folders) store::posix::sync_folder(one);
    folder_.commit(!wanted_.replaces || wanted_.replaces());
    if (wanted_.settle) wanted_.settle();
  }
  void discard() noexcept override { folder_.discard(); }
  bool continued() const override { return folder_.continued(); }

 private:
  fs::path path_of(const std::string& name) const { return fs::path(folder_.temporary_path()) / name; }

  /// Whether an earlier one was of the same array.
  bool has(std::span<const std::byte> head) const {
    std::error_code missing;
    const std::string path = path_of(wanted_.file).string();
    if (fs::file_size(path, missing) != head.size() || missing) return false;
    std::vector<std::byte> found(head.size());
    PosixStore(path, PosixStore::Access::kRead).read({{0, found.data(), static_cast<std::int64_t>(found.size())}});
    return std::ranges::equal(found, head);
  }

  void write(const std::string& name, std::span<const std::byte> bytes) {
    const fs::path path = path_of(name);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) throw store::posix::system_error(base::text("make a folder of ", wanted_.target), error.value());
    store::posix::open_file(path.string(), O_WRONLY | O_CREAT | O_EXCL);
    PosixStore file(path.string(), PosixStore::Access::kReadWrite);
    file.write({{0, bytes.data(), static_cast<std::int64_t>(bytes.size())}});
    file.sync();
  }

  container::NewFolder wanted_;
  store::posix::FolderReplacement folder_;
};

}  // namespace

std::unique_ptr<store::NewFile> make_new_folder(const container::Container& format, std::string_view path,
                                                std::optional<std::string_view> array,
                                                const store::NewFileOptions& options) {
  static const std::map<std::string, std::string> kNone;
  const auto& groups = options.groups == nullptr ? kNone : *options.groups;
  return std::make_unique<NewPlainFolder>(format.new_folder(path, array, groups), path, options);
}

}  // namespace plait::driver::plain
