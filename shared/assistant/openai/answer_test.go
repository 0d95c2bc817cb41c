package openai_test

import (
	_ "embed"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/shared/assistant/model"
)

// answers has a case in each section: its name, the body of the response of a server, and a line of three hyphens,
// followed by what the provider reads from the body. A body with other characters than printable ones is a Go string.
//
//go:embed testdata/answers.txt
var answers string

// Servers send texts, calls, usage and errors in many formats. An answer that is not complete is an error, which does
// not quote the model, and is not retried.
func TestAnswers(t *testing.T) {
	t.Parallel()
	conversation := model.Request{Messages: []model.Message{
		{Role: model.User, Text: "Hi"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "old", Name: "f", Input: "{}"}}},
		{Role: model.User, Results: []model.Result{{CallID: "old", Text: "done"}}},
	}}
	for section := range strings.SplitSeq(strings.TrimPrefix(answers, "=== "), "\n=== ") {
		name, rest, _ := strings.Cut(section, "\n")
		text, want, _ := strings.Cut(rest, "---\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := strconv.Unquote(strings.TrimSuffix(text, "\n"))
			if err != nil {
				body = text + "\n"
			}
			s := serve(t, respondText(body))
			got, outcome, err := generate(t, s, conversation)
			if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got.Transcript(outcome, err))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			s.CheckRequests(t, 1)
		})
	}
}
