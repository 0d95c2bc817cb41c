package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// requestIDs are the ids of one request.
type requestIDs struct {
	request  string // a UUID
	extended string // 15 characters of base64 and "=", as in x-amz-apigw-id
	trace    string // the value of X-Amzn-Trace-Id
}

func newRequestIDs(now time.Time, clientTrace string) requestIDs {
	var random [11 + 12]byte
	_, _ = rand.Read(random[:]) // never fails
	return requestIDs{
		request:  uuid.NewString(),
		extended: base64.StdEncoding.EncodeToString(random[:11]),
		trace:    traceID(now, random[11:], clientTrace),
	}
}

const rootPrefix = "Root=1-"

// traceID returns the client's trace if it has a root, or begins one (the tracing header of AWS X-Ray).
func traceID(now time.Time, random []byte, client string) string {
	if strings.Contains(client, rootPrefix) && len(client) <= 256 {
		return client
	}
	return fmt.Sprintf("%s%08x-%x", rootPrefix, uint32(now.Unix()), random)
}
