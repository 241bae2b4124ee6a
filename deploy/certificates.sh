#!/bin/sh
# Obtain a certificate for each custom domain when it is verified, and delete it when the
# domain is removed. Use this script with proxies that do not obtain certificates
# themselves. It reads the log of the service and needs certbot and curl:
#
#   journalctl -fu petstore -o cat | PETSTORE_ASK=127.0.0.1:8000 deploy/certificates.sh
#
# Log lines may be outdated, so the script asks the service before each action. It names
# its certificates petstore-DOMAIN and never deletes any others.
set -u
ask="http://${PETSTORE_ASK:-127.0.0.1:8000}/internal/tls-allowed"
webroot="${ACME_WEBROOT:-/var/www/acme}"

name_in() { # print the domain if the line is an event of this kind
	printf '%s' "$line" |
		sed -n "s/.*\"event\":\"$1\".*\"domain\":\"\([a-z0-9.-]*\)\".*/\1/p"
}

status_of() { # print 200 if the domain is served, otherwise 404
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
