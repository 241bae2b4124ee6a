#!/bin/sh
# Run the service on this host with deploy/compose.yaml. It needs Docker with Compose, git,
# and a DNS record that leads DOMAIN and *.DOMAIN here:
#
#   compose.sh start DOMAIN EMAIL   serve on HTTPS; EMAIL is told of certificates
#   compose.sh key NAME             create a project, and print its first key
#   compose.sh flask ...            any command of docs/operating.md
#   compose.sh upgrade [COMMIT]     back up, upgrade to what the branch has, or to that
#                                   commit, and print the way back
#
# Passwords are made once, in deploy/.env, which only its owner can read.
set -eu
umask 077
script=$(realpath "$0")
cd "$(dirname "$script")"

compose() {
	docker compose --file compose.yaml "$@"
}

flask() {
	compose exec -T web flask "$@"
}

password() {
	od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

key() {
	flask keys create --project "$(flask projects create "$1")"
}

start() {
	if [ ! -e .env ]; then
		: "${2:?the first start needs DOMAIN and EMAIL}"
		cat >.env.new <<-END
			TAG=$(git rev-parse --short HEAD)
			PETSTORE_BASE_DOMAIN=$1
			ACME_EMAIL=$2
			POSTGRES_PASSWORD=$(password)
			REDIS_PASSWORD=$(password)
		END
		mv .env.new .env
	fi
	compose up --build --detach
}

upgrade() {
	before=$(git rev-parse --short HEAD)
	git fetch --quiet
	# An upgrade to a commit has left the branch, which is then the clone's first one.
	branch=$(git branch --show-current)
	branch=${branch:-$(git for-each-ref --count=1 --format='%(refname:short)' refs/heads)}
	wanted=${1-"$branch@{upstream}"}
	commit=$(git rev-parse --quiet --verify --short "$wanted^{commit}") || {
		echo "There is no commit $wanted in this repository." >&2
		exit 2
	}
	mkdir -p backups
	backup=$PWD/backups/before-$commit-$(date -u +%Y%m%dT%H%M%SZ).dump
	compose exec -T postgresql pg_dump --username=petstore --format=custom petstore >"$backup.partial"
	compose exec -T postgresql pg_restore --file=/dev/null <"$backup.partial" # it can be read
	mv "$backup.partial" "$backup"
	# For `flask check` and /metrics, as backup.sh does it.
	compose exec -T postgresql psql --no-psqlrc --quiet --username=petstore --command="
		INSERT INTO secret VALUES ('last_backup', (extract(epoch FROM now()) * 1000)::bigint::text)
		ON CONFLICT (name) DO UPDATE SET text = excluded.text" petstore || echo "flask check is not told of it" >&2
	if [ $# = 1 ]; then
		git checkout --quiet --detach "$commit"
	else
		git checkout --quiet "$branch"
		git merge --quiet --ff-only "$commit"
	fi
	sed -i "s/^TAG=.*/TAG=$commit/" .env
	compose up --build --detach
	cat <<-END
		$commit is running. The database as it was before is in $backup.
		The way back, which leaves the database as it is:
		  $script upgrade $before
		Only to lose what was written since, restore it after that:
		  docker compose --file $PWD/compose.yaml stop web
		  docker compose --file $PWD/compose.yaml exec -T postgresql pg_restore --username=petstore --dbname=petstore --clean --if-exists --single-transaction < $backup
		  $script start
	END
}

# It is read as a whole, before an upgrade replaces this file.
case "${1-} $#" in
"start 1" | "start 3" | "upgrade 1" | "upgrade 2" | "key 2" | "flask "*)
	"$@"
	exit
	;;
*)
	sed -n 's/^#   //p' "$script" >&2
	exit 2
	;;
esac
