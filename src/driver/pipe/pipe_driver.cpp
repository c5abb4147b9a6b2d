// Opens the end of a pipe to another program: mode "w" its writer, mode "r" its reader. A pipe has no store; the File
// passes steps to the Writer or Reader, which is its channel.

#include "driver/pipe/pipe_driver.hpp"

#include <memory>
#include <string>

#include "base/errors.hpp"
#include "container/array_type.hpp"
#include "pipe/options.hpp"
#include "pipe/reader/reader.hpp"
#include "pipe/writer/writer.hpp"
#include "plait/error.hpp"

namespace plait::driver::pipe {

namespace {

using plait::pipe::Options;
using plait::pipe::Reader;
using plait::pipe::Writer;

/// One rank's end of a pipe that it writes.
class WritingSource : public core::Source {
 public:
  explicit WritingSource(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
  std::shared_ptr<store::Store> store() const override { return nullptr; }
  void resize(collective::Collective& /*call*/, std::int64_t /*bytes*/) override {}
  void finish(collective::Collective& call, bool /*syncs*/) override { writer_->finish(call); }
  void discard() noexcept override { writer_->abort("it has ended without closing the pipe"); }
  core::Channel* channel() override { return writer_.get(); }

 private:
  std::unique_ptr<Writer> writer_;
};

/// One rank's end of a pipe that it reads.
class ReadingSource : public core::Source {
 public:
  explicit ReadingSource(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
  std::shared_ptr<store::Store> store() const override { return nullptr; }
  void resize(collective::Collective& /*call*/, std::int64_t /*bytes*/) override {}
  void finish(collective::Collective& /*call*/, bool /*syncs*/) override { reader_->leave(); }
  core::Channel* channel() override { return reader_.get(); }

 private:
  std::unique_ptr<Reader> reader_;
};

/// The driver of `pipe:NAME`.
class PipeDriver : public Driver {
 public:
  std::string_view prefix() const override { return "pipe:"; }
  Contents contents() const override { return Contents::kNone; }
  std::unique_ptr<core::Source> open(Opening& opening) const override;
};

std::unique_ptr<core::Source> PipeDriver::open(Opening& opening) const {
  collective::Collective& call = opening.call();
  const FileOptions& requested = opening.options();
  const bool is_writer = opening.mode() == Mode::kWrite;
  Options options;
  ArrayType type;
  call.run_phase([&] {
    options = plait::pipe::parse_options(opening.name());
    if (opening.mode() == Mode::kReadWrite)
      base::throw_argument_error(opening.name(), " cannot be read and written; open it with mode \"r\" or \"w\"");
    if (requested.offset != 0) base::throw_argument_error(opening.name(), " has no offsets; leave offset out");
    // If a pipe carries several arrays, each step describes its own.
    if (is_writer && !requested.several) type = container::make_array_type(requested, opening.name(), /*is_new=*/true);
  });
  std::unique_ptr<core::Source> source;
  if (is_writer) {
    auto writer = std::make_unique<Writer>(call, opening.name(), options, type, opening.comm().alone());
    source = std::make_unique<WritingSource>(std::move(writer));
  } else {
    const Reader::ExpectedArray expected = requested.several
                                               ? Reader::ExpectedArray{}
                                               : Reader::ExpectedArray{requested.dtype.value_or(""), requested.shape};
    auto reader = std::make_unique<Reader>(call, opening.name(), options, expected);
    type = reader->type();
    try {
      call.run_phase([&] {
        const std::int64_t bytes = requested.several ? 0 : requested.element_bytes;
        if (bytes != 0 && type.element_bytes != 0 && bytes != type.element_bytes)
          base::throw_argument_error(opening.name(), ": the two ends differ: elements of ", type.element_bytes,
                                     " bytes are written, but of ", bytes, " bytes read; leave element_bytes out");
      });
    } catch (const Error& error) {
      reader->abort(error.what());  // reports the reason to the writer
      throw;
    }
    source = std::make_unique<ReadingSource>(std::move(reader));
  }
  opening.adopt(type);
  return source;
}

}  // namespace

const Driver& driver() {
  static const PipeDriver kDriver;
  return kDriver;
}

}  // namespace plait::driver::pipe
