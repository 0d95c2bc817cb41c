const { createHmac, timingSafeEqual } = require("node:crypto");
const { readFileSync } = require("node:fs");

const secret = process.env.WEBHOOK_SECRET;
const body = readFileSync(0); // the raw bytes, before any parsing
const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
const got = Buffer.from(process.argv[2]);
const valid = secret !== "" && got.length === want.length && timingSafeEqual(got, want);
process.exit(valid ? 0 : 1);
