#include "plait/stream.hpp"

#include <utility>

#include "access/access.hpp"
#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/wait/interruption.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "core/comm/guard.hpp"
#include "core/stream/stream_impl.hpp"

namespace plait {

using base::text;

Stream::Impl::Impl(File::Impl& file, StreamMode mode, std::int64_t number)
    : number_(number),
      path_(file.context().path()),
      file_mode_(file.context().mode()),
      element_bytes_(file.selection().array().type.element_bytes),
      data_offset_(file.selection().array().data_offset),
      end_(base::checked_product(file.selection().array().type.shape, "elements of the array")),
      trace_number_(file.context().trace_number()),
      store_(file.storage().store()),
      mode_(mode),
      file_(&file) {}

File::Impl& Stream::Impl::file() const {
  if (file_ == nullptr) base::throw_argument_error(path_, " is closed; open it again, and then a stream on it");
  return *file_;
}

Stream::Impl& Stream::Impl::here() {
  owner_.check(path_);
  return *this;
}

std::string Stream::Impl::name() const {
  return text("stream ", number_, " (mode ", static_cast<int>(mode_), ") of ", path_);
}

void Stream::Impl::check_not_closed() const {
  if (is_closed_) base::throw_argument_error(name(), " is closed; open another one");
}

void Stream::Impl::check(const Call& call, bool needs_data) const {
  check_not_closed();
  if (call.write && file_mode_ == Mode::kRead)
    base::throw_argument_error(path_, " is open for reading; open it with mode \"r+\" or \"w\" to write");
  if (!call.write && file_mode_ == Mode::kWrite)
    base::throw_argument_error(
        path_, " is open in mode \"w\", in which streams cannot read; open it with mode \"r\" or \"r+\"");
  if (call.elements < 0)
    base::throw_argument_error(name(), ": ", call.elements, " elements cannot be ", call.write ? "written" : "read",
                               "; give a number of 0 or more");
  if (needs_data && call.data == nullptr && call.elements > 0)
    base::throw_argument_error(name(), ": the pointer to ", call.elements, " elements is null; pass their memory");
}

void Stream::Impl::check_position(std::int64_t element) const {
  check_not_closed();
  if (element < 0 || element > end_)
    base::throw_argument_error(name(), ": element ", element, " is not in the array; give 0 to ", end_, " (its end)");
}

Error Stream::Impl::make_end_error(const std::string& what, std::int64_t position) const {
  return {ErrorKind::kArgument, text(name(), ": ", what, " elements cannot be written from element ", position,
                                     " on: the array ends at ", end_, "; nothing was written")};
}

void Stream::Impl::read_store(std::int64_t first, std::byte* data, std::int64_t elements) {
  if (elements > 0) store_->read({{byte_offset(first), data, elements * element_bytes_}});
}

void Stream::Impl::write_store(std::int64_t first, const std::byte* data, std::int64_t elements) {
  if (elements > 0) store_->write({{byte_offset(first), data, elements * element_bytes_}});
}

namespace core {

std::shared_ptr<Stream::Impl> open_stream(File::Impl& file, StreamMode mode) {
  std::shared_ptr<Stream::Impl> stream;
  const auto open = [&](transport::Transport& transport) {
    collective::Collective call(
        transport,
        [&] { return text("open a stream in mode ", static_cast<int>(mode), " on ", file.context().name()); },
        [&] {
          if (static_cast<int>(mode) > static_cast<int>(StreamMode::kSame))
            base::throw_argument_error("streams have the modes 0 to 4, but mode ", static_cast<int>(mode),
                                       " was given");
          if (!file.storage().store())
            base::throw_argument_error(file.context().path(),
                                       " has no streams of elements, because its arrays "
                                       "come step by step; read or write those with a layout");
          if (!file.selection().array().chunk.empty())
            base::throw_argument_error(
                file.context().path(),
                " keeps its array in chunks, and streams need elements that follow each other in the "
                "file; read or write with a layout and a region");
        });
    const std::int64_t number = file.streams().next_number();
    // A second agreement: if a rank lacks memory for its stream, no rank may keep one.
    call.run_phase([&] {
      if (mode == StreamMode::kShared) {
        stream = base::make_owned<IndependentStream>(file, mode, number, transport.counter(), transport.size());
      } else if (mode == StreamMode::kOwn) {
        auto word = std::make_shared<std::atomic<std::int64_t>>(0);
        stream = base::make_owned<IndependentStream>(file, mode, number,
                                                     std::make_unique<transport::MemoryCounter>(*word, word), 1);
      } else {
        stream = base::make_owned<CollectiveStream>(file, mode, number);
      }
      file.streams().add(stream);
    });
  };
  file.storage().call_together(open);
  return stream;
}

}  // namespace core

Stream::Stream(File& file, StreamMode mode) {
  File::Impl& inner = *file.impl_;
  inner.context().call([&] { impl_ = core::open_stream(inner, mode); });
}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
Stream::~Stream() {
  const base::UninterruptedScope uninterrupted;
  if (impl_) collective::caught([this] { close(); });
}

StreamMode Stream::mode() const { return impl_->mode(); }
bool Stream::is_open() const { return impl_->is_open(); }

std::int64_t Stream::read(std::byte* data, std::int64_t elements) {
  return impl_->here().transfer({false, data, elements});
}
std::int64_t Stream::write(const std::byte* data, std::int64_t elements) {
  return impl_->here().transfer({true, const_cast<std::byte*>(data), elements});
}
StreamRequest Stream::start_read(std::byte* data, std::int64_t elements) {
  return impl_->here().start({false, data, elements});
}
StreamRequest Stream::start_write(const std::byte* data, std::int64_t elements) {
  return impl_->here().start({true, const_cast<std::byte*>(data), elements});
}

std::int64_t Stream::tell() const { return impl_->here().tell(); }
void Stream::seek(std::int64_t element) { impl_->here().seek(element); }
void Stream::close() {
  impl_->here().wait_for_requests();
  impl_->close();
}
void Stream::fail(const std::string& message, int system_code) {
  impl_->here().fail(message, system_code);
  __builtin_unreachable();
}

}  // namespace plait
