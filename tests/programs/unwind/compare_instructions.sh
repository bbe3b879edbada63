#!/bin/bash
# compare_instructions.sh INSTRUCTIONS LIBRARY... - our reading of instructions against objdump's, for each different
# instruction of each library: its length, and what it does to the stack pointer and to the order of things.
# Exit status 1 when one differs, 77 when no library is there.
set -u -o pipefail
instructions=$1
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=77
for library in "$@"; do
    [ -r "$library" ] || continue
    [ $status -eq 77 ] && status=0
    # Data among code is "(bad)", or the part of an instruction before one; a wait that objdump joins with the x87
    # instruction behind it is an instruction by itself.
    LC_ALL=C objdump -d -w --insn-width=16 "$library" 2>/dev/null | awk -F '\t' '
        NF < 3 || $2 ~ /^9b / { next }
        $3 ~ /\(bad\)|^\.byte|^rex[.A-Z]* *$|^(data16|addr32|lock|repz|repnz|[c-g]s|bnd|notrack) *$/ { next }
        {
            text = $3
            sub(/ *[#<].*/, "", text)
            while (sub(/^(data16|addr32|lock|repz|repnz|rep|bnd|notrack|[c-gs]s|rex[.A-Z]*) +/, "", text)) {}
            if (text ~ /^rex/) next
            split(text, word, " ")
            name = word[1]
            sub(/,p[nt]$/, "", name)
            n = split($2, bytes, " ")
            to_pointer = text ~ /,%r[sb]p$/
            effect = "-"
            if (name ~ /^push/) effect = "push"
            else if (name ~ /^pop(f|$)/) effect = text ~ /^popf|\(/ ? "set" : "pop"
            else if (name ~ /^leave/) effect = "leave"
            else if (name ~ /^ret/) effect = "ret"
            else if (name ~ /^(hlt|ud[012][ab]?)$/) effect = "stop"
            else if (name ~ /^(int3|iret.?|lret.?|enter.?|sysret.?|sysexit.?)$/) effect = "unknown"
            else if (name ~ /^jmp/) effect = text ~ /\*.*\(%rip\)/ ? "jmp*" : text ~ /\*/ ? "unknown" : "jmp"
            else if (name ~ /^ljmp/) effect = "unknown"
            else if (name ~ /^(j[a-z]+|loop[a-z]*)$/) effect = "j"
            else if (name == "xbegin") effect = "-"
            else if (text ~ /,%rsp$/ && name == "and") effect = text ~ /\$/ ? "align" : "unknown"
            else if (text ~ /,%rsp$/ && name ~ /^(mov|lea)$/) effect = "set|unknown"
            else if (text ~ /,%rsp$/ && name ~ /^(add|sub)$/) effect = text ~ /\$/ ? "set" : "unknown"
            else if (text ~ /,%rsp$|^xchg +%rsp/ && name !~ /^(cmp|test)/) effect = "unknown"
            else if (text ~ /,%esp$|^xchg +%esp|,%sp$|^xchg +%sp/) effect = "unknown|-"
            else if (text ~ /,%rbp$/ && name ~ /^(mov|lea)$/ && text !~ /\$/) effect = "set|-"
            print $2 "\t" n "\t" effect "\t" text
        }' | sort -u >"$work/theirs"
    cut -f1 "$work/theirs" | "$instructions" >"$work/ours" || exit 2
    n=$(wc -l <"$work/theirs")
    paste "$work/ours" "$work/theirs" | awk -F '\t' '{
        split($1, our, " ")
        split($4, may, "|")
        if (our[1] != $3 || (our[2] != may[1] && our[2] != may[2])) print "    " $0
    }' >"$work/different"
    echo "$library: $n different instructions, $(wc -l <"$work/different") read in another way"
    head -20 "$work/different"
    [ "$n" -gt 0 ] && [ ! -s "$work/different" ] || status=1
done
exit $status
