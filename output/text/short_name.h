/* short_name.h - what people call a function, of the name that says all about it.
 *
 *   std::vector<int, std::allocator<int> >::push_back(int const&)   std::vector<...>::push_back
 *   run(int)::{lambda(int)#1}::operator()(int) const                run::{lambda#1}::operator()
 *   ns::name[abi:cxx11]()                                           ns::name
 *   <alloc::vec::Vec<T> as core::ops::Drop>::drop                   <alloc::vec::Vec<...> as core::ops::Drop>::drop
 *   std.stdio.writeln!(string).writeln(string)                      std.stdio.writeln!(...).writeln
 *
 * Arguments of functions and of those they stand in go, those of templates become "<...>", ABI tags
 * go. A return type in front is not known from a name: demanglers are asked not to write it.
 * Takes demangled names of C++, Rust and D, and plain ones as their debug information has them; others
 * have nothing of that, and stay. */
#ifndef SAMPLER_SHORT_NAME_H
#define SAMPLER_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the short form of `name` to `out`, with a NUL. False: it has no brackets, or there is no
 * room for it. */
bool short_name_make(const char *name, char *out, size_t out_bytes);

#endif
