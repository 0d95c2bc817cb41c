package assistant

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/assistant/quota"
	"devplatform/shared/httpapi"
)

// Generated is the code that a model generated for a prompt.
type Generated struct {
	Code        string `json:"code" doc:"The code; empty if the answer has no code" example:"export default function UserTable({ rows }) {}\n"`
	Language    string `json:"language" doc:"The requested language. If the request has no language, the language of the code block in the answer" example:"javascript"`
	Framework   string `json:"framework" doc:"The requested framework; empty if the request has no framework" example:"react"`
	Explanation string `json:"explanation" doc:"The explanation of the code, as Markdown" example:"It shows one row for each user."`
	Model       string `json:"model" doc:"The model that generated the code, as named by its provider" example:"qwen3-coder"`
	Usage       Usage  `json:"usage" doc:"The tokens that the call used"`
}

// Generate generates code for a prompt, without a project. language and framework may be "".
// Errors: RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE, AI_REFUSED, VALIDATION_FAILED if the prompt exceeds the model's
// context window; the error classes of db.
func (s *Service) Generate(
	ctx context.Context, caller httpapi.Caller, text, language, framework string,
) (Generated, error) {
	ctx, cancel := detach(ctx)
	defer cancel()
	request := prompt.Generate(text, language, framework, maxOutput)
	_, answerID := conversation.NewTurnIDs(s.ids, "")
	input := prompt.Tokens(request)
	reserved, err := s.quota.Reserve(ctx, quota.Reservation{
		UserID: caller.UserID, MessageID: answerID, Tokens: input + maxOutput, Began: s.now(),
	}, input+minOutput)
	if err != nil {
		return Generated{}, err
	}
	defer s.quota.ReportGlobalUsage(ctx)
	request.MaxOutput = min(maxOutput, reserved.Tokens-input)
	generation, stop := s.withTimeLimit(ctx)
	defer stop()
	a := &answer{}
	cause := s.runRound(generation, reserved, request, a)
	if isTooLong(cause) && a.size == 0 {
		request.MaxOutput = min(smallOutput, request.MaxOutput)
		cause = s.runRound(generation, reserved, request, a)
	}
	if cause == nil && a.isBlank() {
		cause = errEmptyAnswer
	}
	s.logAnswer(ctx, reserved, a, cause)
	err = s.quota.Settle(ctx, quota.Settlement{Reservation: reserved, Used: a.used})
	if err := errors.Join(clientError(cause, errPromptTooLong), err); err != nil {
		return Generated{}, err
	}
	markdown := a.text.String()
	explanation := prompt.AroundMainBlock(markdown)
	if a.stop == model.StopLength {
		explanation = strings.TrimSpace(explanation + "\n\n> " + cutOff)
	}
	code, blockLanguage := prompt.MainBlock(markdown)
	return Generated{
		Code: code, Language: cmp.Or(language, blockLanguage), Framework: framework, Explanation: explanation,
		Model: a.model, Usage: usageOf(a.used),
	}, nil
}
