#include "store/objects/new_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/folder/new_folder.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::store {

namespace {

/// New objects in a store without renames. Only the objects of the array itself are removed or replaced: others in the
/// same new hierarchy may belong to programs that write their arrays at the same time.
///
/// commit() puts metadata from the innermost object to the outermost, because programs find an array from the outside.
/// Example: g/a in a new data.zarr. commit() puts g/a/zarr.json, g/zarr.json and zarr.json, in this order. Until the
/// last put no program finds anything. If another program has put the same g/zarr.json for its own array, both arrays
/// belong to g.
///
/// An array that a later program may continue has marks (kUnfinishedMark) until it appears: one next to its metadata,
/// whose text is the metadata, and an empty one in the outermost new group. If the metadata are equal, the later
/// program leaves the objects of the array, and puts those that are missing or differ. An array that is complete is
/// continued in the same way, after its metadata have been removed.
class MetadataLast : public NewObjects {
 public:
  MetadataLast(std::shared_ptr<ObjectStore> objects, NewObjectsRequest request, const NewFileOptions& options)
      : objects_(std::move(objects)),
        request_(std::move(request)),
        prefix_(array_metadata().substr(0, array_metadata().rfind('/') + 1)),
        keeps_(options.keeps_unfinished || options.continues) {
    const std::string& metadata = request_.metadata.back().second;
    const std::string mark = prefix_ + kUnfinishedMark;
    const std::vector<std::string> names = list_array();
    const auto has = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
    // A complete array has a mark if its writer was killed just before it had removed the mark.
    if (!keeps_ && has(mark) && !has(array_metadata()))
      base::throw_system_error(EEXIST, "cannot write ", request_.target,
                               ": it has the objects of an array that a program with resume=True is writing, or has "
                               "left unfinished; continue with resume=True, or remove the objects");
    continued_ = options.continues && ((has(mark) && content(mark) == metadata) ||
                                       (has(array_metadata()) && content(array_metadata()) == metadata));
    if (!continued_) remove_array(names);
    if (!keeps_) return;
    if (!prefix_.empty()) put_mark(kUnfinishedMark, {});
    put_mark(mark, metadata);
    if (continued_) objects_->remove(array_metadata());
  }
  ~MetadataLast() override { discard(); }

  const std::string& location() const override { return request_.target; }
  bool continued() const override { return continued_; }
  void commit(base::FunctionRef<bool()> /*replaces*/) override {
    for (std::size_t i = request_.metadata.size(); i-- > 0;) {
      const auto& [name, text] = request_.metadata[i];
      if (objects_->put(name, std::as_bytes(std::span(text)), ObjectIdentity{})) continue;
      if (name == array_metadata()) {
        open_ = false;  // the objects now belong to the other program
        base::throw_system_error(EEXIST, "cannot finish ", request_.target, ": another program has put ",
                                 objects_->object_location(name),
                                 " since it was opened; remove that array and write again, or choose another name");
      }
      if (content(name) == text) continue;  // another program has put the same group for its own array
      objects_->remove(array_metadata());
      base::throw_system_error(EEXIST, "cannot finish ", request_.target, ": another program has put ",
                               objects_->object_location(name),
                               " since it was opened, and it differs from the group that was to be put there; "
                               "choose another name, or write again");
    }
    objects_->sync();
    open_ = false;
    if (keeps_) remove_marks();
  }
  void discard() noexcept override {
    if (!std::exchange(open_, false) || keeps_) return;
    try {
      // Only commit() puts metadata. If some exists, another program has put it, and the objects belong to that
      // program.
      if (!objects_->contains(array_metadata())) remove_array(list_array());
    } catch (const std::exception&) {  // without metadata no program finds the objects that remain
    }
  }

 private:
  void put_mark(const std::string& name, std::string_view text) {
    (void)objects_->put(name, std::as_bytes(std::span(text)), std::nullopt);
    objects_->finish_puts();
  }
  void remove_marks() noexcept {
    try {
      objects_->remove(prefix_ + kUnfinishedMark);
      if (!prefix_.empty()) objects_->remove(kUnfinishedMark);
    } catch (const std::exception&) {  // readers ignore the marks of a complete array
    }
  }
  const std::string& array_metadata() const { return request_.metadata.back().first; }
  std::string content(const std::string& object) {
    std::string text;
    const auto memory = [&text](std::int64_t bytes) {
      text.resize(static_cast<std::size_t>(bytes));
      return std::as_writable_bytes(std::span(text));
    };
    (void)objects_->get_whole(object, memory, {});
    return text;
  }
  std::vector<std::string> list_array() {
    std::vector<std::string> names;
    objects_->list(prefix_, ListDepth::kAll,
                   [&](const ListedObject& object) { names.push_back(prefix_ + object.name); });
    return names;
  }
  /// Removes the objects of the array, the metadata first, so that programs never find an incomplete array.
  void remove_array(const std::vector<std::string>& names) {
    // Keys that may not remove objects can make new arrays.
    if (!names.empty()) objects_->remove(array_metadata());
    objects_->remove_all(names);
  }

  std::shared_ptr<ObjectStore> objects_;
  NewObjectsRequest request_;
  std::string prefix_;  // prefix of the array's objects
  bool keeps_;
  bool continued_ = false;
  bool open_ = true;
};

}  // namespace

std::unique_ptr<NewObjects> make_new_objects(NewObjectsRequest request, const NewFileOptions& options) {
  std::shared_ptr<ObjectStore> objects = open_objects(request.target, Sharing::kPrivate);
  if (objects->renames()) return folder::make_new_folder(std::move(request), options);
  if ((options.keeps_unfinished || options.continues) && !objects->finds_equal_objects())
    base::throw_argument_error(request.target,
                               ": unfinished arrays are not retained in this store; leave that option out, "
                               "or write into a folder");
  return std::make_unique<MetadataLast>(std::move(objects), std::move(request), options);
}

}  // namespace plait::store
