package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"
)

// requestIDs are the names of one request.
type requestIDs struct {
	request  string // a version 4 UUID
	extended string // 15 characters of base64 and "=", as x-amz-apigw-id has it
	trace    string // the value of X-Amzn-Trace-Id
}

func newRequestIDs(now time.Time, clientTrace string) requestIDs {
	var random [16 + 11 + 12]byte
	_, _ = rand.Read(random[:]) // never fails: it ends the program instead
	uuid, extended, trace := random[:16], random[16:27], random[27:]
	uuid[6] = uuid[6]&0x0f | 0x40
	uuid[8] = uuid[8]&0x3f | 0x80
	return requestIDs{
		request:  formatUUID(uuid),
		extended: base64.StdEncoding.EncodeToString(extended),
		trace:    traceID(now, trace, clientTrace),
	}
}

func formatUUID(u []byte) string {
	var b [36]byte
	hex.Encode(b[:8], u[:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:], u[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

const rootPrefix = "Root=1-"

// traceID continues the client's trace where it has a root, else it begins one (AWS X-Ray's tracing header).
func traceID(now time.Time, random []byte, client string) string {
	if strings.Contains(client, rootPrefix) && len(client) <= 256 && printable(client) {
		return client
	}
	var b [len(rootPrefix) + 8 + 1 + 24]byte
	n := copy(b[:], rootPrefix)
	seconds := uint32(now.Unix()) //nolint:gosec // eight hex digits of seconds are X-Ray's format
	hex.Encode(b[n:], []byte{byte(seconds >> 24), byte(seconds >> 16), byte(seconds >> 8), byte(seconds)})
	b[n+8] = '-'
	hex.Encode(b[n+9:], random)
	return string(b[:])
}

func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

const lowerBase36 = "abcdefghijklmnopqrstuvwxyz0123456789"

// shortID derives a six-character id, as API Gateway gives resources and deployments, from the names of a thing.
func shortID(names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	id := make([]byte, 6)
	for i := range id {
		id[i] = lowerBase36[int(sum[i])%len(lowerBase36)]
	}
	return string(id)
}
