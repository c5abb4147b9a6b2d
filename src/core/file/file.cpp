#include "plait/file.hpp"

#include <utility>

#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/file/impl.hpp"
#include "core/file/recorded.hpp"

namespace plait {

using core::Action;

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
File::~File() {
  if (!impl_) return;
  if (impl_->owner().here()) {
    // What was started on the File's own arrays ends before they go.
    collective::caught([this] { impl_->streams().settle(); });
    collective::caught([this] { impl_->worker().settle(); });
    impl_->streams().detach();
  }
  base::let_go(impl_, impl_->owner());
}

void File::fail_open(const std::string& message, const Comm& comm, int system_code) {
  core::fail_in_turn(comm, message, system_code);
}

void File::select(const ArrayType& type, std::int64_t offset, std::int64_t memory) {
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { impl_->select(type, offset, memory); }); });
}

bool File::begin_step(const Attributes& attributes) {
  bool more = false;
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { more = impl_->begin_step(attributes); }); });
  return more;
}

void File::end_step() {
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { impl_->end_step(); }); });
}

const Step& File::step() const { return impl_->step(); }

void File::select_variable(const std::string& name, const std::optional<ArrayType>& type) {
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { impl_->select_variable(name, type); }); });
}

const std::string& File::variable() const { return impl_->variable(); }

void File::fail(const std::string& message, int system_code) {
  impl_->turn().run([&] { impl_->fail_call(message, system_code); });
  __builtin_unreachable();
}

const std::string& File::path() const { return impl_->path(); }
Mode File::mode() const { return impl_->mode(); }
const ArrayType& File::type() const { return impl_->array().type; }
const Extents& File::chunk() const { return impl_->array().chunk; }
const ArrayAttributes& File::attributes() const { return impl_->attributes(); }
bool File::is_open() const { return impl_->is_open() && impl_->owner().here(); }
AccessTimes File::last_times() const {
  AccessTimes times;
  impl_->turn().run([&] { times = impl_->times(); });
  return times;
}

void File::read(const Layout& layout, std::span<const MutablePart> parts, const Region& region, bool fill_halo) {
  const Action action = fill_halo ? Action::kFill : Action::kRead;
  const base::RecordedCall asked;
  core::guarded(impl_->comm(), [&] {
    const std::vector<MutablePart> arrays(parts.begin(), parts.end());
    impl_->turn().run([&] { impl_->access({layout, region, action, arrays}, asked); });
  });
}

void File::write(const Layout& layout, std::span<const ConstPart> parts, const Region& region) {
  const base::RecordedCall asked;
  core::guarded(impl_->comm(), [&] {
    const std::vector<MutablePart> arrays = core::as_mutable(parts);
    impl_->turn().run([&] { impl_->access({layout, region, Action::kWrite, arrays}, asked); });
  });
}

Request File::start_read(const Layout& layout, std::vector<MutablePart> parts, const Region& region, bool fill_halo) {
  const Action action = fill_halo ? Action::kFill : Action::kRead;
  const base::RecordedCall asked;
  return core::guarded(impl_->comm(), [&] {
    return Request(impl_->turn().start([file = impl_.get(), layout, parts = std::move(parts), region, action, asked] {
      file->access({layout, region, action, parts}, asked, PLAIT_EVENT_ASYNCHRONOUS);
    }));
  });
}

Request File::start_write(const Layout& layout, std::vector<ConstPart> parts, const Region& region) {
  const base::RecordedCall asked;
  return core::guarded(impl_->comm(), [&] {
    impl_->writes().reserve();
    auto write = impl_->turn().start([file = impl_.get(), layout, parts = core::as_mutable(parts), region, asked] {
      file->access({layout, region, Action::kWrite, parts}, asked, PLAIT_EVENT_ASYNCHRONOUS);
    });
    impl_->writes().keep(write);
    return Request(std::move(write));
  });
}

std::string File::explain(const Layout& layout, const Region& region, bool write, bool fill_halo) const {
  const Action action = write ? Action::kWrite : fill_halo ? Action::kFill : Action::kRead;
  std::string text;
  impl_->turn().run([&] { text = impl_->explain({layout, region, action, {}}); });
  return text;
}

void File::close() {
  impl_->owner().check(impl_->path());
  impl_->streams().settle();
  const base::RecordedCall asked;
  impl_->worker().settle();
  const std::exception_ptr failure = collective::caught([&] {
    if (!impl_->is_open()) return impl_->close();  // again: no event, and nobody to wait for
    impl_->worker().run([&] {
      core::keep(
          asked, {PLAIT_EVENT_CLOSE, impl_->recorded(), impl_->together_flags()}, [] { return core::Extent{-1, 0}; },
          [&] {
            impl_->close();
            return 0;
          });
    });
  });
  if (!impl_->is_open()) impl_->streams().release();
  if (failure) std::rethrow_exception(failure);
}

void File::sync() {
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { impl_->sync(); }); });
}

bool File::continued() const { return impl_->source() != nullptr && impl_->source()->continued(); }
std::string File::unfinished_path() const {
  return impl_->source() == nullptr ? std::string() : impl_->source()->unfinished_path();
}

void File::abandon(const std::string& why) {
  if (!impl_->owner().here()) return;
  impl_->streams().settle();
  impl_->worker().settle();
  impl_->abandon(why);
  if (!impl_->is_open()) impl_->streams().release();
}

}  // namespace plait
