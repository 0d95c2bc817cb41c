package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"

	"github.com/google/uuid"

	"devplatform/infra/local/runtime"
)

// requestIDs are the ids of one request.
type requestIDs struct {
	request  string // a UUID
	extended string // 15 characters of base64 and "=", as in x-amz-apigw-id
	trace    string // the value of X-Amzn-Trace-Id
}

// newRequestIDs returns the ids of a request. The trace is the client's if it has a root.
func newRequestIDs(now time.Time, clientTrace string) requestIDs {
	var extended [11]byte
	_, _ = rand.Read(extended[:]) // never fails
	ids := requestIDs{
		request: uuid.NewString(), extended: base64.StdEncoding.EncodeToString(extended[:]), trace: clientTrace,
	}
	if !strings.Contains(clientTrace, "Root=1-") || len(clientTrace) > 256 {
		ids.trace = runtime.NewTraceID(now)
	}
	return ids
}
