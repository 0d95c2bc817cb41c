#!/bin/sh
# The = of a shell does not run in constant time. So this compares two MACs under a random key.
[ -n "$WEBHOOK_SECRET" ] || exit 1
mac() { openssl dgst -sha256 -hmac "$1" -r | cut -d ' ' -f 1; }
want="sha256=$(mac "$WEBHOOK_SECRET")" # of stdin: the raw bytes, before any parsing
[ ${#want} -eq 71 ] || exit 1
key=$(openssl rand -hex 32) || exit 1
[ "$(printf %s "$want" | mac "$key")" = "$(printf %s "$1" | mac "$key")" ]
