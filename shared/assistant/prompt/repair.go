package prompt

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/shared/assistant/model"
)

// Repair returns the request that follows r if some calls of the answer failed. It adds the answer, the result of each
// of its calls, the files, cut to fileTokens, and the instruction to repeat only the failed calls. r is not changed.
func Repair(
	r model.Request, text string, calls []model.Call, results []model.Result, files []Document, fileTokens int,
) model.Request {
	answer := model.Message{Role: model.Assistant, Text: clean(text)}
	next := model.Message{Role: model.User, Text: repairInstruction, Results: results}
	if shown := fit(files, fileTokens*BytesPerToken); len(shown) > 0 {
		next.Text = join(fileSections(shown), append(slices.Clip(r.Messages), answer)) + "\n" + repairInstruction
		r.Subject.Files = append(slices.Clip(r.Subject.Files), shown...)
	}
	for _, call := range calls {
		call.Input = inputObject(call.Input)
		answer.Calls = append(answer.Calls, call)
	}
	r.Messages = append(slices.Clip(r.Messages), answer, next)
	return r
}

// maxUnreadable is the maximum size in bytes of an invalid input in the request of Repair.
const maxUnreadable = 2 << 10

// inputObject returns a call's input as a JSON object, because providers reject any other input. An input that is not
// an object becomes the value of the member "unreadable".
func inputObject(input string) string {
	if value := jsontext.Value(input); value.IsValid() && value.Kind() == '{' {
		return input
	}
	if strings.TrimSpace(input) == "" {
		return "{}"
	}
	text, _ := cut(clean(input), maxUnreadable)
	data, err := json.Marshal(map[string]string{"unreadable": text})
	if err != nil {
		return "{}" // not reached: clean returns valid UTF-8
	}
	return string(data)
}
