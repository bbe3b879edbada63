# What programs that read files of strangers are built with: sampler and sampler-run, and all that is linked into them.
#
#   sampler_harden()
#       For the folder it is called in and those below: position-independent executables, bound at start with the GOT
#       read-only, stack protector and stack-clash protection, marks of control-flow protection (x86), and
#       _FORTIFY_SOURCE=2 where the build optimizes (it does nothing else) and no sanitizer has checks of its own.
#
# The marks reach the finished program only where libc's start files have them too, which Debian 12's have not.
#
# Not for preload: a stack protector reads thread-local storage that may not be there when the handler runs, and what is
# linked into strangers' programs takes their flags; preload/CMakeLists.txt says what it is built with.
function(sampler_harden)
  add_compile_options(-fPIE -fstack-protector-strong -fstack-clash-protection)
  add_link_options(-pie -Wl,-z,relro -Wl,-z,now)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
    add_compile_options(-fcf-protection=full)
  endif()
  if(NOT SAMPLER_SANITIZE)
    add_compile_options("$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
  endif()
endfunction()
