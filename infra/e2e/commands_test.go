package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// TestInvoke invokes a function with the AWS CLI and with make invoke.
func TestInvoke(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t)
	t.Run("with the AWS CLI", func(t *testing.T) {
		platformtest.Required(t, "aws")
		script := strings.ReplaceAll(command(t, "aws"), "http://127.0.0.1:4566", p.AWS)
		output := shell(t, platformtest.Root, script, "AWS_PAGER=", "AWS_EC2_METADATA_DISABLED=true")
		for _, want := range []string{`"TableNames"`, "AUTH_INVALID_TOKEN"} {
			if !strings.Contains(output, want) {
				t.Errorf("the output does not contain %s:\n%s", want, output)
			}
		}
	})
	t.Run("with make", func(t *testing.T) {
		port := p.AWS[strings.LastIndexByte(p.AWS, ':')+1:]
		output := shell(t, platformtest.Root, command(t, "invoke"), "AWS_PORT="+port)
		if !strings.Contains(output, "AUTH_INVALID_TOKEN") {
			t.Errorf("the output does not contain AUTH_INVALID_TOKEN:\n%s", output)
		}
	})
}

// TestCurl calls the platform over HTTPS, and its mailbox, with curl.
func TestCurl(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "curl")
	p := platformtest.Start(t)
	script := strings.ReplaceAll(command(t, "https"), "https://localhost:3443", p.HTTPS)
	if output := shell(t, platformtest.Root, script); !strings.Contains(output, "AUTH_INVALID_TOKEN") {
		t.Errorf("the output does not contain AUTH_INVALID_TOKEN:\n%s", output)
	}
	script = strings.ReplaceAll(command(t, "mailbox"), "http://localhost:3002", p.Console)
	if output := shell(t, platformtest.Root, script); !strings.Contains(output, `{"mails":[`) {
		t.Errorf("the output has no mails:\n%s", output)
	}
}

// TestOtherDynamoDB runs the tests of a package on the DynamoDB that AWS_ENDPOINT_URL names.
func TestOtherDynamoDB(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	p := platformtest.Start(t)
	output := shell(t, platformtest.Root, strings.ReplaceAll(command(t, "endpoint"), "http://127.0.0.1:8000", p.AWS))
	if !strings.Contains(output, "ok  \tdevplatform/shared/limit") {
		t.Errorf("the tests did not pass:\n%s", output)
	}
}

var assignedVariable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]*=\S+`)

// TestConfiguredModel starts the platform with the settings of each documented model, and chats with a fake of it.
func TestConfiguredModel(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &modelAnswer{w, r.Context()}
		answer.text("Authorization: " + r.Header.Get("Authorization"))
		answer.end(10, 2)
	}))
	t.Cleanup(server.Close)
	for _, script := range commands(t, "model") {
		script = strings.ReplaceAll(script, "http://localhost:11434/v1", server.URL+"/v1")
		settings := assignedVariable.FindAllString(script, -1)
		if !strings.Contains(script, "OPENAI_BASE_URL=") {
			settings = append(settings, "OPENAI_BASE_URL="+server.URL+"/v1")
		}
		want := "Authorization: "
		if strings.Contains(script, "OPENAI_API_KEY=YOUR_KEY") {
			want += "Bearer YOUR_KEY"
		}
		ada := platformtest.NewClient(t, platformtest.Start(t, settings...).URL)
		ada.SignUp("ada")
		message := platformtest.Object{"projectId": ada.NewProject("Site", nil), "message": "Hello?"}
		chat := ada.Do("POST", "/api/ai/chat", message.String()).Want(t, http.StatusOK)
		if chat["response"] != want {
			t.Errorf("%v: got the answer %q, want %q", settings, chat["response"], want)
		}
	}
}

// TestConfiguredCodeHost starts the platform with the settings of the documented code host, and begins a sign-in.
func TestConfiguredCodeHost(t *testing.T) {
	t.Parallel()
	p := platformtest.Start(t, assignedVariable.FindAllString(command(t, "codehost"), -1)...)
	response := platformtest.NewClient(t, p.URL).Do("GET", "/api/auth/codehost", "")
	location, err := url.Parse(response.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	redirectURL := p.URL + "/api/auth/codehost/callback"
	if location.Host != "git.example.com" || location.Query().Get("redirect_uri") != redirectURL {
		t.Errorf("got a redirect to %s, want git.example.com with the redirect URL %s", location, redirectURL)
	}
}

// TestAccountCommands checks the names and options of the commands that query an AWS account, without calling AWS.
func TestAccountCommands(t *testing.T) {
	t.Parallel()
	platformtest.Required(t, "aws")
	for line := range strings.Lines(command(t, "account") + command(t, "mail")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		skeleton, _, _ := strings.Cut(line, " --query ")
		skeleton += " --generate-cli-skeleton output"
		output := shell(t, platformtest.Root, skeleton, "AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=")
		_, query, _ := strings.Cut(line, " --query ")
		field := query[strings.LastIndexByte(query, '.')+1:]
		if !strings.Contains(output, `"`+field+`"`) {
			t.Errorf("%s: the output of the command has no field %s:\n%s", line, field, output)
		}
	}
}

// TestSecretCommands stores the credentials of providers with the documented commands, and reads them again.
func TestSecretCommands(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	platformtest.Required(t, "aws")
	p := platformtest.Start(t)
	script := strings.Join(commands(t, "secret"), "\n") + `
		aws secretsmanager get-secret-value --secret-id "$CODEHOST_SECRET_ARN"
		aws secretsmanager get-secret-value --secret-id "$MODEL_SECRET_ARN"`
	output := shell(t, platformtest.Root, script, "CODEHOST_SECRET_ARN=local-CodeHostSecret", "MODEL_SECRET_ARN=local-ModelSecret",
		"AWS_ENDPOINT_URL="+p.AWS, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		"AWS_DEFAULT_REGION=us-east-1", "AWS_PAGER=")
	for _, stored := range []string{`{\"oauthClientSecret\":\"…\"}`, `{\"openaiApiKey\":\"…\"}`} {
		if !strings.Contains(output, stored) && !strings.Contains(output, strings.ReplaceAll(stored, "…", `\u2026`)) {
			t.Errorf("no secret contains %s:\n%s", stored, output)
		}
	}
}

// TestContributing makes the first change and the other changes of CONTRIBUTING.md in a copy of the project.
func TestContributing(t *testing.T) {
	t.Parallel()
	testmode.SkipIfNotNightly(t)
	dir := checkout(t)
	for _, b := range readBlocks(t, "CONTRIBUTING.md", "go") {
		if b.kind != "file" {
			t.Fatalf("CONTRIBUTING.md does not name the file that has this code:\n%s", b.text)
		}
		write(t, filepath.Join(dir, b.name), strings.TrimPrefix(b.text, "\n"))
	}
	for _, b := range readBlocks(t, "CONTRIBUTING.md", "diff") {
		applyDiff(t, dir, b.text)
	}
	output := shell(t, dir, strings.Join(commands(t, "change"), "\n"))
	if strings.Count(output, "ok  \t") < 4 || strings.Contains(output, "no tests to run") {
		t.Errorf("the tests of the changes did not run and pass:\n%s", output)
	}
	if unformatted := shell(t, dir, "gofmt -l shared/workspace shared/event functions"); unformatted != "" {
		t.Errorf("files are not formatted: %s", unformatted)
	}
	document, err := os.ReadFile(filepath.Join(dir, "shared/docs/openapi.json"))
	if err != nil || !strings.Contains(string(document), "readWorkspace") ||
		!strings.Contains(string(document), "member.updated") {
		t.Errorf("the OpenAPI document does not have the operation readWorkspace and the event member.updated: %v", err)
	}
}

// applyDiff applies the hunks of a diff, which have no line numbers, to the files that its lines with +++ name.
func applyDiff(t *testing.T, dir, diff string) {
	t.Helper()
	for file := range strings.SplitSeq(diff, "\n+++ ") {
		name, hunks, _ := strings.Cut(file, "\n@@\n")
		if hunks == "" {
			continue // the text before the first file
		}
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := string(text)
		for hunk := range strings.SplitSeq(hunks, "@@\n") {
			var before, after string
			for line := range strings.Lines(hunk + "\n") {
				if !strings.HasPrefix(line, "+") {
					before += strings.TrimLeft(line[:1], " -") + line[1:]
				}
				if !strings.HasPrefix(line, "-") {
					after += strings.TrimLeft(line[:1], " +") + line[1:]
				}
			}
			before, after = strings.TrimSuffix(before, "\n\n"), strings.TrimSuffix(after, "\n\n")
			if strings.Count(changed, before) != 1 {
				t.Fatalf("%s does not contain this text once:\n%s", name, before)
			}
			changed = strings.Replace(changed, before, after, 1)
		}
		write(t, path, changed)
	}
}
