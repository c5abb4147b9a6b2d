#include "trace/formats/csv/columns.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace plait::trace::csv {

namespace {

constexpr std::array<std::pair<std::string_view, Column>, 22> kSynonyms{
    {{"time", Column::kStart},    {"timestamp", Column::kStart},  {"ts", Column::kStart},
     {"dur", Column::kDuration},  {"elapsed", Column::kDuration}, {"latency", Column::kDuration},
     {"pid", Column::kProcess},   {"tid", Column::kThread},       {"fd", Column::kFile},
     {"op", Column::kKind},       {"type", Column::kKind},        {"call", Column::kKind},
     {"pos", Column::kOffset},    {"position", Column::kOffset},  {"len", Column::kLength},
     {"size", Column::kLength},   {"bytes", Column::kLength},     {"ret", Column::kResult},
     {"name", Column::kName},     {"path", Column::kName},        {"filename", Column::kName},
     {"file_name", Column::kName}}};

Column find_column(std::string_view cell) {
  std::string name;
  for (const char letter : cell)
    if (letter != ' ') name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const auto column = std::find(kColumnNames.begin(), kColumnNames.end(), name);
  if (column != kColumnNames.end()) return static_cast<Column>(column - kColumnNames.begin());
  const auto synonym =
      std::find_if(kSynonyms.begin(), kSynonyms.end(), [&](const auto& entry) { return entry.first == name; });
  return synonym == kSynonyms.end() ? Column::kNone : synonym->second;
}

}  // namespace

bool split(std::string_view line, char separator, std::vector<std::string_view>& cells,
           std::vector<std::string>& unquoted) {
  cells.clear();
  if (line.find('"') == std::string_view::npos) {  // the usual case
    std::size_t begin = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] != separator) continue;
      cells.push_back(line.substr(begin, i - begin));
      begin = i + 1;
    }
    cells.push_back(line.substr(begin));
    return true;
  }
  std::vector<std::string> texts(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      texts.back() += line[++i];
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == separator && !is_quoted) {
      texts.emplace_back();
    } else {
      texts.back() += line[i];
    }
  }
  unquoted = std::move(texts);
  cells.assign(unquoted.begin(), unquoted.end());
  return !is_quoted;
}

std::vector<Column> find_columns(const std::vector<std::string_view>& header) {
  std::vector<Column> columns;
  for (const std::string_view cell : header) {
    const Column column = find_column(cell);
    const bool is_repeated = std::find(columns.begin(), columns.end(), column) != columns.end();
    columns.push_back(is_repeated ? Column::kNone : column);
  }
  // Other tools use "operation" for the kind, read or write.
  if (std::find(columns.begin(), columns.end(), Column::kKind) == columns.end())
    std::replace(columns.begin(), columns.end(), Column::kOperation, Column::kKind);
  return columns;
}

bool has_column(const std::vector<Column>& columns, Column column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

char detect_separator(std::string_view header) {
  constexpr std::string_view kSeparators = ",;\t|:";
  std::vector<std::string_view> cells;
  std::vector<std::string> unquoted;
  for (const char separator : kSeparators) {
    if (header.find(separator) == std::string_view::npos || !split(header, separator, cells, unquoted)) continue;
    const std::vector<Column> columns = find_columns(cells);
    if (has_column(columns, Column::kStart) && has_column(columns, Column::kKind)) return separator;
  }
  const auto separator = std::find_if(kSeparators.begin(), kSeparators.end(),
                                      [&](char candidate) { return header.find(candidate) != std::string_view::npos; });
  return separator == kSeparators.end() ? ',' : *separator;
}

}  // namespace plait::trace::csv
