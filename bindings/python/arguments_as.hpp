/// Arguments with complete errors: the value found, the value expected, and the remedy.
///
/// Problem: nanobind answers a wrong argument with a list of C++ signatures.
///
/// Idea: an argument of type Argument<T> accepts any object, so that the function itself reports a wrong one by its
/// name. Each method also gets an overload that accepts all other arguments (def_else), and reports the correct call.
/// Example: layout.indices("a") raises "rank='a' is not a rank; give a whole number, such as 0", and layout.indices()
/// "found 0 arguments; call indices(rank)".
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "plait/error.hpp"
#include "string.hpp"

namespace plait::python {

/// Returns the text of a value for errors: its spelling in Python, cut off if it is long.
inline std::string shown(nanobind::handle value) {
  return nanobind::cast<std::string>(nanobind::module_::import_("plait._arguments.words").attr("shown")(value));
}

/// Raises plait.ArgumentTypeError.
[[noreturn]] inline void throw_type_error(const std::string& text) {
  const nanobind::object error = nanobind::module_::import_("plait._base.errors").attr("ArgumentTypeError")(text);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  nanobind::raise_python_error();
}

/// An argument of any type. It is converted to T, or rejected by the name that it has for the caller.
template <typename T>
struct Argument {
  std::optional<T> value;  ///< empty if the argument is not a T
  nanobind::object found;  ///< the argument then, for the error text

  /// Returns the value. name: the name of the argument. requirement: the end of the error text, such as
  /// "is not a whole number; give a rank".
  /// errors  plait.ArgumentTypeError: the argument is not a T.
  const T& as(const char* name, const char* requirement) const {
    if (value) return *value;
    throw_type_error(std::string(name) + '=' + shown(found) + ' ' + requirement);
  }
};

/// An argument that may be left out or be None.
template <typename T>
using OptionalArgument = std::optional<Argument<T>>;

template <typename T>
std::optional<T> as(const OptionalArgument<T>& argument, const char* name, const char* requirement) {
  return argument ? std::optional<T>(argument->as(name, requirement)) : std::nullopt;
}

/// Raises a TypeError for a call with missing, misspelt or too many arguments; the text has the correct call.
[[noreturn]] inline void throw_call_error(const char* call, const nanobind::args& positional,
                                          const nanobind::kwargs& named) {
  std::string text =
      "found " + std::to_string(positional.size()) + (positional.size() == 1 ? " argument" : " arguments");
  for (const auto& [name, value] : named)
    text += (text.back() == '=' ? ", " : " and ") + nanobind::cast<std::string>(name) + '=';
  throw_type_error(text + "; call " + call);
}

/// Adds an overload to a method that accepts all other arguments. call: the correct call, such as "indices(rank)".
template <typename Class>
void def_fallback(Class& target, const char* name, const char* call) {
  target.def(name,
             [call](const nanobind::object&, const nanobind::args& positional,
                    const nanobind::kwargs& named) -> nanobind::object { throw_call_error(call, positional, named); });
}

/// Adds an overload like that of def_fallback() to a static method.
template <typename Class>
void def_static_fallback(Class& target, const char* name, const char* call) {
  target.def_static(name, [call](const nanobind::args& positional, const nanobind::kwargs& named) -> nanobind::object {
    throw_call_error(call, positional, named);
  });
}

/// Adds an overload like that of def_fallback() to the constructor of a class. call: for example "IndexSet(...)".
template <typename Type, typename Class>
void def_init_fallback(Class& target, const char* call) {
  target.def("__init__", [call](Type*, const nanobind::args& positional, const nanobind::kwargs& named) {
    throw_call_error(call, positional, named);
  });
}

}  // namespace plait::python

namespace nanobind::detail {

template <typename T>
// Accepts None, so that the error has the name of the argument.
struct has_arg_defaults<plait::python::Argument<T>> : std::true_type {};

template <typename T>
struct type_caster<plait::python::Argument<T>> {
  using Inner = make_caster<T>;
  NB_TYPE_CASTER(plait::python::Argument<T>, Inner::Name)

  bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
    Inner inner;
    // No other overload could take the argument without conversion.
    flags |= static_cast<std::uint8_t>(cast_flags::convert);
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
