package assistant

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

func (s *Service) registerGenerate(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "generate", Method: http.MethodPost, Path: "/api/ai/generate", Tag: tag,
		Summary:     "Generate code for a prompt",
		Description: "Generates code without a project. The prompt and the code are not stored.",
		Errors:      append([]*fault.Error{fault.Invalid(fault.Field("prompt", "must not be blank"))}, modelErrors...),
	}, s.generate)
}

type generateInput struct {
	Body struct {
		Prompt    string `json:"prompt" minLength:"1" maxLength:"32000" doc:"The description of the code, 1–32,000 characters" example:"A table of users with name and email."`
		Language  string `json:"language,omitempty" maxLength:"64" doc:"The language of the code" example:"javascript"`
		Framework string `json:"framework,omitempty" maxLength:"64" doc:"The framework to use" example:"react"`
	}
}

// Validate checks the rules that tags cannot express.
func (in *generateInput) Validate(v *httpapi.Validation) {
	v.Field("prompt", checkBlank(in.Body.Prompt))
	v.Field("language", checkControls(in.Body.Language))
	v.Field("framework", checkControls(in.Body.Framework))
}

// Generated is the code that a model generated for a prompt.
type Generated struct {
	Code        string      `json:"code" doc:"The code; empty if the answer has no code" example:"export default function UserTable({ rows }) {}\n"`
	Language    string      `json:"language" doc:"The requested language. If the request has no language, the language of the code block in the answer" example:"javascript"`
	Framework   string      `json:"framework" doc:"The requested framework; empty if the request has no framework" example:"react"`
	Explanation string      `json:"explanation" doc:"The explanation of the code, as Markdown" example:"It shows one row for each user."`
	Model       string      `json:"model" doc:"The model that generated the code, as named by its provider" example:"qwen3-coder"`
	Usage       model.Usage `json:"usage" doc:"The tokens that the call used"`
}

type generateOutput struct{ Body Generated }

// generate generates code for a prompt, without a project.
// Errors: RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE, AI_REFUSED, VALIDATION_FAILED if the prompt exceeds the model's
// context window; the error classes of db.
func (s *Service) generate(ctx context.Context, caller httpapi.Caller, in *generateInput) (*generateOutput, error) {
	ctx, generation, cancel := s.detach(ctx)
	defer cancel()
	language, framework := strings.TrimSpace(in.Body.Language), strings.TrimSpace(in.Body.Framework)
	request := prompt.Generate(in.Body.Prompt, language, framework, maxOutput)
	_, answerID := conversation.NewTurnIDs(s.ids, "")
	input := prompt.Tokens(request)
	reservation, err := s.quota.Reserve(ctx, quota.Reservation{
		UserID: caller.UserID, MessageID: answerID, Tokens: input + maxOutput, Began: s.now(),
	}, input+minOutput)
	if err != nil {
		return nil, err
	}
	defer s.quota.ReportGlobalUsage(ctx)
	request.MaxOutput = min(maxOutput, reservation.Tokens-input)
	a := &answer{}
	cause := s.callModel(generation, reservation, request, a)
	if isTooLong(cause, a) {
		request.MaxOutput = min(smallOutput, request.MaxOutput)
		cause = s.callModel(generation, reservation, request, a)
	}
	if cause == nil && a.isBlank() {
		cause = errEmptyAnswer
	}
	s.logAnswer(ctx, reservation, a, cause)
	settleErr := s.quota.Settle(ctx, quota.Settlement{Reservation: reservation, Used: a.usage})
	if err := errors.Join(clientError(cause, errPromptTooLong), settleErr); err != nil {
		return nil, err
	}
	code, blockLanguage, explanation := prompt.MainBlock(a.text.String())
	if a.stop == model.StopLength {
		explanation = strings.TrimSpace(explanation + "\n\n> " + cutOff)
	}
	return &generateOutput{Generated{
		Code: code, Language: cmp.Or(language, blockLanguage), Framework: framework, Explanation: explanation,
		Model: a.model, Usage: a.usage,
	}}, nil
}
