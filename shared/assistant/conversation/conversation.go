// Package conversation stores the conversations about projects: messages, which are written in pairs, and the summary
// that replaces old messages in prompts. Access rules, calls of models and quotas do not belong here.
package conversation

import (
	"strings"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
	"devplatform/shared/id"
)

// Status reports whether a message is complete.
type Status string

// The statuses.
const (
	Complete    Status = "complete"
	Interrupted Status = "interrupted" // the answer was cut off: by its user, by a time limit, or by an error
)

// Usage is the number of tokens that an answer used, as clients see it.
type Usage struct {
	InputTokens  int `json:"inputTokens" doc:"The number of tokens that the model read" example:"1200"`
	OutputTokens int `json:"outputTokens" doc:"The number of tokens that the model generated" example:"350"`
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
	// AuthorID is the ID of the user who wrote the message or, for an answer, the question.
	AuthorID string
}

// Turn is a user's message and its answer. They are stored together, and their IDs are consecutive.
type Turn struct{ Question, Answer Message }

// Memory is the part of a conversation that the next prompt uses.
type Memory struct {
	// Summary replaces the messages up to and including SummaryUpTo. Both are "" if there is no summary.
	Summary, SummaryUpTo string
	// Turns are the latest turns after that, oldest first.
	Turns []Turn
	// ClearedUpTo is the ID of the last cleared message, "" if the conversation was never cleared.
	ClearedUpTo string
	// Last is the ID of the latest message, stored or cleared, "" if there is none.
	Last string
}

// ID returns the ID of a project's only conversation. Both IDs have the same ULID.
func ID(projectID string) string {
	return string(id.Conversation) + strings.TrimPrefix(projectID, string(id.Project))
}

// NewTurnIDs returns consecutive IDs for a message and its answer. Both sort after the message last, even if the
// process that generated last had a clock that was ahead.
func NewTurnIDs(ids *id.Generator, last string) (questionID, answerID string) {
	for {
		questionID = ids.NewAfter(id.Message, last)
		if answerID, ok := id.Message.Next(questionID); ok {
			return questionID, answerID
		}
	}
}

// pair returns the turns in messages, which are sorted by ID. It ignores a message whose counterpart is missing.
func pair(messages []Message) []Turn {
	var turns []Turn
	for i := 1; i < len(messages); i++ {
		if answerID, _ := id.Message.Next(messages[i-1].ID); answerID == messages[i].ID {
			turns = append(turns, Turn{messages[i-1], messages[i]})
		}
	}
	return turns
}
