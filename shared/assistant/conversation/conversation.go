// Package conversation stores the conversations about projects: messages, which are written in pairs, and the summary
// that stands for old messages. It knows neither models nor quotas. Who may read or write a conversation is decided by
// its callers.
package conversation

import (
	"strings"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/id"
)

// Status tells whether a message is whole.
type Status string

// The statuses.
const (
	Complete    Status = "complete"
	Interrupted Status = "interrupted" // the answer was cut off: by its user, by a time limit, or by an error
)

// Usage is the number of tokens that an answer used, as clients see it.
type Usage struct {
	InputTokens  int `json:"inputTokens" doc:"Tokens that the model read" example:"1200"`
	OutputTokens int `json:"outputTokens" doc:"Tokens that the model wrote" example:"350"`
}

// Message is a message of a conversation.
type Message struct {
	ID      string
	Role    model.Role
	Content string
	// Code, Actions, Model and Usage are set in answers only.
	Code      string
	Actions   []action.Action
	Model     string
	Usage     Usage
	Status    Status
	CreatedAt clock.Timestamp
	// AuthorID is the user who wrote the message, or whose message it answers.
	AuthorID string
}

// Turn is a user's message and its answer. They are stored together, and their IDs are consecutive.
type Turn struct{ Question, Answer Message }

// Memory is the part of a conversation with which the next turn continues.
type Memory struct {
	// Summary stands for the messages up to SummaryUpTo. Both are "" if there is no summary.
	Summary, SummaryUpTo string
	// Turns are the latest turns after that, oldest first.
	Turns []Turn
	// ClearedUpTo is the message up to which the conversation was cleared, "" if it never was.
	ClearedUpTo string
	// Last is the latest message, stored or cleared, "" if there was none.
	Last string
}

// ID returns the ID of a project's conversation. A project has one conversation. Both IDs have the same ULID.
func ID(projectID string) string {
	return string(id.Conversation) + strings.TrimPrefix(projectID, string(id.Project))
}

// NewTurnIDs returns consecutive IDs for a message and its answer. Both sort after the message last, even if the clock
// of the process that made that one was ahead.
func NewTurnIDs(ids *id.Generator, last string) (questionID, answerID string) {
	for {
		questionID = ids.NewAfter(id.Message, last)
		if answerID, ok := id.Message.Next(questionID); ok {
			return questionID, answerID
		}
	}
}

// pair returns the turns among messages, which are sorted by ID. A message without its counterpart is left out.
func pair(messages []Message) []Turn {
	var turns []Turn
	for i := 1; i < len(messages); i++ {
		if answerID, _ := id.Message.Next(messages[i-1].ID); answerID == messages[i].ID {
			turns = append(turns, Turn{messages[i-1], messages[i]})
		}
	}
	return turns
}
