package sqs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"devplatform/infra/local/datafolder"
)

const (
	targetPrefix = "AmazonSQS."
	contentType  = "application/x-amz-json-1.0"
	// maxRequestBytes is ten messages that are each as large as one may be, every byte written as an escape, and their frame: too much
	// for a batch, and refused as such, not as a request.
	maxRequestBytes = mostEntries*6*maxMessageBytes + 256<<10
	// maxPooledBytes keeps the occasional huge body from staying in memory.
	maxPooledBytes = 256 << 10
)

var (
	buffers     = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	wireOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), json.RejectUnknownMembers(true))
)

func releaseBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooledBytes {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// call is what an operation knows of its request beside the input.
type call struct {
	ctx  context.Context
	base string // scheme and host under which the caller reaches us: queue URLs begin with it
}

// ServeHTTP answers one request of the JSON 1.0 protocol, in AWS's order: body
// size, operation, credentials, JSON, then the operation's own checks. The
// signature itself is not verified.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.RLock()
	defer s.requests.RUnlock()
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	request, response := buffers.Get().(*bytes.Buffer), buffers.Get().(*bytes.Buffer)
	defer releaseBuffer(request)
	defer releaseBuffer(response)
	_, err := request.ReadFrom(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		s.options.Logger.Debug("sqs: reading a request", slog.Any("error", err))
		return
	}
	header := w.Header()
	header.Set("x-amzn-RequestId", uuid.NewString())
	header.Set("Content-Type", contentType)
	status := s.answer(r, request.Bytes(), header, response)
	header.Set("Content-Length", strconv.Itoa(response.Len()))
	w.WriteHeader(status)
	if _, err := w.Write(response.Bytes()); err != nil {
		s.options.Logger.Debug("sqs: sending a response", slog.Any("error", err))
	}
}

// errorBody is the JSON of an apiError.
type errorBody struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// answer writes the body of the response and returns its status.
func (s *Store) answer(r *http.Request, body []byte, header http.Header, response *bytes.Buffer) int {
	target := r.Header.Get("X-Amz-Target")
	err := s.dispatch(r, target, body, response)
	if err == nil {
		return http.StatusOK
	}
	refused, expected := asAPIError(err)
	if !expected && !errors.Is(err, datafolder.ErrFull) && r.Context().Err() == nil { // of a full disk there is a line already
		s.options.Logger.Error("sqs: internal error", slog.String("target", target), slog.Any("error", err))
	}
	header.Set("x-amzn-query-error", refused.Type.code+";"+refused.fault())
	response.Reset()
	if err := json.MarshalWrite(response, errorBody{refused.Type.name, refused.Message}); err != nil {
		s.options.Logger.Error("sqs: encoding an error", slog.Any("error", err))
	}
	return refused.Type.status
}

func (s *Store) dispatch(r *http.Request, target string, body []byte, response *bytes.Buffer) error {
	if s.closed {
		return refuse(typeServiceUnavailable, "The service is shutting down.")
	}
	name, ok := strings.CutPrefix(target, targetPrefix)
	run, known := operations[name]
	if !ok || !known {
		return unknownOperation(name)
	}
	if err := checkCredentials(r); err != nil {
		return err
	}
	if err := s.folder.Check(); err != nil {
		return err
	}
	return run(call{r.Context(), baseOf(r)}, s, body, response)
}

func baseOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// operation runs one request: JSON in, JSON out.
type operation func(c call, s *Store, body []byte, response *bytes.Buffer) error

// handle makes an operation of a method with typed input and output.
func handle[In, Out any](run func(*Store, call, *In) (*Out, error)) operation {
	return func(c call, s *Store, body []byte, response *bytes.Buffer) error {
		var in In
		if err := json.Unmarshal(body, &in, wireOptions); err != nil {
			return decodingError(err)
		}
		out, err := run(s, c, &in)
		if err != nil {
			return err
		}
		return json.MarshalWrite(response, out, wireOptions)
	}
}

// nothing is the output of operations that only succeed.
type nothing struct{}

// decodingError says what is wrong with a request's JSON. Of a member that does
// not exist AWS says nothing; here nothing is ignored.
func decodingError(err error) error {
	var mismatch *json.SemanticError
	if !errors.As(err, &mismatch) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return refuse(typeSerialization, "Unexpected end of input")
		}
		return refuse(typeSerialization, "The request body is not valid JSON")
	}
	path := strings.ReplaceAll(strings.TrimPrefix(string(mismatch.JSONPointer), "/"), "/", ".")
	if errors.Is(err, json.ErrUnknownName) {
		return refuse(typeUnsupported, "The parameter %s is not supported by the embedded SQS", path)
	}
	if mismatch.GoType == nil {
		return refuse(typeSerialization, "The parameter %s cannot be read", path)
	}
	found := mismatch.JSONKind.String()
	if word, ok := kindNames[mismatch.JSONKind]; ok {
		found = word
	}
	return refuse(typeSerialization, "%s cannot be converted to %s (%s)", found, wireName(mismatch.GoType), path)
}

var kindNames = map[jsontext.Kind]string{jsontext.KindBeginObject: "object", jsontext.KindBeginArray: "array"}

// wireName is what the model calls the type of a Go field.
func wireName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.String:
		return "String"
	case t.Kind() == reflect.Int64:
		return "Integer"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "Blob"
	case t.Kind() == reflect.Slice:
		return "List"
	default:
		return "Structure"
	}
}

// checkCredentials asks for a well-formed Signature Version 4; which key signed
// is nobody's business here, and the signature is not verified.
func checkCredentials(r *http.Request) error {
	authorization := r.Header.Get("Authorization")
	if authorization == "" {
		if r.URL.Query().Get("X-Amz-Algorithm") != "" {
			return nil // presigned
		}
		return refuse(typeAccessDenied, "Access to the resource %s is denied.", baseOf(r)+r.URL.Path)
	}
	scheme, parameters, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	complete := strings.HasPrefix(scheme, "AWS4-")
	for _, name := range []string{"Credential=", "Signature=", "SignedHeaders="} {
		complete = complete && strings.Contains(parameters, name)
	}
	if !complete {
		return refuse(typeIncomplete, "The request signature does not conform to AWS standards.")
	}
	return nil
}
