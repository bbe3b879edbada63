# Libraries we stand on; scripts/packages lists the Debian packages that bring them.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ELFUTILS REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(LIBDEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(CAPSTONE REQUIRED capstone) # its header; the library is loaded when it is needed
pkg_check_modules(DEBUGINFOD REQUIRED libdebuginfod) # the same
find_path(LIBIBERTY_INCLUDE_DIR demangle.h PATH_SUFFIXES libiberty REQUIRED)
find_library(LIBIBERTY_LIBRARY iberty REQUIRED)
add_library(sampler_libiberty INTERFACE)
target_include_directories(sampler_libiberty SYSTEM INTERFACE "${LIBIBERTY_INCLUDE_DIR}")
target_link_libraries(sampler_libiberty INTERFACE "${LIBIBERTY_LIBRARY}")
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/reader.h REQUIRED)
