package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/caarlos0/env/v11"

	"devplatform/infra/local/platform"
)

// settings are the settings of the command, from the environment. shared/config/README.md describes them.
type settings struct {
	platform.Config

	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error"`
	LogFormat string `env:"LOG_FORMAT" envDefault:"text" doc:"text or json"`
	NoColor   string `env:"NO_COLOR" doc:"any value: no colors in the log"`
}

// development are the variables of the functions of this project that have another value on a developer's machine than
// on AWS. A variable of the environment takes precedence.
var development = map[string]string{
	"AI_MODEL":              "",
	"AI_PROVIDER":           "scaffold",
	"ALLOWED_ORIGINS":       "http://localhost:5173", // the development server of Vite
	"COOKIE_PLAIN_HTTP":     "true",
	"LIMIT_CODE_IP":         "10000",
	"LIMIT_LOGIN_IP":        "10000",
	"LIMIT_MAILS_HOUR":      "1000000",
	"LIMIT_MAIL_IP":         "10000",
	"LIMIT_OAUTH_IP":        "10000",
	"LIMIT_SIGNUP_IP":       "10000",
	"NPM_ALLOW_PRIVATE":     "true",
	"WEBHOOK_ALLOW_PRIVATE": "true",
}

// parameters replace the defaults of the template's parameters: with them, this project's template has the API of the
// sites, sends mails, and does not need a model. Functions get SITES_ORIGIN and AI_PROVIDER instead of these values.
var parameters = map[string]string{
	"AiProvider":          "scaffold",
	"MailFrom":            "mail@devplatform.localhost",
	"SitesDomain":         "sites.localhost",
	"SitesCertificateArn": "arn:aws:acm:us-east-1:" + platform.Account + ":certificate/local",
}

// loadSettings reads the environment. The error names every variable that is not valid.
func loadSettings() (settings, error) {
	var s settings
	if err := env.Parse(&s); err != nil {
		return s, parseError(err)
	}
	if s.Concurrency == 0 { // would be the default of platform.Config
		return s, errors.New("LAMBDA_CONCURRENCY=0: must be 1 to 1000")
	}
	s.Pages = []platform.Page{{Name: "documentation", Path: "/api/docs"}}
	environment := env.ToMap(os.Environ())
	if environment["SITES_PORT"] == "" && s.Port == 0 {
		s.SitesPort = 0
	}
	if environment["CONSOLE_PORT"] == "" && s.Port == 0 {
		s.ConsolePort = 0
	}
	if environment["OAUTH_PROVIDER"] == "" {
		s.CodeHost = &platform.CodeHost{ClientID: "local", ClientSecret: rand.Text()}
	}
	s.Values = func(a platform.Addresses) platform.Values {
		variables := variablesOf(environment, a, s.CodeHost)
		variables["MAIL_ORIGIN"] = cmp.Or(variables["MAIL_ORIGIN"], s.PublicURL, a.URL)
		// The bucket's CORS rule also allows the gateway's origins, which the functions must not allow. These origins come
		// last, because the gateway's own responses allow the first origin.
		origins := append(a.Origins(), s.PublicURL)
		defaults := maps.Clone(parameters)
		if from, isSet := environment["MAIL_FROM"]; isSet { // if it is empty, the template has no mailer
			defaults["MailFrom"] = from
		}
		defaults["AllowedOrigins"] = strings.Trim(variables["ALLOWED_ORIGINS"]+","+strings.Join(origins, ","), ",")
		return platform.Values{Variables: variables, Parameters: defaults}
	}
	return s, nil
}

// variablesOf returns the variables for the functions: the variables of the environment, the variables for development,
// and the addresses.
func variablesOf(environment map[string]string, a platform.Addresses, host *platform.CodeHost) map[string]string {
	variables := maps.Clone(development)
	variables["SITES_ORIGIN"], variables["NPM_REGISTRY"] = a.Sites, registry(environment)
	maps.Copy(variables, environment)
	if host != nil {
		maps.Copy(variables, map[string]string{
			"OAUTH_PROVIDER":      "custom",
			"OAUTH_CLIENT_ID":     host.ClientID,
			"OAUTH_CLIENT_SECRET": host.ClientSecret,
			"OAUTH_AUTHORIZE_URL": a.CodeHost + "/login/oauth/authorize",
			"OAUTH_TOKEN_URL":     a.CodeHost + "/login/oauth/access_token",
			"OAUTH_USER_URL":      a.CodeHost + "/api/v1/user",
			"OAUTH_EMAILS_URL":    a.CodeHost + "/api/v1/user/emails",
			"OAUTH_SCOPES":        "read:user",
		})
	}
	return variables
}

// registry returns the npm registry in npm's own variable or in the user's .npmrc, or the public registry.
func registry(environment map[string]string) string {
	found := cmp.Or(environment["npm_config_registry"], environment["NPM_CONFIG_REGISTRY"])
	content, _ := os.ReadFile(filepath.Join(environment["HOME"], ".npmrc")) // it may not exist
	for line := range strings.Lines(string(content)) {
		if name, value, _ := strings.Cut(line, "="); strings.TrimSpace(name) == "registry" {
			found = cmp.Or(found, strings.TrimSpace(value))
		}
	}
	return cmp.Or(found, "https://registry.npmjs.org")
}

// parseError returns an error with a line for each variable that cannot be parsed.
func parseError(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("settings: %w", err)
	}
	var problems []error
	for _, err := range all.Errors {
		var wrong env.ParseError
		if !errors.As(err, &wrong) {
			problems = append(problems, fmt.Errorf("settings: %w", err))
			continue
		}
		field, _ := reflect.TypeFor[settings]().FieldByName(wrong.Name) // promotes the fields of Config
		name, kind := field.Tag.Get("env"), "number"
		if field.Type == reflect.TypeFor[time.Duration]() {
			kind = "duration such as 4ms"
		}
		problems = append(problems, fmt.Errorf("%s=%s: must be a %s", name, os.Getenv(name), kind))
	}
	return errors.Join(problems...)
}

// printSettings writes a table of the settings, from the tags of their fields.
func printSettings(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[settings]()) {
		if doc := field.Tag.Get("doc"); doc != "" {
			_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\n", field.Tag.Get("env"), field.Tag.Get("envDefault"), doc)
		}
	}
	_ = table.Flush()
}
