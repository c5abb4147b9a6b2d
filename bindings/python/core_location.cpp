// Resolution of the names of stores, for internal use by the package.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "container/format_registry.hpp"
#include "container/netcdf/default_fill.hpp"
#include "driver/driver_registry.hpp"
#include "driver/locating.hpp"
#include "driver/objects/object_writer.hpp"
#include "driver/pipe/pipe_driver.hpp"
#include "gil_release.hpp"
#include "store/objects/object_store.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"
#include "store/objects/web/web_url.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

void bind_formats(nb::module_& module) {
  module.def(
      "rejected_attributes",
      [](const std::string& target, const ArrayAttributes& attributes, bool of_group) {
        std::vector<std::string> reasons;
        const std::string name = store::canonical_name(target);
        for (const ArrayAttribute& entry : attributes)
          reasons.push_back(container::format_named(name).attribute_rejection(target, entry, of_group).reason());
        return reasons;
      },
      "target"_a, "attributes"_a, "of_group"_a);
  module.def("locate", &driver::locate, "name"_a, nb::call_guard<GilRelease>());
  module.def("formats", [] {
    std::vector<std::string> names;
    for (const container::Format* entry : container::formats())
      if (!entry->traits().name.empty() && std::ranges::find(names, entry->traits().name) == names.end())
        names.emplace_back(entry->traits().name);
    return names;
  });
  module.def(
      "format_at",
      [](const std::string& name) {
        return std::string(container::format_at(store::canonical_name(name)).traits().name);
      },
      "name"_a, nb::call_guard<GilRelease>());
  module.def("object_state", &driver::object_state, "name"_a, nb::call_guard<GilRelease>());
  module.def(
      "netcdf_fill",
      [](const std::string& dtype) {
        const auto fill = container::netcdf::default_fill(dtype);
        return nb::bytes(fill.data(), fill.size());
      },
      "dtype"_a);
  module.def(
      "is_plain",
      [](const std::string& spelling) {
        const std::string name = store::canonical_name(spelling);
        return driver::find_driver(name).prefix().empty() && container::array_name(name).format == nullptr;
      },
      "name"_a);
}

using store::ObjectStore;
using store::UnfinishedUploads;

/// Returns all bytes of an object; nothing if it does not exist.
std::optional<nb::bytes> get_object(ObjectStore& objects, const std::string& object) {
  std::vector<std::byte> bytes;
  bool found = false;
  {
    const GilRelease unlocked;
    const auto memory = [&](std::int64_t size) {
      bytes.resize(static_cast<std::size_t>(size));
      return std::span(bytes);
    };
    found = objects.get_whole(object, memory, {}).found();
  }
  if (!found) return std::nullopt;
  return nb::bytes(bytes.data(), bytes.size());
}

void put_object(ObjectStore& objects, const std::string& object, const nb::bytes& content) {
  const std::span bytes(static_cast<const std::byte*>(content.data()), content.size());
  const GilRelease unlocked;
  objects.put(object, bytes);
}

/// Returns the URL of an object or of a folder, without the name of an array in it, and without slashes at its end.
std::string object_url(const std::string& name) {
  const std::string canonical = store::canonical_name(name);
  std::string url(container::array_name(canonical).file);
  while (store::is_url(url) && url.ends_with('/') && !url.ends_with("://")) url.pop_back();
  return url;
}

std::vector<std::string> list_names(ObjectStore& objects) {
  std::vector<std::string> result;
  objects.list({}, store::ListDepth::kAll, [&](const store::ListedObject& object) { result.push_back(object.name); });
  return result;
}

/// Binds objects of object stores, for internal use by the package and its tests.
void bind_objects(nb::module_& module) {
  nb::class_<ObjectStore>(module, "ObjectStore")
      .def("get", &get_object, "object"_a)
      .def("put", &put_object, "object"_a, "content"_a)
      .def("names", &list_names, nb::call_guard<GilRelease>())
      .def("remove", &ObjectStore::remove, "object"_a, nb::call_guard<GilRelease>());
  nb::class_<UnfinishedUploads>(module, "UnfinishedUploads")
      .def(
          "list",
          [](UnfinishedUploads& uploads) {
            std::vector<std::tuple<std::string, std::string, std::string>> result;
            for (store::UnfinishedUpload& upload : uploads.list())
              result.emplace_back(std::move(upload.key), std::move(upload.id), std::move(upload.begun));
            return result;
          },
          nb::call_guard<GilRelease>())
      .def("last_change", &UnfinishedUploads::last_change, "key"_a, "id"_a, nb::call_guard<GilRelease>())
      .def("abort", &UnfinishedUploads::abort, "key"_a, "id"_a, nb::call_guard<GilRelease>());
  module.def(
      "unfinished_uploads",
      [](const std::string& name) -> std::unique_ptr<UnfinishedUploads> {
        const std::string url = object_url(name);
        const auto make = store::is_url(url) ? store::object_store_kind(url).unfinished : nullptr;
        return make == nullptr ? nullptr : make(url);
      },
      nb::sig("def unfinished_uploads(name: str) -> UnfinishedUploads | None"), "name"_a);
  module.def(
      "object_key", [](const std::string& name) { return store::web::parse_web_url(object_url(name)).key; }, "name"_a);
  module.def("canonical_name", &store::canonical_name, "name"_a);
  module.def("with_option", &store::web::with_option, "name"_a, "key"_a, "value"_a);
  module.def("active_uploads", [] {
    std::vector<std::tuple<std::string, std::string, std::string>> uploads;
    for (const driver::objects::ActiveUpload& upload : driver::objects::active_uploads())
      uploads.emplace_back(upload.url, store::web::parse_web_url(upload.url).key, upload.id);
    return uploads;
  });
  module.def(
      "open_objects",
      [](const std::string& location) { return store::open_objects(location, store::Sharing::kShared); }, "location"_a,
      nb::call_guard<GilRelease>());
}

void bind_member(nb::module_& module) {
  using container::Member;
  nb::class_<Member, container::Content>(module, "Member")
      .def_ro("element", &Member::element)
      .def_prop_ro("stored",
                   [](const Member& self) -> std::optional<std::int64_t> {
                     if (self.stored == Member::kNotCounted) return std::nullopt;
                     return self.stored;
                   })
      .def_ro("storage", &Member::storage)
      .def_ro("library", &Member::library)
      .def_ro("copy_reason", &Member::copy_reason)
      .def_prop_ro("error", [](const Member& self) { return self.rejection.reason(); })
      .def_ro("has_elements", &Member::has_elements);
}

}  // namespace

void bind_location(nb::module_& module) {
  using driver::ComponentFile;
  using driver::ResolvedName;
  nb::class_<ComponentFile>(module, "ComponentFile")
      .def_ro("path", &ComponentFile::path)
      .def_ro("bytes", &ComponentFile::bytes);
  nb::class_<ResolvedName>(module, "ResolvedName")
      .def_ro("kind", &ResolvedName::kind)
      .def_ro("name", &ResolvedName::name)
      .def_ro("file", &ResolvedName::file)
      .def_ro("path", &ResolvedName::path)
      .def_ro("id", &ResolvedName::id)
      .def_ro("location", &ResolvedName::location)
      .def_ro("components", &ResolvedName::components)
      .def_ro("unit", &ResolvedName::unit)
      .def_ro("only_in", &ResolvedName::only_in)
      .def_ro("format", &ResolvedName::format)
      .def_ro("names_arrays", &ResolvedName::names_arrays)
      .def_ro("has_chunks", &ResolvedName::has_chunks)
      .def_ro("adds_arrays", &ResolvedName::adds_arrays)
      .def_prop_ro("only_order",
                   [](const ResolvedName& self) -> std::optional<std::string> {
                     if (!self.only_order) return std::nullopt;
                     return *self.only_order == Order::kC ? "C" : "F";
                   })
      .def_ro("supports_unfinished", &ResolvedName::supports_unfinished)
      .def_ro("copies_objects", &ResolvedName::copies_objects)
      .def_ro("states_type", &ResolvedName::states_type);
  bind_member(module);
  module.def(
      "arrays_in",
      [](const std::string& name, bool sizes) {
        return driver::arrays_in(name, sizes ? driver::Sizes::kCounted : driver::Sizes::kAsStated);
      },
      "name"_a, "sizes"_a, nb::call_guard<GilRelease>());
  module.def("remove_unfinished", &driver::remove_unfinished, "name"_a, nb::call_guard<GilRelease>());
  module.def("groups_in", &driver::groups_in, "name"_a, nb::call_guard<GilRelease>());
  module.def(
      "list_file",
      [](const std::string& name) {
        driver::FileListing listing = driver::list_file(name);
        return std::tuple(std::move(listing.arrays), std::move(listing.groups));
      },
      "name"_a, nb::call_guard<GilRelease>());
  bind_formats(module);
  bind_objects(module);
  module.def("locate_new", &driver::locate_new, "name"_a, nb::call_guard<GilRelease>());
  module.def("sibling_files", &driver::sibling_files, "found"_a, nb::call_guard<GilRelease>());
  module.def(
      "comes_in_steps",
      [](const std::string& name) { return driver::find_driver(name).contents() == driver::Contents::kNone; },
      "name"_a);
  module.def("pipe_prefix", [] { return std::string(driver::pipe::driver().prefix()); });
}

}  // namespace plait::python
