#include "store/new_file.hpp"

#include "store/posix/replacement.hpp"
#include "store/stripe/components.hpp"
#include "store/stripe/name.hpp"
#include "store/stripe/striped_file.hpp"
#include "store/url.hpp"

namespace plait::store {

namespace {

class PlainFile : public NewFile {
 public:
  PlainFile(const std::string& path, std::int64_t bytes, std::span<const std::byte> head, bool claimed)
      : file_(path, bytes, head, {.suffix = {}, .on_left_behind = stripe::remove_left_behind, .claimed = claimed}) {}

  Place place() const override { return {file_.temporary_path(), {}, {}}; }
  void resize(std::int64_t bytes) override { file_.resize(bytes); }
  void commit() override { stripe::commit(file_); }
  void discard() noexcept override { file_.discard(); }

 private:
  posix::Replacement file_;
};

}  // namespace

std::unique_ptr<NewFile> make_new_file(const std::string& url, std::int64_t bytes, std::span<const std::byte> head,
                                       bool claimed) {
  if (!stripe::is_name(url)) return std::make_unique<PlainFile>(ordinary_path(url), bytes, head, claimed);
  return std::make_unique<stripe::StripedFile>(stripe::parse_name(url), bytes, head, claimed);
}

}  // namespace plait::store
