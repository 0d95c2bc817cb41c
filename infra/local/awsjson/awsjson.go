// Package awsjson serves AWS's JSON protocols 1.0 and 1.1: POST requests whose X-Amz-Target header names an operation,
// with JSON bodies. The embedded services define their operations with [Handle], and return errors as [*Error].
//
// It also has the response for requests to services that the local platform does not have, see [RejectService]. What
// the operations do does not belong here.
package awsjson

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Content types of the two versions of the protocol.
const (
	Version10 = "application/x-amz-json-1.0"
	Version11 = "application/x-amz-json-1.1"
)

// maxPooledBytes is the capacity above which a buffer is not reused, so that a rare large body does not stay in memory.
const maxPooledBytes = 256 << 10

// Service serves one or more tables of operations. It is an http.Handler. The fields must not change after the first
// request.
type Service struct {
	Name            string                // begins log lines, such as "sqs"
	ContentType     string                // [Version10] or [Version11]
	Targets         map[string]Operations // by the prefix of X-Amz-Target, such as "AmazonSQS."
	MaxRequestBytes int64
	Logger          *slog.Logger

	// RejectUnknown rejects requests with members that the operation's input does not have.
	RejectUnknown bool
	// CRC32 adds the checksum header that DynamoDB's clients verify.
	CRC32 bool
	// Before is called before each operation. If it returns an error, the operation is not called. May be nil.
	Before func() error
	// Convert returns the response for an error, of decoding or of an operation, that is not an [*Error], or nil if it is
	// an internal error. May be nil.
	Convert func(error) *Error
}

// Operations are operations by name.
type Operations map[string]Operation

// Operation decodes a request's body, runs it, and appends the response's body.
type Operation func(ctx context.Context, s *Service, body []byte, response *bytes.Buffer) error

// Handle returns an operation with typed input and output.
func Handle[In, Out any](run func(context.Context, *In) (*Out, error)) Operation {
	return func(ctx context.Context, s *Service, body []byte, response *bytes.Buffer) error {
		var in In
		if err := json.Unmarshal(body, &in, wireOptions, json.RejectUnknownMembers(s.RejectUnknown)); err != nil {
			return s.decodingError(err)
		}
		out, err := run(ctx, &in)
		if err != nil {
			return err
		}
		return json.MarshalWrite(response, out, wireOptions)
	}
}

// baseURLKey is the key of a request's base URL in its context.
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
// form of the signature, the Before hook, and the JSON.
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
	if s.Before != nil {
		if err := s.Before(); err != nil {
			return err
		}
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
