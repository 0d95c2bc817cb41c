package templatetest_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"devplatform/infra/local/resources"
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

The parameters of ` + "`template.yaml`" + `. Set them in ` + "`parameter_overrides`" + ` of ` + "`samconfig.toml`" + `.
CloudFormation checks them before it creates any resource.

This page is generated: ` + "`go test ./infra/templatetest -run Parameters -update`" + `.
`)
	listed := map[string]bool{}
	for _, group := range List(At(tpl.Metadata, "AWS::CloudFormation::Interface", "ParameterGroups")) {
		fmt.Fprintf(&page, "\n## %v\n\n| parameter | default | description |\n|---|---|---|\n", At(group, "Label", "default"))
		for _, name := range List(At(group, "Parameters")) {
			name := Name(name)
			p, found := tpl.Parameters[name]
			if !found || listed[name] || p["Description"] == nil {
				t.Errorf("parameter %s must exist, be in one group and have a description (exists: %v, in another group: %v)",
					name, found, listed[name])
			}
			listed[name] = true
			text := fmt.Sprint(p["Description"])
			if allowed := List(p["AllowedValues"]); len(allowed) > 1 {
				values := strings.Fields(strings.Trim(fmt.Sprint(allowed), "[]"))
				text += " One of `" + strings.Join(values, "`, `") + "`."
			}
			defaultValue := fmt.Sprint(p["Default"])
			if number, ok := p["Default"].(float64); ok {
				defaultValue = strconv.FormatFloat(number, 'f', -1, 64)
			}
			if defaultValue != "" {
				defaultValue = "`" + defaultValue + "`"
			}
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, defaultValue, text)
		}
	}
	for name := range tpl.Parameters {
		if !listed[name] {
			t.Errorf("parameter %s is not in a group of AWS::CloudFormation::Interface", name)
		}
	}
	path := filepath.Join(Root, "infra", "PARAMETERS.md")
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

// overrides returns the parameter overrides of an environment in samconfig.toml. If commented is true, it also returns
// overrides that are commented out.
func overrides(t *testing.T, environment string, commented bool) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(read(t, "samconfig.toml"), "["+environment+".deploy.parameters]\n")
	_, list, opens := strings.Cut(section, "parameter_overrides = [\n")
	list, _, closes := strings.Cut(list, "\n]\n")
	if !found || !opens || !closes {
		t.Fatalf("samconfig.toml has no parameter overrides for %s", environment)
	}
	values := map[string]string{}
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if pair := override.FindStringSubmatch(line); pair != nil && (commented || !strings.HasPrefix(line, "#")) {
			values[pair[1]] = pair[2]
		}
	}
	return values
}

// TestEnvironments checks that both environments of samconfig.toml have their own stack and valid parameters. prod only
// lacks a recipient of its alarms. Parameters that are commented out must exist in the template.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	names := map[string]bool{}
	for _, environment := range []string{"dev", "prod"} {
		parameters := overrides(t, environment, false)
		if parameters["Stage"] != environment {
			t.Errorf("samconfig.toml, %s: got Stage=%q, want %s", environment, parameters["Stage"], environment)
		}
		if environment == "prod" {
			parameters["AlarmEmail"] = overrides(t, environment, true)["AlarmEmail"]
		}
		if _, err := stack.Load(filepath.Join(Root, "template.yaml"), stack.Options{Parameters: parameters}); err != nil {
			t.Errorf("samconfig.toml, %s: the template rejects the parameters: %v", environment, err)
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
		t.Errorf("got the stack names %v, want two different ones", names)
	}
}

// loadTemplate loads template.yaml with parameters. Without AiProvider, it selects the provider that needs no model.
func loadTemplate(parameters map[string]string) (*resources.Stack, error) {
	all := map[string]string{"AiProvider": "scaffold"}
	maps.Copy(all, parameters)
	return stack.Load(filepath.Join(Root, "template.yaml"), stack.Options{Parameters: all})
}

// TestParameterRules checks that invalid combinations of parameters are rejected before a deployment begins.
func TestParameterRules(t *testing.T) {
	t.Parallel()
	const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/1234"
	for _, c := range []struct {
		parameters string // name=value pairs, separated by spaces
		want       string // a part of the error, or "" for valid parameters
	}{
		{
			parameters: "Stage=prod AlarmEmail=a@example.com DomainName=api.example.com CertificateArn=" + certificate + " HostedZoneId=Z0123456789",
		},
		{
			parameters: "DomainName=api.example.com CertificateArn=" + certificate + " AllowedOrigins=https://app.example.com",
		},
		{parameters: "DomainName=api.example.com", want: "DomainName needs CertificateArn"},
		{parameters: "CertificateArn=" + certificate, want: "without DomainName"},
		{parameters: "HostedZoneId=Z0123456789", want: "without DomainName"},
		{
			parameters: "DomainName=https://api.example.com CertificateArn=" + certificate,
			want:       "AllowedPattern",
		},
		{parameters: "SitesDomain=example.app SitesCertificateArn=" + certificate + " SitesHostedZoneId=Z0123456789"},
		{parameters: "BudgetEmail=ops@example.com BudgetUsd=1000"},
		{parameters: "BudgetEmail=ops@example.com", want: "BudgetEmail needs BudgetUsd"},
		{parameters: "BudgetUsd=1000", want: "without BudgetEmail"},
		{parameters: "SitesDomain=example.app", want: "SitesDomain needs SitesCertificateArn"},
		{parameters: "SitesDomain=*.example.app SitesCertificateArn=" + certificate, want: "AllowedPattern"},
		{parameters: "SitesCertificateArn=" + certificate, want: "without SitesDomain"},
		{parameters: "SitesHostedZoneId=Z0123456789", want: "without SitesDomain"},
		{
			parameters: "DomainName=example.app CertificateArn=" + certificate +
				" SitesDomain=example.app SitesCertificateArn=" + certificate,
			want: "Sites need a domain of their own",
		},
		{parameters: "NpmRegistry=https://npm.example.com/path/"},
		{parameters: "NpmRegistry=http://npm.example.com", want: "AllowedPattern"},
		{parameters: "NpmAllowPrivate=true", want: "AllowedValues"},
		{parameters: "Stage=prod", want: "Stage prod needs a recipient of its alarms. Set AlarmEmail"},
		{parameters: "Stage=prod AlarmEmail= AlarmTopicArn=", want: "needs a recipient of its alarms"},
		{parameters: "Stage=prod AlarmEmail=a@example.com"},
		{parameters: "Stage=prod AlarmTopicArn=arn:aws:sns:us-east-1:123456789012:pages"},
		{parameters: "Stage=prod AlarmEmail=a@example.com AlarmTopicArn=arn:aws:sns:us-east-1:123456789012:pages"},
		{parameters: "Stage=prod AlarmEmail=nobody", want: "AllowedPattern"},
		{parameters: "Stage=dev"},
		{parameters: "Stage=dev AlarmEmail=a@example.com"},
		{parameters: "MailFrom=no-reply@example.com AppUrl=https://app.example.com"},
		{parameters: "MailFrom=no-reply@example.com DomainName=api.example.com CertificateArn=" + certificate},
		{parameters: "MailFrom=no-reply@example.com", want: "MailFrom needs DomainName or AppUrl"},
		{parameters: "MailFrom=example.com AppUrl=https://app.example.com", want: "AllowedPattern"},
		{parameters: "MailFrom=a@example.com,b@example.com AppUrl=https://app.example.com", want: "AllowedPattern"},
		{parameters: "MailName=a@b", want: "AllowedPattern"},
		{parameters: "ResetPath=/reset ConfirmPath=/a/b?c"},
		{parameters: "ResetPath=reset", want: "AllowedPattern"},
		{parameters: "Probe=true"},
		{parameters: "Probe=true ProbeSite=status SitesDomain=example.app SitesCertificateArn=" + certificate},
		{parameters: "Probe=true ProbeSite=status", want: "ProbeSite has no effect without Probe=true and SitesDomain"},
		{
			parameters: "ProbeSite=status SitesDomain=example.app SitesCertificateArn=" + certificate,
			want:       "ProbeSite has no effect without Probe=true and SitesDomain",
		},
		{parameters: "ProbeSite=https://status.example.app", want: "AllowedPattern"},
		{parameters: "OAuthProvider=github", want: "needs OAuthClientId"},
		{parameters: "OAuthProvider=github OAuthClientId=id"},
		{parameters: "OAuthProvider=gitea OAuthClientId=id", want: "OAuthBaseUrl"},
		{
			parameters: "OAuthProvider=custom OAuthClientId=id OAuthAuthorizeUrl=https://a OAuthTokenUrl=https://t",
			want:       "OAuthUserUrl",
		},
		{
			parameters: "OAuthProvider=custom OAuthClientId=id OAuthAuthorizeUrl=https://a OAuthTokenUrl=https://t OAuthUserUrl=https://u",
		},
		{parameters: "AiProvider=openai AiModel=", want: "needs AiModel"},
		{parameters: "AiProvider=openai AiModel=model AiFoundationModel="},
		{parameters: "AiProvider=bedrock AiModel=", want: "needs AiModel"},
		{parameters: "AiProvider=bedrock AiModel=model AiFoundationModel=", want: "needs AiFoundationModel"},
		{parameters: "AiProvider=scaffold AiModel= AiFoundationModel="},
		{parameters: "OpenAiBaseUrl=http://api.example.com/v1", want: "AllowedPattern"},
		{parameters: "AccessLog=make-role"},
		{parameters: "AccessLog=yes", want: "AllowedValues"},
		{parameters: "CookiePlainHttp=true", want: "AllowedValues"},
	} {
		parameters := map[string]string{}
		for _, pair := range strings.Fields(c.parameters) {
			name, value, _ := strings.Cut(pair, "=")
			parameters[name] = value
		}
		_, err := loadTemplate(parameters)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got the error %v, want %q", c.parameters, err, c.want)
		}
	}
}

// TestSitesAreOptional checks that a stack without SitesDomain serves no sites, and that its functions know that.
func TestSitesAreOptional(t *testing.T) {
	t.Parallel()
	const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/1234"
	for _, c := range []struct {
		parameters map[string]string
		origin     string
		apis       int
	}{
		{nil, "", 1},
		{map[string]string{"SitesDomain": "example.app", "SitesCertificateArn": certificate}, "https://example.app", 2},
	} {
		loaded, err := loadTemplate(c.parameters)
		if err != nil {
			t.Fatal(err)
		}
		if len(loaded.APIs) != c.apis {
			t.Errorf("%v: got %d APIs, want %d", c.parameters, len(loaded.APIs), c.apis)
		}
		functions := 0
		for _, f := range loaded.Functions {
			if origin, isSet := f.Env["SITES_ORIGIN"]; isSet {
				functions++
				if origin != c.origin {
					t.Errorf("%v: %s has SITES_ORIGIN=%q, want %q", c.parameters, f.Name, origin, c.origin)
				}
			}
		}
		if want := c.apis + 2; functions != want { // projects, jobs and deploy-check, and sites if it exists
			t.Errorf("%v: %d functions have SITES_ORIGIN, want %d", c.parameters, functions, want)
		}
	}
}

// TestMailIsOptional checks that a stack without MailFrom has no resources that depend on an identity of SES and no
// function that sends mails, and that the functions that store mails know the address.
func TestMailIsOptional(t *testing.T) {
	t.Parallel()
	for from, parameters := range map[string]map[string]string{
		"": nil, "no-reply@example.com": {"MailFrom": "no-reply@example.com", "AppUrl": "https://app.example.com"},
	} {
		loaded, err := loadTemplate(parameters)
		if err != nil {
			t.Fatal(err)
		}
		stored := 0
		for _, f := range loaded.Functions {
			if got, isSet := f.Env["MAIL_FROM"]; isSet {
				if stored++; got != from {
					t.Errorf("%s has MAIL_FROM=%q, want %q", f.Name, got, from)
				}
			}
			if f.Name == "MailerFunction" && (from == "" || f.Env["MAIL_ORIGIN"] != "https://app.example.com") {
				t.Errorf("MAIL_FROM=%q: the function exists with MAIL_ORIGIN=%q", from, f.Env["MAIL_ORIGIN"])
			}
		}
		// The functions that store mails, and the mailer if it exists.
		if want := map[bool]int{true: 4, false: 5}[from == ""]; stored != want {
			t.Errorf("%d functions have MAIL_FROM=%q, want %d", stored, from, want)
		}
	}
	tpl := Source(t)
	for _, typ := range []string{
		"AWS::SES::ConfigurationSet", "AWS::SES::ConfigurationSetEventDestination", "AWS::Events::Rule", "AWS::SQS::QueuePolicy",
	} {
		ids := resourcesOf(tpl, typ)
		if len(ids) == 0 {
			t.Errorf("the template has no resource of the type %s", typ)
		}
		for _, id := range ids {
			if tpl.Resources[id].Condition != "HasMail" {
				t.Errorf("%s: got the condition %q, want HasMail", id, tpl.Resources[id].Condition)
			}
		}
	}
}

// TestStreamsOutliveTheirFunctions checks that the gateway does not end a streamed response before the function does.
func TestStreamsOutliveTheirFunctions(t *testing.T) {
	t.Parallel()
	loaded, err := loadTemplate(map[string]string{
		"SitesDomain": "example.app", "SitesCertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1234",
	})
	if err != nil {
		t.Fatal(err)
	}
	timeouts := map[string]time.Duration{}
	for _, f := range loaded.Functions {
		timeouts[f.Name] = f.Timeout
	}
	streams := 0
	for _, api := range loaded.APIs {
		for _, r := range api.Routes {
			if !r.Stream {
				continue
			}
			streams++
			if limit := timeouts[r.Function]; limit == 0 || r.Timeout <= limit {
				t.Errorf("%s %s: got the timeout %v, want more than the %v of %s", r.Method, r.Path, r.Timeout, limit, r.Function)
			}
		}
	}
	if streams == 0 {
		t.Error("got no streamed routes")
	}
}

// TestAppURLDefaultsToDomain checks that APP_URL of the functions is the parameter AppUrl, or else the stack's domain.
func TestAppURLDefaultsToDomain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ domain, app, want string }{
		{"", "", ""},
		{"", "https://app.example.com", "https://app.example.com"},
		{"api.example.com", "", "https://api.example.com"},
		{"api.example.com", "https://app.example.com", "https://app.example.com"},
	} {
		parameters := map[string]string{"DomainName": c.domain, "AppUrl": c.app}
		if c.domain != "" {
			parameters["CertificateArn"] = "arn:aws:acm:us-east-1:123456789012:certificate/1234"
		}
		loaded, err := loadTemplate(parameters)
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for _, f := range loaded.Functions {
			if url, isSet := f.Env["APP_URL"]; isSet {
				functions++
				if url != c.want {
					t.Errorf("DomainName=%s AppUrl=%s: %s has APP_URL=%q, want %q", c.domain, c.app, f.Name, url, c.want)
				}
			}
		}
		if functions < 4 {
			t.Errorf("%d functions have APP_URL, want at least 4", functions)
		}
	}
}
