/// Redirects functions that loaded objects (the program and its shared libraries) import from other objects.
#pragma once

namespace plait::base {

/// Redirects the calls of function `name` from `original` to `replacement` in all loaded objects that import it.
/// Returns the number of addresses that were replaced: 0 on processors other than x86-64 and AArch64.
///
/// A function `name` in a library of Plait would not suffice.  It takes effect only if the program lists that library
/// before the original, and never in modules that dlopen() loads with RTLD_LOCAL, as Python does.  Therefore this
/// function overwrites the tables in which the dynamic linker stores resolved addresses (the technique of GOTCHA).
/// Objects that get the address from dlsym() still call the original, and so do programs with a stub for it: those that
/// are not position-independent and take its address.  Addresses that a tool has replaced before stay as they are.
/// threads  One at a time.
int redirect_imports(const char* name, void (*original)(), void (*replacement)());

/// Returns the number of objects that this process has loaded so far, including those unloaded since. It grows whenever
/// an object is loaded.
unsigned long long loaded_objects();

}  // namespace plait::base
