// Package uistream reads the assistant's streams with the client that they are for: the AI SDK's own, from npm. It is for tests, of
// package uistream's writer and of the whole platform. It knows the address, the body and the stream of
// POST /api/ai/chat/stream as a page knows them, and nothing of the code that answers.
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

// client are the script and what it is installed from.
//
//go:embed client/.npmrc client/package.json client/package-lock.json client/read.mjs
var client embed.FS

// Request is a body of API.md §6.2, call 18.
type Request struct {
	ProjectID string   `json:"projectId"`
	Message   string   `json:"message"`
	Context   *Context `json:"context,omitempty"`
	Apply     bool     `json:"apply,omitempty"`
}

// Context is what the page is showing.
type Context struct {
	CurrentFile string `json:"currentFile,omitempty"`
	Framework   string `json:"framework,omitempty"`
}

// Message is what a page has in the end.
type Message struct {
	ID, Role string
	Parts    []Part
	// FinishReason is the answer's own, "" if it did not come to that.
	FinishReason string
	// Errors are the texts of the stream's error frames.
	Errors []string
	// Failure is why the client gave up: the answer was no stream, it was cut, or it broke the protocol's rules. "" if it did not.
	Failure string
	// Status and Body are those of an answer that was an error, and 0 and "" of any other.
	Status int
	Body   string
	// Chunks is how many frames came, States how many times the page had something new to show.
	Chunks, States int
	// First and Last are when the first and the last frame came, from the request on.
	First, Last time.Duration
}

// Part is a part of a message: text, a tool's call (tool-<name>), or data (data-<name>).
type Part struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	State      string          `json:"state"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
	ErrorText  string          `json:"errorText"`
	Data       json.RawMessage `json:"data"`
}

// Read sends a message to the API at base, with the cookie as the header has it, and reads the answer to its end. Where the client
// can't be installed the test is skipped, and in CI it fails.
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
	var complaints bytes.Buffer
	command.Stderr = &complaints
	output, err := command.Output()
	if err != nil {
		t.Fatalf("the AI SDK's client: %v\n%s", err, complaints.String())
	}
	var read struct {
		Message struct {
			ID, Role string
			Parts    []Part
		}
		Chunks, States  int
		FirstMs, LastMs float64
		FinishReason    string
		Errors          []string
		Failure, Body   string
		Status          int
	}
	if err := json.Unmarshal(output, &read); err != nil {
		t.Fatalf("the AI SDK's client said %q: %v", output, err)
	}
	return Message{
		ID: read.Message.ID, Role: read.Message.Role, Parts: read.Message.Parts,
		FinishReason: read.FinishReason, Errors: read.Errors, Failure: read.Failure, Status: read.Status, Body: read.Body,
		Chunks: read.Chunks, States: read.States, First: milliseconds(read.FirstMs), Last: milliseconds(read.LastMs),
	}
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
