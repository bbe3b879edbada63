# lib.sh - shared by the scripts here; to be sourced from the top folder.

# Configures and builds one preset, quietly: what was said is shown only if it fails.
build_preset() {
    mkdir -p "build/$1"
    if ! { cmake --preset "$1" && cmake --build --preset "$1"; } >"build/$1/build.log" 2>&1 </dev/null; then
        grep -E 'error|Error|FAILED|warning' "build/$1/build.log" | head -n 40 >&2 || true
        echo "building preset $1 failed; all of it is in build/$1/build.log" >&2
        return 1
    fi
}
