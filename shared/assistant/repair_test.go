package assistant

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"devplatform/shared/assistant/model"
)

// Calls of a repair are matched with failed calls by path, or by tool if the input of the failed call was not valid.
// Call IDs are not compared.
func TestRepairs(t *testing.T) {
	t.Parallel()
	twoEdits := newResponse("Changing the file.").
		withCall("1", "edit_file", `{"path":"/a","search":"x","replace":"y"}`).
		withCall("2", "edit_file", `{"path":"/a","search":"z","replace":"y"}`)
	for name, tc := range map[string]struct {
		first, repair fakeResponse
		leftOut       []string // the calls that are left out
	}{
		"one of two failures with the same path": {
			first: twoEdits,
			repair: newResponse("").
				withCall("1", "edit_file", `{"path":"/a","search":"a1","replace":"y"}`).
				withCall("2", "edit_file", `{"path":"/a","search":"still not found","replace":"y"}`),
			leftOut: []string{"`edit_file /a`"},
		},
		"both failures with the same path": {
			first: twoEdits,
			repair: newResponse("").
				withCall("1", "edit_file", `{"path":"/a","search":"a1","replace":"y"}`).
				withCall("2", "edit_file", `{"path":"/a","search":"a2","replace":"y"}`),
		},
		"a failure repaired with another tool": {
			first:  newResponse("Changing the file.").withCall("1", "create_file", `{"path":"/a","content":"new"}`),
			repair: newResponse("").withCall("1", "update_file", `{"path":"/a","content":"new"}`),
		},
		"one of two inputs that were cut off": {
			first: newResponse("Creating two files.").
				withCall("1", "create_file", `{"path":"/n","content":"ne`).
				withCall("2", "create_file", `{"path":"/m","content":"`),
			repair:  newResponse("").withCall("1", "create_file", `{"path":"/n","content":"new"}`),
			leftOut: []string{"`create_file`"},
		},
		"a new failure": {
			first:   newResponse("Deleting a file.").withCall("1", "delete_file", `{"path":"/missing"}`),
			repair:  newResponse("").withCall("1", "delete_file", `{"path":"/also/missing"}`),
			leftOut: []string{"`delete_file /missing`", "`delete_file /also/missing`"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			projectID := ada.newProject()
			ada.createFile(projectID, "/a", "a1 a2\n")
			f.model.enqueue(model.TaskChat, tc.first, tc.repair)
			text := ada.chat(projectID, "Change it.").Want(t, http.StatusOK).Text("response")
			if n := strings.Count(text, "Left out"); n != len(tc.leftOut) {
				t.Errorf("got %d notes about failed calls, want %d: %q", n, len(tc.leftOut), text)
			}
			for _, call := range tc.leftOut {
				if !strings.Contains(text, "Left out: "+call) {
					t.Errorf("got response %q, want a note about %s", text, call)
				}
			}
		})
	}
}

// In an answer that was cut off, calls that failed are repaired, except the call that was cut off.
func TestRepairsOfCutOffAnswers(t *testing.T) {
	t.Parallel()
	cutOffCall := newResponse("").withCall("9", "create_file", `{"path":"/n","content":"`)
	for name, tc := range map[string]struct {
		answer   fakeResponse
		requests int
	}{
		"only the call that was cut off": {cutOffCall.withOutcome(cutOffOutcome), 1},
		"only the last call":             {newResponse("").withCall("1", "delete_file", `{"path":"/x"}`).withOutcome(cutOffOutcome), 2},
		"only an earlier call": {
			newResponse("").withCall("1", "delete_file", "{").withCall("2", "create_file", `{"path":"/n","content":""}`).
				withOutcome(cutOffOutcome), 2,
		},
		"two calls": {
			newResponse("").withCall("1", "delete_file", "{").withCall("2", "create_file", "{").withOutcome(cutOffOutcome), 2,
		},
		"the answer was not cut off": {cutOffCall, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ada := f.newUser("ada")
			f.model.enqueue(model.TaskChat, tc.answer)
			ada.chat(ada.newProject(), "Change it.").Want(t, http.StatusOK)
			if n := len(f.model.requests()); n != tc.requests {
				t.Errorf("got %d model requests, want %d", n, tc.requests)
			}
		})
	}
}

func TestCancelDuringRepair(t *testing.T) {
	t.Parallel()
	f := newFixture(t, withLimits(func(l *Limits) { l.CancelPoll = 10 * time.Millisecond }))
	ada := f.newUser("ada")
	projectID := ada.newProject()
	first := newResponse("Two changes.").
		withCall("1", "create_file", `{"path":"/a","content":""}`).
		withCall("2", "delete_file", `{"path":"/missing"}`)
	repair := newResponse("").withFunc(ada.cancelAll).withWait(make(chan struct{}))
	f.model.enqueue(model.TaskChat, first, repair)
	got := ada.chat(projectID, "Change it.", "apply", true).Want(t, http.StatusOK)
	if got.Body["applied"] != false {
		t.Errorf("got %s, want applied to be false", got.Raw)
	}
	ada.checkInterrupted(projectID)
	ada.checkNoFiles(projectID)
}
