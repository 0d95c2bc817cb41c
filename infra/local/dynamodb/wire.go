package dynamodb

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/dynamodb/attr"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	targetPrefix    = "DynamoDB_20120810."
	streamsPrefix   = "DynamoDBStreams_20120810."
	contentType     = "application/x-amz-json-1.0"
	maxRequestBytes = 16 << 20
	// maxPooledBytes keeps the occasional huge body from staying in memory.
	maxPooledBytes = 256 << 10
)

var (
	buffers     = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	wireOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true))
)

func releaseBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooledBytes {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// ServeHTTP answers one request of the JSON 1.0 protocol, in AWS's order: body
// size, operation, credentials, JSON, then the operation's own checks. The
// signature itself is not verified.
func (db *DB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Amzn-Requestid"] = []string{newRequestID()}
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, "healthy: dynamodb."+db.options.Region+".amazonaws.com ")
		return
	}
	if r.Method != http.MethodPost || !knownContentType(r.Header.Get("Content-Type")) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<UnknownOperationException/>\n")
		return
	}
	request := buffers.Get().(*bytes.Buffer)
	defer releaseBuffer(request)
	if n := r.ContentLength; n > 0 && n <= maxRequestBytes {
		request.Grow(int(n) + bytes.MinRead)
	}
	_, err := request.ReadFrom(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		db.options.Logger.Debug("dynamodb: reading a request", slog.Any("error", err))
		return
	}
	response := buffers.Get().(*bytes.Buffer)
	defer releaseBuffer(response)
	status := db.answer(r, request.Bytes(), response)
	db.send(w, status, response.Bytes())
}

// answer writes the body of the response and returns its status.
func (db *DB) answer(r *http.Request, body []byte, response *bytes.Buffer) int {
	target := r.Header.Get("X-Amz-Target")
	err := db.dispatch(r, target, body, response)
	if err == nil {
		return http.StatusOK
	}
	refused, expected := asAPIError(err)
	if !expected && !errors.Is(err, datafolder.ErrFull) { // of that there is a line already
		db.options.Logger.Error("dynamodb: internal error", slog.String("target", target), slog.Any("error", err))
	}
	response.Reset()
	if err := json.MarshalWrite(response, refused.body(), wireOptions); err != nil {
		db.options.Logger.Error("dynamodb: encoding an error", slog.Any("error", err))
	}
	return refused.status()
}

func (db *DB) dispatch(r *http.Request, target string, body []byte, response *bytes.Buffer) error {
	service := operations
	name, ok := strings.CutPrefix(target, targetPrefix)
	if !ok {
		service = streamOperations
		if name, ok = strings.CutPrefix(target, streamsPrefix); !ok {
			return &apiError{Type: typeUnknownOperation}
		}
	}
	run, ok := service[name]
	if !ok {
		return unknownOperation(name)
	}
	if err := checkCredentials(r); err != nil {
		return err
	}
	if err := db.folder.Check(); err != nil {
		return err
	}
	return run(r.Context(), db, body, response)
}

func (db *DB) send(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header["Content-Type"] = []string{contentType}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	header["X-Amz-Crc32"] = []string{strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		db.options.Logger.Debug("dynamodb: sending a response", slog.Any("error", err))
	}
}

func knownContentType(value string) bool {
	media, _, _ := strings.Cut(value, ";")
	switch strings.TrimSpace(media) {
	case contentType, "application/x-amz-json-1.1", "application/json":
		return true
	}
	return false
}

// newRequestID is 52 characters, as AWS's are.
func newRequestID() string {
	var random [32]byte
	_, _ = rand.Read(random[:])
	return base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:])
}

// operation runs one request: JSON in, JSON out.
type operation func(ctx context.Context, db *DB, body []byte, response *bytes.Buffer) error

// handle makes an operation of a method with typed input and output.
func handle[In, Out any](run func(*DB, *In) (*Out, error)) operation {
	return func(_ context.Context, db *DB, body []byte, response *bytes.Buffer) error {
		var in In
		if err := json.Unmarshal(body, &in, wireOptions); err != nil {
			return serializationError(err)
		}
		out, err := run(db, &in)
		if err != nil {
			return err
		}
		return json.MarshalWrite(response, out, wireOptions)
	}
}

// serializationError words a decoding error as AWS's parser does.
func serializationError(err error) error {
	var badValue *attr.Error
	if errors.As(err, &badValue) {
		return badValue
	}
	refused := &apiError{Type: typeSerialization}
	var mismatch *json.SemanticError
	if !errors.As(err, &mismatch) || mismatch.GoType == nil {
		return refused
	}
	refused.Message = mismatchMessage(mismatch.JSONKind, mismatch.GoType.Kind())
	return refused
}

// checkCredentials asks for a well-formed Signature Version 4; which key signed
// is nobody's business here, and the signature is not verified.
func checkCredentials(r *http.Request) error {
	authorization := r.Header.Get("Authorization")
	if authorization == "" {
		if r.URL.Query().Get("X-Amz-Algorithm") != "" {
			return nil // presigned
		}
		return &apiError{Type: typeMissingToken, Message: "Request is missing Authentication Token"}
	}
	scheme, parameters, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.HasPrefix(scheme, "AWS4-") {
		return &apiError{Type: typeMissingToken, Message: "Request is missing Authentication Token"}
	}
	missing := ""
	for _, name := range []string{"Credential", "Signature", "SignedHeaders"} {
		if !hasParameter(parameters, name) {
			missing += "Authorization header requires '" + name + "' parameter. "
		}
	}
	if r.Header.Get("X-Amz-Date") == "" && r.Header.Get("Date") == "" {
		missing += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
	}
	if missing != "" {
		return &apiError{Type: typeIncomplete, Message: missing + "Authorization=" + authorization}
	}
	return nil
}

func hasParameter(parameters, name string) bool {
	for part := range strings.SplitSeq(parameters, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if ok && key == name && value != "" {
			return true
		}
	}
	return false
}
