#!/bin/sh
# count_lines.sh MOST COMPILER ARGUMENT...: fails if preprocessing gives more than MOST lines.
most=$1
shift
lines=$("$@" -E -x c++ -o - | wc -l)
echo "$lines preprocessed lines (at most $most)"
[ "$lines" -gt 0 ] && [ "$lines" -le "$most" ]
