/// Arguments whose errors are told in words: what was found, what was expected, what to do.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "plait/error.hpp"

namespace plait::python {

/// What an error says of a value: as Python spells it, cut off where it is long.
std::string shown(nanobind::handle value);

/// Raises plait.ArgumentTypeError.
[[noreturn]] void throw_type_error(const std::string& text);

/// An argument of any type, that is a T or else is refused by the name that it has for the caller.
template <typename T>
struct Given {
  std::optional<T> value;
  nanobind::object found;

  /// errors  plait.ArgumentTypeError: `name` and what it is; `wanted` says what it is not and what to do, such as "is
  ///         not a whole number; give a rank".
  const T& as(const char* name, const char* wanted) const {
    if (value) return *value;
    throw_type_error(std::string(name) + '=' + shown(found) + ' ' + wanted);
  }
};

/// The same for what may be left out or be None.
template <typename T>
using Perhaps = std::optional<Given<T>>;

template <typename T>
std::optional<T> as(const Perhaps<T>& given, const char* name, const char* wanted) {
  return given ? std::optional<T>(given->as(name, wanted)) : std::nullopt;
}

/// Raises what a call with missing, misspelt or too many arguments is: a TypeError that says how it is called.
[[noreturn]] void throw_call_error(const char* call, const nanobind::args& found, const nanobind::kwargs& named);

/// Adds to a method the form that takes all else.  `call` is how it is called, such as "indices(rank)".
template <typename Class>
void def_else(Class& target, const char* name, const char* call) {
  target.def(name,
             [call](const nanobind::object&, const nanobind::args& found,
                    const nanobind::kwargs& named) -> nanobind::object { throw_call_error(call, found, named); });
}

template <typename Class>
void def_static_else(Class& target, const char* name, const char* call) {
  target.def_static(name, [call](const nanobind::args& found, const nanobind::kwargs& named) -> nanobind::object {
    throw_call_error(call, found, named);
  });
}

/// Of a class; `call` is such as "IndexSet(...)".
template <typename Type, typename Class>
void def_init_else(Class& target, const char* call) {
  target.def("__init__", [call](Type*, const nanobind::args& found, const nanobind::kwargs& named) {
    throw_call_error(call, found, named);
  });
}

}  // namespace plait::python

namespace nanobind::detail {

template <typename T>
struct has_arg_defaults<plait::python::Given<T>> : std::true_type {};  // takes None, to refuse it by name

template <typename T>
struct type_caster<plait::python::Given<T>> {
  using Inner = make_caster<T>;
  NB_TYPE_CASTER(plait::python::Given<T>, Inner::Name)

  bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
    Inner inner;
    flags |= static_cast<std::uint8_t>(cast_flags::convert);  // there is no other form that could take it as it is
    if (!source.is_none() && inner.from_python(source, flags_for_local_caster<T>(flags), cleanup) &&
        inner.template can_cast<T>()) {
      value.value = inner.operator cast_t<T>();
    } else {
      PyErr_Clear();
      value.found = borrow(source);
    }
    return true;
  }
};

}  // namespace nanobind::detail
