package assistant

import (
	"devplatform/shared/httpapi"
	"devplatform/shared/limit"
)

var tag = httpapi.Tag{
	Name: "Assistant",
	Description: "Asks a language model about a project and writes code. Answers carry checked actions on the project's files, which are applied on request. " +
		"20 chat or generate calls a minute, and a monthly quota of tokens.",
}

// errOften is what too many calls a minute are answered with.
var errOften = limit.ErrTooMany.WithHeader("Retry-After", "40")

// Register adds the endpoints of API.md §6.
func (s *Service) Register(r *httpapi.Routes) {
	s.registerChat(r)
	s.registerConversations(r)
	s.registerGenerate(r)
	s.registerCancel(r)
	s.registerUsage(r)
}
