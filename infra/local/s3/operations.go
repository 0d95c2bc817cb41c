package s3

import (
	"net/http"
	"slices"
	"strings"
)

// operation describes an S3 operation: the requests that select it, and the other parameters and headers that they may
// have.
type operation struct {
	name, method string
	level        string // "service", "bucket" or "object", depending on the path
	marker       string // the query parameter that selects it; "" for none
	options      string // other query parameters, and x-amz headers in lower case
	run          func(*Store, *request) error
}

const (
	get    = http.MethodGet
	put    = http.MethodPut
	head   = http.MethodHead
	post   = http.MethodPost
	remove = http.MethodDelete
)

// Query parameters, and x-amz headers in lower case.
const (
	signing = " X-Amz-Algorithm X-Amz-Credential X-Amz-Date X-Amz-Expires X-Amz-SignedHeaders X-Amz-Signature" +
		" X-Amz-Content-Sha256"
	everywhere = signing + " x-id x-amz-date x-amz-content-sha256 x-amz-user-agent"
	integrity  = " x-amz-sdk-checksum-algorithm x-amz-checksum-crc32" +
		" x-amz-checksum-crc32c x-amz-checksum-crc64nvme x-amz-checksum-sha1 x-amz-checksum-sha256"
	writing = " x-amz-meta-*" + integrity
	reading = " x-amz-checksum-mode response-cache-control response-content-disposition response-content-encoding" +
		" response-content-language response-content-type response-expires"
	listing = " prefix delimiter max-keys continuation-token start-after encoding-type"
)

// operations are the supported operations. A request selects the first one that matches, so operations with a marker
// come first.
var operations = []operation{
	{"ListBuckets", get, "service", "", "", (*Store).listBuckets},

	{"GetBucketCors", get, "bucket", "cors", "", (*Store).getCORS},
	{"PutBucketCors", put, "bucket", "cors", integrity, (*Store).putCORS},
	{"DeleteBucketCors", remove, "bucket", "cors", "", (*Store).deleteCORS},
	{"ListObjectsV2", get, "bucket", "list-type", listing, (*Store).listObjects},
	{"DeleteObjects", post, "bucket", "delete", integrity, (*Store).deleteObjects},
	{"CreateBucket", put, "bucket", "", integrity, (*Store).createBucket},
	{"HeadBucket", head, "bucket", "", "", (*Store).headBucket},

	{"PutObject", put, "object", "", writing, (*Store).putObject},
	{"GetObject", get, "object", "", reading, (*Store).getObject},
	{"HeadObject", head, "object", "", reading, (*Store).getObject},
	{"DeleteObject", remove, "object", "", "", (*Store).deleteObject},
}

// allows reports whether a request for the operation may have a query parameter or an x-amz header.
func (o *operation) allows(name string) bool {
	if strings.HasPrefix(name, "x-amz-meta-") {
		name = "x-amz-meta-*"
	}
	return slices.Contains(strings.Fields(o.marker+" "+o.options+everywhere), name)
}

// hoist moves the x-amz parameters of a presigned URL that do not belong to the signature to the headers. SDKs move
// these headers to the query when they presign a request.
func (q *request) hoist() error {
	for name, values := range q.query {
		if !strings.HasPrefix(strings.ToLower(name), "x-amz-") || slices.Contains(strings.Fields(signing), name) {
			continue
		}
		if q.Header.Get(name) != "" || len(values) != 1 {
			return errInvalidRequest.with("%s is specified more than once", name)
		}
		q.Header.Set(name, values[0])
		delete(q.query, name)
	}
	return nil
}

// operation returns the operation of the request. It returns an error if the local platform does not support the
// operation, or one of the request's parameters and headers.
func (q *request) operation() (*operation, error) {
	level := "object"
	switch {
	case q.bucket == "":
		level = "service"
	case q.key == "":
		level = "bucket"
	}
	i := slices.IndexFunc(operations, func(o operation) bool {
		return o.method == q.Method && o.level == level && (o.marker == "" || q.query.Has(o.marker))
	})
	if i < 0 {
		return nil, errUnsupported.with("The local platform does not support this operation: %s of a %s with the query %q.",
			q.Method, level, q.URL.RawQuery)
	}
	op := &operations[i]
	if err := q.hoist(); err != nil {
		return nil, err
	}
	for name := range q.query {
		if !op.allows(name) {
			return nil, errUnsupported.with("The local platform does not support the query parameter %s of %s.", name, op.name)
		}
	}
	isRead := op.method == get || op.method == head
	for name := range q.Header {
		name = strings.ToLower(name)
		if name == "if-match" && !isRead || strings.HasPrefix(name, "x-amz-") && !op.allows(name) {
			return nil, errUnsupported.with("The local platform does not support the header %s of %s.", name, op.name)
		}
	}
	return op, nil
}
