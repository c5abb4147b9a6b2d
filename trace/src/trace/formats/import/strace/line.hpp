/// Parsing of one line of strace's output.
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
  kRemark,      ///< message of strace itself
  kOther,       ///< unknown
};

enum class Clock : std::uint8_t {
  kNone,
  kEpoch,     ///< -ttt
  kDay,       ///< -t, -tt
  kRelative,  ///< -r: since the previous line
};

/// The parts of a line. The views point into its text, which must outlive this object.
struct Line {
  LineKind kind = LineKind::kOther;
  std::int64_t thread = -1;  ///< -1: unknown
  Clock clock = Clock::kNone;
  std::int64_t time = 0;  ///< in ns
  std::string_view name;  ///< name of the call
  std::string_view text;  ///< text of a call after its opening parenthesis; otherwise the rest of the line
};

Line parse_line(std::string_view text);

/// The arguments and the result of a call.
struct Call {
  std::vector<std::string_view> arguments;
  bool has_result = false;      ///< false: strace prints a question mark instead
  std::int64_t result = 0;      ///< result, or -errno
  std::string_view annotation;  ///< text of -y after a returned descriptor
  std::int64_t duration = -1;   ///< in ns, from -T; -1: unknown
};

/// Parses the text after the opening parenthesis. Returns false if it has no closing one, or no result.
bool parse_call(std::string_view text, Call& call);
/// Returns the arguments of a call that has no end.
std::vector<std::string_view> split_arguments(std::string_view text);
/// Returns the parts of `[a, b]` or `{a, b}`; none if the text is neither.
std::vector<std::string_view> elements(std::string_view text);

/// Parses a number at the beginning of a text, decimal, 0x or octal, with a sign; limited to 2^62.
std::optional<std::int64_t> leading_number(std::string_view text);
/// Returns the text that -y prints in angle brackets after a descriptor; empty: none.
std::string_view find_annotation(std::string_view argument);
/// Returns the content of a quoted text, with its escape sequences decoded.
std::string unquoted(std::string_view text);
/// Returns -errno for the name of an error such as ENOENT, or -1 if the name is unknown.
std::int64_t error_number(std::string_view name);

}  // namespace plait::trace::strace
