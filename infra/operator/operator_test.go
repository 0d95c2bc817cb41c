package main

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/account/activity"
	"devplatform/shared/db"
	"devplatform/shared/deployment"
	"devplatform/shared/fault"
	"devplatform/shared/site"
)

// Without the username, an act changes nothing: not in a script, and not at a terminal.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.signUp("ada")
	before := f.dump()
	for _, c := range []struct {
		isTerminal bool
		input      string
		arguments  []string
		want       string
	}{
		{false, "ada\n", []string{"suspend", "ada", "--reason", "spam"}, "--yes ada"},
		{false, "", []string{"suspend", "ada", "--reason", "spam", "--yes", "Ada"}, "not the username"},
		{true, "", []string{"suspend", "ada", "--reason", "spam"}, "not confirmed"},
		{true, "yes\n", []string{"suspend", "ada", "--reason", "spam"}, "not confirmed"},
		{true, "ada", []string{"delete", "ada", "--reason", "spam"}, "not confirmed"},
		{false, "", []string{"suspend", "ada", "--yes", "ada"}, "--reason"},
		{false, "", []string{"suspend", "ada", "--yes", "ada", "--reason", " "}, "--reason"},
		{false, "", []string{"suspend", "--reason", "spam", "--yes", "ada"}, "one argument"},
		{false, "", []string{"suspend", "grace", "--reason", "spam", "--yes", "grace"}, "no such account"},
		{false, "", []string{"delete", "ada", "--reason", "spam"}, "--yes ada"},
		{false, "", []string{"send-reset", "ada", "--reason", "spam"}, "--yes ada"},
		{false, "", []string{"find", "ada", "--reason", "spam"}, "not defined"},
		{false, "", []string{"erase", "ada"}, "does not exist"},
	} {
		out, err := f.operatorAt(c.isTerminal, c.input, c.arguments...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v and %s, want an error with %q", c.arguments, err, out, c.want)
		}
	}
	if !reflect.DeepEqual(before, f.dump()) {
		t.Error("an act without the username changed something")
	}
	if out, err := f.operatorAt(true, "ada\n", "suspend", "ada", "--reason", "spam"); err != nil {
		t.Errorf("confirmed: got %v and %s", err, out)
	}
	f.logIn("ada").Want(t, http.StatusForbidden, fault.CodeSuspended)
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.signUp("ada")
	projectID, _ := f.putSite(id)
	for _, query := range []string{
		"ada", "ADA", "ada@example.com", "Ada@Example.com", id, projectID, "shop", "https://shop.example.app/login?x=1",
		"shop-1.example.app",
	} {
		if out := f.must("find", query); !strings.Contains(out, id) || !strings.Contains(out, "ada@example.com (not confirmed)") {
			t.Errorf("find %s: got %s, want the account of ada", query, out)
		}
	}
	for _, unknown := range []string{
		"grace", "grace@example.com", "usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK",
		"https://other.example.app", "#", "",
	} {
		if out, err := f.operator("find", unknown); err == nil || !strings.Contains(err.Error(), "no such account") {
			t.Errorf("find %q: got %s and %v, want that there is no such account", unknown, out, err)
		}
	}
	out := f.must("show", "ada")
	for _, want := range []string{"owner, personal", "label shop, live true, blocked false", "0 tokens", "sessions   0 active"} {
		if !strings.Contains(out, want) {
			t.Errorf("show: got %s, want %q", out, want)
		}
	}
}

// putSite stores a project with a site and two deployments in the personal workspace of a user.
func (f *fixture) putSite(userID string) (projectID, workspaceID string) {
	f.t.Helper()
	client := db.Wrap(f.sdk, f.clock.Now)
	projects, sites := client.Table(f.settings.Projects), client.Table(f.settings.Sites)
	projectID = "prj_01KGA4ZK70ABCDEFGHJKMNPQRS"
	for key := range slicetest.Dump(f.t, f.sdk, f.settings.Projects) {
		if id, ok := strings.CutPrefix(key.SK, "WS#"); ok && key.PK == "USER#"+userID {
			workspaceID = id
		}
	}
	ready := deployment.Summary{Status: deployment.Ready, Label: "shop-1"}
	failed := deployment.Summary{Status: deployment.Failed, Label: "shop-2"}
	address := site.Address{ProjectID: projectID, WorkspaceID: workspaceID, AccountID: userID, DeploymentID: "dpl_1"}
	live := address
	live.Production = true
	err := client.Tx(
		projects.Create(db.TreeKey(projectID), map[string]any{"workspaceId": workspaceID}),
		projects.Create(db.ProjectKey(workspaceID, projectID), map[string]any{
			"id": projectID, "name": "Shop", "site": site.Summary{Label: "shop", DeploymentID: "dpl_1"},
		}),
		projects.Create(db.SiteKey(projectID), deployment.Site{
			Label: "shop", DeploymentID: "dpl_1", Version: 3, Deployments: map[string]deployment.Summary{"dpl_1": ready, "dpl_2": failed},
		}),
		sites.Create(db.AddressKey("shop"), live), sites.Create(db.AddressKey("shop-1"), address),
	).Commit(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return projectID, workspaceID
}

// blocked returns the blocks that are stored: of the addresses, of the project's status, and of the project.
func (f *fixture) blocked(projectID, workspaceID string) (blocked []string) {
	f.t.Helper()
	stored := f.dump()
	for _, label := range []string{"shop", "shop-1"} {
		if stored[f.settings.Sites][db.AddressKey(label)]["blocked"] != nil {
			blocked = append(blocked, label)
		}
	}
	if stored[f.settings.Projects][db.ProjectKey(workspaceID, projectID)]["siteBlocked"] != nil {
		blocked = append(blocked, "status")
	}
	if stored[f.settings.Projects][db.SiteKey(projectID)]["blocked"] != nil {
		blocked = append(blocked, "project")
	}
	return blocked
}

func TestTakedowns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	projectID, workspaceID := f.putSite(f.signUp("ada"))
	reason := []string{"--reason", "phishing", "--yes", "ada"}
	for _, c := range []struct {
		act, argument, output string
		want                  []string
	}{
		{"block-site", "https://shop-1.example.app/", "Done", []string{"shop-1"}},
		{"block-site", "shop-1", "Nothing to change", []string{"shop-1"}},
		{"unblock-site", "shop-1", "Done", nil},
		{"block-site", "shop", "Done", []string{"shop", "status"}},
		{"block-project", projectID, "Done", []string{"shop", "shop-1", "status", "project"}},
		{"block-project", projectID, "Nothing to change", []string{"shop", "shop-1", "status", "project"}},
		{"unblock-project", projectID, "Done", nil},
		{"unblock-project", projectID, "Nothing to change", nil},
	} {
		if out := f.must(append([]string{c.act, c.argument}, reason...)...); !strings.Contains(out, c.output) {
			t.Errorf("%s %s: got %s, want %q", c.act, c.argument, out, c.output)
		}
		if diff := cmp.Diff(c.want, f.blocked(projectID, workspaceID)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.act, c.argument, diff)
		}
	}
	for _, missing := range [][]string{{"block-site", "other"}, {"block-project", "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"}} {
		if _, err := f.operator(append(missing, reason...)...); err == nil || !strings.Contains(err.Error(), "there is no such") {
			t.Errorf("%v: got the error %v", missing, err)
		}
	}
}

// Each act is in the audit log with who, what, why and when, and in the activity of the user. An act that changes
// nothing is in neither.
func TestActsAreRecorded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.signUp("ada")
	projectID, _ := f.putSite(id)
	for _, c := range []struct {
		act, argument string
		entry         activity.Type // "" if nothing changes
	}{
		{"lift", "ada", ""}, {"suspend", "ada", activity.Suspended}, {"suspend", "ada", ""},
		{"lift", "ada", activity.SuspensionLifted}, {"send-reset", "ada", activity.ResetSent},
		{"block-site", "shop", activity.SiteBlocked}, {"block-site", "shop", ""},
		{"unblock-site", "shop", activity.SiteUnblocked}, {"block-project", projectID, activity.SiteBlocked},
		{"unblock-project", projectID, activity.SiteUnblocked}, {"delete", "ada", activity.AccountDeleted},
	} {
		before := f.dump()
		f.must(c.act, c.argument, "--reason", "because of "+c.act, "--yes", "ada")
		after := f.dump()
		records, entries := 0, 0
		for key, item := range after[f.settings.Audit] {
			if before[f.settings.Audit][key] == nil {
				records++
				if key.PK != "OPERATOR#local:linus" || item["target"] == nil || item["expiresAt"] == nil {
					t.Errorf("%s: got the record %v", c.act, item)
				}
			}
		}
		for key, item := range after[f.settings.Accounts] {
			if strings.HasPrefix(key.SK, "ACTIVITY#") && before[f.settings.Accounts][key] == nil {
				entries++
				if e, err := db.Decode[activity.Entry](item); err != nil || e.Type != c.entry {
					t.Errorf("%s: got the entry %v, want %s", c.act, item, c.entry)
				}
			}
		}
		want := 1
		if c.entry == "" {
			want = 0
		}
		if records != want || entries != want {
			t.Errorf("%s: got %d records and %d entries, want %d of each", c.act, records, entries, want)
		}
	}
	out := f.must("log", id)
	if !strings.Contains(out, "8 acts") || !strings.Contains(out, "suspend") || strings.Contains(out, "WARNING") ||
		!strings.Contains(out, "by linus: because of suspend") || !strings.Contains(out, "2031-05-05T10:05") {
		t.Errorf("log: got %s, want 8 acts with the operator, the time and the reason", out)
	}
}

// An act that fails is not recorded, and an act whose record cannot be stored changes nothing.
func TestActAndRecordAreOneTransaction(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.signUp("ada")
	settings := f.settings
	f.settings.Projects = "missing" // the transaction of a suspension writes to it
	if _, err := f.operator("suspend", "ada", "--reason", "spam", "--yes", "ada"); err == nil {
		t.Error("a suspension without the table of projects succeeded")
	}
	f.settings = settings
	if out := f.must("log", id); !strings.Contains(out, "0 acts") {
		t.Errorf("got %s, want no record of an act that failed", out)
	}
	f.settings.Audit = "missing"
	for _, act := range []string{"suspend", "delete", "send-reset"} {
		if _, err := f.operator(act, "ada", "--reason", "spam", "--yes", "ada"); err == nil {
			t.Errorf("%s without the table of audit records succeeded", act)
		}
	}
	f.settings = settings
	f.logIn("ada").Want(t, http.StatusOK)
}

// A record that was replaced is recognized.
func TestChangedRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.signUp("ada")
	f.must("suspend", "ada", "--reason", "spam", "--yes", "ada")
	client := db.Wrap(f.sdk, f.clock.Now)
	for key := range f.dump()[f.settings.Audit] {
		for _, attribute := range []string{"reason", "operator", "act"} {
			before := f.dump()[f.settings.Audit][key]
			update := expression.Set(expression.Name(attribute), expression.Value("other"))
			if _, err := client.Do(t.Context(), client.Table(f.settings.Audit).Update(key, update)); err != nil {
				t.Fatal(err)
			}
			if out := f.must("log", id); !strings.Contains(out, "WARNING") {
				t.Errorf("%s: got %s, want a warning", attribute, out)
			}
			if _, err := client.Do(t.Context(), client.Table(f.settings.Audit).Put(key, before)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if out := f.must("log", id); strings.Contains(out, "WARNING") {
		t.Errorf("got %s, want no warning", out)
	}
}

// A reset that an operator sends lets the user choose a password.
func TestSendReset(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.signUp("ada")
	before := len(f.dump()[f.settings.Mails])
	f.must("send-reset", "ada", "--reason", "asked by phone", "--yes", "ada")
	if n := len(f.dump()[f.settings.Mails]); n != before+1 {
		t.Errorf("got %d new mails, want 1", n-before)
	}
	f.settings.Mail.From = ""
	if _, err := f.operator("send-reset", "ada", "--reason", "asked by phone", "--yes", "ada"); err == nil {
		t.Error("a stack without mail sent a reset")
	}
}
