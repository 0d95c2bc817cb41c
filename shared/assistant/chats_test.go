package assistant

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

var update = flag.Bool("update", false, "write the golden file of the chats")

// A script is a section of testdata/chats.txt: the files of a project, the responses of the model, and the messages to
// it. After a line of three hyphens follows what must happen. Each line of the first part is a step:
//
//	file PATH TEXT      saves a file. A TEXT is a Go string, and can be repeated: 100*"text"
//	delete PATH         deletes a file
//	binary PATH         creates a file that is not text
//	response            begins the next response of the model. These steps add to it:
//	text TEXT           a part of the text
//	call NAME INPUT     a tool call; the input is the rest of the line
//	part KIND ID        a part of a call; the kinds are start, delta and end
//	stop REASON
//	usage INPUT OUTPUT
//	error FAULT         the end of the response
//	chat TEXT           sends a message. After it can follow: apply, the current file, and a framework
type script struct {
	*testing.T
	user      *user
	projectID string
	responses []fakeResponse // of the model to the next message
	out       strings.Builder
}

// The chats of the scripts have the expected requests to the model, responses, stored answers and files.
func TestChats(t *testing.T) {
	t.Parallel()
	const name = "testdata/chats.txt"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(strings.TrimPrefix(string(data), "=== "), "\n=== ")
	t.Run("scripts", func(t *testing.T) {
		for i, section := range sections {
			title, rest, _ := strings.Cut(section, "\n")
			steps, want, _ := strings.Cut(rest+"\n", "---\n")
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				got := runScript(t, steps)
				sections[i] = title + "\n" + steps + "---\n" + got
				if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" && !*update {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
	if *update {
		if err := os.WriteFile(name, []byte("=== "+strings.Join(sections, "\n=== ")), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// runScript executes the steps and returns their transcript.
func runScript(t *testing.T, steps string) string {
	t.Helper()
	f := newFixture(t)
	s := &script{T: t, user: f.newUser("ada")}
	s.projectID = s.user.newProject()
	for line := range strings.SplitSeq(strings.TrimSpace(steps), "\n") {
		s.do(line)
	}
	list := s.user.Get("/api/projects/"+s.projectID+"/files?include=content").Want(t, http.StatusOK)
	for _, file := range list.List("files") {
		s.printf("file %v %s", file["path"], shortText(file["content"]))
	}
	return s.out.String()
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// shortText returns a text as a transcript contains it.
func shortText(text any) string {
	const longest = 600
	if s := fmt.Sprint(text); len(s) > longest {
		return fmt.Sprintf("(%d bytes)", len(s))
	}
	return strconv.Quote(fmt.Sprint(text))
}

var textStep = regexp.MustCompile(`^(?:(\d+)\*)?("(?:[^"\\]|\\.)*") ?(.*)$`)

// textOf parses a TEXT, and returns what follows it.
func (s *script) textOf(text string) (value, rest string) {
	found := textStep.FindStringSubmatch(text)
	if found == nil {
		s.Fatalf("%s is not a text", text)
	}
	value, err := strconv.Unquote(found[2])
	if err != nil {
		s.Fatal(err)
	}
	if n, _ := strconv.Atoi(found[1]); n > 0 {
		value = strings.Repeat(value, n)
	}
	return value, found[3]
}

// do executes a step.
func (s *script) do(line string) {
	s.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	first, second, _ := strings.Cut(rest, " ")
	var r *fakeResponse
	if n := len(s.responses); n > 0 {
		r = &s.responses[n-1]
	}
	switch verb {
	case "file":
		content, _ := s.textOf(second)
		s.user.Do(http.MethodPost, "/api/projects/"+s.projectID+"/files", object{"path": first, "content": content})
	case "delete":
		s.user.Do(http.MethodDelete, "/api/projects/"+s.projectID+"/files?path="+first, nil).Want(s.T, http.StatusOK)
	case "binary":
		s.user.Do(http.MethodPost, "/api/projects/"+s.projectID+"/files",
			object{"path": first, "content": "//8=", "encoding": "base64"}).Want(s.T, http.StatusCreated)
	case "response":
		s.responses = append(s.responses, newResponse())
	case "text":
		text, _ := s.textOf(rest)
		*r = r.withText(text)
	case "call":
		*r = r.withCall(strconv.Itoa(len(r.steps)), first, second)
	case "part":
		kinds := map[string]model.PartKind{"start": model.CallStart, "delta": model.CallDelta, "end": model.CallEnd}
		*r = r.withStep(step{part: model.Part{Kind: kinds[first], CallID: second, Name: "delete_file", Text: "{}"}})
	case "stop":
		r.outcome.Stop = model.Stop(rest)
	case "usage":
		_, _ = fmt.Sscan(rest, &r.outcome.Usage.Input, &r.outcome.Usage.Output)
	case "error":
		*r = r.withError(&model.Error{Fault: model.Fault(rest), Cause: errors.New("the provider's message")})
	case "chat":
		s.chat(rest)
	default:
		s.Fatalf("%s is not a step", line)
	}
}

// chat sends a message and writes what happens.
func (s *script) chat(text string) {
	s.Helper()
	message, options := s.textOf(text)
	apply, work := false, object{}
	for option := range strings.FieldsSeq(options) {
		switch {
		case option == "apply":
			apply = true
		case strings.HasPrefix(option, "/"):
			work["currentFile"] = option
		default:
			work["framework"] = option
		}
	}
	f := s.user.f
	f.model.enqueue(model.TaskChat, s.responses...)
	requests, stored := len(f.model.requests()), len(s.user.messages(s.projectID))
	got := s.user.chat(s.projectID, message, "apply", apply, "context", work)
	s.printf("chat %s", text)
	for _, r := range f.model.requests()[requests:] {
		s.printf("request of %d messages, %d tokens, %d paths, framework %s",
			len(r.Messages), r.MaxOutput, len(r.Subject.Paths), r.Subject.Framework)
		for _, file := range r.Subject.Files {
			s.printf("  file %s %s, cut: %v", file.Path, shortText(file.Content), file.Cut)
		}
		for _, result := range r.Messages[len(r.Messages)-1].Results {
			s.printf("  result %s, failed: %v", result.Text, result.Failed)
		}
	}
	s.responses = nil
	if got.Status != http.StatusOK {
		s.printf("status %d %s", got.Status, got.Text("code"))
	} else {
		s.printf("response %s", shortText(got.Text("response")))
		s.printf("code %s, %v, applied: %v", shortText(got.Text("code")), got.Body["usage"], got.Body["applied"])
	}
	actions, _ := got.Body["actions"].([]any)
	for _, action := range actions {
		line, err := json.Marshal(action, json.Deterministic(true))
		f.must(err)
		s.printf("action %s", line)
	}
	if all := s.user.messages(s.projectID); len(all) == stored {
		s.printf("stored nothing")
	} else if answer := all[len(all)-1]; answer["content"] == got.Body["response"] {
		s.printf("stored %v", answer["status"])
	} else {
		s.printf("stored %v %s", answer["status"], shortText(answer["content"]))
	}
}
