package assistant

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/bedrock"
	"devplatform/shared/assistant/model"
	"devplatform/shared/assistant/openai"
	"devplatform/shared/config"
	"devplatform/shared/fault"
)

// The transcripts in testdata contain the HTTP responses of a provider in one conversation, in the format of its API.
// They were written, not recorded, because tests reach no model. A frame of Bedrock's binary event stream is a line
// with the event's type and payload.

// transcriptServer sends the responses of a transcript, in order. After the last response, it starts again.
type transcriptServer struct {
	*httptest.Server
	t         *testing.T
	mu        sync.Mutex
	responses []string
	bodies    []string // of the requests
}

func replay(t *testing.T, provider, name string) *transcriptServer {
	t.Helper()
	data, err := os.ReadFile("testdata/transcripts/" + provider + "/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	s := &transcriptServer{t: t, responses: strings.Split(string(data), "=== next response ===\n")}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *transcriptServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	text := s.responses[len(s.bodies)%len(s.responses)]
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), r)
	if err != nil {
		s.t.Errorf("the transcript is not valid: %v", err)
		return
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		line := append(lines.Bytes(), '\n')
		if response.Header.Get("Content-Type") == "application/vnd.amazon.eventstream" {
			line = s.encodeFrame(lines.Text())
		}
		_, _ = w.Write(line)
		_ = http.NewResponseController(w).Flush()
	}
}

// requests returns the bodies of the requests so far.
func (s *transcriptServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// encodeFrame returns the binary frame of an event, which is described by its type and its payload.
func (s *transcriptServer) encodeFrame(event string) []byte {
	kind, payload, _ := strings.Cut(event, " ")
	frame := eventstream.Message{Payload: []byte(payload)}
	frame.Headers.Set(":event-type", eventstream.StringValue(kind))
	frame.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	frame.Headers.Set(":message-type", eventstream.StringValue("event"))
	var out bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&out, frame); err != nil {
		s.t.Error(err)
	}
	return out.Bytes()
}

// providers creates a provider of each format for a server.
var providers = map[string]func(url string) model.Provider{
	"openai": func(url string) model.Provider { return openai.New(openai.Options{BaseURL: url, Model: "gpt"}) },
	"bedrock": func(url string) model.Provider {
		return bedrock.New(bedrock.Options{Model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", AWS: config.AWS{
			Region: "eu-central-1", AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", BedrockEndpoint: url,
		}})
	},
}

// transcriptFiles are the files of the project in each conversation.
var transcriptFiles = map[string]string{
	"/package.json": "{\n  \"name\": \"list\"\n}\n",
	"/src/app.js":   "const title = \"List\";\ndocument.body.textContent = title;\n",
	"/src/old.js":   "export {}\n",
}

// transcript is a conversation with a model and its effect. The effect is the same for each provider.
type transcript struct {
	name     string
	requests int // to the provider
	status   int
	code     []fault.Code
	response string // the text of the answer
	actions  string
	usage    string
	// stored is the status of the stored answer; "" if nothing is stored.
	stored string
	// changed has the files that differ from transcriptFiles after the answer was applied. A deleted file has the
	// content "".
	changed map[string]string
	// finish is the finish reason of the stream.
	finish string
	// lastRequest has texts that the last request to each provider contains.
	lastRequest map[string][]string
}

const themeFile = ":root {\n  --accent: #0a7;\n}\n\nh1::after {\n  content: \" \\2615 ☕\";\n}\n"

var transcripts = []transcript{
	{
		name: "parallel-calls", requests: 1, status: http.StatusOK, stored: "complete", finish: "stop",
		response: "I'll show the number of items – and add a theme.",
		actions:  "edit_file /src/app.js, create_file /src/theme.css, add_dependency /package.json",
		usage:    "map[inputTokens:3412 outputTokens:187]",
		changed: map[string]string{
			"/package.json":  "{\n  \"name\": \"list\",\n  \"dependencies\": {\n    \"zod\": \"^4.0.0\"\n  }\n}\n",
			"/src/app.js":    "const title = \"List\";\ndocument.body.textContent = `${title} (${items.length})`;\n",
			"/src/theme.css": themeFile,
		},
	},
	{
		name: "wrong-arguments", requests: 2, status: http.StatusOK, stored: "complete", finish: "stop",
		response: "I rename the heading.",
		actions:  "delete_file /src/old.js, edit_file /src/app.js, create_file /src/theme.css",
		usage:    "map[inputTokens:7100 outputTokens:210]",
		changed: map[string]string{
			"/src/app.js":    "const title = \"List\";\ndocument.body.textContent = \"Shopping\";\n",
			"/src/theme.css": "h1 {}\n",
			"/src/old.js":    "",
		},
		lastRequest: map[string][]string{
			"openai":  {`"role":"tool"`, `Error: The search does not occur in /src/app.js`, `\"contents\" is not a field`},
			"bedrock": {`"toolResult"`, `"status":"error"`, `The search does not occur in /src/app.js`},
		},
	},
	{name: "refusal", requests: 1, status: http.StatusUnprocessableEntity, code: []fault.Code{fault.CodeAIRefused}},
	{name: "empty", requests: 1, status: http.StatusServiceUnavailable, code: []fault.Code{fault.CodeAIUnavailable}},
	{ // a filter stops the answer after a complete call
		name: "filtered", requests: 1, status: http.StatusUnprocessableEntity, code: []fault.Code{fault.CodeAIRefused},
		stored: "interrupted", finish: "error",
		response: "First the theme.\n\nNow the", actions: "create_file /src/theme.css",
	},
	{ // the second call is cut off; it is not repaired, because it would be as long again
		name: "token-limit", requests: 1, status: http.StatusOK, stored: "interrupted", finish: "length",
		response: "Two files.\n\n> Left out: `create_file`: The input of create_file is not complete JSON: it was cut off, " +
			"perhaps because the answer became too long. Nothing was changed.\n\n> " + cutOff +
			" Its changes are not applied. Ask for fewer changes at once.",
		actions: "create_file /src/theme.css",
		usage:   "map[inputTokens:3405 outputTokens:8192]",
	},
	shorterTranscript("small-window"), // the prompt and the maximum length of the answer exceed the context window
	shorterTranscript("small-output"), // the model allows only shorter answers
	{ // the stream ends within the second call
		name: "connection-lost", requests: 1,
		status: http.StatusServiceUnavailable, code: []fault.Code{fault.CodeAIUnavailable},
		stored: "interrupted", finish: "error",
		response: "Two files.", actions: "create_file /src/theme.css",
	},
}

// shorterTranscript is a conversation in which the model rejects a smaller prompt, too, and accepts a smaller maximum
// length of the answer.
func shorterTranscript(name string) transcript {
	return transcript{
		name: name, requests: 3, status: http.StatusOK, stored: "complete", finish: "stop",
		response: "The list has the items.", usage: "map[inputTokens:3150 outputTokens:9]",
		lastRequest: map[string][]string{"openai": {`"max_tokens":2048`}, "bedrock": {`"maxTokens":2048`}},
	}
}

func TestTranscripts(t *testing.T) {
	t.Parallel()
	for provider, newProvider := range providers {
		for _, tc := range transcripts {
			t.Run(provider+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				server := replay(t, provider, tc.name)
				f := newFixture(t, withProvider(newProvider(server.URL)))
				ada := f.newUser("ada")
				tc.checkChat(t, ada)
				tc.checkStream(t, ada)
				requests := server.requests()
				if len(requests) != 2*tc.requests {
					t.Fatalf("got %d requests to the provider, want %d for each endpoint", len(requests), tc.requests)
				}
				for _, want := range tc.lastRequest[provider] {
					if last := requests[tc.requests-1]; !strings.Contains(last, want) {
						t.Errorf("the last request %s does not contain %s", last, want)
					}
				}
			})
		}
	}
}

// newTranscriptProject creates the project of a conversation.
func (u *user) newTranscriptProject() (projectID string) {
	u.f.t.Helper()
	projectID = u.newProject()
	for path, content := range transcriptFiles {
		u.createFile(projectID, path, content)
	}
	return projectID
}

const transcriptMessage = "Show the number of items in /src/app.js, and add a theme."

func (tc transcript) checkChat(t *testing.T, u *user) {
	t.Helper()
	projectID := u.newTranscriptProject()
	got := u.chat(projectID, transcriptMessage, "apply", true).Want(t, tc.status, tc.code...)
	if tc.status == http.StatusOK {
		tc.checkReply(t, got.Body)
	}
	tc.checkStored(t, u, projectID)
}

func (tc transcript) checkStream(t *testing.T, u *user) {
	t.Helper()
	projectID := u.newTranscriptProject()
	if tc.stored == "" { // the model sent nothing, so the stream has not begun
		u.Do(http.MethodPost, streamURL, object{"projectId": projectID, "message": transcriptMessage}).
			Want(t, tc.status, tc.code...)
		return
	}
	frames := u.openStream(projectID, transcriptMessage, true).rest()
	end := frames[len(frames)-3:]
	if end[1]["finishReason"] != tc.finish {
		t.Errorf("got the finish reason %v, want %q", end[1]["finishReason"], tc.finish)
	}
	if tc.status == http.StatusOK {
		tc.checkReply(t, end[0].data())
	} else if end[0]["type"] != "error" {
		t.Errorf("got the frame %v before the end, want an error", end[0])
	}
	tc.checkStored(t, u, projectID)
}

// checkReply checks the response body of a chat.
func (tc transcript) checkReply(t *testing.T, reply map[string]any) {
	t.Helper()
	actions, _ := reply["actions"].([]any)
	if got := briefsOf(actions); got != tc.actions {
		t.Errorf("got the actions %s, want %s", got, tc.actions)
	}
	if reply["response"] != tc.response {
		t.Errorf("got the response %q, want %q", reply["response"], tc.response)
	}
	if got := fmt.Sprint(reply["usage"]); got != tc.usage {
		t.Errorf("got the usage %s, want %s", got, tc.usage)
	}
	if reply["applied"] != (tc.changed != nil) {
		t.Errorf("got applied %v, want %v", reply["applied"], tc.changed != nil)
	}
}

// checkStored checks the stored answer and the project's files.
func (tc transcript) checkStored(t *testing.T, u *user, projectID string) {
	t.Helper()
	messages := u.messages(projectID)
	if stored := len(messages) > 0; stored != (tc.stored != "") {
		t.Errorf("got %d messages, want an answer with the status %q", len(messages), tc.stored)
	} else if stored {
		answer := messages[1]
		actions, _ := answer["actions"].([]any)
		if answer["status"] != tc.stored || answer["content"] != tc.response || briefsOf(actions) != tc.actions {
			t.Errorf("got the stored answer %v, want the status %q, the content %q and the actions %s",
				answer, tc.stored, tc.response, tc.actions)
		}
	}
	want := maps.Clone(transcriptFiles)
	maps.Copy(want, tc.changed)
	maps.DeleteFunc(want, func(_, content string) bool { return content == "" })
	got := map[string]string{}
	list := u.Get("/api/projects/"+projectID+"/files?include=content").Want(t, http.StatusOK)
	for _, file := range list.List("files") {
		got[fmt.Sprint(file["path"])] = fmt.Sprint(file["content"])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// briefsOf lists the types and paths of actions.
func briefsOf(actions []any) string {
	var briefs []string
	for _, a := range actions {
		fields, _ := a.(map[string]any)
		briefs = append(briefs, fmt.Sprint(fields["type"], " ", fields["path"]))
	}
	return strings.Join(briefs, ", ")
}
