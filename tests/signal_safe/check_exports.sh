#!/bin/bash
# check_exports.sh MAP LIBRARY OBJECT... - LIBRARY exports what MAP names, no more and no less, all of it without a
# version, and no object means to export anything else (which the map would silently make local). Exit status: 0 so, 1 not.
set -u -o pipefail
map=$1
library=$2
shift 2
wanted=$(sed -n '/global:/,/local:/s/^ *\([A-Za-z_][A-Za-z0-9_]*\);.*/\1/p' "$map" | LC_ALL=C sort)
exported=$(nm -D --defined-only "$library" | awk '{ print $NF }' | LC_ALL=C sort)
meant=$(readelf -sW "$@" | awk '($5 == "GLOBAL" || $5 == "WEAK") && $6 == "DEFAULT" && $7 != "UND" { print $8 }' | LC_ALL=C sort -u)
status=0
[ -n "$wanted" ] || { echo "$map names nothing"; exit 1; }
if ! difference=$(diff <(echo "$wanted") <(echo "$exported")); then
    printf '%s\n' "$library exports (>) other names than $map has (<):" "$difference"
    status=1
fi
if ! difference=$(diff <(echo "$wanted") <(echo "$meant")); then
    printf '%s\n' "the objects mean to export (>) other names than $map has (<):" "$difference"
    status=1
fi
exit $status
