#include "trace/formats/remarks.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace plait::trace {

namespace {

std::string to_decimal(auto value) {
  std::array<char, 24> digits{};
  return {digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr};
}

bool parse(Pairs pairs, Process& process) {
  if (!parse_natural(pairs.word(), process.number)) return false;
  std::string_view key;
  std::string_view value;
  while (pairs.next(key, value)) {
    bool is_valid = true;
    if (key == "parent") is_valid = parse_natural(value, process.parent);
    if (key == "rank") is_valid = parse_number(value, process.rank);
    if (key == "cpu") is_valid = parse_number(value, process.cpu);
    if (key == "host") process.host = unescaped(value);
    if (key == "command") process.command = unescaped(value);
    if (!is_valid) return false;
  }
  return true;
}

bool parse(Pairs pairs, File& file) {
  if (!parse_natural(pairs.word(), file.process) || !parse_natural(pairs.word(), file.number)) return false;
  file.name = unescaped(pairs.rest());
  return true;
}

bool parse(Pairs pairs, MissedCalls& missed) {
  std::string_view key;
  std::string_view value;
  while (pairs.next(key, value)) {
    bool is_valid = true;
    if (key == "events") is_valid = parse_number(value, missed.events);
    if (key == "read") is_valid = parse_number(value, missed.read_bytes);
    if (key == "written") is_valid = parse_number(value, missed.written_bytes);
    if (key == "reason") missed.reason = unescaped(value);
    if (!is_valid) return false;
  }
  return true;
}

bool parse(Pairs pairs, Counters& counters) {
  if (!parse_natural(pairs.word(), counters.process) || !parse_natural(pairs.word(), counters.file)) return false;
  const auto interface = parse_interface(pairs.word());
  if (!interface || !parse_natural(pairs.word(), counters.flags)) return false;
  counters.interface = *interface;
  std::string_view key;
  std::string_view value;
  while (pairs.next(key, value)) {
    counters.values.emplace_back(unescaped(key), 0);
    if (!parse_number(value, counters.values.back().second)) return false;
  }
  return true;
}

bool parse_end(Pairs pairs, Description& description) {
  std::string_view key;
  std::string_view value;
  bool has_complete = false;
  while (pairs.next(key, value)) {
    bool is_valid = true;
    if (key == "zero") is_valid = parse_number(value, description.zero);
    if (key == "rounded") is_valid = parse_number(value, description.tick);
    if (key == "complete") {
      description.complete = value == "yes";
      has_complete = description.complete || value == "no";
    }
    if (!is_valid) return false;
  }
  return has_complete;
}

template <typename T>
RemarkStatus parse_and_append(Pairs pairs, std::vector<T>& all) {
  T remark;
  if (!parse(pairs, remark)) return RemarkStatus::kInvalid;
  all.push_back(std::move(remark));
  return RemarkStatus::kStored;
}

}  // namespace

std::string_view Pairs::word() {
  const std::size_t begin = std::min(text_.find_first_not_of(' '), text_.size());
  const std::size_t end = std::min(text_.find(' ', begin), text_.size());
  const std::string_view found = text_.substr(begin, end - begin);
  text_.remove_prefix(end);
  return found;
}

bool Pairs::next(std::string_view& key, std::string_view& value) {
  const std::string_view pair = word();
  if (pair.empty()) return false;
  const std::size_t sign = pair.find('=');
  key = pair.substr(0, sign);
  value = sign == std::string_view::npos ? std::string_view() : pair.substr(sign + 1);
  return true;
}

std::string_view Pairs::rest() {
  if (!text_.empty()) text_.remove_prefix(1);
  return text_;
}

void Remark::word(std::string_view raw) {
  text_ += ' ';
  append_escaped(text_, raw, " ");
}

void Remark::line(std::string_view raw) {
  text_ += ' ';
  append_escaped(text_, raw);
}

void Remark::pair(std::string_view key, std::string_view raw) {
  text_ += ' ';
  text_ += key;
  text_ += '=';
  append_escaped(text_, raw, " ");
}

void Remark::number(std::string_view key, std::int64_t value) { pair(key, to_decimal(value)); }

void Remark::natural(std::string_view key, std::uint64_t value) { pair(key, to_decimal(value)); }

std::string remark_text(const Process& process) {
  Remark remark("process");
  remark.word(to_decimal(process.number));
  if (process.parent != 0) remark.natural("parent", process.parent);
  if (process.rank != -1) remark.number("rank", process.rank);
  if (process.cpu != kUnknown) remark.number("cpu", process.cpu);
  if (!process.host.empty()) remark.pair("host", process.host);
  if (!process.command.empty()) remark.pair("command", process.command);
  return remark.text();
}

std::string remark_text(const File& file) {
  Remark remark("file");
  remark.word(to_decimal(file.process));
  remark.word(to_decimal(file.number));
  remark.line(file.name);
  return remark.text();
}

std::string remark_text(const MissedCalls& missed) {
  Remark remark("missed");
  remark.number("events", missed.events);
  remark.number("read", missed.read_bytes);
  remark.number("written", missed.written_bytes);
  remark.pair("reason", missed.reason);
  return remark.text();
}

std::string remark_text(const Counters& counters) {
  Remark remark("counters");
  remark.word(to_decimal(counters.process));
  remark.word(to_decimal(counters.file));
  remark.word(interface_word(counters.interface));
  remark.word(to_decimal(counters.flags));
  std::string key;
  for (const auto& [name, value] : counters.values) {
    key.clear();
    append_escaped(key, name, " =");
    remark.number(key, value);
  }
  return remark.text();
}

std::string note_text(std::string_view note) {
  Remark remark("note");
  remark.line(note);
  return remark.text();
}

std::string end_text(const Description& description, std::int64_t tick) {
  Remark remark("end");
  if (description.zero != 0) remark.number("zero", description.zero);
  if (description.tick != tick) remark.number("rounded", description.tick);
  remark.pair("complete", description.complete ? "yes" : "no");
  return remark.text();
}

RemarkStatus take_remark(std::string_view keyword, Pairs pairs, Description& description) {
  if (keyword == "process") return parse_and_append(pairs, description.processes);
  if (keyword == "file") return parse_and_append(pairs, description.files);
  if (keyword == "missed") return parse_and_append(pairs, description.missed);
  if (keyword == "counters") return parse_and_append(pairs, description.counters);
  if (keyword == "note") {
    description.notes.push_back(unescaped(pairs.rest()));
    return RemarkStatus::kStored;
  }
  if (keyword == "end") return parse_end(pairs, description) ? RemarkStatus::kEnd : RemarkStatus::kInvalid;
  return RemarkStatus::kUnknownKeyword;
}

}  // namespace plait::trace
