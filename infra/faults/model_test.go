package faults

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

// wantedFile matches the path in a message such as "Create /a.html".
var wantedFile = regexp.MustCompile(`Create (/[\w-]+\.html)`)

// newModel starts a model of the OpenAI API, and returns the settings that use it. It creates the file that the last
// message asks for. If there is none, it responds with text.
func newModel(t testing.TB) []string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the function was killed
		}
		delta := `{"content":"Hello"}`
		if all := wantedFile.FindAllSubmatch(body, -1); len(all) > 0 {
			input, _ := json.Marshal(fmt.Sprintf(`{"path":%q,"content":"<h1>Invoices</h1>"}`, all[len(all)-1][1]))
			delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"type":"function",`+
				`"function":{"name":"create_file","arguments":%s}}]}`, rand.Text(), input)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		const chunk = `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"faults","choices":[%s]%s}` + "\n\n"
		_, _ = fmt.Fprintf(w, chunk, `{"index":0,"delta":`+delta+`,"finish_reason":"stop"}`, "")
		_, _ = fmt.Fprintf(w, chunk, "", `,"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}`)
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return []string{"AI_PROVIDER=openai", "AI_MODEL=faults", "OPENAI_BASE_URL=" + server.URL + "/v1"}
}
