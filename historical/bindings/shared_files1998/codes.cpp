#include "codes.hpp"

#include <array>
#include <cerrno>
#include <map>
#include <new>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "handle.hpp"
#include "plait/error.hpp"

namespace plait::ga {

namespace {

// The texts in the order of the codes, from -2000 on.
constexpr int kFirst = -2000;
constexpr std::array<const char*, 26> kMeanings{
    "cannot seek to the position in the file",
    "cannot write",
    "a write failed after it had started",
    "cannot read",
    "a read failed after it had started",
    "cannot wait for a request",
    "there is no such request",
    "the file is open for reading only",
    "the folder of the file is unknown",
    "cannot inspect the file or its folder",
    "cannot open the file",
    "out of memory",
    "the operation is not supported",
    "cannot delete the file",
    "cannot close the file",
    "interrupted too often",
    "the state of a request is unknown",
    "the name is too long",
    "the type of the file system is unknown",
    "a number is not a whole number, is below zero, or is too large",
    "the type of the file system or device is unsuitable",
    "cannot inspect a request",
    "cannot truncate the file",
    "past the end of the file",
    "cannot make the file durable",
    "an unknown error",
};

/// Returns the last error text of this thread for each code.
std::map<int, std::string>& last_texts() {
  thread_local std::map<int, std::string> texts;
  return texts;
}

int to_code(const Error& error, Code otherwise) {
  switch (error.system_code()) {
    case ENAMETOOLONG: return kTooLong;
    case ENOMEM: return kNoMemory;
    case ENOTSUP: return kUnsupported;
    case EDOM: return kNoNumber;
    case ENODATA: return kPastEnd;
    case EROFS: return error.kind() == ErrorKind::kArgument ? kReadOnly : otherwise;
    case ESRCH: return error.kind() == ErrorKind::kArgument ? kNoRequest : otherwise;
    default: return error.kind() == ErrorKind::kArgument ? kFailed : otherwise;
  }
}

}  // namespace

int record(Code otherwise) noexcept {
  c::record(nullptr);
  int code = otherwise;
  try {
    throw;
  } catch (const Error& error) {
    code = to_code(error, otherwise);
  } catch (const std::bad_alloc&) {
    code = kNoMemory;
  } catch (...) {  // `otherwise` is returned, and the text contains the reason
  }
  try {
    std::string message = plait_message(nullptr);
    last_texts().insert_or_assign(code, std::move(message));
  } catch (...) {  // Without memory for the text, the code alone is returned.
  }
  return code;
}

std::string describe_code(int code) {
  if (code == kOk) return "no error";
  if (const auto entry = last_texts().find(code); entry != last_texts().end()) return entry->second;
  if (code == kFailed) return "a call of Shared Files failed";
  if (code < kFirst || code >= kFirst + static_cast<int>(kMeanings.size()))
    return base::text("the code ", code, " is not one of Shared Files");
  return kMeanings[static_cast<std::size_t>(code - kFirst)];
}

}  // namespace plait::ga
