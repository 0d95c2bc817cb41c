package assistant

import "context"

// reservation is what a call sets aside of its user's tokens before a model is asked: most of what it may take.
type reservation struct {
	userID string
	// messageID names the answer. The month in its time is the one that pays, whenever the answer ends.
	messageID string
	tokens    int
}

// quotaError says how many tokens are left where there are too few; errors.As finds it beneath QUOTA_EXCEEDED.
type quotaError struct{ left int }

func (e *quotaError) Error() string { return "assistant: too few tokens are left" }

func (s *Service) reserve(_ context.Context, _ reservation) error { return nil }

func (s *Service) settle(_ context.Context, _ reservation, _ usage) error { return nil }

func (s *Service) isCancelled(_ context.Context, _ reservation) (bool, error) { return false, nil }
