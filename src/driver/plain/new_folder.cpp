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
  NewPlainFolder(container::NewFolder wanted, std::string_view path, std::string_view array,
                 const store::NewFileOptions& options)
      : wanted_(std::move(wanted)), folder_(wanted_.target, std::string(path), array, options) {
    if (folder_.continued() && !has_all({}, options.head) && !lift(array, options.head)) folder_.clear();
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
  fs::path path_of(const fs::path& name) const { return fs::path(folder_.temporary_path()) / name; }

  /// Whether an earlier one was of the same array in the same groups.
  bool has_all(const fs::path& below, std::span<const std::byte> head) const {
    return has(below / wanted_.file, head) && std::ranges::all_of(wanted_.others, [&](const auto& other) {
             return has(below / other.first, std::as_bytes(std::span(other.second.data(), other.second.size())));
           });
  }
  /// Goes on with an earlier one that was begun when some of the groups around the array were not there, which it has:
  /// what is below them goes up.  The metadata goes last, so that one that is killed meanwhile is taken up again.
  bool lift(std::string_view array, std::span<const std::byte> head) {
    const fs::path whole = fs::path(array).relative_path();
    for (auto from = whole.begin(); from != whole.end(); ++from) {
      fs::path below;
      for (auto part = from; part != whole.end(); ++part)
        if (has_all(below /= *part, head)) return lift_from(below, head);
    }
    return false;
  }
  bool lift_from(const fs::path& below, std::span<const std::byte> head) {
    std::error_code error;
    const auto go_up = [&](const fs::path& name) {
      if (!error) fs::rename(path_of(below / name), path_of(name), error);
    };
    std::vector<fs::path> names;
    for (fs::directory_iterator at(path_of(below), error), end; !error && at != end; at.increment(error))
      names.push_back(at->path().filename());
    const fs::path last = fs::path(wanted_.others.empty() ? wanted_.file : wanted_.others.front().first).filename();
    for (const fs::path& name : names)
      if (name != last) go_up(name);
    go_up(last);
    if (error || !has_all({}, head)) return false;
    fs::remove_all(path_of(*below.begin()), error);
    return !error;
  }
  bool has(const fs::path& name, std::span<const std::byte> content) const {
    std::error_code missing;
    const std::string path = path_of(name).string();
    if (fs::file_size(path, missing) != content.size() || missing) return false;
    std::vector<std::byte> found(content.size());
    PosixStore(path, PosixStore::Access::kRead).read({{0, found.data(), static_cast<std::int64_t>(found.size())}});
    return std::ranges::equal(found, content);
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

std::unique_ptr<store::NewFile> make_new_folder(const container::FolderFormat& format, std::string_view path,
                                                std::optional<std::string_view> array,
                                                const store::NewFileOptions& options) {
  static const std::map<std::string, std::string> kNone;
  const auto& groups = options.groups == nullptr ? kNone : *options.groups;
  return std::make_unique<NewPlainFolder>(format.new_folder(path, array, groups), path, array.value_or(""), options);
}

}  // namespace plait::driver::plain
