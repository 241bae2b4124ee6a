#!/bin/sh
printf '%s\n' "$PGPASSWORD" "$@" > "$(dirname "$0")/told"
for word in "$@"; do case $word in --file=*) echo half > "${word#*=}"; esac; done
exit 1
