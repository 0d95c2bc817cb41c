package templatetest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"devplatform/infra/local/stack"
	. "devplatform/infra/templatetest"
)

var update = flag.Bool("update", false, "regenerate infra/PARAMETERS.md")

// TestParametersDocument checks that infra/PARAMETERS.md lists the template's parameters by group.
func TestParametersDocument(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	var page strings.Builder
	page.WriteString(`# Stack parameters

The parameters of ` + "`template.yaml`" + `. Set them in ` + "`parameter_overrides`" + ` of ` + "`samconfig.toml`" + `. CloudFormation checks them before it
creates any resource. This page is generated: ` + "`go test ./infra/templatetest -run Parameters -update`" + `.
`)
	listed := map[string]bool{}
	for _, group := range List(At(tpl.Metadata, "AWS::CloudFormation::Interface", "ParameterGroups")) {
		fmt.Fprintf(&page, "\n## %v\n\n| parameter | default | description |\n|---|---|---|\n", At(group, "Label", "default"))
		for _, name := range List(At(group, "Parameters")) {
			name := Name(name)
			p, found := tpl.Parameters[name]
			if !found || listed[name] || p["Description"] == nil {
				t.Errorf("parameter %s: declared %v, listed before %v, described as %v", name, found, listed[name], p["Description"])
			}
			listed[name] = true
			text := fmt.Sprint(p["Description"])
			if allowed := List(p["AllowedValues"]); len(allowed) > 1 {
				values := strings.Fields(strings.Trim(fmt.Sprint(allowed), "[]"))
				text += " One of `" + strings.Join(values, "`, `") + "`."
			}
			fallback := fmt.Sprint(p["Default"])
			if number, ok := p["Default"].(float64); ok {
				fallback = strconv.FormatFloat(number, 'f', -1, 64)
			}
			if fallback != "" {
				fallback = "`" + fallback + "`"
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, fallback, text)
		}
	}
	for name := range tpl.Parameters {
		if !listed[name] {
			t.Errorf("parameter %s is not in a group of AWS::CloudFormation::Interface", name)
		}
	}
	path := filepath.Join(Root(), "infra", "PARAMETERS.md")
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, "infra/PARAMETERS.md") != page.String() {
		t.Error("infra/PARAMETERS.md is out of date; run go test ./infra/templatetest -run Parameters -update")
	}
}

var override = regexp.MustCompile(`"([A-Za-z]+)=([^"]*)"`)

// overrides are those of an environment in samconfig.toml; those that are commented out, too, if asked for.
func overrides(t *testing.T, environment string, commented bool) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(read(t, "samconfig.toml"), "["+environment+".deploy.parameters]\n")
	_, list, opens := strings.Cut(section, "parameter_overrides = [\n")
	list, _, closes := strings.Cut(list, "\n]\n")
	if !found || !opens || !closes {
		t.Fatalf("samconfig.toml has no overrides for %s", environment)
	}
	all := map[string]string{}
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if pair := override.FindStringSubmatch(line); pair != nil && (commented || !strings.HasPrefix(line, "#")) {
			all[pair[1]] = pair[2]
		}
	}
	return all
}

// TestEnvironmentsAreTwo: both environments of samconfig.toml name stacks of their own and give parameters that the template has and
// takes, those that are only proposed in comments included.
func TestEnvironmentsAreTwo(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	names := map[string]bool{}
	for _, environment := range []string{"dev", "prod"} {
		given := overrides(t, environment, false)
		if given["Stage"] != environment {
			t.Errorf("%s deploys the stage %q", environment, given["Stage"])
		}
		if _, err := stack.Load(filepath.Join(Root(), "template.yaml"), stack.Options{Parameters: given}); err != nil {
			t.Errorf("%s: %v", environment, err)
		}
		for name := range overrides(t, environment, true) {
			if tpl.Parameters[name] == nil {
				t.Errorf("samconfig.toml, %s: the template has no parameter %s", environment, name)
			}
		}
		_, section, _ := strings.Cut(read(t, "samconfig.toml"), "["+environment+".deploy.parameters]")
		names[regexp.MustCompile(`stack_name = "(.+)"`).FindString(section)] = true
	}
	if len(names) != 2 {
		t.Errorf("stacks: %v", names)
	}
}

// TestParametersGoTogether: what would only fail in the middle of a deployment, or later, is refused before it begins.
func TestParametersGoTogether(t *testing.T) {
	t.Parallel()
	const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/1234"
	for _, c := range []struct {
		given string // name=value, and so on
		want  string // part of the error; nothing is none
	}{
		{"Stage=prod DomainName=api.example.com CertificateArn=" + certificate + " HostedZoneId=Z0123456789", ""},
		{"DomainName=api.example.com CertificateArn=" + certificate + " AllowedOrigins=https://app.example.com", ""},
		{"DomainName=api.example.com", "DomainName needs CertificateArn"},
		{"CertificateArn=" + certificate, "without DomainName"},
		{"HostedZoneId=Z0123456789", "without DomainName"},
		{"DomainName=https://api.example.com CertificateArn=" + certificate, "AllowedPattern"},
		{"AlarmEmail=a@example.com", ""},
		{"AlarmTopicArn=arn:aws:sns:us-east-1:123456789012:alarms", ""},
		{"AlarmEmail=a@example.com AlarmTopicArn=arn:aws:sns:us-east-1:123456789012:alarms", "Set AlarmEmail or AlarmTopicArn"},
		{"OAuthProvider=github", "needs OAuthClientId"},
		{"OAuthProvider=github OAuthClientId=id", ""},
		{"OAuthProvider=gitea OAuthClientId=id", "OAuthBaseUrl"},
		{"OAuthProvider=custom OAuthClientId=id OAuthAuthorizeUrl=https://a OAuthTokenUrl=https://t", "OAuthUserUrl"},
		{"OAuthProvider=custom OAuthClientId=id OAuthAuthorizeUrl=https://a OAuthTokenUrl=https://t OAuthUserUrl=https://u", ""},
		{"AiProvider=openai AiModel=", "needs AiModel"},
		{"AiProvider=scaffold AiModel=", ""},
		{"AccessLog=make-role", ""},
		{"AccessLog=yes", "AllowedValues"},
		{"CookiePlainHttp=true", "AllowedValues"},
	} {
		given := map[string]string{}
		for _, pair := range strings.Fields(c.given) {
			name, value, _ := strings.Cut(pair, "=")
			given[name] = value
		}
		_, err := stack.Load(filepath.Join(Root(), "template.yaml"), stack.Options{Parameters: given})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.given, err, c.want)
		}
	}
}

// TestDomainIsTheOrigin: functions trust the stack's own domain as the origin of its pages, unless another is named.
func TestDomainIsTheOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ domain, app, want string }{
		{"", "", ""},
		{"", "https://app.example.com", "https://app.example.com"},
		{"api.example.com", "", "https://api.example.com"},
		{"api.example.com", "https://app.example.com", "https://app.example.com"},
	} {
		given := map[string]string{"DomainName": c.domain, "AppUrl": c.app}
		if c.domain != "" {
			given["CertificateArn"] = "arn:aws:acm:us-east-1:123456789012:certificate/1234"
		}
		loaded, err := stack.Load(filepath.Join(Root(), "template.yaml"), stack.Options{Parameters: given})
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, f := range loaded.Functions {
			if url, has := f.Env["APP_URL"]; has {
				told++
				if url != c.want {
					t.Errorf("%+v: %s has the origin %q", c, f.Name, url)
				}
			}
		}
		if told < 4 {
			t.Errorf("only %d functions know the origin", told)
		}
	}
}
