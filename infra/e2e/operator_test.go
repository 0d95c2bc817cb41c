package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// procedure runs the commands of a block of RUNBOOK.md with the comment <!-- try: name --> against a platform, as in a
// script: with the username. It returns their output.
func procedure(t *testing.T, p *platformtest.Platform, name, username, projectID string) string {
	t.Helper()
	var text string
	for _, b := range readBlocks(t, "infra/RUNBOOK.md", "sh") {
		if b.kind == "try" && b.name == name {
			text += b.text
		}
	}
	if text == "" {
		t.Fatalf("RUNBOOK.md has no block with the comment <!-- try: %s -->", name)
	}
	text = strings.NewReplacer("--reason", "--yes "+username+" --reason", "PROJECT", projectID, " ada", " "+username,
		"https://shop.example.app/login", projectID).Replace(text)
	command := exec.CommandContext(t.Context(), "sh", "-ec", text)
	command.Dir = platformtest.Root
	command.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+p.AWS)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
	return string(output)
}

// TestOperatorProcedures rehearses the procedures of RUNBOOK.md for accounts, with their commands.
func TestOperatorProcedures(t *testing.T) {
	t.Parallel()
	testmode.SkipIfShort(t)
	p := platformtest.Start(t)
	user := func(name string) (c *platformtest.Client, projectID string) {
		c = platformtest.NewClient(t, p.URL)
		c.SignUp(name)
		projectID = c.NewProject("Shop", nil)
		c.Save(projectID, "/index.html", "<title>Shop</title>")
		return c, projectID
	}
	status := func(c *platformtest.Client, path string, want int) {
		t.Helper()
		if r := c.Do("GET", path, ""); r.Status != want {
			t.Errorf("%s: got %d %s, want %d", path, r.Status, r.Body, want)
		}
	}
	contains := func(output string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(output, want) {
				t.Errorf("got %s, want %q", output, want)
			}
		}
	}

	abuser, project := user("abuser")
	contains(procedure(t, p, "abuse", "abuser", project), "abuser", "0 acts", "Done: suspend abuser, with 1 memberships")
	status(abuser, "/api/auth/me", http.StatusForbidden)
	status(abuser, "/api/ai/usage", http.StatusForbidden)

	victim, project := user("victim")
	d := newDeployer(victim, project)
	d.deployReady(platformtest.Object{})
	address := d.siteURL()
	d.wantPage(address, http.StatusOK, "Shop")
	contains(procedure(t, p, "phishing", "victim", project), "Done: block-project", "Done: suspend")
	d.wantPage(address, http.StatusUnavailableForLegalReasons, "Site blocked")
	contains(procedure(t, p, "attacked", "victim", project), "Done: the mail", "Done: lift", "Done: unblock-project")
	link := p.Link("victim@example.com", "token=")
	if link == "" {
		t.Error("there is no link in the mail of the reset")
	}
	status(victim, "/api/auth/me", http.StatusUnauthorized)
	victim.Login("victim").Want(t, http.StatusOK)
	d.wantPage(address, http.StatusOK, "Shop")

	gone, project := user("gone")
	contains(procedure(t, p, "erasure", "gone", project), "Done: the account of gone was deleted")
	status(gone, "/api/auth/me", http.StatusUnauthorized)

	_, project = user("lost")
	contains(procedure(t, p, "lost", "lost", project), "Done: the mail to lost@example.com")
}
