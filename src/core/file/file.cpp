#include "plait/file.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/wait/interruption.hpp"
#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/file/file_impl.hpp"
#include "core/file/recorded.hpp"

namespace plait {

using core::Action;

namespace {

/// Throws for an interrupted wait for accesses, after the operations that must follow it.
[[noreturn]] void throw_interrupted(const std::string& path) {
  base::throw_system_error(EINTR, "interrupted while it waited for accesses to ", path);
}

}  // namespace

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
File::~File() {
  if (!impl_) return;
  if (impl_->context().owner().here()) {
    // Accesses that were started on the File's own arrays end before these are destroyed.
    const base::UninterruptedScope uninterrupted;
    collective::caught([this] { impl_->streams().wait_for_requests(); });
    collective::caught([this] { impl_->context().worker().wait_for_tasks(); });
    impl_->streams().detach();
  }
  base::destroy_or_leak(impl_, impl_->context().owner());
}

void File::fail_open(const std::string& message, const Comm& comm, int system_code) {
  core::fail_in_turn(comm, message, system_code);
}

void File::select(const ArrayType& type, std::int64_t offset, std::int64_t memory) {
  impl_->context().call([&] { impl_->select(type, offset, memory); });
}

bool File::begin_step(const Attributes& attributes) {
  bool more = false;
  impl_->context().call([&] { more = impl_->steps().begin(attributes); });
  return more;
}

void File::end_step() {
  impl_->context().call([&] { impl_->steps().end(); });
}

const Step& File::step() const { return impl_->steps().current(); }

void File::select_variable(const std::string& name, const std::optional<ArrayType>& type) {
  impl_->context().call([&] { impl_->select_variable(name, type); });
}

const std::string& File::variable() const { return impl_->selection().variable(); }

void File::fail(const std::string& message, int system_code) {
  impl_->context().checked_worker().run([&] { impl_->fail_call(message, system_code); });
  __builtin_unreachable();
}

const std::string& File::path() const { return impl_->context().path(); }
Mode File::mode() const { return impl_->context().mode(); }
const ArrayType& File::type() const { return impl_->selection().array().type; }
const Extents& File::chunk() const { return impl_->selection().array().chunk; }
const ArrayAttributes& File::attributes() const { return impl_->attributes().current(); }
bool File::is_open() const { return impl_->storage().is_open() && impl_->context().owner().here(); }
AccessTimes File::last_times() const {
  AccessTimes times;
  impl_->context().checked_worker().run([&] { times = impl_->times(); });
  return times;
}

void File::read(const Layout& layout, std::span<const MutablePart> parts, const Region& region, bool fill_halo) {
  const Action action = fill_halo ? Action::kFill : Action::kRead;
  const base::RecordedCall call;
  impl_->context().call([&] {
    const std::vector<MutablePart> arrays(parts.begin(), parts.end());
    impl_->access({layout, region, action, arrays}, call);
  });
}

void File::write(const Layout& layout, std::span<const ConstPart> parts, const Region& region) {
  const base::RecordedCall call;
  impl_->context().call([&] {
    const std::vector<MutablePart> arrays = core::as_mutable(parts);
    impl_->access({layout, region, Action::kWrite, arrays}, call);
  });
}

void File::append(const Layout& layout, std::span<const ConstPart> parts, std::int64_t axis) {
  const base::RecordedCall call;
  impl_->context().call([&] { impl_->append(layout, core::as_mutable(parts), axis, call); });
}

void File::resize(const Extents& shape) {
  impl_->context().call([&] { impl_->resize(shape); });
}

Request File::start_read(const Layout& layout, std::vector<MutablePart> parts, const Region& region, bool fill_halo) {
  const Action action = fill_halo ? Action::kFill : Action::kRead;
  const base::RecordedCall call;
  return core::guarded(impl_->context().comm(), [&] {
    return Request(impl_->context().checked_worker().start(
        [file = impl_.get(), layout, parts = std::move(parts), region, action, call] {
          file->access({layout, region, action, parts}, call, PLAIT_EVENT_ASYNCHRONOUS);
        }));
  });
}

Request File::start_write(const Layout& layout, std::vector<ConstPart> parts, const Region& region) {
  const base::RecordedCall call;
  return core::guarded(impl_->context().comm(), [&] {
    impl_->writes().reserve();
    auto write = impl_->context().checked_worker().start(
        [file = impl_.get(), layout, parts = core::as_mutable(parts), region, call] {
          file->access({layout, region, Action::kWrite, parts}, call, PLAIT_EVENT_ASYNCHRONOUS);
        });
    impl_->writes().add(write);
    return Request(std::move(write));
  });
}

std::string File::explain(const Layout& layout, const Region& region, bool write, bool fill_halo) const {
  const Action action = write ? Action::kWrite : fill_halo ? Action::kFill : Action::kRead;
  std::string text;
  impl_->context().checked_worker().run([&] { text = impl_->explain({layout, region, action, {}}); });
  return text;
}

void File::cache_chunks(std::int64_t bytes) {
  if (bytes < 0) base::throw_argument_error(path(), ": a cache of ", bytes, " bytes is impossible; give 0 or more");
  impl_->context().checked_worker().run([&] {
    impl_->storage().check_open_here();
    if (const auto& store = impl_->storage().store()) store->resize_cache(bytes);
  });
}

void File::set_attribute(const ArrayAttribute& attribute) {
  impl_->context().call([&] { impl_->attributes().edit(attribute.name, attribute); });
}

void File::remove_attribute(const std::string& name) {
  impl_->context().call([&] { impl_->attributes().edit(name, std::nullopt); });
}

void File::close() {
  impl_->context().owner().check(impl_->context().path());
  // An interruption is thrown at the end: other ranks wait in the collective part, and must get an error from it.
  const std::exception_ptr streams = collective::caught([this] { impl_->streams().wait_for_requests(); });
  const base::RecordedCall call;
  const bool interrupted = impl_->context().worker().wait_for_tasks();
  const std::exception_ptr failure = collective::caught([&] {
    if (!impl_->storage().is_open()) return impl_->close();  // closed before: no event, and no other rank waits
    impl_->context().worker().run([&] {
      core::record_call(
          call, {PLAIT_EVENT_CLOSE, impl_->context().trace_number(), impl_->context().collective_flag()},
          [] { return core::Extent{-1, 0}; },
          [&] {
            impl_->close();
            return 0;
          });
    });
  });
  if (!impl_->storage().is_open()) impl_->streams().release();
  if (failure) std::rethrow_exception(failure);
  if (streams) std::rethrow_exception(streams);
  if (interrupted) throw_interrupted(impl_->context().path());
}

void File::sync() {
  impl_->context().call([&] { impl_->sync(); });
}

bool File::continued() const { return impl_->storage().source() != nullptr && impl_->storage().source()->continued(); }
std::string File::unfinished_path() const {
  return impl_->storage().source() == nullptr ? std::string() : impl_->storage().source()->unfinished_path();
}

void File::abandon(const std::string& why) {
  if (!impl_->context().owner().here()) return;
  // Both waits continue to their end, because abandon() releases the memory that the accesses use.
  const std::exception_ptr streams = collective::caught([this] { impl_->streams().wait_for_requests(); });
  const bool interrupted = impl_->context().worker().wait_for_tasks();
  impl_->abandon(why);
  if (!impl_->storage().is_open()) impl_->streams().release();
  if (streams) std::rethrow_exception(streams);
  if (interrupted) throw_interrupted(impl_->context().path());
}

}  // namespace plait
