#include "codes.hpp"

#include <array>
#include <cerrno>
#include <map>
#include <new>

#include "base/text.hpp"
#include "handle.hpp"
#include "plait/error.hpp"

namespace plait::ga {

namespace {

// The texts in the order of the codes, from -2000 on.
constexpr int kFirst = -2000;
constexpr std::array<const char*, 26> kMeanings{
    "the position in the file cannot be reached",
    "cannot write",
    "a write that was begun failed",
    "cannot read",
    "a read that was begun failed",
    "cannot wait for a request",
    "there is no such request",
    "the file is open for reading only",
    "the folder of the file is not known",
    "cannot look at the file or its folder",
    "cannot open the file",
    "out of memory",
    "this is not supported",
    "cannot delete the file",
    "cannot close the file",
    "interrupted too often",
    "the end of a request is not known",
    "the name is too long",
    "the kind of the file system is not known",
    "a number is not a whole number, is below zero, or is too large",
    "the kind of the file system or device does not fit",
    "cannot look at a request",
    "cannot cut the file",
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
    last_texts()[code] = plait_message(nullptr);
  } catch (...) {  // without memory for the text, the code alone is returned
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
