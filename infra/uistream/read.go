// Package uistream reads the assistant's streams with the client of the AI SDK from npm, as a web page does. It is used
// by the tests of the package that writes the streams (devplatform/shared/assistant/uistream), and by the tests of the
// whole platform. It knows only the public endpoint POST /api/ai/chat/stream, and does not depend on the code that
// serves this endpoint.
package uistream

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"os/exec"
	"testing"
	"time"

	"devplatform/infra/npmtest"
)

// client contains the script that reads a stream, and the files to install its packages.
//
//go:embed client/.npmrc client/package.json client/package-lock.json client/read.mjs
var client embed.FS

// Request is the body of a request to POST /api/ai/chat/stream.
type Request struct {
	ProjectID string   `json:"projectId"`
	Message   string   `json:"message"`
	Context   *Context `json:"context,omitempty"`
	Apply     bool     `json:"apply,omitempty"`
}

// Context describes what the page shows.
type Context struct {
	CurrentFile string `json:"currentFile,omitempty"`
	Framework   string `json:"framework,omitempty"`
}

// Message is the message that the client has at the end of the stream.
type Message struct {
	ID, Role string
	Parts    []Part
	// FinishReason is the reason in the finish frame, or "" if there was no such frame.
	FinishReason string
	// Errors are the texts of the error frames.
	Errors []string
	// Failure is the error that the client reported, or "". The client reports an error if the response is not a stream,
	// if the stream was cut, or if its frames violate the protocol.
	Failure string
	// Status and Body are the status and the body of an error response. They are 0 and "" if the response is a stream.
	Status int
	Body   string
	// Chunks is the number of frames. States is the number of versions of the message that the client returned.
	Chunks, States int
	// First and Last are the times from the request to the first and the last frame.
	First, Last time.Duration
}

// Part is a part of a message: text, a tool call (tool-<name>), or data (data-<name>).
type Part struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	State      string          `json:"state"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
	ErrorText  string          `json:"errorText"`
	Data       json.RawMessage `json:"data"`
}

// Read sends a message to the API and reads the response to its end. base is the URL of the server, and cookie is the
// value of the Cookie header. If the client can't be installed, Read skips the test, or fails it in CI.
func Read(t testing.TB, base, cookie string, body Request) Message {
	t.Helper()
	files, err := fs.Sub(client, "client")
	if err != nil {
		t.Fatal(err)
	}
	dir := npmtest.Need(t, files)
	input, err := json.Marshal(map[string]any{"url": base, "cookie": cookie, "body": body})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "node", "read.mjs")
	command.Dir, command.Stdin = dir, bytes.NewReader(input)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("the AI SDK's client: %v\n%s", err, stderr.String())
	}
	var result struct {
		Message
		FirstMs, LastMs float64
	}
	if err := json.Unmarshal(output, &result); err != nil {
		t.Fatalf("the output of the AI SDK's client is not valid: %v: %q", err, output)
	}
	result.First, result.Last = milliseconds(result.FirstMs), milliseconds(result.LastMs)
	return result.Message
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
