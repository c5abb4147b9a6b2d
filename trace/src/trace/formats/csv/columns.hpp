/// The columns of traces in CSV, by the names in the header line, such as
///
///   start,duration,kind,offset,length
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::trace::csv {

enum class Column : std::uint8_t {
  kStart,
  kDuration,
  kCpu,
  kProcess,
  kThread,
  kFile,
  kKind,
  kInterface,
  kOffset,
  kLength,
  kResult,
  kOperation,
  kFlags,
  kName,  ///< name of the file; not written
  kNone   ///< unknown, and ignored
};
constexpr std::size_t kColumns = 13;  ///< number of written columns, which come first in this order

constexpr std::array<std::string_view, kColumns> kColumnNames{"start",  "duration",  "cpu",       "process", "thread",
                                                              "file",   "kind",      "interface", "offset",  "length",
                                                              "result", "operation", "flags"};

constexpr std::int64_t kMaxTick = 1'000'000'000'000'000;  ///< largest unit of time, in ns

/// Begins the first comment of a trace written by Plait.
constexpr std::string_view kHeadComment = "plait-csv ";

/// Splits a line at separators outside of quotes (RFC 4180) and removes the quotes. The texts of quoted cells are
/// stored in `unquoted`. Returns false if a quote is still open at the end.
bool split(std::string_view line, char separator, std::vector<std::string_view>& cells,
           std::vector<std::string>& unquoted);

/// Returns the columns of a header, each of them at most once. Accepts other usual names as well: time, op, pid, tid,
/// size, path and similar ones.
std::vector<Column> find_columns(const std::vector<std::string_view>& header);

bool has_column(const std::vector<Column>& columns, Column column);

/// Returns the separator of a header line: the first of , ; tab | and : that yields the required columns, otherwise
/// the first that the line contains.
char detect_separator(std::string_view header);

}  // namespace plait::trace::csv
