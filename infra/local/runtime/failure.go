package runtime

import (
	"encoding/json"
	"fmt"
	"time"
)

// document is the error document of a function; Lambda's own errors have these two fields.
type document struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// failure makes one of Lambda's own errors, which name the request.
func failure(kind, requestID, message string) *FunctionError {
	return plainFailure(kind, "RequestId: "+requestID+" Error: "+message)
}

func plainFailure(kind, message string) *FunctionError {
	payload, err := json.Marshal(document{Type: kind, Message: message})
	if err != nil { // two strings always marshal
		payload = []byte(`{}`)
	}
	return &FunctionError{Type: kind, Message: message, Payload: payload}
}

// reported makes the error that a function reported itself. Its type is the header's, else the
// document's; without a document Lambda makes one of the header.
func reported(header string, payload []byte) *FunctionError {
	if len(payload) == 0 {
		if header == "" {
			header = "Runtime.Unknown"
		}
		return plainFailure(header, "")
	}
	var doc document
	_ = json.Unmarshal(payload, &doc) // any document is passed on as it is
	if header == "" {
		header = doc.Type
	}
	return &FunctionError{Type: header, Message: doc.Message, Payload: payload}
}

// kindTimeout is the type of what took too long.
const kindTimeout = "Sandbox.Timedout"

func timeoutMessage(limit time.Duration) string {
	return fmt.Sprintf("Task timed out after %.2f seconds", limit.Seconds())
}

// responseTooLarge is the error of a request whose answer was longer than Lambda passes on.
func responseTooLarge(limit string) *FunctionError {
	return plainFailure("Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size ("+limit+" bytes).")
}
