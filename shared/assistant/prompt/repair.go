package prompt

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// takenIn is the result of a call that was not refused.
const takenIn = "Taken in."

// maxUnread is how much is told of an input that could not be read, in bytes.
const maxUnread = 2 << 10

// Repair is the request after an answer to r some of whose calls failed: the answer, a result for each of its calls, and the wish for
// the failed ones only. A call without a result was taken in. What the answer was asked with stays as it is.
func Repair(r model.Request, text string, calls []model.Call, results []model.Result) model.Request {
	answer := model.Message{Role: model.Assistant, Text: clean(text)}
	for _, call := range calls {
		call.Input = readable(call.Input)
		answer.Calls = append(answer.Calls, call)
	}
	if len(calls) == 0 {
		answer.Text = orNothing(answer.Text)
	}
	next := model.Message{Role: model.User, Text: repairInstruction}
	for _, call := range calls {
		next.Results = append(next.Results, resultOf(call, results))
	}
	r.Messages = append(slices.Clip(r.Messages), answer, next)
	return r
}

// resultOf is the result of a call, in words of ours unless it failed.
func resultOf(call model.Call, results []model.Result) model.Result {
	for _, result := range results {
		if result.CallID != call.ID || !result.Failed {
			continue
		}
		if result.Text = clean(result.Text); strings.TrimSpace(result.Text) == "" {
			result.Text = "It could not be done."
		}
		return result
	}
	return model.Result{CallID: call.ID, Text: takenIn}
}

// readable is a call's input as providers take it back: an object. Anything else that a model wrote is put into one.
func readable(input string) string {
	if value := jsontext.Value(input); value.IsValid() && value.Kind() == '{' {
		return input
	}
	if strings.TrimSpace(input) == "" {
		return "{}"
	}
	unread, _ := cut(clean(input), maxUnread)
	data, err := json.Marshal(map[string]string{"unreadable": unread})
	if err != nil {
		return "{}" // it is clean: this does not happen
	}
	return string(data)
}
