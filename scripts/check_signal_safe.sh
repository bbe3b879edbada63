#!/bin/bash
# check_signal_safe.sh - is what the signal handler runs closed under calls?
#
#   scripts/check_signal_safe.sh [--allow FILE] [OBJECT...]
#
# Functions marked SIGNAL_SAFE (preload/sys/context.h) lie in section .text.signal_safe. Each call or jump out of that
# section in the given objects (default: those of build/release/preload) must go to the same section of one of them, or
# to a name listed in preload/signal_safe.allow, one a line, each with its reason. Calls and jumps through a register or
# memory are refused: nobody can follow them here. (Calls through the GOT, as -fno-plt makes them, name their target.)
# Exit status: 0 clean, 1 something was refused (one line each), 2 wrong use.
set -u -o pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
allow=$root/preload/signal_safe.allow
section=.text.signal_safe
if [ "${1:-}" = --allow ]; then
    allow=${2:?--allow needs a file}
    shift 2
fi
if [ $# -eq 0 ]; then
    mapfile -t objects < <(find "$root/build/release/preload" -name '*.o' 2>/dev/null | sort)
    set -- "${objects[@]}"
fi
if [ $# -eq 0 ] || [ ! -r "$allow" ]; then
    echo "check_signal_safe: no objects (build the release preset first), or no $allow" >&2
    exit 2
fi

# Names defined in the section, of all objects together.
safe_names=$(
    for object in "$@"; do
        index=$(readelf -SW "$object" | sed -n "s/^ *\[ *\([0-9]*\)\] ${section//./\\.} .*/\1/p")
        [ -z "$index" ] || readelf -sW "$object" | awk -v index_of="$index" '$4 == "FUNC" && $7 == index_of { print $8 }'
    done | sort -u
)
if [ -z "$safe_names" ]; then
    echo "check_signal_safe: no function in section $section of the objects given" >&2
    exit 2
fi

# One line per transfer of control: function, instruction, target of its relocation (or -).
transfers()
{
    objdump -dr --no-show-raw-insn -j "$section" "$1" 2>/dev/null | awk '
        function flush() { if (instruction != "") print name "\t" instruction "\t" target; instruction = "" }
        /^[0-9a-f]+ <.*>:$/ { flush(); name = $2; gsub(/[<>:]/, "", name); next }
        /\tR_|: R_/ {
            if (instruction != "" && target == "-") { target = $NF; sub(/[-+]0x[0-9a-f]+$/, "", target) }
            next
        }
        /^ +[0-9a-f]+:/ {
            flush()
            text = $0
            sub(/^ +[0-9a-f]+:\t?/, "", text)
            mnemonic = text
            sub(/^(notrack|bnd|rep|repz) +/, "", mnemonic)
            sub(/[ \t].*/, "", mnemonic)
            if (mnemonic ~ /^(call|callq|j[a-z]+|jmpq|bl|b|blr|br|b\..*|cbn?z|tbn?z)$/) { instruction = text; target = "-" }
        }
        END { flush() }'
}

refused=$(
    for object in "$@"; do
        transfers "$object" | sed "s|^|$(basename "$object"): |"
    done | awk -F '\t' -v section="$section" -v safe_names="$safe_names" -v allow="$allow" '
        BEGIN {
            n = split(safe_names, names, "\n")
            for (i = 1; i <= n; i++) known[names[i]] = 1
            while ((getline line < allow) > 0)
                if (split(line, words, " ") >= 2 && words[1] !~ /^#/) known[words[1]] = 1
        }
        $3 == "-" {
            if ($2 ~ /\*|^blr|^br[ \t]/) print $1 ": goes through a pointer: " $2
            next
        }
        $3 != section && !($3 in known) {
            print $1 ": calls " $3 ", which is neither in " section " nor allowed with a reason"
        }' | sort -u
)
if [ -n "$refused" ]; then
    echo "$refused"
    exit 1
fi
echo "check_signal_safe: $(wc -l <<<"$safe_names") functions in $# objects call nothing else"
