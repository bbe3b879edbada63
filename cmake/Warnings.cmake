# The warnings every target of ours is built with, and the sanitizers if any were asked for.
# sampler_warnings: INTERFACE library; link it PRIVATE.

add_library(sampler_warnings INTERFACE)
target_compile_options(sampler_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla
  -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual
  -Wwrite-strings -Wnull-dereference -Wswitch-enum>)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sampler_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wcast-align=strict>)
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
