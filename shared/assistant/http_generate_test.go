package assistant

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
	"devplatform/shared/fault"
)

func TestGeneratedCode(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	for _, tc := range []struct {
		answer                      string
		request                     object
		code, language, explanation string
	}{
		{
			answer:      "This is it:\n\n```python\nprint(1)\n```\n\nRun it.",
			request:     object{"prompt": "Print one.", "framework": "flask"},
			code:        "print(1)\n",
			language:    "python",
			explanation: "This is it:\n\nRun it.",
		},
		{
			answer:      "I can't.",
			request:     object{"prompt": "Print one.", "language": "cobol", "framework": ""},
			language:    "cobol",
			explanation: "I can't.",
		},
	} {
		f.model.enqueue(model.TaskGenerate, newResponse(tc.answer))
		got := ada.Do(http.MethodPost, generateURL, tc.request).Want(t, http.StatusOK).Body
		delete(got, "model")
		delete(got, "usage")
		want := map[string]any{
			"code": tc.code, "language": tc.language, "framework": tc.request["framework"], "explanation": tc.explanation,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer %q: response (-want +got):\n%s", tc.answer, diff)
		}
	}
}

// If a prompt is too long for the model, the answer is limited to fewer tokens. An answer that is cut off has a note.
func TestGeneratedCodeThatIsTooLong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	tooLong := newResponse().withError(&model.Error{Fault: model.TooLong, Cause: errors.New("context length")})
	f.model.enqueue(model.TaskGenerate, tooLong, newResponse("```js\nlet a").withOutcome(cutOffOutcome))
	got := ada.generate("One.").Want(t, http.StatusOK)
	if got.Text("explanation") != "> "+cutOff || got.Text("code") != "let a\n" {
		t.Errorf("got %s, want the incomplete code and a note that the answer was cut off", got.Raw)
	}
	if limit := f.model.requests()[1].MaxOutput; limit != smallOutput {
		t.Errorf("got a second request with MaxOutput %d, want %d", limit, smallOutput)
	}
	f.model.enqueue(model.TaskGenerate, tooLong, tooLong)
	ada.generate("One.").Want(t, http.StatusBadRequest, fault.CodeValidationFailed)
}
