package assistant

import (
	"context"
	"net/http"

	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

type usageOutput struct{ Body usageItem }

// usageItem is what a user has taken of the assistant in a month, in tokens.
type usageItem struct {
	Month          string          `json:"month" doc:"The present month, of UTC" example:"2026-11"`
	InputTokens    int             `json:"inputTokens" doc:"Tokens that models read for the caller" example:"1200"`
	OutputTokens   int             `json:"outputTokens" doc:"Tokens that models wrote for the caller" example:"350"`
	TotalTokens    int             `json:"totalTokens" doc:"Both" example:"1550"`
	ReservedTokens int             `json:"reservedTokens" doc:"Tokens set aside for answers that are being made; what they don't take comes back" example:"0"`
	Limit          int             `json:"limit" doc:"How many tokens the caller may take in a month" example:"2000000"`
	Remaining      int             `json:"remaining" doc:"How many of these are left" example:"1998450"`
	Calls          int             `json:"calls" doc:"How many chat and generate calls the caller has made" example:"3"`
	ResetsAt       clock.Timestamp `json:"resetsAt" doc:"When the next month begins" example:"2026-12-01T00:00:00.000Z"`
}

// registerUsage adds the call that tells what is left.
func (s *Service) registerUsage(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readUsage", Method: http.MethodGet, Path: "/api/ai/usage", Tag: tag,
		Summary:     "What the caller has taken of the assistant this month",
		Description: "All of the caller's calls, in whichever workspace. Tokens are reserved when an answer begins and settled when it ends, in the month in which it began.",
	}, s.handleUsage)
}

func (s *Service) handleUsage(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*usageOutput, error) {
	now := monthOf(s.now())
	used, err := s.store.usage(ctx, caller.UserID, now)
	if err != nil {
		return nil, err
	}
	total := used.Input + used.Output
	return &usageOutput{usageItem{
		Month: now.String(), InputTokens: used.Input, OutputTokens: used.Output, TotalTokens: total,
		ReservedTokens: used.Taken - total,
		Limit:          s.limits.MonthlyTokens, Remaining: max(0, s.limits.MonthlyTokens-used.Taken),
		Calls: used.Calls, ResetsAt: clock.Stamp(now.next()),
	}}, nil
}
