/// A reference to a function that is called only while its owner waits.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace plait::base {

template <typename Signature>
class FunctionRef;

/// Refers to a callable object and allocates no memory, unlike std::function.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename Body>
    requires(!std::is_same_v<std::remove_cvref_t<Body>, FunctionRef>)
  FunctionRef(Body&& body) noexcept  // NOLINT: as for std::function, what is passed becomes one
      : body_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* thing, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Body>*>(thing))(std::forward<Arguments>(arguments)...);
        }) {}
  Result operator()(Arguments... arguments) const { return call_(body_, std::forward<Arguments>(arguments)...); }

 private:
  void* body_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace plait::base
