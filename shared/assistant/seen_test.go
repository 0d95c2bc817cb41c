package assistant

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"devplatform/shared/assistant/model"
)

// A file is replaced only if the model has seen it completely. If it has not, the repair shows the file.
func TestReplacedFilesAreSeen(t *testing.T) {
	t.Parallel()
	const update = `{"path":"/a.ts","content":"new\n"}`
	large := strings.Repeat("const line = 'of a large file'\n", 1<<12)
	replaced := newResponse("Done.").withCall("1", "update_file", update)
	for name, tc := range map[string]struct {
		content, message string
		first            []fakeResponse // the responses before the repair
		repair           fakeResponse
		shown            string // part of the repair request; "" if there is no repair
		want             string // the file after the answer
	}{
		"named in the message": {
			content: "old\n", message: "Change a.ts.",
			first: []fakeResponse{replaced}, want: "new\n",
		},
		"not shown": {
			content: "old\n", message: "Change it.",
			first: []fakeResponse{replaced}, repair: replaced, shown: "file \"/a.ts\">\nold\n", want: "new\n",
		},
		"cut": {
			content: large, message: "Change a.ts.",
			first: []fakeResponse{replaced}, repair: replaced, shown: "file \"/a.ts\" cut>\n", want: large,
		},
		"cut, because few reserved tokens remain": {
			content: large[:40_000], message: "Change it.",
			first: []fakeResponse{replaced.withOutcome(model.Outcome{
				Stop: model.StopTools, Usage: model.Usage{Input: 2000, Output: 12_000},
			})},
			repair: replaced, shown: "file \"/a.ts\" cut>\n", want: large[:40_000],
		},
		"not shown after the request was too long": {
			content: strings.Repeat("x\n", 1<<13), message: "Change a.ts.",
			first: []fakeResponse{
				newResponse().withError(&model.Error{Fault: model.TooLong, Cause: errors.New("too long")}), replaced,
			},
			repair: newResponse("Sorry."), shown: "file \"/a.ts\" cut>\n", want: strings.Repeat("x\n", 1<<13),
		},
		"edited, but not shown": {
			content: "old\nrest\n", message: "Change it.",
			first: []fakeResponse{newResponse("Done.").
				withCall("1", "edit_file", `{"path":"/a.ts","search":"old","replace":"new"}`).
				withCall("2", "edit_file", `{"path":"/a.ts","search":"missing","replace":""}`)},
			repair: newResponse("").withCall("1", "edit_file", `{"path":"/a.ts","search":"rest","replace":"end"}`),
			shown:  "file \"/a.ts\">\nnew\nrest\n", want: "new\nend\n",
		},
		"renamed": {
			content: "old\n", message: "Change a.ts.",
			first: []fakeResponse{newResponse("Done.").
				withCall("1", "rename_file", `{"path":"/a.ts","to":"/b.ts"}`).
				withCall("2", "update_file", `{"path":"/b.ts","content":"new\n"}`).
				withCall("3", "rename_file", `{"path":"/b.ts","to":"/a.ts"}`)},
			want: "new\n",
		},
		"created by the answer": {
			content: "old\n", message: "Change it.",
			first: []fakeResponse{newResponse("Done.").
				withCall("1", "delete_file", `{"path":"/a.ts"}`).
				withCall("2", "create_file", `{"path":"/a.ts","content":"created\n"}`).
				withCall("3", "update_file", update).withCall("4", "update_file", update)},
			want: "new\n",
		},
		"empty": {content: "", message: "Change it.", first: []fakeResponse{replaced}, want: "new\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			projectID := ada.newProject()
			ada.createFile(projectID, "/a.ts", tc.content)
			f.model.enqueue(model.TaskChat, append(tc.first, tc.repair)...)
			ada.chat(projectID, tc.message, "apply", true).Want(t, http.StatusOK)
			ada.checkFile(projectID, "/a.ts", tc.want)
			requests := f.model.requests()[len(tc.first):]
			if len(requests) > 0 != (tc.shown != "") {
				t.Fatalf("got %d repairs, want one only if the file was not seen", len(requests))
			}
			if tc.shown == "" {
				return
			}
			messages := requests[0].Messages
			if text := messages[len(messages)-1].Text; !strings.Contains(text, tc.shown) {
				t.Errorf("got the repair request %.500q, want %q in it", text, tc.shown)
			}
		})
	}
}

// The repair shows each file once, and only files that exist and are text. A file that is not text can be replaced.
func TestRepairShowsFilesOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	projectID := ada.newProject()
	ada.createFile(projectID, "/a.ts", "old\n")
	ada.createFile(projectID, "/seen.ts", "seen\n")
	for _, path := range []string{"/b.bin", "/c.bin"} {
		ada.Do(http.MethodPost, "/api/projects/"+projectID+"/files",
			object{"path": path, "content": "//8=", "encoding": "base64"}).Want(t, http.StatusCreated)
	}
	f.model.enqueue(model.TaskChat, newResponse("Done.").
		withCall("1", "update_file", `{"path":"/b.bin","content":"new"}`).
		withCall("2", "update_file", `{"path":"/a.ts","content":"new"}`).
		withCall("3", "update_file", `{"path":"/a.ts","content":"newer"}`).
		withCall("4", "edit_file", `{"path":"/c.bin","search":"a","replace":"b"}`).
		withCall("5", "update_file", `{"path":"/missing.ts","content":"new"}`).
		withCall("6", "edit_file", `{"path":"/seen.ts","search":"a","replace":"b"}`))
	got := ada.chat(projectID, "Change seen.ts.").Want(t, http.StatusOK)
	if actions := got.List("actions"); len(actions) != 1 || actions[0]["path"] != "/b.bin" {
		t.Errorf("got the actions %v, want only the action for /b.bin", actions)
	}
	if !strings.Contains(got.Text("response"), "The file /missing.ts does not exist.") {
		t.Errorf("got the response %s, want a note that /missing.ts does not exist", got.Raw)
	}
	if files := fmt.Sprint(f.model.requests()[1].Subject.Files); files != "[{/seen.ts seen\n false} {/a.ts old\n false}]" {
		t.Errorf("got the files %s in the repair request, want /seen.ts, which the first request shows, and /a.ts", files)
	}
}
