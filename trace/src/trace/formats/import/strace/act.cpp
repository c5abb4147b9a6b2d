#include "trace/formats/import/strace/act.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "trace/formats/import/import.hpp"

namespace plait::trace::strace {

namespace {

// Bytes that one call can transfer at most. Linux stops at 2 GiB; a number above this limit is no result of a transfer.
constexpr std::int64_t kMaxTransfer = std::int64_t{1} << 40;
// The result of a call whose result strace did not see: -EINTR.
constexpr std::int64_t kInterrupted = -4;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool closes_on_exec(const Call& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [](std::string_view argument) { return contains(argument, "CLOEXEC"); });
}

/// Returns the value of `key` in a struct as strace prints it, such as {aio_nbytes=4096, ...}; empty if it is
/// missing.
std::string_view field_value(const std::vector<std::string_view>& fields, std::string_view key) {
  for (const std::string_view field : fields) {
    const std::size_t equals = field.find('=');
    if (equals != std::string_view::npos && field.substr(0, equals).ends_with(key)) return field.substr(equals + 1);
  }
  return {};
}

/// Returns the sum of the lengths in [{iov_base=..., iov_len=8}, ...].
std::int64_t vector_length(std::string_view argument) {
  std::int64_t sum = 0;
  for (const std::string_view element : elements(argument))
    if (const auto length = leading_number(field_value(elements(element), "iov_len")))
      sum = std::min(sum + std::max<std::int64_t>(*length, 0), kMaxTransfer);
  return sum;
}

}  // namespace

Event EventConverter::make_event(std::int64_t start, const Call& call, Kind kind) const {
  Event event;
  event.start = start;
  event.duration = call.duration;
  event.kind = kind;
  event.interface = Interface::kPosix;
  event.process = task_->process->number;
  event.thread = task_->thread;
  event.result = call.has_result ? std::min<std::int64_t>(call.result, 0) : kInterrupted;
  return event;
}

void EventConverter::emit(Event event, const OpenResult* open) {
  if (open != nullptr) event.file = open->number;
  const bool writes = event.kind == Kind::kWrite;
  if (open != nullptr && open->direct && (writes || event.kind == Kind::kRead)) event.flags |= flag::kDirect;
  if (open != nullptr && open->durable && writes) event.flags |= flag::kDurable;
  tasks_.report(*task_, open, event);
  put_(event);
}

Slot& EventConverter::descriptor(std::string_view argument) {
  return tasks_.descriptor(*task_, leading_number(argument).value_or(-1), find_annotation(argument));
}

bool EventConverter::transfer(Event event, const Call& call, Buffers buffers, Position position) {
  const bool is_vector = buffers == Buffers::kVector;
  const bool has_offset = position == Position::kArgument;
  const auto& arguments = call.arguments;
  if (arguments.size() < (has_offset ? 4u : 3u)) return false;
  const auto count = is_vector ? vector_length(arguments[1]) : leading_number(arguments[2]);
  if (!count || *count < 0 || call.result > kMaxTransfer) return false;
  Slot& slot = descriptor(arguments[0]);
  OpenResult& open = *slot.open;
  if (is_vector) event.interface = Interface::kVector;
  event.length = *count;
  event.result = call.has_result ? call.result : kInterrupted;
  event.operation = ++operations_;
  std::optional<std::int64_t> offset;
  if (has_offset) {
    offset = leading_number(arguments[3]);
    if (!offset) return false;
  }
  if (has_offset && *offset >= 0) {
    event.offset = *offset;
  } else {
    event.flags |= flag::kAtPosition;
    if (open.append && event.kind == Kind::kWrite) {
      event.flags |= flag::kAppend;
      open.position = -1;  // the end of the file, which is unknown
    }
    event.offset = open.position;
    if (open.position >= 0) open.position += event.moved();
  }
  emit(event, &open);
  return true;
}

bool EventConverter::open(Event event, std::string_view name, const Call& call) {
  const Effect effect = find_effect(name);
  const std::size_t path = effect == Effect::kOpenAt ? 1 : 0;
  if (call.arguments.size() < path + 1) return false;
  const std::string_view flags = call.arguments.size() > path + 1 ? call.arguments[path + 1] : std::string_view{};
  if (effect == Effect::kCreate || contains(flags, "O_CREAT")) event.flags |= flag::kCreate;
  if (contains(flags, "O_RDONLY")) event.flags |= flag::kReadOnly;
  if (contains(flags, "O_APPEND")) event.flags |= flag::kAppend;
  if (contains(flags, "O_DIRECT") && !contains(flags, "O_DIRECTORY")) event.flags |= flag::kDirect;
  if (contains(flags, "O_DSYNC") || contains(flags, "O_SYNC")) event.flags |= flag::kDurable;
  if (!call.has_result || call.result < 0) {
    emit(event, nullptr);
    return true;
  }
  std::string file(call.annotation);
  if (file.empty()) {
    file = unquoted(call.arguments[path]);
    const std::string_view folder = path == 1 ? find_annotation(call.arguments[0]) : std::string_view{};
    if (!folder.empty() && !file.starts_with('/')) file = base::text(folder, "/", file);
  }
  const auto opened = tasks_.make(std::move(file), 0);
  opened->append = contains(flags, "O_APPEND");
  opened->direct = (event.flags & flag::kDirect) != 0;
  opened->durable = (event.flags & flag::kDurable) != 0;
  tasks_.set(*task_, call.result, opened, contains(flags, "O_CLOEXEC"));
  emit(event, opened.get());
  return true;
}

bool EventConverter::copy(Event event, const Call& call, bool is_sendfile) {
  const auto& arguments = call.arguments;
  if (arguments.size() < (is_sendfile ? 4u : 5u) || call.result > kMaxTransfer) return false;
  const auto count = leading_number(arguments[is_sendfile ? 3 : 4]);
  if (!count || *count < 0) return false;
  event.interface = Interface::kCopy;
  event.length = *count;
  event.result = call.has_result ? call.result : kInterrupted;
  event.operation = ++operations_;
  // An offset is printed as NULL or [0] => [4096]; with NULL the call uses the position of the open file.
  const auto emit_side = [&](std::string_view descriptor_text, std::string_view offset_text, Kind kind) {
    OpenResult& open = *descriptor(descriptor_text).open;
    Event side_event = event;
    side_event.kind = kind;
    if (offset_text.starts_with('[')) {
      side_event.offset = leading_number(offset_text.substr(1)).value_or(kUnknown);
    } else {
      side_event.flags |= flag::kAtPosition;
      side_event.offset = open.append && kind == Kind::kWrite ? kUnknown : open.position;
      if (open.position >= 0) open.position += side_event.moved();
    }
    emit(side_event, &open);
  };
  if (is_sendfile) {
    emit_side(arguments[1], arguments[2], Kind::kRead);
    emit_side(arguments[0], {}, Kind::kWrite);
  } else {
    emit_side(arguments[0], arguments[1], Kind::kRead);
    emit_side(arguments[2], arguments[3], Kind::kWrite);
  }
  return true;
}

bool EventConverter::submit(Event event, const Call& call) {
  if (call.arguments.size() < 3) return false;
  std::int64_t remaining = call.has_result ? call.result : 0;
  for (const std::string_view block : elements(call.arguments[2])) {
    if (remaining-- <= 0) break;
    const std::vector<std::string_view> fields = elements(block);
    if (fields.empty()) continue;
    // Older versions of strace print {pread, fildes=3, ...}.
    std::string_view code = field_value(fields, "lio_opcode");
    if (code.empty()) code = fields.front();
    const bool reads = contains(code, "READ") || contains(code, "read");
    if (!reads && !contains(code, "WRITE") && !contains(code, "write")) continue;
    const auto length = leading_number(field_value(fields, "nbytes"));
    const auto offset = leading_number(field_value(fields, "offset"));
    const std::string_view file = field_value(fields, "fildes");
    if (file.empty()) continue;
    Event request = event;
    request.kind = reads ? Kind::kRead : Kind::kWrite;
    request.interface = Interface::kAio;
    request.flags |= flag::kAsynchronous;
    request.duration = kUnknown;
    request.offset = offset && *offset >= 0 ? *offset : kUnknown;
    const std::string_view buffers = field_value(fields, "buf");
    const std::int64_t bytes = buffers.starts_with('[') ? vector_length(buffers) : length.value_or(0);
    request.length = request.result = std::clamp<std::int64_t>(bytes, 0, kMaxTransfer);
    request.operation = ++operations_;
    ++submitted_;
    emit(request, descriptor(file).open.get());
  }
  return true;
}

bool EventConverter::map(Event event, const Call& call) {
  const auto& arguments = call.arguments;
  if (arguments.size() < 6) return false;
  const auto length = leading_number(arguments[1]);
  const auto offset = leading_number(arguments[5]);
  const auto number = leading_number(arguments[4]);
  if (!length || !offset || !number) return false;
  if (*number < 0 || contains(arguments[3], "MAP_ANON")) return true;
  event.interface = Interface::kMmap;
  event.length = std::max<std::int64_t>(*length, 0);
  event.offset = *offset;
  if (!contains(arguments[2], "PROT_WRITE") || contains(arguments[3], "MAP_PRIVATE")) event.flags |= flag::kReadOnly;
  emit(event, descriptor(arguments[4]).open.get());
  return true;
}

bool EventConverter::pipe(const Call& call, std::string_view name) {
  if (!call.has_result || call.result < 0) return true;
  // The descriptors are the first argument of pipe and the fourth of socketpair.
  const std::string_view ends = call.arguments.empty()
                                    ? std::string_view{}
                                    : call.arguments[name == "socketpair" ? 3 % call.arguments.size() : 0];
  for (const std::string_view end : elements(ends)) {
    const auto number = leading_number(end);
    if (!number || *number < 0) return false;
    const std::string_view shown = find_annotation(end);
    tasks_.set(*task_, *number,
               tasks_.make(std::string(shown.empty() ? (name == "socketpair" ? "socket" : "pipe") : shown), kUnknown),
               closes_on_exec(call));
  }
  return true;
}

bool EventConverter::duplicate(Event event, const Call& call, bool close_on_exec) {
  if (call.arguments.empty()) return false;
  const std::shared_ptr<OpenResult> open = descriptor(call.arguments[0]).open;
  if (call.has_result && call.result >= 0) tasks_.set(*task_, call.result, open, close_on_exec);
  emit(event, open.get());
  return true;
}

bool EventConverter::close_range(const Call& call) {
  const auto& arguments = call.arguments;
  if (arguments.size() < 2) return false;
  if (!call.has_result || call.result != 0) return true;
  const auto first = leading_number(arguments[0]).value_or(0);
  const auto last = leading_number(arguments[1]).value_or(0);
  const auto is_in_range = [&](std::int64_t number) { return number >= first && number <= last; };
  if (arguments.size() > 2 && contains(arguments[2], "CLOEXEC")) {
    for (auto& [number, slot] : *task_->table)
      if (is_in_range(number)) slot.close_on_exec = true;
  } else {
    std::erase_if(*task_->table, [&](const auto& entry) { return is_in_range(entry.first); });
  }
  return true;
}

bool EventConverter::exec(Event event, const Call& call) {
  if (!call.has_result || call.result < 0) return true;
  for (const std::string_view argument : call.arguments) {
    if (!argument.starts_with('[')) continue;
    std::string command;
    for (const std::string_view word : elements(argument)) {
      if (command.size() > 4096) break;
      command += base::text(command.empty() ? "" : " ", unquoted(word));
    }
    task_->process->command = std::move(command);
    break;
  }
  tasks_.exec(*task_);
  emit(event, nullptr);
  return true;
}

void EventConverter::end_thread(std::int64_t thread, std::int64_t start) {
  task_ = &tasks_.get(thread);
  Call exit;
  exit.has_result = true;
  if (tasks_.is_last_of_process(*task_)) emit(make_event(start, exit, Kind::kExit), nullptr);
  tasks_.exit(thread);
}

bool EventConverter::call(std::int64_t thread, std::int64_t start, std::string_view name, std::string_view text,
                          const Call& call) {
  task_ = &tasks_.get(thread);
  const auto& arguments = call.arguments;
  const Effect effect = find_effect(name);
  const auto event = [&](Kind kind) { return make_event(start, call, kind); };
  const auto emit_for_open_file = [&](Kind kind) {
    if (arguments.empty()) return false;
    emit(event(kind), descriptor(arguments[0]).open.get());
    return true;
  };
  switch (effect) {
    case Effect::kNothing: return true;
    case Effect::kRead: return transfer(event(Kind::kRead), call, Buffers::kOne, Position::kOpenFile);
    case Effect::kWrite: return transfer(event(Kind::kWrite), call, Buffers::kOne, Position::kOpenFile);
    case Effect::kReadAt: return transfer(event(Kind::kRead), call, Buffers::kOne, Position::kArgument);
    case Effect::kWriteAt: return transfer(event(Kind::kWrite), call, Buffers::kOne, Position::kArgument);
    case Effect::kReadVector: return transfer(event(Kind::kRead), call, Buffers::kVector, Position::kOpenFile);
    case Effect::kWriteVector: return transfer(event(Kind::kWrite), call, Buffers::kVector, Position::kOpenFile);
    case Effect::kReadVectorAt: return transfer(event(Kind::kRead), call, Buffers::kVector, Position::kArgument);
    case Effect::kWriteVectorAt: return transfer(event(Kind::kWrite), call, Buffers::kVector, Position::kArgument);
    case Effect::kOpen:
    case Effect::kOpenAt:
    case Effect::kCreate: return open(event(Kind::kOpen), name, call);
    case Effect::kClose:
      if (!emit_for_open_file(Kind::kClose)) return false;
      if (call.has_result && call.result == 0) task_->table->erase(leading_number(arguments[0]).value_or(-1));
      return true;
    case Effect::kCloseRange: return close_range(call);
    case Effect::kDuplicate: return duplicate(event(Kind::kDuplicate), call, closes_on_exec(call));
    case Effect::kControl:
      if (arguments.size() < 2) return false;
      if (!arguments[1].starts_with("F_DUPFD")) return true;
      return duplicate(event(Kind::kDuplicate), call, arguments[1] == "F_DUPFD_CLOEXEC");
    case Effect::kSeek: {
      if (arguments.size() < 3) return false;
      Event seek = event(Kind::kSeek);
      OpenResult& open = *descriptor(arguments[0]).open;
      if (call.has_result && call.result >= 0) seek.offset = open.position = call.result;
      emit(seek, &open);
      return true;
    }
    case Effect::kSeekLong: {
      if (arguments.size() < 3) return false;
      Event seek = event(Kind::kSeek);
      OpenResult& open = *descriptor(arguments[0]).open;
      if (call.has_result && call.result >= 0 && arguments[2].starts_with('['))
        if (const auto offset = leading_number(arguments[2].substr(1)); offset && *offset >= 0)
          seek.offset = open.position = *offset;
      emit(seek, &open);
      return true;
    }
    case Effect::kTruncate:
    case Effect::kTruncateOpen: {
      if (arguments.size() < 2) return false;
      Event truncate_event = event(Kind::kTruncate);
      truncate_event.offset = leading_number(arguments[1]).value_or(kUnknown);
      emit(truncate_event, effect == Effect::kTruncate ? nullptr : descriptor(arguments[0]).open.get());
      return true;
    }
    case Effect::kSync: return emit_for_open_file(Kind::kSync);
    case Effect::kMap: return map(event(Kind::kMap), call);
    case Effect::kMetadata: emit(event(Kind::kMetadata), nullptr); return true;
    case Effect::kMetadataOpen: return emit_for_open_file(Kind::kMetadata);
    case Effect::kPipe: return pipe(call, name);
    case Effect::kMake: {
      if (!call.has_result || call.result < 0) return true;
      std::string file_name(call.annotation);
      if (file_name.empty()) file_name = name;
      tasks_.set(*task_, call.result, tasks_.make(std::move(file_name), name == "memfd_create" ? 0 : kUnknown),
                 closes_on_exec(call));
      return true;
    }
    case Effect::kSend: return copy(event(Kind::kRead), call, /*is_sendfile=*/true);
    case Effect::kCopy: return copy(event(Kind::kRead), call, /*is_sendfile=*/false);
    case Effect::kSubmit: return submit(event(Kind::kRead), call);
    case Effect::kRing:
      ++ring_calls_;
      ring_requests_ += call.has_result ? std::clamp<std::int64_t>(call.result, 0, 1 << 20) : 0;
      return true;
    case Effect::kFork: {
      if (call.has_result && call.result > 0) {
        Event fork_event = event(Kind::kFork);
        fork_event.operation = static_cast<std::uint64_t>(call.result);
        if (!contains(text, "CLONE_THREAD")) emit(fork_event, nullptr);
      }
      tasks_.end_child(thread, call.has_result ? call.result : -1, text);
      return true;
    }
    case Effect::kExec: return exec(event(Kind::kExec), call);
    case Effect::kLeftRead:
    case Effect::kLeftWrite:
    case Effect::kLeftOther: {
      ++left_out_.events;
      std::int64_t& bytes = effect == Effect::kLeftRead ? left_out_.read_bytes : left_out_.written_bytes;
      if (effect != Effect::kLeftOther && call.has_result)
        bytes = std::min(kMaxValue, bytes + std::clamp<std::int64_t>(call.result, 0, kMaxTransfer));
      return true;
    }
  }
  return true;
}

}  // namespace plait::trace::strace
