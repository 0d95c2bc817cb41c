package runtime

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// serveInvokeStream is InvokeWithResponseStream.
func (r *Runtime) serveInvokeStream(w http.ResponseWriter, req *http.Request, f reference) error {
	kind, err := oneOf(req, headerInvocationType, "invocationType", "RequestResponse", "DryRun")
	if err != nil {
		return err
	}
	inv, err := r.invocation(w, req, f, kind, MaxPayload)
	if err != nil {
		return err
	}
	if kind == "DryRun" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	inv.Stream = true
	response, err := r.Invoke(req.Context(), inv)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // its errors were read
	h := w.Header()
	h.Set("Content-Type", "application/vnd.amazon.eventstream")
	h.Set("X-Amz-Executed-Version", response.ExecutedVersion)
	h.Set("X-Amzn-Remapped-Content-Type", response.ContentType)
	h.Set("X-Amzn-Trace-Id", inv.TraceID)
	out := &eventWriter{w: w, flush: http.NewResponseController(w).Flush, encoder: eventstream.NewEncoder()}
	failed := response.FunctionError
	if failed == nil {
		failed, err = out.chunks(response.Body)
	}
	if err == nil {
		err = out.complete(failed, response.LogTail)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the answer has begun: what is left is to break the connection
	}
	return nil
}

// eventWriter writes the messages of an event stream.
type eventWriter struct {
	w       io.Writer
	flush   func() error
	encoder *eventstream.Encoder
}

// chunks sends the function's bytes as they come; how the function failed, if it did, comes back.
func (e *eventWriter) chunks(body io.Reader) (*FunctionError, error) {
	chunk := chunks.Get().(*[32 << 10]byte)
	defer chunks.Put(chunk)
	for {
		n, err := body.Read(chunk[:])
		if n > 0 {
			if err := e.event("PayloadChunk", "application/octet-stream", chunk[:n]); err != nil {
				return nil, err
			}
		}
		var failed *FunctionError
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case errors.As(err, &failed):
			return failed, nil
		case err != nil:
			return nil, fmt.Errorf("read the function's answer: %w", err)
		}
	}
}

// complete sends the last message.
func (e *eventWriter) complete(failed *FunctionError, log []byte) error {
	body := struct {
		ErrorCode    string `json:"ErrorCode,omitempty"`
		ErrorDetails string `json:"ErrorDetails,omitempty"`
		LogResult    string `json:"LogResult,omitempty"`
	}{LogResult: base64.StdEncoding.EncodeToString(log)}
	if failed != nil {
		body.ErrorCode, body.ErrorDetails = failed.Type, string(failed.Payload)
	}
	payload, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the end of the stream: %w", err)
	}
	return e.event("InvokeComplete", "application/json", payload)
}

func (e *eventWriter) event(kind, contentType string, payload []byte) error {
	message := eventstream.Message{Payload: payload, Headers: eventstream.Headers{
		{Name: eventstreamType, Value: eventstream.StringValue(kind)},
		{Name: ":content-type", Value: eventstream.StringValue(contentType)},
		{Name: ":message-type", Value: eventstream.StringValue("event")},
	}}
	if err := e.encoder.Encode(e.w, message); err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	if err := e.flush(); err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	return nil
}

const eventstreamType = ":event-type"
