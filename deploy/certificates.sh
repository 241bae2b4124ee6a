#!/bin/sh
# A certificate for each domain of a project as soon as it is verified, and none for it
# once it is removed, for proxies that fetch no certificates by themselves. It reads
# the service's log, and needs certbot and curl:
#
#   journalctl -fu petstore -o cat | PETSTORE_ASK=127.0.0.1:8000 deploy/certificates.sh
#
# The service is asked before anything is done: the log tells of the past. Certificates
# that are made here are named petstore-DOMAIN, and no others are ever deleted.
set -u
ask="http://${PETSTORE_ASK:-127.0.0.1:8000}/internal/tls-allowed"
webroot="${ACME_WEBROOT:-/var/www/acme}"

name_in() { # of the domain, if the line is such an event
	printf '%s' "$line" |
		sed -n "s/.*\"event\":\"$1\".*\"domain\":\"\([a-z0-9.-]*\)\".*/\1/p"
}

status_of() { # 200 while the domain is served, 404 for nobody's
	curl -s -m 10 -o /dev/null -w '%{http_code}' "$ask?domain=$1"
}

while IFS= read -r line; do
	verified=$(name_in domain_verified)
	removed=$(name_in domain_removed)
	if [ -n "$verified" ] && [ "$(status_of "$verified")" = 200 ]; then
		certbot certonly -n --webroot -w "$webroot" \
			--cert-name "petstore-$verified" -d "$verified" </dev/null
	fi
	if [ -n "$removed" ] && [ "$(status_of "$removed")" = 404 ]; then
		certbot delete -n --cert-name "petstore-$removed" </dev/null
	fi
done
