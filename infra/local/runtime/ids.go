package runtime

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"
)

// newRequestID makes a UUID of version 4, the form of Lambda's request ids.
func newRequestID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:36], id[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// newTraceID makes an X-Ray tracing header of a request that is not sampled.
func newTraceID(now time.Time) string {
	var id [20]byte
	_, _ = rand.Read(id[:]) // never fails
	return "Root=1-" + strconv.FormatInt(now.Unix(), 16) + "-" + hex.EncodeToString(id[:12]) +
		";Parent=" + hex.EncodeToString(id[12:]) + ";Sampled=0"
}

// newHex makes n random bytes in hexadecimal.
func newHex(n int) string {
	id := make([]byte, n)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}
