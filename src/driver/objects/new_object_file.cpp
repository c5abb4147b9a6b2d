// Writes a file format, whose file becomes one object, to an object store, if all ranks are on one host.
//
// Problem: ranks write elements in any order, and several formats change bytes that were written before: HDF5 the
// length of the file, .npz its checksums.
//
// Idea: all ranks write into one unnamed file, the spool, as they write into any file. At the end they send it
// (object_writer.cpp). Ranks on several hosts write into a spool that consists of a file on each host
// (spread_object.cpp).
//
// The spool has no name, so that a killed program leaves no file. Other ranks open it as /proc/PID/fd/NUMBER.

#include "driver/objects/new_object_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "driver/objects/object_writer.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"
#include "store/posix/temporary.hpp"

namespace plait::driver::objects {

namespace {

constexpr std::string_view kSpool = "spool ";

store::posix::Descriptor make_spool(const std::string& url) {
  const std::string folder = store::posix::temporary_folder();
  const std::string what = base::text("a temporary file in ", folder, " (TMPDIR) for ", url);
  try {
    return store::posix::open_file(folder, O_RDWR | O_TMPFILE, 0600, what);
  } catch (const Error& error) {
    if (error.system_code() != EOPNOTSUPP && error.system_code() != EISDIR) throw;
  }
  // Some file systems, such as NFS, cannot create a file without a name: create one with a name and unlink it.
  std::string path = folder + "/plait-XXXXXX";
  const int number = ::mkostemp(path.data(), O_CLOEXEC);
  if (number < 0) throw store::posix::system_error(base::text("make ", what), errno);
  store::posix::Descriptor file(number);
  if (::unlink(path.c_str()) != 0) throw store::posix::system_error(base::text("remove ", path), errno);
  return file;
}

/// The spool as a store whose name is that of the object.
class SpoolStore : public store::posix::PosixStore {
 public:
  SpoolStore(std::string url, const std::string& path) : PosixStore(path, Access::kReadWrite), url_(std::move(url)) {}
  const std::string& name() const override { return url_; }
  std::string description() const override { return "a new object"; }
  void sync() override {}  // the object is durable when it appears

 private:
  std::string url_;
};

class NewObjectFile : public store::NewFile {
 public:
  NewObjectFile(const std::string& url, const store::NewFileOptions& options)
      : url_(url), spool_(make_spool(url)), writer_(url, options) {
    resize(options.bytes);
    content().write({{0, options.head.data(), std::ssize(options.head)}});
  }
  ~NewObjectFile() override { NewObjectFile::discard(); }

  store::Location location() const override {
    return {path(), base::text(kSpool, url_), {store::posix::read_identity(spool_.number(), url_)}};
  }
  void resize(std::int64_t bytes) override {
    if (::ftruncate(spool_.number(), bytes) != 0)
      throw store::posix::system_error(base::text("size the temporary file in TMPDIR for ", url_), errno);
    store::posix::reserve(spool_.number(), bytes, base::text("the temporary file in TMPDIR for ", url_));
  }
  void commit() override {
    SpoolStore spool = content();
    writer_.commit(spool);
  }
  void discard() noexcept override {
    std::unique_ptr<SpoolStore> spool;
    collective::caught([&] { spool = std::make_unique<SpoolStore>(url_, path()); });
    writer_.discard(spool.get());
  }

  ObjectWriter& writer() { return writer_; }

 private:
  std::string path() const { return base::text("/proc/", ::getpid(), "/fd/", spool_.number()); }
  SpoolStore content() const { return {url_, path()}; }

  std::string url_;
  store::posix::Descriptor spool_;
  ObjectWriter writer_;
};

}  // namespace

std::unique_ptr<store::NewFile> make_new_object(const std::string& url, const store::NewFileOptions& options) {
  return std::make_unique<NewObjectFile>(url, options);
}

bool is_spool(const store::Location& location) { return location.details.starts_with(kSpool); }

std::unique_ptr<store::Store> open_spool(const store::Location& location) {
  const std::string url = location.details.substr(kSpool.size());
  try {
    // O_PATH, because on another host the path may lead to something else, such as a pipe or a device, which must not
    // be opened.
    const store::posix::Descriptor found = store::posix::open_file(location.path, O_PATH, 0, url);
    if (store::may_be_same_files(location, {store::posix::read_identity(found.number(), url)}))
      return std::make_unique<SpoolStore>(url, location.path);
  } catch (const Error& error) {
    const int code = error.system_code();
    if (code != ENOENT && code != EACCES && code != EPERM) throw;
  }
  base::throw_system_error(ENOTSUP, "cannot write ", url,
                           ": this rank cannot open the temporary file of rank 0, because it is on another host or in "
                           "another container; let the ranks of one host write the object, or write a Zarr array");
}

bool is_spool(const store::Store& store) { return dynamic_cast<const SpoolStore*>(&store) != nullptr; }

void send_spool(collective::Collective& call, store::Store& store, store::NewFile* made) {
  auto* const object = dynamic_cast<NewObjectFile*>(made);
  send_content(call, store.name(), store, object == nullptr ? nullptr : &object->writer(), 0);
}

}  // namespace plait::driver::objects
