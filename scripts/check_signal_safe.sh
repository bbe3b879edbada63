#!/bin/bash
# check_signal_safe.sh - is what the signal handler runs closed under calls?
#
#   scripts/check_signal_safe.sh [--allow FILE] [OBJECT...]
#
# Functions marked SIGNAL_SAFE (preload/sys/context.h) lie in section .text.signal_safe. Each call or jump out of that
# section in the given objects (default: those of build/release/preload) must go
#   - to the same section of one of them, or
#   - to a function marked SIGNAL_UNSAFE_BY_CHOICE: counted, named, not followed, or
#   - to a name listed in preload/signal_safe.allow, one a line, each with its reason.
# The list is for what others define: a name in it that is a function of one of the objects is refused, so give it all
# objects of the library. Calls and jumps through a register or memory are refused: nobody can follow them here. (Calls
# through the GOT, as -fno-plt makes them, name their target; so do those through a variable, which the list may name.)
# Exit status: 0 clean, 1 something was refused (one line each), 2 wrong use.
set -u -o pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
allow=$root/preload/signal_safe.allow
section=.text.signal_safe
chosen_section=.text.signal_unsafe_by_choice
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

# Functions that the objects define: name, binding, section.
functions=$(
    readelf -SsW "$@" | awk '
        /^File: / { delete section }
        match($0, /^ *\[ *[0-9]+\] /) {
            number = substr($0, RSTART, RLENGTH)
            gsub(/[^0-9]/, "", number)
            section[number] = substr($0, RSTART + RLENGTH)
            sub(/ .*/, "", section[number])
        }
        $4 == "FUNC" && $7 != "UND" { print $8, $5, section[$7] }'
)
names_in()
{
    awk -v section="$1" '$3 == section { print $1 }' <<<"$functions" | sort -u
}
safe_names=$(names_in $section)
chosen_names=$(names_in $chosen_section)
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

# Names of the list that are functions of ours.
own_names=$(
    awk '$2 != "LOCAL" { print $1 }' <<<"$functions" | sort -u |
        comm -12 - <(awk 'NF >= 2 && !/^#/ { print $1 }' "$allow" | sort -u)
)

refused=$(
    for name in $own_names; do
        echo "$(basename "$allow"): names $name, which is ours: mark it SIGNAL_SAFE"
    done
    for object in "$@"; do
        transfers "$object" | sed "s|^|$(basename "$object"): |"
    done | awk -F '\t' -v section="$section" -v chosen="$chosen_section" \
        -v safe_names="$safe_names
$chosen_names" -v allow="$allow" '
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
        $3 != section && $3 != chosen && !($3 in known) {
            print $1 ": calls " $3 ", which is neither in " section " nor allowed with a reason"
        }' | sort -u
)
if [ -n "$refused" ]; then
    echo "$refused"
    exit 1
fi
echo "check_signal_safe: $(wc -l <<<"$safe_names") functions in $# objects call nothing else"
[ -z "$chosen_names" ] || echo "unsafe by choice, $(wc -l <<<"$chosen_names"):" $chosen_names
