#!/bin/sh
# Let nginx's workers (www-data) read the certificates and their keys. certbot runs this
# after each certificate that it obtains or renews with --deploy-hook.
set -e
cd /etc/letsencrypt
chgrp -R www-data live archive
chmod -R g+rX live archive
