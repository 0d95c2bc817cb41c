package assistant

import (
	"net/http"
	"testing"

	"devplatform/shared/assistant/model"
)

func TestGeneratedCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	w.model.play(model.TaskGenerate, says("This is it:\n\n```python\nprint(1)\n```\n\nRun it."), says("I can't."))
	got := ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Print one.", "framework": "flask"}).Want(t, http.StatusOK)
	if got.Text("code") != "print(1)\n" || got.Text("language") != "python" || got.Text("framework") != "flask" || got.Text("explanation") != "This is it:\n\nRun it." {
		t.Errorf("%s", got.Raw)
	}
	got = ada.Do(http.MethodPost, "/api/ai/generate", object{"prompt": "Print one.", "language": "cobol"}).Want(t, http.StatusOK)
	if got.Text("code") != "" || got.Text("language") != "cobol" || got.Text("explanation") != "I can't." {
		t.Errorf("%s", got.Raw)
	}
}
