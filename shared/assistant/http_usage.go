package assistant

import (
	"context"
	"net/http"

	"devplatform/shared/httpapi"
)

type usageOutput struct{ Body UsageItem }

func (s *Service) registerUsage(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "readUsage", Method: http.MethodGet, Path: "/api/ai/usage", Tag: tag,
		Summary: "Read the caller's usage in this month",
		Description: "Includes the caller's calls in all workspaces. Tokens are reserved when an answer begins. When " +
			"the answer ends, the tokens that it used replace the reserved ones. Both count in the month in which the " +
			"answer began.",
	}, s.handleUsage)
}

func (s *Service) handleUsage(ctx context.Context, caller httpapi.Caller, _ *struct{}) (*usageOutput, error) {
	usage, err := s.Usage(ctx, caller)
	if err != nil {
		return nil, err
	}
	return &usageOutput{usage}, nil
}
