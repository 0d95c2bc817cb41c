// Package model is what the assistant asks of a model provider, and what providers answer: one streaming call. It has the types
// that both sides speak and nothing else; projects, conversations, HTTP and any vendor's SDK stay out of it.
package model

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Provider generates answers. It is safe for concurrent use, and does nothing before its first call.
type Provider interface {
	// Generate asks for one answer and hands on its parts as they come, in order, from one goroutine. It returns when the answer is
	// complete. An answer that ends without the provider's own word that it is complete is an error.
	// Errors: *Error; the context's; emit's, unchanged, which ends the generation at the provider as well.
	// The outcome's usage counts for errors, too, as far as the provider has told it.
	Generate(ctx context.Context, r Request, emit func(Part) error) (Outcome, error)
}

// Task is what a request is for. Language models read it out of the prompt; a provider that is none goes by it.
type Task string

// The tasks.
const (
	TaskChat      Task = "chat"      // answer a message about a project, with tools
	TaskGenerate  Task = "generate"  // write code for a prompt, without a project
	TaskSummarize Task = "summarize" // put old turns of a conversation into a note
)

// Request is one call. All text is UTF-8.
type Request struct {
	Task Task
	// System is the instruction. It is the same for every request of a task, so that providers can cache it together with Tools.
	System string
	// Messages alternate between the two roles, beginning and ending with the user's. None is empty.
	Messages []Message
	// Tools are what the model may call.
	Tools []Tool
	// MaxOutput is the most tokens that the answer may have.
	MaxOutput int
	// Facts are what the messages say, in parts, for a provider that can't read.
	Facts Facts
}

// Role is whose a message is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one of a conversation.
type Message struct {
	Role Role
	// Text may be empty only beside Calls or Results.
	Text string
	// Calls are those that the assistant made, after its text.
	Calls []Call
	// Results answer the calls of the message before, one each, in their order; before the user's text.
	Results []Result
}

// Tool is something that the model may call.
type Tool struct {
	Name, Description string
	// Schema is the JSON Schema of the input, an object.
	Schema jsontext.Value
}

// Call is a use of a tool.
type Call struct {
	// ID is the provider's, unique in the conversation.
	ID, Name string
	// Input is what the model wrote, which may be anything: valid JSON is what it should be.
	Input string
}

// Result answers a call.
type Result struct {
	CallID, Text string // never empty
	Failed       bool
}

// Facts are what a request is about. Which of them are set depends on the task.
type Facts struct {
	// Prompt is what the user wrote, word for word.
	Prompt string
	// Framework and Language as the user named them, or the project's; may be empty.
	Framework, Language string
	// Paths are the project's files, as many as the assistant knows of.
	Paths []string
	// Files are those whose contents the prompt has, the current one first.
	Files []File
	// CurrentFile is the path that the user looks at, empty if none.
	CurrentFile string
	// Turns are earlier ones: of a chat the recent ones, of a summary those that it is about.
	Turns []Turn
	// Summary is the note in place of turns that are older still.
	Summary string
}

// File is a file of the project.
type File struct {
	Path, Content string
	// Cut says that parts of the content were left out.
	Cut bool
}

// Turn is a message and what was answered.
type Turn struct {
	User, Assistant string
	// Did are the actions of the answer in a few words each, such as "create_file /src/a.ts".
	Did []string
}

// PartKind is what a part of an answer is.
type PartKind uint8

// The kinds of parts. A call begins with CallStart, goes on with CallDelta any number of times, and ends with CallEnd; calls do not
// overlap, and no text comes inside of one: providers whose calls overlap put them in order.
const (
	Text      PartKind = iota + 1 // Text is more of the answer's text
	CallStart                     // CallID, Name
	CallDelta                     // CallID; Text is more of the input's JSON
	CallEnd                       // CallID
	Thinking                      // nothing that anybody is told; the model is at work. It may come anywhere
)

// Part is a piece of an answer.
type Part struct {
	Kind         PartKind
	CallID, Name string
	Text         string
}

// Stop is why an answer ended.
type Stop string

// The ends.
const (
	StopEnd    Stop = "end"    // the model had said all
	StopTools  Stop = "tools"  // it waits for the results of its calls
	StopLength Stop = "length" // MaxOutput, or the model's window
)

// Outcome is what there is to know about an answer once it is complete.
type Outcome struct {
	Stop Stop
	// Model is the one that answered, by the provider's name for it.
	Model string
	Usage Usage
}

// Usage is what an answer took, in tokens.
type Usage struct {
	// Input is everything that was read, what came from a cache included.
	Input, Output int
	// CacheRead and CacheWrite are parts of Input, of providers that tell.
	CacheRead, CacheWrite int
}

// Zero reports that the provider told nothing.
func (u Usage) Zero() bool { return u == Usage{} }
