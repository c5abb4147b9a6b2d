// Steps of pipes.

#include <utility>

#include "base/errors.hpp"
#include "container/array_type.hpp"
#include "objects.hpp"
#include "options.hpp"

using namespace plait::c;
using plait::Attribute;

namespace {

/// Sets an attribute of the next step. value: a function that returns it.
template <typename Value>
plait_status put_attribute(plait_file* file, const char* name, Value&& value) {
  return guarded(file, [&] {
    const plait::File& file_object = to_file(file);
    if (file_object.mode() == plait::Mode::kRead)
      plait::base::throw_argument_error(file_object.path(),
                                        " is open for reading; attributes are given by the writer of a step");
    file->next_attributes[to_text(name, "name")] = value();
  });
}

const Attribute& find_step_attribute(const plait_file* file, const char* name) {
  const plait::Step& step = to_file(file).step();
  const auto attribute = step.attributes.find(to_text(name, "name"));
  if (attribute != step.attributes.end()) return attribute->second;
  std::string all;
  for (const auto& [attribute_name, value] : step.attributes) all += (all.empty() ? "" : ", ") + attribute_name;
  plait::base::throw_argument_error("step ", step.number, " has no attribute \"", name, "\"; it has ",
                                    all.empty() ? "none" : all);
}

[[noreturn]] void throw_wrong_type(const char* name, const Attribute& attribute, const char* expected_type) {
  constexpr const char* kTypes[] = {"an integer", "a real", "a text"};
  plait::base::throw_argument_error("the attribute \"", name, "\" is ", kTypes[attribute.index()], ", but ",
                                    expected_type, " was asked for");
}

/// Returns a function that reports an error to all ranks, for run_checks().
auto reporter(plait::File& file) {
  return [&file](const std::string& message, int code) { file.fail(message, code); };
}

}  // namespace

plait_status plait_put_integer(plait_file* file, const char* name, int64_t value) {
  return put_attribute(file, name, [&] { return std::int64_t{value}; });
}

plait_status plait_put_real(plait_file* file, const char* name, double value) {
  return put_attribute(file, name, [&] { return value; });
}

plait_status plait_put_text(plait_file* file, const char* name, const char* value) {
  return put_attribute(file, name, [&] { return to_text(value, "value"); });
}

plait_status plait_begin_step(plait_file* file, int* more) {
  return guarded(file, [&] {
    plait::File& file_object = to_file(file);
    int& result = run_checks(reporter(file_object), [&]() -> int& { return output(more, "more"); });
    result = file_object.begin_step(std::exchange(file->next_attributes, {})) ? 1 : 0;
  });
}

plait_status plait_end_step(plait_file* file) {
  return guarded(file, [&] { to_file(file).end_step(); });
}

plait_status plait_step_number(const plait_file* file, int64_t* number) {
  return guarded(file, [&] { output(number, "number") = to_file(file).step().number; });
}

plait_status plait_get_integer(const plait_file* file, const char* name, int64_t* value) {
  return guarded(file, [&] {
    const Attribute& attribute = find_step_attribute(file, name);
    const auto* number = std::get_if<std::int64_t>(&attribute);
    if (number == nullptr) throw_wrong_type(name, attribute, "an integer");
    output(value, "value") = *number;
  });
}

plait_status plait_get_real(const plait_file* file, const char* name, double* value) {
  return guarded(file, [&] {
    const Attribute& attribute = find_step_attribute(file, name);
    double& result = output(value, "value");
    if (const auto* number = std::get_if<std::int64_t>(&attribute)) {
      result = static_cast<double>(*number);
    } else if (const auto* real = std::get_if<double>(&attribute)) {
      result = *real;
    } else {
      throw_wrong_type(name, attribute, "a real");
    }
  });
}

plait_status plait_get_text(const plait_file* file, const char* name, char** value) {
  if (value != nullptr) *value = nullptr;
  return guarded(file, [&] {
    const Attribute& attribute = find_step_attribute(file, name);
    const auto* text = std::get_if<std::string>(&attribute);
    if (text == nullptr) throw_wrong_type(name, attribute, "a text");
    store_text(value, "value", [&] { return *text; });
  });
}

plait_status plait_select_variable(plait_file* file, const char* name) {
  return guarded(file, [&] { to_file(file).select_variable(to_text(name, "name")); });
}

plait_status plait_define_variable(plait_file* file, const char* name, int dimensions, const int64_t* shape,
                                   const char* dtype, int64_t element_bytes) {
  return guarded(file, [&] {
    plait::File& file_object = to_file(file);
    plait::FileOptions described;
    described.shape = to_extents(shape, dimensions, "shape");
    if (dtype != nullptr) described.dtype = dtype;
    described.element_bytes = element_bytes;
    described.order = file_object.type().order;
    file_object.select_variable(to_text(name, "name"),
                                plait::container::make_array_type(described, file_object.path(), true));
  });
}

plait_status plait_variables(const plait_file* file, int* count) {
  return guarded(file, [&] { output(count, "count") = static_cast<int>(to_file(file).step().variables.size()); });
}

plait_status plait_variable_name(const plait_file* file, int number, char** name) {
  if (name != nullptr) *name = nullptr;
  return guarded(file, [&] {
    const auto& all = to_file(file).step().variables;
    if (number < 0 || static_cast<std::size_t>(number) >= all.size())
      plait::base::throw_argument_error("the step has ", all.size(), " arrays, but number ", number,
                                        " was asked for; they count from 0");
    store_text(name, "name", [&] { return all[static_cast<std::size_t>(number)]; });
  });
}
