#!/bin/sh
printf '%s\n' "$*" >> "$TOLD"
case $* in
*pg_dump*) echo dump; exit $DUMP_FAILS ;;
*"projects create"*) echo city-shelter ;;
*"keys create --project city-shelter") echo pet_key ;;
esac
