package assistant

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/prompt"
	"devplatform/shared/clock"
	"devplatform/shared/httpapi"
)

// generate has code written for a prompt, without a project. Errors: RATE_LIMITED, QUOTA_EXCEEDED, AI_UNAVAILABLE, AI_REFUSED,
// VALIDATION_FAILED where the prompt does not fit the model; storage's classes.
func (s *Service) generate(ctx context.Context, text, language, framework string) (generated, error) {
	ctx, cancel := outlive(ctx)
	defer cancel()
	request := prompt.Generate(text, language, framework, maxOutput)
	_, id := s.newTurn("")
	input := prompt.Tokens(request)
	r, err := s.reserveUpTo(ctx, reservation{userID: httpapi.CallerFrom(ctx).UserID, messageID: id, began: s.now()}, input+maxOutput, input+minOutput)
	if err != nil {
		return generated{}, err
	}
	request.MaxOutput = min(maxOutput, r.tokens-input)
	asked := clock.Stamp(s.now())
	bounded, end := s.generationTime(ctx)
	defer end()
	answer := &answer{service: s, reserved: r, room: r.tokens, request: request}
	cause := answer.listen(bounded, request)
	if cause == nil && answer.isBlank() {
		cause = errEmpty
	}
	spent := answer.spent()
	answer.log(ctx, asked, cause)
	if err := errors.Join(answerTo(cause), s.settle(ctx, r, spent)); err != nil {
		return generated{}, err
	}
	said := answer.text.String()
	explanation := prompt.AroundMainBlock(said)
	if answer.outcome.Stop == model.StopLength {
		explanation = strings.TrimSpace(explanation + "\n\n> " + cutOff)
	}
	code, written := prompt.MainBlock(said)
	return generated{
		Code: code, Language: cmp.Or(language, written), Framework: framework, Explanation: explanation,
		Model: answer.outcome.Model, Usage: spent,
	}, nil
}

// errEmpty is a model that said nothing.
var errEmpty = &model.Error{Fault: model.Unavailable, Cause: errors.New("an empty answer")}
