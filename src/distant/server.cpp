// Serves the accesses of other ranks with a bounded amount of memory.
//
// Problem: any number of ranks may send any number of requests at once. Their data must not fill the memory of this
// rank, one rank must not delay the others, and a thread that waits for a disk must not block messages.
//
// Idea: a request waits as a small head in the queue of its caller until one of 16 buffers of 256 KiB is free. Its
// payload is received only then. take_next_job() takes one request from each caller in turn. Short work is done at
// once; work that waits for a disk runs on the threads of `disks_`, which also send the answers.
//
// Example: rank 1 has 40 reads of 256 KiB in its queue, rank 2 has one, and all buffers are free. The buffers get
// requests of the ranks 1, 2, 1, 1, ...: 15 of rank 1 and that of rank 2. When an answer has been sent, release()
// returns its buffer and serves the next request of rank 1. The server never uses more than 16 x 256 KiB = 4 MiB.

#include "distant/server.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/wait/retry_allocation.hpp"
#include "collective/agree.hpp"
#include "plait/error.hpp"

namespace plait::distant {

namespace {

/// Maximum bytes of writes that go to the page cache at once if no thread is waiting for a disk: passing them to a
/// thread would cost more.
constexpr std::int64_t kMaxAtOnce = std::int64_t{64} << 10;

/// Repeats `body` until there is memory for it, because a caller waits for the answer.  If `body` throws, it must have
/// changed nothing.
template <typename Body>
void retry_until_done(Body&& body) {
  base::retry_allocation("answer a rank that waits", body);
}

transport::CallFailure describe_exception(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return {known.kind(), known.system_code(), known.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kSystem, ENOMEM, "out of memory"};
  } catch (const std::exception& other) {
    return {ErrorKind::kSystem, 0, other.what()};
  }
}

}  // namespace

transport::CallFailure to_call_failure(const std::exception_ptr& error) {
  return base::retry_allocation("say why an access failed", [&] { return describe_exception(error); });
}

Server::Server(int rank, int ranks) : rank_(rank), queues_(static_cast<std::size_t>(ranks)) {
  buffers_.reserve(kBuffers);
  free_buffers_.reserve(kBuffers);
}

void Server::add(std::int64_t number, std::shared_ptr<const LocalFile> file) {
  const std::scoped_lock lock(mutex_);
  files_[number] = std::move(file);
}

void Server::remove(std::int64_t number) {
  const std::scoped_lock lock(mutex_);
  files_.erase(number);
}

std::shared_ptr<const LocalFile> Server::find_file(std::int64_t number) const {
  const std::scoped_lock lock(mutex_);
  const auto found = files_.find(number);
  return found == files_.end() ? nullptr : found->second;
}

Entry Server::register_name(const std::string& name, const Entry& entry) {
  const std::scoped_lock lock(mutex_);
  return names_.try_emplace(name, entry).first->second;
}

Entry Server::find_name(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = names_.find(name);
  return found == names_.end() ? Entry{} : found->second;
}

void Server::forget_name(const std::string& name, const Entry& entry) {
  const std::scoped_lock lock(mutex_);
  const auto found = names_.find(name);
  if (found != names_.end() && found->second == entry) names_.erase(found);
}

void Server::on_call(transport::ActiveMessages& active, const transport::Arrival& arrival) {
  retry_until_done([&] {
    const std::scoped_lock lock(mutex_);
    queues_[static_cast<std::size_t>(arrival.from)].push_back({&active, arrival, unpacked(arrival.head), nullptr});
    ++waiting_;
  });
  serve_waiting();
}

void Server::on_worker_ended(int worker) {
  const std::scoped_lock lock(mutex_);
  auto& queue = queues_[static_cast<std::size_t>(worker)];
  waiting_ -= queue.size();
  queue.clear();
  std::erase_if(names_, [worker](const auto& known) { return known.second.rank == worker; });
}

void Server::serve_waiting() {
  {
    const std::scoped_lock lock(mutex_);
    // Only one thread at a time runs the loop: otherwise release(), called by an answer that is sent at once, would
    // serve the next job recursively.
    if (std::exchange(is_serving_, true)) return;
  }
  while (const std::optional<Job> job = take_next_job()) serve(*job);
}

/// Takes the next job of the next caller, and a buffer for it.  If there is no job or no buffer, it resets
/// `is_serving_` under the same lock, so that the thread that adds a job or releases a buffer later continues the loop.
std::optional<Server::Job> Server::take_next_job() {
  const std::scoped_lock lock(mutex_);
  std::byte* const buffer = waiting_ > 0 ? take_buffer() : nullptr;
  if (buffer == nullptr) {
    is_serving_ = false;
    return std::nullopt;
  }
  while (queues_[next_queue_].empty()) next_queue_ = (next_queue_ + 1) % queues_.size();
  Job job = queues_[next_queue_].front();
  queues_[next_queue_].pop_front();
  next_queue_ = (next_queue_ + 1) % queues_.size();
  --waiting_;
  job.buffer = buffer;
  return job;
}

/// Returns a free buffer, or nullptr if all are in use.
std::byte* Server::take_buffer() {
  if (free_buffers_.empty() && buffers_.size() < static_cast<std::size_t>(kBuffers)) {
    std::byte* buffer = nullptr;
    const auto make = [&] { buffer = new std::byte[static_cast<std::size_t>(kPieceBytes)]; };
    if (buffers_.empty()) {  // without any buffer, no request would ever be served
      retry_until_done(make);
    } else {  // if memory is short, requests wait until a buffer is released
      static_cast<void>(collective::caught(make));
    }
    if (buffer != nullptr) {
      buffers_.emplace_back(buffer);
      free_buffers_.push_back(buffer);
    }
  }
  if (free_buffers_.empty()) return nullptr;
  std::byte* const buffer = free_buffers_.back();
  free_buffers_.pop_back();
  return buffer;
}

void Server::release(std::byte* buffer) {
  {
    const std::scoped_lock lock(mutex_);
    free_buffers_.push_back(buffer);
    if (waiting_ == 0) return;
  }
  serve_waiting();
}

void Server::serve(const Job& job) {
  if (job.arrival.payload_bytes == 0) return serve_with_payload(job);
  const std::span<std::byte> into(job.buffer, static_cast<std::size_t>(job.arrival.payload_bytes));
  retry_until_done([&] {
    job.active->receive_payload(job.arrival, into, [this, job](bool complete) {
      if (complete) {
        serve_with_payload(job);
      } else {
        release(job.buffer);
      }
    });
  });
}

void Server::serve_with_payload(const Job& job) {
  if (job.head.kind >= RequestKind::kRegister) {
    serve_name(job);
  } else {
    serve_file(job);
  }
}

std::shared_ptr<const LocalFile> Server::require_file(const Job& job) const {
  if (auto found = find_file(job.head.file)) return found;
  throw_no_file(rank_);
}

void Server::serve_file(const Job& job) {
  try {
    begin_access(job);
  } catch (...) {  // no access has begun
    reject(job, std::current_exception());
  }
}

void Server::begin_access(const Job& job) {
  const std::shared_ptr<const LocalFile> file = require_file(job);
  const Head& head = job.head;
  const std::span<std::byte> bytes(job.buffer, static_cast<std::size_t>(head.bytes));
  switch (head.kind) {
    case RequestKind::kRead:
    case RequestKind::kReadPart:
      if (file->read_cached(head.offset, bytes)) return answer(job, bytes.size());
      return disks_->run([this, job, file, bytes] {
        carry_out(job, [&] {
          if (job.head.kind == RequestKind::kRead) {
            file->read(job.head.offset, bytes);
          } else {
            file->read_part(job.head.offset, bytes);
          }
          return bytes.size();
        });
      });
    case RequestKind::kWrite: {
      auto work = [this, job, file, bytes] {
        carry_out(job, [&] {
          file->write(job.head.offset, bytes);
          return std::size_t{0};
        });
      };
      if (head.bytes <= kMaxAtOnce && !disks_->busy()) return work();
      return disks_->run(std::move(work));
    }
    case RequestKind::kSize:
      return carry_out(job, [&] {
        const std::int64_t size = file->size();
        std::memcpy(job.buffer, &size, sizeof size);
        return sizeof size;
      });
    case RequestKind::kLocate:
      return carry_out(job, [&] {
        const FileLocation location = file->location();
        std::memcpy(job.buffer, &location, sizeof location);
        return sizeof location;
      });
    case RequestKind::kSync:
    case RequestKind::kResize:
    default:
      return disks_->run([this, job, file] {
        carry_out(job, [&] {
          if (job.head.kind == RequestKind::kSync) {
            file->sync();
          } else {
            file->resize(job.head.bytes);
          }
          return std::size_t{0};
        });
      });
  }
}

void Server::serve_name(const Job& job) {
  carry_out(job, [&] {
    const std::string name(reinterpret_cast<const char*>(job.buffer),
                           static_cast<std::size_t>(job.arrival.payload_bytes));
    Entry entry{job.head.offset, job.head.file};
    if (job.head.kind == RequestKind::kForget) {
      forget_name(name, entry);
      return std::size_t{0};
    }
    entry = job.head.kind == RequestKind::kRegister ? register_name(name, entry) : find_name(name);
    std::memcpy(job.buffer, &entry, sizeof entry);
    return sizeof entry;
  });
}

void Server::carry_out(const Job& job, base::FunctionRef<std::size_t()> work) {
  std::size_t bytes = 0;
  try {
    bytes = work();
  } catch (...) {
    return reject(job, std::current_exception());
  }
  answer(job, bytes);
}

void Server::answer(const Job& job, std::size_t bytes) {
  retry_until_done(
      [&] { job.active->answer(job.arrival, {job.buffer, bytes}, [this, buffer = job.buffer] { release(buffer); }); });
}

void Server::reject(const Job& job, const std::exception_ptr& error) {
  retry_until_done([&] { job.active->reject(job.arrival, to_call_failure(error)); });
  release(job.buffer);
}

}  // namespace plait::distant
