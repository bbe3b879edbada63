# lib.sh - shared by the scripts here; to be sourced from the top folder.

# Compiled once, for all copies of the project on this machine, where ccache is there: it then sees paths relative to this
# folder. What it finds may have been compiled in another one, and its debug information says so: gdb started here shows
# the sources nevertheless. Builds without these scripts do as CMake is told.
if command -v ccache >/dev/null 2>&1; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi

# build_preset PRESET [ARGUMENT...]: configures it, with these arguments of cmake, and builds it, quietly: what was said is
# shown only if it fails.
build_preset() {
    mkdir -p "build/$1"
    if ! { cmake --preset "$@" && cmake --build --preset "$1"; } >"build/$1/build.log" 2>&1 </dev/null; then
        grep -E 'error|Error|FAILED|warning' "build/$1/build.log" | head -n 40 >&2 || true
        echo "building preset $1 failed; all of it is in build/$1/build.log" >&2
        return 1
    fi
}
