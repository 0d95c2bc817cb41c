package s3

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"devplatform/infra/local/datafolder"
)

const (
	// maxKey is the maximum length of a key, in bytes.
	maxKey = 1024
	// drainLimit is the maximum number of bytes of a refused request's body that are read. drainTime limits the time if
	// the response was sent before.
	drainLimit = 64 << 20
	drainTime  = 5 * time.Second
	// documentTime is the format of times in documents.
	documentTime = "2006-01-02T15:04:05.000Z"
	namespace    = "http://s3.amazonaws.com/doc/2006-03-01/"
)

type request struct {
	*http.Request

	store       *Store
	w           http.ResponseWriter
	id          string
	now         time.Time
	bucket, key string
	query       url.Values
	rules       bucket // the bucket's record; zero if the bucket does not exist

	presigned bool
	payload   string // x-amz-content-sha256
}

// ServeHTTP handles a request. The path is /bucket/key.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{Request: r, store: s, w: w, id: uuid.NewString(), now: s.options.Now().UTC().Truncate(time.Millisecond)}
	w.Header().Set("X-Amz-Request-Id", q.id)
	// A page in a bucket must not use the other services of this port.
	w.Header().Set("Content-Security-Policy", "sandbox")
	if err := s.serve(q); err != nil {
		q.fail(s.toAPIError(err))
	}
}

func (s *Store) serve(q *request) error {
	leave, err := s.folder.Enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := q.parse(); err != nil {
		return err
	}
	if _, err := s.read(indexKey(datafolder.SpaceBucket, q.bucket), &q.rules); err != nil {
		return err
	}
	if q.Method == http.MethodOptions {
		return q.preflight()
	}
	allowed := q.setCORS(q.Method, nil)
	if err := q.authenticate(); err != nil {
		return err
	}
	// Everyone knows the credentials. So a page can only use presigned URLs, and only if the bucket's CORS rules allow
	// it.
	if s.origins.Check(q.Request) != nil && (!q.presigned || !allowed) {
		return errCORS
	}
	op, err := q.operation()
	if err != nil {
		return err
	}
	if op.level != "service" && op.name != "CreateBucket" && q.rules.Created.IsZero() {
		return errNoBucket
	}
	if err := op.run(s, q); err != nil {
		return err
	}
	if q.Method == http.MethodDelete {
		q.w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

func (q *request) parse() (err error) {
	if q.query, err = url.ParseQuery(q.URL.RawQuery); err != nil || !utf8.ValidString(q.URL.Path) {
		return errInvalidURI
	}
	q.presigned = IsPresigned(q.query)
	q.bucket, q.key, _ = strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
	switch {
	case len(q.key) > maxKey:
		return errKeyTooLong
	case strings.ContainsRune(q.key, 0):
		return errInvalidURI.with("The local platform does not support keys with a NUL character.")
	}
	return nil
}

// IsPresigned reports whether the query of a request has a signature, of this or an older version of signatures.
func IsPresigned(query url.Values) bool {
	return query.Has("X-Amz-Algorithm") || query.Has("X-Amz-Signature") || query.Has("AWSAccessKeyId")
}

// anyElement is an element that the type of a document does not have. Decoding it returns an error.
type anyElement struct{}

// UnmarshalXML implements xml.Unmarshaler.
func (*anyElement) UnmarshalXML(_ *xml.Decoder, start xml.StartElement) error {
	return errUnsupported.with("The local platform does not support the element %s.", start.Name.Local)
}

func (q *request) readXML(into interface{ check() error }) error {
	var body bytes.Buffer
	if _, err := q.copyBody(&body, maxDocument); err != nil {
		return err
	}
	var known *apiError
	switch err := xml.Unmarshal(body.Bytes(), into); {
	case errors.As(err, &known):
		return known
	case err != nil:
		return errMalformedXML
	}
	return into.check()
}

func (q *request) sendXML(root string, document any) error {
	return q.send(http.StatusOK, document, root, xml.Attr{Name: xml.Name{Local: "xmlns"}, Value: namespace})
}

func (q *request) send(status int, document any, root string, attributes ...xml.Attr) error {
	body := bytes.NewBufferString(xml.Header)
	start := xml.StartElement{Name: xml.Name{Local: root}, Attr: attributes}
	if err := xml.NewEncoder(body).EncodeElement(document, start); err != nil {
		return err //nolint:wrapcheck // a fault of the platform
	}
	q.w.Header().Set("Content-Type", "application/xml")
	q.w.WriteHeader(status)
	_, _ = body.WriteTo(q.w) // the client may have closed the connection
	return nil
}

// fail sends an error, and reads the rest of the body, because some clients read no response before they have sent all.
// If the client can wait for "100 Continue", the response is sent first: reading the body before would ask for it.
func (q *request) fail(e *apiError) {
	if q.Header.Get("Expect") == "" {
		q.drain()
		q.sendError(e)
		return
	}
	q.sendError(e)
	control := http.NewResponseController(q.w)
	deadline := time.Now().Add(drainTime) //nolint:forbidigo // connections use the system's clock
	_ = errors.Join(control.Flush(), control.SetReadDeadline(deadline))
	q.drain()
}

func (q *request) drain() { _, _ = io.Copy(io.Discard, io.LimitReader(q.Body, drainLimit)) }

// sendError sends an error. Responses to HEAD requests, and responses with the status 304, have no body.
func (q *request) sendError(e *apiError) {
	if q.Method == http.MethodHead || e.status == http.StatusNotModified {
		q.w.WriteHeader(e.status)
		return
	}
	_ = q.send(e.status, errorDocument{e.code, e.message, q.URL.Path, q.id}, "Error")
}

type apiError struct {
	status        int
	code, message string
}

// Error returns the code and the message.
func (e *apiError) Error() string { return e.code + ": " + e.message }

func (e *apiError) with(format string, args ...any) error {
	return &apiError{e.status, e.code, fmt.Sprintf(format, args...)}
}

func failure(status int, code, message string) *apiError { return &apiError{status, code, message} }

// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
var (
	errNotModified   = failure(304, "NotModified", "Not Modified")
	errAuthMalformed = failure(400, "AuthorizationHeaderMalformed", "The Authorization header is not valid.")
	errQueryAuth     = failure(400, "AuthorizationQueryParametersError",
		"The query parameters of the signature are not valid.")
	errBadDigest = failure(400, "BadDigest",
		"The Content-MD5 or checksum of the request does not match the received content.")
	errTooLarge        = failure(400, "EntityTooLarge", "The upload is larger than the maximum size.")
	errIncomplete      = failure(400, "IncompleteBody", "The request does not have as many bytes as its headers declare.")
	errInvalidArgument = failure(400, "InvalidArgument", "An argument is not valid.")
	errBucketName      = failure(400, "InvalidBucketName", "The specified bucket is not valid.")
	errInvalidDigest   = failure(400, "InvalidDigest", "The Content-MD5 is not valid.")
	errInvalidRequest  = failure(400, "InvalidRequest", "The request is not valid.")
	errInvalidURI      = failure(400, "InvalidURI", "The URI of the request cannot be parsed.")
	errKeyTooLong      = failure(400, "KeyTooLongError", "The key is longer than 1,024 bytes.")
	errMalformedXML    = failure(400, "MalformedXML",
		"The XML is not well-formed, or is not what the operation expects.")
	errContentHash = failure(400, "XAmzContentSHA256Mismatch",
		"The x-amz-content-sha256 header does not match the received content.")
	errToken        = failure(400, "InvalidToken", "The local platform has no session tokens.")
	errAccessDenied = failure(403, "AccessDenied", "Access Denied")
	errCORS         = failure(403, "AccessForbidden", "CORSResponse: no CORS rule of the bucket allows this request.")
	errUnknownKey   = failure(403, "InvalidAccessKeyId",
		"The access key ID is not known. The credentials of the local platform are local and local.")
	errSkewed = failure(403, "RequestTimeTooSkewed",
		"The time of the request differs from the current time by more than 15 minutes.")
	errSignature = failure(403, "SignatureDoesNotMatch",
		"The signature does not match the request. The secret key of the local platform is local.")
	errNoBucket     = failure(404, "NoSuchBucket", "The specified bucket does not exist.")
	errNoCORS       = failure(404, "NoSuchCORSConfiguration", "The bucket has no CORS configuration.")
	errNoKey        = failure(404, "NoSuchKey", "The specified key does not exist.")
	errNoLength     = failure(411, "MissingContentLength", "The Content-Length header is missing.")
	errPrecondition = failure(412, "PreconditionFailed",
		"At least one of the preconditions that were specified did not hold.")
	errRange       = failure(416, "InvalidRange", "The requested range is not satisfiable.")
	errInternal    = failure(500, "InternalError", "An internal error occurred.")
	errUnsupported = failure(501, "NotImplemented", "The local platform does not support this.")
	errUnavailable = failure(503, "ServiceUnavailable", "The store is closed.")
	errFullDisk    = failure(503, "ServiceUnavailable", "The disk is full.")
)

type errorDocument struct{ Code, Message, Resource, RequestId string } //nolint:revive // names of the elements

// toAPIError returns the response for an error. An error that is not an apiError is logged, because it is a fault of
// the platform.
func (s *Store) toAPIError(err error) *apiError {
	var known *apiError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, datafolder.ErrClosed):
		return errUnavailable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return errFullDisk
	}
	s.options.Logger.Error("s3: request", "error", err)
	return errInternal
}
