// Package awsjson serves AWS's JSON protocols 1.0 and 1.1: POST requests whose X-Amz-Target header names an operation,
// with JSON bodies. The embedded services define their operations with [Handle], and return errors as [*Error].
//
// It also has the response for requests to services that the local platform does not have, see [RejectService]. What
// the operations do does not belong here.
package awsjson

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"devplatform/infra/local/datafolder"
)

// Content types of the two versions of the protocol, and of REST services, whose errors also have a header.
const (
	Version10 = "application/x-amz-json-1.0"
	Version11 = "application/x-amz-json-1.1"
	REST      = "application/json"
)

// maxPooledBytes is the capacity above which a buffer is not reused, so that a rare large body does not stay in memory.
const maxPooledBytes = 256 << 10

// Service serves one or more tables of operations. It is an http.Handler. The fields must not change after the first
// request.
type Service struct {
	Name            string                // begins log lines, such as "sqs"
	ContentType     string                // [Version10], [Version11] or [REST]
	Targets         map[string]Operations // by the prefix of X-Amz-Target, such as "AmazonSQS."
	MaxRequestBytes int64
	Logger          *slog.Logger

	// CRC32 adds the checksum header that DynamoDB's clients verify.
	CRC32 bool
	// Folder is the data folder that the operations use. May be nil.
	Folder *datafolder.Folder
	// Convert returns the response for an error that is not an [*Error], or nil for an internal error. The error comes
	// from decoding or from an operation. May be nil.
	Convert func(error) *Error
}

// Operations are operations by name.
type Operations map[string]Operation

// Operation decodes a request's body, runs it, and appends the response's body.
type Operation func(ctx context.Context, s *Service, body []byte, response *bytes.Buffer) error

// Handle returns an operation with typed input and output. A request with a member that In does not have is rejected.
func Handle[In, Out any](run func(context.Context, *In) (*Out, error)) Operation {
	return func(ctx context.Context, s *Service, body []byte, response *bytes.Buffer) error {
		var in In
		if err := json.Unmarshal(body, &in, wireOptions, json.RejectUnknownMembers(true)); err != nil {
			return s.decodingError(err)
		}
		out, err := run(ctx, &in)
		if err != nil {
			return err
		}
		return json.MarshalWrite(response, out, wireOptions)
	}
}

type baseURLKey struct{}

// BaseURL returns the scheme and host by which the client reached the service, such as "http://localhost:8000".
func BaseURL(ctx context.Context) string {
	base, _ := ctx.Value(baseURLKey{}).(string)
	return base
}

var (
	wireOptions = jsontext.AllowDuplicateNames(true)
	buffers     = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

func releaseBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooledBytes {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// ServeHTTP implements http.Handler. It checks, in this order: the method, the size of the body, the operation, the
// form of the signature, the data folder, and the JSON.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Amzn-Requestid", uuid.NewString())
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	request, response := buffers.Get().(*bytes.Buffer), buffers.Get().(*bytes.Buffer)
	defer releaseBuffer(request)
	defer releaseBuffer(response)
	if n := r.ContentLength; n > 0 && n <= s.MaxRequestBytes {
		request.Grow(int(n) + bytes.MinRead)
	}
	_, err := request.ReadFrom(http.MaxBytesReader(w, r.Body, s.MaxRequestBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		err = errTooLarge
	case err != nil:
		s.Logger.Debug(s.Name+": reading a request", slog.Any("error", err))
		return
	default:
		err = s.dispatch(r, request.Bytes(), response)
	}
	status := http.StatusOK
	if err != nil {
		status = s.writeError(r, err, w.Header(), response)
	}
	s.send(w, status, response.Bytes())
}

func (s *Service) dispatch(r *http.Request, body []byte, response *bytes.Buffer) error {
	run, err := s.operation(r.Header.Get("X-Amz-Target"))
	if err != nil {
		return err
	}
	if err := checkSignature(r); err != nil {
		return err
	}
	if s.Folder != nil {
		leave, err := s.Folder.Enter()
		if err != nil {
			return err
		}
		defer leave()
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return run(context.WithValue(r.Context(), baseURLKey{}, scheme+r.Host), s, body, response)
}

func (s *Service) operation(target string) (Operation, error) {
	prefix, name, _ := strings.Cut(target, ".")
	operations, ok := s.Targets[prefix+"."]
	if !ok {
		return nil, unknownOperation("The header X-Amz-Target does not name an operation of %s.", s.Name)
	}
	run, ok := operations[name]
	if !ok {
		return nil, unknownOperation("The local platform does not have the operation %s.", target)
	}
	return run, nil
}

// checkSignature checks that a request has a well-formed Signature Version 4. It does not verify the signature.
func checkSignature(r *http.Request) error {
	if r.URL.Query().Has("X-Amz-Signature") {
		return nil // presigned
	}
	scheme, parameters, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.HasPrefix(scheme, "AWS4-") {
		return errNoSignature
	}
	for _, name := range []string{"Credential=", "Signature=", "SignedHeaders="} {
		if !strings.Contains(parameters, name) {
			return errIncompleteSignature
		}
	}
	if r.Header.Get("X-Amz-Date") == "" && r.Header.Get("Date") == "" {
		return errIncompleteSignature
	}
	return nil
}

// writeError replaces the response with an error's body, adds its header, and returns its status.
func (s *Service) writeError(r *http.Request, err error, header http.Header, response *bytes.Buffer) int {
	refusal := s.asError(err)
	if refusal == nil {
		if r.Context().Err() == nil {
			s.Logger.Error(s.Name+": internal error",
				slog.String("target", r.Header.Get("X-Amz-Target")), slog.Any("error", err))
		}
		refusal = errInternal
	}
	if refusal.QueryError != "" {
		header.Set("X-Amzn-Query-Error", refusal.QueryError)
	}
	if s.ContentType == REST {
		header.Set("X-Amzn-Errortype", refusal.Type)
	}
	response.Reset()
	if err := json.MarshalWrite(response, refusal, wireOptions); err != nil {
		s.Logger.Error(s.Name+": encoding an error", slog.Any("error", err))
	}
	return refusal.status()
}

func (s *Service) send(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", s.ContentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if s.CRC32 {
		header.Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.Logger.Debug(s.Name+": sending a response", slog.Any("error", err))
	}
}

// Error types that every service has. SDKs ignore the namespace before the "#".
const (
	TypeSerialization    = "com.amazon.coral.service#SerializationException"
	TypeUnknownOperation = "com.amazon.coral.service#UnknownOperationException"
)

// Error is an error response.
type Error struct {
	Type    string `json:"__type"` // with or without AWS's namespace
	Message string `json:"message,omitzero"`
	Status  int    `json:"-"` // 0 is 400
	// QueryError is the header x-amzn-query-error: the code of the older Query protocol and "Sender" or "Receiver".
	QueryError string `json:"-"`
	// Fields are further members of the body, such as CancellationReasons.
	Fields map[string]any `json:",embed"`
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

var (
	errInternal = &Error{
		Type: "InternalServerError", Message: "Internal error. The platform's log has the cause.",
		Status: http.StatusInternalServerError,
	}
	errClosed = &Error{
		Type: "ServiceUnavailableException", Message: "The service is shutting down.", Status: http.StatusServiceUnavailable,
	}
	errTooLarge = &Error{
		Type: "RequestEntityTooLargeException", Message: "The request is too large.",
		Status: http.StatusRequestEntityTooLarge,
	}
	errNoSignature = &Error{
		Type:    "com.amazon.coral.service#MissingAuthenticationTokenException",
		Message: "Request is missing Authentication Token",
	}
	errIncompleteSignature = &Error{
		Type:    "com.amazon.coral.service#IncompleteSignatureException",
		Message: "The request needs a date, and a Signature Version 4 with Credential, SignedHeaders and Signature.",
	}
)

// asError returns the response for an error, nil if it is an internal error.
func (s *Service) asError(err error) *Error {
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal
	}
	if errors.Is(err, datafolder.ErrClosed) {
		return errClosed
	}
	if s.Convert != nil {
		return s.Convert(err)
	}
	return nil
}

// decodingError returns the error response for a request that cannot be decoded. An error of a value's own decoder has
// the response that Convert returns.
func (s *Service) decodingError(err error) error {
	if refusal := s.asError(err); refusal != nil {
		return refusal
	}
	var mismatch *json.SemanticError
	if !errors.As(err, &mismatch) {
		return notDecoded("The request's body is not valid JSON.")
	}
	member := strings.ReplaceAll(strings.TrimPrefix(string(mismatch.JSONPointer), "/"), "/", ".")
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return notDecoded("The local platform does not support the parameter %s.", member)
	case member == "":
		return notDecoded("The request's body must be a JSON object.")
	default:
		return notDecoded("The parameter %s has the wrong type or value (a JSON %s).", member, mismatch.JSONKind)
	}
}

func notDecoded(format string, args ...any) *Error {
	return &Error{Type: TypeSerialization, Message: fmt.Sprintf(format, args...)}
}

func unknownOperation(format string, args ...any) *Error {
	return &Error{Type: TypeUnknownOperation, Message: fmt.Sprintf(format, args...)}
}

// RejectService responds to a request for a service that the local platform does not have, in the protocol of the
// request, so that SDKs report the message. The Query protocol (STS, SNS, IAM and others) sends forms and reads XML, S3
// reads XML, and all others read JSON. service is the name in the signature, such as "sts", or "" if there is none.
func RejectService(w http.ResponseWriter, r *http.Request, service string) {
	target := r.Header.Get("X-Amz-Target")
	isForm := strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	message := "The local platform does not have this service or operation."
	switch {
	case target != "":
		message = fmt.Sprintf("The local platform has no service for X-Amz-Target %s.", target)
	case service != "":
		message = fmt.Sprintf("The local platform does not have the AWS service %s, which this request is for.", service)
	}
	requestID := uuid.NewString()
	header := w.Header()
	header.Set("X-Amzn-Requestid", requestID)
	refusal := xmlError{Type: "Sender", Code: "UnknownOperationException", Message: message}
	var body []byte
	var err error
	switch {
	case target != "" || !isForm && service != "s3":
		header.Set("X-Amzn-Errortype", refusal.Code)
		header.Set("Content-Type", Version10)
		body, err = json.Marshal(Error{Type: refusal.Code, Message: message})
	case service == "s3":
		header.Set("Content-Type", "application/xml")
		refusal.Type = ""
		body, err = xml.Marshal(refusal)
	default:
		header.Set("Content-Type", "text/xml")
		body, err = xml.Marshal(xmlErrorResponse{Error: refusal, RequestID: requestID})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body) // the client may have gone
}

// xmlErrorResponse is an error of the Query protocol.
type xmlErrorResponse struct {
	XMLName   xml.Name `xml:"ErrorResponse"`
	Error     xmlError
	RequestID string `xml:"RequestId"`
}

type xmlError struct {
	XMLName xml.Name `xml:"Error"`
	Type    string   `xml:",omitempty"`
	Code    string
	Message string
}
