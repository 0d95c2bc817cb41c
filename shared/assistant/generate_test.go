package assistant

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
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
