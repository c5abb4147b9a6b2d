#include "pipe/meeting.hpp"

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
#include <sstream>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using base::text;
using transport::native::Endpoints;
using transport::native::Key;

namespace {

constexpr std::string_view kSuffix = ".pipe";
constexpr std::string_view kFirstLine = "plait-pipe 1";

[[noreturn]] void fail_meeting(const std::string& what, int code, const std::string& advice = "") {
  throw Error(ErrorKind::kSystem, text(what, ": ", std::strerror(code), advice), code);
}

std::string path_of(const std::string& name) { return text(meeting_folder(), '/', name, kSuffix); }

/// Whether somebody holds the lock of a file.
bool is_locked(int file) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool take_lock(int file) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/// Whether a path still leads to an open file.
bool leads_to(const std::string& path, int file) {
  struct stat named{};
  struct stat open{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(file, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

std::string contents(int file) {
  std::string all(std::size_t{1} << 16, '\0');
  const ssize_t got = ::pread(file, all.data(), all.size(), 0);
  all.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return all;
}

std::optional<Invitation> parse(const std::string& file) {
  std::istringstream in(file);
  std::string first;
  std::string key;
  std::string endpoints;
  Invitation found;
  if (!std::getline(in, first) || !std::getline(in, key) || !std::getline(in, endpoints) ||
      !std::getline(in, found.who) || in.eof() || first != kFirstLine)
    return std::nullopt;
  found.key = Key::parse(key);
  found.endpoints = Endpoints::parse(endpoints);
  return found;
}

void write_all(int file, const std::string& all, const std::string& path) {
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t now = ::pwrite(file, all.data() + done, all.size() - done, static_cast<off_t>(done));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail_meeting(text("cannot write ", path), now == 0 ? ENOSPC : errno);
    done += static_cast<std::size_t>(now);
  }
}

}  // namespace

std::string meeting_folder() {
  const char* named = std::getenv("PLAIT_MEET");
  const bool own = named == nullptr || *named == '\0';
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = !own                                    ? std::string(named)
                             : runtime != nullptr && *runtime == '/' ? text(runtime, "/plait")
                                                                     : text("/tmp/plait-", ::getuid());
  const auto advice = [&](const char* what) {
    return text("; ", what, ", or name another folder that both programs see by PLAIT_MEET");
  };
  if (own && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    fail_meeting(text("cannot make the folder ", folder, " in which programs meet"), errno, advice("make it"));
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0)
    fail_meeting(text("the folder ", folder, " in which programs are to meet"), errno, advice("make it"));
  if (!S_ISDIR(found.st_mode))
    fail_meeting(text("the folder ", folder, " in which programs are to meet"), ENOTDIR, advice("make it"));
  if (found.st_uid != ::getuid())
    fail_meeting(text("the folder ", folder, " in which programs meet belongs to another user"), EPERM,
                 advice("use your own"));
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    fail_meeting(text("the folder ", folder, " in which programs meet can be seen by other users"), EPERM,
                 advice(text("say chmod 700 ", folder).c_str()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    fail_meeting(text("cannot write to the folder ", folder, " in which programs meet"), errno, advice("permit it"));
  return folder;
}

void check_pipe_name(std::string_view name, std::string_view shown) {
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorKind::kArgument, text(shown, ": ", why, "; write a name such as pipe:flow"));
  };
  if (name.empty()) refuse("pipe: has no name behind it");
  if (name.find('/') != std::string_view::npos) refuse("the name of a pipe has no / in it");
  if (name.front() == '.') refuse("the name of a pipe does not begin with a dot");
  if (name.size() > NAME_MAX - kSuffix.size() - 32) refuse(text("a name of ", name.size(), " bytes is too long"));
  if (std::ranges::any_of(name, [](char one) { return static_cast<unsigned char>(one) < ' '; }))
    refuse("the name has control characters in it");
}

MeetingFile::MeetingFile(const std::string& name, const Invitation& invitation) : path_(path_of(name)) {
  const std::string all =
      text(kFirstLine, '\n', invitation.key.text(), '\n', invitation.endpoints.text(), '\n', invitation.who, '\n');
  constexpr int kAttempts = 1000;  // each time another process has come first, or has just gone
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    file_ = base::Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file_.number() < 0) fail_meeting(text("cannot make ", path_), errno);
    if (!take_lock(file_.number())) {
      if (errno != EAGAIN && errno != EACCES)
        fail_meeting(text("cannot lock ", path_), errno,
                     "; name a folder on a file system that has locks by PLAIT_MEET");
      const std::optional<Invitation> other = parse(contents(file_.number()));
      if (!leads_to(path_, file_.number())) continue;
      throw Error(ErrorKind::kSystem,
                  text("another program writes to the pipe ", name, ": ", other ? other->who : "it is just beginning",
                       "; choose another name, or end that one"),
                  EADDRINUSE);
    }
    // One that ends takes its file away while this process waits for the lock.
    if (!leads_to(path_, file_.number())) continue;
    if (::ftruncate(file_.number(), 0) != 0) fail_meeting(text("cannot write ", path_), errno);
    write_all(file_.number(), all, path_);
    return;
  }
  fail_meeting(text("cannot make ", path_), EAGAIN, "; other programs make and remove it all the time");
}

MeetingFile::~MeetingFile() {
  if (file_.number() >= 0 && leads_to(path_, file_.number())) ::unlink(path_.c_str());
}

std::optional<Invitation> find_invitation(const std::string& name) {
  const std::string path = path_of(name);
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.number() < 0) {
    if (errno == ENOENT) return std::nullopt;
    fail_meeting(text("cannot open ", path), errno);
  }
  if (!is_locked(file.number())) return std::nullopt;
  const std::string all = contents(file.number());
  // It is written with one call, but a writer may be between taking the name and that.
  if (all.empty() || all.back() != '\n') return std::nullopt;
  try {
    if (auto found = parse(all)) return found;
  } catch (const Error&) {  // told below
  }
  throw Error(ErrorKind::kSystem,
              text(path, " is no invitation of this version of Plait; use the same version at both ends"), EPROTO);
}

std::vector<std::string> meeting_names() {
  const std::string folder = meeting_folder();
  std::vector<std::string> names;
  DIR* all = ::opendir(folder.c_str());
  if (all == nullptr) fail_meeting(text("cannot list ", folder), errno);
  while (const dirent* one = ::readdir(all)) {
    const std::string_view name = one->d_name;
    if (!name.ends_with(kSuffix)) continue;
    const std::string file = text(folder, '/', name);
    const base::Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (open.number() >= 0 && is_locked(open.number()))
      names.emplace_back(name.substr(0, name.size() - kSuffix.size()));
  }
  ::closedir(all);
  std::ranges::sort(names);
  return names;
}

std::string this_program() {
  std::string name;
  std::getline(std::ifstream("/proc/self/comm"), name);
  std::ranges::replace_if(name, [](char one) { return static_cast<unsigned char>(one) < ' '; }, '?');
  return text(name.empty() ? "a program" : name, " (process ", ::getpid(), " on ", transport::native::own_host().name,
              ')');
}

Program parse_program(const std::string& who) {
  constexpr std::string_view kProcess = " (process ";
  constexpr std::string_view kHost = " on ";
  const std::string_view all = who;
  const std::size_t number = all.rfind(kProcess);
  if (number == std::string_view::npos || !all.ends_with(')')) return {who, 0, ""};
  const std::string_view digits = all.substr(number + kProcess.size());
  Program found{std::string(all.substr(0, number)), 0, ""};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found.process);
  const std::string_view rest = digits.substr(static_cast<std::size_t>(end - digits.data()));
  if (error != std::errc() || !rest.starts_with(kHost)) return {who, 0, ""};
  found.host = rest.substr(kHost.size(), rest.size() - kHost.size() - 1);
  return found;
}

}  // namespace plait::pipe
