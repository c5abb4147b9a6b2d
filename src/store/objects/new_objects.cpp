#include "store/objects/new_objects.hpp"

#include <cerrno>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/folder/new_folder.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::store {

namespace {

/// New objects in a store without renames.
class MetadataLast : public NewObjects {
 public:
  MetadataLast(std::shared_ptr<ObjectStore> objects, NewObjectsRequest request)
      : objects_(std::move(objects)), request_(std::move(request)) {
    remove_all();
  }
  ~MetadataLast() override { discard(); }

  const std::string& location() const override { return request_.target; }
  void commit(base::FunctionRef<bool()> /*replaces*/) override {
    for (std::size_t i = request_.metadata.size(); i-- > 0;) {
      const auto& [name, text] = request_.metadata[i];
      if (objects_->put(name, std::as_bytes(std::span(text)), ObjectIdentity{})) continue;
      open_ = false;
      base::throw_system_error(EEXIST, "cannot finish ", request_.target, ": another program has put ",
                               objects_->name_of(name),
                               " since it was opened; remove that array and write again, or choose another name");
    }
    objects_->sync();
    open_ = false;
  }
  void discard() noexcept override {
    if (!std::exchange(open_, false)) return;
    try {
      remove_all();
    } catch (const std::exception&) {  // without metadata nobody finds the objects that remain
    }
  }

 private:
  /// Metadata goes first, so that programs find an array as a whole or none.
  void remove_all() {
    std::vector<std::string> names;
    objects_->list({}, ListDepth::kAll, [&](const ListedObject& object) { names.push_back(object.name); });
    for (const auto& [name, text] : request_.metadata) objects_->remove(name);
    for (const std::string& name : names) objects_->remove(name);
  }

  std::shared_ptr<ObjectStore> objects_;
  NewObjectsRequest request_;
  bool open_ = true;
};

}  // namespace

std::unique_ptr<NewObjects> make_new_objects(NewObjectsRequest request, const NewFileOptions& options) {
  std::shared_ptr<ObjectStore> objects = open_objects(request.target, Sharing::kPrivate);
  if (objects->renames()) return folder::make_new_folder(std::move(request), options);
  if (options.keeps_unfinished || options.continues)
    base::throw_argument_error(request.target,
                               ": unfinished arrays are not retained in this store; leave that option out, "
                               "or write into a folder");
  return std::make_unique<MetadataLast>(std::move(objects), std::move(request));
}

}  // namespace plait::store
