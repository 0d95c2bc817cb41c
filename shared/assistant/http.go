package assistant

import "github.com/danielgtaylor/huma/v2"

const tag = "Assistant"

// Register adds the endpoints of API.md §6.
func (s *Service) Register(h huma.API) {
	s.registerChat(h)
	s.registerConversations(h)
	s.registerGenerate(h)
	s.registerCancel(h)
	s.registerUsage(h)
}
