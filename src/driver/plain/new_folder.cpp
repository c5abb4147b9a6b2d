// A new array that is a folder, such as a Zarr array: a metadata file, and the objects with the elements next to it.

#include "driver/plain/new_folder.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "base/errors.hpp"
#include "store/objects/new_objects.hpp"

namespace plait::driver::plain {

namespace {

store::NewObjectsRequest make_request(const container::NewFolder& folder, std::string_view path, std::string_view array,
                                      std::span<const std::byte> head) {
  store::NewObjectsRequest request{folder.target, std::string(path), std::string(array), folder.other_files};
  request.metadata.emplace_back(folder.file, std::string(reinterpret_cast<const char*>(head.data()), head.size()));
  return request;
}

/// The new folder. All of it appears at once when it is committed.
class NewPlainFolder : public store::NewFile {
 public:
  NewPlainFolder(container::NewFolder folder, std::string_view path, std::string_view array,
                 const store::NewFileOptions& options)
      : folder_(std::move(folder)),
        objects_(store::make_new_objects(make_request(folder_, path, array, options.head), options)) {}

  store::Location location() const override {
    return {(std::filesystem::path(objects_->location()) / folder_.file).string(), {}, {}};
  }
  void resize(std::int64_t /*bytes*/) override {
    base::throw_argument_error(folder_.target, " is a folder, which does not become longer");
  }
  void commit() override {
    objects_->commit([this] { return !folder_.replaces || folder_.replaces(); });
    if (folder_.on_appearance) folder_.on_appearance();
  }
  void discard() noexcept override { objects_->discard(); }
  bool continued() const override { return objects_->continued(); }

 private:
  container::NewFolder folder_;
  std::unique_ptr<store::NewObjects> objects_;
};

}  // namespace

std::unique_ptr<store::NewFile> make_new_folder(const container::FolderFormat& format, std::string_view path,
                                                std::optional<std::string_view> array,
                                                const store::NewFileOptions& options) {
  static const std::map<std::string, std::string> kNoGroups;
  const auto& groups = options.groups == nullptr ? kNoGroups : *options.groups;
  return std::make_unique<NewPlainFolder>(format.new_folder(path, array, groups), path, array.value_or(""), options);
}

}  // namespace plait::driver::plain
