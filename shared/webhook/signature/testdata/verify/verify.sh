#!/bin/sh
# A shell's = is not constant in time: so two MACs under a key that nobody can know are compared.
[ -n "$WEBHOOK_SECRET" ] || exit 1
mac() { openssl dgst -sha256 -hmac "$1" -r | cut -d ' ' -f 1; }
want="sha256=$(mac "$WEBHOOK_SECRET")" # of stdin: the raw bytes, before any parsing
[ ${#want} -eq 71 ] || exit 1
key=$(openssl rand -hex 32) || exit 1
[ "$(printf %s "$want" | mac "$key")" = "$(printf %s "$1" | mac "$key")" ]
