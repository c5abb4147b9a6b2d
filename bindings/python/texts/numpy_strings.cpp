// Texts in NumPy arrays without a Python object for each.
//
// Problem: numpy.array(list_of_str, StringDType()) takes two passes over a list of Python objects, and acquires the
// lock of the array's allocator for each element.
//
// Idea: NumPy's C interface stores and loads elements under one lock. Four of its functions are needed. They are taken
// from the table in the capsule `_ARRAY_API`: the position of a function is a part of NumPy's binary interface, on
// which every compiled extension depends. Only these positions would be taken from NumPy's headers, so the headers are
// not made a requirement of each build.
//
// Example: a text of 12 bytes is stored in its element of 16 bytes, a text of 100 bytes in the memory of the allocator.
// Both take one call of pack().

#include "texts/numpy_strings.hpp"

#include <new>
#include <stdexcept>
#include <string_view>

#include "base/text.hpp"

namespace nb = nanobind;

namespace plait::python {

namespace {

constexpr std::size_t kElementBytes = 2 * sizeof(std::size_t);
constexpr unsigned kBinaryInterface = 0x02000000;  ///< of NumPy 2
constexpr unsigned kFeatures = 0x12;               ///< of NumPy 2.0, the first with StringDType

/// NumPy's npy_static_string.
struct StaticString {
  std::size_t size;
  const char* bytes;
};

struct Allocator;
struct Packed;

/// Functions of NumPy's C interface. Their comments state the position in its table.
struct NumpyFunctions {
  int (*load)(Allocator*, const Packed*, StaticString*);       ///< 313; 1: missing; -1: error
  int (*pack)(Allocator*, Packed*, const char*, std::size_t);  ///< 314; -1: no memory
  Allocator* (*acquire_allocator)(const PyObject* dtype);      ///< 316
  void (*release_allocator)(Allocator*);                       ///< 318
  nb::object string_dtype;                                     ///< the class
};

template <typename Function>
void take(void* const* table, std::size_t position, Function*& function) {
  function = reinterpret_cast<Function*>(table[position]);
}

NumpyFunctions find_functions() {
  NumpyFunctions functions{};
  const nb::object dtypes = nb::module_::import_("numpy.dtypes");
  if (!nb::hasattr(dtypes, "StringDType"))
    throw std::runtime_error("texts in NumPy arrays need NumPy 2 or newer; use lists of texts");
  const nb::object capsule = nb::module_::import_("numpy._core._multiarray_umath").attr("_ARRAY_API");
  auto* const table = static_cast<void* const*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (table == nullptr) throw nb::python_error();
  unsigned (*binary_interface)() = nullptr;
  unsigned (*features)() = nullptr;
  take(table, 0, binary_interface);
  take(table, 211, features);
  if (binary_interface() != kBinaryInterface || features() < kFeatures)
    throw std::runtime_error(base::text("NumPy has the binary interface ", binary_interface(), '.', features(),
                                        "; expected ", kBinaryInterface, '.', kFeatures,
                                        " or newer features; install a version of NumPy 2"));
  take(table, 313, functions.load);
  take(table, 314, functions.pack);
  take(table, 316, functions.acquire_allocator);
  take(table, 318, functions.release_allocator);
  functions.string_dtype = dtypes.attr("StringDType");
  return functions;
}

const NumpyFunctions& numpy() {
  // It is never destroyed, because its class would be released after the end of the interpreter.
  static const auto* const functions = new NumpyFunctions(find_functions());
  return *functions;
}

/// Locks the allocator of an array while it exists. During that time no code may call Python.
class LockedAllocator {
 public:
  LockedAllocator(const NumpyFunctions& functions, nb::handle dtype)
      : functions_(functions), allocator_(functions.acquire_allocator(dtype.ptr())) {}
  ~LockedAllocator() { functions_.release_allocator(allocator_); }
  LockedAllocator(const LockedAllocator&) = delete;
  LockedAllocator& operator=(const LockedAllocator&) = delete;

  Allocator* get() const { return allocator_; }

 private:
  const NumpyFunctions& functions_;
  Allocator* allocator_;
};

const NumpyFunctions& checked_functions(const NumpyStrings& strings) {
  const NumpyFunctions& functions = numpy();
  if (!nb::isinstance(strings.dtype, functions.string_dtype))
    throw nb::value_error("the dtype of the array is not StringDType; convert the array with astype()");
  return functions;
}

}  // namespace

void store_texts(const TextBlock& texts, std::size_t first, const NumpyStrings& target) {
  const NumpyFunctions& functions = checked_functions(target);
  if (first > texts.size() || target.count > texts.size() - first)
    throw nb::value_error(base::text("the array has ", target.count, " elements, but ", texts.size(),
                                     " texts have fewer from ", first, " on; pass a smaller array")
                              .c_str());
  const LockedAllocator allocator(functions, target.dtype);
  for (std::size_t i = 0; i < target.count; ++i) {
    const std::string_view text = texts[first + i];
    auto* const element = reinterpret_cast<Packed*>(target.address + i * kElementBytes);
    if (functions.pack(allocator.get(), element, text.data(), text.size()) != 0) throw std::bad_alloc();
  }
}

void load_texts(const NumpyStrings& source, TextBlock& texts) {
  const NumpyFunctions& functions = checked_functions(source);
  std::size_t missing = source.count;
  if (texts.size() == 0) texts.reserve(source.count, 0);
  {
    const LockedAllocator allocator(functions, source.dtype);
    for (std::size_t i = 0; i < source.count && missing == source.count; ++i) {
      StaticString text{0, nullptr};
      const auto* const element = reinterpret_cast<const Packed*>(source.address + i * kElementBytes);
      if (functions.load(allocator.get(), element, &text) == 0)
        texts.add(std::string_view(text.bytes, text.size));
      else
        missing = i;
    }
  }
  if (missing != source.count)
    throw nb::value_error(base::text("element ", missing, " is missing or damaged; expected a text").c_str());
}

}  // namespace plait::python
