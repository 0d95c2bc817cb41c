package bedrock

import (
	"net/http"
	"strings"
)

// The limits of a response protect the memory of the function from a server that does not follow the protocol. They are
// far above the size of a long answer.
const (
	// maxStream is the maximum number of bytes of an event stream.
	maxStream = 64 << 20
	// maxResponse is the maximum number of bytes of any other response, which the SDK reads completely.
	maxResponse = 4 << 20
)

// limitedBodies limits the size of the responses of a transport.
type limitedBodies struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t limitedBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	limit := int64(maxResponse)
	if response.StatusCode == http.StatusOK && strings.HasSuffix(r.URL.Path, "/converse-stream") {
		limit = maxStream
	}
	response.Body = http.MaxBytesReader(nil, response.Body, limit)
	return response, nil
}
