package assistant

import (
	"context"
	"net/http"
	"strings"
	"time"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

type generateInput struct {
	Body struct {
		Prompt    string `json:"prompt" minLength:"1" maxLength:"32000" doc:"What to write, 1–32,000 characters" example:"A function that slugifies a title."`
		Language  string `json:"language,omitempty" maxLength:"64" doc:"The language to write in" example:"typescript"`
		Framework string `json:"framework,omitempty" maxLength:"64" doc:"The framework to write for" example:"react"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *generateInput) Validate(v *httpapi.Validation) {
	v.Field("prompt", checkBlank(in.Body.Prompt))
	v.Field("language", checkControls(in.Body.Language))
	v.Field("framework", checkControls(in.Body.Framework))
}

// generated is what was written.
type generated struct {
	Code        string `json:"code" doc:"The code; empty if there is none in the answer" example:"export const slugify = (title) => title.toLowerCase()\n"`
	Language    string `json:"language" doc:"The language asked for, else the one that the answer says" example:"javascript"`
	Framework   string `json:"framework" doc:"The framework asked for; empty if none was" example:"react"`
	Explanation string `json:"explanation" doc:"What there is to say about the code, as Markdown" example:"It keeps letters and digits."`
	Model       string `json:"model" doc:"What answered, by the provider's name for it" example:"scaffold-1"`
	Usage       usage  `json:"usage" doc:"What the call took of the month's tokens"`
}

// errUsedUp shows what tooFew answers to a user who has nothing left.
var errUsedUp = fault.New(fault.CodeQuotaExceeded, usedUp(DefaultLimits().MonthlyTokens)+renewed(monthOf(time.Date(2026, time.January, 31, 0, 0, 0, 0, time.UTC))))

// generateErrors are what every call of a model may be answered with.
var generateErrors = []*fault.Error{
	errUsedUp, later(errUnavailable, defaultRetryAfter), later(errOverdue, defaultRetryAfter), errRefused, errUsedID, errOften,
}

type generateOutput struct{ Body generated }

func (s *Service) registerGenerate(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "generate", Method: http.MethodPost, Path: "/api/ai/generate", Tag: tag,
		Summary:     "Write code for a prompt",
		Description: "Without a project and without a history.",
		Errors:      append([]*fault.Error{fault.Invalid(fault.Field("prompt", "must not be blank"))}, generateErrors...),
	}, s.handleGenerate)
}

func (s *Service) handleGenerate(ctx context.Context, _ httpapi.Caller, in *generateInput) (*generateOutput, error) {
	g, err := s.generate(ctx, in.Body.Prompt, strings.TrimSpace(in.Body.Language), strings.TrimSpace(in.Body.Framework))
	if err != nil {
		return nil, err
	}
	return &generateOutput{Body: g}, nil
}
