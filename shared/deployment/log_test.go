package deployment_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/shared/deployment"
	"devplatform/shared/deployment/failure"
	"devplatform/shared/workspace"
)

// logOf returns the lines of the log of a deployment.
func (u *user) logOf(projectID, deploymentID string) (lines []map[string]any) {
	u.f.T.Helper()
	for cursor := ""; ; {
		r := u.Get(deploymentURL(projectID, deploymentID)+"/log?limit=100"+cursor).Want(u.f.T, http.StatusOK)
		lines = append(lines, r.List("lines")...)
		if r.Text("nextCursor") == "" {
			return lines
		}
		cursor = "&cursor=" + r.Text("nextCursor")
	}
}

// TestLog checks that the end of a long log is stored, and that the notice of the request stays.
func TestLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop front", workspace.Private)
	write := func(lines ...deployment.LogLine) []map[string]any {
		t.Helper()
		d := f.begin(p, ada.deploy(p, "production"))
		if _, err := f.store.Finish(t.Context(), d.job, deployment.Outcome{Log: lines}, f.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		return ada.logOf(p, d.ID)
	}
	checkEnds := func(name string, got []map[string]any, n int, second, last string) {
		t.Helper()
		if len(got) != n || !strings.Contains(got[0]["text"].(string), "is private") || got[1]["text"] != second ||
			got[n-1]["text"] != last {
			t.Fatalf("%s: got %d lines %v, want %d, the second %q, the last %q", name, len(got), got, n, second, last)
		}
	}
	line := func(size int) deployment.LogLine {
		return deployment.LogLine{Level: deployment.Info, Text: strings.Repeat("é", size/2), Path: "/a.ts", Line: 7}
	}
	end := deployment.LogLine{Level: deployment.Error, Text: "The end"}
	checkEnds("short", write(line(2), end), 3, "é", "The end")
	checkEnds("as long as possible", write(append(slices.Repeat([]deployment.LogLine{line(2)}, 497), end)...), 499, "é",
		"The end")
	// The last 498 of 601 lines, the line about the others, and the notice.
	checkEnds("many lines", write(append(slices.Repeat([]deployment.LogLine{line(2)}, 600), end)...), 500,
		"The log is too long. Its first 103 lines are left out.", "The end")
	// 25 lines of 4 KiB would have more than 99 KiB with their overhead.
	got := write(append(slices.Repeat([]deployment.LogLine{line(5000)}, 50), end)...)
	checkEnds("long lines", got, 27, "The log is too long. Its first 26 lines are left out.", "The end")
	if text := got[2]["text"].(string); len(text) != 4096 || got[2]["path"] != "/a.ts" || got[2]["line"] != 7.0 {
		t.Errorf("got the line %v, want one with 4,096 bytes", got[2])
	}
}

// The compiler in a package of a project chooses the path of its error. The error is stored in any case.
func TestLongPath(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.newUser("ada")
	p := ada.newProject("Shop", workspace.Public)
	d := f.begin(p, ada.deploy(p, "production"))
	path := "/" + strings.Repeat("x", 500_000)
	_, err := f.store.Finish(t.Context(), d.job, deployment.Outcome{
		Error: &failure.Error{Code: failure.BuildFailed, Message: "broken", Path: path},
		Log:   []deployment.LogLine{{Level: deployment.Error, Text: "broken", Path: path}},
	}, f.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	lines := ada.logOf(p, d.ID)
	if len(lines) != 1 || lines[0]["text"] != "broken" || len(lines[0]["path"].(string)) != 2048 {
		t.Errorf("got the log %.200v, want the line with a path of 2,048 bytes", lines)
	}
}
