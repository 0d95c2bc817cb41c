package assistant

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
)

// memory is what a conversation is carried on with.
type memory struct {
	// summary is a note in place of the turns up to a message, upTo; both "" while there is none.
	summary, upTo string
	// turns are the latest of those behind it, oldest first.
	turns []turn
	// clearedTo is the message up to which everything was cleared, "" if it never was.
	clearedTo string
}

func (s *Service) newTurn() (questionID, answerID string) { return "", "" }

func (s *Service) recall(_ context.Context, _ string) (memory, error) { return memory{}, nil }

func (s *Service) finish(_ context.Context, _ reservation, _ string, _ turn, _ usage) error {
	return nil
}

func (s *Service) amend(_ context.Context, _ string, _ message) error { return nil }

func (s *Service) remember(_ context.Context, _ string, _ memory, _, _ string) error { return nil }

func (s *Service) registerConversations(_ huma.API) {}

func (s *Service) registerUsage(_ huma.API) {}

func (s *Service) registerCancel(_ huma.API) {}
