#!/bin/sh
# Compare the custom domains with the certificates that exist: obtain those that are
# missing, and delete those whose domain is served no longer. Use this script with proxies
# that do not obtain certificates themselves. It needs certbot and curl, and changes
# nothing when nothing has changed; petstore-certificates.timer runs it every minute.
#
# It takes the domains from `flask domains list`, and asks the running service before each
# action, so that it does nothing with the wrong database. It names its certificates
# petstore-DOMAIN and never deletes any others.
set -u
ask="http://${PETSTORE_ASK:-127.0.0.1:8000}/internal/tls-allowed"
live="${CERTBOT_LIVE:-/etc/letsencrypt/live}"
webroot="${ACME_WEBROOT:-/var/www/acme}"
hook=$(realpath "$(dirname "$0")")/certbot-hook.sh
# When a certificate was last asked for, since authorities limit the failures an hour.
tried="${STATE_DIRECTORY:-/var/lib/petstore-certificates}"

domains=$(${PETSTORE_FLASK:-flask} domains list --json) || exit 1
mkdir -p "$tried" "$webroot" || exit 1

in_state() { # print the domains in this state
	printf '%s' "$domains" | tr '{' '\n' |
		sed -n "s/^\"name\":\"\([a-z0-9.-]*\)\",.*\"state\":\"$1\".*/\1/p"
}

status_of() { # print 200 if the domain is served, otherwise 404
	curl -s -m 10 -o /dev/null -w '%{http_code}' "$ask?domain=$1"
}

was_tried() { # within the last hour
	[ -n "$(find "$tried/$1" -mmin -60 2>/dev/null)" ]
}

verified=$(in_state verified)
# A certificate outlives a mistake in DNS, and a change of the plan.
kept="$verified
$(in_state 'points elsewhere')
$(in_state 'stopped by the plan')"

for name in $verified; do
	if [ ! -e "$live/petstore-$name/fullchain.pem" ] && ! was_tried "$name" &&
		[ "$(status_of "$name")" = 200 ]; then
		touch "$tried/$name"
		certbot certonly -n --webroot -w "$webroot" \
			--cert-name "petstore-$name" -d "$name" \
			--deploy-hook "$hook" </dev/null &&
			rm -f "$tried/$name"
	fi
done

for directory in "$live"/petstore-*/; do
	name=$(basename "$directory")
	name=${name#petstore-}
	if [ -d "$directory" ] && ! printf '%s' "$kept" | grep -qxF -e "$name" &&
		[ "$(status_of "$name")" = 404 ]; then
		certbot delete -n --cert-name "petstore-$name" </dev/null
	fi
done

# Otherwise the names that never had a certificate would pile up.
find "$tried" -maxdepth 1 -type f -empty -mmin +60 -exec rm -f {} +
exit 0
