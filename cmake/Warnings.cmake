# The warnings every target of ours is built with, and the sanitizers if any were asked for.
# sampler_warnings: INTERFACE library; link it PRIVATE.

add_library(sampler_warnings INTERFACE)
target_compile_options(sampler_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla -Wformat=2 -Wpointer-arith
  -Wcast-qual -Wwrite-strings -Wnull-dereference -Wswitch-enum
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sampler_warnings INTERFACE
    -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wcast-align=strict)
endif()
if(SAMPLER_WERROR)
  target_compile_options(sampler_warnings INTERFACE -Werror)
endif()
if(SAMPLER_SANITIZE)
  add_compile_options(-fsanitize=${SAMPLER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SAMPLER_SANITIZE})
  if(SAMPLER_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(SAMPLER_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()
