#include "trace/formats/import/strace/tasks.hpp"

#include <limits>
#include <utility>

#include "base/text.hpp"

namespace plait::trace::strace {

namespace {

constexpr std::size_t kMaxDescriptors = 1 << 16;
// Limits beyond those of real programs, for damaged traces. If a trace exceeds them, what is known is discarded.
constexpr std::size_t kMaxTasks = 1 << 18;
constexpr std::size_t kMaxSlots = std::size_t{1} << 24;
// Number of events of other processes that wait for the command of a new process.
constexpr std::int64_t kMaxYoung = 4096;
// First number of processes whose process id has been used before; above all process ids.
constexpr std::uint32_t kReusedNumbers = std::uint32_t{1} << 31;

}  // namespace

Task Tasks::make_child(const Task& parent, std::int64_t thread, std::string_view text) {
  Task child{static_cast<std::uint32_t>(thread), parent.process, parent.table};
  if (text.find("CLONE_THREAD") != std::string_view::npos) return child;
  child.process = std::make_shared<TracedProcess>();
  child.process->number = child.thread;
  child.process->parent = parent.process->number;
  child.process->command = parent.process->command;
  if (text.find("CLONE_FILES") == std::string_view::npos) {
    const bool many = parent.table->size() * tasks_.size() > kMaxSlots;
    child.table = many ? std::make_shared<Table>() : std::make_shared<Table>(*parent.table);
  }
  return child;
}

Task& Tasks::get(std::int64_t thread) {
  const auto entry = tasks_.find(thread);
  if (entry != tasks_.end()) return entry->second;
  if (tasks_.size() >= kMaxTasks) {
    tasks_.clear();
    forking_.clear();
  }
  Task task;
  if (!forking_.empty()) {
    const auto [parent, text] = *forking_.rbegin();
    task = make_child(tasks_[parent], thread, text);
  } else {
    task.thread = static_cast<std::uint32_t>(thread);
    task.process = std::make_shared<TracedProcess>();
    task.process->number = task.thread;
    task.table = std::make_shared<Table>();
  }
  // The system may assign a process id again after its process has ended.
  while (task.process->number == task.thread && !used_numbers_.insert(task.process->number).second)
    task.process->number = kReusedNumbers + static_cast<std::uint32_t>(used_numbers_.size());
  return tasks_[thread] = std::move(task);
}

void Tasks::begin_child(std::int64_t parent, std::string_view text) {
  get(parent);
  forking_[parent] = text.substr(0, 4096);
}

void Tasks::end_child(std::int64_t parent, std::int64_t child, std::string_view text) {
  forking_.erase(parent);
  if (child <= 0 || tasks_.contains(child)) return;  // the call failed, or the child's first call came earlier
  Task& from = get(parent);
  Task task = make_child(from, child, text);
  while (task.process->number == task.thread && !used_numbers_.insert(task.process->number).second)
    task.process->number = kReusedNumbers + static_cast<std::uint32_t>(used_numbers_.size());
  tasks_[child] = std::move(task);
}

void Tasks::exit(std::int64_t thread) {
  forking_.erase(thread);
  tasks_.erase(thread);
}

bool Tasks::is_last_of_process(const Task& task) const { return task.process.use_count() <= 1; }

Slot& Tasks::descriptor(Task& task, std::int64_t number, std::string_view shown) {
  Table& table = *task.table;
  const auto entry = table.find(number);
  if (entry != table.end() && (shown.empty() || entry->second.open->name == shown)) return entry->second;
  if (entry != table.end() && entry->second.open->name.find('/') != 0 && shown.find('/') == 0) {
    // The recorded name is that of the call, relative to an unknown folder; -y shows the absolute name.
    const std::string_view relative_name = entry->second.open->name;
    if (shown.ends_with(relative_name)) return entry->second;
  }
  if (table.size() >= kMaxDescriptors && entry == table.end()) table.clear();
  static constexpr std::string_view kStandard[] = {"stdin", "stdout", "stderr"};
  std::string name(shown);
  if (name.empty())
    name = number >= 0 && number < 3 ? std::string(kStandard[number])
                                     : base::text("descriptor ", number, ", opened before the trace");
  Slot& slot = table[number];
  slot = {make(std::move(name), -1), false};
  return slot;
}

std::shared_ptr<OpenResult> Tasks::make(std::string name, std::int64_t position) {
  auto open = std::make_shared<OpenResult>();
  open->number = ++open_count_;
  open->name = std::move(name);
  open->position = position;
  return open;
}

void Tasks::set(Task& task, std::int64_t number, std::shared_ptr<OpenResult> open, bool close_on_exec) {
  if (task.table->size() >= kMaxDescriptors) task.table->clear();
  (*task.table)[number] = {std::move(open), close_on_exec};
}

void Tasks::exec(Task& task) {
  if (task.table.use_count() > 1) task.table = std::make_shared<Table>(*task.table);
  std::erase_if(*task.table, [](const auto& entry) { return entry.second.close_on_exec; });
}

void Tasks::add_to_description(TracedProcess& process) {
  if (std::exchange(process.is_reported, true)) return;
  Process row;
  row.number = process.number;
  row.parent = process.parent;
  row.command = process.command;
  description_.processes.push_back(std::move(row));
  for (File& file : process.unreported_files) description_.files.push_back(std::move(file));
  process.unreported_files = {};
  if (std::exchange(process.is_young, false)) young_starts_.erase(young_starts_.find(process.first_start));
}

void Tasks::report(Task& task, const OpenResult* open, const Event& event) {
  ++events_;
  while (!young_.empty() && (young_.front().process->is_reported || events_ - young_.front().first_event > kMaxYoung)) {
    add_to_description(*young_.front().process);
    young_.pop_front();
  }
  TracedProcess& process = *task.process;
  // The command of a process is known after its exec; others transfer data with the command of their parent.
  const bool has_final_command =
      event.kind == Kind::kExec || event.kind == Kind::kExit || event.kind == Kind::kRead || event.kind == Kind::kWrite;
  if (process.is_reported || process.parent == 0 || has_final_command) {
    add_to_description(process);
  } else if (!std::exchange(process.is_young, true)) {
    process.first_start = event.start;
    young_starts_.insert(event.start);
    young_.push_back({task.process, events_});
  }
  if (open == nullptr || !process.files.insert(open->number).second) return;
  File file{process.number, open->number, open->name};
  if (process.is_reported)
    description_.files.push_back(std::move(file));
  else
    process.unreported_files.push_back(std::move(file));
}

std::int64_t Tasks::earliest_young() const {
  return young_starts_.empty() ? std::numeric_limits<std::int64_t>::max() : *young_starts_.begin();
}

void Tasks::report_young() {
  for (const YoungProcess& young : young_) add_to_description(*young.process);
  young_.clear();
}

}  // namespace plait::trace::strace
