#include "distant/shared/folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>

#include "base/files/folder.hpp"
#include "base/text.hpp"
#include "distant/local_file.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/identity.hpp"
#include "store/posix/replacement.hpp"

namespace plait::distant::shared {

namespace fs = std::filesystem;

namespace {

/// Returns the content of a file, or nothing if the file has been removed in the meantime.
std::optional<std::string> read_if_exists(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in && ::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in && !in.eof()) throw store::posix::system_error(base::text("read ", path, " (host ", host_name(), ")"), EIO);
  return text;
}

/// Calls `body(path, component)` for each file in the folder that belongs to a shared file of this name.
template <typename Body>
void each_component(const std::string& path, std::error_code& error, Body&& body) {
  const std::string file = file_name(path);
  const fs::path folder = parent_folder(path);
  for (const std::string& name : base::names_in(folder.string(), error))
    if (const auto found = parse_component_name(name, file)) body((folder / name).string(), *found);
}

/// Calls `body(path, component)` for each temporary file of a description, which a process was writing when it was
/// killed.
template <typename Body>
void each_unfinished(const std::string& path, std::error_code& error, Body&& body) {
  const std::string file = file_name(path);
  const fs::path folder = parent_folder(path);
  for (const std::string& name : base::names_in(folder.string(), error)) {
    const std::size_t end = name.rfind(".plait-");
    if (!name.starts_with('.') || end == std::string::npos) continue;
    const auto found = parse_component_name(name.substr(1, end - 1), file);
    if (found && found->description) body((folder / name).string(), *found);
  }
}

}  // namespace

std::string parent_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

NameView examine_folder(const std::string& path, store::posix::Descriptor& inode_pin) {
  NameView view;
  struct stat found{};
  inode_pin = store::posix::Descriptor(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (inode_pin.number() >= 0 && ::fstat(inode_pin.number(), &found) == 0 && S_ISREG(found.st_mode))
    view.plain = store::posix::read_identity(inode_pin.number(), path);
  std::error_code error;
  each_component(path, error, [&](const std::string& name, const ComponentName& what) {
    if (!what.description) return;
    const std::string bytes = name.substr(0, name.size() - std::string_view(kDescriptionSuffix).size());
    struct stat component{};
    if (::stat(bytes.c_str(), &component) != 0 || !S_ISREG(component.st_mode)) return;
    const std::optional<std::string> content = read_if_exists(name);
    if (!content) return;
    Description description = parse(*content, base::text(name, " (host ", host_name(), ")"));
    // Ignore a file that was renamed by hand: its bytes may belong to another file.
    if (description.id != what.id || description.component != what.component ||
        description.components != what.components)
      return;
    auto known = std::ranges::find_if(view.striped, [&](const StripedFile& seen) {
      return seen.file.id == what.id && seen.file.components == what.components && seen.file.unit == description.unit &&
             seen.file.limit == description.limit;
    });
    if (known == view.striped.end()) known = view.striped.insert(known, StripedFile{std::move(description), {}});
    known->components.push_back(what.component);
  });
  if (error)
    throw store::posix::system_error(base::text("look into ", parent_folder(path), " (host ", host_name(), ")"),
                                     error.value());
  return view;
}

std::vector<Part> find_parts(const std::string& path) {
  std::vector<Part> parts;
  std::error_code ignored;
  each_component(path, ignored,
                 [&](const std::string& name, const ComponentName& what) { parts.push_back({name, what}); });
  std::ranges::sort(parts, {}, [](const Part& part) { return std::tie(part.what.component, part.path); });
  return parts;
}

std::set<std::string> find_ids(const std::string& path) {
  std::set<std::string> ids;
  std::error_code ignored;
  each_component(path, ignored, [&](const std::string&, const ComponentName& what) { ids.insert(what.id); });
  return ids;
}

void remove_others(const std::string& path, const std::string& kept_id) noexcept {
  try {
    std::error_code ignored;
    std::vector<std::string> descriptions;
    std::vector<std::string> bytes;
    each_component(path, ignored, [&](const std::string& name, const ComponentName& what) {
      if (what.id != kept_id) (what.description ? descriptions : bytes).push_back(name);
    });
    each_unfinished(path, ignored, [&](const std::string& name, const ComponentName& what) {
      if (what.id != kept_id) descriptions.push_back(name);
    });
    // Remove descriptions first: if the process is killed in between, bytes without a description remain, which are
    // ignored, but no description without bytes.
    for (const std::string& name : descriptions) ::unlink(name.c_str());
    for (const std::string& name : bytes) ::unlink(name.c_str());
  } catch (...) {  // the remaining files stay
  }
}

void write_description(const std::string& component_path, const Description& description) {
  const std::string text = description.to_text();
  store::posix::Replacement file(component_path + kDescriptionSuffix, static_cast<std::int64_t>(text.size()),
                                 std::as_bytes(std::span(text)));
  file.commit();
}

bool is_coherent(const std::string& folder) {
  struct statfs found{};
  if (::statfs(folder.c_str(), &found) != 0) return true;
  // NFS, AFS, SMB, CIFS, SMB 2, 9P, FUSE, by their numbers in Linux's magic.h and statfs(2).
  constexpr std::array<std::uint32_t, 7> kCachingFileSystems{0x6969,     0x5346414F, 0x517B,    0xFF534D42,
                                                             0xFE534D42, 0x01021997, 0x65735546};
  for (const std::uint32_t kind : kCachingFileSystems)
    if (static_cast<std::uint32_t>(found.f_type) == kind) return false;
  return true;
}

}  // namespace plait::distant::shared
