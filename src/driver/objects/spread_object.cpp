// Writes a file format, whose file becomes one object, to an object store, if the ranks are on several hosts.
//
// Problem: no disk is visible to all ranks. They write elements in any order, compressed chunks follow each other in
// the order in which they are complete, and formats read what other ranks have written: HDF5 the headers and the
// partly filled chunks of its log, .npz all elements for its checksums. Each part of an upload is sent by one process.
//
// Idea: the content is in a shared file (plait/shared_file.hpp), in stripes over one unnamed file of each rank. A rank
// writes to the stripe of another host, and reads from it, by messages, so that every format works as in an ordinary
// file. At the end the rank whose stripe has the first byte of a part sends it (object_writer.cpp). It reads the part
// from its own disk, apart from bytes after the end of its stripe. A stripe has a P-th of the expected size, so that in
// layouts such as (block, *) nearly all bytes stay on the host that writes them.
//
// Example: an object of 100 MB and 4 ranks on 2 hosts. A stripe has a 4th, in whole pages: 25,001,984 bytes. A part has
// 8,388,608. Parts 1 to 3 begin in the stripe of rank 0, parts 4 to 6 in that of rank 1, parts 7 to 9 in that of rank 2
// and parts 10 to 12 in that of rank 3. The last 163,840 bytes of part 3 are in the stripe of rank 1, and rank 0 reads
// them by a message, if the ranks are on different hosts.
//
// The size of compressed chunks is not known before: there a stripe is one part, and the ranks take turns.

#include "driver/objects/spread_object.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/checked.hpp"
#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "collective/broadcast.hpp"
#include "core/file/unclosed.hpp"
#include "driver/distant/array_store.hpp"
#include "driver/objects/object_writer.hpp"
#include "plait/error.hpp"
#include "plait/shared_file.hpp"
#include "store/posix/temporary.hpp"

namespace plait::driver::objects {

namespace {

/// The content of a new object as a store whose name is that of the object.
class SpreadContent : public distant::ArrayStore {
 public:
  using ArrayStore::ArrayStore;
  std::string description() const override { return "a new object"; }
  void sync() override {}  // the object is durable when it appears
};

/// One rank's end of a new object.
class SpreadSource : public core::Source {
 public:
  SpreadSource(std::string url, std::unique_ptr<ObjectWriter> writer)
      : url_(std::move(url)), writer_(std::move(writer)) {}

  void open(SharedFile file) {
    unit_ = file.unit();
    content_ = std::make_shared<SpreadContent>(std::move(file), url_);
  }
  std::shared_ptr<store::Store> store() const override { return content_; }
  // A shared file grows when data is written.
  void resize(collective::Collective& /*call*/, std::int64_t /*bytes*/) override {}
  void finish(collective::Collective& call, bool /*syncs*/) override {
    try {
      // No rank uses the content after this call, so that each rank may release its file.
      collective::together(call.transport(), [&] { send(call); });
    } catch (const Error&) {
      // The content shows whether a later program can resume the upload. It exists until all ranks leave this phase.
      call.run_phase([&] {
        if (writer_) writer_->discard(content_.get());
      });
      throw;
    }
  }
  void discard() noexcept override {
    if (writer_) writer_->discard(nullptr);
  }

 private:
  /// Sends the content, and makes the object appear.  errors  The same on every rank, except for std::bad_alloc.
  void send(collective::Collective& call) {
    send_content(call, url_, *content_, writer_.get(), unit_);
    call.run_phase([&] {
      if (writer_) writer_->commit(*content_);
    });
  }

  std::string url_;
  std::unique_ptr<ObjectWriter> writer_;  // on rank 0
  std::shared_ptr<SpreadContent> content_;
  std::int64_t unit_ = 0;
};

/// The description of a new object that rank 0 broadcasts.
struct NewObject {
  std::string folder;
  std::string array;  ///< result of Opening::encode()
  std::int64_t bytes = 0;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, NewObject>& made) {
  codec(made.folder, made.array, made.bytes);
}

/// Returns the bytes of a stripe: a P-th of the object in whole pages, but not less than a part.
std::int64_t stripe_bytes(std::int64_t bytes, int ranks) {
  constexpr std::int64_t kPage = 4096;
  return std::max(part_bytes_for(bytes), base::ceil_divide(base::ceil_divide(bytes, ranks), kPage) * kPage);
}

SharedFile open_content(const NewObject& made, const std::string& url, const Opening& opening) {
  SharedFileOptions options;
  options.path = base::text(made.folder, "/plait-object");
  options.striped = true;
  options.unit = stripe_bytes(made.bytes, opening.call().transport().size());
  options.reserve = true;                // a full disk is an error before the elements are written
  const core::SilentScope by_the_array;  // the File of the array itself reports that it was not closed
  try {
    SharedFile file = SharedFile::open(options, opening.comm());
    file.resize(made.bytes);
    return file;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kSystem) throw;
    base::rethrow(error, "cannot make the temporary files in ", made.folder, " (TMPDIR of rank 0) for ", url, ": ",
                  error.what());
  }
}

}  // namespace

std::unique_ptr<core::Source> open_spread_object(Opening& opening, const std::string& url) {
  collective::Collective& call = opening.call();
  std::unique_ptr<SpreadSource> source;
  store::NewFileOptions options;
  NewObject made;
  call.run_phase([&] {
    std::unique_ptr<ObjectWriter> writer;
    if (call.transport().rank() == 0) {
      options = opening.make();
      writer = std::make_unique<ObjectWriter>(url, options);
      made = {store::posix::temporary_folder(), opening.encode(), options.bytes};
    }
    source = std::make_unique<SpreadSource>(url, std::move(writer));
  });
  made = base::decode<NewObject>(collective::broadcast_text(call.transport(), base::encode(made)), base::kAnotherRank);
  SharedFile file = open_content(made, url, opening);
  call.run_phase([&] {
    source->open(std::move(file));
    if (!options.head.empty()) source->store()->write({{0, options.head.data(), std::ssize(options.head)}});
    opening.adopt(made.array, *source);
  });
  return source;
}

}  // namespace plait::driver::objects
