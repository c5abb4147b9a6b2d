/// One line of strace's output, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plait::trace::strace {

enum class LineKind : std::uint8_t {
  kCall,        ///< name(arguments) = result
  kUnfinished,  ///< name(arguments <unfinished ...>
  kResumed,     ///< <... name resumed>arguments) = result
  kSignal,      ///< --- SIGCHLD ... ---
  kExited,      ///< +++ exited with 0 +++ and +++ killed by SIGKILL +++
  kRemark,      ///< of strace itself
  kOther,       ///< not understood
};

enum class Clock : std::uint8_t {
  kNone,
  kEpoch,     ///< -ttt
  kDay,       ///< -t, -tt
  kRelative,  ///< -r: since the line before
};

/// Views into the line, which must outlive it.
struct Line {
  LineKind kind = LineKind::kOther;
  std::int64_t thread = -1;  ///< -1: not told
  Clock clock = Clock::kNone;
  std::int64_t time = 0;  ///< ns
  std::string_view name;  ///< of the call
  std::string_view text;  ///< of a call: what stands behind its opening parenthesis; else the rest
};

Line parse_line(std::string_view text);

/// A call's arguments and what came of it.
struct Call {
  std::vector<std::string_view> arguments;
  bool known = false;           ///< false: the result is a question mark
  std::int64_t result = 0;      ///< or -errno
  std::string_view annotation;  ///< what -y shows behind a descriptor that is returned
  std::int64_t duration = -1;   ///< ns, of -T; -1: not told
};

/// Takes what stands behind the opening parenthesis apart.  false: it has no end, or no result.
bool parse_call(std::string_view text, Call& call);
/// Arguments of a call that has no end.
std::vector<std::string_view> split_arguments(std::string_view text);
/// The parts of `[a, b]` or `{a, b}`; none where it is neither.
std::vector<std::string_view> elements(std::string_view text);

/// A number at the front of a text, decimal, 0x or octal, with a sign; cut to 2^62.
std::optional<std::int64_t> leading_number(std::string_view text);
/// What -y shows in angle brackets behind a descriptor; empty: nothing.
std::string_view annotation_of(std::string_view argument);
/// The content of a quoted text with its escapes undone.
std::string unquoted(std::string_view text);
/// -errno by its name, -1 where it is not known.
std::int64_t error_number(std::string_view name);

}  // namespace plait::trace::strace
