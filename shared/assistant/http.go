package assistant

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"devplatform/shared/assistant/quota"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

var tag = httpapi.Tag{
	Name: "Assistant",
	Description: "Ask a language model about a project, and generate code. Answers can contain changes to the project's " +
		"files. The changes are checked, and they are applied if the request asks for it. Each user can make " +
		strconv.Itoa(DefaultLimits().CallsPerMinute) + " chat or generate calls per minute, can have " +
		strconv.Itoa(DefaultLimits().InProgress) + " of them in progress, and has a monthly quota of tokens.",
}

// Register adds the endpoints of the assistant.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerChat(r)
	s.registerConversation(r)
	s.registerGenerate(r)
	s.registerMessage(r)
	s.registerUsage(r)
}

// modelErrors are the documented errors of every endpoint that calls a model.
var modelErrors = []*fault.Error{
	DefaultLimits().ExampleExceeded(time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC)),
	withRetryAfter(errUnavailable, defaultRetryAfter),
	withRetryAfter(errOverdue, defaultRetryAfter),
	errRefused,
	quota.ErrInUse,
	withRetryAfter(limit.ErrTooMany, 40*time.Second),
	DefaultLimits().ExampleInProgress(),
}

// checkBlank returns the violated rule if text consists only of white space, and "" otherwise. It accepts empty text,
// which the schema rejects.
func checkBlank(text string) string {
	if text != "" && strings.TrimSpace(text) == "" {
		return "must not be blank"
	}
	return ""
}

// checkControls returns the violated rule if text contains control characters, and "" otherwise.
func checkControls(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}
