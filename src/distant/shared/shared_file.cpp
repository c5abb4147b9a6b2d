#include "plait/shared_file.hpp"

#include <utility>

#include "collective/agree.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "distant/service.hpp"
#include "distant/shared/shared_file_impl.hpp"
#include "plait/error.hpp"

namespace plait {

SharedFile::SharedFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SharedFile::SharedFile(SharedFile&&) noexcept = default;
SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
SharedFile::~SharedFile() {
  if (impl_) base::destroy_or_leak(impl_, impl_->owner());
}

SharedFile SharedFile::open(const SharedFileOptions& options, const Comm& comm) {
  std::unique_ptr<Impl> impl;
  distant::in_turn(comm, [&] {
    const std::int64_t number = core::get_transport(comm).next_number();  // before anything that may fail on this rank
    impl = std::make_unique<Impl>(options, comm, number);
    impl->open();
  });
  impl->watch_new();
  return SharedFile(std::move(impl));
}

void SharedFile::fail_open(const std::string& message, const Comm& comm, int system_code) {
  distant::in_turn(comm, [&] { Impl::fail_open(message, comm, system_code); });
  throw core::call_error(message, system_code);  // not reached: this rank's error takes part in the agreement
}

bool SharedFile::is_open() const { return impl_->is_open(); }
bool SharedFile::is_striped() const { return impl_->is_striped(); }
int SharedFile::components() const { return impl_->parts().stripes().components(); }
std::int64_t SharedFile::unit() const { return impl_->unit(); }
int SharedFile::owner(int component) const { return impl_->server(component); }

void SharedFile::read(std::int64_t offset, void* buffer, std::int64_t bytes) {
  impl_->here().access({offset, bytes, static_cast<std::byte*>(buffer), nullptr}, false);
}
void SharedFile::write(std::int64_t offset, const void* buffer, std::int64_t bytes) {
  impl_->here().access({offset, bytes, nullptr, static_cast<const std::byte*>(buffer)}, true);
}
DistantRequest SharedFile::start_read(std::int64_t offset, void* buffer, std::int64_t bytes) {
  return impl_->here().start({offset, bytes, static_cast<std::byte*>(buffer), nullptr}, false);
}
DistantRequest SharedFile::start_write(std::int64_t offset, const void* buffer, std::int64_t bytes) {
  return impl_->here().start({offset, bytes, nullptr, static_cast<const std::byte*>(buffer)}, true);
}
std::int64_t SharedFile::size() { return impl_->here().size(); }
void SharedFile::resize(std::int64_t bytes) {
  distant::in_turn(impl_->here().comm(), [&] { impl_->resize(bytes); });
}
void SharedFile::fail(const std::string& message, int system_code) {
  distant::in_turn(impl_->here().comm(), [&] { impl_->fail_call(message, system_code); });
  throw core::call_error(message, system_code);  // not reached: this rank's error takes part in the agreement
}
void SharedFile::sync() { impl_->here().sync(); }
void SharedFile::read_only() { impl_->here().read_only(); }
void SharedFile::close() {
  distant::in_turn(impl_->here().comm(), [&] { impl_->close(); });
}
void SharedFile::abandon() noexcept {
  if (impl_->owner().here()) impl_->abandon();
}

}  // namespace plait
