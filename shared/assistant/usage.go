package assistant

import (
	"context"

	"devplatform/shared/assistant/quota"
	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

// ReadUsage returns the caller's usage in the current month.
func (s *Service) ReadUsage(ctx context.Context, caller httpapi.Caller) (UsageItem, error) {
	month := quota.MonthOf(s.now())
	used, err := s.quota.Usage(ctx, caller.UserID, month)
	if err != nil {
		return UsageItem{}, err
	}
	total := used.Input + used.Output
	return UsageItem{
		Month: month.String(), InputTokens: used.Input, OutputTokens: used.Output, TotalTokens: total,
		ReservedTokens: used.Taken - total,
		Limit:          s.limits.MonthlyTokens, Remaining: max(0, s.limits.MonthlyTokens-used.Taken),
		Calls: used.Calls, ResetsAt: clock.Stamp(month.End()),
	}, nil
}
