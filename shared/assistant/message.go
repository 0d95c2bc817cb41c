package assistant

import (
	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
	"devplatform/shared/clock"
)

// status is what became of a message.
type status string

const (
	complete    status = "complete"
	interrupted status = "interrupted" // the answer was cut off: by a cancel, by time, or by a fault on the way
)

// usage is what an answer took, in tokens, as clients see it.
type usage struct {
	InputTokens  int `json:"inputTokens" doc:"Tokens that the model read" example:"1200"`
	OutputTokens int `json:"outputTokens" doc:"Tokens that the model wrote" example:"350"`
}

// message is one of a conversation.
type message struct {
	ID        string
	Role      model.Role
	Content   string
	Code      string          // of an answer
	Actions   []action.Action // of an answer
	Model     string          // of an answer
	Usage     usage           // of an answer
	Status    status
	CreatedAt clock.Timestamp
	// AuthorID is the user who wrote it, or whom it answers.
	AuthorID string
}

// turn is a message and its answer; they are stored together, their ids next to each other.
type turn struct{ question, answer message }
