#include "plait/file.hpp"

#include <utility>

#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/file/impl.hpp"
#include "core/file/recorded.hpp"
#include "core/stream/stream_impl.hpp"
#include "transport/thread/team.hpp"

namespace plait {

struct Comm::State {
  explicit State(std::shared_ptr<transport::Transport> of)
      : transport(std::move(of)), worker(std::make_shared<core::Worker>(transport->background())) {}
  std::shared_ptr<transport::Transport> transport;
  std::shared_ptr<core::Worker> worker;
};

Comm::Comm(std::shared_ptr<transport::Transport> transport) : state_(base::make_owned<State>(std::move(transport))) {}
int Comm::rank() const { return state_ ? state_->transport->rank() : 0; }
int Comm::size() const { return state_ ? state_->transport->size() : 1; }
transport::Transport* Comm::transport() const { return state_ ? state_->transport.get() : nullptr; }
std::shared_ptr<core::Worker> Comm::worker() const { return state_ ? state_->worker : nullptr; }

void File::Impl::add_stream(const std::shared_ptr<Stream::Impl>& stream) {
  std::erase_if(streams_, [](const auto& old) { return old.expired(); });
  streams_.push_back(stream);
}

void File::Impl::settle_streams() {
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) stream->settle();
}

void File::Impl::release_streams() {
  if (open) return;
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) stream->release();
}

void File::Impl::detach_streams() {
  for (const auto& known : streams_)
    if (const auto stream = known.lock()) stream->detach();
}

void File::Impl::watch_new() noexcept {
  if (mode != Mode::kWrite || comm.rank() != 0) return;
  unclosed.begin(path, [this] {
    if (source) worker->run_if_idle([this] { source->discard(); });
  });
}

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
File::~File() {
  if (!impl_) return;
  if (impl_->owner.here()) {
    // What was started on the File's own arrays ends before they go.
    collective::caught([this] { impl_->settle_streams(); });
    collective::caught([this] { impl_->worker->settle(); });
    impl_->detach_streams();
  }
  base::let_go(impl_, impl_->owner);
}

void File::refuse_open(const std::string& message, const Comm& comm, int system_code) {
  if (!comm.alone()) comm.worker()->run([&] { core::refuse(comm, message, system_code); });
  core::refuse(comm, message, system_code);
}

void File::select(const ArrayType& type, std::int64_t offset, std::int64_t memory) {
  core::guarded(impl_->comm, [&] { impl_->turn().run([&] { impl_->select(type, offset, memory); }); });
}

void File::refuse(const std::string& message, int system_code) {
  impl_->turn().run([&] { impl_->refuse(message, system_code); });
  __builtin_unreachable();
}

const std::string& File::path() const { return impl_->path; }
Mode File::mode() const { return impl_->mode; }
const ArrayType& File::type() const { return impl_->type; }
bool File::is_open() const { return impl_->open && impl_->owner.here(); }
AccessTimes File::last_times() const {
  AccessTimes times;
  impl_->turn().run([&] { times = impl_->times; });
  return times;
}

void File::read(const Layout& layout, std::span<const MutablePart> parts, const Region& region, bool fill_halo) {
  const Action action = fill_halo ? Action::kFill : Action::kRead;
  const base::RecordedCall asked;
  core::guarded(impl_->comm, [&] {
    const std::vector<MutablePart> arrays(parts.begin(), parts.end());
    impl_->turn().run([&] { impl_->access(layout, arrays, region, action, asked); });
  });
}

void File::write(const Layout& layout, std::span<const ConstPart> parts, const Region& region) {
  const base::RecordedCall asked;
  core::guarded(impl_->comm, [&] {
    const std::vector<MutablePart> arrays = core::as_mutable(parts);
    impl_->turn().run([&] { impl_->access(layout, arrays, region, Action::kWrite, asked); });
  });
}

Request File::start_read(const Layout& layout, std::vector<MutablePart> parts, const Region& region, bool fill_halo) {
  const Action action = fill_halo ? Action::kFill : Action::kRead;
  const base::RecordedCall asked;
  return core::guarded(impl_->comm, [&] {
    return Request(impl_->turn().start([file = impl_.get(), layout, parts = std::move(parts), region, action, asked] {
      file->access(layout, parts, region, action, asked, PLAIT_EVENT_ASYNCHRONOUS);
    }));
  });
}

Request File::start_write(const Layout& layout, std::vector<ConstPart> parts, const Region& region) {
  const base::RecordedCall asked;
  return core::guarded(impl_->comm, [&] {
    impl_->room_for_write();
    auto write = impl_->turn().start([file = impl_.get(), layout, parts = core::as_mutable(parts), region, asked] {
      file->access(layout, parts, region, Action::kWrite, asked, PLAIT_EVENT_ASYNCHRONOUS);
    });
    impl_->keep_write(write);
    return Request(std::move(write));
  });
}

std::string File::explain(const Layout& layout, const Region& region, bool write, bool fill_halo) const {
  const Action action = write ? Action::kWrite : fill_halo ? Action::kFill : Action::kRead;
  std::string text;
  impl_->turn().run([&] {
    impl_->check_open();
    const Comm& comm = impl_->comm;
    const bool nodes_apart = !comm.alone() && comm.transport()->nodes_apart();
    const int workers = comm.alone() ? impl_->useful_threads(layout) : comm.size();
    text = impl_->plan(layout, region, workers, nodes_apart, action).explain(impl_->path);
    if (const std::string store = impl_->store->description(); !store.empty()) text += "store      " + store + '\n';
  });
  return text;
}

void File::close() {
  impl_->owner.check(impl_->path);
  impl_->settle_streams();
  const base::RecordedCall asked;
  impl_->worker->settle();
  const std::exception_ptr failure = collective::caught([&] {
    if (!impl_->open) return impl_->close();  // again: no event, and nobody to wait for
    impl_->worker->run([&] {
      core::keep(
          asked, PLAIT_EVENT_CLOSE, impl_->recorded, impl_->together_flags(), [] { return core::Extent{-1, 0}; },
          [&] {
            impl_->close();
            return 0;
          });
    });
  });
  impl_->release_streams();
  if (failure) std::rethrow_exception(failure);
}

void File::abandon() {
  if (!impl_->owner.here()) return;
  impl_->settle_streams();
  impl_->worker->settle();
  impl_->abandon();
  impl_->release_streams();
}

}  // namespace plait
