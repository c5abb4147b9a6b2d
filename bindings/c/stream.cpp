// Streams of the C interface.

#include "plait/stream.hpp"

#include "base/errors.hpp"
#include "objects.hpp"

struct plait_stream : plait::c::Handle {
  std::optional<plait::Stream> stream;
};

using namespace plait::c;
using plait::Stream;
using plait::StreamMode;

namespace {

Stream& to_stream(plait_stream* stream) {
  return *dereference(stream, "stream", "the handle from plait_stream_open").stream;
}

auto reporter(Stream& stream) {
  return [&stream](const std::string& message, int code) { stream.fail(message, code); };
}

template <typename Begin>
plait_status start(plait_stream* stream, plait_request** request, Begin&& begin) {
  if (request != nullptr) *request = nullptr;
  return guarded(stream, [&] {
    Stream& stream_object = to_stream(stream);
    auto handle = run_checks(reporter(stream_object), [&] {
      output(request, "request");
      return std::make_unique<plait_request>();
    });
    auto access_object = std::make_shared<plait::StreamRequest>(begin(stream_object));
    handle->wait = [access_object] { return access_object->wait(); };
    handle->test = [access_object] { return access_object->test(); };
    handle->counts_elements = true;
    *request = handle.release();
  });
}

}  // namespace

plait_status plait_stream_open(plait_file* file, int mode, plait_stream** stream) {
  if (stream != nullptr) *stream = nullptr;
  return guarded(file, [&] {
    plait::File& file_object = to_file(file);
    const auto report = [&](const std::string& message, int code) { file_object.fail(message, code); };
    auto handle = run_checks(report, [&] {
      output(stream, "stream");
      if (mode < PLAIT_STREAM_OWN || mode > PLAIT_STREAM_SAME)
        plait::base::throw_argument_error("streams have the modes 0 to 4, but mode ", mode, " was given");
      return std::make_unique<plait_stream>();
    });
    handle->stream.emplace(file_object, static_cast<StreamMode>(mode));
    *stream = handle.release();
  });
}

plait_status plait_stream_close(plait_stream** stream) {
  if (stream == nullptr || *stream == nullptr) return PLAIT_OK;
  const plait_status status = guarded(nullptr, [&] { to_stream(*stream).close(); });
  free_handle(stream);
  return status;
}

plait_status plait_stream_read(plait_stream* stream, void* data, int64_t elements, int64_t* done) {
  return guarded(stream, [&] {
    Stream& stream_object = to_stream(stream);
    std::int64_t& result = run_checks(reporter(stream_object), [&]() -> std::int64_t& { return output(done, "done"); });
    result = stream_object.read(static_cast<std::byte*>(data), elements);
  });
}

plait_status plait_stream_write(plait_stream* stream, const void* data, int64_t elements) {
  return guarded(stream, [&] { to_stream(stream).write(static_cast<const std::byte*>(data), elements); });
}

plait_status plait_stream_start_read(plait_stream* stream, void* data, int64_t elements, plait_request** request) {
  return start(stream, request, [&](Stream& stream_object) {
    return stream_object.start_read(static_cast<std::byte*>(data), elements);
  });
}

plait_status plait_stream_start_write(plait_stream* stream, const void* data, int64_t elements,
                                      plait_request** request) {
  return start(stream, request, [&](Stream& stream_object) {
    return stream_object.start_write(static_cast<const std::byte*>(data), elements);
  });
}

plait_status plait_stream_tell(const plait_stream* stream, int64_t* element) {
  return guarded(stream, [&] {
    output(element, "element") = dereference(stream, "stream", "the handle from plait_stream_open").stream->tell();
  });
}

plait_status plait_stream_seek(plait_stream* stream, int64_t element) {
  return guarded(stream, [&] { to_stream(stream).seek(element); });
}

plait_status plait_stream_fail(plait_stream* stream, const char* message) {
  return guarded(stream, [&] { to_stream(stream).fail(message == nullptr ? "wrong arguments" : message); });
}
