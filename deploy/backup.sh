#!/bin/sh
# Back up the database of the service into a new file, and keep only the newest files:
#
#   DATABASE_URL=... backup.sh DIRECTORY NUMBER
#
# petstore-backup.timer runs it every night. A file gets its name when it is complete and
# on the disk: of SQLite by `flask data backup`, of PostgreSQL by pg_dump. Whatever fails
# ends the script with an error, and then no older file is deleted.
set -eu
directory=$(realpath "$1")
number=$2
umask 077

case $number in
'' | 0* | *[!0-9]*)
	echo "the number of files to keep must be 1 or more, not '$number'" >&2
	exit 1
	;;
esac
exec 9<"$directory"
flock --nonblock 9 || {
	echo "another backup into $directory is running" >&2
	exit 1
}
partial=$directory/.petstore-backup # a killed backup has left it
rm -rf "$partial"
trap 'rm -rf "$partial"' EXIT # a full disk must not stay full
mkdir "$partial"

name=petstore-$(date -u +%Y%m%dT%H%M%SZ)
case $DATABASE_URL in
sqlite:*)
	name=$name.db
	${PETSTORE_FLASK:-flask} data backup "$partial/$name"
	;;
*[?\&]password=*)
	echo "DATABASE_URL: write the password in front of the host, not as an option" >&2
	exit 1
	;;
postgres://* | postgresql://*)
	# Others can read the arguments of a program, but not its environment.
	address=$(printf '%s' "$DATABASE_URL" | sed 's|^\([^/]*//[^/:@]*\):[^/@]*@|\1@|')
	PGPASSWORD=$(python3 -c 'if True:
		from os import environ
		from urllib.parse import unquote, urlsplit
		print(unquote(urlsplit(environ["DATABASE_URL"]).password or environ.get("PGPASSWORD", "")))')
	export PGPASSWORD
	name=$name.dump
	pg_dump --no-password --format=custom --file="$partial/$name" --dbname="$address"
	pg_restore --file=/dev/null "$partial/$name" # it can be read
	;;
*)
	# pg_dump would take another text for the name of a database.
	echo "DATABASE_URL: must be sqlite:///FILE or postgresql://.../NAME" >&2
	exit 1
	;;
esac

ln "$partial/$name" "$directory" # unlike mv, it overwrites no file
sync "$directory"
case $name in
*.dump) # for `flask check` and /metrics, as `flask data backup` notes its own
	PGTARGETSESSIONATTRS=read-write psql --no-psqlrc --quiet --no-password --dbname="$address" --command="
		INSERT INTO secret VALUES ('last_backup', (extract(epoch FROM now()) * 1000)::bigint::text)
		ON CONFLICT (name) DO UPDATE SET text = excluded.text" || echo "flask check is not told of it" >&2
	;;
esac

# Names of exactly this form, and never the new one: the clock may have been set back.
cd "$directory"
find . -maxdepth 1 -type f ! -name "$name" -regextype posix-extended \
	-regex '\./petstore-[0-9]{8}T[0-9]{6}Z\.(db|dump)' |
	sort | head -n "-$((number - 1))" | xargs -rd '\n' rm --
