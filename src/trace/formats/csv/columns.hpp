/// The columns of traces in CSV.
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
  kName,  ///< of the file; not written
  kNone   ///< not known, so not read
};
constexpr std::size_t kColumns = 13;  ///< those that are written, in this order

constexpr std::array<std::string_view, kColumns> kColumnNames{"start",  "duration",  "cpu",       "process", "thread",
                                                              "file",   "kind",      "interface", "offset",  "length",
                                                              "result", "operation", "flags"};

constexpr std::int64_t kMostTick = 1'000'000'000'000'000;  ///< ns a unit of time

/// The first comment of a trace of Plait's.
constexpr std::string_view kHead = "plait-csv ";

/// Splits a line at separators outside of quotes (RFC 4180) and takes the quotes away.
/// Texts of quoted cells lie in `store`.  false: a quote is still open at the end.
bool split(std::string_view line, char separator, std::vector<std::string_view>& cells,
           std::vector<std::string>& store);

/// What a header's columns mean; each of them once.  Also other usual names: time, op, pid, tid, size, path and the
/// like.
std::vector<Column> columns_of(const std::vector<std::string_view>& header);

bool has(const std::vector<Column>& columns, Column column);

/// The separator of a header line: of , ; tab | and : the first that yields the columns a trace needs, else the first
/// that it holds.
char separator_of(std::string_view header);

}  // namespace plait::trace::csv
