package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Error is an answer that tells of a failure: AWS's error type and message.
type Error struct {
	Type    string
	Message string
	// internal errors are AWS's fault: status 500.
	internal bool
}

// Error gives type and message.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

func invalidParameter(format string, args ...any) error {
	return &Error{Type: "InvalidParameterException", Message: fmt.Sprintf(format, args...)}
}

func invalidRequest(message string) error {
	return &Error{Type: "InvalidRequestException", Message: message}
}

func notFound(format string, args ...any) error {
	return &Error{Type: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...)}
}

func exists(format string, args ...any) error {
	return &Error{Type: "ResourceExistsException", Message: fmt.Sprintf(format, args...)}
}

const (
	targetPrefix = "secretsmanager."
	contentType  = "application/x-amz-json-1.1"
	// maxRequest leaves room for a value of 65,536 bytes, escaped.
	maxRequest = 1 << 20
)

// operation decodes a request, runs it and gives what is to be encoded.
type operation func(*Store, []byte) (any, error)

// operations are those of Secrets Manager's that exist here.
var operations = map[string]operation{
	"CreateSecret":             decoded((*Store).createSecret),
	"DeleteSecret":             decoded((*Store).deleteSecret),
	"DescribeSecret":           decoded((*Store).describeSecret),
	"GetRandomPassword":        decoded((*Store).getRandomPassword),
	"GetSecretValue":           decoded((*Store).getSecretValue),
	"ListSecrets":              decoded((*Store).listSecrets),
	"ListSecretVersionIds":     decoded((*Store).listVersions),
	"PutSecretValue":           decoded((*Store).putSecretValue),
	"RestoreSecret":            decoded((*Store).restoreSecret),
	"UpdateSecret":             decoded((*Store).updateSecret),
	"UpdateSecretVersionStage": decoded((*Store).moveStage),
}

// decoded wraps an operation on its own types. Members are matched as written; one that is not known is refused, never ignored.
func decoded[In, Out any](run func(*Store, In) (Out, error)) operation {
	return func(s *Store, body []byte) (any, error) {
		var in In
		err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true))
		var semantic *json.SemanticError
		switch {
		case err == nil:
			return run(s, in)
		case errors.Is(err, json.ErrUnknownName) && errors.As(err, &semantic):
			return nil, invalidParameter("Parameter %s is not supported by the local platform.", semantic.JSONPointer.LastToken())
		default:
			return nil, &Error{Type: "SerializationException", Message: "The request is no valid JSON of the expected kind."}
		}
	}
}

// ServeHTTP answers Secrets Manager's JSON 1.1 protocol: POST with X-Amz-Target secretsmanager.<Operation>.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.serve(w, r)
	status := http.StatusOK
	if err != nil {
		var failure *Error
		if !errors.As(err, &failure) {
			failure = &Error{Type: "InternalServiceError", Message: "An error occurred on the server side.", internal: true}
			s.options.Logger.Error("secrets", "error", err)
		}
		status = http.StatusBadRequest
		if failure.internal {
			status = http.StatusInternalServerError
		}
		answer = map[string]string{"__type": failure.Type, "Message": failure.Message}
	}
	var body bytes.Buffer
	if err := json.MarshalWrite(&body, answer); err != nil {
		http.Error(w, "encode", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", newID())
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client may have gone
}

func (s *Store) serve(w http.ResponseWriter, r *http.Request) (any, error) {
	name, known := strings.CutPrefix(r.Header.Get("X-Amz-Target"), targetPrefix)
	if r.Method != http.MethodPost || !known {
		return nil, &Error{Type: "UnknownOperationException", Message: "Send POST with X-Amz-Target secretsmanager.<Operation>."}
	}
	run := operations[name]
	if run == nil {
		return nil, &Error{Type: "UnknownOperationException", Message: name + " is not supported by the local platform."}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return nil, &Error{Type: "SerializationException", Message: "The request could not be read whole, or is too large."}
	}
	return run(s, body)
}

// epoch is a time on the wire: seconds with a fraction. The zero time is left out by omitzero.
type epoch float64

func toEpoch(t time.Time) epoch {
	if t.IsZero() {
		return 0
	}
	return epoch(float64(t.UnixMilli()) / 1000)
}
