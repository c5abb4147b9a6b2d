// Meeting files of pipes. The content of NAME.pipe is four lines: the format, the key, the endpoints and the program.
//
// Problem: a writer that is killed leaves its file, and a reader must not take it for that of a living writer.
// Idea: the writer holds a lock on the file, which the system releases when the process ends. A file without a lock is
// free: the next writer of that name locks and overwrites it.

#include "pipe/meeting_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>

#include "base/errors.hpp"
#include "base/files/write_all.hpp"
#include "base/text.hpp"
#include "base/text_reader.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using base::text;
namespace host = base::host;
using transport::native::Endpoints;
using transport::native::Key;

namespace {

constexpr std::string_view kSuffix = ".pipe";
constexpr std::string_view kFirstLine = "plait-pipe 1";

[[noreturn]] void fail_meeting(const std::string& what, int code, const std::string& advice = "") {
  base::throw_system_error(code, what, ": ", std::strerror(code), advice);
}

std::string meeting_path(const std::string& name) { return text(meeting_folder(), '/', name, kSuffix); }

/// Returns the content of a meeting file, at most 64 KiB; empty if it cannot be read.
std::string read_file(int file) {
  std::string content(std::size_t{1} << 16, '\0');
  const ssize_t bytes_read = ::pread(file, content.data(), content.size(), 0);
  content.resize(bytes_read < 0 ? 0 : static_cast<std::size_t>(bytes_read));
  return content;
}

/// Parses the content of a meeting file.  Returns nothing if lines are missing or the first one is another.
/// errors  Those of Key::parse() and Endpoints::parse().
std::optional<Invitation> parse_invitation(const std::string& content) {
  base::TextReader in(content);
  std::string first;
  std::string key;
  std::string endpoints;
  Invitation found;
  if (!std::getline(in, first) || !std::getline(in, key) || !std::getline(in, endpoints) ||
      !std::getline(in, found.program) || in.eof() || first != kFirstLine)
    return std::nullopt;
  found.key = Key::parse(key);
  found.endpoints = Endpoints::parse(endpoints);
  return found;
}

}  // namespace

void check_pipe_name(std::string_view name, std::string_view url) {
  const auto fail = [&](std::string_view why) {
    base::throw_argument_error(url, ": ", why, "; write a name such as pipe:flow");
  };
  if (name.empty()) fail("pipe: has no name behind it");
  if (name.find('/') != std::string_view::npos) fail("the name of a pipe has no / in it");
  if (name.front() == '.') fail("the name of a pipe does not begin with a dot");
  if (name.size() > NAME_MAX - kSuffix.size() - 32) fail(text("a name of ", name.size(), " bytes is too long"));
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    fail("the name has control characters in it");
}

MeetingFile::MeetingFile(const std::string& name, const Invitation& invitation) : path_(meeting_path(name)) {
  const std::string content =
      text(kFirstLine, '\n', invitation.key.text(), '\n', invitation.endpoints.text(), '\n', invitation.program, '\n');
  constexpr int kAttempts = 1000;  // an attempt is repeated if another process creates or removes the file meanwhile
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    file_ = base::Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file_.number() < 0) fail_meeting(text("cannot make ", path_), errno);
    if (!host::take_lock(file_.number())) {
      if (errno != EAGAIN && errno != EACCES)
        fail_meeting(text("cannot lock ", path_), errno,
                     "; name a folder on a file system that has locks by PLAIT_MEET");
      const std::optional<Invitation> other = parse_invitation(read_file(file_.number()));
      if (!host::leads_to(path_, file_.number())) continue;
      base::throw_system_error(EADDRINUSE, "another program writes to the pipe ", name, ": ",
                               other ? other->program : "it is just beginning",
                               "; choose another name, or end that one");
    }
    // The path may lead to another file by now: a writer that ends removes its file before it releases the lock.
    if (!host::leads_to(path_, file_.number())) continue;
    if (::ftruncate(file_.number(), 0) != 0) fail_meeting(text("cannot write ", path_), errno);
    if (const int code = base::write_all(file_.number(), std::as_bytes(std::span(content)), 0); code != 0)
      fail_meeting(text("cannot write ", path_), code);
    return;
  }
  fail_meeting(text("cannot make ", path_), EAGAIN, "; other programs make and remove it all the time");
}

MeetingFile::~MeetingFile() {
  // Remove the file while this process still holds the lock, so that the path cannot lead to the file of the next
  // writer.
  if (file_.number() >= 0 && host::leads_to(path_, file_.number())) ::unlink(path_.c_str());
}

namespace {

/// Reads the meeting file of a pipe; returns nothing if there is none, or if the state of its lock is not `is_locked`.
std::optional<Invitation> read_invitation(const std::string& name, bool is_locked) {
  const std::string path = meeting_path(name);
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.number() < 0) {
    if (errno == ENOENT) return std::nullopt;
    fail_meeting(text("cannot open ", path), errno);
  }
  if (host::is_locked(file.number()) != is_locked) return std::nullopt;
  const std::string content = read_file(file.number());
  // The writer writes the text by one call after it has locked the file. An incomplete text is not an invitation yet.
  if (content.empty() || content.back() != '\n') return std::nullopt;
  try {
    if (auto found = parse_invitation(content)) return found;
  } catch (const Error&) {  // reported below
  }
  if (!is_locked) return std::nullopt;
  base::throw_system_error(EPROTO, path,
                           " is no invitation of this version of Plait; use the same version at both ends");
}

}  // namespace

std::optional<Invitation> find_invitation(const std::string& name) { return read_invitation(name, /*is_locked=*/true); }

std::optional<Invitation> find_unlocked_invitation(const std::string& name) {
  return read_invitation(name, /*is_locked=*/false);
}

std::vector<std::string> meeting_names() {
  const std::string folder = meeting_folder();
  std::vector<std::string> names;
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(folder.c_str()), close);
  if (directory == nullptr) fail_meeting(text("cannot list ", folder), errno);
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(kSuffix)) continue;
    const std::string path = text(folder, '/', name);
    const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.number() >= 0 && host::is_locked(file.number()))
      names.emplace_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::string this_program() {
  std::string name;
  std::getline(std::ifstream("/proc/self/comm"), name);
  std::ranges::replace_if(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return text(name.empty() ? "a program" : name, " (process ", ::getpid(), " on ", transport::native::own_host().name,
              ')');
}

Program parse_program(const std::string& program) {
  constexpr std::string_view kProcess = " (process ";
  constexpr std::string_view kHost = " on ";
  const std::string_view description = program;
  const std::size_t name_end = description.rfind(kProcess);  // the last one: a name may contain " (process "
  if (name_end == std::string_view::npos || !description.ends_with(')')) return {program, 0, ""};
  const std::string_view digits = description.substr(name_end + kProcess.size());
  Program parsed{std::string(description.substr(0, name_end)), 0, ""};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.process);
  const std::string_view after_process = digits.substr(static_cast<std::size_t>(end - digits.data()));
  if (error != std::errc() || !after_process.starts_with(kHost)) return {program, 0, ""};
  parsed.host = after_process.substr(kHost.size(), after_process.size() - kHost.size() - 1);  // without the `)`
  return parsed;
}

}  // namespace plait::pipe
