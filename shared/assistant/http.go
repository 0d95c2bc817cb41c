package assistant

import (
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
	Description: "Asks a language model about a project and writes code. Answers contain checked actions on the " +
		"project's files, which are applied on request. There is a limit of 20 chat or generate calls a " +
		"minute, and a monthly quota of tokens.",
}

// Register adds the endpoints of the assistant.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerChat(r)
	s.registerConversation(r)
	s.registerGenerate(r)
	s.registerMessage(r)
	s.registerUsage(r)
}

// modelErrors are the documented errors of every endpoint that asks a model.
var modelErrors = []*fault.Error{
	DefaultLimits().ExampleExceeded(time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC)),
	withRetryAfter(errUnavailable, defaultRetryAfter),
	withRetryAfter(errOverdue, defaultRetryAfter),
	errRefused,
	quota.ErrInUse,
	withRetryAfter(limit.ErrTooMany, 40*time.Second),
}

type doneOutput struct{ Body httpapi.Done }

// checkBlank returns the rule that a text of white space breaks, "" for other texts.
func checkBlank(text string) string {
	if text != "" && strings.TrimSpace(text) == "" {
		return "must not be blank"
	}
	return ""
}

// checkControls returns the rule that a text with control characters breaks, "" for other texts.
func checkControls(text string) string {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}
