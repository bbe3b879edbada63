#!/bin/bash
# compare_rows.sh CFI_ROWS LIBRARY... - our rows against readelf's, at each row of each fde of each library.
# Exit status 1 when one differs, 77 when no library is there.
set -u -o pipefail
rows=$1
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=77
for library in "$@"; do
    [ -r "$library" ] || continue
    [ $status -eq 77 ] && status=0
    # Rows, with the columns named in each fde's heading; cies are not at any address. Where a later row of the same
    # address replaces an earlier one, the later counts.
    LC_ALL=C readelf -W --debug-dump=frames-interp "$library" 2>/dev/null | awk '
        / CIE / { in_fde = 0 }
        / FDE / { in_fde = 1 }
        /^ *LOC +CFA/ { n = split($0, column, " "); next }
        in_fde && length($1) == 16 && $1 ~ /^[0-9a-f]+$/ && !/ FDE | CIE / && n > 0 {
            gsub(/ \([a-z0-9]+\)/, "") # "r9 (r9)": a register rule, its name once more
            line = $1 " " $2
            k = split("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra", order, " ")
            for (i = 3; i <= NF; i++) if ($i != "u" && $i != "s") {
                number = substr($i, 2) # "r5" is register 5, that is rdi
                is_number = $i ~ /^r[0-7]$/
                rule[column[i]] = is_number ? order[number + 1] : $i
            }
            for (i = 1; i <= k; i++) if (order[i] in rule) line = line " " order[i] "=" rule[order[i]]
            delete rule
            if ($1 == last_address) lines[n_lines] = line; else lines[++n_lines] = line
            last_address = $1
        }
        END { for (i = 1; i <= n_lines; i++) print lines[i] }' | sort -u >"$work/theirs"
    cut -d' ' -f1 "$work/theirs" | "$rows" "$library" >"$work/ours" || exit 2
    n_rows=$(wc -l <"$work/theirs")
    n_different=$(diff "$work/theirs" "$work/ours" | grep -c '^<')
    echo "$library: $n_rows rows, $n_different differ"
    diff "$work/theirs" "$work/ours" | head -20
    [ "$n_rows" -gt 0 ] && [ "$n_different" -eq 0 ] || status=1
done
exit $status
