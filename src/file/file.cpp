#include "plait/file.hpp"

#include <utility>

#include "file/impl.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace {

/// One path serves reads and writes; a write never changes the parts.
std::vector<MutablePart> as_mutable(std::span<const ConstPart> parts) {
  std::vector<MutablePart> result;
  for (const ConstPart& part : parts) result.push_back({const_cast<std::byte*>(part.data), part.steps});
  return result;
}

}  // namespace

int Comm::rank() const { return transport_ ? transport_->rank() : 0; }
int Comm::size() const { return transport_ ? transport_->size() : 1; }

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::string& path, Mode mode, const FileOptions& options, const Comm& comm) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->mode = mode;
  impl->comm = comm;
  if (comm.alone()) {
    file::open_store(*impl, options, *transport::thread::make_alone());
  } else {
    file::open_store(*impl, options, *comm.transport());
  }
  return File(std::move(impl));
}

const std::string& File::path() const { return impl_->path; }
Mode File::mode() const { return impl_->mode; }
const ArrayType& File::type() const { return impl_->type; }
bool File::is_open() const { return impl_->open; }
AccessTimes File::last_times() const { return impl_->times; }

void File::read(const Layout& layout, std::span<const MutablePart> parts, const Region& region) {
  impl_->worker.run([&] { impl_->access(layout, {parts.begin(), parts.end()}, region, false); });
}

void File::write(const Layout& layout, std::span<const ConstPart> parts, const Region& region) {
  impl_->worker.run([&] { impl_->access(layout, as_mutable(parts), region, true); });
}

Request File::start_read(const Layout& layout, std::vector<MutablePart> parts, const Region& region) {
  return Request(impl_->worker.start(
      [file = impl_.get(), layout, parts = std::move(parts), region] { file->access(layout, parts, region, false); }));
}

Request File::start_write(const Layout& layout, std::vector<ConstPart> parts, const Region& region) {
  return Request(impl_->worker.start(
      [file = impl_.get(), layout, parts = as_mutable(parts), region] { file->access(layout, parts, region, true); }));
}

std::string File::explain(const Layout& layout, const Region& region, bool write) const {
  impl_->check_open();
  const Comm& comm = impl_->comm;
  const bool nodes_apart = !comm.alone() && comm.transport()->nodes_apart();
  return impl_->plan(layout, region, comm.size(), nodes_apart, write).explain(impl_->path);
}

void File::close() {
  impl_->worker.run([this] { impl_->close(); });
}

void File::abandon() {
  impl_->worker.run([this] { impl_->abandon(); });
}

}  // namespace plait
