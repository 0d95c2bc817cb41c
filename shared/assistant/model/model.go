// Package model is the interface between the assistant and model providers: one streaming call and its types. Projects,
// conversations, HTTP and the SDKs of vendors do not belong here.
package model

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Provider generates answers. It is safe for concurrent use. It does not use the network before its first call.
type Provider interface {
	// Generate requests one answer and passes its parts to emit as they arrive, in order, from one goroutine. It
	// returns when the answer is complete. A response that ends without the provider's stop event is an error.
	// Errors: *Error; the context's error; emit's error, unchanged, after which the provider stops generating. If there
	// is an error, the outcome has the usage that the provider has reported so far.
	Generate(ctx context.Context, r Request, emit func(Part) error) (Outcome, error)
}

// Task is the purpose of a request. The prompt describes it to language models. Other providers read this field.
type Task string

// The tasks.
const (
	TaskChat      Task = "chat"      // answer a message about a project, with tools
	TaskGenerate  Task = "generate"  // write code for a prompt, without a project
	TaskSummarize Task = "summarize" // summarize old turns of a conversation
)

// Request is a request for an answer. All text is UTF-8.
type Request struct {
	Task Task
	// System is the instruction. It is the same in all requests of a task, so that providers can cache it together with
	// Tools.
	System string
	// Messages alternate between the two roles. The first and the last message are the user's. No message is empty.
	Messages []Message
	// Tools are the tools that the model may call.
	Tools []Tool
	// MaxOutput is the maximum number of tokens of the answer.
	MaxOutput int
	// Subject has the content of the messages in separate fields, for providers that are not language models.
	Subject Subject
}

// Role is the role of a message's author.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is a message of a conversation.
type Message struct {
	Role Role
	// Text may be empty if there are Calls or Results.
	Text string
	// Calls are the calls of the assistant, after its text.
	Calls []Call
	// Results are the results of the calls of the previous message, one for each call, in order. They come before the
	// user's text.
	Results []Result
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	// Schema is the JSON Schema of the input, an object.
	Schema jsontext.Value
}

// Call is a call of a tool.
type Call struct {
	// ID is assigned by the provider and unique in the conversation.
	ID, Name string
	// Input is the text that the model generated. It should be valid JSON, but may be any text. In a request it is a
	// JSON object.
	Input string
}

// Result is the result of a call.
type Result struct {
	CallID, Text string // never empty
	Failed       bool
}

// Subject is the content of a request. The task determines which fields are set.
type Subject struct {
	// Prompt is the text that the user wrote.
	Prompt string
	// Framework is requested by the user, or the framework of the project. It may be empty.
	Framework string
	// Paths are the paths of the project's files.
	Paths []string
	// Files are the files whose contents are in the prompt, the current file first.
	Files []File
}

// File is a file of the project.
type File struct {
	Path, Content string
	// Cut reports whether parts of the content were left out.
	Cut bool
}

// PartKind is the kind of a part of an answer.
type PartKind uint8

// The kinds of parts. A call consists of a CallStart, any number of CallDeltas, and a CallEnd. Calls do not overlap,
// and there is no text within a call. If calls can overlap in a vendor's API, the Provider for this API reorders the
// parts.
const (
	Text      PartKind = iota + 1 // the next piece of the answer's text, in Text
	CallStart                     // a call begins; CallID and Name are set
	CallDelta                     // the next piece of the call's JSON input, in Text; CallID is set
	CallEnd                       // the call is complete; CallID is set
	Thinking                      // the model is working but has no output yet; may occur anywhere
)

// Part is a piece of an answer.
type Part struct {
	Kind         PartKind
	CallID, Name string
	Text         string
}

// Stop is the reason why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd    Stop = "end"    // the model has finished
	StopTools  Stop = "tools"  // the model waits for the results of its calls
	StopLength Stop = "length" // the answer reached MaxOutput, or the model's window is full
)

// Outcome describes an answer after its end.
type Outcome struct {
	Stop Stop
	// Model is the provider's name of the model that answered.
	Model string
	Usage Usage
}

// Usage is the number of tokens that an answer used. It is part of API responses and of stored messages.
type Usage struct {
	// Input includes tokens that were read from a cache.
	Input  int `json:"inputTokens" doc:"The number of tokens that the model read" example:"1200"`
	Output int `json:"outputTokens" doc:"The number of tokens that the model generated" example:"350"`
}

// IsZero reports whether the provider did not report any usage.
func (u Usage) IsZero() bool { return u == Usage{} }
