package assistant

import (
	"context"
	"net/http"

	"devplatform/shared/assistant/quota"
	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

func (s *Service) registerUsage(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readUsage", Method: http.MethodGet, Path: "/api/ai/usage", Tag: tag,
		Summary: "Read the caller's usage in this month",
		Description: "Includes the caller's calls in all workspaces. Tokens are reserved when an answer begins. When " +
			"the answer ends, the tokens that it used replace the reserved ones. Both count in the month in which the " +
			"answer began.",
	}, s.readUsage)
}

// UsageItem is a user's usage of the assistant in a month.
type UsageItem struct {
	Month          string          `json:"month" doc:"The current month, in UTC" example:"2026-11"`
	InputTokens    int             `json:"inputTokens" doc:"The number of tokens that models read for the caller" example:"1200"`
	OutputTokens   int             `json:"outputTokens" doc:"The number of tokens that models generated for the caller" example:"350"`
	TotalTokens    int             `json:"totalTokens" doc:"The sum of inputTokens and outputTokens" example:"1550"`
	ReservedTokens int             `json:"reservedTokens" doc:"The number of tokens reserved for answers in progress. Tokens that an answer does not use are returned when it ends" example:"0"`
	Limit          int             `json:"limit" doc:"The maximum number of tokens that the caller may use in a month" example:"2000000"`
	Remaining      int             `json:"remaining" doc:"The number of tokens that the caller can still use in this month" example:"1998450"`
	Calls          int             `json:"calls" doc:"The number of chat and generate calls of the caller" example:"3"`
	ResetsAt       clock.Timestamp `json:"resetsAt" doc:"When the next month begins" example:"2026-12-01T00:00:00.000Z"`
}

type usageOutput struct{ Body UsageItem }

func (s *Service) readUsage(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*usageOutput, error) {
	month := quota.MonthOf(s.now())
	used, err := s.quota.Usage(ctx, caller.UserID, month)
	if err != nil {
		return nil, err
	}
	total := used.Input + used.Output
	return &usageOutput{UsageItem{
		Month: month.String(), InputTokens: used.Input, OutputTokens: used.Output, TotalTokens: total,
		ReservedTokens: used.Taken - total,
		Limit:          s.limits.MonthlyTokens, Remaining: max(0, s.limits.MonthlyTokens-used.Taken),
		Calls: used.Calls, ResetsAt: clock.Stamp(month.End()),
	}}, nil
}
