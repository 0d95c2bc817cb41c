package assistant

import (
	"github.com/danielgtaylor/huma/v2"

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
func (s *Service) Register(h huma.API) {
	s.registerChat(h)
	s.registerConversations(h)
	s.registerGenerate(h)
	s.registerCancel(h)
	s.registerUsage(h)
}
