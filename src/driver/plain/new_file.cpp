// A new ordinary file, which is written under a temporary name and renamed when it is committed.

#include "driver/plain/new_file.hpp"

#include "driver/replacing.hpp"
#include "store/posix/replacement.hpp"

namespace plait::driver::plain {

namespace {

class NewPlainFile : public store::NewFile {
 public:
  NewPlainFile(const std::string& path, const store::NewFileOptions& options)
      : file_(path, options.bytes, options.head,
              {.suffix = {},
               .on_leftover = release_leftover,
               .claimed = options.claimed,
               .keeps_unfinished = options.keeps_unfinished,
               .continues = options.continues,
               .durable = options.durable}) {}

  store::Location location() const override { return {file_.temporary_path(), {}, {}}; }
  void resize(std::int64_t bytes) override { file_.resize(bytes); }
  void commit() override { driver::commit(file_); }
  void discard() noexcept override { file_.discard(); }
  bool continued() const override { return file_.continued(); }

 private:
  store::posix::Replacement file_;
};

}  // namespace

std::unique_ptr<store::NewFile> make_new_file(const std::string& path, const store::NewFileOptions& options) {
  return std::make_unique<NewPlainFile>(path, options);
}

}  // namespace plait::driver::plain
