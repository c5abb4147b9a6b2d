/// The text that blkparse writes of a blktrace, in its default form: `8,0 1 17 0.009526900 697 D W 223490 + 16
/// [name]` consists of the device, the processor, the number of the line, seconds, the process, the action, the
/// operation, the first sector, the number of sectors and the process's name. Lines of other actions (merges, plugs,
/// messages) add nothing to the lines Q, D and C of a request. The summary at the end is ignored.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "trace/formats/import/block.hpp"
#include "trace/formats/import/block_requests.hpp"
#include "trace/formats/import/import.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kSector = 512;
constexpr std::size_t kWindow = 1 << 17;                   // events that may wait for requests in progress
constexpr std::string_view kActions = "ABCDFGIMPQRSTUXm";  // the letters of blkparse(1)

/// The words of a line that the reader uses.
struct Fields {
  std::string_view device;
  std::int64_t time = 0;
  char action = 0;
  std::string_view operation;  ///< RWBS: R, W, D, F and modifiers
  std::int64_t offset = -1;
  std::int64_t bytes = 0;
};

bool is_device(std::string_view word) {
  const std::size_t comma = word.find(',');
  return comma != std::string_view::npos && whole_number(word.substr(0, comma)) && whole_number(word.substr(comma + 1));
}

bool parse(std::string_view line, Fields& fields) {
  const std::vector<std::string_view> words = split_words(line);
  if (words.size() < 6 || !is_device(words[0]) || !whole_number(words[1]) || !whole_number(words[2])) return false;
  const auto time = scaled_number(words[3], kSecond);
  if (!time || words[3].find('.') == std::string_view::npos || !whole_number(words[4])) return false;
  if (words[5].size() > 2 || kActions.find(words[5].front()) == std::string_view::npos) return false;
  fields.device = words[0];
  fields.time = *time;
  fields.action = words[5].front();
  if (words.size() > 6) fields.operation = words[6];
  if (words.size() < 10 || words[8] != "+") return true;
  const auto first_sector = whole_number(words[7]);
  const auto sectors = whole_number(words[9]);
  if (!first_sector || !sectors) return false;
  fields.offset = std::min(*first_sector, kMaxValue / kSector) * kSector;
  fields.bytes = std::min(*sectors, kMaxValue / kSector) * kSector;
  return true;
}

/// Decodes the field RWBS: F before the letter is a flush, F after it means that the write is durable.
bool decode_operation(const Fields& fields, Event& event) {
  const std::size_t letter = fields.operation.find_first_of("RWD");
  event.offset = fields.offset;
  event.length = event.result = fields.bytes;
  if (letter == std::string_view::npos || fields.bytes == 0) {
    event.kind = Kind::kSync;
    event.offset = -1;
    event.length = event.result = 0;
    return fields.operation.find('F') != std::string_view::npos;
  }
  event.kind = fields.operation[letter] == 'R'   ? Kind::kRead
               : fields.operation[letter] == 'W' ? Kind::kWrite
                                                 : Kind::kMetadata;
  if (fields.operation.find('F', letter) != std::string_view::npos) event.flags |= flag::kDurable;
  return fields.offset >= 0;
}

bool is_summary(std::string_view line) {
  return line.starts_with("CPU") || line.starts_with("Total (") || line.starts_with("Throughput (") ||
         line.starts_with("Events (") || line.starts_with("Skips:");
}

class BlktraceReader final : public Import {
 public:
  explicit BlktraceReader(std::unique_ptr<Source> source)
      : Import(std::move(source), "blktrace", /*slack=*/0, kWindow),
        requests_([this](const Event& event) { put_numbered(event); }) {
    add_process(1);
  }

 private:
  bool advance() override {
    std::string_view line;
    if (!source().read_line(line)) return false;
    const std::string_view text = trimmed(line);
    is_in_summary_ = is_in_summary_ || is_summary(text);
    if (text.empty() || is_in_summary_) return true;
    Fields fields;
    if (parse(text, fields))
      take_line(fields);
    else
      add_unknown_line(line, source().lines());
    return true;
  }

  void take_line(const Fields& fields) {
    mark_understood();
    Event event;
    event.interface = Interface::kBlock;
    event.flags = 0;
    event.process = event.thread = 1;
    const auto action = to_action(fields.action);
    if (!action || fields.operation.empty()) return;
    if (!decode_operation(fields, event)) {
      ++commands_without_blocks_;
      return;
    }
    if (first_time_ < 0) first_time_ = fields.time;
    event.start = std::max<std::int64_t>(fields.time - first_time_, 0);
    event.file = find_file(fields.device);
    requests_.take(*action, event);
  }

  static std::optional<BlockRequests::Action> to_action(char letter) {
    switch (letter) {
      case 'Q': return BlockRequests::Action::kQueued;
      case 'D': return BlockRequests::Action::kIssued;
      case 'R': return BlockRequests::Action::kRequeued;
      case 'C': return BlockRequests::Action::kCompleted;
      default: return std::nullopt;
    }
  }

  void put_numbered(Event event) {
    event.operation = ++operations_;
    put(event);
  }

  std::uint32_t find_file(std::string_view device) {
    const auto entry = file_numbers_.find(device);
    if (entry != file_numbers_.end()) return entry->second;
    const auto number = static_cast<std::uint32_t>(file_numbers_.size() + 1);
    description_.files.push_back({1, number, std::string(device)});
    return file_numbers_.emplace(device, number).first->second;
  }

  std::int64_t horizon() const override { return requests_.horizon(); }

  void finish() override {
    requests_.finish();
    if (requests_.unfinished() > 0)
      note(count_text(requests_.unfinished(), "request has no line C; how long it took is not known",
                      "requests have no line C; how long they took is not known"));
    if (commands_without_blocks_ > 0)
      note(count_text(commands_without_blocks_, "line of a command that moves no blocks is left out",
                      "lines of commands that move no blocks are left out"));
  }

  BlockRequests requests_;
  std::map<std::string, std::uint32_t, std::less<>> file_numbers_;
  std::int64_t first_time_ = -1;
  std::int64_t commands_without_blocks_ = 0;
  std::uint64_t operations_ = 0;
  bool is_in_summary_ = false;
};

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions&) {
  return std::make_unique<BlktraceReader>(std::move(source));
}

}  // namespace

bool is_blkparse(std::string_view head) {
  int parsed_lines = 0;
  const int lines = for_each_first_line(head, [&](std::string_view line) {
    Fields fields;
    parsed_lines += parse(line, fields) ? 1 : 0;
  });
  return parsed_lines * 2 > lines;
}

Format blktrace_format() { return {.name = "blktrace", .suffix = "", .recognise = is_blkparse, .open = open}; }

}  // namespace plait::trace
