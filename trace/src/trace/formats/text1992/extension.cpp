#include "trace/formats/text1992/extension.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "trace/words.hpp"

namespace plait::trace::text1992 {

namespace {

std::string flags_word(std::uint16_t flags) {
  std::array<char, 8> digits{'0', 'x'};
  return {digits.data(), std::to_chars(digits.begin() + 2, digits.end(), flags, 16).ptr};
}

bool yes_or_no(std::string_view text, bool& to) {
  to = text == "yes";
  return to || text == "no";
}

/// Parses a value by `parse` into an optional, which does not change if that fails.
template <typename T, typename Parse>
bool set(std::optional<T>& to, std::string_view text, Parse parse) {
  T value{};
  if (!parse(text, value)) return false;
  to = value;
  return true;
}

bool flags_number(std::string_view text, std::uint16_t& to) {
  const auto flags = parse_flags(text);
  if (flags) to = *flags;
  return flags.has_value();
}

bool interface_number(std::string_view text, Interface& to) {
  const auto interface = parse_interface(text);
  if (interface) to = *interface;
  return interface.has_value();
}

}  // namespace

void RecordDefaultsChange::apply(RecordDefaults& defaults) const {
  defaults.thread = thread.value_or(defaults.thread);
  defaults.flags = flags.value_or(defaults.flags);
  defaults.interface = interface.value_or(defaults.interface);
  defaults.cpu = cpu.value_or(defaults.cpu);
  defaults.offset = offset.value_or(defaults.offset);
  defaults.duration = duration.value_or(defaults.duration);
}

std::string defaults_text(const RecordDefaults& from, const RecordDefaults& to) {
  const auto yes_or_no_word = [](bool known) { return std::string_view(known ? "yes" : "no"); };
  Remark remark("with");
  if (from.thread != to.thread) remark.natural("thread", to.thread);
  if (from.interface != to.interface) remark.pair("interface", interface_word(to.interface));
  if (from.flags != to.flags) remark.pair("flags", flags_word(to.flags));
  if (from.cpu != to.cpu) remark.pair("cpu", yes_or_no_word(to.cpu));
  if (from.offset != to.offset) remark.pair("offset", yes_or_no_word(to.offset));
  if (from.duration != to.duration) remark.pair("duration", yes_or_no_word(to.duration));
  return remark.text();
}

std::string override_text(const Override& values) {
  Remark remark("but");
  if (values.result) remark.number("result", *values.result);
  if (values.cpu) remark.number("cpu", *values.cpu);
  if (values.offset) remark.number("offset", *values.offset);
  if (values.length) remark.number("length", *values.length);
  return remark.text();
}

std::string event_text(const Event& event) {
  const Event plain;
  Remark remark("event");
  remark.word(kind_word(event.kind));
  remark.number("start", event.start);
  if (event.duration != plain.duration) remark.number("duration", event.duration);
  if (event.cpu != plain.cpu) remark.number("cpu", event.cpu);
  if (event.offset != plain.offset) remark.number("offset", event.offset);
  if (event.length != plain.length) remark.number("length", event.length);
  if (event.result != plain.result) remark.number("result", event.result);
  if (event.operation != plain.operation) remark.natural("operation", event.operation);
  remark.natural("process", event.process);
  if (event.thread != plain.thread) remark.natural("thread", event.thread);
  if (event.file != plain.file) remark.natural("file", event.file);
  if (event.interface != plain.interface) remark.pair("interface", interface_word(event.interface));
  if (event.flags != plain.flags) remark.pair("flags", flags_word(event.flags));
  return remark.text();
}

bool parse_defaults(Pairs pairs, RecordDefaultsChange& change) {
  std::string_view key;
  std::string_view value;
  while (pairs.next(key, value)) {
    bool is_valid = false;
    if (key == "thread") is_valid = set(change.thread, value, parse_natural<std::uint32_t>);
    if (key == "interface") is_valid = set(change.interface, value, interface_number);
    if (key == "flags") is_valid = set(change.flags, value, flags_number);
    if (key == "cpu") is_valid = set(change.cpu, value, yes_or_no);
    if (key == "offset") is_valid = set(change.offset, value, yes_or_no);
    if (key == "duration") is_valid = set(change.duration, value, yes_or_no);
    if (!is_valid) return false;
  }
  return true;
}

bool parse_override(Pairs pairs, Override& values) {
  std::string_view key;
  std::string_view value;
  while (pairs.next(key, value)) {
    bool is_valid = false;
    if (key == "result") is_valid = set(values.result, value, parse_number);
    if (key == "cpu") is_valid = set(values.cpu, value, parse_number);
    if (key == "offset") is_valid = set(values.offset, value, parse_number);
    if (key == "length") is_valid = set(values.length, value, parse_number);
    if (!is_valid) return false;
  }
  return true;
}

std::optional<Event> parse_event(Pairs pairs) {
  Event event;
  const auto kind = parse_kind(pairs.word());
  if (!kind) return std::nullopt;
  event.kind = *kind;
  std::string_view key;
  std::string_view value;
  while (pairs.next(key, value)) {
    bool is_valid = false;
    if (key == "start") is_valid = parse_number(value, event.start);
    if (key == "duration") is_valid = parse_number(value, event.duration);
    if (key == "cpu") is_valid = parse_number(value, event.cpu);
    if (key == "offset") is_valid = parse_number(value, event.offset);
    if (key == "length") is_valid = parse_number(value, event.length);
    if (key == "result") is_valid = parse_number(value, event.result);
    if (key == "operation") is_valid = parse_natural(value, event.operation);
    if (key == "process") is_valid = parse_natural(value, event.process);
    if (key == "thread") is_valid = parse_natural(value, event.thread);
    if (key == "file") is_valid = parse_natural(value, event.file);
    if (key == "interface") is_valid = interface_number(value, event.interface);
    if (key == "flags") is_valid = flags_number(value, event.flags);
    if (!is_valid) return std::nullopt;
  }
  return event;
}

}  // namespace plait::trace::text1992
