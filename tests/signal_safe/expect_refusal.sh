#!/bin/bash
# expect_refusal.sh CHECK WORDS ARGUMENT... - passes when CHECK ARGUMENT... refuses (status 1) and says WORDS.
check=$1
words=$2
shift 2
out=$("$check" "$@")
status=$?
echo "$out"
[ $status -eq 1 ] && grep -qF -- "$words" <<<"$out"
