import hashlib
import hmac
import os
import sys

secret = os.environ["WEBHOOK_SECRET"].encode()
body = sys.stdin.buffer.read()  # the raw bytes, before any parsing
want = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
valid = secret and hmac.compare_digest(want.encode(), sys.argv[1].encode())
sys.exit(0 if valid else 1)
