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

// Generate generates code for a prompt, without a project. language and framework may be "".
// Errors: RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE, AI_REFUSED, VALIDATION_FAILED if the prompt exceeds the model's
// context window; the error classes of db.
func (s *Service) Generate(
	ctx context.Context, caller httpapi.Caller, text, language, framework string,
) (Generated, error) {
	ctx, generation, cancel := s.detach(ctx)
	defer cancel()
	request := prompt.Generate(text, language, framework, maxOutput)
	_, answerID := conversation.NewTurnIDs(s.ids, "")
	input := prompt.Tokens(request)
	reservation, err := s.quota.Reserve(ctx, quota.Reservation{
		UserID: caller.UserID, MessageID: answerID, Tokens: input + maxOutput, Began: s.now(),
	}, input+minOutput)
	if err != nil {
		return Generated{}, err
	}
	defer s.quota.ReportGlobalUsage(ctx)
	request.MaxOutput = min(maxOutput, reservation.Tokens-input)
	a := &answer{}
	cause := s.callModel(generation, reservation, request, a)
	if isTooLong(cause) && a.size == 0 {
		request.MaxOutput = min(smallOutput, request.MaxOutput)
		cause = s.callModel(generation, reservation, request, a)
	}
	if cause == nil && a.isBlank() {
		cause = errEmptyAnswer
	}
	s.logAnswer(ctx, reservation, a, cause)
	err = s.quota.Settle(ctx, quota.Settlement{Reservation: reservation, Used: a.usage})
	if err := errors.Join(clientError(cause, errPromptTooLong), err); err != nil {
		return Generated{}, err
	}
	code, blockLanguage, explanation := prompt.MainBlock(a.text.String())
	if a.stop == model.StopLength {
		explanation = strings.TrimSpace(explanation + "\n\n> " + cutOff)
	}
	return Generated{
		Code: code, Language: cmp.Or(language, blockLanguage), Framework: framework, Explanation: explanation,
		Model: a.model, Usage: a.usage,
	}, nil
}
